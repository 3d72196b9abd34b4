//! The origin of a request.

use super::App;
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::request::Parts,
};
use inorder_serve::client_network;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The network of the client: of the connection, or of the address that the proxy names.
pub struct Caller(pub IpAddr);

impl FromRequestParts<App> for Caller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
        // The last address is the one the proxy saw itself; those before it anybody may have made up.
        let last = || {
            let mut values = parts.headers.get_all("x-forwarded-for").iter();
            let last = values.next_back()?.to_str().ok()?.rsplit(',').next()?;
            last.trim().parse().ok()
        };
        let address = app.config().behind_tls.then(last).flatten();
        Ok(Caller(client_network(address.unwrap_or(peer))))
    }
}
