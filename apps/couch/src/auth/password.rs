//! Passwords as CouchDB keeps them: PBKDF2, or one round of SHA-1.

use super::bytes::{hex, random, same};
use super::hash_function::HashFunction;
use serde_json::{Map, Value};
use sha1::{Digest, Sha1};
use std::fmt;
use std::str::FromStr;

/// The rounds of a password hashed here; what OWASP asks for and CouchDB 3.4 does.
pub const ITERATIONS: u32 = 600_000;

/// More rounds are never computed: one login would take minutes, and users write their own documents.
pub const ITERATIONS_MAX: u32 = 10_000_000;

/// The rounds of a document that names none, as in CouchDB.
const ITERATIONS_UNNAMED: u64 = 10_000;

/// How a password is hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    /// One round of SHA-1 over password and salt.
    Simple,
    /// PBKDF2.
    Pbkdf2 {
        /// The hash function.
        prf: HashFunction,
        /// The rounds.
        iterations: u32,
    },
    /// PBKDF2 over the hash of [`Scheme::Simple`]: an old hash that was made stronger without its password.
    SimplePbkdf2 {
        /// The hash function.
        prf: HashFunction,
        /// The rounds.
        iterations: u32,
    },
}

impl Scheme {
    /// The scheme of passwords that are hashed here.
    pub const DEFAULT: Scheme = Scheme::Pbkdf2 {
        prf: HashFunction::Sha256,
        iterations: ITERATIONS,
    };

    /// CouchDB's name.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::Simple => "simple",
            Scheme::Pbkdf2 { .. } => "pbkdf2",
            Scheme::SimplePbkdf2 { .. } => "simple+pbkdf2",
        }
    }

    /// The rounds of PBKDF2; `None` without PBKDF2.
    pub fn iterations(&self) -> Option<u32> {
        match self {
            Scheme::Simple => None,
            Scheme::Pbkdf2 { iterations, .. } | Scheme::SimplePbkdf2 { iterations, .. } => {
                Some(*iterations)
            }
        }
    }

    fn hash(&self, password: &str, salt: &str) -> String {
        let simple = || {
            let mut hash = Sha1::new();
            hash.update(password.as_bytes());
            hash.update(salt.as_bytes());
            hex(&hash.finalize())
        };
        match self {
            Scheme::Simple => simple(),
            Scheme::Pbkdf2 { prf, iterations } => {
                prf.derive(password.as_bytes(), salt, *iterations)
            }
            Scheme::SimplePbkdf2 { prf, iterations } => {
                prf.derive(simple().as_bytes(), salt, *iterations)
            }
        }
    }
}

/// A hashed password, its salt and its scheme; written `-pbkdf2:sha256-KEY,SALT,ROUNDS` as in CouchDB's configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash {
    scheme: Scheme,
    /// In hexadecimal.
    hash: String,
    salt: String,
}

impl PasswordHash {
    /// Hashes a password with a fresh salt; takes a tenth of a second with [`ITERATIONS`].
    pub fn new(password: &str, iterations: u32) -> Self {
        let prf = HashFunction::Sha256;
        PasswordHash::salted(password, Scheme::Pbkdf2 { prf, iterations }, new_salt())
    }

    /// Hashes a password with this salt.
    pub fn salted(password: &str, scheme: Scheme, salt: String) -> Self {
        PasswordHash {
            hash: scheme.hash(password, &salt),
            salt,
            scheme,
        }
    }

    /// The hash in a user document; `None` if there is none that could be computed.
    ///
    /// # Errors
    /// CouchDB's reason why nobody can log in with it.
    pub fn in_document(document: &Map<String, Value>) -> Result<Option<Self>, BadHash> {
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let salt = text("salt").unwrap_or_default().to_owned();
        let scheme = text("password_scheme").unwrap_or("simple");
        let (scheme, hash) = match scheme {
            "simple" => (Scheme::Simple, "password_sha"),
            "pbkdf2" | "simple+pbkdf2" => {
                let prf = match document.get("pbkdf2_prf") {
                    None => HashFunction::Sha,
                    Some(name) => {
                        let prf = name.as_str().and_then(HashFunction::named);
                        prf.ok_or(BadHash::Prf)?
                    }
                };
                let iterations = document
                    .get("iterations")
                    .map_or(Some(ITERATIONS_UNNAMED), Value::as_u64);
                let iterations = iterations
                    .filter(|rounds| *rounds > 0)
                    .ok_or(BadHash::TooFew)?;
                let iterations = u32::try_from(iterations).ok();
                let iterations = iterations.filter(|rounds| *rounds <= ITERATIONS_MAX);
                let iterations = iterations.ok_or(BadHash::TooMany)?;
                let scheme = match scheme {
                    "pbkdf2" => Scheme::Pbkdf2 { prf, iterations },
                    _ => Scheme::SimplePbkdf2 { prf, iterations },
                };
                (scheme, "derived_key")
            }
            _ => return Ok(None),
        };
        let hash = text(hash).filter(|hash| !hash.is_empty());
        Ok(hash.map(|hash| PasswordHash {
            hash: hash.to_owned(),
            salt,
            scheme,
        }))
    }

    /// Whether this is the password; takes as long as hashing it.
    pub fn verify(&self, password: &str) -> bool {
        let hash = self.scheme.hash(password, &self.salt);
        same(hash.as_bytes(), self.hash.as_bytes())
    }

    /// The members of a user document that keep the hash, in CouchDB's order.
    pub fn to_members(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        let (scheme, salt, hash) = (self.scheme.name(), text(&self.salt), text(&self.hash));
        match &self.scheme {
            Scheme::Simple => {
                format!("\"password_scheme\":\"{scheme}\",\"salt\":{salt},\"password_sha\":{hash}")
            }
            Scheme::Pbkdf2 { prf, iterations } | Scheme::SimplePbkdf2 { prf, iterations } => {
                let prf = prf.name();
                format!(
                    "\"password_scheme\":\"{scheme}\",\"pbkdf2_prf\":\"{prf}\",\"salt\":{salt},\"iterations\":{iterations},\"derived_key\":{hash}"
                )
            }
        }
    }

    /// The salt, which a session's signature covers: a changed password ends its sessions.
    pub fn salt(&self) -> &str {
        &self.salt
    }

    /// The hash, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }
}

/// A salt: 32 random hexadecimal digits.
pub fn new_salt() -> String {
    hex(&random::<16>())
}

/// Why nobody can log in with a hash. The texts are CouchDB's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHash {
    /// The hash function has no known name.
    #[error("PRF is invalid")]
    Prf,
    /// Fewer rounds than are allowed.
    #[error("Iteration count is too low for this server")]
    TooFew,
    /// More rounds than are allowed.
    #[error("Iteration count is too high for this server")]
    TooMany,
}

impl fmt::Display for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PasswordHash { scheme, hash, salt } = self;
        match scheme {
            Scheme::Simple => write!(f, "-hashed-{hash},{salt}"),
            Scheme::Pbkdf2 { prf, iterations } | Scheme::SimplePbkdf2 { prf, iterations } => {
                write!(f, "-pbkdf2:{}-{hash},{salt},{iterations}", prf.name())
            }
        }
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash")
    }
}

impl FromStr for PasswordHash {
    type Err = NoPasswordHash;

    /// Reads what CouchDB has in its section `admins`.
    fn from_str(text: &str) -> Result<Self, NoPasswordHash> {
        let (prf, parts) = match text.strip_prefix("-hashed-") {
            Some(parts) => (None, parts),
            None => {
                let rest = text.strip_prefix("-pbkdf2").ok_or(NoPasswordHash)?;
                let (prf, parts) = rest.split_once('-').ok_or(NoPasswordHash)?;
                let prf = match prf.strip_prefix(':') {
                    Some(name) => HashFunction::named(name),
                    None if prf.is_empty() => Some(HashFunction::Sha),
                    None => None,
                };
                (Some(prf.ok_or(NoPasswordHash)?), parts)
            }
        };
        let mut parts = parts.splitn(3, ',');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let (hash, salt, iterations) = (next(), next(), next());
        let scheme = match prf {
            None if iterations.is_some() => return Err(NoPasswordHash),
            None => Scheme::Simple,
            Some(prf) => {
                let iterations = iterations.and_then(|text| text.parse().ok());
                let iterations = iterations.filter(|n| (1..=ITERATIONS_MAX).contains(n));
                let iterations = iterations.ok_or(NoPasswordHash)?;
                Scheme::Pbkdf2 { prf, iterations }
            }
        };
        let digits = 2 * prf.unwrap_or(HashFunction::Sha).bytes();
        let is_hash =
            |hash: &&str| hash.len() == digits && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(PasswordHash {
            hash: hash
                .filter(is_hash)
                .ok_or(NoPasswordHash)?
                .to_ascii_lowercase(),
            salt: salt.ok_or(NoPasswordHash)?.to_owned(),
            scheme,
        })
    }
}

/// Whether a password is given hashed.
pub fn is_hash(text: &str) -> bool {
    text.starts_with("-pbkdf2") || text.starts_with("-hashed-")
}

/// Text that begins like a hash, and is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no password hash: give the password itself, or -pbkdf2:sha256-KEY,SALT,ROUNDS as `inorder-couch hash-password` prints it"
)]
pub struct NoPasswordHash;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_hash_is_written_and_read_and_verifies() {
        let mut schemes = vec![Scheme::Simple];
        schemes.extend(HashFunction::ALL.map(|prf| Scheme::Pbkdf2 { prf, iterations: 2 }));
        for scheme in schemes {
            let hash = PasswordHash::salted("pass,word-ü", scheme, new_salt());
            let read: PasswordHash = hash.to_string().parse().unwrap();
            assert_eq!(read, hash);
            assert!(read.verify("pass,word-ü"));
            assert!(!read.verify("pass,word-u"));
            assert!(!read.verify(""));
        }
        assert_ne!(PasswordHash::new("a", 2), PasswordHash::new("a", 2));
    }

    #[test]
    fn a_known_key_is_derived() {
        // RFC 7914, section 11: PBKDF2-HMAC-SHA-256 of "passwd" and "salt", one round.
        let text = "-pbkdf2:sha256-55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc,salt,1";
        assert!(text.parse::<PasswordHash>().unwrap().verify("passwd"));
        // RFC 6070: PBKDF2-HMAC-SHA-1 of "password" and "salt", two rounds.
        for name in ["-pbkdf2", "-pbkdf2:sha"] {
            let text = format!("{name}-ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957,salt,2");
            assert!(text.parse::<PasswordHash>().unwrap().verify("password"));
        }
    }

    #[test]
    fn hashes_of_user_documents_are_read() {
        // Written by CouchDB 3.5.0 for the password "pässword".
        let documents = [
            r#"{"password_scheme":"pbkdf2","pbkdf2_prf":"sha","salt":"3d51b82759815ec7387ac2a32b3a0d43","iterations":10,"derived_key":"c591012d911e7b8b6874ce456ca585f5759bd53f"}"#,
            r#"{"password_scheme":"pbkdf2","pbkdf2_prf":"sha256","salt":"4e94a116caa45d4f21459d8c1cb923e6","iterations":10,"derived_key":"f65010776277e885b870f1db4bcf023c601e4ba215fe646a8e7f9f6d06a37de9"}"#,
            r#"{"password_scheme":"pbkdf2","pbkdf2_prf":"sha512","salt":"11d5efc92315a1d2b20bcdd067336d76","iterations":10,"derived_key":"6d54734b1161bcddd59478e85bfeb6e57d18bd673bb4dcf2087f13476e79cc688eb81b754739ac4955f7a52567dee875745366abb7ea3038adad2ce8fce02ecf"}"#,
            r#"{"password_scheme":"simple","salt":"0113145c4bb44283e684fcf61b104c63","password_sha":"21f09a61e0022e69de0a6541b0062587e93a6d78"}"#,
        ];
        let documents = documents.map(|text| serde_json::from_str::<Value>(text).unwrap());
        let hash = |document: &Value| PasswordHash::in_document(document.as_object().unwrap());
        for document in &documents {
            let hash = hash(document).unwrap().unwrap();
            assert!(hash.verify("pässword") && !hash.verify("password"));
            let members = format!("{{{}}}", hash.to_members());
            assert_eq!(
                members,
                document.to_string(),
                "written as CouchDB writes it"
            );
        }
        let document = &documents[1];
        let simple =
            json!({ "salt": "salt", "password_sha": "c88e9c67041a74e0357befdff93f87dde0904214" });
        assert!(hash(&simple).unwrap().unwrap().verify("password"));
        let key = HashFunction::Sha.derive(b"c88e9c67041a74e0357befdff93f87dde0904214", "salt", 3);
        let both = json!({ "password_scheme": "simple+pbkdf2", "iterations": 3, "salt": "salt", "derived_key": key });
        assert!(hash(&both).unwrap().unwrap().verify("password"));
        for (field, value, error) in [
            ("iterations", json!(4_000_000_000_u64), BadHash::TooMany),
            ("iterations", json!(0), BadHash::TooFew),
            ("iterations", json!(-1), BadHash::TooFew),
            ("pbkdf2_prf", json!("md5"), BadHash::Prf),
        ] {
            let mut bad = document.clone();
            bad[field] = value;
            assert_eq!(hash(&bad), Err(error));
        }
        assert_eq!(hash(&json!({})), Ok(None));
        assert_eq!(hash(&json!({ "password_sha": "" })), Ok(None));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        let key = "0".repeat(64);
        for text in [
            "",
            "secret",
            "-pbkdf2-00,aa,10",
            "-pbkdf2:sha256-00,salt,1",
            "-hashed-00,salt",
            &format!("-pbkdf2:sha256-{key},salt,0"),
            &format!("-pbkdf2:sha256-{key},salt,4000000000"),
            &format!("-pbkdf2:sha256-{key},,1"),
            &format!("-pbkdf2:sha256-{key}"),
            &format!("-pbkdf2:md5-{key},salt,1"),
            &format!("-hashed-{},salt,1", &key[..40]),
        ] {
            assert_eq!(text.parse::<PasswordHash>(), Err(NoPasswordHash), "{text}");
        }
    }
}
