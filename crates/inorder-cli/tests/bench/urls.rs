//! Servers that run already.

use crate::common::{Place, Said, TINY, signal, start_with, wait, with_status};
use inorder_bench::results::{Status, Store};
use inorder_engine::{Batch, Database, ENGINES, Settings};
use std::{fs, process::Stdio};

const PASSWORD: &str = "t0p-secret";

/// A private server of this test, in the role of one that runs already: its socket takes any password.
struct Server {
    name: &'static str,
    database: Box<dyn Database>,
    url: String,
}

impl Server {
    /// One of each that is there.
    fn all(place: &Place) -> Vec<Self> {
        let servers = ["postgres", "mariadb"];
        let engines = ENGINES
            .iter()
            .filter(|engine| servers.contains(&engine.name()));
        let start = |engine: &&'static dyn inorder_engine::Engine| {
            if !inorder_testing::is_installed(*engine) {
                return None;
            }
            let settings = Settings::default();
            let database = engine.create(place.path(), &settings).expect("a server");
            let line = fs::read(format!("/proc/{}/cmdline", database.processes()[0]));
            let line = String::from_utf8(line.expect("its command line")).expect("text");
            let argument = line
                .split('\0')
                .find(|argument| argument.contains("inorder-server-"));
            let path = argument
                .expect("its run folder")
                .trim_start_matches("--socket=");
            let escaped = path.replace('/', "%2F");
            Some(Server {
                name: engine.name(),
                database,
                url: match engine.name() {
                    "postgres" => format!("postgres://inorder:{PASSWORD}@{escaped}/postgres"),
                    _ => format!("mysql://root:{PASSWORD}@localhost/?socket={escaped}"),
                },
            })
        };
        engines.filter_map(start).collect()
    }

    /// Returns the number of inorder's schemas on it.
    fn guests(&self) -> u64 {
        self.rows("schemata WHERE schema_name LIKE 'inorder\\__%'")
    }

    /// Returns the number of rows of a view of its catalog.
    fn rows(&self, view: &str) -> u64 {
        let sql = format!("SELECT 1 FROM information_schema.{view}");
        let mut reader = self.database.reader(&sql).expect("a reader");
        reader.query(&Batch::default(), 0).expect("rows")
    }
}

#[test]
fn a_run_by_url_leaves_neither_schema_nor_password() {
    let place = Place::with(TINY);
    for server in Server::all(&place) {
        let place = Place::with(TINY);
        let arguments = [
            "bench",
            "tiny.toml",
            "--url",
            &server.url,
            "--repetitions=1",
        ];
        let said = place.run(&arguments).expect(0, &["done in"]);
        let run = Store::read(&place.file()).expect("a run");
        assert_eq!(with_status(&run, Status::Done).len(), 3);
        assert_eq!(run.meta.engines[0].name, server.name);
        let version = &run.meta.engines[0].version;
        assert!(
            version.contains(" at ") && version.contains("://"),
            "{version}"
        );
        let told = &run.trials[0].settings;
        assert!(
            told.iter().any(|(name, _)| name == "set_by_inorder"),
            "{told:?}"
        );
        assert_eq!(run.trials[0].last("rows_stored", ""), Some(3000.0));
        assert!(run.trials[0].last("engine_written_bytes", "") > Some(0.0));
        assert_eq!(server.guests(), 0);

        let mut kept: Vec<Vec<u8>> = vec![said.stdout.into(), said.stderr.into()];
        for name in place.names() {
            kept.push(fs::read(place.results().join(name)).expect("a file"));
        }
        assert_eq!(kept.len(), 4);
        let secret = PASSWORD.as_bytes();
        let is_in = |text: &Vec<u8>| text.windows(secret.len()).any(|part| part == secret);
        assert!(!kept.iter().any(is_in));
        let told = place
            .run(&["engines", "--json", "--url", &server.url])
            .expect(0, &[]);
        assert!(told.stdout.contains("\"version\"") && !told.stdout.contains(PASSWORD));
    }
}

#[test]
fn what_a_killed_run_left_on_a_server_goes_and_the_run_goes_on() {
    let place = Place::with(TINY);
    for server in Server::all(&place) {
        let place = Place::with(TINY);
        // In the environment it is seen by nobody else.
        let mut run = place
            .inorder(&["bench", "tiny.toml", "--repetitions=2", "-q"])
            .env("INORDER_URL", &server.url)
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let file = place.wait_for_done(1);
        wait("a trial at work", || (server.guests() > 0).then_some(()));
        run.kill().expect("it runs");
        run.wait().expect("its end");

        let path = file.to_str().expect("a path");
        place
            .run(&["bench", "--resume", path])
            .expect(2, &["resume it with --url", "as at its start"]);
        let mut resumed = place.inorder(&["bench", "--resume", path]);
        resumed.env("INORDER_URL", &server.url);
        Said::of(resumed.output().expect("it starts")).expect(0, &["done in"]);
        // A killed run's trial ends a moment after it; what it left goes with the next start.
        wait("a server as it was", || {
            place.run(&["engines", "--url", &server.url]);
            (server.guests() == 0).then_some(())
        });
        place
            .run(&["rerun", path])
            .expect(2, &["give its --url again"]);
    }
}

#[test]
fn an_interrupt_of_the_rehearsal_leaves_nothing_on_the_server() {
    let place = Place::with(TINY);
    for server in Server::all(&place) {
        let place = Place::with(TINY);
        for name in ["INT", "TERM"] {
            // One transaction of 400 MB.
            let arguments = [
                "bench",
                "tiny.toml",
                "-q",
                "--set=rows=1000",
                "--set=rows_per_transaction=1000",
                "--set=payload_bytes=400000",
                "--url",
                &server.url,
            ];
            let run = start_with(&place, &arguments);
            wait("a table to fill", || {
                let tables = server.rows("tables WHERE table_schema LIKE 'inorder\\__%'");
                (tables > 0).then_some(())
            });
            signal(run.id(), name);
            let said = Said::of(run.wait_with_output().expect("its end"));
            assert_eq!(server.guests(), 0, "{}: {}", server.name, said.stderr);
            said.expect(130, &["inorder: stopped"]);
            assert!(place.names().is_empty(), "{:?}", place.names());
        }
    }
}

#[test]
fn a_rehearsal_without_progress_leaves_nothing_on_the_server() {
    let endless = r#"
[[table]]
name = "t"
columns = { id = "key" }
create = "CREATE TABLE t(id {key} PRIMARY KEY); SELECT pg_sleep(600)"
"#;
    let place = Place::with(&format!("trial_seconds_max = 5\n{TINY}{endless}"));
    let servers = Server::all(&place).into_iter();
    for server in servers.filter(|server| server.name == "postgres") {
        let role = "CREATE ROLE bench LOGIN; GRANT CREATE ON DATABASE postgres TO bench;
                    REVOKE CREATE ON SCHEMA public FROM PUBLIC";
        server.database.execute(role).expect("a role");
        let url = server.url.replace("inorder:", "bench:");
        let said = place.run(&["bench", "tiny.toml", "-q", "--url", &url]);
        assert_eq!(server.guests(), 0, "{}", said.stderr);
        said.expect(2, &["the rehearsal made no progress for 5 s"]);
    }
}

#[test]
fn a_server_that_dies_in_a_trial_ends_the_run_with_its_name() {
    let place = Place::with(TINY);
    for server in Server::all(&place) {
        let place = Place::with(TINY);
        let run = place
            .inorder(&["bench", "tiny.toml", "--set=rows=100000", "-q"])
            .env("INORDER_URL", &server.url)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        place.wait_for_file();
        wait("a trial at work", || (server.guests() > 0).then_some(()));
        drop(server.database);
        let said = Said::of(run.wait_with_output().expect("its end"));
        let said = said.expect(
            1,
            &[
                "trials in a row failed",
                "the host and the port",
                "--resume",
            ],
        );
        assert!(!said.stderr.contains(PASSWORD), "{}", said.stderr);
        let run = Store::read(&place.file()).expect("a run");
        let failed = with_status(&run, Status::Failed);
        let reason = failed[0].error.as_deref().expect("a reason");
        assert!(reason.contains("://"), "{reason}");
        assert!(
            reason.contains("connection was lost") || reason.contains("the host"),
            "{reason}"
        );
    }
}

#[test]
fn a_url_that_leads_nowhere_says_so() {
    let place = Place::with(TINY);
    let nowhere = format!("postgres://me:{PASSWORD}@nowhere.invalid/db");
    let said = place.run(&["bench", "tiny.toml", "--url", &nowhere]);
    let said = said.expect(
        1,
        &["postgres://me@nowhere.invalid/db", "the host and the port"],
    );
    assert!(!said.stderr.contains(PASSWORD));
    let wrong = format!("me:{PASSWORD}@nowhere.invalid");
    let said = place.run(&["bench", "tiny.toml", "--url", &wrong]);
    assert!(
        !said
            .expect(2, &["postgres://user:password@host"])
            .stderr
            .contains(PASSWORD)
    );
    assert_eq!(place.names(), [""; 0]);
}
