//! Error pages.

use super::layout;
use crate::{
    Error,
    request::{error_status, with_wait},
    words::{Message, say},
};
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use maud::{Markup, PreEscaped, Render, html};

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
            StatusCode::UNAUTHORIZED => say::error_invalid(),
            StatusCode::NOT_FOUND => say::error_not_found(),
            StatusCode::UNPROCESSABLE_ENTITY => say::error_invalid(),
            StatusCode::TOO_MANY_REQUESTS => say::error_too_many(),
            _ => say::error_failed(),
        };
        let body = html! {
            section.narrow {
                h1 { (heading) }
                p { (sentence(&words)) }
                p { a.button href="/" { (say::go_to_list()) } }
            }
        };
        let page = layout::Page::new(heading).show(body);
        with_wait(&self.0, (status, page).into_response())
    }
}

/// The words with a capital letter and a full stop.
pub fn sentence(words: &Message) -> Markup {
    PreEscaped(finished(&words.render().into_string()))
}

/// Like [`sentence`], as text.
pub fn plain_sentence(words: &Message) -> String {
    finished(&words.plain())
}

fn finished(words: &str) -> String {
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
