//! The unread rest of a request body. A client sends the next request of a connection behind it, so the rest is read, or the
//! answer announces the end of the connection.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes that are read and discarded to keep a connection. Beyond that a new connection costs less.
const REST_BYTES_MAX: u64 = 1 << 20;

/// The longest time for it.
const REST_TIME_MAX: Duration = Duration::from_secs(2);

/// A request body that is given back when the handler drops it.
pub struct Lent {
    body: Option<Incoming>,
    loan: Arc<Mutex<Loan>>,
}

#[derive(Default)]
struct Loan {
    returned: Option<Incoming>,
    /// Whether the handler polled it.
    was_read: bool,
    has_failed: bool,
}

fn lock(loan: &Mutex<Loan>) -> MutexGuard<'_, Loan> {
    loan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl hyper::body::Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(cx);
        let mut loan = lock(&self.loan);
        loan.was_read = true;
        let frame = ready!(polled);
        loan.has_failed |= matches!(frame, Some(Err(_)));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body
            .as_ref()
            .is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map(hyper::body::Body::size_hint)
            .unwrap_or_default()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        lock(&self.loan).returned = self.body.take();
    }
}

/// Answers a request, then reads the rest of its body or announces the end of the connection.
pub async fn answer<F>(
    request: Request<Incoming>,
    answer: impl FnOnce(Request<Body>) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    if request.body().is_end_stream() {
        return answer(request.map(|_| Body::empty())).await;
    }
    let loan = Arc::new(Mutex::new(Loan::default()));
    let is_announced = is_announced(request.headers());
    let request = request.map(|body| {
        Body::new(Lent {
            body: Some(body),
            loan: Arc::clone(&loan),
        })
    });
    let mut response = answer(request).await;
    if !is_all_read(&loan, is_announced, response.status()).await {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Whether the client waits for `100 Continue` before it sends the body.
fn is_announced(headers: &HeaderMap) -> bool {
    let expected = headers.get(header::EXPECT);
    expected.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Reads the rest if it is small. Returns whether the whole body was read.
async fn is_all_read(loan: &Mutex<Loan>, is_announced: bool, status: StatusCode) -> bool {
    let mut body = {
        let mut loan = lock(loan);
        let Some(body) = loan.returned.take() else {
            // A task of the handler still has it.
            return false;
        };
        if loan.has_failed {
            return false;
        }
        if body.is_end_stream() {
            return true;
        }
        // The client was not told to continue: it may send the body or not.
        if is_announced && !loan.was_read {
            return false;
        }
        body
    };
    let is_large = body.size_hint().lower() > REST_BYTES_MAX;
    if is_large || status == StatusCode::REQUEST_TIMEOUT {
        return false;
    }
    let rest = async {
        let mut bytes = 0;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let Ok(frame) = frame else {
                return false;
            };
            bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            if bytes > REST_BYTES_MAX {
                return false;
            }
        }
        true
    };
    timeout(REST_TIME_MAX, rest).await.unwrap_or(false)
}

/// Whether a message announces the end of its connection.
pub fn says_close(headers: &HeaderMap) -> bool {
    let options = headers.get_all(header::CONNECTION).iter();
    let mut options = options
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    options.any(|option| option.trim().eq_ignore_ascii_case("close"))
}
