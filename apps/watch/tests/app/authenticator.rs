//! An authenticator of WebAuthn without a device: it makes credentials and signs challenges, or does one of both wrongly.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PublicKeyData, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Flags: the user is present and verified, and an attested credential follows.
pub const PRESENT: u8 = 1;
pub const VERIFIED: u8 = 1 << 2;
pub const MAY_BE_COPIED: u8 = 1 << 3;
pub const IS_COPIED: u8 = 1 << 4;
pub const HAS_CREDENTIAL: u8 = 1 << 6;

/// What browser and authenticator say. A test changes some of it.
#[derive(Clone)]
pub struct Device {
    pub origin: String,
    /// The id of the site of which the authenticator says that it asks.
    pub site: String,
    pub flags: u8,
    pub counter: u32,
    pub credential: Vec<u8>,
    pub user_handle: Vec<u8>,
    /// Members of the client data that take the place of the right ones.
    pub told: Value,
}

/// A device with a credential, and its key.
pub struct Authenticator {
    pub device: Device,
    pub algorithm: i64,
    key: KeyPair,
}

impl Authenticator {
    /// An authenticator whose key is of this algorithm, -7 or -8.
    pub fn new(origin: &str, site: &str, algorithm: i64) -> Self {
        let kind = match algorithm {
            -8 => &PKCS_ED25519,
            _ => &PKCS_ECDSA_P256_SHA256,
        };
        let key = KeyPair::generate_for(kind).unwrap();
        Authenticator {
            device: Device {
                origin: origin.to_owned(),
                site: site.to_owned(),
                flags: PRESENT | VERIFIED,
                counter: 0,
                credential: Sha256::digest(key.subject_public_key_info())[..16].to_owned(),
                user_handle: Vec::new(),
                told: json!({}),
            },
            algorithm,
            key,
        }
    }

    /// The answer to `navigator.credentials.create`.
    pub fn create(&self, challenge: &str) -> Value {
        let device = &self.device;
        let mut data = device.data(device.flags | HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(
            u16::try_from(device.credential.len())
                .unwrap()
                .to_be_bytes(),
        );
        data.extend(&device.credential);
        // The key in COSE's form, which nobody reads.
        data.push(0xa0);
        json!({
            "clientDataJSON": base64url(device.client_data("webauthn.create", challenge).as_bytes()),
            "authenticatorData": base64url(&data),
            "publicKey": base64url(&self.key.subject_public_key_info()),
            "algorithm": self.algorithm,
        })
    }

    /// The answer to `navigator.credentials.get`.
    pub fn get(&self, challenge: &str) -> Value {
        self.device
            .get(challenge, |signed| self.key.sign(signed).unwrap())
    }
}

impl Device {
    fn client_data(&self, kind: &str, challenge: &str) -> String {
        let mut data = json!({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": false});
        for (name, value) in self.told.as_object().unwrap() {
            data[name] = value.clone();
        }
        data.to_string()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(&self.site).to_vec();
        data.push(flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// The answer to `navigator.credentials.get` that is signed in this way.
    pub fn get(&self, challenge: &str, sign: impl Fn(&[u8]) -> Vec<u8>) -> Value {
        let data = self.data(self.flags);
        let client = self.client_data("webauthn.get", challenge);
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        json!({
            "id": base64url(&self.credential),
            "clientDataJSON": base64url(client.as_bytes()),
            "authenticatorData": base64url(&data),
            "signature": base64url(&sign(&signed)),
            "userHandle": base64url(&self.user_handle),
        })
    }
}

pub fn base64url(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}
