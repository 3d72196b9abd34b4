//! Adding and removing passkeys, and signing in with them.

use super::{
    account,
    common::{Answer, form_of},
    sign_in,
};
use crate::{
    Error, Result,
    db::{
        passkeys::{self, Passkey},
        sessions,
        users::User,
    },
    passkeys::{
        Asserted, CHALLENGE_LIFETIME, Challenge, Created, Purpose, Refusal, Site, algorithms,
        asserted, registered,
    },
    request::{App, Caller, error_status},
    web::{
        answer::plain_sentence,
        form::{Confirm, Nothing, Posted, local},
        visitor::{self, Device, Entry, Guest, Member},
    },
    words::say,
};
use axum::{
    Json, Router,
    extract::{Path, State as Shared},
    response::IntoResponse,
    routing::post,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use inorder_key::Ulid;
use rusqlite::Connection;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub fn router() -> Router<App> {
    let form = |method| form_of("/account", method);
    Router::new()
        .route("/account/passkeys", form(post(add)))
        .route("/account/passkeys/begin", form(post(begin_add)))
        .route("/account/passkeys/{id}/remove", form(post(remove)))
        .route("/sign-in/passkey", form_of("/sign-in", post(enter)))
        .route(
            "/sign-in/passkey/begin",
            form_of("/sign-in", post(begin_enter)),
        )
}

/// The site that passkeys belong to.
fn site(app: &App) -> Result<&Site> {
    app.config().site.as_ref().ok_or(Error::NotFound("page"))
}

fn base64url(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// What the script passes to the browser, or the words for what is wrong.
fn begun(options: Result<Value>) -> Answer {
    match options {
        Ok(options) => Ok(Json(options).into_response()),
        Err(error @ (Error::Invalid(_) | Error::TooMany(_))) => {
            let (status, words) = error_status(&error);
            let problem = json!({"problem": plain_sentence(&words)});
            Ok((status, Json(problem)).into_response())
        }
        Err(other) => Err(other.into()),
    }
}

async fn begin_add(member: Member, Posted(Confirm { confirm }): Posted<Confirm>) -> Answer {
    let me = &member.me;
    let options = async {
        let site = site(&me.app)?;
        me.confirm(confirm).await?;
        let there = me.read(|db, user| {
            passkeys::check_room(db, user.number)?;
            passkeys::all(db, user.number)
        })?;
        let challenge = me
            .app
            .challenges()
            .begin(Purpose::Add, member.secret.hash());
        Ok(creation(site, &me.user, &there, &challenge))
    };
    begun(options.await)
}

/// The options of `navigator.credentials.create`, with base64url for bytes.
fn creation(site: &Site, user: &User, there: &[Passkey], challenge: &Challenge) -> Value {
    let kinds: Vec<Value> = algorithms()
        .map(|number| json!({"type": "public-key", "alg": number}))
        .collect();
    let there: Vec<Value> = there
        .iter()
        .map(|passkey| json!({"type": "public-key", "id": base64url(&passkey.credential)}))
        .collect();
    json!({
        "rp": {"id": site.id(), "name": say::brand().plain()},
        "user": {"id": base64url(&user.id.to_bytes()), "name": user.name, "displayName": user.name},
        "challenge": base64url(challenge),
        "pubKeyCredParams": kinds,
        "timeout": CHALLENGE_LIFETIME.as_millis() as u64,
        "excludeCredentials": there,
        "authenticatorSelection": {"residentKey": "required", "requireResidentKey": true, "userVerification": "required"},
        "attestation": "none",
    })
}

#[derive(Deserialize)]
struct Added {
    name: String,
    credential: String,
}

async fn add(member: Member, Posted(Added { name, credential }): Posted<Added>) -> Answer {
    let me = &member.me;
    let added = async {
        let challenge = me.app.challenges().take(Purpose::Add, member.secret.hash());
        let site = site(&me.app)?;
        let created: Created = read(&credential)?;
        let challenge = challenge.ok_or(Refusal::Challenge).map_err(refused)?;
        let credential = registered(site, &challenge, created).map_err(refused)?;
        let add =
            move |db: &Connection, user: &User| passkeys::add(db, user.number, &name, &credential);
        me.write(add).await
    };
    account::told(&member, added.await, "passkey")
}

async fn remove(
    member: Member,
    Path(id): Path<Ulid>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let session = member.secret.hash();
    let remove = move |db: &Connection, user: &User| {
        let is_confirmed = sessions::is_confirmed(db, session)?;
        passkeys::remove(db, user.number, id, is_confirmed)
    };
    account::told(&member, member.me.write(remove).await, "passkey-removed")
}

async fn begin_enter(
    Shared(app): Shared<App>,
    guest: Guest,
    Caller(address): Caller,
    Posted(Nothing {}): Posted<Nothing>,
) -> Answer {
    let options = site(&app).and_then(|site| {
        app.count_passkey(address)?;
        let challenge = app.challenges().begin(Purpose::SignIn, guest.hash());
        Ok(json!({
            "rpId": site.id(),
            "challenge": base64url(&challenge),
            "timeout": CHALLENGE_LIFETIME.as_millis() as u64,
            "userVerification": "required",
        }))
    });
    begun(options)
}

#[derive(Deserialize)]
struct SignIn {
    credential: String,
    #[serde(default)]
    next: String,
}

async fn enter(
    Shared(app): Shared<App>,
    guest: Guest,
    device: Device,
    Posted(form): Posted<SignIn>,
) -> Answer {
    let challenge = app.challenges().take(Purpose::SignIn, guest.hash());
    match try_in(&app, device, challenge, &form.credential).await {
        Ok(entry) => Ok(visitor::signed_in(
            entry,
            local(&form.next),
            app.config().behind_tls,
        )),
        Err(error) => sign_in::refused(&app, &guest, "", &form.next, error),
    }
}

/// Signs in the user of a passkey.
async fn try_in(
    app: &App,
    device: Device,
    challenge: Option<Challenge>,
    credential: &str,
) -> Result<Entry> {
    let site = site(app)?;
    let answer: Asserted = read(credential)?;
    let challenge = challenge.ok_or(Refusal::Challenge).map_err(refused)?;
    let found = app.db().read(|db| passkeys::find(db, answer.id()))?;
    // One that was removed here may still be on the device.
    let (user, credential) = found.ok_or_else(|| Error::Invalid(say::passkey_unknown()))?;
    let verified = asserted(site, &challenge, &answer, &credential, &user.id.to_bytes());
    let verified = verified.map_err(refused)?;
    let record = move |db: &Connection| match passkeys::used(db, &credential, verified.counter)? {
        true => Ok(()),
        false => Err(refused(Refusal::Counter)),
    };
    sign_in::enter(app, Entry::new(device).with_passkey(), user, record).await
}

/// Reads what the script has sent.
fn read<T: DeserializeOwned>(credential: &str) -> Result<T> {
    serde_json::from_str(credential).map_err(|_| refused(Refusal::Malformed("JSON")))
}

/// The words for a refusal. The log has the reason, which helps nobody but who runs the server.
fn refused(refusal: Refusal) -> Error {
    tracing::info!("a passkey was refused: {refusal}");
    Error::Invalid(match refusal {
        Refusal::Challenge => say::passkey_late(),
        Refusal::Counter => say::passkey_copied(),
        _ => say::passkey_refused(),
    })
}
