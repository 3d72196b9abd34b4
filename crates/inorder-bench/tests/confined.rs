//! What the SQL of an experiment file may not do: each statement of a hostile list is refused with the name of
//! its field, and what it was aimed at is as before.

use inorder_bench::{
    Error,
    engines::Engines,
    experiment::{Experiment, Overrides, Scale},
    run::{Request, rehearse},
};
use inorder_engine::{Batch, ENGINES, Engine, Settings, TEMPLATES};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

/// A folder that every user may write to, with a file and a database that nobody may change.
struct Canary {
    folder: tempfile::TempDir,
}

impl Canary {
    fn new() -> Self {
        // Cargo's folder may be one that a server's user cannot reach.
        let folder = inorder_testing::reachable_folder();
        let open = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        open(folder.path(), 0o777);
        let prepared = inorder_testing::servers_folder(env!("CARGO_TARGET_TMPDIR")).join(TEMPLATES);
        symlink(prepared, folder.path().join(TEMPLATES)).unwrap();
        let canary = Canary { folder };
        fs::write(canary.path("canary.txt"), "alive").unwrap();
        open(&canary.path("canary.txt"), 0o666);
        let database = rusqlite::Connection::open(canary.path("canary.db")).unwrap();
        database
            .execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES(1), (2)")
            .unwrap();
        canary
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Nothing is gone, nothing is new.
    fn check(&self, sql: &str) {
        assert_eq!(
            fs::read_to_string(self.path("canary.txt")).unwrap(),
            "alive",
            "{sql}"
        );
        let database = rusqlite::Connection::open(self.path("canary.db")).unwrap();
        let rows: i64 = database
            .query_row("SELECT count(*) FROM t", (), |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 2, "{sql}");
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != TEMPLATES && name != "rehearsal");
        names.sort();
        assert_eq!(names, ["canary.db", "canary.txt"], "{sql}");
    }
}

/// An experiment of somebody else's on an engine.
fn text(engine: &str, create: &str, query: &str) -> String {
    format!(
        r#"title = "Theirs"
question = "What may it do?"
expect = "Little."
trial_seconds_max = 600
[fixed]
engine = "{engine}"
rows = 200
key = "int-seq"
encoding = "integer"
[quick]
repetitions = 1
[reads]
query = """{query}"""
by = "x"
[[table]]
name = "t"
create = """{create}"""
[table.columns]
x = "key"
"#
    )
}

const TABLE: &str = "CREATE TABLE t(x BIGINT PRIMARY KEY)";
const QUERY: &str = "SELECT x FROM t WHERE x = ?";

/// Rehearses it, as `inorder bench` does before anything is measured.
fn rehearsed(canary: &Canary, engines: Engines, text: &str) -> Result<(), Error> {
    let overrides = Overrides::default();
    let experiment = Experiment::parse("theirs.toml", text, Scale::Quick, &overrides)?;
    let request = Request {
        experiments: vec![experiment.clone()],
        engines,
        scale: Scale::Quick,
        overrides,
        seed: 1,
        command: Vec::new(),
    };
    let plan = request.plan()?;
    rehearse(&request, &experiment, &plan, canary.folder.path())
}

fn refused(canary: &Canary, engine: &str, create: &str, query: &str, field: &str) {
    let sql = format!("{engine}: {create} | {query}");
    let error = rehearsed(canary, Engines::default(), &text(engine, create, query))
        .expect_err(&sql)
        .to_string();
    assert!(error.contains(field), "{sql}: {error}");
    canary.check(&sql);
}

/// The engine, where it is there.
fn found(name: &str) -> Option<&'static dyn Engine> {
    let engine = ENGINES.iter().find(|engine| engine.name() == name)?;
    inorder_testing::is_installed(*engine).then_some(*engine)
}

/// Each hostile statement in `create`, and each hostile query. A server is started anew for each only
/// where INORDER_HOSTILE=all asks for that: otherwise the first is rehearsed, and one server gets the others.
fn all_refused(name: &str, statements: &[&str], queries: &[&str]) {
    let Some(engine) = found(name) else {
        return;
    };
    let canary = Canary::new();
    let here = canary.folder.path().display().to_string();
    // What is allowed runs.
    rehearsed(&canary, Engines::default(), &text(name, TABLE, QUERY)).unwrap();
    let is_quick = name == "sqlite" || std::env::var("INORDER_HOSTILE").is_ok_and(|v| v == "all");
    let rehearsals = if is_quick { usize::MAX } else { 1 };
    for statement in statements.iter().take(rehearsals) {
        let create = format!("{TABLE}; {}", statement.replace("{here}", &here));
        refused(&canary, name, &create, QUERY, "`create` of table `t`");
    }
    for query in queries.iter().take(rehearsals) {
        let query = query.replace("{here}", &here);
        refused(&canary, name, TABLE, &query, "`query` of [reads]");
    }
    if is_quick {
        return;
    }
    let place = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
    let settings = Settings {
        is_confined: true,
        ..Settings::default()
    };
    let server = engine.create(place.path(), &settings).unwrap();
    server.execute(TABLE).unwrap();
    for statement in &statements[1..] {
        let statement = statement.replace("{here}", &here);
        assert!(server.execute(&statement).is_err(), "{name}: {statement}");
        canary.check(&statement);
    }
}

#[test]
fn sqlite_reaches_no_other_file_and_no_setting() {
    all_refused(
        "sqlite",
        &[
            "ATTACH '{here}/canary.db' AS p; DELETE FROM p.t",
            "ATTACH '{here}/new.db' AS p; CREATE TABLE p.t(x)",
            "VACUUM INTO '{here}/copy.db'",
            "VACUUM",
            "PRAGMA synchronous = OFF",
            "PRAGMA journal_mode = MEMORY",
            "SELECT load_extension('{here}/x')",
            "CREATE VIRTUAL TABLE f USING fts5(a)",
            "CREATE TEMP TABLE t(x)",
            "CREATE TABLE u AS SELECT file FROM pragma_database_list",
            "BEGIN",
        ],
        &[
            "SELECT x, load_extension('{here}/x') FROM t WHERE x = ?",
            "SELECT file FROM pragma_database_list WHERE seq = ?",
            "SELECT name FROM dbstat WHERE pageno = ?",
        ],
    );
}

#[test]
fn a_data_file_elsewhere_is_read_and_only_read() {
    let canary = Canary::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("films.csv");
    let content = "title\nAlien\nBrazil\n";
    fs::write(&file, content).unwrap();
    let with_data = |create: &str, column: &str| {
        let data = format!("data = \"{}\"\n[fixed]", file.display());
        let recipe = format!("[table.columns]\ny = {{ fill = \"file\", column = \"{column}\" }}");
        text("sqlite", create, QUERY)
            .replace("[fixed]", &data)
            .replace("[table.columns]", &recipe)
    };
    let create =
        "CREATE TABLE t(x BIGINT PRIMARY KEY, y TEXT NOT NULL CHECK (y IN ('Alien', 'Brazil')))";
    let run = |text: &str| rehearsed(&canary, Engines::default(), text);
    run(&with_data(create, "title")).unwrap();
    let error = run(&with_data(create, "absent")).unwrap_err().to_string();
    assert!(error.contains("absent"), "{error}");
    // SQL doesn't reach it.
    let attach = format!("{create}; ATTACH '{}' AS p", file.display());
    run(&with_data(&attach, "title")).unwrap_err();
    assert_eq!(fs::read_to_string(&file).unwrap(), content);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    canary.check("data");
}

#[test]
fn a_trigger_is_confined_too() {
    let canary = Canary::new();
    let create = format!(
        "{TABLE}; CREATE TRIGGER y AFTER INSERT ON t BEGIN SELECT load_extension('x'); END"
    );
    let error =
        rehearsed(&canary, Engines::default(), &text("sqlite", &create, QUERY)).unwrap_err();
    assert!(
        error.to_string().contains("load_extension isn't allowed"),
        "{error}"
    );
}

#[test]
fn a_statement_without_end_ends_the_rehearsal() {
    let endless =
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r";
    let canary = Canary::new();
    let in_create = text(
        "sqlite",
        &format!("{TABLE}; CREATE TABLE u AS {endless}"),
        QUERY,
    );
    let in_query = text("sqlite", TABLE, &format!("{endless} WHERE n <> ?"));
    for text in [in_create, in_query] {
        let text = text.replace("trial_seconds_max = 600", "trial_seconds_max = 4");
        let error = rehearsed(&canary, Engines::default(), &text)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no progress for 4 s") && error.contains("`create`"),
            "{error}"
        );
    }
}

#[test]
fn postgres_reaches_no_file_no_program_and_no_setting() {
    all_refused(
        "postgres",
        &[
            "COPY (SELECT 1) TO '{here}/canary.txt'",
            "COPY (SELECT 1) TO PROGRAM 'echo dead > {here}/canary.txt'",
            "CREATE TABLE u(y TEXT); COPY u FROM '{here}/canary.txt'",
            "SELECT lo_export(lo_from_bytea(0, 'dead'), '{here}/canary.txt')",
            "ALTER SYSTEM SET fsync = off",
            "ALTER ROLE CURRENT_USER SET synchronous_commit = off",
            "CREATE DATABASE other",
            "CREATE EXTENSION postgres_fdw",
            "SET SESSION AUTHORIZATION inorder",
            "CREATE ROLE other SUPERUSER",
        ],
        &["SELECT pg_read_file('{here}/canary.txt') WHERE 1 = ?"],
    );
}

#[test]
fn a_view_with_the_tables_name_gets_no_further_rights() {
    if found("postgres").is_none() {
        return;
    }
    let canary = Canary::new();
    let here = canary.folder.path().display();
    // Whoever counts the rows calls the function.
    let create = format!(
        "CREATE TABLE s(x BIGINT PRIMARY KEY);
         CREATE FUNCTION f(y BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$ BEGIN
             EXECUTE 'COPY (SELECT 1) TO PROGRAM ''echo dead > {here}/canary.txt'''; RETURN y; END $$;
         CREATE VIEW t AS SELECT f(x) AS x FROM s;
         CREATE RULE r AS ON INSERT TO t DO INSTEAD INSERT INTO s VALUES (NEW.x)"
    );
    let error = rehearsed(
        &canary,
        Engines::default(),
        &text("postgres", &create, QUERY),
    )
    .unwrap_err();
    canary.check(&error.to_string());
}

#[test]
fn mariadb_reaches_no_file_and_no_setting() {
    all_refused(
        "mariadb",
        &[
            "SELECT 1 INTO OUTFILE '{here}/new.txt'",
            "SELECT 1 INTO DUMPFILE '{here}/new.txt'",
            "LOAD DATA INFILE '{here}/canary.txt' INTO TABLE t",
            "SET GLOBAL innodb_flush_log_at_trx_commit = 0",
            "SET GLOBAL general_log_file = '{here}/new.txt'",
            "CREATE DATABASE other",
            "DROP TABLE mysql.db",
            "INSTALL SONAME 'ha_archive'",
            "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'",
            "GRANT ALL ON *.* TO CURRENT_USER",
            "SHUTDOWN",
        ],
        &["SELECT 1 FROM mysql.global_priv WHERE 1 = ?"],
    );
    if found("mariadb").is_none() {
        return;
    }
    // MariaDB leaves this one's folder out, with a warning.
    let canary = Canary::new();
    let here = canary.folder.path().display();
    let create = format!("{TABLE} DATA DIRECTORY = '{here}'");
    rehearsed(
        &canary,
        Engines::default(),
        &text("mariadb", &create, QUERY),
    )
    .unwrap();
    canary.check("DATA DIRECTORY");
}

#[test]
fn shards_are_confined_like_one_server() {
    all_refused(
        "postgres-sharded",
        &[
            "COPY (SELECT 1) TO PROGRAM 'echo dead > {here}/canary.txt'",
            "CREATE TABLE u(x BIGINT PRIMARY KEY CHECK (lo_export(1, '{here}/canary.txt') = 1)); INSERT INTO u VALUES (1)",
        ],
        &[],
    );
}

#[test]
fn nodes_are_confined_like_one_server() {
    all_refused("galera", &["SELECT 1 INTO OUTFILE '{here}/new.txt'"], &[]);
}

#[test]
fn a_role_by_url_with_rights_elsewhere_is_refused() {
    for name in ["postgres", "mariadb"] {
        let Some(engine) = found(name) else {
            continue;
        };
        let canary = Canary::new();
        let place = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
        // Confined, a MariaDB knows rights.
        let settings = Settings {
            is_confined: true,
            ..Settings::default()
        };
        let server = engine.create(place.path(), &settings).unwrap();
        server
            .execute("CREATE TABLE canary(x BIGINT PRIMARY KEY)")
            .unwrap();
        server.execute("INSERT INTO canary VALUES (1)").unwrap();
        let line = fs::read(format!("/proc/{}/cmdline", server.processes()[0])).unwrap();
        let line = String::from_utf8(line).unwrap();
        let argument = line
            .split('\0')
            .find(|argument| argument.contains("inorder-server-"));
        let path = argument
            .unwrap()
            .trim_start_matches("--socket=")
            .replace('/', "%2F");
        let url = match name {
            "postgres" => format!("postgres://inorder@{path}/postgres"),
            _ => format!("mysql://root@localhost/?socket={path}"),
        };
        let engines = Engines::at(&[url]).unwrap();
        let drops = format!("{TABLE}; DROP TABLE IF EXISTS canary, public.canary, inorder.canary");
        let error = rehearsed(&canary, engines, &text(name, &drops, QUERY)).unwrap_err();
        assert!(
            error.to_string().contains("without rights elsewhere"),
            "{error}"
        );
        let mut reader = server.reader("SELECT x FROM canary").unwrap();
        assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 1);
    }
}
