//! The state shared by all requests.

use super::DrawnFilms;
use crate::{
    Error, Result,
    db::{
        Database,
        films::{self, Film},
        users::{self, User},
    },
    limits::Limit,
    passkeys::{Challenges, Site},
    password,
    posters::Wanted,
    secret::Secret,
    updates::Newer,
    words::say,
};
use rusqlite::Connection;
use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, Semaphore};

/// Bytes of a list that is imported.
pub const IMPORT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Passwords that are hashed at once: each takes 19 MiB and a core for some 50 ms, and the other cores are for the pages.
const HASHES_MAX: usize = 1;

/// The settings given at the start of the server.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Whether the server is behind a proxy that speaks TLS. Cookies are then sent over TLS only, and the client address is read
    /// from `X-Forwarded-For`.
    pub behind_tls: bool,
    /// Whether mails are sent.
    pub sends_mail: bool,
    /// Whether posters and synopses are fetched.
    pub fetches_posters: bool,
    /// The site that passkeys belong to; without it there are none.
    pub site: Option<Site>,
}

/// The key of a counter of password attempts. Attempts elsewhere do not use up a user's own.
#[derive(PartialEq, Eq, Hash)]
enum Trier {
    /// An address at a name. What can't be a name counts as an empty one, which bounds what is kept of it.
    Stranger(IpAddr, String),
    /// A browser in which this user has signed in before.
    Device([u8; 32], i64),
    /// A user who is signed in.
    Member(i64),
}

/// The state shared by all requests.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    db: Database,
    config: Config,
    /// The setup code, until the server has an owner.
    setup_code: Mutex<Option<String>>,
    hashes: Semaphore,
    sign_ins: Limit<Trier>,
    sign_ins_by_address: Limit<IpAddr>,
    sign_ups: Limit<IpAddr>,
    passkeys: Limit<IpAddr>,
    challenges: Challenges,
    /// Mails that a user or an address asks for.
    mails: Limit<String>,
    mail_added: Arc<Notify>,
    posters_wanted: Arc<Wanted>,
    newer: Newer,
    drawn_films: DrawnFilms,
    /// The film that was the newest, and the genres there were.
    genres: Mutex<(i64, Arc<[String]>)>,
}

impl App {
    /// Creates the app over a database. Without users in it, [`App::setup_code`] makes a visitor the owner.
    ///
    /// # Errors
    /// SQLite's error.
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
            passkeys: Limit::new(30, minute / 3),
            challenges: Challenges::default(),
            mails: Limit::new(5, 10 * minute),
            mail_added: Arc::default(),
            posters_wanted: Arc::default(),
            newer: Newer::default(),
            drawn_films: DrawnFilms::default(),
            genres: Mutex::default(),
        })))
    }

    /// The database.
    pub fn db(&self) -> &Database {
        &self.0.db
    }

    /// Returns the setup code, until the server has an owner.
    pub fn setup_code(&self) -> Option<String> {
        let code = self.0.setup_code.lock();
        code.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn end_setup(&self) {
        *self
            .0
            .setup_code
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Counts a sign-in attempt. In a browser where the user has signed in before, attempts elsewhere do not count.
    pub(crate) fn count_sign_in(
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

    /// Counts an attempt of an address to guess a password or a code.
    pub(crate) fn count_guess(&self, address: IpAddr) -> Result<()> {
        self.0.sign_ins_by_address.count(address)
    }

    pub(crate) fn count_sign_up(&self, address: IpAddr) -> Result<()> {
        self.0.sign_ups.count(address)
    }

    /// Counts an attempt to sign in with a passkey. Nobody guesses one: the limit is for what an attempt costs.
    pub(crate) fn count_passkey(&self, address: IpAddr) -> Result<()> {
        self.0.passkeys.count(address)
    }

    /// The challenges for passkeys that wait for their answers.
    pub(crate) fn challenges(&self) -> &Challenges {
        &self.0.challenges
    }

    /// Counts a mail that somebody asks for.
    pub(crate) fn count_mail(&self, who: &str) -> Result<()> {
        self.0.mails.count(who.to_owned())
    }

    /// Is told when a mail was added to the queue.
    pub fn mail_added(&self) -> &Arc<Notify> {
        &self.0.mail_added
    }

    /// The films whose posters are wanted.
    pub fn posters_wanted(&self) -> &Arc<Wanted> {
        &self.0.posters_wanted
    }

    /// The newer version of this program, if one was found.
    pub fn newer(&self) -> &Newer {
        &self.0.newer
    }

    /// What rows of lists say of their films.
    pub fn drawn_films(&self) -> &DrawnFilms {
        &self.0.drawn_films
    }

    /// Asks for the posters of films that are shown without one, if posters are fetched.
    pub(crate) fn want_posters<'f>(&self, films: impl IntoIterator<Item = &'f Film>) {
        if self.config().fetches_posters {
            let without = films.into_iter().filter(|film| film.poster_ms.is_none());
            self.0.posters_wanted.add(without.map(|film| film.number));
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    /// The hash of a new password.
    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        password::check(&password)?;
        self.hashing(move || password::hash(&password)).await?
    }

    /// Whether this is the password of this hash.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.hashing(move || password::verify(&password, hash.as_deref()))
            .await
    }

    /// Checks the password of a signed-in user. Too many attempts are refused without a check.
    pub(crate) async fn check_password(&self, user: &User, password: String) -> Result<()> {
        self.0.sign_ins.count(Trier::Member(user.number))?;
        let found = self.db().read(|db| users::with_password(db, &user.name))?;
        let hash = found.and_then(|(_, hash)| hash);
        match self.verify(password, hash).await? {
            true => Ok(()),
            false => Err(Error::Invalid(say::password_wrong())),
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
    pub(crate) fn genres(&self, db: &Connection) -> Result<Arc<[String]>> {
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
}
