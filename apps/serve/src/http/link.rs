//! The connection of a request, as far as its answer depends on it.

use super::Detachable;
use axum::extract::ConnectInfo;
use axum::http::Extensions;
use std::net::SocketAddr;

/// The connection that a request came over.
#[derive(Clone, Debug)]
pub struct Link {
    /// The client's address.
    pub peer: SocketAddr,
    /// Whether it has TLS.
    pub is_tls: bool,
    /// Takes the socket back for long answers. Before HTTP/1.1 there are no chunks, and none of this.
    pub detachable: Option<Detachable>,
}

/// Whether a request came over TLS. An extension of requests.
#[derive(Clone, Copy, Debug)]
pub struct IsTls(pub bool);

impl Link {
    /// Adds the client's address as [`ConnectInfo`], [`IsTls`], and the [`Detachable`] to the extensions of a request, for
    /// handlers that take them from there.
    pub fn add_to(&self, extensions: &mut Extensions) {
        extensions.insert(ConnectInfo(self.peer));
        extensions.insert(IsTls(self.is_tls));
        if let Some(detachable) = &self.detachable {
            extensions.insert(detachable.clone());
        }
    }
}
