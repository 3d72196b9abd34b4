//! JSON web tokens.

mod key;

use super::AuthError;
use super::hash_function::HashFunction;
use super::user::{Handler, User};
use crate::config::{Values, keys};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use key::Key;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The largest token that is read.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// The settings of tokens: the sections `jwt_keys` and `jwt_auth`.
#[derive(Debug)]
pub struct Jwt {
    /// By kind and id, such as `hmac:_default`.
    keys: HashMap<String, Result<Key, &'static str>>,
    /// `None` if the setting is invalid.
    claims: Option<Vec<Claim>>,
    /// The path of the roles in the payload.
    roles: Vec<String>,
}

/// A claim that a token must have.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Claim {
    Exp,
    Nbf,
    Iat,
    Kid,
    Typ,
    Alg,
    Iss(Option<String>),
}

impl Jwt {
    /// Reads the settings.
    pub fn read(values: &Values) -> Self {
        let keys = values.section("jwt_keys").map(|(name, text)| {
            let key = Key::read(name, text);
            if let Err(error) = key {
                tracing::error!(key = name, error, "[jwt_keys] has a key that can't be read");
            }
            (name.to_owned(), key)
        });
        let claims = claims(&values.read(&keys::REQUIRED_CLAIMS));
        if claims.is_none() {
            tracing::error!("[jwt_auth] required_claims is invalid: no token is accepted");
        }
        let path = values.read(&keys::ROLES_CLAIM_PATH);
        let roles = match path.is_empty() {
            true => vec![values.read(&keys::ROLES_CLAIM_NAME)],
            false => path_of(&path),
        };
        Jwt {
            keys: keys.collect(),
            claims,
            roles,
        }
    }

    /// The user of an `Authorization` header; `None` if it has no token.
    ///
    /// # Errors
    /// The fault of the token, as CouchDB words it.
    pub fn user(&self, header: &[u8], now_seconds: u64) -> Result<Option<User>, AuthError> {
        let Some(token) = header.strip_prefix(b"Bearer ") else {
            return Ok(None);
        };
        let claims = self
            .claims
            .as_ref()
            .ok_or_else(|| AuthError::Directory("JWT is not configured correctly".to_owned()))?;
        let payload = self.payload(token, claims, now_seconds)?;
        let roles = self.roles(&payload)?;
        let name = payload.get("sub").and_then(Value::as_str);
        let name = name.ok_or(AuthError::Token("Token missing sub claim."))?;
        Ok(Some(User::new(name, roles.into(), Handler::Jwt)))
    }

    /// The payload of a token with a valid signature and the required claims.
    fn payload(
        &self,
        token: &[u8],
        claims: &[Claim],
        now_seconds: u64,
    ) -> Result<Map<String, Value>, AuthError> {
        let malformed = AuthError::BadToken("Malformed token");
        if token.len() > TOKEN_BYTES_MAX {
            return Err(malformed);
        }
        let parts: Vec<&[u8]> = token.split(|byte| *byte == b'.').collect();
        let [header, payload, signature] = parts[..] else {
            return Err(malformed);
        };
        let (header, payload) = (object(header)?, object(payload)?);
        let signing = signing(&header)?;
        for claim in claims {
            claim.check(&header, &payload, now_seconds)?;
        }
        let id = match header.get("kid") {
            None => "_default",
            Some(id) => id.as_str().ok_or(malformed.clone())?,
        };
        let kind = signing.kind();
        let key = self.keys.get(&format!("{kind}:{id}"));
        let key = key.ok_or(AuthError::BadToken("Unknown kid"))?;
        let key = key.as_ref().map_err(|error| AuthError::BadToken(error))?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| malformed)?;
        let signed = &token[..parts[0].len() + 1 + parts[1].len()];
        match key.has_signed(signing, signed, &signature) {
            true => Ok(payload),
            false if kind == "hmac" => Err(AuthError::BadToken("Bad HMAC")),
            false => Err(AuthError::BadToken("Bad signature")),
        }
    }

    fn roles(&self, payload: &Map<String, Value>) -> Result<Vec<String>, AuthError> {
        let mut names = self.roles.iter();
        let first = names.next().and_then(|name| payload.get(name));
        let roles = names.fold(first, |value, name| value?.get(name));
        let malformed = || AuthError::BadToken("Malformed token");
        match roles {
            None => Ok(Vec::new()),
            Some(Value::Array(roles)) => {
                let roles = roles.iter().map(|role| role.as_str().map(str::to_owned));
                roles.collect::<Option<_>>().ok_or_else(malformed)
            }
            Some(Value::String(roles)) => {
                let roles = roles.split(',').map(str::trim);
                let roles = roles.filter(|role| !role.is_empty());
                Ok(roles.map(str::to_owned).collect())
            }
            Some(_) => Err(malformed()),
        }
    }
}

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signing {
    Hmac(HashFunction),
    Rsa(HashFunction),
    Ec(HashFunction),
}

impl Signing {
    fn kind(self) -> &'static str {
        match self {
            Signing::Hmac(_) => "hmac",
            Signing::Rsa(_) => "rsa",
            Signing::Ec(_) => "ec",
        }
    }
}

fn signing(header: &Map<String, Value>) -> Result<Signing, AuthError> {
    let name = header.get("alg");
    let name = name.ok_or(AuthError::BadToken("Missing alg header parameter"))?;
    Ok(match name.as_str() {
        Some("HS256") => Signing::Hmac(HashFunction::Sha256),
        Some("HS384") => Signing::Hmac(HashFunction::Sha384),
        Some("HS512") => Signing::Hmac(HashFunction::Sha512),
        Some("RS256") => Signing::Rsa(HashFunction::Sha256),
        Some("RS384") => Signing::Rsa(HashFunction::Sha384),
        Some("RS512") => Signing::Rsa(HashFunction::Sha512),
        Some("ES256") => Signing::Ec(HashFunction::Sha256),
        Some("ES384") => Signing::Ec(HashFunction::Sha384),
        _ => return Err(AuthError::BadToken("Invalid alg header parameter")),
    })
}

fn object(part: &[u8]) -> Result<Map<String, Value>, AuthError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).ok();
    let value = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match value {
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(AuthError::BadToken("Not an object")),
        None => Err(AuthError::BadToken("Malformed token")),
    }
}

impl Claim {
    fn check(
        &self,
        header: &Map<String, Value>,
        payload: &Map<String, Value>,
        now_seconds: u64,
    ) -> Result<(), AuthError> {
        let seconds = |name: &str, missing, invalid| {
            let value = payload.get(name).ok_or(AuthError::BadToken(missing))?;
            value.as_f64().ok_or(AuthError::BadToken(invalid))
        };
        let now = now_seconds as f64;
        match self {
            Claim::Exp => match seconds("exp", "Missing exp claim", "Invalid exp claim")? > now {
                true => Ok(()),
                false => Err(AuthError::Token("exp not in future")),
            },
            Claim::Nbf => match seconds("nbf", "Missing nbf claim", "Invalid nbf claim")? < now {
                true => Ok(()),
                false => Err(AuthError::Token("nbf not in past")),
            },
            Claim::Iat => seconds("iat", "Missing iat claim", "Invalid iat claim").map(|_| ()),
            Claim::Kid if !header.contains_key("kid") => {
                Err(AuthError::BadToken("Missing kid claim"))
            }
            Claim::Typ => match header.get("typ").map(Value::as_str) {
                None => Err(AuthError::BadToken("Missing typ header parameter")),
                Some(Some("JWT")) => Ok(()),
                Some(_) => Err(AuthError::BadToken("Invalid typ header parameter")),
            },
            Claim::Iss(expected) => {
                let issuer = payload.get("iss");
                let issuer = issuer.ok_or(AuthError::BadToken("Missing iss claim"))?;
                match expected.is_none() || issuer.as_str() == expected.as_deref() {
                    true => Ok(()),
                    false => Err(AuthError::BadToken("Invalid iss claim")),
                }
            }
            Claim::Kid | Claim::Alg => Ok(()),
        }
    }
}

/// `exp, nbf, {iss, "MyCompany"}`.
fn claims(text: &str) -> Option<Vec<Claim>> {
    let mut claims = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, value, after) = match rest.strip_prefix('{') {
            Some(tuple) => {
                let (tuple, after) = tuple.split_once('}')?;
                let (name, value) = tuple.split_once(',')?;
                let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
                (name.trim(), Some(value.to_owned()), after)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim(), None, &rest[end..])
            }
        };
        claims.push(match name {
            "exp" => Claim::Exp,
            "nbf" => Claim::Nbf,
            "iat" => Claim::Iat,
            "kid" => Claim::Kid,
            "typ" => Claim::Typ,
            "alg" => Claim::Alg,
            "iss" => Claim::Iss(value),
            _ => return None,
        });
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    Some(claims)
}

/// The names between dots; a dot after a backslash belongs to a name.
fn path_of(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let last = names.last_mut().expect("there is one");
        match character {
            '\\' if characters.peek() == Some(&'.') => last.extend(characters.next()),
            '.' => names.push(String::new()),
            other => last.push(other),
        }
    }
    names
}

#[cfg(test)]
mod tests;
