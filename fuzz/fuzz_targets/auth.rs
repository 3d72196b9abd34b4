//! No header and no user document makes authentication panic, and nothing forged names a user.
#![no_main]

use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::session::{Token, from_cookies};
use inorder_couch::auth::{Account, HashFunction, Jwt, Security, User, basic_credentials};
use inorder_couch::config::Config;
use inorder_couch::http::validate_user;
use inorder_couch::store::{Document, Edit, Limits};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::sync::LazyLock;

/// 2020-01-01.
const NOW: u64 = 1_577_836_800;

static JWT: LazyLock<Jwt> = LazyLock::new(|| {
    let config = Config::default();
    config.fix(
        "jwt_keys",
        "hmac:_default",
        "c2VjcmV0IG9mIHRoZSBmdXp6IHRhcmdldA==",
    );
    config.fix(
        "jwt_auth",
        "required_claims",
        "exp, {iss, \"Me\"}, nbf, iat, typ",
    );
    config.fix("jwt_auth", "roles_claim_path", "a.b");
    Jwt::read(&config.values())
});

fuzz_target!(|data: &[u8]| {
    headers(data);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    settings(text);
    document(text);
});

fn headers(data: &[u8]) {
    let _ = basic_credentials(data);
    // Nobody knows the secret.
    assert!(!matches!(JWT.user(data, NOW), Ok(Some(_))));
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let token = from_cookies(text).unwrap_or(text);
    if let Ok(token) = Token::read(token) {
        let age = token.verified_age(NOW, u64::MAX, b"a secret of the target", &HashFunction::ALL);
        assert_eq!(age, None, "{}", token.name());
    }
}

fn settings(text: &str) {
    if let Ok(hash) = text.parse::<PasswordHash>() {
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }
    let config = Config::default();
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    for name in ["rsa:a", "ec:a", "hmac:a"] {
        config.fix("jwt_keys", name, first);
    }
    config.fix("jwt_auth", "required_claims", second);
    config.fix("jwt_auth", "roles_claim_path", second);
    let _ = Jwt::read(&config.values());
}

fn document(text: &str) {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return;
    };
    let account = Account::of_document(&object);
    assert!(!account.roles.iter().any(|role| role == "_admin"));
    if let Ok(security) = Security::new(object.clone()) {
        let again = Security::stored(&security.to_string());
        assert_eq!(again, security);
        let _ = security.is_admin(&User::anonymous());
    }
    let Ok(edit) = Edit::from_json(text, &Limits::default()) else {
        return;
    };
    let document = Document {
        id: edit.id.clone().unwrap_or_default(),
        revision: "1-a".parse().expect("a revision"),
        deleted: edit.deleted,
        body: edit.body().to_owned(),
        attachments: Vec::new(),
        history: None,
        revisions_info: Vec::new(),
        conflicts: Default::default(),
        local_seq: None,
    };
    let judged = validate_user(&document, None, &User::anonymous(), &Security::default());
    if judged.is_ok() && !document.deleted {
        assert!(
            account.roles.is_empty(),
            "anybody may sign up, without roles"
        );
    }
}
