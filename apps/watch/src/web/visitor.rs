//! The visitor of a page, by cookie.

use super::answer::PageError;
use crate::{
    Error,
    db::{Access, devices, news, sessions, users},
    request::{App, Me},
    secret::Secret,
    words,
};
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, Method, Uri, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use rusqlite::Connection;

/// The cookie of a session.
const SESSION: &str = "session";

/// The cookie of a visitor without a session, for the forms that sign in.
const GUEST: &str = "guest";

/// The cookie of a known browser. It stays after signing out.
const DEVICE: &str = "device";

/// A message shown once on the next page.
const FLASH: &str = "flash";

/// The lifetime in seconds if there is no next page.
const FLASH_SECONDS: i64 = 60;

/// A visitor who is signed in.
pub struct Member {
    /// The user.
    pub me: Me,
    /// The secret in their cookie.
    pub secret: Secret,
}

/// A visitor whose session is looked up by the handler of a page, in the transaction in which it reads.
pub struct Visitor {
    app: App,
    /// The secret in their cookie.
    secret: Option<Secret>,
    method: Method,
    uri: Uri,
}

/// A visitor who need not be signed in.
pub struct Guest {
    /// The secret in their cookie, current or new.
    secret: Secret,
    is_new: bool,
    behind_tls: bool,
}

/// The browser, if a user has signed in there before.
#[derive(Clone, Copy)]
pub struct Device(pub Option<Secret>);

/// The secrets for the cookies of a user who signs in.
#[derive(Clone, Copy)]
pub struct Entry {
    session: Secret,
    device: Secret,
    old_device: Option<Secret>,
    is_passkey: bool,
}

impl Entry {
    /// New secrets, for this browser.
    pub fn new(Device(old_device): Device) -> Self {
        Entry {
            session: Secret::new(),
            device: Secret::new(),
            old_device,
            is_passkey: false,
        }
    }

    /// The same, of a user who signs in with a passkey.
    pub fn with_passkey(self) -> Self {
        Entry {
            is_passkey: true,
            ..self
        }
    }

    /// Signs a user in.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn begin(self, db: &Connection, user: i64) -> crate::Result<()> {
        sessions::begin(db, user, self.session, self.is_passkey)?;
        self.remember_device(db, user)
    }

    /// Remembers the browser only.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn remember_device(self, db: &Connection, user: i64) -> crate::Result<()> {
        devices::remember(db, user, self.old_device, self.device)
    }

    /// The cookie of the browser.
    pub fn device_cookie(self, behind_tls: bool) -> HeaderValue {
        let seconds = Some(devices::SECONDS_MAX);
        cookie(DEVICE, &self.device.to_string(), seconds, behind_tls)
    }
}

impl FromRequestParts<App> for Device {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Device(secret(
            &parts.headers,
            DEVICE,
            app.config().behind_tls,
        )))
    }
}

impl Guest {
    /// The token that their forms must send back.
    pub fn form_token(&self) -> String {
        self.secret.form_token()
    }

    /// The hash of the secret in their cookie.
    pub fn hash(&self) -> [u8; 32] {
        self.secret.hash()
    }

    /// The page, with the cookie if they haven't one.
    pub fn show(&self, page: impl IntoResponse) -> Response {
        let mut response = page.into_response();
        if self.is_new {
            let cookie = cookie(GUEST, &self.secret.to_string(), None, self.behind_tls);
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl FromRequestParts<App> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let visitor = Visitor::of(parts, app);
        let (member, ()) = visitor.read(|_, _| Ok(())).await?;
        Ok(member)
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Visitor::of(parts, app))
    }
}

impl Visitor {
    fn of(parts: &Parts, app: &App) -> Self {
        Visitor {
            app: app.clone(),
            secret: secret(&parts.headers, SESSION, app.config().behind_tls),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
        }
    }

    /// Reads in the user's name, in the transaction that finds their session. From here on the language is that of the user.
    ///
    /// # Errors
    /// What is answered instead of the page: the way to sign in, or the error of `work`.
    pub async fn read<T>(
        self,
        work: impl FnOnce(&Connection, &Me) -> crate::Result<T>,
    ) -> Result<(Member, T), Response> {
        let page = |error: Error| PageError(error).into_response();
        let app = &self.app;
        if let Some(secret) = self.secret {
            let found = app.db().read(|db| {
                let Some(signed_in) = sessions::find(db, secret)? else {
                    return Ok(None);
                };
                let me = Me {
                    app: app.clone(),
                    news: news::count(db, signed_in.user.number)?,
                    user: signed_in.user,
                    access: Access::Session(secret.hash()),
                };
                if let Some(language) = me.user.language {
                    words::set(language);
                }
                let given = work(db, &me)?;
                Ok(Some((
                    Member { me, secret },
                    given,
                    signed_in.wants_renewal,
                )))
            });
            if let Some((member, given, wants_renewal)) = found.map_err(page)? {
                if wants_renewal {
                    let renewed = app.db().write(move |db| sessions::renew(db, secret)).await;
                    renewed.map_err(page)?;
                }
                return Ok((member, given));
            }
        }
        if app.setup_code().is_some() && app.db().read(users::are_none).map_err(page)? {
            return Err(Redirect::to("/setup").into_response());
        }
        Err(Redirect::to(&self.sign_in_address()).into_response())
    }

    /// The address of the page to sign in at, which leads back to the wanted page.
    fn sign_in_address(&self) -> String {
        let wanted = match self.method {
            Method::GET => self.uri.path_and_query().map_or("/", |uri| uri.as_str()),
            _ => "/",
        };
        let next = serde_urlencoded::to_string([("next", wanted)]).unwrap_or_default();
        if wanted == "/" {
            "/sign-in".to_owned()
        } else {
            format!("/sign-in?{next}")
        }
    }
}

impl FromRequestParts<App> for Guest {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let behind_tls = app.config().behind_tls;
        let known = form_secret(&parts.headers, behind_tls);
        Ok(Guest {
            secret: known.unwrap_or_else(Secret::new),
            is_new: known.is_none(),
            behind_tls,
        })
    }
}

/// Whether the form's token belongs to the sender's cookie.
pub fn is_own_form(headers: &HeaderMap, behind_tls: bool, token: &str) -> bool {
    let secret = form_secret(headers, behind_tls);
    secret.is_some_and(|secret| secret.is_form_token(token))
}

/// What a sender's forms are made with. A signed-in person's are those of their session, whatever other cookie somebody
/// planted; and so are those that sign them in again after the session has ended.
fn form_secret(headers: &HeaderMap, behind_tls: bool) -> Option<Secret> {
    secret(headers, SESSION, behind_tls).or_else(|| secret(headers, GUEST, behind_tls))
}

/// The answer to a successful sign-in.
pub fn signed_in(entry: Entry, to: &str, behind_tls: bool) -> Response {
    let seconds = Some(sessions::SECONDS_MAX);
    let session = cookie(SESSION, &entry.session.to_string(), seconds, behind_tls);
    let guest = cookie(GUEST, "", Some(0), behind_tls);
    let cookies = [session, guest, entry.device_cookie(behind_tls)];
    let cookies = cookies.map(|cookie| (header::SET_COOKIE, cookie));
    (axum::response::AppendHeaders(cookies), Redirect::to(to)).into_response()
}

/// The way to a page that shows this secret once: by a cookie, since it must not be in an address.
pub fn show_once(secret: Secret, to: &str, behind_tls: bool) -> Response {
    let cookie = cookie(FLASH, &secret.to_string(), Some(FLASH_SECONDS), behind_tls);
    ([(header::SET_COOKIE, cookie)], Redirect::to(to)).into_response()
}

/// Returns the secret to show on a page, and removes it.
pub struct Flash {
    pub secret: Option<Secret>,
    behind_tls: bool,
}

impl Flash {
    /// The page; the secret isn't shown again.
    pub fn show(&self, page: impl IntoResponse) -> Response {
        let mut response = page.into_response();
        if self.secret.is_some() {
            let cookie = cookie(FLASH, "", Some(0), self.behind_tls);
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl FromRequestParts<App> for Flash {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let behind_tls = app.config().behind_tls;
        let secret = secret(&parts.headers, FLASH, behind_tls);
        Ok(Flash { secret, behind_tls })
    }
}

/// The answer to a sign-out.
pub fn signed_out(to: &str, behind_tls: bool) -> Response {
    let cookie = cookie(SESSION, "", Some(0), behind_tls);
    let clear = HeaderValue::from_static("\"cache\"");
    (
        [
            (header::SET_COOKIE, cookie),
            (header::HeaderName::from_static("clear-site-data"), clear),
        ],
        Redirect::to(to),
    )
        .into_response()
}

/// Behind TLS the browser itself guards the name: no other host, path or plain connection can set it.
fn name(name: &str, behind_tls: bool) -> String {
    format!("{}{name}", if behind_tls { "__Host-" } else { "" })
}

fn cookie(cookie: &str, value: &str, seconds: Option<i64>, behind_tls: bool) -> HeaderValue {
    let name = name(cookie, behind_tls);
    let mut text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax");
    if let Some(seconds) = seconds {
        text += &format!("; Max-Age={seconds}");
    }
    if behind_tls {
        text += "; Secure";
    }
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

fn secret(headers: &HeaderMap, cookie: &str, behind_tls: bool) -> Option<Secret> {
    let name = name(cookie, behind_tls);
    let lines = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let mut pairs = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name)?.1.parse().ok()
}
