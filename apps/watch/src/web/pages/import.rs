//! Bringing a list in, and taking it along.

use super::{
    common::{Answer, again, form_of},
    import_columns, import_preview,
};
use crate::{
    Error, Result,
    db::{
        account, entries,
        imports::{self, Done},
        undo,
        users::User,
    },
    lists::{self, Answers, Choice, Choices, Imported, Sent},
    request::App,
    web::{
        form::{Nothing, Posted, check_token},
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{Message, say},
};
use axum::{
    Router,
    extract::{Multipart, Path},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use inorder_key::Ulid;
use maud::{Markup, html};
use rusqlite::Connection;
use std::sync::Arc;

/// The pages, of which the first takes long requests.
pub fn router() -> Router<App> {
    Router::new()
        .route("/import", get(show).post(send))
        .route("/import/{id}", get(preview).post(confirm))
        .route("/import/{id}/columns", form_of("/import", post(columns)))
        .route("/import/{id}/cancel", form_of("/import", post(cancel)))
        .route("/export.csv", get(export_csv))
        .route("/export/letterboxd.csv", get(export_watched))
        .route("/export/letterboxd-watchlist.csv", get(export_watchlist))
        .route("/export.json", get(export_json))
}

async fn show(member: Member) -> Markup {
    page(&member, None)
}

fn page(Member { me, secret }: &Member, problem: Option<&Message>) -> Markup {
    let body = html! {
        section.narrow {
            h1 { (say::import()) }
            (parts::problem(problem))
            form.card method="post" action="/import" enctype="multipart/form-data" {
                (parts::hidden(&secret.form_token(), ""))
                // A script puts in the zone of the browser.
                input type="hidden" name="zone" value="" data-zone;
                label.field for="file" { (say::import_file()) }
                input id="file" type="file" name="file" accept=".csv,.json,.zip,text/csv,application/json,application/zip" required aria-describedby="file-hint";
                p.hint id="file-hint" {
                    (say::import_file_hint())
                }
                label.field {
                    span { (say::import_kind()) }
                    select name="kind" {
                        option value="" { (say::import_kind_file()) }
                        option value="watched" { (say::import_kind_watched()) }
                        option value="to_watch" { (say::import_kind_to_watch()) }
                    }
                }
                p.buttons { button.primary { (say::import_see()) } }
            }
        }
    };
    layout::Page::new(say::import())
        .of(me)
        .at(Place::Account)
        .show(body)
}

async fn send(member: Member, headers: HeaderMap, form: Multipart) -> Answer {
    let kept = async {
        let sent = sent(&member.me.app, &headers, form).await?;
        if sent.bytes.is_empty() {
            return Err(Error::Invalid(say::file_choose()));
        }
        let sent = Arc::new(sent);
        // What can't be read at all is not kept.
        member.me.read_file(Arc::clone(&sent)).await?;
        member.me.keep_import(&sent).await
    };
    match kept.await {
        Ok(id) => Ok(Redirect::to(&format!("/import/{id}")).into_response()),
        Err(error) => again(error, |words| page(&member, Some(words))),
    }
}

/// Reads the form. The token comes first, so that nothing is taken from another site.
async fn sent(app: &App, headers: &HeaderMap, mut form: Multipart) -> Result<Sent> {
    let bad = |error: axum::extract::multipart::MultipartError| {
        Error::Invalid(match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => say::file_large(),
            _ => say::form_cut(),
        })
    };
    let mut sent = Sent::default();
    let mut is_own = false;
    while let Some(field) = form.next_field().await.map_err(bad)? {
        match field.name() {
            Some("token") => {
                check_token(app, headers, &field.text().await.map_err(bad)?)?;
                is_own = true;
            }
            _ if !is_own => check_token(app, headers, "")?,
            Some("file") => {
                field
                    .file_name()
                    .unwrap_or_default()
                    .clone_into(&mut sent.name);
                sent.bytes = field.bytes().await.map_err(bad)?.into();
            }
            Some("zone") => {
                let zone = field.text().await.map_err(bad)?;
                // A browser may know zones that this program doesn't.
                sent.answers.zone = Some(zone).filter(|zone| lists::is_zone(zone));
            }
            Some("kind") => sent.answers.rows = rows_of(&field.text().await.map_err(bad)?),
            _ => {}
        }
    }
    match is_own {
        true => Ok(sent),
        false => check_token(app, headers, "").map(|()| sent),
    }
}

/// What the sender says of all rows.
fn rows_of(word: &str) -> Option<lists::Kind> {
    match word {
        "watched" => Some(lists::Kind::Watched),
        "to_watch" => Some(lists::Kind::ToWatch),
        _ => None,
    }
}

/// Takes the answers of the form on the columns, and shows what they change.
async fn columns(
    member: Member,
    Path(id): Path<Ulid>,
    Posted(form): Posted<Vec<(String, String)>>,
) -> Answer {
    let mut sent = Sent::clone(&*member.me.kept_import(id).await?);
    let value = |name: &str| {
        form.iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    };
    let column = |(name, value): &(String, String)| {
        let place = name.strip_prefix("column-")?.to_owned();
        Some((place, value.parse().ok()?))
    };
    let before = sent.answers;
    sent.answers = Answers {
        rows: value("rows").map_or(before.rows, rows_of),
        zone: value("zone").map_or(before.zone, |zone| Some(zone.trim().to_owned())),
        is_day_first: value("day_first").map_or(before.is_day_first, |value| match value {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }),
        profile: value("profile").map_or(before.profile, |name| {
            Some(name.to_owned()).filter(|name| !name.is_empty())
        }),
        columns: form.iter().filter_map(column).collect(),
    };
    let sent = Arc::new(sent);
    match member.me.read_file(Arc::clone(&sent)).await {
        Ok(_) => member.me.answer_import(id, &sent).await?,
        Err(Error::Invalid(words)) => {
            let page = check(&member, id, Some(&words)).await?;
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Redirect::to(&format!("/import/{id}")).into_response())
}

async fn preview(member: Member, Path(id): Path<Ulid>) -> Answer {
    let done = |db: &Connection, user: &User| imports::done(db, user.number, id);
    if let Some(done) = member.me.read(done)? {
        return Ok(done_page(&member, &done)?.into_response());
    }
    Ok(check(&member, id, None).await?.into_response())
}

/// The page that says what the import would do.
async fn check(member: &Member, id: Ulid, problem: Option<&Message>) -> Result<Markup> {
    let me = &member.me;
    let sent = me.kept_import(id).await?;
    let mut reading = me.read_file(Arc::clone(&sent)).await?;
    let found = me.find_films(std::mem::take(&mut reading.rows)).await?;
    let plan = move |db: &Connection, user: &User| {
        let planned = lists::plan(db, user, found, &Choices::default())?;
        let addable = lists::addable(db, user, &planned)?;
        Ok((planned, addable))
    };
    let (planned, addable) = me.read_long(plan).await?;
    let check = import_columns::Check {
        id,
        answers: &sent.answers,
        reading: &reading,
        planned: &planned,
        addable,
        problem,
    };
    Ok(import_preview::page(member, &check))
}

/// What the form of the page chooses.
fn choices(form: &[(String, String)]) -> Choices {
    let has = |name: &str, value: &str| form.iter().any(|(n, v)| n == name && v == value);
    let film = |(name, value): &(String, String)| {
        let at = name.strip_prefix("film-")?.parse().ok()?;
        let choice = match value.as_str() {
            "" => Choice::Nothing,
            "new" => Choice::New,
            id => Choice::Film(id.parse().ok()?),
        };
        Some((at, choice))
    };
    Choices {
        add_missing: has("add_missing", "1"),
        prefer_file: has("prefer", "file"),
        without_lists: has("lists", "0"),
        films: form.iter().filter_map(film).collect(),
    }
}

async fn confirm(
    member: Member,
    Path(id): Path<Ulid>,
    Posted(form): Posted<Vec<(String, String)>>,
) -> Answer {
    match import(&member, id, &form).await {
        Ok(done) => Ok(done_page(&member, &done)?.into_response()),
        Err(Error::Invalid(words)) => {
            let page = check(&member, id, Some(&words)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Does an import that waits. One that was confirmed before is not done again: what it did is returned.
async fn import(Member { me, .. }: &Member, id: Ulid, form: &[(String, String)]) -> Result<Done> {
    if let Some(done) = me.read(|db, user| imports::done(db, user.number, id))? {
        return Ok(done);
    }
    let sent = me.kept_import(id).await;
    let found = match sent {
        Ok(sent) => {
            let reading = me.read_file(sent).await?;
            if let Some(question) = reading.questions.first() {
                return Err(Error::Invalid(question.words()));
            }
            me.find_films(reading.rows).await?
        }
        // The other request of a double click may have been faster.
        Err(Error::NotFound(_)) => lists::Found::default(),
        Err(error) => return Err(error),
    };
    let choices = choices(form);
    let apply = move |db: &Connection, user: &User| {
        if let Some(done) = imports::done(db, user.number, id)? {
            return Ok(done);
        }
        let (change, imported) = lists::apply(db, user, found, &choices)?;
        let counts = serde_json::json!(counts(&imported)).to_string();
        let done = Done { change, counts };
        imports::finish(db, user.number, id, &done)?;
        Ok(done)
    };
    me.write(apply).await
}

/// The numbers that the page after an import says: added, changed, present, left out, and those of the last without room.
fn counts(imported: &Imported) -> [usize; 5] {
    let no_room = imported.no_room.len();
    let left_out = imported.unclear.len() + imported.missing.len() + no_room;
    [
        imported.added,
        imported.changed,
        imported.present,
        left_out,
        no_room,
    ]
}

async fn cancel(
    member: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let remove = move |db: &Connection, user: &User| imports::remove(db, user.number, id);
    member.me.write(remove).await?;
    Ok(Redirect::to("/import").into_response())
}

fn done_page(Member { me, secret }: &Member, done: &Done) -> Result<Markup> {
    let counts: Vec<usize> = serde_json::from_str(&done.counts).map_err(std::io::Error::other)?;
    let count = |at: usize| counts.get(at).copied().unwrap_or_default();
    let can_undo = me.read(|db, user| undo::is_undoable(db, user.number, done.change))?;
    let body = html! {
        section.narrow {
            h1 { (say::import_done()) }
            div.notice role="status" {
                p { (say::import_counts(count(0), count(1), count(2), count(3))) }
                @if count(4) > 0 { p { (lists::no_room(count(4))) } }
                @if can_undo {
                    form method="post" action={ "/undo/" (done.change) } {
                        (parts::hidden(&secret.form_token(), "/"))
                        button.small aria-label=(say::import_undo()) { (say::undo()) }
                    }
                }
            }
            p { a href="/" { (say::go_to_list()) } }
        }
    };
    Ok(layout::Page::new(say::import_done())
        .of(me)
        .at(Place::Account)
        .show(body))
}

fn file(content_type: &'static str, name: &'static str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_DISPOSITION, name),
    ];
    (headers, bytes).into_response()
}

async fn export_csv(Member { me, .. }: Member) -> Answer {
    let entries = me
        .read_long(|db, user| entries::all(db, user.number))
        .await?;
    let name = "attachment; filename=\"watch-list.csv\"";
    Ok(file("text/csv; charset=utf-8", name, lists::csv(&entries)?))
}

async fn export_watched(member: Member) -> Answer {
    of_letterboxd(member, true, "attachment; filename=\"letterboxd.csv\"").await
}

async fn export_watchlist(member: Member) -> Answer {
    of_letterboxd(
        member,
        false,
        "attachment; filename=\"letterboxd-watchlist.csv\"",
    )
    .await
}

async fn of_letterboxd(Member { me, .. }: Member, is_watched: bool, name: &'static str) -> Answer {
    let entries = me
        .read_long(|db, user| entries::all(db, user.number))
        .await?;
    let bytes = lists::letterboxd(&entries, is_watched)?;
    Ok(file("text/csv; charset=utf-8", name, bytes))
}

async fn export_json(Member { me, .. }: Member) -> Answer {
    let all = me.read_long(account::export).await?;
    let name = "attachment; filename=\"what-to-watch.json\"";
    let text = format!("{all:#}\n");
    Ok(file("application/json", name, text.into_bytes()))
}
