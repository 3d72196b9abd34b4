//! The client of a request.

use axum::extract::{ConnectInfo, Request};
use inorder_serve::client_network;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The network of the client, as far as it is known.
pub fn client(request: &Request) -> IpAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| {
        client_network(info.ip())
    })
}
