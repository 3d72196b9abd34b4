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
