//! Functions shared by several pages.

use crate::{
    Error,
    request::{App, error_status, with_wait},
    web::{PageError, form, visitor::Member},
    words::Message,
};
use axum::{
    extract::FromRequestParts,
    http::request::Parts,
    response::{IntoResponse, Redirect, Response},
    routing::MethodRouter,
};
use inorder_key::Ulid;
use maud::{Markup, html};
use serde::Deserialize;

/// The result of a page's handler.
pub type Answer<T = Response> = Result<T, PageError>;

/// The route of a form on a page. Whoever loads its address anew, which stays in the browser when the form was refused, comes
/// to that page.
pub fn form_of(page: &'static str, method: MethodRouter<App>) -> MethodRouter<App> {
    method.get(move || async move { Redirect::to(page) })
}

/// The owner of the server. For others there is no such page.
pub struct Owner(pub Member);

impl FromRequestParts<App> for Owner {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let member = Member::from_request_parts(parts, app).await?;
        match member.me.user.is_owner {
            true => Ok(Owner(member)),
            false => Err(PageError(Error::NotFound("page")).into_response()),
        }
    }
}

/// The completed action in the address of the next page.
#[derive(Deserialize, Default)]
pub struct Done {
    #[serde(default)]
    pub done: String,
    /// The change of the list that can be undone.
    #[serde(default, deserialize_with = "form::optional")]
    pub change: Option<Ulid>,
}

/// The words for what was done, as a part of the page.
pub fn notice(words: Option<Message>) -> Option<Markup> {
    words.map(|words| html! { div.notice role="status" { p { (words) } } })
}

/// A form's page once more, with the words for what was wrong; or the error itself, where it isn't the form's.
pub fn again(error: Error, page: impl FnOnce(&Message) -> Markup) -> Answer {
    match error {
        Error::Invalid(_) | Error::TooMany(_) => {
            let (status, words) = error_status(&error);
            Ok(with_wait(&error, (status, page(&words)).into_response()))
        }
        other => Err(PageError(other)),
    }
}

/// Redirects to the page of the form, with a notice about the change, and a button to undo it.
pub fn go_back(back: &str, done: &str, change: Option<Ulid>) -> Response {
    let back = form::local(back);
    let (path, query) = back.split_once('?').unwrap_or((back, ""));
    let kept = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .filter(|pair| !pair.starts_with("done=") && !pair.starts_with("change="));
    let mut pairs: Vec<String> = kept.map(str::to_owned).collect();
    pairs.push(format!("done={done}"));
    pairs.extend(change.map(|change| format!("change={change}")));
    Redirect::to(&format!("{path}?{}", pairs.join("&"))).into_response()
}
