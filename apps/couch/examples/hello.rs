//! The floor of `benches/server.py`: the same HTTP stack, and nothing behind it.

use axum::{Router, routing::get};
use std::net::Ipv4Addr;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let address = (Ipv4Addr::LOCALHOST, port.unwrap_or(5984));
    let listener = tokio::net::TcpListener::bind(address).await?;
    let body: &'static str = Box::leak("x".repeat(250).into_boxed_str());
    axum::serve(
        listener,
        Router::new().route("/", get(move || async move { body })),
    )
    .await
}
