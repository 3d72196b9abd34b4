//! The command, as it is used in a shell.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inorder-couch"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("INORDER_COUCH")) {
        command.env_remove(name);
    }
    command
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    let output = command().args(arguments).current_dir(folder).output();
    output.expect("the command starts")
}

fn with_input(arguments: &[&str], folder: &Path, input: &str) -> Output {
    let child = command()
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A server, and its URL.
struct Serving(Child, String);

impl Serving {
    fn start(folder: &Path) -> Self {
        let child = command()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("the server starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let url = lines.map_while(Result::ok).find_map(|line| {
            Some(
                line.split_once("listening at ")?
                    .1
                    .split_once("/ ")?
                    .0
                    .to_owned(),
            )
        });
        Serving(child, url.expect("an address"))
    }

    /// Its exit code after SIGTERM.
    fn stop(mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(sent.expect("kill starts").success());
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const FILMS: &str = "{\"_id\":\"alien\",\"_rev\":\"3-abc\",\"year\":1979}\n{\"_id\":\"brazil\",\"_rev\":\"1-5d0ad1aff08bf5e5bd5ab7ad4cdc2de0\",\"year\":1985.0}\n";

#[test]
fn what_is_exported_is_imported_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let imported = with_input(&["import", "films"], folder.path(), FILMS);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    assert_eq!(text(&imported.stderr), "2 documents written\n");
    let exported = run(&["export", "films"], folder.path());
    assert_eq!(text(&exported.stdout), FILMS);
    let file = run(&["export", "films", "films.jsonl"], folder.path());
    assert!(file.status.success() && file.stdout.is_empty());
    let again = run(&["export", "films", "films.jsonl"], folder.path());
    assert_eq!(again.status.code(), Some(1), "no file is overwritten");
    let dump = "{\"total_rows\":1,\"offset\":0,\"rows\":[\r\n{\"id\":\"a\",\"key\":\"a\",\"value\":{\"rev\":\"1-a\"},\"doc\":{\"_id\":\"a\",\"_rev\":\"1-a\",\"x\":1}}\r\n]}\n";
    assert!(
        with_input(&["import", "dump"], folder.path(), dump)
            .status
            .success()
    );
    let exported = run(&["export", "dump"], folder.path());
    assert_eq!(
        text(&exported.stdout),
        "{\"_id\":\"a\",\"_rev\":\"1-a\",\"x\":1}\n"
    );
    let wrong = with_input(
        &["import", "films"],
        folder.path(),
        "{\"_id\":\"a\"}\nno JSON\n",
    );
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        text(&wrong.stderr).contains("line 2"),
        "{}",
        text(&wrong.stderr)
    );
    let documents = "{\"_id\":\"b\"}\n{\"_id\":\"c\",\"x\":1e400}\n{\"_id\":\"d\"}\n";
    let partly = with_input(&["import", "others"], folder.path(), documents);
    assert_eq!(partly.status.code(), Some(1));
    let said = text(&partly.stderr);
    assert!(said.contains("refused: line 2: "), "{said}");
    assert!(said.contains("2 documents written"), "{said}");
    let exported = run(&["export", "others"], folder.path());
    assert_eq!(text(&exported.stdout).lines().count(), 2);
    let illegal = with_input(&["import", "Bad"], folder.path(), "{}\n");
    let said = text(&illegal.stderr);
    assert!(said.contains("illegal_database_name"), "{said}");
}

#[test]
fn a_document_with_the_fields_of_a_row_is_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let documents = concat!(
        "{\"_id\":\"c\",\"_rev\":\"1-a\",\"key\":\"k2\",\"doc\":{\"_id\":\"b\",\"v\":1}}\n",
        "{\"_id\":\"e\",\"_rev\":\"1-a\",\"key\":1,\"doc\":null}\n",
        "{\"_id\":\"f\",\"_rev\":\"1-a\",\"id\":\"x\",\"key\":\"x\",\"value\":{},\"doc\":{}}\n",
    );
    let imported = with_input(&["import", "db"], folder.path(), documents);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let exported = run(&["export", "db"], folder.path());
    assert_eq!(text(&exported.stdout), documents);
    let no_id = "{\"key\":1,\"doc\":{\"_id\":\"b\"}}\n";
    let imported = with_input(&["import", "own"], folder.path(), no_id);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let exported = run(&["export", "own"], folder.path());
    let exported = text(&exported.stdout);
    assert!(
        exported.contains("\"key\":1,\"doc\":{\"_id\":\"b\"}"),
        "{exported}"
    );
}

/// Answers requests for a database `db` of 1,200 documents, of which it sends more than 64 MiB where more than 500 are asked
/// for at once. Returns its URL.
fn large_database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/db", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&connection).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let number = |name: &str| {
                let text = first.split_once(name)?.1;
                let digits = text
                    .chars()
                    .take_while(char::is_ascii_digit)
                    .collect::<String>();
                digits.parse::<usize>().ok()
            };
            let body = match number("limit=") {
                None => "{\"doc_count\":1200}".to_owned(),
                Some(501..) => " ".repeat((64 << 20) + 1),
                Some(limit) => {
                    let from = number("startkey=%22").map_or(0, |last| last + 1);
                    let row =
                        |at| format!("{{\"id\":\"{at:04}\",\"doc\":{{\"_id\":\"{at:04}\"}}}}");
                    let rows: Vec<String> = (from..1200.min(from + limit)).map(row).collect();
                    format!("{{\"rows\":[{}]}}", rows.join(","))
                }
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = (&connection).write_all(head.as_bytes());
            let _ = (&connection).write_all(body.as_bytes());
        }
    });
    url
}

#[test]
fn an_export_asks_for_fewer_large_documents_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let exported = run(&["export", &large_database()], folder.path());
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    let lines: Vec<String> = (0..1200)
        .map(|at| format!("{{\"_id\":\"{at:04}\"}}\n"))
        .collect();
    assert_eq!(text(&exported.stdout), lines.concat());
}

#[test]
fn a_failed_export_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let failed = run(&["export", "none", "out.jsonl"], folder.path());
    assert_eq!(failed.status.code(), Some(1));
    assert!(!folder.path().join("out.jsonl").exists());
    // A file of another is kept.
    fs::write(folder.path().join("mine"), "x").unwrap();
    let failed = run(&["export", "none", "mine"], folder.path());
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(fs::read(folder.path().join("mine")).unwrap(), b"x");
}

#[test]
fn a_server_is_backed_up_and_ends_when_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path());
    let url = format!("{}/films", server.1);
    let imported = with_input(&["import", &url], folder.path(), FILMS);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    fs::create_dir(folder.path().join("restored")).unwrap();
    let backup = run(&["backup", "films", "restored/films.sqlite"], folder.path());
    assert!(backup.status.success(), "{}", text(&backup.stderr));
    let restored = run(&["export", "films", "--dir", "restored"], folder.path());
    assert_eq!(text(&restored.stdout), FILMS);
    assert_eq!(text(&run(&["export", &url], folder.path()).stdout), FILMS);
    for (arguments, said) in [
        (
            &["backup", "films", "restored/films.sqlite"][..],
            "restored/films.sqlite",
        ),
        (&["backup", "none", "b"], "none: Database does not exist."),
        (&["export", "films"], "give the URL of the database"),
        (
            &["serve", "--listen", "127.0.0.1:0"],
            "another process uses this folder",
        ),
    ] {
        let refused = run(arguments, folder.path());
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        assert!(
            text(&refused.stderr).contains(said),
            "{}",
            text(&refused.stderr)
        );
    }
    assert_eq!(server.stop(), Some(0));
    assert_eq!(
        text(&run(&["export", "films"], folder.path()).stdout),
        FILMS
    );
}

#[test]
fn a_folder_that_cannot_be_used_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    let mut cases = vec![
        ("file", "names a file; name another folder"),
        ("file/below", "names a file; name another folder"),
    ];
    // The mode of a folder does not stop root.
    if fs::write(closed.join("file"), "").is_err() {
        cases.push(("closed", "change its owner or mode"));
        cases.push(("closed/below", "change its owner or mode"));
    }
    for (name, said) in cases {
        let refused = run(
            &["serve", "--listen", "127.0.0.1:0", "--dir", name],
            folder.path(),
        );
        assert_eq!(refused.status.code(), Some(1), "{name}");
        let told = text(&refused.stderr);
        assert!(told.contains(name) && told.contains(said), "{told}");
    }
}

#[test]
fn a_server_without_an_admin_stays_on_its_machine() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(&["serve", "--listen", "0.0.0.0:0"], folder.path());
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("--admin NAME"),
        "{}",
        text(&refused.stderr)
    );
    for arguments in [
        &["serve", "--listen", "nowhere"][..],
        &["serve", "--admin", "a:b"],
        &["serve", "--log", "inorder_couch=loud"],
        &["serve", "--password-file", "x"],
    ] {
        let refused = run(arguments, folder.path());
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{arguments:?}: {}",
            text(&refused.stderr)
        );
    }
    let no_password = with_input(&["serve", "--admin", "anna"], folder.path(), "");
    assert_eq!(no_password.status.code(), Some(1));
    assert!(text(&no_password.stderr).contains("INORDER_COUCH_PASSWORD"));
}

/// The files below a folder that others than their owner may read or write.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mut open = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let metadata = entry.metadata().expect("metadata");
        if metadata.is_dir() {
            open.extend(open_to_others(&entry.path()));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            open.push(format!(
                "{:o} {}",
                metadata.permissions().mode(),
                entry.path().display()
            ));
        }
    }
    open
}

#[test]
fn nobody_but_the_owner_may_read_what_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let attachment = "{\"_id\":\"a\",\"_attachments\":{\"x\":{\"data\":\"aGVsbG8=\"}}}\n";
    let imported = with_input(&["import", "films"], path, attachment);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let server = Serving::start(path);
    let url = format!("{}/other", server.1);
    assert!(with_input(&["import", &url], path, FILMS).status.success());
    assert!(
        run(&["backup", "films", "copy.sqlite"], path)
            .status
            .success()
    );
    assert!(run(&["export", &url, "films.jsonl"], path).status.success());
    let beside = path.join("data/other.sqlite-wal");
    assert!(beside.exists(), "the log is there while the server runs");
    assert_eq!(open_to_others(path), Vec::<String>::new());
    assert_eq!(server.stop(), Some(0));
    // Files of an earlier version are closed, what was opened to a group stays so.
    let set = |file: &str, mode| {
        fs::set_permissions(path.join(file), fs::Permissions::from_mode(mode)).expect("own files");
    };
    set("data/films.sqlite", 0o644);
    set("data/other.sqlite", 0o640);
    fs::write(path.join("data/notes.txt"), "not a database").expect("a file");
    set("data/notes.txt", 0o644);
    assert_eq!(Serving::start(path).stop(), Some(0));
    let mut open = open_to_others(path);
    open.sort();
    let names = open
        .iter()
        .map(|line| line.rsplit('/').next().unwrap_or_default());
    assert_eq!(names.collect::<Vec<_>>(), ["other.sqlite", "notes.txt"]);
}

#[test]
fn any_origin_is_refused_where_there_is_no_admin() {
    let folder = tempfile::tempdir().expect("a folder");
    for origins in [
        "*",
        "null",
        "https://app.example.com,*",
        "https://app.example.com, null",
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--cors-origin", origins];
        let refused = run(&serve, folder.path());
        assert_eq!(refused.status.code(), Some(2), "{origins}");
        let reason = text(&refused.stderr);
        assert!(
            reason.contains("no admin") && reason.contains("--admin"),
            "{reason}"
        );
    }
}

#[test]
fn a_server_for_livesync_prints_its_setup_uri_once() {
    let folder = tempfile::tempdir().unwrap();
    // A hash of the usual 600,000 rounds takes long without optimisation.
    fs::create_dir(folder.path().join("data")).unwrap();
    let file = folder.path().join("data/local.ini");
    fs::write(&file, "[chttpd_auth]\niterations = 2\n").unwrap();
    let start = || {
        let child = command()
            .args([
                "serve",
                "--livesync",
                "--livesync-url",
                "https://notes.example.com/",
                "--listen",
                "127.0.0.1:0",
            ])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("the server starts");
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut lines = lines.map_while(Result::ok);
        assert!(lines.any(|line| line.contains("listening at http://127.0.0.1:")));
        let stdout = child.stdout.take().expect("a pipe");
        let serving = Serving(child, String::new());
        assert_eq!(serving.stop(), Some(0));
        std::io::read_to_string(stdout).expect("text")
    };
    let first = start();
    assert!(
        first.starts_with("setup URI: obsidian://setuplivesync?settings=%25%24"),
        "{first}"
    );
    assert!(first.contains("\npassphrase of the setup URI: "), "{first}");
    let written = fs::read_to_string(&file).unwrap();
    for line in [
        "livesync = -pbkdf2:sha256-",
        "require_valid_user = true",
        "origins = app://obsidian.md,",
    ] {
        assert!(written.contains(line), "{line}: {written}");
    }
    assert!(folder.path().join("data/obsidian.sqlite").exists());
    assert_eq!(start(), "");
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    // A lost one is replaced by another, with a new password.
    let renew = [
        "livesync-uri",
        "--livesync-url",
        "https://notes.example.com",
    ];
    let renewed = with_input(&renew, folder.path(), "of the vault\n");
    assert!(renewed.status.success(), "{}", text(&renewed.stderr));
    assert!(text(&renewed.stdout).starts_with("setup URI: obsidian://setuplivesync?settings="));
    assert_ne!(fs::read_to_string(&file).unwrap(), written);
    let refused = with_input(&renew, folder.path(), "\n");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("the passphrase is empty"));
}

#[test]
fn health_tells_a_server_that_answers_from_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path());
    let up = run(&["health", &serving.1], folder.path());
    assert_eq!(up.status.code(), Some(0), "{}", text(&up.stderr));
    let wrong_place = run(
        &["health", &format!("{}/missing", serving.1)],
        folder.path(),
    );
    assert!(text(&wrong_place.stderr).contains("answers 404"));
    let url = serving.1.clone();
    drop(serving);
    let down = run(&["health", &url], folder.path());
    assert_eq!(down.status.code(), Some(1));
    assert!(text(&down.stderr).contains("does not answer"));
}
