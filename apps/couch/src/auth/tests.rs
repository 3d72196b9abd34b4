use super::*;
use axum::http::HeaderValue;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::collections::HashMap;

const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Few rounds, because tests are not optimised.
fn auth() -> Auth {
    let config = Config::default();
    let admin = PasswordHash::new("s:cret", 1).to_string();
    for (section, key, value) in [
        ("chttpd_auth", "iterations", "2"),
        ("chttpd_auth", "secret", "secret"),
        (ADMINS, "anna", &admin),
    ] {
        config.fix(section, key, value);
    }
    Auth::of(Arc::new(config))
}

/// Documents by the names of users.
struct Documents(HashMap<&'static str, Account>);

impl Directory for Documents {
    fn account(&self, _: &str, name: &str) -> Result<Option<Arc<Account>>, String> {
        Ok(self.0.get(name).cloned().map(Arc::new))
    }
}

fn account(document: Value) -> Account {
    Account::of_document(document.as_object().unwrap())
}

fn documents() -> Documents {
    let simple = |roles: Value| {
        account(json!({
            "roles": roles, "salt": "salt",
            "password_sha": "c88e9c67041a74e0357befdff93f87dde0904214",
        }))
    };
    let mut conflicts = simple(json!([]));
    conflicts.has_conflicts = true;
    Documents(HashMap::from([
        ("bert", simple(json!(["staff", "_admin", "_metrics", 1]))),
        ("anna", simple(json!(["boss"]))),
        ("carl", conflicts),
        (
            "dora",
            account(json!({
                "password_scheme": "pbkdf2", "iterations": 4_000_000_000_u64, "derived_key": "00",
            })),
        ),
        ("emil", account(json!({ "roles": [] }))),
    ]))
}

fn header(name: header::HeaderName, value: &str) -> HeaderMap {
    HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
}

fn authorization(credentials: &str) -> HeaderMap {
    let value = format!("basic {}", STANDARD.encode(credentials));
    header(header::AUTHORIZATION, &value)
}

async fn user(auth: &Auth, headers: &HeaderMap) -> Result<User, AuthError> {
    let found = auth
        .authenticate(headers, CLIENT, false, &documents())
        .await;
    found.map(|found| found.user)
}

#[tokio::test]
async fn a_password_is_asked_for_each_time() {
    let auth = auth();
    for _ in 0..2 {
        let anna = user(&auth, &authorization("anna:s:cret")).await.unwrap();
        assert_eq!(anna.name(), Some("anna"));
        assert_eq!(
            anna.roles(),
            ["_admin", "boss"],
            "also those of the document"
        );
        for wrong in [
            "anna:password",
            "bert:s:cret",
            "emil:",
            "none:",
            "ann:as:cret",
        ] {
            let user = user(&auth, &authorization(wrong)).await;
            assert_eq!(user, Err(AuthError::WrongPassword), "{wrong}");
        }
    }
    for other in ["Bearer abc", "Basic", "Basic YQ=="] {
        let user = user(&auth, &header(header::AUTHORIZATION, other)).await;
        assert_eq!(user, Ok(User::anonymous()), "{other}");
    }
    let user = user(&auth, &header(header::AUTHORIZATION, "Basic ???")).await;
    assert!(matches!(user, Err(AuthError::BadHeader(_))));
}

#[tokio::test]
async fn users_have_the_roles_of_their_documents_but_no_system_roles() {
    let auth = auth();
    let bert = user(&auth, &authorization("bert:password")).await.unwrap();
    assert_eq!(bert.roles(), ["staff", "_metrics"]);
    assert!(!bert.is_server_admin());
    for (credentials, error) in [
        ("carl:password", AuthError::Conflicts),
        ("dora:password", AuthError::BadHash(BadHash::TooMany)),
    ] {
        assert_eq!(user(&auth, &authorization(credentials)).await, Err(error));
    }
    assert_eq!(
        auth.refreshed(&bert, &()),
        Ok(User::anonymous()),
        "without the document"
    );
    assert_eq!(
        auth.refreshed(&bert, &documents()).unwrap().roles(),
        bert.roles()
    );
}

fn credentials<'a>(name: &'a str, password: &'a str) -> Credentials<'a> {
    Credentials {
        name,
        password,
        token: "",
    }
}

#[tokio::test]
async fn a_session_is_the_admins_until_the_password_changes() {
    let auth = auth();
    let login = auth
        .login(&credentials("anna", "s:cret"), CLIENT, false, &())
        .await
        .unwrap();
    let headers = header(header::COOKIE, login.cookie.split(';').next().unwrap());
    let again = auth
        .authenticate(&headers, CLIENT, false, &())
        .await
        .unwrap();
    assert_eq!(again.user, login.user);
    assert_eq!(again.cookie, None, "it is new");
    let changed = self::auth();
    assert_eq!(user(&changed, &headers).await, Ok(User::anonymous()));
    let malformed = header(header::COOKIE, "AuthSession=abc");
    assert!(matches!(
        user(&auth, &malformed).await,
        Err(AuthError::BadCookie(_))
    ));
}

#[tokio::test]
async fn guessing_locks_the_account_for_the_client() {
    let auth = auth();
    for _ in 0..5 {
        let guess = auth
            .login(&credentials("anna", "guess"), CLIENT, false, &())
            .await;
        assert_eq!(guess, Err(AuthError::WrongPassword));
    }
    let right = auth
        .login(&credentials("anna", "s:cret"), CLIENT, false, &())
        .await;
    assert_eq!(right, Err(AuthError::Locked));
    let elsewhere = IpAddr::from([10, 0, 0, 1]);
    assert!(
        auth.login(&credentials("anna", "s:cret"), elsewhere, false, &())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn old_hashes_are_outdated_for_users_and_not_for_admins() {
    let auth = auth();
    let bert = auth
        .login(
            &credentials("bert", "password"),
            CLIENT,
            false,
            &documents(),
        )
        .await;
    assert!(bert.unwrap().is_outdated);
    let found = auth
        .authenticate(&authorization("bert:password"), CLIENT, false, &documents())
        .await;
    assert_eq!(found.unwrap().outdated.as_deref(), Some("password"));
    let anna = auth
        .login(&credentials("anna", "s:cret"), CLIENT, false, &documents())
        .await;
    assert!(!anna.unwrap().is_outdated);
}

#[tokio::test]
async fn without_an_admin_everybody_is_one() {
    let config = Config::default();
    config.fix("chttpd_auth", "iterations", "2");
    let auth = Auth::of(Arc::new(config));
    for headers in [
        HeaderMap::new(),
        authorization("a:b"),
        header(header::COOKIE, "AuthSession=abc"),
    ] {
        let user = auth
            .authenticate(&headers, CLIENT, false, &())
            .await
            .unwrap()
            .user;
        assert_eq!(user, User::nameless_admin());
    }
    let bert = user(&auth, &authorization("bert:password")).await.unwrap();
    assert_eq!((bert.name(), bert.is_server_admin()), (Some("bert"), false));
    let login = auth.login(&credentials("a", "b"), CLIENT, false, &()).await;
    assert_eq!(login, Err(AuthError::WrongPassword));
}

/// A directory with one account, which stays the same object as that of the server does.
struct One(Option<Arc<Account>>);

impl Directory for One {
    fn account(&self, _: &str, _: &str) -> Result<Option<Arc<Account>>, String> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_session_that_was_verified_ends_with_its_account_and_with_the_secret() {
    let auth = auth();
    let with_salt = |salt: &str| {
        let document = json!({ "roles": ["staff"], "salt": salt, "password_sha": "00" });
        One(Some(Arc::new(account(document))))
    };
    let first = with_salt("salt");
    let policy = auth.policy();
    let made = |salt: &str| {
        let key = [b"secret", salt.as_bytes()].concat();
        session::token("bert", now(), &key, HashFunction::Sha256)
    };
    let cookie = made("salt");
    let headers = header(header::COOKIE, &format!("{}={cookie}", session::COOKIE));
    let user = async |directory: &One| {
        let found = auth.authenticate(&headers, CLIENT, false, directory).await;
        found.unwrap().user
    };
    for _ in 0..2 {
        let bert = user(&first).await;
        assert_eq!(
            (bert.name(), bert.roles()[0].as_str()),
            (Some("bert"), "staff")
        );
        assert!(auth.sessions.get(&cookie).is_some(), "it is remembered");
    }
    assert_eq!(
        user(&with_salt("other")).await,
        User::anonymous(),
        "another password"
    );
    assert_eq!(user(&One(None)).await, User::anonymous(), "no account");
    assert_eq!(user(&first).await.name(), Some("bert"));
    auth.config.fix("chttpd_auth", "secret", "another");
    assert!(!Arc::ptr_eq(&policy, &auth.policy()));
    assert_eq!(user(&first).await, User::anonymous(), "another secret");
}
