use super::*;
use crate::config::Config;

/// Keys and tokens, made with OpenSSL for the payload `{"sub":"anna","exp":4102444800,"_couchdb.roles":["staff"]}`.
const KEYS: &[(&str, &str)] = &[
    ("hmac:_default", "aGVsbG8="),
    (
        "rsa:r",
        "-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA6aXmtzKWMdF7+DiBYxVO\\ntOWMosS1NJVtMv+BXAwOUUDFcbIGsq3GNF4rhmkaff+0/M2h1aQWsHNoBn2fjtPN\\nfrLdxMUfUqfyqqxl2ojssdisRRy74jjfWaf8Pz81wigLVLj3gUK5Zdi/Vl90QNJa\\n6Rkm7sz7ekuViXKIwYPWhwEFeb2pgA2dpxriZGE3Zsye3/5FmS3cjCekXzMUUimU\\n9UzyRkLziXXElOvEBcKVGECYryCtzup9ckoz91a0I1NcPdtpTnOqBKv+mmyTmlOy\\n+7+2dx25wF5y58SBfn9nj20RHhyhb0FUqjV4MulBrXMvJTrZlpaPKird+gu/vUEA\\nxQIDAQAB\\n-----END PUBLIC KEY-----",
    ),
    (
        "ec:e",
        "-----BEGIN PUBLIC KEY-----\\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+X274nghWTspF2immFtWwbm0EcX3\\nLLMIek7fJBZCB8xgskyBOPwT0BYElGXME7JV558BTfcjDjStGF/uhN4tIQ==\\n-----END PUBLIC KEY-----",
    ),
    (
        "ec:f",
        "-----BEGIN PUBLIC KEY-----\\nMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE2pViW0jU1bPRI9esOLjJo3CIhR2/C1Mw\\nRZ6xTSyrPKBInBQhr/JlrXdWa+GloCJlk254FzT08EUYhcptbNXf86JUbnU/DD0t\\nw9PDc6Wcdy1OmfJEloRYu6BrweaIgjyd\\n-----END PUBLIC KEY-----",
    ),
    ("rsa:broken", "abc"),
    (
        "ec:rsa",
        "-----BEGIN PUBLIC KEY-----\\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA6aXmtzKWMdF7+DiBYxVO\\ntOWMosS1NJVtMv+BXAwOUUDFcbIGsq3GNF4rhmkaff+0/M2h1aQWsHNoBn2fjtPN\\nfrLdxMUfUqfyqqxl2ojssdisRRy74jjfWaf8Pz81wigLVLj3gUK5Zdi/Vl90QNJa\\n6Rkm7sz7ekuViXKIwYPWhwEFeb2pgA2dpxriZGE3Zsye3/5FmS3cjCekXzMUUimU\\n9UzyRkLziXXElOvEBcKVGECYryCtzup9ckoz91a0I1NcPdtpTnOqBKv+mmyTmlOy\\n+7+2dx25wF5y58SBfn9nj20RHhyhb0FUqjV4MulBrXMvJTrZlpaPKird+gu/vUEA\\nxQIDAQAB\\n-----END PUBLIC KEY-----",
    ),
];

const TOKENS: &[&str] = &[
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJfY291Y2hkYi5yb2xlcyI6WyJzdGFmZiJdfQ.M13rlJU03bFHGEv23yxQhlEPn6x8FSdAqhu-AChXku4",
    "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJfY291Y2hkYi5yb2xlcyI6WyJzdGFmZiJdfQ.2RKhhdMAnF26lA41URi8XCao0rlBMb4lKZnEbt4FkTCr0KATPhUqGTSF19YeQFQMGOeLSnrzLaLfJRozMWWI6A",
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InIifQ.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJfY291Y2hkYi5yb2xlcyI6WyJzdGFmZiJdfQ.v7MDsBg73J8glhVsqGaWCY6BIMfZ_0QBMse03m6kmv5L7mj5tudx9wjTxTDZ4Zn9-7Z_Zj0mo-k3hvXNOz-M8bqA5GaV_IgS4jLHhFhrMssXMAGbUC5PvAHQW6mGovKPhWSUAS-yXwvgi0xEKTMSSeI6WtlcqAGEZLW_bq9yZJ5xvgip92G1DzaugUK2wvriUKMUV_PJJMO5TA30mvlzL8UaNpEmn9uiCQm5vC13e-LgESYDLFZQLxD0VLW4WAgSgrZcK2C0X_9vV6DX9H9m5rglvj_JZLO0JUyoBnEELTynil1tcSjvquPDYrMu13LQYULGteq5Z8A9F1jsjJ3i9Q",
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImUifQ.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJfY291Y2hkYi5yb2xlcyI6WyJzdGFmZiJdfQ.v0oqVSDO0iBRDnU-SDS9ehdevEcA8nc4DwYjMgQNW0gjtdpUSMBzrN-rDWYJCr8ERL1ki1pLTcv32-LADszWzA",
    "eyJhbGciOiJFUzM4NCIsInR5cCI6IkpXVCIsImtpZCI6ImYifQ.eyJzdWIiOiJhbm5hIiwiZXhwIjo0MTAyNDQ0ODAwLCJfY291Y2hkYi5yb2xlcyI6WyJzdGFmZiJdfQ.aAultTPGHBHf6vC0dUD34HWcB-VDGUjwrSyTSxOHV4q51Vb-z-3yq7tC0JVJFrMu_3WI2FWS4jgxCA1DxMEs_8EPDvIdPgOdjj9tiiieTbsmako6e5cIyo8MqrqbZcBx",
];

/// 2020-01-01.
const NOW: u64 = 1_577_836_800;

fn jwt(settings: &[(&str, &str)]) -> Jwt {
    let config = Config::default();
    for (name, key) in KEYS {
        config.fix("jwt_keys", name, key);
    }
    for (key, value) in settings {
        config.fix("jwt_auth", key, value);
    }
    Jwt::read(&config.values())
}

fn user(jwt: &Jwt, token: &str) -> Result<Option<User>, String> {
    let header = format!("Bearer {token}");
    let found = jwt.user(header.as_bytes(), NOW);
    found.map_err(|error| error.to_string())
}

/// A token with the secret of `hmac:_default`.
fn signed(header: &str, payload: &str) -> String {
    let text = [header, payload].map(|part| URL_SAFE_NO_PAD.encode(part));
    let text = text.join(".");
    let mac = HashFunction::Sha256.mac(b"hello", text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac))
}

const HEADER: &str = r#"{"alg":"HS256"}"#;

#[test]
fn tokens_of_all_kinds_of_keys_name_users() {
    let jwt = jwt(&[]);
    for token in TOKENS {
        let user = user(&jwt, token).unwrap().unwrap();
        assert_eq!(
            (user.name(), user.roles()),
            (Some("anna"), &["staff".to_owned()][..])
        );
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let mut changed = signature.chars();
        let first = if changed.next() == Some('A') {
            'B'
        } else {
            'A'
        };
        let changed = format!("{signed}.{first}{}", changed.as_str());
        let error = self::user(&jwt, &changed).unwrap_err();
        assert!(error == "Bad HMAC" || error == "Bad signature", "{error}");
        let none = format!("{signed}.");
        assert!(self::user(&jwt, &none).is_err());
    }
    assert_eq!(user(&jwt, ""), Err("Malformed token".to_owned()));
    assert_eq!(jwt.user(b"Basic abc", NOW), Ok(None));
}

#[test]
fn a_token_is_not_verified_with_a_key_of_another_kind() {
    let jwt = jwt(&[]);
    // The public key as the secret of an HMAC.
    let payload = r#"{"sub":"anna","exp":4102444800}"#;
    for (header, error) in [
        (r#"{"alg":"none"}"#, "Invalid alg header parameter"),
        (r#"{}"#, "Missing alg header parameter"),
        (r#"{"alg":"HS256","kid":"r"}"#, "Unknown kid"),
        (r#"{"alg":"HS256","kid":1}"#, "Malformed token"),
        (r#"{"alg":"RS256","kid":"broken"}"#, "Not a valid key"),
        (r#"{"alg":"ES256","kid":"rsa"}"#, "not an EC public key"),
        (r#"{"alg":"ES384","kid":"e"}"#, "Bad signature"),
        ("[]", "Not an object"),
    ] {
        let token = signed(header, payload);
        assert_eq!(user(&jwt, &token), Err(error.to_owned()), "{header}");
    }
}

#[test]
fn claims_are_required() {
    for (required, payload, error) in [
        ("exp", r#"{"sub":"a"}"#, "Missing exp claim"),
        ("exp", r#"{"sub":"a","exp":1}"#, "exp not in future"),
        ("exp", r#"{"sub":"a","exp":"9"}"#, "Invalid exp claim"),
        ("nbf", r#"{"sub":"a","nbf":4102444800}"#, "nbf not in past"),
        ("iat", r#"{"sub":"a","iat":"x"}"#, "Invalid iat claim"),
        ("kid", r#"{"sub":"a"}"#, "Missing kid claim"),
        ("typ", r#"{"sub":"a"}"#, "Missing typ header parameter"),
        (
            r#"{iss, "Me"}"#,
            r#"{"sub":"a","iss":"You"}"#,
            "Invalid iss claim",
        ),
        (
            r#"exp, {iss,"Me"}"#,
            r#"{"sub":"a","exp":4102444800}"#,
            "Missing iss claim",
        ),
        (
            r#"exp, {iss, "Me"}, nbf"#,
            r#"{"sub":"a","exp":4102444800,"iss":"Me","nbf":1}"#,
            "",
        ),
        ("exp", r#"{"exp":4102444800}"#, "Token missing sub claim."),
        (
            "exp",
            r#"{"sub":"a","exp":4102444800,"_couchdb.roles":[1]}"#,
            "Malformed token",
        ),
        ("odd", r#"{"sub":"a"}"#, "JWT is not configured correctly"),
    ] {
        let jwt = jwt(&[("required_claims", required)]);
        let found = user(&jwt, &signed(HEADER, payload));
        assert_eq!(
            found.err().unwrap_or_default(),
            error,
            "{required} {payload}"
        );
    }
}

#[test]
fn roles_are_at_a_path() {
    let payload =
        r#"{"sub":"a","exp":4102444800,"my":{"nested":{"_couchdb.roles":"x, y"}},"r":["z"]}"#;
    for (settings, roles) in [
        (
            &[("roles_claim_path", r"my.nested._couchdb\.roles")][..],
            &["x", "y"][..],
        ),
        (&[("roles_claim_name", "r")], &["z"]),
        (
            &[("roles_claim_path", "my.other"), ("roles_claim_name", "r")],
            &[],
        ),
    ] {
        let user = user(&jwt(settings), &signed(HEADER, payload))
            .unwrap()
            .unwrap();
        assert_eq!(user.roles(), roles);
    }
}
