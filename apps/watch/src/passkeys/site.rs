//! The address of the site.

use reqwest::Url;

/// The site to which passkeys belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    origin: String,
    id: String,
}

impl Site {
    /// The site at an address such as `https://watch.example.org`.
    ///
    /// # Errors
    /// Why there can be no passkeys: browsers have them at names with TLS, and at `localhost`.
    pub fn parse(address: &str) -> Result<Self, String> {
        let url = Url::parse(address).map_err(|error| format!("{address}: {error}"))?;
        let is_local = |name: &str| name == "localhost" || name.ends_with(".localhost");
        match (url.scheme(), url.domain()) {
            ("https", Some(name)) => Ok(Site::of(&url, name)),
            ("http", Some(name)) if is_local(name) => Ok(Site::of(&url, name)),
            (_, None) => Err(format!(
                "{address} has no name, and passkeys belong to a name"
            )),
            _ => Err(format!("{address} has no TLS (https), which passkeys need")),
        }
    }

    fn of(url: &Url, name: &str) -> Self {
        Site {
            origin: url.origin().ascii_serialization(),
            id: name.to_owned(),
        }
    }

    /// The origin as browsers write it, such as `https://watch.example.org`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The id of the relying party, such as `watch.example.org`.
    pub fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_a_name_and_tls_or_is_this_machine() {
        for (address, origin, id) in [
            (
                "https://watch.example.org",
                "https://watch.example.org",
                "watch.example.org",
            ),
            (
                "https://Watch.Example.org:443/",
                "https://watch.example.org",
                "watch.example.org",
            ),
            (
                "https://watch.example.org:8443",
                "https://watch.example.org:8443",
                "watch.example.org",
            ),
            (
                "https://müller.example",
                "https://xn--mller-kva.example",
                "xn--mller-kva.example",
            ),
            (
                "http://localhost:8080",
                "http://localhost:8080",
                "localhost",
            ),
        ] {
            let site = Site::parse(address).unwrap();
            assert_eq!((site.origin(), site.id()), (origin, id));
        }
        for (address, words) in [
            ("watch.example.org", "relative URL"),
            ("http://watch.example.org", "no TLS"),
            ("https://192.0.2.1", "no name"),
            ("http://127.0.0.1:8080", "no name"),
            ("https://[2001:db8::1]", "no name"),
            ("ftp://watch.example.org", "no TLS"),
            ("mailto:a@b.example", "no name"),
        ] {
            let problem = Site::parse(address).unwrap_err();
            assert!(problem.contains(words), "{problem}");
        }
    }
}
