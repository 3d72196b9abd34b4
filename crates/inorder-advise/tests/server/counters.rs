//! The server's counters show that nothing was written.

use crate::server::{Server, advice};
use std::{thread::sleep, time::Duration};

/// Attempts: the server's own background work may write in one of them.
const ATTEMPTS: usize = 5;

/// Runs the advice until counters are the same before and after it.
fn check(server: &Server, counters: &dyn Fn() -> Vec<String>) {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        // Counters of a session are told about a second late.
        sleep(Duration::from_millis(1500));
        let before = counters();
        let found = advice(&server.url());
        assert!(found.rows_read >= 15_000 && !found.items.is_empty());
        sleep(Duration::from_millis(1500));
        let after = counters();
        if before == after {
            return;
        }
        seen.push((before, after));
    }
    panic!("{seen:#?}");
}

#[test]
fn postgres_is_only_read() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE TABLE big (id text PRIMARY KEY, a int, n int)",
        "INSERT INTO big SELECT gen_random_uuid()::text, g FROM generate_series(1, 60000) g",
        "CREATE INDEX ON big (a); CREATE INDEX ON big (a, n); CREATE INDEX ON big (n)",
        "CREATE TABLE small (id serial PRIMARY KEY, big text REFERENCES big)",
        "INSERT INTO small (big) SELECT id FROM big LIMIT 10000",
        // Else the first reader sets hint bits and prunes pages, whoever it is.
        "VACUUM (FREEZE, ANALYZE)",
        "CHECKPOINT",
    ]);
    let counters = || {
        let mut rows = server.rows(
            "SELECT tup_inserted, tup_updated, tup_deleted, temp_files, temp_bytes, (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables)
             FROM pg_stat_database WHERE datname = current_database()",
        );
        rows.extend(server.rows("SELECT pg_current_wal_insert_lsn()"));
        rows.extend(server.rows("SELECT count(*), max(oid) FROM pg_class"));
        rows
    };
    check(&server, &counters);
    // The counters count.
    let before = counters();
    server.run(&["INSERT INTO small (big) SELECT max(id) FROM big"]);
    sleep(Duration::from_millis(1500));
    assert_ne!(before, counters());
}

#[test]
fn mariadb_is_only_read() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE big (id char(36) PRIMARY KEY, a int, n int, KEY a (a), KEY an (a, n), KEY n (n))",
        "INSERT INTO big SELECT uuid(), seq, NULL FROM seq_1_to_60000",
        "CREATE TABLE small (id int AUTO_INCREMENT PRIMARY KEY, big char(36), FOREIGN KEY (big) REFERENCES big (id))",
        "INSERT INTO small (big) SELECT id FROM big LIMIT 12000",
        "ANALYZE TABLE big, small",
    ]);
    let counters = || {
        server.rows("SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted',
             'Innodb_lsn_current', 'Com_insert', 'Com_update', 'Com_delete', 'Com_create_table', 'Com_alter_table', 'Binlog_bytes_written', 'Created_tmp_disk_tables_')")
    };
    check(&server, &counters);
    let before = counters();
    server.run(&["INSERT INTO small (big) SELECT max(id) FROM big"]);
    assert_ne!(before, counters());
}

/// The session itself refuses to write, whatever it is asked.
#[test]
fn a_session_refuses_to_write() {
    use inorder_engine::remote::{ReadLimits, Remote, ServerUrl};
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        server.run(&[
            "CREATE TABLE t (a int PRIMARY KEY)",
            "INSERT INTO t VALUES (1)",
        ]);
        let remote = Remote::at(&ServerUrl::parse(&server.url()).unwrap()).unwrap();
        let limits = ReadLimits {
            statement_max: Duration::from_secs(2),
            lock_max: Duration::from_secs(1),
        };
        let mut session = remote.read_only(limits).unwrap();
        for sql in [
            "INSERT INTO public.t VALUES (2)",
            "INSERT INTO t VALUES (2)",
            "UPDATE t SET a = 3",
            "DROP TABLE public.t",
            "CREATE TEMPORARY TABLE u (a int)",
            "DELETE FROM t",
        ] {
            let is_temporary_table = name == "mariadb" && sql.starts_with("CREATE TEMPORARY");
            assert!(
                session.rows(sql).is_err() || is_temporary_table,
                "{name}: {sql}"
            );
        }
        let table = if name == "postgres" { "public.t" } else { "t" };
        let count = format!("SELECT count(*) FROM {table}");
        let rows = vec![vec![Some("1".to_owned())]];
        assert_eq!(session.rows(&count).unwrap(), rows);
        // Its snapshot stays the same, and so does the session after a statement that is too slow.
        server.run(&["INSERT INTO t VALUES (9)"]);
        let slow = if name == "postgres" {
            "SELECT pg_sleep(20)"
        } else {
            "SELECT count(*) FROM seq_1_to_100000 a, seq_1_to_100000 b WHERE a.seq * b.seq % 7 = 3"
        };
        let began = std::time::Instant::now();
        assert!(session.rows(slow).is_err(), "{name}");
        assert!(began.elapsed() < Duration::from_secs(15));
        assert_eq!(session.rows(&count).unwrap(), rows, "{name}");
        // It holds no locks on what it read.
        server.run(&["ALTER TABLE t ADD COLUMN b int"]);
        // Another thread stops it.
        let cancel = session.cancel();
        let stopper = std::thread::spawn(move || {
            sleep(Duration::from_millis(300));
            cancel();
        });
        let error = session.rows(slow).unwrap_err().to_string();
        assert!(
            !error.contains("timeout") && !error.contains("max_statement_time"),
            "{name}: {error}"
        );
        stopper.join().unwrap();
    }
}

/// Tables with indexes that nobody used, large enough that a sample doesn't tell everything.
const UNUSED: &[&str] = &[
    "CREATE TABLE people (id text PRIMARY KEY, city int, street int, gone int)",
    "INSERT INTO people SELECT gen_random_uuid()::text, g % 50, g % 9000 FROM generate_series(1, 60000) g",
    "CREATE INDEX people_city ON people (city); CREATE INDEX people_street ON people (street, city); CREATE INDEX people_gone ON people (gone)",
    "CREATE TABLE visit (id serial PRIMARY KEY, person text REFERENCES people, at int)",
    "INSERT INTO visit (person, at) SELECT id, 7 FROM people",
    "CREATE INDEX visit_person ON visit (person, at); CREATE INDEX visit_at ON visit (at)",
    "VACUUM (FREEZE, ANALYZE)",
];

/// Advice does not count as use: an index without a scan has none afterwards, and the next advice says the same. A superuser's
/// session changes no count at all; another user's none of an unused index.
#[test]
fn advice_leaves_no_trace_in_the_uses_of_indexes() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(UNUSED);
    server.run(&[
        "CREATE ROLE reader LOGIN PASSWORD 'pw'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
        "CREATE INDEX visit_used ON visit (at, person)",
        "SET enable_seqscan = off",
        "SELECT count(*) FROM visit WHERE at = 7 AND person = 'x'",
        "RESET enable_seqscan",
    ]);
    let uses = || {
        sleep(Duration::from_millis(1500));
        server.rows(
            "SELECT indexrelname, idx_scan, idx_tup_read FROM pg_stat_user_indexes ORDER BY 1",
        )
    };
    let left = |found: &inorder_advise::server::advice::Advice| {
        crate::server::parts(found)
            .map(|(part, verdict)| {
                format!(
                    "{verdict:?} {} {}",
                    part.candidate.object, part.candidate.reason
                )
            })
            .filter(|line| !line.contains("no scan since") || line.contains("people_city"))
            .collect::<Vec<_>>()
    };
    let mut before = uses();
    while !before.iter().any(|row| row.starts_with("visit_used | 1")) {
        before = uses();
    }
    let zero = |rows: &[String]| {
        rows.iter()
            .filter(|row| row.contains(" | 0 | "))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert!(zero(&before).len() >= 5, "{before:?}");
    let first = left(&server.advice());
    assert_eq!(uses(), before);
    assert!(
        first
            .iter()
            .any(|line| line.contains("people_city") && line.contains("no scan since")),
        "{first:#?}"
    );
    assert_eq!(left(&server.advice()), first);
    // Another user's uses are counted, and it uses nothing that had no use.
    let of_reader = || advice(&server.url_of("reader", "postgres"));
    let first = left(&of_reader());
    assert_eq!(zero(&uses()), zero(&before));
    assert_eq!(left(&of_reader()), first);
    assert_eq!(zero(&uses()), zero(&before));
}

/// The same on MariaDB, which counts uses of indexes with `userstat`.
#[test]
fn advice_uses_no_secondary_index_of_mariadb() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "SET GLOBAL userstat = 1",
        "CREATE TABLE people (id char(36) PRIMARY KEY, city int, street int, KEY city (city), KEY street (street, city), KEY all_of_it (city, street, id))",
        "INSERT INTO people SELECT uuid(), seq % 50, seq % 9000 FROM seq_1_to_60000",
        "CREATE TABLE keyless (a int, b int, KEY ab (a, b), KEY ba (b, a))",
        "INSERT INTO keyless SELECT seq, seq FROM seq_1_to_30000",
        "CREATE TABLE clustered (a int NOT NULL, b int, UNIQUE a (a), KEY ba (b, a))",
        "INSERT INTO clustered SELECT seq, seq FROM seq_1_to_30000",
        "ANALYZE TABLE people, keyless, clustered",
        "FLUSH INDEX_STATISTICS",
    ]);
    let uses = || {
        server.rows(
            "SELECT table_name, index_name, rows_read FROM information_schema.index_statistics
             WHERE table_schema = database() AND index_name NOT IN ('PRIMARY', 'a') ORDER BY 1, 2",
        )
    };
    let before = uses();
    let lines = |found: &inorder_advise::server::advice::Advice| {
        crate::server::parts(found)
            .map(|(part, verdict)| {
                format!(
                    "{verdict:?} {} {}",
                    part.candidate.object, part.candidate.reason
                )
            })
            .collect::<Vec<_>>()
    };
    let first = lines(&server.advice());
    assert_eq!(uses(), before);
    assert_eq!(lines(&server.advice()), first);
    assert_eq!(uses(), before);
    // The counters count.
    server.run(&["SET @n = (SELECT count(*) FROM people FORCE INDEX (city) WHERE city = 7)"]);
    assert_ne!(uses(), before);
}
