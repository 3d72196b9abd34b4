//! The hosts to which replications may connect.

/// A list of hosts; an empty one allows all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedHosts(Vec<Allowed>);

/// An entry: a name or an address, with a port or for all ports.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Allowed {
    host: String,
    /// Whether the entry is for the hosts below `host`.
    is_domain: bool,
    port: Option<u16>,
}

impl AllowedHosts {
    /// Reads entries such as `couch.example.com`, `*.example.com`, `10.0.0.7:5984` and `[::1]:5984`.
    pub fn new(entries: Vec<String>) -> Self {
        AllowedHosts(entries.iter().map(|entry| Allowed::read(entry)).collect())
    }

    /// Returns whether a URL has an allowed host.
    pub fn allow(&self, url: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        // The client reads the URL in the same way: another reading could name another host.
        let Ok(url) = reqwest::Url::parse(url) else {
            return false;
        };
        let Some(host) = url.host_str() else {
            return false;
        };
        let (host, port) = (plain(host), url.port_or_known_default());
        self.0.iter().any(|allowed| allowed.is(&host, port))
    }
}

impl Allowed {
    fn read(entry: &str) -> Self {
        let after = entry.rfind(']').map_or(0, |at| at + 1);
        let colons = entry[after..].matches(':').count();
        let (host, port) = match entry.rsplit_once(':') {
            // An address with several colons and no brackets has no port.
            Some((host, port)) if colons == 1 => (host, port.parse().ok()),
            _ => (entry, None),
        };
        let (host, is_domain) = match host.strip_prefix("*.") {
            Some(domain) => (domain, true),
            None => (host, false),
        };
        Allowed {
            host: plain(host),
            is_domain,
            port,
        }
    }

    fn is(&self, host: &str, port: Option<u16>) -> bool {
        let is_host = match self.is_domain {
            false => host == self.host,
            true => host
                .strip_suffix(&self.host)
                .is_some_and(|rest| rest.ends_with('.')),
        };
        is_host && (self.port.is_none() || self.port == port)
    }
}

/// A host without brackets and without a dot at its end, in lower case.
fn plain(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_as_the_client_reads_them() {
        let entries = [
            "couch.example.com",
            "*.inner.example",
            "10.0.0.7:5984",
            "[::1]:6984",
            "fd00::2",
        ];
        let hosts = AllowedHosts::new(entries.map(str::to_owned).to_vec());
        for allowed in [
            "http://couch.example.com/db/",
            "https://COUCH.example.com:6984/db/",
            "http://couch.example.com./db/",
            "http://a.inner.example/db",
            "http://b.a.inner.example:1/db",
            "http://10.0.0.7:5984/db/",
            "http://0x0a000007:5984/db/",
            "https://[::1]:6984/db",
            "http://[fd00:0:0::2]:80/db",
        ] {
            assert!(hosts.allow(allowed), "{allowed}");
        }
        for refused in [
            "http://example.com/db/",
            "http://xcouch.example.com/db/",
            "http://couch.example.com.evil.example/db/",
            "http://couch.example.com@evil.example/db/",
            "http://evil.example#couch.example.com/",
            "http://evil.example\\@couch.example.com/",
            "http://evil.example/@couch.example.com/",
            "http://inner.example/db",
            "http://xinner.example/db",
            "http://10.0.0.7/db/",
            "http://10.0.0.7:22/db/",
            "http://[::1]:22/db",
            "http://127.0.0.1:5984/db/",
            "no url",
        ] {
            assert!(!hosts.allow(refused), "{refused}");
        }
        assert!(AllowedHosts::default().allow("http://127.0.0.1:22/"));
    }
}
