//! Error pages.

use super::layout;
use crate::{
    Error,
    request::{error_status, with_wait},
};
use axum::{
    http::StatusCode,
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

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, words) = error_status(&self.0);
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
