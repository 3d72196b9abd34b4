//! Certificates that the server orders by ACME from Pebble, the test server of Let's Encrypt.
//!
//! `INORDER_TEST_PEBBLE=FOLDER cargo test -p inorder-couch --test acme -- --nocapture`, where the folder has the programs
//! `pebble` and `pebble-challtestsrv`.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The variable with the folder of the programs.
const PEBBLE: &str = "INORDER_TEST_PEBBLE";

const DEADLINE: Duration = Duration::from_secs(60);

/// The lifetime of Pebble's certificates here. They are renewed after two thirds of it.
const VALID_SECONDS: u32 = 12;

const DOMAIN: &str = "notes.example.com";

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A CA with a resolver that gives every name the address 127.0.0.1.
struct Pebble {
    folder: TempDir,
    directory: String,
    /// Where it connects to for HTTP-01 and TLS-ALPN-01.
    http: u16,
    tls: u16,
    /// Where the resolver is told other addresses.
    resolver: u16,
    _processes: [Running; 2],
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a condition holds.
fn wait<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn log(folder: &Path, name: &str) -> Stdio {
    File::create(folder.join(name)).unwrap().into()
}

impl Pebble {
    fn start() -> Option<Self> {
        let Some(programs) = std::env::var_os(PEBBLE).map(PathBuf::from) else {
            eprintln!(
                "SKIPPED: no Pebble: set {PEBBLE} to the folder with pebble and pebble-challtestsrv"
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let (api, management, http, tls, dns) = (
            free_port(),
            free_port(),
            free_port(),
            free_port(),
            free_port(),
        );
        let resolver_management = free_port();
        own_certificate(folder.path());
        let config = serde_json::json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{api}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": folder.path().join("server.pem"),
            "privateKey": folder.path().join("server.key"),
            "httpPort": http,
            "tlsPort": tls,
            "profiles": { "default": { "description": "short", "validityPeriod": VALID_SECONDS } },
        }});
        let file = folder.path().join("config.json");
        fs::write(&file, config.to_string()).unwrap();
        let resolver = Command::new(programs.join("pebble-challtestsrv"))
            .args(["-dnsserver", &format!("127.0.0.1:{dns}")])
            .args(["-management", &format!("127.0.0.1:{resolver_management}")])
            .args(["-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""])
            .args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""])
            .stdout(log(folder.path(), "resolver.log"))
            .stderr(Stdio::null())
            .spawn();
        let pebble = Command::new(programs.join("pebble"))
            .arg("-config")
            .arg(&file)
            .args(["-dnsserver", &format!("127.0.0.1:{dns}")])
            // Some nonces are refused, as a CA may do, and every order is checked.
            .envs([("PEBBLE_VA_NOSLEEP", "1"), ("PEBBLE_WFE_NONCEREJECT", "5")])
            .env("PEBBLE_AUTHZREUSE", "0")
            .stdout(log(folder.path(), "pebble.log"))
            .stderr(Stdio::null())
            .spawn();
        let processes = [Running(resolver.unwrap()), Running(pebble.unwrap())];
        wait("Pebble listens", || {
            TcpStream::connect(("127.0.0.1", api)).ok()
        });
        Some(Pebble {
            directory: format!("https://localhost:{api}/dir"),
            folder,
            http,
            tls,
            resolver: resolver_management,
            _processes: processes,
        })
    }

    /// Gives every name another address.
    fn resolve_to(&self, address: &str) {
        let body = format!("{{\"ip\":\"{address}\"}}");
        let request = format!(
            "POST /set-default-ipv4 HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = wait("the resolver listens", || {
            TcpStream::connect(("127.0.0.1", self.resolver)).ok()
        });
        socket.write_all(request.as_bytes()).unwrap();
        let answer = std::io::read_to_string(socket).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
    }

    fn serve(&self, folder: &Path, more: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inorder-couch"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("INORDER_COUCH")) {
            command.env_remove(name);
        }
        let server = command
            .args(["serve", "--listen", "127.0.0.1:0", "--acme", DOMAIN])
            .args(["--acme-email", "admin@example.com"])
            .args(["--acme-directory", &self.directory])
            .args(more)
            .arg("--dir")
            .arg(folder)
            .env("SSL_CERT_FILE", self.folder.path().join("ca.pem"))
            .stderr(log(folder, "stderr"))
            .spawn();
        Running(server.unwrap())
    }
}

/// Pebble's own certificate, and that of who signed it.
fn own_certificate(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &ca).unwrap();
    fs::write(folder.join("ca.pem"), ca.as_ref().pem()).unwrap();
    fs::write(folder.join("server.pem"), certificate.pem()).unwrap();
    fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
}

/// The certificate for the domain that a server shows at a port; none if the handshake fails.
fn shown(port: u16) -> Option<Vec<u8>> {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(std::sync::Arc::new(Any))
        .with_no_client_auth();
    let name = DOMAIN.try_into().unwrap();
    let mut client = rustls::ClientConnection::new(config.into(), name).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).ok()?;
    client.complete_io(&mut socket).ok()?;
    Some(client.peer_certificates()?.first()?.to_vec())
}

/// Looks at names only. Pebble's CA is another one with each start.
#[derive(Debug)]
struct Any;

impl rustls::client::danger::ServerCertVerifier for Any {
    fn verify_server_cert(
        &self,
        certificate: &rustls::pki_types::CertificateDer<'_>,
        _: &[rustls::pki_types::CertificateDer<'_>],
        name: &rustls::pki_types::ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        let parsed = rustls::server::ParsedCertificate::try_from(certificate)?;
        rustls::client::verify_server_name(&parsed, name)?;
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The reason in the log why there is no certificate, or no newer one.
fn problem(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("stderr")).unwrap();
    let mut lines = text.lines();
    lines
        .find(|line| line.contains("no certificate"))
        .map(str::to_owned)
}

fn orders(folder: &Path) -> usize {
    let text = fs::read_to_string(folder.join("stderr")).unwrap();
    text.matches("ordering a certificate").count()
}

#[test]
fn a_certificate_is_ordered_kept_and_renewed_over_tls() {
    let Some(pebble) = Pebble::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tls = format!("127.0.0.1:{}", pebble.tls);
    let server = pebble.serve(folder.path(), &["--tls-listen", &tls]);
    let first = wait("a certificate", || shown(pebble.tls));
    for file in ["account.json", "certificate.pem"] {
        let metadata = fs::metadata(folder.path().join("acme").join(file)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{file}");
    }
    let account = fs::read(folder.path().join("acme/account.json")).unwrap();
    let second = wait("a renewed certificate", || {
        shown(pebble.tls).filter(|now| *now != first)
    });
    // The next start uses what is stored, at once.
    drop(server);
    let _server = pebble.serve(folder.path(), &["--tls-listen", &tls]);
    let third = wait("the stored certificate", || shown(pebble.tls));
    assert_eq!(second, third);
    assert_eq!(orders(folder.path()), 0, "nothing was ordered");
    let kept = fs::read(folder.path().join("acme/account.json")).unwrap();
    assert_eq!(account, kept, "the account is the same");
}

#[test]
fn a_certificate_stays_in_use_when_it_cannot_be_renewed() {
    let Some(pebble) = Pebble::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tls = format!("127.0.0.1:{}", pebble.tls);
    let _server = pebble.serve(folder.path(), &["--tls-listen", &tls]);
    let first = wait("a certificate", || shown(pebble.tls));
    // The CA no longer reaches the server.
    pebble.resolve_to("127.0.0.2");
    let problem = wait("the reason", || problem(folder.path()));
    assert!(problem.contains("the next try is in 120 s"), "{problem}");
    assert_eq!(shown(pebble.tls).as_ref(), Some(&first));
    assert_eq!(orders(folder.path()), 2, "the second one failed");
}

#[test]
fn a_certificate_is_ordered_over_http() {
    let Some(pebble) = Pebble::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (tls, http) = (free_port(), format!("127.0.0.1:{}", pebble.http));
    let tls_at = format!("127.0.0.1:{tls}");
    let options = ["--tls-listen", &tls_at, "--acme-http", &http];
    let _server = pebble.serve(folder.path(), &options);
    wait("a certificate", || shown(tls));
}

#[test]
fn a_domain_that_cannot_be_checked_is_explained() {
    let Some(pebble) = Pebble::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // The CA connects to another port.
    let tls = free_port();
    let tls_at = format!("127.0.0.1:{tls}");
    let _server = pebble.serve(folder.path(), &["--tls-listen", &tls_at]);
    let problem = wait("the reason", || problem(folder.path()));
    for part in [
        DOMAIN,
        "TLS-ALPN-01 must reach port 443",
        "the next try is in 120 s",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    assert_eq!(shown(tls), None, "a handshake fails without a certificate");
}

#[test]
fn what_is_no_domain_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_inorder-couch"))
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--acme",
            "192.0.2.1",
            "--dir",
        ])
        .arg(folder.path())
        .output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("not the full name of a domain"), "{text}");
}
