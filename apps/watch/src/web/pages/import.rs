//! Bringing a list in, and taking it along.

use super::common::{Answer, again};
use crate::{
    Error, Result,
    db::{account, entries},
    lists,
    request::{App, Me},
    web::{
        form::check_token,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
};
use axum::{
    Router,
    body::Bytes,
    extract::Multipart,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use inorder_key::Ulid;
use maud::{Markup, html};

/// The page, which takes long requests.
pub fn router() -> Router<App> {
    Router::new()
        .route("/import", get(show).post(import))
        .route("/export.csv", get(export_csv))
        .route("/export.json", get(export_json))
}

async fn show(member: Member) -> Markup {
    page(&member, None, None)
}

fn page(Member { me, secret }: &Member, done: Option<Markup>, problem: Option<&str>) -> Markup {
    let body = html! {
        section.narrow {
            h1 { "Bring a list" }
            @if let Some(done) = done { (done) }
            (parts::problem(problem))
            form.card method="post" action="/import" enctype="multipart/form-data" {
                (parts::hidden(&secret.form_token(), ""))
                label.field for="file" { "CSV file" }
                input id="file" type="file" name="file" accept=".csv,text/csv" required aria-describedby="file-hint";
                p.hint id="file-hint" {
                    "Letterboxd: Settings, Data, Export your data; then diary.csv, ratings.csv, watched.csv, watchlist.csv or a list of it. IMDb: a list or your ratings, Export. "
                    "Or what this site has exported. Films that are on your list stay as they are."
                }
                label.field {
                    span { "The films in it" }
                    select name="kind" {
                        option value="" { "are what the file’s name and columns say" }
                        option value="watched" { "were watched" }
                        option value="to_watch" { "are to be watched" }
                    }
                }
                label.tick { input type="checkbox" name="add_missing"; span { "Add films that are not known here" } }
                p.buttons { button.primary { "Import" } }
            }
        }
    };
    layout::Page::new("Bring a list")
        .of(me)
        .at(Place::Account)
        .show(body)
}

/// The submitted form.
struct Sent {
    text: Bytes,
    /// The content according to the file's name.
    named: lists::Kind,
    /// The content according to the sender.
    chosen: Option<lists::Kind>,
    add_missing: bool,
}

async fn import(member: Member, headers: HeaderMap, form: Multipart) -> Answer {
    let sent = sent(&member.me.app, &headers, form).await?;
    match run(&member.me, sent).await {
        Ok((change, imported)) => {
            let done = done(&member, change, &imported);
            Ok(page(&member, Some(done), None).into_response())
        }
        Err(error) => again(error, |words| page(&member, None, Some(words))),
    }
}

/// Reads the form. The token comes first, so that nothing is taken from another site.
async fn sent(app: &App, headers: &HeaderMap, mut form: Multipart) -> Result<Sent> {
    let bad = |error: axum::extract::multipart::MultipartError| {
        Error::Invalid(match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "The file is larger than 4 MB.".to_owned(),
            _ => "The form did not arrive whole: send it again.".to_owned(),
        })
    };
    let mut sent = Sent {
        text: Bytes::new(),
        named: lists::Kind::default(),
        chosen: None,
        add_missing: false,
    };
    let mut is_own = false;
    while let Some(field) = form.next_field().await.map_err(bad)? {
        match field.name() {
            Some("token") => {
                check_token(app, headers, &field.text().await.map_err(bad)?)?;
                is_own = true;
            }
            _ if !is_own => check_token(app, headers, "")?,
            Some("file") => {
                let name = field.file_name().unwrap_or_default().to_owned();
                sent.text = field.bytes().await.map_err(bad)?;
                sent.named = lists::Kind::of_file(&name, &sent.text);
            }
            Some("kind") => {
                sent.chosen = match field.text().await.map_err(bad)?.as_str() {
                    "watched" => Some(lists::Kind::Watched),
                    "to_watch" => Some(lists::Kind::ToWatch),
                    _ => None,
                };
            }
            Some("add_missing") => sent.add_missing = true,
            _ => {}
        }
    }
    match is_own {
        true => Ok(sent),
        false => check_token(app, headers, "").map(|()| sent),
    }
}

async fn run(me: &Me, sent: Sent) -> Result<(Ulid, lists::Imported)> {
    if sent.text.is_empty() {
        return Err(Error::invalid("Choose a file first."));
    }
    let kind = sent.chosen.unwrap_or(sent.named);
    me.import(sent.text, kind, sent.add_missing).await
}

fn done(member: &Member, change: Ulid, imported: &lists::Imported) -> Markup {
    let lists::Imported {
        added,
        present,
        missing,
    } = imported;
    html! {
        div.notice role="status" {
            p { "New on your list: " (added) ". There already: " (present) ". Not found: " (missing.len()) "." }
            @if *added > 0 {
                form method="post" action={ "/undo/" (change) } {
                    (parts::hidden(&member.secret.form_token(), "/"))
                    button.small { "Undo" }
                }
            }
        }
        @if !missing.is_empty() {
            details open {
                summary { "Not found" }
                ul { @for film in missing { li { bdi { (film.title) } @if let Some(year) = film.year { " (" (year) ")" } } } }
                p { "Import the file again with “Add films that are not known here” to have them too." }
            }
        }
        p { a href="/" { "Go to your list" } }
    }
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

async fn export_json(Member { me, .. }: Member) -> Answer {
    let all = me.read_long(account::export).await?;
    let name = "attachment; filename=\"what-to-watch.json\"";
    let text = format!("{all:#}\n");
    Ok(file("application/json", name, text.into_bytes()))
}
