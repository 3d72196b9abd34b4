//! `inorder copy` as a process: a kill in the middle, and what a user gets wrong.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use inorder_testing::PrivateServer;

fn start(name: &str) -> Option<PrivateServer> {
    PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"))
}

fn command(from: &str, to: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inorder"));
    command.args(["copy", from, to]);
    command
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Tables with foreign keys between them, which are copied in some seconds.
fn fill(server: &PrivateServer, tables: usize, rows: usize) {
    server.run("SET foreign_key_checks = 0");
    for table in 0..tables {
        server.run(&format!(
            "CREATE TABLE t{table} (id int PRIMARY KEY, parent int, t varchar(100), d double,
                FOREIGN KEY (parent) REFERENCES t{}(id)) DEFAULT CHARSET utf8mb4",
            (table + 1) % tables
        ));
        server.run(&format!(
            "INSERT INTO t{table} SELECT seq, seq, repeat(seq, 5), seq / 7 FROM seq_1_to_{rows}"
        ));
    }
}

#[test]
fn a_killed_copy_is_completed() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    fill(&from, 6, 30_000);
    let mut kills = 0;
    for milliseconds in [150, 400, 800, 1200] {
        let mut process = command(&from.url(), &to.url())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        sleep(Duration::from_millis(milliseconds));
        if process.try_wait().expect("its state").is_some() {
            break;
        }
        process.kill().expect("a process");
        process.wait().expect("its end");
        kills += 1;
    }
    assert!(kills > 0);
    // The server ends the connection.
    let process = command(&from.url(), &to.url())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    sleep(Duration::from_millis(700));
    let end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'inorder'";
    let ended = to.rows(end);
    let output = process.wait_with_output().expect("its end");
    if ended == ["t"] {
        let told = errors(&output);
        assert!(!output.status.success());
        assert!(
            told.contains("terminat") || told.contains("connection"),
            "{told}"
        );
    }
    let output = command(&from.url(), &to.url()).output().expect("a process");
    let is_complete = output.status.success() || errors(&output).contains("already");
    assert!(is_complete, "{}", errors(&output));
    for table in 0..6 {
        let sums = "count(*), sum(id), sum(length(t)), sum(parent)";
        let query = format!("SELECT {sums} FROM t{table}");
        assert_eq!(to.rows(&query), from.rows(&query));
    }
    let keys = to.rows("SELECT count(*) FROM pg_constraint WHERE contype IN ('p', 'f') AND conrelid::regclass::text LIKE 't%'");
    assert_eq!(keys, ["12"]);
    let left = "SELECT count(*) FROM pg_class WHERE relname = '_inorder_copy'";
    assert_eq!(to.rows(left), ["0"]);
}

#[test]
fn what_is_wrong_is_told() {
    let Some(server) = start("postgres") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, missing) = (path("a.db"), path("missing.db"));
    let db = rusqlite::Connection::open(&file).expect("a database");
    db.execute_batch(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t VALUES (1, 'x'), (2, NULL)",
    )
    .expect("rows");
    let url = server.url();
    for (from, to, words) in [
        (&*missing, &*url, "missing.db"),
        (
            &*file,
            "postgres://localhost:1/x",
            "check the host and the port",
        ),
        (
            &*file,
            &*server.url_of("nothing"),
            "name an existing database",
        ),
        (&*file, "mysql://localhost/x", "a copy goes to PostgreSQL"),
        (&*file, "oracle://x", "postgres://"),
        (&*url, &*path("b.db"), "no tables to copy"),
        (&*file, &*file, "source and destination"),
    ] {
        let output = command(from, to).output().expect("a process");
        assert!(!output.status.success(), "{from} {to}");
        let errors = errors(&output);
        assert!(
            errors.contains(words) && !errors.contains(":pw@"),
            "{errors}"
        );
    }
    let output = command(&file, &url).output().expect("a process");
    assert!(output.status.success(), "{}", errors(&output));
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(said.starts_with("t  ") && said.contains("2 rows"), "{said}");
    let again = command(&file, &url).output().expect("a process");
    assert!(
        errors(&again).contains("--replace-tables"),
        "{}",
        errors(&again)
    );
    server.run("ALTER DATABASE postgres SET default_transaction_read_only = on");
    let same = command(&url, &url).arg("--replace-tables").output();
    let same = errors(&same.expect("a process"));
    assert!(
        same.contains("source and destination") && !same.contains(":pw@"),
        "{same}"
    );
    assert_eq!(server.rows("SELECT count(*) FROM t"), ["2"]);
    let dry = command(&file, &path("dry.db")).arg("--dry-run").output();
    assert!(dry.expect("a process").status.success() && !Path::new(&path("dry.db")).exists());
    let read_only = command(&file, &url).arg("--replace-tables").output();
    let read_only = errors(&read_only.expect("a process"));
    assert!(read_only.contains("read-only"), "{read_only}");
    assert!(Path::new(&file).exists());
}

#[test]
fn a_plan_is_written_edited_and_followed() {
    let Some(server) = start("postgres") else {
        return;
    };
    server.run("CREATE TABLE t (id int PRIMARY KEY, x float8, CHECK (x::text ~ '[0-9N]'))");
    server.run("INSERT INTO t VALUES (1, 1.5), (2, 'NaN'), (3, 'NaN')");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (url, to, plan, script) = (server.url(), path("t.db"), path("plan.toml"), path("t.sql"));
    let copy = |arguments: &[&str]| {
        let output = command(&url, &to).args(arguments).output();
        let output = output.expect("a process");
        (output.status.success(), errors(&output), output.stdout)
    };
    let by_plan = ["--plan", &plan, "--script", &script, "--json"];
    let (is_written, said, _) = copy(&by_plan);
    assert!(is_written && said.contains("nothing was copied"), "{said}");
    assert!(!Path::new(&to).exists() && !Path::new(&script).exists());
    let text = std::fs::read_to_string(&plan).expect("the plan");
    let refuses = "nan = \"refuse\" # 2 values, the first in row 2";
    assert!(text.contains(refuses), "{text}");
    // The plan as it is refuses as a copy without one does.
    for arguments in [&by_plan[..], &[]] {
        let (is_copied, said, _) = copy(arguments);
        assert!(!is_copied && said.contains("NaN"), "{said}");
    }
    std::fs::write(&plan, text.replace("nan = \"refuse\"", "nan = \"null\""))
        .expect("an edited plan");
    let (is_copied, said, summary) = copy(&by_plan);
    assert!(is_copied, "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("JSON");
    let rule = &summary["tables"][0]["rules"][0];
    assert_eq!(
        (&rule["column"], &rule["values"]),
        (&"x".into(), &2.into()),
        "{summary}"
    );
    let rows =
        "SELECT group_concat(id || ' ' || ifnull(x, 'NULL')) FROM (SELECT * FROM t ORDER BY id)";
    let db = rusqlite::Connection::open(&to).expect("the copy");
    let rows: String = db.query_row(rows, [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, "1 1.5,2 NULL,3 NULL");
    let script = std::fs::read_to_string(&script).expect("the script");
    assert!(
        script.contains(".bail on") && script.contains("'[0-9N]'"),
        "{script}"
    );
    // A word that is no rule names its place.
    std::fs::write(&plan, text.replace("nan = \"refuse\"", "nan = \"nul\""))
        .expect("an edited plan");
    let (is_copied, said, _) = copy(&[&by_plan[..], &["--replace-tables"]].concat());
    assert!(
        !is_copied && said.contains("nul") && said.contains("refuse"),
        "{said}"
    );
}
