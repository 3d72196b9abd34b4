//! `inorder advise --url` as a process: which database it takes, what it writes and what it leaves, and Ctrl-C.

use inorder_engine::{Database, Settings, engine};
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const PASSWORD: &str = "t0p-secret";

/// A private PostgreSQL server in the role of one that runs already, and its URL: its socket takes any password.
fn server() -> Option<(Box<dyn Database>, String, TempDir)> {
    let engine = engine("postgres").unwrap();
    if !inorder_testing::is_installed(engine) {
        return None;
    }
    let folder = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
    let database = engine.create(folder.path(), &Settings::default()).unwrap();
    let line = fs::read(format!("/proc/{}/cmdline", database.processes()[0])).unwrap();
    let line = String::from_utf8(line).unwrap();
    let mut arguments = line.split('\0');
    let path = arguments
        .find(|argument| argument.contains("inorder-server-"))
        .unwrap()
        .replace('/', "%2F");
    let url = format!("postgres://inorder:{PASSWORD}@{path}/postgres");
    Some((database, url, folder))
}

fn command(temporary: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inorder"));
    command
        .arg("advise")
        .env("TMPDIR", temporary)
        .env_remove("INORDER_URL");
    command
}

/// Runs the command with a temporary folder of its own, which must be empty afterwards.
fn advise(arguments: &[&str], variable: Option<&str>) -> Output {
    let temporary = tempfile::tempdir().unwrap();
    let mut command = command(temporary.path());
    command.args(arguments);
    if let Some(url) = variable {
        command.env("INORDER_URL", url);
    }
    let output = command.output().unwrap();
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    for text in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(text).contains(PASSWORD));
    }
    output
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_url_is_given_by_option_or_variable_and_not_with_a_file() {
    let Some((database, url, folder)) = server() else {
        return;
    };
    let make = "CREATE TABLE t (id uuid PRIMARY KEY, a int, b int);
         INSERT INTO t SELECT gen_random_uuid(), g, g FROM generate_series(1, 20000) g;
         CREATE INDEX t_a ON t (a); CREATE INDEX t_ab ON t (a, b); VACUUM ANALYZE t";
    for statement in make.split(';') {
        database.execute(statement).unwrap();
    }
    // The command makes the folder.
    let target = folder.path().join("advice/of/today");
    let target = target.to_str().unwrap();
    let output = advise(&["--url", &url, "--write", target], None);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("begins t_ab") && said.contains("Drops the index where t_ab is"),
        "{said}"
    );
    let written = fs::read_to_string(Path::new(target).join("postgres.advise.sql")).unwrap();
    assert!(written.contains("which ran none of them") && !written.contains(PASSWORD));
    let undo = fs::read_to_string(Path::new(target).join("postgres.advise-undo.sql")).unwrap();
    assert!(undo.contains("CREATE INDEX CONCURRENTLY t_a "), "{undo}");
    assert!(database.execute("DROP INDEX t_a").is_ok());

    let output = advise(&["--format", "json"], Some(&url));
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
    // A file is taken before the variable.
    let output = advise(&["no-such.db"], Some(&url));
    assert!(errors(&output).contains("no-such.db"));
    let output = advise(&["--url", &url, "--write", "/dev/null/advice"], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("can't make /dev/null/advice"));
    let refused = [
        (
            vec!["app.db", "--url", &url],
            None,
            "both --url and the file app.db",
        ),
        (vec![], None, "name a database"),
        (vec![], Some(format!("{url} {url}")), "has several URLs"),
        (vec!["--url", &url, "--minor"], None, "are for files"),
        (
            vec!["--url", &url, "--format", "xml"],
            None,
            "there is no format `xml`",
        ),
    ];
    for (arguments, variable, words) in refused {
        let output = advise(&arguments, variable.as_deref());
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(errors(&output).contains(words), "{}", errors(&output));
    }
}

/// Ctrl-C stops the statement on the server, and leaves neither a session nor a folder.
#[test]
fn ctrl_c_ends_the_session() {
    let Some((database, url, _folder)) = server() else {
        return;
    };
    // A lock makes the session wait, for two seconds per statement.
    let make = "CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 20) g";
    database.execute(make).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    database.execute("BEGIN").unwrap();
    database
        .execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        .unwrap();
    let child = command(temporary.path())
        .args(["--url", &url])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.unwrap();
    let until = |condition: &str, expected: &str| {
        let sessions = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'inorder advise' {condition}"
        );
        let began = Instant::now();
        loop {
            // Within a transaction the sessions are those that were seen first.
            database.select("SELECT pg_stat_clear_snapshot()").unwrap();
            if database.select(&sessions).unwrap() == [[Some(expected.to_owned())]] {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{sessions}");
            sleep(Duration::from_millis(10));
        }
    };
    until("AND wait_event_type = 'Lock'", "1");
    let began = Instant::now();
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        began.elapsed() < Duration::from_millis(1900),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    until("", "0");
}
