//! Users that a proxy names in headers.

use super::bytes::{same, unhex};
use super::hash_function::HashFunction;
use super::user::{Handler, User};
use axum::http::{HeaderMap, HeaderName};

/// The headers of a proxy.
#[derive(Debug, Clone)]
pub struct ProxyHeaders {
    /// The user's name.
    pub user: Option<HeaderName>,
    /// The user's roles, with commas between them.
    pub roles: Option<HeaderName>,
    /// The HMAC of the name, in hexadecimal.
    pub token: Option<HeaderName>,
    /// Whether the token is needed. Without it, every client can be every user.
    pub needs_token: bool,
}

impl ProxyHeaders {
    /// The user whom a proxy names. `hashes` are the hash functions that its token may have.
    pub fn user(
        &self,
        hashes: &[HashFunction],
        secret: &[u8],
        headers: &HeaderMap,
    ) -> Option<User> {
        let text = |name: &Option<HeaderName>| {
            let value = headers.get(name.as_ref()?)?;
            std::str::from_utf8(value.as_bytes()).ok()
        };
        let name = text(&self.user).filter(|name| !name.is_empty())?;
        if self.needs_token {
            let token = unhex(text(&self.token)?)?;
            let is_signed = |mac: Vec<u8>| same(&mac, &token);
            let mut functions = hashes.iter();
            if !functions.any(|function| is_signed(function.mac(secret, name.as_bytes()))) {
                return None;
            }
        }
        let roles = text(&self.roles).unwrap_or_default().split(',');
        let roles = roles.map(str::trim).filter(|role| !role.is_empty());
        let roles: Vec<String> = roles.map(str::to_owned).collect();
        Some(User::new(name, roles.into(), Handler::Proxy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{Policy, hex};
    use crate::config::Config;
    use axum::http::HeaderValue;

    fn policy(needs_token: &str) -> Policy {
        let config = Config::default();
        config.fix("chttpd_auth", "proxy_use_secret", needs_token);
        Policy::read(&config.values())
    }

    fn headers(token: &str) -> HeaderMap {
        let headers = [
            ("x-auth-couchdb-username", "anna"),
            ("x-auth-couchdb-roles", "a, b,,c "),
            ("x-auth-couchdb-token", token),
        ];
        let headers = headers.into_iter();
        headers
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect()
    }

    fn proxy(policy: &Policy, secret: &[u8], headers: &HeaderMap) -> Option<User> {
        policy.proxy.user(&policy.session_hashes, secret, headers)
    }

    #[test]
    fn a_proxy_names_users_and_signs_their_names() {
        let user = proxy(&policy("false"), b"secret", &headers("")).unwrap();
        assert_eq!((user.name(), user.roles().len()), (Some("anna"), 3));
        assert_eq!(user.roles(), ["a", "b", "c"]);
        assert!(proxy(&policy("false"), b"secret", &HeaderMap::new()).is_none());
        let strict = policy("true");
        for function in [HashFunction::Sha256, HashFunction::Sha] {
            let token = hex(&function.mac(b"secret", b"anna"));
            assert!(proxy(&strict, b"secret", &headers(&token)).is_some());
            assert!(proxy(&strict, b"other", &headers(&token)).is_none());
        }
        for wrong in ["", "00", "xx"] {
            assert!(proxy(&strict, b"secret", &headers(wrong)).is_none());
        }
    }
}
