//! Choosing another password, with a link from the command line.

use super::common::{Answer, again};
use crate::{
    Error, Result,
    db::links,
    request::{App, Caller},
    secret::Secret,
    web::{form::Posted, layout, parts, visitor::Guest},
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Path, State as Shared},
    http::{HeaderValue, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use maud::{Markup, html};
use serde::Deserialize;

pub fn router() -> Router<App> {
    Router::new().route("/reset/{secret}", get(show).post(reset))
}

#[derive(Deserialize)]
struct NewPassword {
    password: String,
}

fn over(_: Error) -> Error {
    Error::Invalid(say::reset_over())
}

/// The secret of a link that is still good.
fn check(app: &App, link: &str) -> Result<Secret> {
    let secret: Secret = link.parse().map_err(over)?;
    let user = app.db().read(|db| links::reset_user(db, secret));
    user.map(|_| secret).map_err(over)
}

async fn show(Shared(app): Shared<App>, guest: Guest, Path(link): Path<String>) -> Answer {
    check(&app, &link)?;
    Ok(secretly(guest.show(page(&guest, &link, None))))
}

fn page(guest: &Guest, link: &str, problem: Option<&Message>) -> Markup {
    let body = html! {
        section.narrow.card {
            h1 { (say::reset()) }
            (parts::problem(problem))
            p { (say::reset_hint()) }
            form method="post" action={ "/reset/" (link) } {
                (parts::hidden(&guest.form_token(), ""))
                (parts::password("password", say::password_new(), true))
                p.buttons { button.primary { (say::reset_button()) } }
            }
        }
    };
    layout::Page::new(say::reset()).show(body)
}

/// The page whose address is a secret: it goes to no other.
fn secretly(mut page: Response) -> Response {
    let nowhere = HeaderValue::from_static("no-referrer");
    page.headers_mut().insert(header::REFERRER_POLICY, nowhere);
    page
}

async fn reset(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    Path(link): Path<String>,
    Posted(form): Posted<NewPassword>,
) -> Answer {
    app.count_guess(address)?;
    let secret = check(&app, &link)?;
    let hash = match app.hash(form.password).await {
        Ok(hash) => hash,
        Err(error) => {
            return again(error, |words| page(&guest, &link, Some(words))).map(secretly);
        }
    };
    app.db()
        .write(move |db| links::reset_password(db, secret, &hash))
        .await
        .map_err(over)?;
    Ok(Redirect::to("/sign-in?done=password").into_response())
}
