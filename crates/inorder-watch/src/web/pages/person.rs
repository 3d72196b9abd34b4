//! A friend's list: what they let friends see of it.

use super::{
    Answer,
    list::{Shown, View, marks},
};
use crate::{
    db::{entries, friends},
    web::{
        App,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    extract::{Path, Query, State as Shared},
    response::{IntoResponse, Response},
    routing::get,
};
use maud::html;

pub fn router() -> Router<App> {
    Router::new().route("/people/{name}", get(show))
}

async fn show(
    Shared(app): Shared<App>,
    member: Member,
    Path(name): Path<String>,
    Query(view): Query<View>,
) -> Answer<Response> {
    let (user, filter) = (member.user.number, view.filter(true));
    let shared = app.clone();
    let (friend, page, counts, genres) = app
        .db()
        .read(move |db| {
            let friend = friends::friend(db, user, &name)?;
            let page = entries::page(db, friend.number, &filter)?;
            let counts = entries::counts(db, friend.number, true)?;
            Ok((friend, page, counts, shared.genres(db)?))
        })
        .await?;
    let path = format!("/people/{}", friend.name);
    let shown = Shown {
        view: &view,
        path: &path,
        page: &page,
        counts,
        genres: &genres,
    };
    let title = format!("{}’s list", friend.name);
    let body = html! {
        div.head {
            h1 { (title) }
            a.button href={ "/tonight?with=" (friend.name) } { "Watch together" }
        }
        (shown.head())
        @if page.entries.is_empty() {
            (shown.nothing(html! { p { "Nothing to see here yet." } }))
        } @else {
            ol.films start=(view.filter(true).page * entries::PAGE_ENTRIES + 1) {
                @for entry in &page.entries {
                    li.film {
                        (parts::tile(&entry.film))
                        div.what {
                            p { (parts::title(&entry.film)) }
                            p.line { (parts::line(&entry.film)) }
                            (marks(&entry.state))
                        }
                    }
                }
            }
            (shown.pager())
        }
    };
    let page = layout::Page::new(&title)
        .of(&member.user)
        .at(Place::Friends);
    Ok(page.show(body).into_response())
}
