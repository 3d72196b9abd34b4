//! The client of a request.

use axum::extract::{ConnectInfo, Request};
use axum::http::Extensions;
use inorder_serve::{IsTls, client_network};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Returns the network of the client. Without a known address it is that of loopback.
pub fn client(request: &Request) -> IpAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| {
        client_network(info.ip())
    })
}

/// Returns whether the request arrived over this server's own TLS.
pub fn is_tls(extensions: &Extensions) -> bool {
    extensions.get::<IsTls>().is_some_and(|it| it.0)
}
