//! What answers the requests of a server.

use super::Link;
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use std::future::Future;
use tower::ServiceExt;

/// Answers requests. A [`Router`] does; a type of its own can answer frequent requests before its router is asked.
pub trait Answer: Clone + Send + Sync + 'static {
    /// Answers a request that came over a connection.
    fn answer(&self, request: Request, link: &Link) -> impl Future<Output = Response> + Send;
}

impl Answer for Router {
    async fn answer(&self, mut request: Request, link: &Link) -> Response {
        link.add_to(request.extensions_mut());
        let Ok(response) = self.clone().oneshot(request).await;
        response
    }
}
