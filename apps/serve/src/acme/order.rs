//! One order of a certificate.

use super::client::Client;
use super::files::Files;
use super::{AcmeError, AcmeOptions, Challenge, Shared};
use instant_acme::{
    Account, AuthorizationHandle, AuthorizationStatus, ChallengeType, Error, Identifier,
    KeyAuthorization, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;
use std::sync::Arc;
use std::time::Duration;

/// How long and how often the CA is asked whether it is done.
const PATIENCE: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(180));

/// Refuses what is no full domain name.
pub fn check(domain: &str) -> Result<(), AcmeError> {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_address = domain
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_domain = domain.contains('.') && domain.len() <= 253 && domain.split('.').all(is_label);
    if is_domain && !is_address {
        return Ok(());
    }
    Err(AcmeError::Domain(domain.to_owned()))
}

/// Orders a certificate. Returns the private key and the certificates as PEM.
pub async fn order(
    options: &AcmeOptions,
    files: &Files<'_>,
    shared: &Shared,
) -> Result<String, AcmeError> {
    let refused = |source| AcmeError::Authority {
        directory: options.directory.clone(),
        source,
    };
    let account = account(options, files).await?;
    let domains: Vec<_> = options
        .domains
        .iter()
        .cloned()
        .map(Identifier::Dns)
        .collect();
    let begun = account.new_order(&NewOrder::new(&domains)).await;
    if matches!(&begun, Err(Error::Api(problem)) if problem.r#type.as_deref() == Some(UNKNOWN_ACCOUNT))
    {
        // The next try makes a new one.
        files.forget_account()?;
    }
    let mut order = begun.map_err(refused)?;
    let mut domains = order.authorizations();
    while let Some(domain) = domains.next().await {
        let domain = domain.map_err(refused)?;
        if domain.status != AuthorizationStatus::Valid {
            prove(domain, options, shared).await?;
        }
    }
    let ready = order.poll_ready(&PATIENCE).await;
    if !matches!(ready, Ok(OrderStatus::Ready)) {
        let reason = unchecked(&mut order, options).await;
        let other = || ready.err().unwrap_or(Error::Str("the order is not ready"));
        return Err(reason.unwrap_or_else(|| refused(other())));
    }
    let key = order.finalize().await.map_err(refused)?;
    let certificates = order.poll_certificate(&PATIENCE).await.map_err(refused)?;
    Ok(format!("{key}{certificates}"))
}

const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// The stored account, or a new one.
async fn account(options: &AcmeOptions, files: &Files<'_>) -> Result<Account, AcmeError> {
    let refused = |source| AcmeError::Authority {
        directory: options.directory.clone(),
        source,
    };
    let builder = Account::builder_with_http(Box::new(Client::new().map_err(refused)?));
    if let Some(account) = files.account()? {
        return builder.from_credentials(account).await.map_err(refused);
    }
    let contact: Vec<_> = options
        .email
        .iter()
        .map(|it| format!("mailto:{it}"))
        .collect();
    let contact: Vec<_> = contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let created = builder.create(&new, options.directory.clone(), None).await;
    let (account, credentials) = created.map_err(refused)?;
    files.store_account(&credentials)?;
    Ok(account)
}

/// Makes the answer to a challenge, and has the CA ask for it.
async fn prove(
    mut domain: AuthorizationHandle<'_>,
    options: &AcmeOptions,
    shared: &Shared,
) -> Result<(), AcmeError> {
    let name = domain.identifier().to_string();
    let kind = match options.challenge {
        Challenge::TlsAlpn01 => ChallengeType::TlsAlpn01,
        Challenge::Http01 => ChallengeType::Http01,
    };
    let Some(mut challenge) = domain.challenge(kind) else {
        return Err(AcmeError::Unsupported {
            domain: name,
            challenge: options.challenge,
        });
    };
    let key = challenge.key_authorization();
    match options.challenge {
        Challenge::Http01 => {
            let (token, answer) = (challenge.token.clone(), key.as_str().to_owned());
            shared.answers().http.insert(token, answer);
        }
        Challenge::TlsAlpn01 => {
            let answer = Arc::new(challenge_certificate(&name, &key)?);
            shared.answers().tls.insert(name, answer);
        }
    }
    let ready = challenge.set_ready().await;
    ready.map_err(|source| AcmeError::Authority {
        directory: options.directory.clone(),
        source,
    })
}

/// A certificate of this server's own with the digest of the answer (RFC 8737, section 3).
fn challenge_certificate(domain: &str, key: &KeyAuthorization) -> Result<CertifiedKey, AcmeError> {
    let failed = |error: &dyn std::error::Error| AcmeError::Answer(error.to_string());
    let mut parameters =
        CertificateParams::new([domain.to_owned()]).map_err(|error| failed(&error))?;
    let digest = key.digest();
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(digest.as_ref())];
    let pair = KeyPair::generate().map_err(|error| failed(&error))?;
    let certificate = parameters
        .self_signed(&pair)
        .map_err(|error| failed(&error))?;
    let private = PrivateKeyDer::Pkcs8(pair.serialize_der().into());
    let key = ring::sign::any_ecdsa_type(&private).map_err(|error| failed(&error))?;
    // Without `CertifiedKey::from_der`, which refuses the extension because it does not know it.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

/// The domain that the CA could not check, if there is one.
async fn unchecked(order: &mut Order, options: &AcmeOptions) -> Option<AcmeError> {
    let mut domains = order.authorizations();
    while let Some(domain) = domains.next().await {
        let mut domain = domain.ok()?;
        domain.refresh().await.ok()?;
        let problem = domain.challenges.iter().find_map(|it| it.error.as_ref());
        if let Some(problem) = problem {
            return Some(AcmeError::Unchecked {
                domain: domain.identifier().to_string(),
                reason: problem
                    .detail
                    .clone()
                    .unwrap_or_else(|| problem.to_string()),
                challenge: options.challenge,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_domain_names_are_ordered() {
        for good in ["notes.example.com", "xn--bcher-kva.example", "a.b"] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = format!("{}.example", "a".repeat(64));
        for bad in [
            "",
            "localhost",
            "*.example.com",
            "192.0.2.1",
            "a..b",
            "a.b.",
            "-a.b",
            "a b.c",
            "https://a.b",
            "::1",
            &long,
        ] {
            assert!(
                check(bad).unwrap_err().to_string().contains("full name"),
                "{bad}"
            );
        }
    }
}
