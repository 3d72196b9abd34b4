//! The keys that have an effect on this server, one per line.

use super::key::{Flag, Key, Kind, Limit, List, Number, Text};
use super::values::Values;

/// What the list says of a key.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The section.
    pub section: &'static str,
    /// The name within the section.
    pub name: &'static str,
    /// The name of its constant.
    pub constant: &'static str,
    /// Writes the default as text.
    pub default: fn() -> String,
    is_valid: fn(&str) -> bool,
}

macro_rules! keys {
    ($($name:ident: $kind:ty = $section:literal, $key:literal, $default:expr;)*) => {
        $(
            #[doc = concat!("`[", $section, "] ", $key, "`.")]
            pub const $name: Key<$kind> = Key::new($section, $key, $default);
        )*

        /// Every key of the list.
        pub const ALL: &[Entry] = &[$(Entry {
            section: $section,
            name: $key,
            constant: stringify!($name),
            default: || <$kind>::show($name.default),
            is_valid: |text| <$kind>::parse(text).is_some(),
        }),*];
    };
}

keys! {
    // constant: kind = section, key, default
    UUID: Text = "couchdb", "uuid", "";
    MAX_PARTITION_SIZE: Number = "couchdb", "max_partition_size", 10_737_418_240;
    MAX_DOCUMENT_SIZE: Number = "couchdb", "max_document_size", 50_000_000;
    MAX_DOCUMENT_ID_LENGTH: Limit = "couchdb", "max_document_id_length", None;
    MAX_ATTACHMENT_SIZE: Limit = "couchdb", "max_attachment_size", Some(1 << 30);
    OS_PROCESS_TIMEOUT: Number = "couchdb", "os_process_timeout", 5000;
    USERS_DB_SECURITY_EDITABLE: Flag = "couchdb", "users_db_security_editable", false;

    BIND_ADDRESS: Text = "chttpd", "bind_address", "127.0.0.1";
    PORT: Number = "chttpd", "port", 5984;
    MAX_HTTP_REQUEST_SIZE: Number = "chttpd", "max_http_request_size", 4_294_967_296;
    SERVER_HEADER_VERSIONS: Flag = "chttpd", "server_header_versions", true;
    REQUIRE_VALID_USER: Flag = "chttpd", "require_valid_user", false;
    REQUIRE_VALID_USER_EXCEPT_FOR_UP: Flag = "chttpd", "require_valid_user_except_for_up", false;
    ADMIN_ONLY_ALL_DBS: Flag = "chttpd", "admin_only_all_dbs", true;
    AUTHENTICATION_HANDLERS: Text = "chttpd", "authentication_handlers", "{chttpd_auth, cookie_authentication_handler}, {chttpd_auth, default_authentication_handler}";
    ALLOW_JSONP: Flag = "chttpd", "allow_jsonp", false;
    DECODE_PLUS_TO_SPACE: Flag = "chttpd", "decode_plus_to_space", true;
    SECURE_REWRITES: Flag = "chttpd", "secure_rewrites", true;
    X_FORWARDED_HOST: Text = "chttpd", "x_forwarded_host", "X-Forwarded-Host";
    X_FORWARDED_PROTO: Text = "chttpd", "x_forwarded_proto", "X-Forwarded-Proto";
    X_FORWARDED_SSL: Text = "chttpd", "x_forwarded_ssl", "X-Forwarded-Ssl";
    WWW_AUTHENTICATE: Text = "chttpd", "WWW-Authenticate", "";
    ENABLE_CORS: Flag = "chttpd", "enable_cors", false;

    CORS_CREDENTIALS: Flag = "cors", "credentials", false;
    CORS_ORIGINS: List = "cors", "origins", "";
    CORS_HEADERS: List = "cors", "headers", "";
    CORS_METHODS: List = "cors", "methods", "";
    CORS_EXPOSED_HEADERS: List = "cors", "exposed_headers", "";
    CORS_MAX_AGE: Number = "cors", "max_age", 600;

    AUTHENTICATION_DB: Text = "chttpd_auth", "authentication_db", "_users";
    AUTHENTICATION_REDIRECT: Text = "chttpd_auth", "authentication_redirect", "/_utils/session.html";
    COOKIE_TIMEOUT: Number = "chttpd_auth", "timeout", 600;
    ALLOW_PERSISTENT_COOKIES: Flag = "chttpd_auth", "allow_persistent_cookies", true;
    COOKIE_DOMAIN: Text = "chttpd_auth", "cookie_domain", "";
    SAME_SITE: Text = "chttpd_auth", "same_site", "";
    SECRET: Text = "chttpd_auth", "secret", "";
    HASH_ALGORITHMS: List = "chttpd_auth", "hash_algorithms", "sha256, sha";
    PASSWORD_SCHEME: Text = "chttpd_auth", "password_scheme", "pbkdf2";
    PBKDF2_PRF: Text = "chttpd_auth", "pbkdf2_prf", "sha256";
    ITERATIONS: Number = "chttpd_auth", "iterations", 600_000;
    MIN_ITERATIONS: Number = "chttpd_auth", "min_iterations", 1;
    MAX_ITERATIONS: Number = "chttpd_auth", "max_iterations", 1_000_000_000;
    PASSWORD_REGEXP: Text = "chttpd_auth", "password_regexp", "";
    UPGRADE_HASH_ON_AUTH: Flag = "chttpd_auth", "upgrade_hash_on_auth", true;
    PROXY_USE_SECRET: Flag = "chttpd_auth", "proxy_use_secret", false;
    X_AUTH_USERNAME: Text = "chttpd_auth", "x_auth_username", "X-Auth-CouchDB-UserName";
    X_AUTH_ROLES: Text = "chttpd_auth", "x_auth_roles", "X-Auth-CouchDB-Roles";
    X_AUTH_TOKEN: Text = "chttpd_auth", "x_auth_token", "X-Auth-CouchDB-Token";
    ALLOW_CONFLICTED_USER_DOCS: Flag = "chttpd_auth", "allow_conflicted_user_docs", false;
    PUBLIC_FIELDS: List = "chttpd_auth", "public_fields", "";

    LOCKOUT_MODE: Text = "chttpd_auth_lockout", "mode", "enforce";
    LOCKOUT_THRESHOLD: Number = "chttpd_auth_lockout", "threshold", 5;
    LOCKOUT_MAX_LIFETIME: Number = "chttpd_auth_lockout", "max_lifetime", 300_000;
    LOCKOUT_MAX_OBJECTS: Number = "chttpd_auth_lockout", "max_objects", 10_000;

    REQUIRED_CLAIMS: Text = "jwt_auth", "required_claims", "exp";
    ROLES_CLAIM_NAME: Text = "jwt_auth", "roles_claim_name", "_couchdb.roles";
    ROLES_CLAIM_PATH: Text = "jwt_auth", "roles_claim_path", "";

    PERUSER_ENABLE: Flag = "couch_peruser", "enable", false;
    PERUSER_DELETE_DBS: Flag = "couch_peruser", "delete_dbs", false;
    PERUSER_DATABASE_PREFIX: Text = "couch_peruser", "database_prefix", "userdb-";

    QUERY_LIMIT: Limit = "query_server_config", "query_limit", None;
    SET_ASIDE_FAILED: Flag = "query_server_config", "set_aside_failed", false;
    PARTITION_QUERY_LIMIT: Limit = "query_server_config", "partition_query_limit", None;

    MEMORY_LIMIT_BYTES: Limit = "quickjs", "memory_limit_bytes", None;

    UUIDS_ALGORITHM: Text = "uuids", "algorithm", "uuid7";
    UUIDS_UTC_ID_SUFFIX: Text = "uuids", "utc_id_suffix", "";
    UUIDS_MAX_COUNT: Number = "uuids", "max_count", 1000;

    REPLICATOR_MAX_JOBS: Number = "replicator", "max_jobs", 500;
    REPLICATOR_INTERVAL: Number = "replicator", "interval", 60_000;
    REPLICATOR_MAX_CHURN: Number = "replicator", "max_churn", 20;
    REPLICATOR_MAX_HISTORY: Number = "replicator", "max_history", 20;
    REPLICATOR_STARTUP_JITTER: Number = "replicator", "startup_jitter", 0;
    REPLICATOR_WORKER_BATCH_SIZE: Number = "replicator", "worker_batch_size", 500;
    REPLICATOR_CONNECTION_TIMEOUT: Number = "replicator", "connection_timeout", 30_000;
    REPLICATOR_RETRIES_PER_REQUEST: Number = "replicator", "retries_per_request", 5;
    REPLICATOR_USE_CHECKPOINTS: Flag = "replicator", "use_checkpoints", true;
    REPLICATOR_USE_BULK_GET: Flag = "replicator", "use_bulk_get", true;
    REPLICATOR_CHECKPOINT_INTERVAL: Number = "replicator", "checkpoint_interval", 30_000;
    REPLICATOR_VERIFY_SSL_CERTIFICATES: Flag = "replicator", "verify_ssl_certificates", true;
    REPLICATOR_HEALTH_THRESHOLD: Number = "replicator", "health_threshold", 120;
    REPLICATOR_MAX_DOCUMENT_ID_LENGTH: Limit = "replicator", "max_document_id_length", None;
    REPLICATOR_ALLOWED_HOSTS: List = "replicator", "allowed_hosts", "";
    REPLICATOR_AUTH_PLUGINS: List = "replicator", "auth_plugins", "couch_replicator_auth_session,couch_replicator_auth_noop";
    REPLICATOR_UPDATE_DOCS: Flag = "replicator", "update_docs", false;

    TLS_ENABLE: Flag = "ssl", "enable", false;
    TLS_CERTIFICATE: Text = "ssl", "cert_file", "";
    TLS_KEY: Text = "ssl", "key_file", "";
    TLS_PORT: Number = "ssl", "port", 6984;
}

/// Sections whose keys are names.
const SECTIONS_OF_NAMES: &[&str] = &["admins", "jwt_keys"];

/// Values that are shown although nobody set them: clients ask whether they are there.
pub const SHOWN: &[(&str, &str, &str)] = &[
    ("chttpd", "max_http_request_size", "4294967296"),
    ("chttpd_auth", "hash_algorithms", "sha256, sha"),
    ("couch_httpd_auth", "authentication_db", "_users"),
    ("couchdb", "max_document_size", "50000000"),
    ("feature_flags", "partitioned||*", "true"),
    ("indexers", "couch_mrview", "true"),
    ("vendor", "name", "inorder-couch"),
    ("vendor", "version", env!("CARGO_PKG_VERSION")),
];

pub(super) fn shown() -> Values {
    let mut values = Values::default();
    for (section, key, value) in SHOWN {
        values.set(section, key, value);
    }
    values
}

fn find(section: &str, name: &str) -> Option<&'static Entry> {
    let section = match section {
        "httpd" => "chttpd",
        "couch_httpd_auth" => "chttpd_auth",
        other => other,
    };
    ALL.iter()
        .find(|entry| entry.section == section && entry.name == name)
}

/// Returns whether a value of the key changes anything on this server.
pub fn has_effect(section: &str, name: &str) -> bool {
    let of_names = SECTIONS_OF_NAMES.contains(&section) || section.starts_with("cors:");
    of_names || find(section, name).is_some()
}

/// Returns whether a value is of the key's kind.
pub fn is_valid(section: &str, name: &str, value: &str) -> bool {
    find(section, name).is_none_or(|entry| (entry.is_valid)(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_is_listed_once_and_its_default_is_valid() {
        let mut seen = BTreeSet::new();
        for entry in ALL {
            let (section, name) = (entry.section, entry.name);
            assert!(
                seen.insert((section, name)),
                "[{section}] {name} is listed twice"
            );
            assert!(
                is_valid(section, name, &(entry.default)()),
                "[{section}] {name}"
            );
        }
        for (section, name, value) in SHOWN {
            if let Some(entry) = find(section, name) {
                assert_eq!((entry.default)(), *value, "[{section}] {name}");
            }
        }
    }

    #[test]
    fn keys_without_an_effect_are_told_apart() {
        assert!(has_effect("chttpd", "enable_cors") && has_effect("httpd", "enable_cors"));
        assert!(has_effect("admins", "anna") && has_effect("cors:example.com", "origins"));
        assert!(!has_effect("chttpd", "socket_options") && !has_effect("anything", "enable_cors"));
        assert!(!is_valid("httpd", "enable_cors", "yes") && is_valid("anything", "key", "yes"));
    }
}
