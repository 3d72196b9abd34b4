//! A server before another one, which answers some requests itself.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Starts a server before the one at a URL. `answer` answers a request, or leaves it to the other. Returns its URL.
pub async fn before(
    url: &str,
    answer: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (to, answer) = (Arc::<str>::from(url), Arc::new(answer));
    let client = reqwest::Client::builder().no_proxy().no_gzip().build();
    let client = client.expect("a client");
    let router = Router::new().fallback(move |request: Request| {
        let (to, client, own) = (Arc::clone(&to), client.clone(), answer(&request));
        async move {
            match own {
                Some(own) => own,
                None => pass(&client, &to, request).await,
            }
        }
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

async fn pass(client: &reqwest::Client, to: &str, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    head.headers.remove(header::HOST);
    // The other one has no users, and takes its time to say so.
    head.headers.remove(header::AUTHORIZATION);
    let sent = client
        .request(head.method, format!("{to}{}", head.uri))
        .headers(of_message(head.headers))
        .body(body)
        .send();
    let answer = sent.await.expect("an answer");
    let (status, headers) = (answer.status(), of_message(answer.headers().clone()));
    let body = answer.bytes().await.expect("a body");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The headers without those of one connection.
fn of_message(mut headers: HeaderMap) -> HeaderMap {
    for name in [header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
        headers.remove(name);
    }
    headers
}
