//! The settings of authentication, read once per change.

use super::account::Account;
use super::hash_function::HashFunction;
use super::jwt::Jwt;
use super::lockout::{Lockout, LockoutSettings};
use super::password::{ITERATIONS_MAX, PasswordHash, Scheme};
use super::password_rules::{BadRules, PasswordRules};
use super::proxy::ProxyHeaders;
use super::session::Attributes;
use super::user::Handler;
use crate::config::{Key, Text, Values, keys};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The section with the admins' names and password hashes.
pub const ADMINS: &str = "admins";

/// The settings of authentication and authorisation. Each field is a setting of CouchDB.
#[derive(Debug)]
pub struct Policy {
    /// `chttpd/authentication_handlers`: in the order in which they are tried.
    pub handlers: Vec<Handler>,
    /// The section `admins`.
    pub admins: HashMap<String, Arc<Account>>,
    /// Whether the section has an admin, also one whose hash can't be read. Without one, loopback clients have full access.
    pub has_admin: bool,
    /// `chttpd/require_valid_user`: no request without a user.
    pub require_valid_user: bool,
    /// `chttpd/require_valid_user_except_for_up`: none but `/_up`.
    pub require_valid_user_except_for_up: bool,
    /// `chttpd/admin_only_all_dbs`: the list of databases is for server admins.
    pub admin_only_all_dbs: bool,
    /// `chttpd/WWW-Authenticate`: the header of answers to clients without rights.
    pub www_authenticate: Option<String>,
    /// `chttpd_auth/authentication_redirect`: the page to log in.
    pub authentication_redirect: String,
    /// `chttpd_auth/authentication_db`: the database of users.
    pub users_database: String,
    /// The same as it is shown: only if it is set.
    pub users_database_shown: Option<String>,
    /// `chttpd_auth/public_fields`: what everybody may read of user documents.
    pub public_fields: Vec<String>,
    /// `chttpd_auth/allow_conflicted_user_docs`.
    pub allow_conflicted_user_docs: bool,
    /// `chttpd_auth/timeout`.
    pub session_seconds: u64,
    /// `chttpd_auth/secret`; what signs sessions.
    pub secret: Option<String>,
    /// `chttpd_auth/hash_algorithms`: the first signs sessions, all are accepted.
    pub session_hashes: Vec<HashFunction>,
    /// The attributes of cookies.
    pub cookie: Attributes,
    /// `chttpd_auth/x_auth_username`, `x_auth_roles`, `x_auth_token` and `proxy_use_secret`.
    pub proxy: ProxyHeaders,
    /// The sections `jwt_keys` and `jwt_auth`.
    pub jwt: Jwt,
    /// `chttpd_auth/password_scheme`, `pbkdf2_prf` and `iterations`; `None` for an unknown scheme.
    pub scheme: Option<Scheme>,
    /// `chttpd_auth/password_regexp`.
    pub password_rules: Result<PasswordRules, BadRules>,
    /// `chttpd_auth/upgrade_hash_on_auth`: a login brings an old hash to the present scheme.
    pub upgrade_hash_on_auth: bool,
    /// `chttpd_auth/min_iterations`.
    pub iterations_min: u32,
    /// `chttpd_auth/max_iterations`, at most [`ITERATIONS_MAX`].
    pub iterations_max: u32,
    /// The section `chttpd_auth_lockout`.
    pub lockout: LockoutSettings,
    /// `couchdb/users_db_security_editable`.
    pub users_security_editable: bool,
}

impl Policy {
    /// Reads the configuration. A value that is none is logged and has its default.
    pub fn read(values: &Values) -> Self {
        let text = |key: &Key<Text>| Some(values.read(key)).filter(|text| !text.is_empty());
        let scheme = scheme(values);
        if scheme.is_none() {
            tracing::error!(
                "[chttpd_auth] password_scheme or pbkdf2_prf is invalid: no password can be set"
            );
        }
        let password_rules = PasswordRules::read(&values.read(&keys::PASSWORD_REGEXP));
        if let Err(error) = &password_rules {
            tracing::error!("{error}; no password of a user can be set");
        }
        let session_seconds = values.read(&keys::COOKIE_TIMEOUT);
        let is_persistent = values.read(&keys::ALLOW_PERSISTENT_COOKIES);
        let section = keys::AUTHENTICATION_DB.section;
        let shown = values.get(section, keys::AUTHENTICATION_DB.name);
        Policy {
            handlers: handlers(&values.read(&keys::AUTHENTICATION_HANDLERS)),
            admins: admins(values),
            has_admin: values.section(ADMINS).next().is_some(),
            require_valid_user: values.read(&keys::REQUIRE_VALID_USER),
            require_valid_user_except_for_up: values.read(&keys::REQUIRE_VALID_USER_EXCEPT_FOR_UP),
            admin_only_all_dbs: values.read(&keys::ADMIN_ONLY_ALL_DBS),
            www_authenticate: text(&keys::WWW_AUTHENTICATE),
            authentication_redirect: values.read(&keys::AUTHENTICATION_REDIRECT),
            users_database: values.read(&keys::AUTHENTICATION_DB),
            users_database_shown: shown.map(str::to_owned),
            public_fields: values.read(&keys::PUBLIC_FIELDS),
            allow_conflicted_user_docs: values.read(&keys::ALLOW_CONFLICTED_USER_DOCS),
            session_seconds,
            secret: text(&keys::SECRET),
            session_hashes: session_hashes(&values.read(&keys::HASH_ALGORITHMS)),
            cookie: Attributes {
                lifetime_seconds: is_persistent.then_some(session_seconds),
                domain: text(&keys::COOKIE_DOMAIN),
                same_site: same_site(&values.read(&keys::SAME_SITE)),
            },
            jwt: Jwt::read(values),
            proxy: ProxyHeaders {
                user: values.read(&keys::X_AUTH_USERNAME).parse().ok(),
                roles: values.read(&keys::X_AUTH_ROLES).parse().ok(),
                token: values.read(&keys::X_AUTH_TOKEN).parse().ok(),
                needs_token: values.read(&keys::PROXY_USE_SECRET),
            },
            scheme,
            password_rules,
            upgrade_hash_on_auth: values.read(&keys::UPGRADE_HASH_ON_AUTH),
            iterations_min: rounds(values.read(&keys::MIN_ITERATIONS)),
            iterations_max: rounds(values.read(&keys::MAX_ITERATIONS)),
            lockout: lockout(values),
            users_security_editable: values.read(&keys::USERS_DB_SECURITY_EDITABLE),
        }
    }

    /// Whether a session of this age gets a new cookie: after a tenth of its time.
    pub fn is_renewed(&self, age_seconds: u64) -> bool {
        age_seconds > self.session_seconds / 10
    }
}

/// `{chttpd_auth, cookie_authentication_handler}, …`: the word before the first underscore of the function names one.
fn handlers(text: &str) -> Vec<Handler> {
    let mut handlers = Vec::new();
    for tuple in text.split('{').skip(1) {
        let tuple = tuple.split('}').next().unwrap_or_default();
        let function = tuple
            .split_once(',')
            .map_or("", |(_, function)| function.trim());
        let name = function.split('_').next().unwrap_or_default();
        match Handler::ALL.into_iter().find(|one| one.name() == name) {
            Some(handler) => handlers.push(handler),
            None => tracing::error!(
                handler = function,
                "this authentication handler is not known"
            ),
        }
    }
    if handlers.is_empty() {
        handlers = vec![Handler::Cookie, Handler::Default];
    }
    handlers
}

fn admins(values: &Values) -> HashMap<String, Arc<Account>> {
    let mut admins = HashMap::new();
    for (name, hash) in values.section(ADMINS) {
        match hash.parse::<PasswordHash>() {
            Ok(hash) => {
                admins.insert(name.to_owned(), Arc::new(Account::of_admin(hash)));
            }
            Err(_) => tracing::error!(
                admin = name,
                "[admins] has no password hash that can be read: this admin cannot log in"
            ),
        }
    }
    admins
}

/// How passwords are hashed; `None` if the configuration names a scheme or a function that there is not.
pub fn scheme(values: &Values) -> Option<Scheme> {
    match values.read(&keys::PASSWORD_SCHEME).as_str() {
        "simple" => Some(Scheme::Simple),
        "pbkdf2" => Some(Scheme::Pbkdf2 {
            prf: HashFunction::named(&values.read(&keys::PBKDF2_PRF))?,
            iterations: rounds(values.read(&keys::ITERATIONS)),
        }),
        _ => None,
    }
}

/// Rounds that are computed.
fn rounds(iterations: u64) -> u32 {
    let iterations = u32::try_from(iterations).unwrap_or(u32::MAX);
    iterations.clamp(1, ITERATIONS_MAX)
}

fn session_hashes(names: &[String]) -> Vec<HashFunction> {
    let known = names.iter().filter_map(|name| HashFunction::named(name));
    let mut known: Vec<HashFunction> = known.collect();
    if known.is_empty() {
        known.push(HashFunction::Sha256);
    }
    known
}

/// `Lax` unless something else is set: the cookie is sent when a page here is followed from elsewhere, never with another
/// site's requests.
fn same_site(value: &str) -> &'static str {
    match value.to_ascii_lowercase().as_str() {
        "none" => "None",
        "strict" => "Strict",
        _ => "Lax",
    }
}

fn lockout(values: &Values) -> LockoutSettings {
    LockoutSettings {
        mode: match values.read(&keys::LOCKOUT_MODE).as_str() {
            "enforce" => Lockout::Enforce,
            "warn" => Lockout::Warn,
            _ => Lockout::Off,
        },
        failures_max: u32::try_from(values.read(&keys::LOCKOUT_THRESHOLD)).unwrap_or(u32::MAX),
        lifetime: Duration::from_millis(values.read(&keys::LOCKOUT_MAX_LIFETIME)),
        entries_max: usize::try_from(values.read(&keys::LOCKOUT_MAX_OBJECTS))
            .map_or(1, |n| n.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn policy(values: &[(&str, &str, &str)]) -> Policy {
        let config = Config::default();
        for (section, key, value) in values {
            config.fix(section, key, value);
        }
        Policy::read(&config.values())
    }

    #[test]
    fn the_defaults_are_couchdbs() {
        let policy = policy(&[]);
        assert_eq!(policy.handlers, [Handler::Cookie, Handler::Default]);
        assert_eq!(policy.scheme, Some(Scheme::DEFAULT));
        assert_eq!(
            (policy.session_seconds, policy.users_database.as_str()),
            (600, "_users")
        );
        assert!(policy.admin_only_all_dbs && !policy.require_valid_user);
        assert!(policy.is_renewed(61) && !policy.is_renewed(60));
    }

    #[test]
    fn handlers_are_named_as_erlang_terms() {
        let policy = policy(&[(
            "chttpd",
            "authentication_handlers",
            "{chttpd_auth, proxy_authentication_handler},{chttpd_auth,jwt_authentication_handler}, {chttpd_auth, odd}",
        )]);
        assert_eq!(policy.handlers, [Handler::Proxy, Handler::Jwt]);
    }

    #[test]
    fn settings_are_read_and_bad_ones_have_their_default() {
        let policy = policy(&[
            ("chttpd_auth", "timeout", "10"),
            ("chttpd_auth", "allow_persistent_cookies", "false"),
            ("chttpd_auth", "public_fields", "name, age ,"),
            ("chttpd_auth", "iterations", "4000000000"),
            ("chttpd_auth", "max_iterations", "1000000000"),
            ("chttpd_auth", "pbkdf2_prf", "sha512"),
            ("chttpd_auth", "hash_algorithms", "md4, sha512"),
            ("chttpd_auth", "same_site", "STRICT"),
            ("chttpd_auth_lockout", "threshold", "x"),
            ("admins", "anna", "plain"),
        ]);
        assert_eq!(
            (policy.session_seconds, policy.cookie.lifetime_seconds),
            (10, None)
        );
        assert_eq!(policy.public_fields, ["name", "age"]);
        let (prf, iterations) = (HashFunction::Sha512, ITERATIONS_MAX);
        assert_eq!(policy.scheme, Some(Scheme::Pbkdf2 { prf, iterations }));
        assert_eq!(policy.iterations_max, ITERATIONS_MAX);
        assert_eq!(policy.session_hashes, [HashFunction::Sha512]);
        assert_eq!(
            (policy.cookie.same_site, policy.lockout.failures_max),
            ("Strict", 5)
        );
        assert!(policy.admins.is_empty() && policy.has_admin);
    }
}
