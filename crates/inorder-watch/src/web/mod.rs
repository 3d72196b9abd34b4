//! The pages, and the server of both them and the API.
//!
//! Every page is made on the server and works without a script; `assets/app.js` only makes it quicker. Nothing is asked of
//! another server.

mod answer;
mod assets;
mod form;
mod headers;
pub(crate) mod layout;
pub mod listen;
mod me;
pub mod pages;
mod parts;
pub(crate) mod visitor;

use crate::{
    Error, Result, api,
    db::{
        Database, films,
        users::{self, User},
    },
    limits::{Limit, household},
    password,
    secret::Secret,
};
use axum::{
    Router,
    extract::{ConnectInfo, DefaultBodyLimit, FromRequestParts},
    http::request::Parts,
    middleware,
};
use rusqlite::Connection;
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Semaphore;
use tower_http::timeout::TimeoutLayer;

pub use answer::PageError;
pub(crate) use answer::{status as error_status, with_wait};
pub use assets::Asset;
pub use me::Me;
pub(crate) use pages::{View, with};

/// Bytes of a request, but for a list that is imported.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a list that is imported.
pub const IMPORT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a request may take, its body included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Passwords that are hashed at once: each takes 19 MiB and a core for some 50 ms, and the other cores are for the pages.
const HASHES_MAX: usize = 1;

/// What the server was told when it was started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Whether people come through a proxy that speaks TLS and says who they are: cookies are then for TLS only, and the
    /// proxy's `X-Forwarded-For` is believed.
    pub behind_tls: bool,
}

/// Whose tries to give a password are counted together. Nobody can use up somebody else's.
#[derive(PartialEq, Eq, Hash)]
enum Trier {
    /// An address at a name. What can't be a name counts as an empty one, which bounds what is kept of it.
    Stranger(IpAddr, String),
    /// A browser in which this user has signed in before.
    Device([u8; 32], i64),
    /// A user who is signed in.
    Member(i64),
}

/// What all requests share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    db: Database,
    config: Config,
    /// The code for setting the server up, as long as nobody has.
    setup_code: Mutex<Option<String>>,
    hashes: Semaphore,
    sign_ins: Limit<Trier>,
    sign_ins_by_address: Limit<IpAddr>,
    sign_ups: Limit<IpAddr>,
    /// The film that was the newest, and the genres there were.
    genres: Mutex<(i64, Arc<[String]>)>,
}

impl App {
    /// The app over a database. While that has no users, [`App::setup_code`] lets somebody become the owner.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn new(db: Database, config: Config) -> Result<Self> {
        let is_new = db.read(users::are_none)?;
        let code = is_new.then(|| Secret::new().to_string()[..12].to_owned());
        let minute = Duration::from_secs(60);
        Ok(App(Arc::new(Shared {
            db,
            config,
            setup_code: Mutex::new(code),
            hashes: Semaphore::new(HASHES_MAX),
            sign_ins: Limit::new(10, minute),
            sign_ins_by_address: Limit::new(30, minute / 3),
            sign_ups: Limit::new(10, 6 * minute),
            genres: Mutex::default(),
        })))
    }

    /// The database.
    pub fn db(&self) -> &Database {
        &self.0.db
    }

    /// The code for setting the server up; none once somebody has.
    pub fn setup_code(&self) -> Option<String> {
        let code = self.0.setup_code.lock();
        code.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn end_setup(&self) {
        *self
            .0
            .setup_code
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Counts a try to sign in. Where somebody of this name has signed in before, no one else's tries count.
    fn count_sign_in(
        &self,
        address: IpAddr,
        name: &str,
        device: Option<(Secret, i64)>,
    ) -> Result<()> {
        if let Some((secret, user)) = device {
            return self.0.sign_ins.count(Trier::Device(secret.hash(), user));
        }
        self.count_guess(address)?;
        let name = name.trim();
        let folded = users::check_name(name).map(|()| users::fold(name));
        let stranger = Trier::Stranger(address, folded.unwrap_or_default());
        self.0.sign_ins.count(stranger)
    }

    /// Counts a try of an address at what a password or a code stands before, whosever it is.
    fn count_guess(&self, address: IpAddr) -> Result<()> {
        self.0.sign_ins_by_address.count(address)
    }

    fn count_sign_up(&self, address: IpAddr) -> Result<()> {
        self.0.sign_ups.count(address)
    }

    fn config(&self) -> Config {
        self.0.config
    }

    /// The hash of a new password.
    async fn hash(&self, password: String) -> Result<String> {
        password::check(&password)?;
        self.hashing(move || password::hash(&password)).await?
    }

    /// Whether this is the password of this hash.
    async fn verify(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.hashing(move || password::verify(&password, hash.as_deref()))
            .await
    }

    /// Whether this is the password of somebody who is signed in; tried too often it isn't looked at.
    pub(crate) async fn check_password(&self, user: &User, password: String) -> Result<()> {
        self.0.sign_ins.count(Trier::Member(user.number))?;
        let found = self.db().read(|db| users::with_password(db, &user.name))?;
        let hash = found.and_then(|(_, hash)| hash);
        match self.verify(password, hash).await? {
            true => Ok(()),
            false => Err(Error::invalid("This is not your password.")),
        }
    }

    async fn hashing<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let _permit = self.0.hashes.acquire().await;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| std::io::Error::other(error).into())
    }

    /// The genres there are, by name. All films are only read when there is a new one.
    fn genres(&self, db: &Connection) -> Result<Arc<[String]>> {
        let newest = films::newest(db)?;
        let (known, genres) = self.known_genres().clone();
        if known == newest {
            return Ok(genres);
        }
        let genres: Arc<[String]> = films::genres(db)?.into();
        *self.known_genres() = (newest, Arc::clone(&genres));
        Ok(genres)
    }

    /// Has all films read again, since one was changed or removed.
    pub(crate) fn forget_genres(&self) {
        *self.known_genres() = Default::default();
    }

    fn known_genres(&self) -> MutexGuard<'_, (i64, Arc<[String]>)> {
        let genres = self.0.genres.lock();
        genres.unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything the server answers.
    pub fn router(&self) -> Router {
        Router::new()
            .merge(pages::router())
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .merge(pages::import::router().layer(DefaultBodyLimit::max(IMPORT_BYTES_MAX)))
            .nest("/api", api::router())
            .layer(TimeoutLayer::with_status_code(
                axum::http::StatusCode::REQUEST_TIMEOUT,
                REQUEST_TIMEOUT,
            ))
            .layer(middleware::from_fn_with_state(self.clone(), headers::add))
            .with_state(self.clone())
    }
}

/// Who asks, as far as an address says.
pub struct Caller(pub IpAddr);

impl FromRequestParts<App> for Caller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
        // The last address is the one the proxy saw itself; those before it anybody may have made up.
        let last = || {
            let mut values = parts.headers.get_all("x-forwarded-for").iter();
            let last = values.next_back()?.to_str().ok()?.rsplit(',').next()?;
            last.trim().parse().ok()
        };
        let address = app.config().behind_tls.then(last).flatten();
        Ok(Caller(household(address.unwrap_or(peer))))
    }
}
