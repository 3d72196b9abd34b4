//! Forwards requests to other paths.

use super::HttpResult;
use axum::Router;
use axum::extract::Request;
use tower::ServiceExt;

/// The routes for a request that was authenticated. An extension of requests.
#[derive(Debug, Clone)]
pub struct Routes(pub Router);

impl Routes {
    /// Forwards a request to the routes.
    pub async fn answer(self, mut request: Request) -> HttpResult {
        request.extensions_mut().insert(self.clone());
        let Ok(response) = self.0.oneshot(request).await;
        Ok(response)
    }
}
