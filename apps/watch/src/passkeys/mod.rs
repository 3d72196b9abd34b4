//! Passkeys: sign-in without a password, as [WebAuthn](https://www.w3.org/TR/webauthn-3/) has it.
//!
//! - The relying party is the [site](Site) that the option `--site` names, never the host of a request.
//! - A [challenge](Challenges) belongs to one browser, lasts five minutes and is good once.
//! - A ceremony is verified by [`registered`] and [`asserted`]. Credentials are discoverable, user verification is required, and
//!   attestation is not asked for.
//!
//! The verification is our own code, about 200 lines, over the signatures of `rustls-webpki`, which the program already contains
//! for TLS. webauthn-rs has the licence MPL-2.0 and needs OpenSSL, which a static program for musl would have to compile. Libraries in
//! pure Rust bring a second set of P-256, Ed25519 and RSA into the program. They are worth it for attestation, whose certificates
//! and CBOR they read. Without attestation the browser gives the key itself as a `SubjectPublicKeyInfo` (`getPublicKey`, section 5.2.1.1),
//! and no CBOR is read.

mod ceremony;
mod challenges;
mod site;

pub use ceremony::{
    Asserted, Created, Credential, Refusal, Verified, algorithms, asserted, registered,
};
pub use challenges::{CHALLENGE_LIFETIME, Challenge, Challenges, Purpose};
pub use site::Site;
