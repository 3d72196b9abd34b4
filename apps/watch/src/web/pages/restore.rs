//! Restoring a backup, for the owner.

use super::common::{Answer, Owner, again};
use crate::{
    Error, Result,
    db::restore::{self, Arriving, Going, Restored},
    request::App,
    web::{
        form::check_token,
        layout::{self, Place},
        parts,
        visitor::Member,
    },
    words::{Arg, Message, say},
};
use axum::{
    Router,
    extract::{Multipart, multipart::Field},
    http::HeaderMap,
    response::IntoResponse,
    routing::get,
};
use maud::{Markup, html};
use std::path::{Path, PathBuf};
use tokio::{fs, io::AsyncWriteExt};

/// Gigabytes of a backup.
const GIGABYTES_MAX: u64 = 16;

/// The page, which takes long requests.
pub fn router() -> Router<App> {
    Router::new().route("/users/restore", get(show).post(send))
}

async fn show(Owner(member): Owner) -> Answer<Markup> {
    Ok(page(&member, &restore::kept(member.me.app.db())?, None))
}

/// The name of a file in its folder.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn page(
    Member { me, secret }: &Member,
    kept: &[(PathBuf, u64)],
    problem: Option<&Message>,
) -> Markup {
    let megabytes = |bytes: u64| Arg::Tenths(i64::try_from(bytes / 100_000).unwrap_or(i64::MAX));
    let body = html! {
        section.narrow {
            h1 { (say::restore()) }
            (parts::problem(problem))
            form.card method="post" action="/users/restore" enctype="multipart/form-data" {
                (parts::hidden(&secret.form_token(), ""))
                p { (say::restore_hint()) }
                p { (say::restore_access()) }
                p { (say::restore_before()) }
                (parts::password("confirm", say::password_yours(), false))
                label.field for="file" { (say::restore_file()) }
                input id="file" type="file" name="file" accept=".db,application/vnd.sqlite3" required;
                p.buttons { button.danger { (say::restore_button()) } }
            }
            @if !kept.is_empty() {
                h2 { (say::restore_kept()) }
                ul.plain { @for (path, bytes) in kept { li { (say::restore_kept_file(name(path), megabytes(*bytes))) } } }
            }
            p { a href="/users" { (say::user_all()) } }
        }
    };
    layout::Page::new(say::restore())
        .of(me)
        .at(Place::Account)
        .show(body)
}

async fn send(Owner(member): Owner, headers: HeaderMap, form: Multipart) -> Answer {
    let me = &member.me;
    let restored = async {
        let backup = arrive(&member, &headers, form).await?;
        // Another restore may have ended this session while the file arrived.
        me.read(|_, _| Ok(()))?;
        let going = Going {
            user: me.user.id,
            session: member.secret.hash(),
        };
        restore::restore(me.app.db(), backup, going).await
    };
    match restored.await {
        Ok(restored) => {
            me.app.forget_genres();
            tracing::warn!(
                "a backup was restored; {} has what there was before",
                restored.before.display()
            );
            Ok(done(&restored).into_response())
        }
        Err(error) => {
            let kept = restore::kept(me.app.db())?;
            again(error, |words| page(&member, &kept, Some(words)))
        }
    }
}

/// Takes the file of the form. Token and password come first, so that nothing is written for others.
async fn arrive(member: &Member, headers: &HeaderMap, mut form: Multipart) -> Result<Arriving> {
    let (app, mut is_own, mut is_sure) = (&member.me.app, false, false);
    while let Some(field) = form.next_field().await.map_err(cut)? {
        match field.name() {
            Some("token") => {
                check_token(app, headers, &field.text().await.map_err(cut)?)?;
                is_own = true;
            }
            Some("confirm") if is_own => {
                let password = field.text().await.map_err(cut)?;
                app.check_password(&member.me.user, password).await?;
                is_sure = true;
            }
            Some("file") if is_sure => return keep(app, field).await,
            _ => break,
        }
    }
    if !is_own {
        check_token(app, headers, "")?;
    }
    Err(Error::Invalid(say::form_cut()))
}

fn cut(_: axum::extract::multipart::MultipartError) -> Error {
    Error::Invalid(say::form_cut())
}

/// Writes what arrives into a file.
async fn keep(app: &App, mut field: Field<'_>) -> Result<Arriving> {
    let (backup, file) = Arriving::new(app.db().path())?;
    let mut file = fs::File::from_std(file);
    let mut left = GIGABYTES_MAX * 1_000_000_000;
    let mut is_empty = true;
    while let Some(bytes) = field.chunk().await.map_err(cut)? {
        let after = left.checked_sub(bytes.len() as u64);
        left = after.ok_or_else(|| Error::Invalid(say::restore_too_large(GIGABYTES_MAX)))?;
        is_empty &= bytes.is_empty();
        file.write_all(&bytes).await?;
    }
    file.flush().await?;
    match is_empty {
        true => Err(Error::Invalid(say::file_choose())),
        false => Ok(backup),
    }
}

fn done(restored: &Restored) -> Markup {
    let body = html! {
        section.narrow {
            h1 { (say::restore_done()) }
            div.notice role="status" { p { (say::restore_done_hint(name(&restored.before))) } }
            @if !restored.is_signed_in { p { (say::restore_sign_in()) } }
            p { a.button href="/" { (say::go_to_list()) } }
        }
    };
    layout::Page::new(say::restore_done()).show(body)
}
