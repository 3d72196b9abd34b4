//! The client of a request.

use axum::extract::{ConnectInfo, Request};
use axum::http::Extensions;
use inorder_serve::{IsTls, client_network};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The network of the client, as far as it is known.
pub fn client(request: &Request) -> IpAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| {
        client_network(info.ip())
    })
}

/// Whether the request came over this server's own TLS.
pub fn is_tls(extensions: &Extensions) -> bool {
    extensions.get::<IsTls>().is_some_and(|it| it.0)
}
