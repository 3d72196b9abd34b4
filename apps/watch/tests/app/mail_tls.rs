//! Mails over TLS: what the program sends to a mail server with a certificate of the test's own, and what it says when it can't.

use crate::common::{PROGRAM, new_file};
use inorder_watch::db::{Database, mail, users};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(120);

/// `watch` and `secret` as SASL sends them. RFC 4616, and the usual form of LOGIN.
const PLAIN: &str = "AHdhdGNoAHNlY3JldA==";
const LOGIN: [&str; 2] = ["d2F0Y2g=", "c2VjcmV0"];

/// What a mail server offers.
#[derive(Clone, Copy)]
struct Offer {
    /// Whether it speaks TLS from the start.
    is_tls: bool,
    starttls: bool,
    mechanisms: &'static str,
}

/// What a mail server was told, each line with whether TLS hid it.
type Lines = Arc<Mutex<Vec<(bool, String)>>>;

/// A mail server with a certificate for `localhost`. RFC 5321, 3207 and 4954, as far as a client needs them.
struct MailServer {
    port: u16,
    lines: Lines,
    folder: tempfile::TempDir,
}

impl MailServer {
    fn start(offer: Offer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tls = Arc::new(certificates(folder.path()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines = Lines::default();
        let told = Arc::clone(&lines);
        // It ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that trusts nobody hangs up.
                let _ = serve(stream.unwrap(), offer, &tls, &told);
            }
        });
        MailServer {
            port,
            lines,
            folder,
        }
    }

    fn authority(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The lines of the client, and whether TLS hid each that begins with this.
    fn was_told(&self, start: &str) -> Vec<bool> {
        let lines = self.lines.lock().unwrap();
        let told = lines.iter().filter(|(_, line)| line.starts_with(start));
        told.map(|(is_hidden, _)| *is_hidden).collect()
    }
}

/// Writes the authority of the server's certificate and another one into a folder.
fn certificates(folder: &Path) -> ServerConfig {
    let authority = |name: &str| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (own, other) = (authority("own"), authority("other"));
    fs::write(folder.join("own.pem"), own.as_ref().pem()).unwrap();
    fs::write(folder.join("other.pem"), other.as_ref().pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &own).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

fn serve(
    mut stream: TcpStream,
    offer: Offer,
    tls: &Arc<ServerConfig>,
    told: &Lines,
) -> std::io::Result<()> {
    let secret = |stream| StreamOwned::new(ServerConnection::new(Arc::clone(tls)).unwrap(), stream);
    if offer.is_tls {
        let mut stream = secret(stream);
        stream.write_all(b"220 test\r\n")?;
        speak(&mut stream, true, offer, told)?;
    } else {
        stream.write_all(b"220 test\r\n")?;
        if speak(&mut stream, false, offer, told)? {
            speak(&mut secret(stream), true, offer, told)?;
        }
    }
    Ok(())
}

/// Reads a line, and no byte of what follows: that may be TLS.
fn line(stream: &mut impl Read) -> std::io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Speaks with a client until it quits, or wants to begin with TLS.
fn speak(
    stream: &mut (impl Read + Write),
    is_hidden: bool,
    offer: Offer,
    told: &Lines,
) -> std::io::Result<bool> {
    let mut is_known = false;
    loop {
        let said = line(stream)?;
        told.lock().unwrap().push((is_hidden, said.clone()));
        let answer = match said.split(' ').next().unwrap_or_default() {
            "EHLO" => {
                let starttls = if offer.starttls && !is_hidden {
                    "250-STARTTLS\r\n"
                } else {
                    ""
                };
                format!("250-test\r\n{starttls}250 AUTH {}", offer.mechanisms)
            }
            "STARTTLS" => {
                stream.write_all(b"220 go on\r\n")?;
                return Ok(true);
            }
            "AUTH" => {
                is_known = match said.as_str() {
                    "AUTH LOGIN" => {
                        let mut asked = |prompt: &str| {
                            stream.write_all(format!("334 {prompt}\r\n").as_bytes())?;
                            line(stream)
                        };
                        [asked("VXNlcm5hbWU6")?, asked("UGFzc3dvcmQ6")?] == LOGIN
                    }
                    plain => plain == format!("AUTH PLAIN {PLAIN}"),
                };
                match is_known {
                    true => "235 welcome".to_owned(),
                    false => "535 5.7.8 wrong name or password".to_owned(),
                }
            }
            "MAIL" if !is_known => "530 5.7.0 who are you".to_owned(),
            "DATA" => {
                stream.write_all(b"354 go on\r\n")?;
                while line(stream)? != "." {}
                "250 taken".to_owned()
            }
            "QUIT" => {
                stream.write_all(b"221 bye\r\n")?;
                return Ok(false);
            }
            _ => "250 fine".to_owned(),
        };
        stream.write_all(format!("{answer}\r\n").as_bytes())?;
    }
}

/// The program, which ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has the program send a mail, trusting this authority. Returns the line of its log that says why it couldn't, or none once it did.
fn send(server: &MailServer, url: &str, authority: &str) -> Option<String> {
    let (_folder, db) = new_file();
    let database = Database::open(&db).unwrap();
    let add = |db: &rusqlite::Connection| {
        let user = users::add(db, "Anna", None)?;
        mail::set(db, user.number, Some("anna@example.org"), false, true)
    };
    assert!(database.write_now(add).unwrap());
    drop(database);
    let url = url.replace("PORT", &server.port.to_string());
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--listen", "127.0.0.1:0", "--db"])
        .arg(&db)
        .args(["--mail-from", "watch@example.org"])
        .args(["--site", "https://watch.example.org"])
        .env("INORDER_WATCH_SMTP", url)
        .env("SSL_CERT_FILE", server.authority(authority))
        .env_remove("SSL_CERT_DIR")
        .env_remove("INORDER_WATCH_LOG")
        .env("NO_COLOR", "1")
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let log = BufReader::new(child.stderr.take().unwrap());
    let _running = Running(child);
    let (tell, failed) = mpsc::channel();
    thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if line.contains("could not be sent") {
                let _ = tell.send(line);
            }
        }
    });
    let mut waited = Duration::ZERO;
    let pause = Duration::from_millis(50);
    while waited < PATIENCE {
        if let Ok(line) = failed.recv_timeout(pause) {
            return Some(line);
        }
        if server.was_told("QUIT").len() + server.was_told("DATA").len() > 0 {
            return None;
        }
        waited += pause;
    }
    panic!("neither a mail nor a reason")
}

const TLS: &str = "smtps://watch:secret@localhost:PORT";
const STARTTLS: &str = "smtp://watch:secret@localhost:PORT?tls=required";

#[test]
fn mails_go_over_tls_with_each_way_to_sign_in() {
    for (is_tls, url) in [(true, TLS), (false, STARTTLS)] {
        for mechanisms in ["PLAIN LOGIN", "PLAIN", "LOGIN"] {
            let server = MailServer::start(Offer {
                is_tls,
                starttls: true,
                mechanisms,
            });
            assert_eq!(send(&server, url, "own.pem"), None, "{url} {mechanisms}");
            // Neither the password nor the mail was readable.
            for command in ["AUTH", "MAIL", "DATA"] {
                assert_eq!(server.was_told(command), [true], "{url} {mechanisms}");
            }
        }
    }
}

#[test]
fn a_wrong_password_is_told_and_no_mail_is_sent() {
    for (is_tls, url) in [(true, TLS), (false, STARTTLS)] {
        let server = MailServer::start(Offer {
            is_tls,
            starttls: true,
            mechanisms: "PLAIN LOGIN",
        });
        let reason = send(&server, &url.replace("secret", "wrong"), "own.pem").unwrap();
        assert!(
            reason.contains("535") && reason.contains("wrong name or password"),
            "{reason}"
        );
        assert!(!reason.contains("secret"), "{reason}");
        assert!(server.was_told("MAIL").is_empty());
    }
}

#[test]
fn a_certificate_that_is_not_trusted_is_told_and_the_password_is_not_sent() {
    for (is_tls, url) in [(true, TLS), (false, STARTTLS)] {
        let server = MailServer::start(Offer {
            is_tls,
            starttls: true,
            mechanisms: "PLAIN LOGIN",
        });
        let reason = send(&server, url, "other.pem").unwrap();
        assert!(
            reason.contains("invalid peer certificate: UnknownIssuer"),
            "{reason}"
        );
        assert!(server.was_told("AUTH").is_empty() && server.was_told("MAIL").is_empty());
    }
    // Its certificate is for another name.
    let server = MailServer::start(Offer {
        is_tls: true,
        starttls: true,
        mechanisms: "PLAIN LOGIN",
    });
    let reason = send(&server, &TLS.replace("localhost", "127.0.0.1"), "own.pem").unwrap();
    assert!(
        reason.contains("invalid peer certificate: certificate not valid for name"),
        "{reason}"
    );
}

#[test]
fn without_starttls_neither_the_password_nor_the_mail_is_sent() {
    let server = MailServer::start(Offer {
        is_tls: false,
        starttls: false,
        mechanisms: "PLAIN LOGIN",
    });
    let reason = send(&server, STARTTLS, "own.pem").unwrap();
    assert!(reason.to_lowercase().contains("starttls"), "{reason}");
    assert!(server.was_told("AUTH").is_empty() && server.was_told("MAIL").is_empty());
}
