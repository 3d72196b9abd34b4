//! The verification of what browser and authenticator answer: sections 7.1 and 7.2 of WebAuthn.

use super::{Challenge, Site};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rustls::pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use serde::{Deserialize, Deserializer, de};
use sha2::{Digest, Sha256};
use webpki::{RawPublicKeyEntity, ring};

/// Bytes of a credential's id. Section 5.8.3.
const ID_BYTES_MAX: usize = 1023;

/// Bytes of a public key: RSA with 8192 bits has 1,062.
const KEY_BYTES_MAX: usize = 2048;

/// Why a passkey is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The answer has another form.
    #[error("the answer is malformed: {0}")]
    Malformed(&'static str),
    /// The answer belongs to the other ceremony.
    #[error("the answer is for something else")]
    Type,
    /// The challenge is none that waits.
    #[error("the challenge is void")]
    Challenge,
    /// A page of another origin, or within one, has asked.
    #[error("the page is of another origin")]
    Origin,
    /// The credential belongs to another site.
    #[error("the credential belongs to another site")]
    Site,
    /// The authenticator does not know who uses it.
    #[error("the user was not verified")]
    User,
    /// The key is none that can be used.
    #[error("the key is of no known kind")]
    Key,
    /// The signature is wrong.
    #[error("the signature is wrong")]
    Signature,
    /// The credential is used by a copy too.
    #[error("the counter went back")]
    Counter,
    /// The authenticator says one time that the credential may be copied to other devices, another time that it may not.
    #[error("the backup state is contradictory")]
    Backup,
    /// The credential is not the user's.
    #[error("the credential belongs to another user")]
    Owner,
}

/// A credential as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The authenticator's name of it.
    pub id: Vec<u8>,
    /// The `SubjectPublicKeyInfo`, DER.
    pub public_key: Vec<u8>,
    /// One of [`algorithms`].
    pub algorithm: i64,
    /// The authenticator's count of signatures; 0 if it counts none.
    pub counter: u32,
    /// Whether it may be copied to the user's other devices.
    pub is_synced: bool,
}

/// What a good answer tells of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The count of signatures from now on.
    pub counter: u32,
}

/// Bytes that are base64url in JSON.
#[derive(Debug, Clone)]
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text);
        bytes.map(Bytes).map_err(de::Error::custom)
    }
}

/// A browser's answer to `navigator.credentials.create`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    authenticator_data: Bytes,
    public_key: Bytes,
    algorithm: i64,
}

/// A browser's answer to `navigator.credentials.get`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asserted {
    id: Bytes,
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    authenticator_data: Bytes,
    signature: Bytes,
    user_handle: Bytes,
}

impl Asserted {
    /// The id of the credential.
    pub fn id(&self) -> &[u8] {
        &self.id.0
    }
}

/// The credential that a browser has created for this site.
///
/// # Errors
/// Why it is refused.
pub fn registered(
    site: &Site,
    challenge: &Challenge,
    created: Created,
) -> Result<Credential, Refusal> {
    check_client(site, "webauthn.create", challenge, &created.client_data.0)?;
    let told = AuthenticatorData::read(&created.authenticator_data.0)?;
    told.check(site)?;
    let id = told.credential_id()?;
    let public_key = created.public_key.0;
    check_key(&public_key, created.algorithm)?;
    Ok(Credential {
        id: id.to_owned(),
        public_key,
        algorithm: created.algorithm,
        counter: told.counter,
        is_synced: told.has(BACKUP_ELIGIBLE),
    })
}

/// Verifies that the authenticator with this credential, of the user with this handle, has answered this challenge.
///
/// # Errors
/// Why the answer is refused.
pub fn asserted(
    site: &Site,
    challenge: &Challenge,
    answer: &Asserted,
    credential: &Credential,
    user_handle: &[u8],
) -> Result<Verified, Refusal> {
    if answer.id.0 != credential.id || answer.user_handle.0 != user_handle {
        return Err(Refusal::Owner);
    }
    check_client(site, "webauthn.get", challenge, &answer.client_data.0)?;
    let told = AuthenticatorData::read(&answer.authenticator_data.0)?;
    told.check(site)?;
    if told.has(BACKUP_ELIGIBLE) != credential.is_synced {
        return Err(Refusal::Backup);
    }
    let mut signed = answer.authenticator_data.0.clone();
    signed.extend(Sha256::digest(&answer.client_data.0));
    let key = SubjectPublicKeyInfoDer::from(credential.public_key.as_slice());
    let key = RawPublicKeyEntity::try_from(&key).map_err(|_| Refusal::Key)?;
    key.verify_signature(
        verifier(credential.algorithm)?,
        &signed,
        &answer.signature.0,
    )
    .map_err(|_| Refusal::Signature)?;
    let counts = told.counter != 0 || credential.counter != 0;
    if counts && told.counter <= credential.counter {
        return Err(Refusal::Counter);
    }
    Ok(Verified {
        counter: told.counter,
    })
}

/// What the browser says of the page that has asked. Other members may come.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<String>,
}

fn check_client(
    site: &Site,
    r#type: &str,
    challenge: &Challenge,
    json: &[u8],
) -> Result<(), Refusal> {
    let data: ClientData =
        serde_json::from_slice(json).map_err(|_| Refusal::Malformed("client data"))?;
    if data.r#type != r#type {
        return Err(Refusal::Type);
    }
    if data.challenge != BASE64_URL_SAFE_NO_PAD.encode(challenge) {
        return Err(Refusal::Challenge);
    }
    match data.origin != site.origin() || data.cross_origin || data.top_origin.is_some() {
        true => Err(Refusal::Origin),
        false => Ok(()),
    }
}

/// The flags of section 6.1.
const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKUP_STATE: u8 = 1 << 4;
const ATTESTED_CREDENTIAL: u8 = 1 << 6;

/// What the authenticator says and signs. Section 6.1.
struct AuthenticatorData<'a> {
    site_hash: &'a [u8],
    flags: u8,
    counter: u32,
    /// The credential, and extensions that nobody has asked for.
    rest: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let read = || {
            let (site_hash, rest) = bytes.split_at_checked(32)?;
            let (&flags, rest) = rest.split_first()?;
            let (counter, rest) = rest.split_first_chunk()?;
            Some(AuthenticatorData {
                site_hash,
                flags,
                counter: u32::from_be_bytes(*counter),
                rest,
            })
        };
        read().ok_or(Refusal::Malformed("authenticator data"))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn check(&self, site: &Site) -> Result<(), Refusal> {
        if self.site_hash != Sha256::digest(site.id()).as_slice() {
            return Err(Refusal::Site);
        }
        if !self.has(USER_PRESENT) || !self.has(USER_VERIFIED) {
            return Err(Refusal::User);
        }
        match self.has(BACKUP_STATE) && !self.has(BACKUP_ELIGIBLE) {
            true => Err(Refusal::Backup),
            false => Ok(()),
        }
    }

    /// The id in the attested credential data: after 16 bytes that name the model, two of the length. Section 6.5.1.
    fn credential_id(&self) -> Result<&'a [u8], Refusal> {
        let read = || {
            let (_, rest) = self.rest.split_at_checked(16)?;
            let (length, rest) = rest.split_first_chunk()?;
            let (id, _) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
            Some(id)
        };
        read()
            .filter(|id| {
                self.has(ATTESTED_CREDENTIAL) && !id.is_empty() && id.len() <= ID_BYTES_MAX
            })
            .ok_or(Refusal::Malformed("credential"))
    }
}

/// The signature algorithms that a passkey may have, as numbers of COSE, the preferred one first: ES256, EdDSA with Ed25519, and
/// RS256, which Windows uses.
static ALGORITHMS: [(i64, &dyn SignatureVerificationAlgorithm); 3] = [
    (-7, ring::ECDSA_P256_SHA256),
    (-8, ring::ED25519),
    (-257, ring::RSA_PKCS1_2048_8192_SHA256),
];

/// The numbers of the signature algorithms that a passkey may have, the preferred one first.
pub fn algorithms() -> impl Iterator<Item = i64> {
    ALGORITHMS.iter().map(|(number, _)| *number)
}

fn verifier(algorithm: i64) -> Result<&'static dyn SignatureVerificationAlgorithm, Refusal> {
    let found = ALGORITHMS.iter().find(|(number, _)| *number == algorithm);
    found.map(|(_, verifier)| *verifier).ok_or(Refusal::Key)
}

/// Whether this is a key of this algorithm. A wrong signature is refused in another way than a key of another kind.
fn check_key(public_key: &[u8], algorithm: i64) -> Result<(), Refusal> {
    if public_key.len() > KEY_BYTES_MAX {
        return Err(Refusal::Key);
    }
    let key = SubjectPublicKeyInfoDer::from(public_key);
    let key = RawPublicKeyEntity::try_from(&key).map_err(|_| Refusal::Key)?;
    match key.verify_signature(verifier(algorithm)?, b"", b"") {
        Err(webpki::Error::InvalidSignatureForPublicKey) => Ok(()),
        _ => Err(Refusal::Key),
    }
}
