//! Servers that run already: what is made on them is removed, and nothing else is touched.
#![cfg(target_os = "linux")]

mod common;

use common::{
    integers,
    running::{PASSWORD, Running},
    typed, write,
};
use inorder_engine::{
    Batch, Database, Engine, Error, Retry, Settings, Write,
    remote::{Remote, ServerUrl},
};
use std::{
    path::Path,
    process::{Command, Stdio},
};

fn remote(url: &str) -> Result<Remote, Error> {
    Remote::at(&ServerUrl::parse(url)?)
}

fn create(remote: &Remote, settings: &Settings) -> Box<dyn Database> {
    let database = remote.create(Path::new("unused"), settings).unwrap();
    let ddl = "CREATE TABLE t(x {int} PRIMARY KEY, y {text})";
    database.execute(&typed(remote.name(), ddl)).unwrap();
    database
}

#[test]
fn trials_work_in_a_schema_of_their_own_that_is_removed() {
    for running in Running::all() {
        // Existing schemas are kept, whatever their names.
        let precious = match running.engine.name() {
            "postgres" => "public",
            _ => "precious",
        };
        running
            .sql(&format!("CREATE SCHEMA IF NOT EXISTS {precious}"))
            .unwrap();
        running.sql("CREATE SCHEMA inorder_backup").unwrap();
        running
            .sql(&format!("CREATE TABLE {precious}.t AS SELECT 42 AS x"))
            .unwrap();

        let remote = remote(&running.admin()).unwrap();
        for &how in Write::ALL {
            let settings = Settings {
                write: how,
                ..Settings::default()
            };
            let database = create(&remote, &settings);
            assert_eq!(running.guests().len(), 2);
            let before = database.io();
            write(&*database, "t", &["x"], &integers(0..2000));
            database.quiesce().unwrap();
            let written = (database.io() - before).total().written_bytes;
            assert!(written > Some(2000 * 8), "{written:?}");
            assert_eq!(database.count("t").unwrap(), 2000);
            assert!(database.finds_by_index("t", &["x".to_owned()]).unwrap());
            assert_eq!(database.columns("t").unwrap().len(), 2);
            assert!(database.size_bytes().unwrap() > 2000 * 8);
            let trees = database.structure().unwrap();
            assert!(trees.iter().any(|tree| tree.name == "t"), "{trees:?}");
            assert!(trees.iter().all(|tree| tree.table == "t"), "{trees:?}");
            database.vacuum().unwrap();
            let mut reader = database.reader("SELECT * FROM t WHERE x = ?").unwrap();
            drop(database);
            // It lives as long as the last that uses it.
            assert_eq!(reader.query(&integers([1999]), 0).unwrap(), 1);
        }
        assert_eq!(running.guests(), ["inorder_backup"]);
        assert_eq!(
            running.sql(&format!("SELECT x FROM {precious}.t")).unwrap(),
            ["42"]
        );
    }
}

#[test]
fn what_answers_is_known_and_its_settings_are_its_own() {
    for running in Running::all() {
        let remote = remote(&running.admin()).unwrap();
        let info = remote.info().unwrap();
        let wanted = match running.engine.name() {
            "postgres" => "PostgreSQL ",
            _ => "MariaDB ",
        };
        assert!(info.version.starts_with(wanted), "{}", info.version);
        assert!(remote.ignores().contains(&"cache_kib"));
        let database = create(&remote, &Settings::default());
        let told = format!("{info:?}{:?}", database.settings().unwrap());
        assert!(told.contains("127.0.0.1"), "{told}");
        assert!(!told.contains(PASSWORD), "{told}");
        // Its user lets its processes be seen, as it runs on this machine.
        assert!(database.is_in_sight());
        assert!(database.processes().contains(&running.pid));
    }
}

#[test]
fn what_can_not_be_used_says_why_and_what_to_do() {
    let refused = |url: &str, words: &[&str]| {
        let made = remote(url).and_then(|remote| {
            remote
                .create(Path::new("unused"), &Settings::default())
                .map(drop)
        });
        let error = made.unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{error}");
        }
        assert!(
            !error.contains(PASSWORD) && !error.contains("wr0ng"),
            "{error}"
        );
    };
    for running in Running::all() {
        let grant = match running.engine.name() {
            "postgres" => {
                running
                    .sql(&format!("CREATE ROLE poor LOGIN PASSWORD '{PASSWORD}'"))
                    .unwrap();
                refused(
                    &format!("{}?sslmode=require", running.admin()),
                    &["no TLS", "tunnel"],
                );
                refused(
                    &running.admin().replace("/postgres", "/absent"),
                    &["absent", "name an existing database"],
                );
                "GRANT CREATE"
            }
            _ => {
                running
                    .sql(&format!("CREATE USER poor@'%' IDENTIFIED BY '{PASSWORD}'"))
                    .unwrap();
                refused(
                    &format!("{}?require_ssl=true", running.admin()),
                    &["no TLS", "tunnel"],
                );
                "GRANT ALL"
            }
        };
        refused(
            &running.url("poor", PASSWORD),
            &["inorder_", grant, "poor@127.0.0.1"],
        );
        refused(
            &running.url("poor", "wr0ng"),
            &["poor", "the password of the URL"],
        );
        assert_eq!(running.guests(), [""; 0]);
        let nowhere = running.admin().replace("127.0.0.1", "nowhere.invalid");
        refused(&nowhere, &["nowhere.invalid", "the host and the port"]);
    }
}

#[test]
fn a_server_that_dies_is_named_as_the_reason() {
    for mut running in Running::all() {
        let remote = remote(&running.admin()).unwrap();
        let database = create(&remote, &Settings::default());
        let mut writer = database.writer("t", &["x"], Retry::default()).unwrap();
        writer.begin().unwrap();
        writer.insert(&integers(0..10), 0..10).unwrap();
        running.kill();
        let error = writer
            .insert(&integers(10..20), 0..10)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("inserting into t: the connection was lost"),
            "{error}"
        );
        assert!(database.count("t").is_err());
    }
}

/// Each right given to a role without login, whose member inherits nothing: SET ROLE is all it takes.
const RIGHTS_BY_SET_ROLE: &[&str] = &[
    "GRANT SELECT ON precious.t TO {role}",
    "GRANT SELECT (x) ON precious.t TO {role}",
    "GRANT UPDATE (x) ON precious.t TO {role}",
    "GRANT TRIGGER ON precious.t TO {role}",
    "GRANT TRUNCATE ON precious.t TO {role}",
    "GRANT SELECT ON precious.s TO {role}",
    "GRANT CREATE ON SCHEMA precious TO {role}",
    "ALTER SCHEMA bare OWNER TO {role}; REVOKE ALL ON SCHEMA bare FROM {role}",
    "CREATE TABLE precious.own(x INT); ALTER TABLE precious.own OWNER TO {role}; REVOKE ALL ON precious.own FROM {role}",
    "CREATE ROLE between NOINHERIT; GRANT INSERT ON precious.t TO between; GRANT between TO {role}",
    "CREATE FUNCTION precious.f() RETURNS INT SECURITY DEFINER LANGUAGE sql AS 'SELECT 1';
     REVOKE ALL ON FUNCTION precious.f() FROM PUBLIC; GRANT EXECUTE ON FUNCTION precious.f() TO {role};
     GRANT USAGE ON SCHEMA precious TO {role}",
    "GRANT pg_write_server_files TO {role}",
    "ALTER ROLE {role} SUPERUSER",
];

#[test]
fn a_role_that_reaches_more_by_set_role_runs_no_sql_of_others() {
    let mut servers = common::servers().into_iter();
    let Some(postgres) = servers.find(|engine| engine.name() == "postgres") else {
        return;
    };
    let running = Running::start(postgres);
    running
        .sql(
            "CREATE SCHEMA precious; CREATE SCHEMA bare; CREATE TABLE precious.t(x INT);
             CREATE SEQUENCE precious.s; REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        )
        .unwrap();
    let confined = Settings {
        is_confined: true,
        ..Settings::default()
    };
    for (number, right) in RIGHTS_BY_SET_ROLE.iter().enumerate() {
        let (role, user) = (format!("task{number}"), format!("member{number}"));
        let member = format!(
            "CREATE ROLE {role}; CREATE ROLE {user} LOGIN NOINHERIT PASSWORD '{PASSWORD}' IN ROLE {role};
             GRANT CREATE ON DATABASE postgres TO {user}"
        );
        running.sql(&member).unwrap();
        let remote = remote(&running.url(&user, PASSWORD)).unwrap();
        let create = || remote.create(Path::new("unused"), &confined).map(drop);
        // A role without rights is no reason.
        create().unwrap();
        running.sql(&right.replace("{role}", &role)).unwrap();
        let error = create().expect_err(right).to_string();
        assert!(
            error.contains("without rights elsewhere"),
            "{right}: {error}"
        );
        assert!(running.guests().is_empty(), "{right}");
    }
}

#[test]
fn a_user_with_rights_on_a_database_called_like_inorders_runs_no_sql_of_others() {
    let mut servers = common::servers().into_iter();
    let Some(mariadb) = servers.find(|engine| engine.name() == "mariadb") else {
        return;
    };
    let running = Running::start(mariadb);
    let user = format!("CREATE USER bench@'%' IDENTIFIED BY '{PASSWORD}'");
    for sql in [&user, "GRANT ALL ON `inorder\\_%`.* TO bench@'%'"] {
        running.sql(sql).unwrap();
    }
    let confined = Settings {
        is_confined: true,
        ..Settings::default()
    };
    let remote = remote(&running.url("bench", PASSWORD)).unwrap();
    let create = || remote.create(Path::new("unused"), &confined);
    let other_trial = create().unwrap();
    // The database of another trial is inorder's.
    create().map(drop).unwrap();
    running.sql("CREATE DATABASE inorder_shop").unwrap();
    let error = create().map(drop).unwrap_err().to_string();
    let is_told = error.contains("without rights elsewhere") && error.contains("inorder_shop");
    assert!(is_told, "{error}");
    running.sql("DROP DATABASE inorder_shop").unwrap();
    create().map(drop).unwrap();
    drop(other_trial);
    running
        .sql("GRANT SELECT ON `inorder_shop`.* TO bench@'%'")
        .unwrap();
    let error = create().map(drop).unwrap_err().to_string();
    assert!(error.contains("`inorder_shop`"), "{error}");
    assert!(running.guests().is_empty());
}

/// The URL of a server for a child of this test.
const CHILD_URL: &str = "INORDER_TEST_URL";

/// Does nothing but in a child of the test below: makes a schema, says so, and waits.
#[test]
fn child() {
    let Ok(url) = std::env::var(CHILD_URL) else {
        return;
    };
    let database = create(&remote(&url).unwrap(), &Settings::default());
    println!("\nmade");
    std::thread::sleep(std::time::Duration::from_secs(60));
    drop(database);
}

#[test]
fn the_next_start_removes_what_a_killed_process_left_and_nothing_in_use() {
    for running in Running::all() {
        let url = running.admin();
        let in_use = create(&remote(&url).unwrap(), &Settings::default());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(CHILD_URL, &url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        while common::running::read_line(&mut child) != "made" {}
        assert_eq!(running.guests().len(), 2);
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = remote(&url).unwrap().clean_up().unwrap();
        assert_eq!(running.guests(), kept);
        let mut reader = in_use.reader("SELECT count(*) FROM t").unwrap();
        assert_eq!(reader.query(&Batch::default(), 0).unwrap(), 1);
        drop((in_use, reader));
        assert_eq!(running.guests(), [""; 0]);
    }
}

#[test]
fn a_load_finds_the_tables_that_are_there_and_leaves_them() {
    for running in Running::all() {
        let is_postgres = running.engine.name() == "postgres";
        let table = if is_postgres { "t" } else { "app.t" };
        if !is_postgres {
            running.sql("CREATE DATABASE app").unwrap();
        }
        running
            .sql(&format!("CREATE TABLE {table}(x BIGINT PRIMARY KEY)"))
            .unwrap();
        let url = match is_postgres {
            true => running.admin(),
            false => format!("{}app", running.admin()),
        };
        let settings = Settings {
            write: Write::Bulk,
            ..Settings::default()
        };
        let opened = remote(&url).unwrap().table(&settings, "t").unwrap();
        let mut load = opened.load(&["x"], false).unwrap();
        load.writer.insert(&integers(0..2000), 0..2000).unwrap();
        load.writer.commit().unwrap();
        drop((opened, load));
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(running.sql(&count).unwrap(), ["2000"]);
        assert!(running.guests().is_empty());
        if !is_postgres {
            let error = remote(&running.admin()).unwrap().table(&settings, "t");
            let error = error.err().unwrap().to_string();
            assert!(error.contains("the URL names no database"), "{error}");
        }
    }
}
