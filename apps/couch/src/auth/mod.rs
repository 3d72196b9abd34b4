//! Authentication: the admin by name and password or by a session cookie. Without an admin account, every client.

mod admins;
mod bytes;
pub mod password;
pub mod session;

pub use admins::{ADMINS, hash_admins, hashed};
pub use bytes::{hex, random};

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use password::PasswordHash;
use sha2::Sha256;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;

/// The administrator's name and password.
#[derive(Debug, Clone)]
pub struct Admin {
    /// A colon ends the name in basic authentication, so a name has none.
    pub name: String,
    /// The password, hashed.
    pub password: PasswordHash,
}

/// The authentication method of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A session's cookie, made so many seconds ago.
    Cookie {
        /// Seconds since it was made.
        age_seconds: u64,
    },
    /// A name and a password with the request.
    Default,
}

/// The user of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum User {
    /// The server has no admin account, so every client has full access.
    Anybody,
    /// A client that did not authenticate as the admin.
    Nobody,
    /// The admin.
    Admin {
        /// The name.
        name: String,
        /// The authentication method.
        method: Method,
    },
}

impl User {
    /// The name, where there is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            User::Admin { name, .. } => Some(name),
            User::Anybody | User::Nobody => None,
        }
    }

    /// The roles, as CouchDB names them.
    pub fn roles(&self) -> &'static [&'static str] {
        if self.is_admin() { &["_admin"] } else { &[] }
    }

    /// Returns whether the user has full access.
    pub fn is_admin(&self) -> bool {
        !matches!(self, User::Nobody)
    }
}

/// Why authentication failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// There is a name and a password, and they are not the admin's.
    #[error("Name or password is incorrect.")]
    WrongPassword,
    /// The `Authorization` header can't be read, or is of another kind than `Basic`.
    #[error("The Authorization header must be `Basic` with name:password in base64.")]
    BadHeader,
}

/// Authenticates requests.
#[derive(Debug)]
pub struct Auth {
    admin: Option<Admin>,
    session_key: Vec<u8>,
    /// The key of a MAC over the password that verified last. The next request with it needs no PBKDF2.
    cache_key: [u8; 32],
    verified: Mutex<Option<[u8; 32]>>,
    /// One hash at a time, so that guessing does not occupy all cores.
    hashing: Semaphore,
}

impl Auth {
    /// Creates the authentication with or without an admin; `secret` signs sessions.
    pub fn new(admin: Option<Admin>, secret: &[u8]) -> Self {
        let mut session_key = secret.to_vec();
        if let Some(admin) = &admin {
            session_key.extend_from_slice(admin.password.salt().as_bytes());
        }
        Auth {
            admin,
            session_key,
            cache_key: random(),
            verified: Mutex::new(None),
            hashing: Semaphore::new(1),
        }
    }

    /// Whether there is an admin.
    pub fn has_admin(&self) -> bool {
        self.admin.is_some()
    }

    /// Returns the user of a request.
    ///
    /// # Errors
    /// If it brings a name and a password and they are wrong, or an `Authorization` header that can't be read.
    pub async fn user(&self, headers: &HeaderMap) -> Result<User, AuthError> {
        let Some(admin) = &self.admin else {
            return Ok(User::Anybody);
        };
        if let Some(header) = headers.get(header::AUTHORIZATION) {
            let (name, password) = basic(header.as_bytes()).ok_or(AuthError::BadHeader)?;
            return self.login(&name, &password).await;
        }
        let cookies = headers.get_all(header::COOKIE).iter();
        let token = cookies
            .filter_map(|value| session::from_cookies(value.to_str().ok()?))
            .next();
        let session = token.and_then(|token| session::verify(token, now(), &self.session_key));
        Ok(match session {
            Some((name, age_seconds)) if name == admin.name => User::Admin {
                name,
                method: Method::Cookie { age_seconds },
            },
            _ => User::Nobody,
        })
    }

    /// Returns the admin, by name and password.
    ///
    /// # Errors
    /// If they are not the admin's.
    pub async fn login(&self, name: &str, password: &str) -> Result<User, AuthError> {
        let admin = self.admin.as_ref().ok_or(AuthError::WrongPassword)?;
        let mac = self.fingerprint(name, password);
        if !self.is_known(mac.clone()) {
            self.verify(admin, name, password).await?;
            *self.verified.lock().expect("no panic while held") =
                Some(mac.finalize().into_bytes().into());
        }
        Ok(User::Admin {
            name: admin.name.clone(),
            method: Method::Default,
        })
    }

    async fn verify(&self, admin: &Admin, name: &str, password: &str) -> Result<(), AuthError> {
        let _one = self.hashing.acquire().await.expect("never closed");
        let (hash, given) = (admin.password.clone(), password.to_owned());
        let fits = tokio::task::spawn_blocking(move || hash.verify(&given)).await;
        // Another name is refused as late as a wrong password.
        if fits.unwrap_or(false) && name == admin.name {
            Ok(())
        } else {
            Err(AuthError::WrongPassword)
        }
    }

    fn fingerprint(&self, name: &str, password: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::new_from_slice(&self.cache_key).expect("any length");
        mac.update(name.as_bytes());
        mac.update(b":");
        mac.update(password.as_bytes());
        mac
    }

    fn is_known(&self, mac: Hmac<Sha256>) -> bool {
        let verified = *self.verified.lock().expect("no panic while held");
        verified.is_some_and(|known| mac.verify_slice(&known).is_ok())
    }

    /// The header that begins or renews a user's session; none for who has none.
    pub fn session_cookie(&self, user: &User) -> Option<String> {
        let token = session::token(user.name()?, now(), &self.session_key);
        Some(session::set_cookie(&token))
    }
}

/// Name and password of a basic `Authorization` header.
fn basic(header: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(header).ok()?;
    let (scheme, credentials) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

/// Seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn auth() -> Auth {
        let admin = Admin {
            name: "anna".into(),
            password: PasswordHash::new("s:cret", 1),
        };
        Auth::new(Some(admin), b"secret")
    }

    fn header(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    fn authorization(credentials: &str) -> HeaderMap {
        let value = format!("basic {}", STANDARD.encode(credentials));
        header(header::AUTHORIZATION, &value)
    }

    #[tokio::test]
    async fn a_password_is_asked_for_each_time() {
        let auth = auth();
        for _ in 0..2 {
            let user = auth.user(&authorization("anna:s:cret")).await.unwrap();
            assert_eq!(user.name(), Some("anna"));
            for wrong in ["anna:secret", "anna:", "bert:s:cret", "ann:as:cret"] {
                let user = auth.user(&authorization(wrong)).await;
                assert_eq!(user, Err(AuthError::WrongPassword), "{wrong}");
            }
        }
        for unreadable in ["Bearer abc", "Basic", "Basic ???", "Basic YQ=="] {
            let user = auth.user(&header(header::AUTHORIZATION, unreadable)).await;
            assert_eq!(user, Err(AuthError::BadHeader), "{unreadable}");
        }
    }

    #[tokio::test]
    async fn a_session_is_the_admins_until_the_password_changes() {
        let auth = auth();
        let user = auth.login("anna", "s:cret").await.unwrap();
        let cookie = auth.session_cookie(&user).unwrap();
        let headers = header(header::COOKIE, cookie.split(';').next().unwrap());
        let again = auth.user(&headers).await.unwrap();
        assert_eq!(again.name(), Some("anna"));
        assert!(matches!(
            again,
            User::Admin {
                method: Method::Cookie { .. },
                ..
            }
        ));
        let changed = self::auth();
        assert_eq!(changed.user(&headers).await, Ok(User::Nobody));
    }

    #[tokio::test]
    async fn without_an_admin_everybody_is_one() {
        let auth = Auth::new(None, b"secret");
        let user = auth.user(&authorization("a:b")).await.unwrap();
        assert_eq!(
            (user.is_admin(), user.roles(), user.name()),
            (true, &["_admin"][..], None)
        );
        assert!(!User::Nobody.is_admin() && User::Nobody.roles().is_empty());
    }
}
