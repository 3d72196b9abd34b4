//! The last admin of a server that other machines reach, and of one that they do not reach.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The admin `anna` with the password `secret`. Few rounds, so that a login is fast.
const CONFIGURATION: &str = "[chttpd_auth]\niterations = 10\n[admins]\nanna = -pbkdf2:sha256-2fb151da5bf7a44c5470345b6ff0716d7279bbc9137299d5f1a5f62bb101ab9d,salt,10\n";

/// A server with the admin `anna`, and its port.
struct Serving(Child, u16);

impl Serving {
    fn start(folder: &Path, address: &str) -> Self {
        fs::create_dir(folder.join("data")).expect("a folder");
        fs::write(folder.join("data/local.ini"), CONFIGURATION).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_inorder-couch"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("INORDER_COUCH")) {
            command.env_remove(name);
        }
        let listen = format!("{address}:0");
        let child = command
            .args(["serve", "--dir", "data", "--listen", &listen])
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("the server starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once(&format!("listening at http://{address}:"))?;
            rest.split_once('/')?.0.parse().ok()
        });
        Serving(child, port.expect("a port"))
    }

    /// The status and the body of an answer to a user with the password `secret`.
    fn ask(&self, user: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).expect("a connection");
        let login = base64(format!("{user}:secret").as_bytes());
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {login}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let status = answer.get(9..12).and_then(|status| status.parse().ok());
        (status.expect("a status"), answer)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

const ADMINS: &str = "/_node/_local/_config/admins";

#[test]
fn the_last_admin_of_a_server_that_others_reach_stays() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), "0.0.0.0");
    let anna = format!("{ADMINS}/anna");
    let (status, told) = server.ask("anna", "DELETE", &anna, "");
    assert_eq!(status, 403, "{told}");
    assert!(
        told.contains("last admin") && told.contains("--listen"),
        "{told}"
    );
    let (status, told) = server.ask("anna", "PUT", &anna, "\"-pbkdf2-none\"");
    assert_eq!(status, 403, "{told}");
    // With another admin it can go.
    let bert = format!("{ADMINS}/bert");
    assert_eq!(server.ask("anna", "PUT", &bert, "\"secret\"").0, 200);
    assert_eq!(server.ask("anna", "DELETE", &anna, "").0, 200);
    assert_eq!(server.ask("anna", "GET", "/_all_dbs", "").0, 401);
    assert_eq!(server.ask("bert", "DELETE", &bert, "").0, 403);
    // A file without admins is not taken over.
    let file = folder.path().join("data/local.ini");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("bert ="), "{text}");
    fs::write(&file, text.replace("bert =", ";bert =")).unwrap();
    let reload = "/_node/_local/_config/_reload";
    let (status, told) = server.ask("bert", "POST", reload, "");
    assert_eq!(status, 403, "{told}");
    assert_eq!(server.ask("bert", "GET", "/_all_dbs", "").0, 200);
    assert_eq!(server.ask("carl", "GET", "/_all_dbs", "").0, 401);
    // A password in plain text will do.
    fs::write(
        &file,
        "[chttpd_auth]\niterations = 10\n[admins]\ncarl = secret\n",
    )
    .unwrap();
    assert_eq!(server.ask("bert", "POST", reload, "").0, 200);
    assert_eq!(server.ask("carl", "GET", "/_all_dbs", "").0, 200);
}

#[test]
fn the_last_admin_of_a_server_for_its_own_machine_can_be_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), "127.0.0.1");
    let anna = format!("{ADMINS}/anna");
    assert_eq!(server.ask("anna", "DELETE", &anna, "").0, 200);
    assert_eq!(server.ask("nobody", "GET", "/_all_dbs", "").0, 200);
}
