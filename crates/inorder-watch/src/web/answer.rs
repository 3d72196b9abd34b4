//! What went wrong, as a page.

use super::layout;
use crate::Error;
use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use maud::html;

/// An error that is answered with a page.
#[derive(Debug)]
pub struct PageError(pub Error);

impl<E: Into<Error>> From<E> for PageError {
    fn from(error: E) -> Self {
        PageError(error.into())
    }
}

/// The status of an error, and what the outside is told: of what goes wrong inside, nothing.
pub fn status(error: &Error) -> (StatusCode, String) {
    let busy = "The server has too much to do: try again in a moment.";
    let words = error.to_string();
    match error {
        Error::NotFound(_) => (StatusCode::NOT_FOUND, words),
        Error::Invalid(_) => (StatusCode::UNPROCESSABLE_ENTITY, words),
        Error::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, words),
        Error::Queue(inorder_sqlite::queue::Error::Full) => {
            (StatusCode::SERVICE_UNAVAILABLE, busy.to_owned())
        }
        _ => {
            tracing::error!("{error}");
            let words = "Something went wrong here; the server's log says what.".to_owned();
            (StatusCode::INTERNAL_SERVER_ERROR, words)
        }
    }
}

/// Adds how long to wait, where that is known.
pub fn with_wait(error: &Error, mut response: Response) -> Response {
    let seconds = match error {
        Error::TooMany(seconds) => *seconds,
        Error::Queue(_) => 1,
        _ => return response,
    };
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, seconds.into());
    response
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, words) = status(&self.0);
        let heading = match status {
            StatusCode::NOT_FOUND => "Nothing here",
            StatusCode::UNPROCESSABLE_ENTITY => "Not done",
            StatusCode::TOO_MANY_REQUESTS => "Slow down",
            _ => "That went wrong",
        };
        let body = html! {
            section.narrow {
                h1 { (heading) }
                p { (sentence(&words)) }
                p { a.button href="/" { "Go to your list" } }
            }
        };
        let page = layout::Page::new(heading).show(body);
        with_wait(&self.0, (status, page).into_response())
    }
}

/// The words with a capital letter and a full stop.
pub fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters
        .next()
        .map(|c| c.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if words.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{first}{}{stop}", letters.as_str())
}
