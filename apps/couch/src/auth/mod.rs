//! Authentication: users by name and password, by a session cookie, by a token or by a proxy. Without an admin account, every
//! client has full access.

mod account;
mod admins;
mod basic;
mod bytes;
mod hash_function;
mod jwt;
mod lockout;
pub mod password;
mod password_rules;
mod policy;
mod proxy;
mod security;
pub mod session;
mod sessions;
mod totp;
mod user;
mod verified;

pub use account::{Account, Directory, ID_PREFIX};
pub use admins::{hash_admins, hashed, keep_an_admin};
pub use basic::{NoBase64, basic as basic_credentials};
pub use bytes::{hex, random};
pub use hash_function::HashFunction;
pub use jwt::Jwt;
pub use policy::{ADMINS, Policy};
pub use security::{Security, SecurityError};
pub use user::{ADMIN_ROLE, Handler, METRICS_ROLE, User};

use crate::config::{Config, Derived, keys};
use axum::http::{HeaderMap, header};
use password::{BadHash, PasswordHash, Scheme};
use sessions::{Session, Sessions};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;
use verified::Verified;

/// The administrator's name and password.
#[derive(Debug, Clone)]
pub struct Admin {
    /// A colon ends the name in basic authentication, so a name has none.
    pub name: String,
    /// The password, hashed.
    pub password: PasswordHash,
}

/// Why authentication failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// There is a name and a password, and they are nobody's.
    #[error("Name or password is incorrect.")]
    WrongPassword,
    /// The user document has conflicts.
    #[error(
        "User document conflicts must be resolved before the document is used for authentication purposes."
    )]
    Conflicts,
    /// The client guessed too often.
    #[error("Account is temporarily locked due to multiple authentication failures")]
    Locked,
    /// The stored hash is one that is not computed.
    #[error("{0}")]
    BadHash(BadHash),
    /// The `Authorization` header can't be read.
    #[error(transparent)]
    BadHeader(#[from] NoBase64),
    /// The cookie can't be read.
    #[error(transparent)]
    BadCookie(#[from] session::Malformed),
    /// The token can't be read, or is not signed by a known key. The reason is CouchDB's.
    #[error("{0}")]
    BadToken(&'static str),
    /// The token is outdated, or names nobody. The reason is CouchDB's.
    #[error("{0}")]
    Token(&'static str),
    /// The user document can't be read, or a setting.
    #[error("{0}")]
    Directory(String),
}

/// An authenticated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// The user.
    pub user: User,
    /// The cookie that renews the session.
    pub cookie: Option<String>,
    /// The password, if its stored hash is of another scheme than the settings say, and shall be replaced.
    pub outdated: Option<String>,
}

impl From<User> for Authenticated {
    fn from(user: User) -> Self {
        Authenticated {
            user,
            cookie: None,
            outdated: None,
        }
    }
}

/// What a client sends to log in.
#[derive(Debug, Clone, Copy)]
pub struct Credentials<'a> {
    /// The name.
    pub name: &'a str,
    /// The password.
    pub password: &'a str,
    /// The one-time password of accounts that need one, or nothing.
    pub token: &'a str,
}

/// A successful login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: User,
    /// The cookie that begins the session.
    pub cookie: String,
    /// Whether the stored hash is of another scheme than the settings say, and shall be replaced.
    pub is_outdated: bool,
}

/// How often passwords were hashed since the start.
#[derive(Debug, Default)]
pub struct Hashes {
    /// Passwords that are remembered: each time one is found or stored.
    pub fast: AtomicU64,
    /// Hashes of stored passwords.
    pub slow: AtomicU64,
}

/// Authenticates requests.
#[derive(Debug)]
pub struct Auth {
    config: Arc<Config>,
    policy: Derived<Policy>,
    /// Signs sessions where no secret is set.
    own_secret: [u8; 32],
    verified: Verified,
    sessions: Sessions,
    lockouts: lockout::Lockouts,
    hashes: Hashes,
    /// Few hashes at a time, so that guessing does not occupy all cores.
    hashing: Semaphore,
}

impl Auth {
    /// Creates the authentication with or without an admin; `secret` signs sessions.
    pub fn new(admin: Option<Admin>, secret: &[u8]) -> Self {
        let config = Config::default();
        let (section, key) = (keys::SECRET.section, keys::SECRET.name);
        config.fix(section, key, &String::from_utf8_lossy(secret));
        if let Some(Admin { name, password }) = admin {
            config.fix(ADMINS, &name, &password.to_string());
        }
        Auth::of(Arc::new(config))
    }

    /// Creates the authentication with a configuration, which includes the admins.
    pub fn of(config: Arc<Config>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Auth {
            config,
            policy: Derived::new(Policy::read),
            own_secret: random(),
            verified: Verified::default(),
            sessions: Sessions::default(),
            lockouts: lockout::Lockouts::default(),
            hashes: Hashes::default(),
            hashing: Semaphore::new((cores / 2).max(1)),
        }
    }

    /// The same with the configuration of a server, which takes over admins and secret.
    pub fn with_config(self, config: &Arc<Config>) -> Self {
        if Arc::ptr_eq(&self.config, config) {
            return self;
        }
        let own = self.config.values();
        for (name, hash) in own.section(ADMINS) {
            config.fix(ADMINS, name, hash);
        }
        let (section, key) = (keys::SECRET.section, keys::SECRET.name);
        if let Some(secret) = own.get(section, key) {
            config.fix(section, key, secret);
        }
        Auth::of(Arc::clone(config))
    }

    /// The present policy.
    pub fn policy(&self) -> Arc<Policy> {
        self.policy.get(&self.config)
    }

    /// How often passwords were hashed.
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// Whether there is an admin.
    pub fn has_admin(&self) -> bool {
        self.policy().has_admin
    }

    /// Returns the user of a request from a client.
    ///
    /// Without an admin account, a client whose credentials are nobody's has full access as others have.
    ///
    /// # Errors
    /// If the request has credentials that are nobody's, or can't be read.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        client: IpAddr,
        is_tls: bool,
        directory: &dyn Directory,
    ) -> Result<Authenticated, AuthError> {
        let policy = self.policy();
        for handler in &policy.handlers {
            let found = match handler {
                Handler::Cookie => self.by_cookie(&policy, headers, is_tls, directory),
                Handler::Default => self.by_password(&policy, headers, client, directory).await,
                Handler::Proxy => {
                    let secret = self.secret(&policy);
                    let user = policy.proxy.user(&policy.session_hashes, secret, headers);
                    Ok(user.map(Authenticated::from))
                }
                Handler::Jwt => match headers.get(header::AUTHORIZATION) {
                    Some(header) => {
                        let user = policy.jwt.user(header.as_bytes(), now());
                        user.map(|user| user.map(Authenticated::from))
                    }
                    None => Ok(None),
                },
            };
            match found {
                Ok(None) => {}
                Ok(Some(found)) => return Ok(found),
                Err(_) if !policy.has_admin => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.nobody(&policy).into())
    }

    fn nobody(&self, policy: &Policy) -> User {
        if !policy.has_admin {
            User::nameless_admin()
        } else {
            User::anonymous()
        }
    }

    /// The user as the account is now: without an account, nobody. Rights that were withdrawn are gone.
    ///
    /// # Errors
    /// If the account can't be read.
    pub fn refreshed(&self, user: &User, directory: &dyn Directory) -> Result<User, AuthError> {
        let (Some(name), Some(handler)) = (user.local_name(), user.handler()) else {
            return Ok(user.clone());
        };
        let policy = self.policy();
        let account = account(&policy, name, directory)?;
        Ok(match account {
            Some(account) => User::new(name, Arc::clone(&account.roles), handler),
            None => self.nobody(&policy),
        })
    }

    fn by_cookie(
        &self,
        policy: &Arc<Policy>,
        headers: &HeaderMap,
        is_tls: bool,
        directory: &dyn Directory,
    ) -> Result<Option<Authenticated>, AuthError> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let token = cookies
            .filter_map(|value| session::from_cookies(value.to_str().ok()?))
            .next();
        let Some(token) = token else {
            return Ok(None);
        };
        let now = now();
        let age = |made_seconds: u64| {
            let age = now.checked_sub(made_seconds);
            age.filter(|age| *age < policy.session_seconds)
        };
        if let Some(session) = self.sessions.get(token)
            && let Some(age) = age(session.made_seconds)
            && let Some(name) = session.user.name()
            && let Some(account) = account(policy, name, directory)?
            && session.is_of(policy, &account)
        {
            let user = session.user.clone();
            return Ok(Some(self.in_session(policy, user, &account, age, is_tls)));
        }
        let read = session::Token::read(token)?;
        let Some(account) = account(policy, read.name(), directory)? else {
            return Ok(None);
        };
        let key = self.session_key(policy, &account);
        let functions = &policy.session_hashes;
        let Some(age) = read.verified_age(now, policy.session_seconds, &key, functions) else {
            return Ok(None);
        };
        let user = User::new(read.name(), Arc::clone(&account.roles), Handler::Cookie);
        let session = Session::new(user.clone(), now - age, policy, &account);
        self.sessions.add(token, session);
        Ok(Some(self.in_session(policy, user, &account, age, is_tls)))
    }

    /// The user of a session, with a new cookie if the session is so old that it needs one.
    fn in_session(
        &self,
        policy: &Policy,
        user: User,
        account: &Account,
        age_seconds: u64,
        is_tls: bool,
    ) -> Authenticated {
        let name = user.name().filter(|_| policy.is_renewed(age_seconds));
        let cookie = name.map(|name| self.cookie(policy, name, account, is_tls));
        Authenticated {
            user,
            cookie,
            outdated: None,
        }
    }

    async fn by_password(
        &self,
        policy: &Policy,
        headers: &HeaderMap,
        client: IpAddr,
        directory: &dyn Directory,
    ) -> Result<Option<Authenticated>, AuthError> {
        let Some(header) = headers.get(header::AUTHORIZATION) else {
            return Ok(None);
        };
        let Some((name, password)) = basic::basic(header.as_bytes())? else {
            return Ok(None);
        };
        let account = self
            .verify(policy, &name, &password, client, directory)
            .await?;
        if account.totp.is_some() {
            // A one-time password can't be sent along.
            return Err(AuthError::WrongPassword);
        }
        Ok(Some(Authenticated {
            user: User::new(&name, Arc::clone(&account.roles), Handler::Default),
            cookie: None,
            outdated: is_outdated(policy, &account).then_some(password),
        }))
    }

    /// Begins a session.
    ///
    /// # Errors
    /// If name and password are nobody's.
    pub async fn login(
        &self,
        credentials: &Credentials<'_>,
        client: IpAddr,
        is_tls: bool,
        directory: &dyn Directory,
    ) -> Result<Login, AuthError> {
        let Credentials {
            name,
            password,
            token,
        } = *credentials;
        let policy = self.policy();
        let account = self
            .verify(&policy, name, password, client, directory)
            .await?;
        if let Some(totp) = &account.totp {
            totp::verify(totp, token, now())?;
        }
        Ok(Login {
            user: User::new(name, Arc::clone(&account.roles), Handler::Cookie),
            cookie: self.cookie(&policy, name, &account, is_tls),
            is_outdated: is_outdated(&policy, &account),
        })
    }

    /// The cookie that ends a session.
    pub fn logout_cookie(&self, is_tls: bool) -> String {
        self.policy().cookie.set_cookie("", now(), is_tls)
    }

    fn cookie(&self, policy: &Policy, name: &str, account: &Account, is_tls: bool) -> String {
        let key = self.session_key(policy, account);
        let function = policy.session_hashes.first().copied();
        let function = function.unwrap_or(HashFunction::Sha256);
        let token = session::token(name, now(), &key, function);
        policy.cookie.set_cookie(&token, now(), is_tls)
    }

    fn session_key(&self, policy: &Policy, account: &Account) -> Vec<u8> {
        let mut key = self.secret(policy).to_vec();
        key.extend_from_slice(account.salt().as_bytes());
        key
    }

    fn secret<'a>(&'a self, policy: &'a Policy) -> &'a [u8] {
        let secret = policy.secret.as_ref().map(|secret| secret.as_bytes());
        secret.unwrap_or(&self.own_secret)
    }

    /// The account of a name and a password.
    async fn verify(
        &self,
        policy: &Policy,
        name: &str,
        password: &str,
        client: IpAddr,
        directory: &dyn Directory,
    ) -> Result<Arc<Account>, AuthError> {
        let account = account(policy, name, directory)?;
        let salt = account.as_deref().map_or("", Account::salt);
        if self.lockouts.is_locked(&policy.lockout, client, name, salt) {
            return Err(AuthError::Locked);
        }
        let hash = match account.as_deref().map(|account| account.password.as_ref()) {
            Some(Err(error)) => return Err(AuthError::BadHash(*error)),
            Some(Ok(hash)) => hash.as_ref(),
            None => None,
        };
        if let Some(rounds) = hash.and_then(|hash| hash.scheme().iterations()) {
            if rounds < policy.iterations_min {
                return Err(AuthError::BadHash(BadHash::TooFew));
            }
            if rounds > policy.iterations_max {
                return Err(AuthError::BadHash(BadHash::TooMany));
            }
        }
        if let (Some(account), Some(hash)) = (&account, hash)
            && self.is_password(name, password, hash).await
        {
            return Ok(Arc::clone(account));
        }
        if hash.is_none() {
            // A name without an account is refused as late as a wrong password.
            let scheme = policy.scheme.clone().unwrap_or(Scheme::DEFAULT);
            self.hash(
                move |password| {
                    PasswordHash::salted(password, scheme, String::new());
                    false
                },
                password,
            )
            .await;
        }
        self.lockouts.count(&policy.lockout, client, name, salt);
        tracing::warn!(user = name, %client, "wrong name or password");
        Err(AuthError::WrongPassword)
    }

    async fn is_password(&self, name: &str, password: &str, hash: &PasswordHash) -> bool {
        let print = self.verified.print(name, password, hash);
        if self.verified.has(&print) {
            self.hashes.fast.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let known = hash.clone();
        let fits = self
            .hash(move |password| known.verify(password), password)
            .await;
        if fits {
            self.hashes.fast.fetch_add(1, Ordering::Relaxed);
            self.verified.add(print);
        }
        fits
    }

    /// Runs what takes a tenth of a second on a thread of its own.
    async fn hash(&self, work: impl FnOnce(&str) -> bool + Send + 'static, password: &str) -> bool {
        let _one = self.hashing.acquire().await.expect("never closed");
        self.hashes.slow.fetch_add(1, Ordering::Relaxed);
        let password = password.to_owned();
        let done = tokio::task::spawn_blocking(move || work(&password)).await;
        done.unwrap_or(false)
    }

    /// Hashes a password by the settings; `None` if these have an unknown scheme.
    pub async fn new_hash(&self, password: &str, salt: String) -> Option<PasswordHash> {
        let scheme = self.policy().scheme.clone()?;
        let _one = self.hashing.acquire().await.expect("never closed");
        self.hashes.slow.fetch_add(1, Ordering::Relaxed);
        let password = password.to_owned();
        let hash = move || PasswordHash::salted(&password, scheme, salt);
        tokio::task::spawn_blocking(hash).await.ok()
    }
}

/// The account of a name: a server admin, or a user document.
fn account(
    policy: &Policy,
    name: &str,
    directory: &dyn Directory,
) -> Result<Option<Arc<Account>>, AuthError> {
    let document = directory
        .account(&policy.users_database, name)
        .map_err(AuthError::Directory)?;
    let is_in_conflict =
        |account: &Account| account.has_conflicts && !policy.allow_conflicted_user_docs;
    if document.as_deref().is_some_and(is_in_conflict) {
        return Err(AuthError::Conflicts);
    }
    Ok(match (policy.admins.get(name), document) {
        (Some(admin), Some(document)) => Some(Arc::new(admin.with_roles(&document.roles))),
        (Some(admin), None) => Some(Arc::clone(admin)),
        (None, document) => document,
    })
}

fn is_outdated(policy: &Policy, account: &Account) -> bool {
    let scheme = match &account.password {
        Ok(Some(password)) => Some(password.scheme()),
        _ => None,
    };
    policy.upgrade_hash_on_auth
        && account.is_document
        && policy.scheme.is_some()
        && scheme != policy.scheme.as_ref()
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
