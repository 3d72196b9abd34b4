//! `s3://bucket/key` as a signed URL, with the variables that Amazon's own tools read.
//!
//! Source: <https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>.

use std::time::Duration;

use rusty_s3::actions::{GetObject, S3Action as _};
use rusty_s3::{Bucket, Credentials, UrlStyle};

/// How long a signature is valid. Each connection has one of its own.
const VALID: Duration = Duration::from_secs(3600);

/// The region of a bucket if none is given.
const REGION: &str = "us-east-1";

/// The URL to get an object by; `variable` reads environment variables. Without credentials it is not signed.
///
/// # Errors
/// A message that says what is wrong.
pub(super) fn signed(
    url: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let path = url.strip_prefix("s3://").unwrap_or(url);
    let (name, key) = path
        .split_once('/')
        .filter(|(name, key)| !name.is_empty() && !key.is_empty())
        .ok_or("write the URL as s3://bucket/key")?;
    let given = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| variable(name));
        values.find(|value| !value.is_empty())
    };
    let region = given(&["AWS_REGION", "AWS_DEFAULT_REGION"]).unwrap_or_else(|| REGION.to_owned());
    let (endpoint, style) = match given(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]) {
        Some(endpoint) => (endpoint, UrlStyle::Path),
        // A certificate for *.s3.… does not cover names with dots.
        None if name.contains('.') => {
            (format!("https://s3.{region}.amazonaws.com"), UrlStyle::Path)
        }
        None => (
            format!("https://s3.{region}.amazonaws.com"),
            UrlStyle::VirtualHost,
        ),
    };
    let endpoint = endpoint
        .parse()
        .map_err(|error| format!("AWS_ENDPOINT_URL: {endpoint}: {error}"))?;
    let bucket = Bucket::new(endpoint, style, name.to_owned(), region);
    let bucket = bucket.map_err(|error| format!("s3://{name}: {error}"))?;
    let credentials = given(&["AWS_ACCESS_KEY_ID"]).zip(given(&["AWS_SECRET_ACCESS_KEY"]));
    let credentials = credentials.map(|(id, secret)| match given(&["AWS_SESSION_TOKEN"]) {
        Some(token) => Credentials::new_with_token(id, secret, token),
        None => Credentials::new(id, secret),
    });
    let action = GetObject::new(&bucket, credentials.as_ref(), key);
    Ok(action.sign(VALID).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed_with(url: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        signed(url, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn buckets_and_keys_become_addresses() {
        for (url, variables, address) in [
            (
                "s3://b/a/x y.csv",
                &[][..],
                "https://b.s3.us-east-1.amazonaws.com/a/x%20y.csv",
            ),
            (
                "s3://b.c/x",
                &[("AWS_REGION", "eu-west-1")],
                "https://s3.eu-west-1.amazonaws.com/b.c/x",
            ),
            (
                "s3://b/x",
                &[("AWS_ENDPOINT_URL", "http://localhost:9000")],
                "http://localhost:9000/b/x",
            ),
        ] {
            assert_eq!(signed_with(url, variables).as_deref(), Ok(address));
        }
        for wrong in ["s3://b", "s3://b/", "s3:///x"] {
            assert!(signed_with(wrong, &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn credentials_sign() {
        let key = [
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_SESSION_TOKEN", "t"),
        ];
        let url = signed_with("s3://b/x", &key).expect("a URL");
        for part in [
            "X-Amz-Signature=",
            "X-Amz-Credential=id%2F",
            "X-Amz-Security-Token=t",
        ] {
            assert!(url.contains(part), "{url}");
        }
        assert!(!url.contains("secret"), "{url}");
    }
}
