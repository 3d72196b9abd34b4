//! A friend's list: what they let friends see of it.

use super::{
    add_form::actions,
    common::{Answer, Done},
    list::{Shown, marks, notice},
    names,
};
use crate::{
    Result,
    db::{entries, friends, undo},
    request::{App, View},
    web::{
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::say,
};
use axum::{
    Router,
    extract::{Path, Query},
    routing::get,
};
use maud::{Markup, html};

pub fn router() -> Router<App> {
    Router::new().route("/people/{name}", get(show))
}

async fn show(
    Member { me, secret }: Member,
    Path(name): Path<String>,
    Query(view): Query<View>,
    Query(Done { done, change }): Query<Done>,
) -> Answer<Markup> {
    let (friend, tags, page, own, last, genres) = me.read(|db, user| {
        let friend = friends::friend(db, user.number, &name)?;
        let tags = entries::tags::shared(db, friend.number)?;
        let page = entries::page(db, friend.number, &view.of_friend(&tags))?;
        let films = page.entries.iter().map(|entry| entry.film.number);
        let own = films.map(|film| entries::state(db, user.number, film));
        let own = own.collect::<Result<Vec<_>>>()?;
        let last = undo::recent(db, user.number, change)?;
        Ok((friend, tags, page, own, last, me.app.genres(db)?))
    })?;
    let view = View {
        tag: view.of_friend(&tags).tag,
        ..view
    };
    let path = parts::person_address(&friend.name);
    let shown = Shown {
        view: &view,
        path: &path,
        page: &page,
        genres: &genres,
    };
    let (token, back) = (secret.form_token(), view.address(&path));
    let body = html! {
        div.head {
            h1 { (say::person_list(&friend.name)) }
            a.button href={ "/tonight?with=" (friend.name) } { (say::person_together()) }
        }
        (notice(&done, last.as_ref(), &token, &back))
        (shown.head())
        (names::chooser(&path, say::names(), &view, &tags))
        @if page.entries.is_empty() {
            (shown.nothing(html! { p { (say::person_nothing()) } }))
        } @else {
            ol.films start=(view.filter(true).page * entries::PAGE_ENTRIES + 1) {
                @for (entry, own) in page.entries.iter().zip(&own) {
                    li.film id={ "f" (entry.film.id) } {
                        (parts::tile(&entry.film))
                        div.what {
                            p { (parts::title(&entry.film)) }
                            p.line { (parts::line(&entry.film)) }
                            (marks(entry.film.facts.series(), &entry.state))
                        }
                        (actions(&entry.film, own.as_ref(), &token, &back))
                    }
                }
            }
            (shown.pager())
        }
        (farewell(&friend.name, &token))
    };
    Ok(layout::Page::new(say::person_list(&friend.name))
        .of(&me)
        .at(Place::Friends)
        .show(body))
}

/// What ends a friendship.
fn farewell(friend: &str, token: &str) -> Markup {
    html! {
        details {
            summary { (say::person_end()) }
            form method="post" action="/friends/unfriend" {
                (parts::hidden(token, ""))
                input type="hidden" name="name" value=(friend);
                p { (say::person_end_hint()) }
                p.buttons {
                    button.danger { (say::person_unfriend(friend)) }
                    button.danger formaction="/friends/block" { (say::person_unfriend_block()) }
                }
                p.hint { (say::person_block_hint()) }
            }
        }
    }
}
