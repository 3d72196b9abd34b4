//! Connections by URL with TLS, to servers with certificates that are made here.
#![cfg(target_os = "linux")]

mod common;

use common::running::{PASSWORD, Running};
use inorder_engine::{
    Engine, Error,
    remote::{ReadLimits, ReadOnly, Remote, ServerUrl},
};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// An authority, and the certificates that it signs.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Authority { pem, issuer }
    }

    /// A certificate and its key, for these hosts or for a client of this name.
    fn sign(&self, hosts: &[&str], name: &str) -> [String; 2] {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        [certificate.pem(), key.serialize_pem()]
    }
}

/// Who may connect to PostgreSQL, and how.
const RULES: &str = "hostssl all secured 127.0.0.1/32 scram-sha-256
hostnossl all clear 127.0.0.1/32 scram-sha-256
hostssl all certified 127.0.0.1/32 cert
host all boss 127.0.0.1/32 scram-sha-256
";

/// A server with TLS, and the files of its clients.
struct Secure {
    running: Running,
    folder: TempDir,
}

impl Secure {
    /// The server's certificate is for `localhost` and not for its address.
    fn start(engine: &'static dyn Engine) -> Self {
        let (own, other) = (Authority::new("own"), Authority::new("other"));
        let [certificate, key] = own.sign(&["localhost"], "server");
        let files = [
            ("server.crt", certificate),
            ("server.key", key),
            ("root.crt", own.pem.clone()),
            ("rules.conf", RULES.to_owned()),
        ];
        let postgres: &[&str] = &[
            "-cssl=on",
            "-cssl_cert_file=FOLDER/server.crt",
            "-cssl_key_file=FOLDER/server.key",
            "-cssl_ca_file=FOLDER/root.crt",
            "-chba_file=FOLDER/rules.conf",
        ];
        let mariadb: &[&str] = &[
            "--ssl-cert=FOLDER/server.crt",
            "--ssl-key=FOLDER/server.key",
            "--ssl-ca=FOLDER/root.crt",
        ];
        let is_postgres = engine.name() == "postgres";
        let further = if is_postgres { postgres } else { mariadb };
        let running = Running::start_with(engine, &files, further);
        let users: &[&str] = match is_postgres {
            true => &[
                "CREATE ROLE secured LOGIN PASSWORD 't0p-secret'",
                "CREATE ROLE clear LOGIN PASSWORD 't0p-secret'",
                "CREATE ROLE certified LOGIN",
            ],
            false => &[
                "CREATE USER secured@'%' IDENTIFIED BY 't0p-secret' REQUIRE SSL",
                "CREATE USER certified@'%' IDENTIFIED BY 't0p-secret' REQUIRE X509",
            ],
        };
        for user in users {
            running.sql(user).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = own.sign(&[], "certified");
        for (name, content) in [
            ("root.crt", own.pem),
            ("other.crt", other.pem),
            ("client.crt", certificate),
            ("client.key", key),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Secure { running, folder }
    }

    fn is_postgres(&self) -> bool {
        self.running.engine.name() == "postgres"
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Whether a session of this user, at this host and with these parameters, is encrypted.
    fn is_encrypted(&self, user: &str, host: &str, parameters: &str) -> Result<bool, String> {
        let url = self.running.url(user, PASSWORD).replace("127.0.0.1", host);
        let parameters = parameters.replace("FOLDER", &self.folder.path().display().to_string());
        let mut session = session(&format!("{url}?{parameters}")).map_err(|error| {
            let error = error.to_string();
            assert!(!error.contains(PASSWORD), "{error}");
            error
        })?;
        Ok(is_encrypted(&mut session, self.is_postgres()))
    }
}

fn session(url: &str) -> Result<ReadOnly, Error> {
    let limits = ReadLimits {
        statement_max: Duration::from_secs(60),
        lock_max: Duration::from_secs(10),
    };
    Remote::at(&ServerUrl::parse(url)?)?.read_only(limits)
}

fn is_encrypted(session: &mut ReadOnly, is_postgres: bool) -> bool {
    let rows = match is_postgres {
        true => session.rows("SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()"),
        false => session.rows(
            "SELECT variable_value <> '' FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'",
        ),
    };
    let value = rows.unwrap().swap_remove(0).swap_remove(0);
    ["t", "1"].contains(&value.as_deref().unwrap())
}

/// Cases: user, host, parameters, and whether the session is encrypted, or words of the error.
type Cases<'a> = &'a [(&'a str, &'a str, &'a str, Result<bool, &'a [&'a str]>)];

fn check(secure: &Secure, cases: Cases<'_>) {
    for (user, host, parameters, expected) in cases {
        let found = secure.is_encrypted(user, host, parameters);
        let what = format!("{user} {host} {parameters}: {found:?}");
        match expected {
            Ok(is_encrypted) => assert_eq!(found.as_ref(), Ok(is_encrypted), "{what}"),
            Err(words) => {
                let error = found.expect_err(&what);
                assert!(words.iter().all(|word| error.contains(word)), "{what}");
            }
        }
    }
}

const HERE: &str = "127.0.0.1";

/// The modes of libpq, and what its documentation says of them.
const OF_POSTGRES: Cases<'static> = &[
    ("boss", HERE, "", Ok(true)),
    ("boss", HERE, "sslmode=disable", Ok(false)),
    ("boss", HERE, "sslmode=allow", Ok(false)),
    ("boss", HERE, "sslmode=prefer", Ok(true)),
    ("boss", HERE, "sslmode=require", Ok(true)),
    (
        "boss",
        HERE,
        "sslmode=maybe",
        Err(&["disable, allow, prefer, require, verify-ca, verify-full"]),
    ),
    // A file of authorities is used by `require`.
    (
        "boss",
        HERE,
        "sslmode=require&sslrootcert=FOLDER/other.crt",
        Err(&["no trusted authority", "sslrootcert"]),
    ),
    (
        "boss",
        HERE,
        "sslmode=prefer&sslrootcert=FOLDER/other.crt",
        Ok(true),
    ),
    (
        "boss",
        HERE,
        "sslmode=verify-ca&sslrootcert=FOLDER/root.crt",
        Ok(true),
    ),
    (
        "boss",
        HERE,
        "sslmode=verify-ca&sslrootcert=FOLDER/other.crt",
        Err(&["no trusted authority"]),
    ),
    (
        "boss",
        "localhost",
        "sslmode=verify-full&sslrootcert=FOLDER/root.crt",
        Ok(true),
    ),
    (
        "boss",
        HERE,
        "sslmode=verify-full&sslrootcert=FOLDER/root.crt",
        Err(&["another host", "localhost"]),
    ),
    (
        "boss",
        "localhost",
        "sslmode=verify-full&sslrootcert=FOLDER/other.crt",
        Err(&["no trusted authority"]),
    ),
    (
        "boss",
        "localhost",
        "sslrootcert=system",
        Err(&["no trusted authority"]),
    ),
    (
        "boss",
        HERE,
        "sslmode=require&sslrootcert=system",
        Err(&["verify-full"]),
    ),
    (
        "boss",
        HERE,
        "sslmode=verify-ca&sslrootcert=FOLDER/absent",
        Err(&["absent"]),
    ),
    (
        "boss",
        HERE,
        "sslmode=verify-ca&sslrootcert=FOLDER/client.key",
        Err(&["client.key", "no certificate"]),
    ),
    // What the server demands.
    ("secured", HERE, "", Ok(true)),
    ("secured", HERE, "sslmode=allow", Ok(true)),
    (
        "secured",
        HERE,
        "sslmode=disable",
        Err(&["no encryption", "sslmode=prefer"]),
    ),
    ("clear", HERE, "", Ok(false)),
    (
        "clear",
        HERE,
        "sslmode=require",
        Err(&["no pg_hba.conf entry"]),
    ),
    ("certified", HERE, "", Err(&["certificate"])),
    (
        "certified",
        HERE,
        "sslcert=FOLDER/client.crt&sslkey=FOLDER/client.key",
        Ok(true),
    ),
    (
        "certified",
        HERE,
        "sslcert=FOLDER/client.crt",
        Err(&["sslkey"]),
    ),
    (
        "certified",
        HERE,
        "sslcert=FOLDER/client.crt&sslkey=FOLDER/root.crt",
        Err(&["root.crt", "key"]),
    ),
];

#[test]
fn postgres_has_the_modes_of_libpq() {
    let Some(engine) = one("postgres") else {
        return;
    };
    let secure = Secure::start(engine);
    check(&secure, OF_POSTGRES);
    let key = secure.file("client.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let parameters = "sslcert=FOLDER/client.crt&sslkey=FOLDER/client.key";
    check(
        &secure,
        &[(
            "certified",
            HERE,
            parameters,
            Err(&["client.key", "other users"]),
        )],
    );
    cancels(&secure);
}

/// The modes of MySQL's clients.
const OF_MARIADB: Cases<'static> = &[
    ("boss", HERE, "", Ok(true)),
    ("boss", HERE, "ssl-mode=DISABLED", Ok(false)),
    ("boss", HERE, "ssl-mode=preferred", Ok(true)),
    ("boss", HERE, "ssl-mode=REQUIRED", Ok(true)),
    ("boss", HERE, "require_ssl=true", Ok(true)),
    (
        "boss",
        HERE,
        "ssl-mode=maybe",
        Err(&["disabled, preferred, required, verify_identity"]),
    ),
    (
        "boss",
        HERE,
        "ssl-mode=VERIFY_CA",
        Err(&["verify_identity"]),
    ),
    (
        "boss",
        "localhost",
        "ssl-mode=VERIFY_IDENTITY&ssl-ca=FOLDER/root.crt",
        Ok(true),
    ),
    ("boss", "localhost", "ssl-ca=FOLDER/root.crt", Ok(true)),
    (
        "boss",
        HERE,
        "ssl-ca=FOLDER/root.crt",
        Err(&["another host", "localhost"]),
    ),
    (
        "boss",
        "localhost",
        "ssl-ca=FOLDER/other.crt",
        Err(&["no trusted authority", "ssl-ca"]),
    ),
    (
        "boss",
        "localhost",
        "ssl-mode=verify_identity",
        Err(&["no trusted authority"]),
    ),
    ("boss", HERE, "ssl-ca=FOLDER/absent", Err(&["absent"])),
    ("secured", HERE, "", Ok(true)),
    ("secured", HERE, "ssl-mode=disabled", Err(&["without TLS"])),
    ("certified", HERE, "", Err(&["the password"])),
    (
        "certified",
        HERE,
        "ssl-cert=FOLDER/client.crt&ssl-key=FOLDER/client.key",
        Ok(true),
    ),
    (
        "certified",
        HERE,
        "ssl-cert=FOLDER/client.crt",
        Err(&["ssl-key"]),
    ),
];

#[test]
fn mariadb_has_modes_of_mysql() {
    let Some(engine) = one("mariadb") else {
        return;
    };
    let secure = Secure::start(engine);
    check(&secure, OF_MARIADB);
    cancels(&secure);
}

/// A statement is stopped over another connection, which is encrypted too.
fn cancels(secure: &Secure) {
    let (required, wait) = match secure.is_postgres() {
        true => ("sslmode=require", "SELECT pg_sleep(50)"),
        false => (
            "ssl-mode=required",
            "SELECT sleep(50) + id FROM (SELECT 1 AS id) AS one",
        ),
    };
    let url = format!("{}?{required}", secure.running.url("secured", PASSWORD));
    let mut session = session(&url).unwrap();
    let cancel = session.cancel();
    let (ended, has_ended) = std::sync::mpsc::channel::<()>();
    let stopping = thread::spawn(move || {
        // It may not have begun yet.
        while has_ended.recv_timeout(Duration::from_millis(50)).is_err() {
            cancel();
        }
    });
    let answer = session.rows(wait);
    ended.send(()).unwrap();
    stopping.join().unwrap();
    // MariaDB's `sleep` ends early with 1.
    let is_stopped = match &answer {
        Err(_) => true,
        Ok(rows) => rows[0][0].as_deref() == Some("2"),
    };
    assert!(is_stopped, "{answer:?}");
}

/// The engine of this name, if it is installed.
fn one(name: &str) -> Option<&'static dyn Engine> {
    common::servers()
        .into_iter()
        .find(|engine| engine.name() == name)
}

/// A port that leads to another one, and what clients have sent to it.
fn recorder(to: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&sent);
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let server = TcpStream::connect((HERE, to)).unwrap();
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let all = Arc::clone(&all);
            thread::spawn(move || {
                let mut bytes = [0; 1 << 12];
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    all.lock().unwrap().extend_from_slice(&bytes[..count]);
                    if into.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                _ = into.shutdown(Shutdown::Both);
            });
            let (mut from, mut into) = (server, client);
            thread::spawn(move || {
                _ = std::io::copy(&mut from, &mut into);
                _ = into.shutdown(Shutdown::Both);
            });
        }
    });
    (port, sent)
}

#[test]
fn nothing_is_sent_to_a_server_without_tls_that_must_have_it() {
    for running in Running::all() {
        let (port, sent) = recorder(running.port());
        let (required, preferred, asked) = match running.engine.name() {
            // The request for TLS.
            "postgres" => ("sslmode=require", "sslmode=prefer", 8),
            // The end of the connection.
            _ => ("ssl-mode=required", "ssl-mode=preferred", 5),
        };
        let url = running
            .admin()
            .replace(&running.port().to_string(), &port.to_string());
        let error = session(&format!("{url}?{required}")).map(drop).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("has no TLS") && error.contains("ssh -L"),
            "{error}"
        );
        assert!(sent.lock().unwrap().len() <= asked);
        // The same server without the demand.
        let mut session = session(&format!("{url}?{preferred}")).unwrap();
        assert!(!is_encrypted(&mut session, asked == 8));
        let sent = sent.lock().unwrap();
        let has_user = sent.windows(4).any(|bytes| bytes == b"boss");
        assert!(has_user && sent.len() > 100, "{}", sent.len());
    }
}

#[test]
fn nothing_can_be_read_on_the_way_of_an_encrypted_connection() {
    for name in ["postgres", "mariadb"] {
        let Some(engine) = one(name) else {
            continue;
        };
        let secure = Secure::start(engine);
        let (port, sent) = recorder(secure.running.port());
        let own = secure.running.port().to_string();
        let url = secure
            .running
            .url("secured", PASSWORD)
            .replace(&own, &port.to_string());
        let mut session = session(&url).unwrap();
        assert!(is_encrypted(&mut session, secure.is_postgres()));
        let sent = sent.lock().unwrap();
        let has = |text: &[u8]| sent.windows(text.len()).any(|bytes| bytes == text);
        assert!(sent.len() > 500 && !has(b"secured") && !has(b"SELECT"));
    }
}

/// Sockets have no TLS, whatever the URL says.
#[test]
fn files_of_the_url_are_named_where_they_are_wrong() {
    let parse = |url: &str| ServerUrl::parse(url).and_then(|url| Remote::at(&url).map(drop));
    for (url, words) in [
        ("mysql://me@127.0.0.1:1/?ssl-cert=/absent/a", "/absent/a"),
        (
            "postgres://me@127.0.0.1:1/d?sslmode=verify-full&sslrootcert=/absent/b",
            "/absent/b",
        ),
        (
            "postgres://me@%2Fabsent/d?sslmode=maybe",
            "sslmode is one of",
        ),
    ] {
        let error = parse(url).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(!Path::new("/absent").exists());
}
