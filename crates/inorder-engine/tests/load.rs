//! Loads into servers that run already: what of keys and indexes is made after the rows, and is as it was before.
#![cfg(target_os = "linux")]

mod common;

use common::running::{PASSWORD, Running};
use inorder_engine::{
    Batch, Column, Engine as _, Error, Load, LoadTable, Settings, Value, Write,
    remote::{Remote, ServerUrl},
};
use std::{
    io::{self, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

/// So many servers of an engine, where it is there.
fn start<const N: usize>(name: &str) -> Option<[Running; N]> {
    let all = common::servers();
    let engine = all.into_iter().find(|engine| engine.name() == name)?;
    Some([(); N].map(|()| Running::start(engine)))
}

fn table(url: &str, name: &str) -> Box<dyn LoadTable> {
    let remote = Remote::at(&ServerUrl::parse(url).unwrap()).unwrap();
    let settings = Settings {
        write: Write::Bulk,
        ..Settings::default()
    };
    remote.table(&settings, name).unwrap()
}

/// Rows of two integers.
fn rows(pairs: impl IntoIterator<Item = (i64, i64)>) -> Batch {
    let (first, second): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
    Batch {
        columns: vec![Column::Integers(first), Column::Integers(second)],
    }
}

/// Loads rows and returns the messages.
fn load(table: &dyn LoadTable, columns: &[&str], batch: &Batch) -> Result<Vec<String>, Error> {
    let Load {
        mut writer, told, ..
    } = table.load(columns, false)?;
    let mut write = || {
        writer.insert(batch, 0..batch.rows())?;
        writer.complete()?;
        writer.commit()
    };
    let written = write();
    if written.is_err() {
        writer.rollback()?;
    }
    written.map(|()| told)
}

/// Everything that PostgreSQL knows of the indexes and constraints of `t`.
const SHAPE: &str = "
    SELECT concat_ws(' ', pg_get_indexdef(indexrelid), indisprimary, indisunique, indimmediate, indisvalid,
        conname, contype, pg_get_constraintdef(c.oid), obj_description(indexrelid, 'pg_class'))
    FROM pg_index LEFT JOIN pg_constraint c ON conindid = indexrelid AND conrelid = indrelid
    WHERE indrelid = 't'::regclass ORDER BY 1";

const TABLE: &str = r#"
    CREATE TABLE t(id bigint PRIMARY KEY, n bigint, "N 2" bigint DEFAULT 7,
        CONSTRAINT late UNIQUE (n) DEFERRABLE INITIALLY DEFERRED, CONSTRAINT led_to UNIQUE ("N 2", id));
    CREATE INDEX "an ""index""" ON t(n DESC NULLS LAST) WITH (fillfactor = 70);
    CREATE INDEX ON t((n + 1)) WHERE id > 5;
    CREATE UNIQUE INDEX told ON t(n, id) INCLUDE ("N 2");
    COMMENT ON INDEX told IS 'of somebody';
    CREATE TABLE child(a bigint, b bigint, FOREIGN KEY (a, b) REFERENCES t("N 2", id));"#;

#[test]
fn keys_of_an_empty_postgres_table_are_made_after_the_rows() {
    if let Some([running]) = start("postgres") {
        running.sql(TABLE).unwrap();
        let shape = running.sql(SHAPE).unwrap();
        let table = table(&running.admin(), "t");
        let columns = ["id", "n"];

        // A failed load leaves the table unchanged.
        for wrong in [rows([(1, 5), (2, 5)]), rows([(1, 5), (1, 6)])] {
            let error = load(&*table, &columns, &wrong).unwrap_err().to_string();
            assert!(error.contains("duplicate"), "{error}");
            assert_eq!(running.sql(SHAPE).unwrap(), shape);
        }
        drop(table.load(&columns, false).unwrap());
        assert_eq!(running.sql("SELECT count(*) FROM t").unwrap(), ["0"]);

        let told = load(
            &*table,
            &columns,
            &rows((0..3000).map(|n| (n, n * 7919 % 3001))),
        )
        .unwrap();
        let told = told.join("; ");
        assert!(
            told.contains(r#"built after the load: t_pkey, an "index", late, t_expr_idx"#),
            "{told}"
        );
        assert!(told.contains("led_to is kept: "), "{told}");
        assert!(!told.contains("told"), "{told}");
        assert_eq!(running.sql(SHAPE).unwrap(), shape);
        let count = r#"SELECT count(*) FROM t WHERE "N 2" = 7"#;
        assert_eq!(running.sql(count).unwrap(), ["3000"]);

        // In a table with rows, the indexes are kept and the rows are added.
        let told = load(&*table, &columns, &rows([(-1, -1)])).unwrap();
        assert_eq!(told, ["t has rows: its keys and indexes are kept"]);
        let error = load(&*table, &columns, &rows([(-1, -2)])).unwrap_err();
        assert!(error.to_string().contains("duplicate"), "{error}");
        assert_eq!(running.sql(count).unwrap(), ["3001"]);
    }
}

#[test]
fn indexes_of_an_empty_mariadb_table_are_made_after_the_rows() {
    if let Some([running]) = start("mariadb") {
        let make = "CREATE DATABASE app; CREATE TABLE app.t(id BIGINT PRIMARY KEY, n BIGINT COMMENT 'KEY `x` (',
            m BIGINT AUTO_INCREMENT, UNIQUE KEY `a ``b` (n DESC), KEY (m), KEY (n, id) COMMENT ', KEY `z` (n)') AUTO_INCREMENT = 1000;
            CREATE TABLE app.parent(id BIGINT PRIMARY KEY, n BIGINT, KEY (n));
            CREATE TABLE app.child(id BIGINT PRIMARY KEY, n BIGINT, KEY (n), FOREIGN KEY (id) REFERENCES parent(id))";
        for statement in make.split(";\n").flat_map(|part| part.split("; ")) {
            running.sql(statement).unwrap();
        }
        let shape = || {
            let columns = "concat_ws(' ', index_name, seq_in_index, column_name, collation, non_unique, index_comment)";
            let from = "FROM information_schema.statistics WHERE table_schema = 'app' ORDER BY table_name, 1";
            running
                .sql(&format!("SELECT concat(table_name, ' ', {columns}) {from}"))
                .unwrap()
        };
        let tables = || {
            let list = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'app' ORDER BY 1";
            running.sql(list).unwrap()
        };
        let before = shape();
        let url = format!("{}app", running.admin());
        let own = table(&url, "t");
        let columns = ["id", "n"];

        for wrong in [rows([(1, 5), (2, 5)]), rows([(1, 5), (1, 6)])] {
            load(&*own, &columns, &wrong).unwrap_err();
            assert_eq!((shape(), tables().len()), (before.clone(), 3));
        }
        // The next load removes the remains of a killed one.
        running
            .sql("CREATE TABLE app.inorder_load_t(x INT)")
            .unwrap();
        running
            .sql("CREATE TABLE app.inorder_before_t(x INT)")
            .unwrap();
        let told = load(
            &*own,
            &columns,
            &rows((0..3000).map(|n| (n, n * 7919 % 3001))),
        )
        .unwrap();
        assert_eq!(
            told,
            ["built after the load: `a ``b`, `n`"],
            "what counts needs its index"
        );
        assert_eq!(
            (shape(), tables()),
            (
                before.clone(),
                vec!["child".to_owned(), "parent".to_owned(), "t".to_owned()]
            )
        );
        let count = "SELECT count(*) FROM app.t WHERE n = id * 7919 % 3001";
        assert_eq!(running.sql(count).unwrap(), ["3000"]);
        let counted = "SELECT concat(min(m), ' ', max(m)) FROM app.t";
        assert_eq!(running.sql(counted).unwrap(), ["1000 3999"]);

        let told = load(&*own, &columns, &rows([(-1, -1)])).unwrap();
        assert_eq!(told, ["the indexes of t are kept: the table has rows"]);
        for held in ["parent", "child"] {
            let told = load(&*table(&url, held), &columns, &rows([])).unwrap();
            assert!(told[0].contains("foreign keys"), "{told:?}");
        }
        assert_eq!(shape(), before);
    }
}

#[test]
fn what_a_user_of_mariadb_is_not_shown_is_kept() {
    if let Some([running]) = start("mariadb") {
        for statement in [
            "CREATE DATABASE app",
            "CREATE DATABASE other",
            "CREATE TABLE app.t(id BIGINT PRIMARY KEY, n BIGINT, KEY (n))",
            "CREATE TABLE app.log(id BIGINT)",
            "CREATE TRIGGER app.fired AFTER INSERT ON app.t FOR EACH ROW INSERT INTO app.log VALUES (NEW.id)",
            "CREATE TABLE app.parent(id BIGINT PRIMARY KEY, n BIGINT, KEY (n))",
            "CREATE TABLE other.child(id BIGINT PRIMARY KEY, FOREIGN KEY (id) REFERENCES app.parent(id))",
        ] {
            running.sql(statement).unwrap();
        }
        // One who may not see the trigger, one who may not see the foreign key, one who may insert alone.
        for (user, rights) in [
            ("maker", "SELECT, INSERT, CREATE, DROP, ALTER, INDEX"),
            ("owner", "ALL"),
            ("writer", "INSERT"),
        ] {
            for statement in [
                format!("CREATE USER {user}@'%' IDENTIFIED BY '{PASSWORD}'"),
                format!("GRANT {rights} ON app.* TO {user}@'%'"),
            ] {
                running.sql(&statement).unwrap();
            }
        }
        let url = |user| format!("{}app", running.url(user, PASSWORD));
        let columns = ["id", "n"];
        for (user, id) in [("maker", 1), ("writer", 2)] {
            let told = load(&*table(&url(user), "t"), &columns, &rows([(id, 5)])).unwrap();
            assert!(told[0].contains("are kept"), "{told:?}");
        }
        // A server that takes no files takes INSERTs.
        running.sql("SET GLOBAL local_infile = OFF").unwrap();
        let remote = Remote::at(&ServerUrl::parse(&url("writer")).unwrap()).unwrap();
        let settings = |write| Settings {
            write,
            ..Settings::default()
        };
        remote.accepts(&settings(Write::Bulk)).unwrap_err();
        let by_inserts = remote.table(&settings(Write::Multi), "t").unwrap();
        load(&*by_inserts, &columns, &rows([(3, 5)])).unwrap();
        running.sql("SET GLOBAL local_infile = ON").unwrap();
        let logged = running.sql("SELECT id FROM app.log ORDER BY 1").unwrap();
        assert_eq!(logged, ["1", "2", "3"]);

        let error = load(
            &*table(&url("owner"), "parent"),
            &columns,
            &rows([(1, 5), (2, 6)]),
        )
        .unwrap_err();
        assert!(error.to_string().contains("foreign key"), "{error}");
        let left =
            "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'inorder%'";
        assert_eq!(running.sql(left).unwrap(), ["0"]);
        assert_eq!(
            running.sql("SELECT count(*) FROM app.parent").unwrap(),
            ["0"]
        );
        running.sql("INSERT INTO app.parent VALUES (7, 7)").unwrap();
        running.sql("INSERT INTO other.child VALUES (7)").unwrap();
        running
            .sql("INSERT INTO other.child VALUES (8)")
            .unwrap_err();
    }
}

/// Defines servers on other ports as foreign servers of a coordinator, with the shards of the table `t`.
fn spread(ports: &[u16]) -> String {
    let mut sql = "CREATE EXTENSION postgres_fdw;
        CREATE TABLE t(id uuid NOT NULL, n bigint) PARTITION BY HASH (id);"
        .to_owned();
    for (at, port) in ports.iter().enumerate() {
        sql += &format!(
            "CREATE SERVER s{at} FOREIGN DATA WRAPPER postgres_fdw
                 OPTIONS (host '127.0.0.1', port '{port}', dbname 'postgres');
             CREATE USER MAPPING FOR CURRENT_USER SERVER s{at} OPTIONS (user 'boss', password '{PASSWORD}');
             CREATE FOREIGN TABLE part_{at} PARTITION OF t FOR VALUES WITH (MODULUS {}, REMAINDER {at})
                 SERVER s{at} OPTIONS (schema_name 'far', table_name 't_{at}');",
            ports.len()
        );
    }
    sql
}

/// Rows of a uuid and an integer.
fn uuids(rows: std::ops::Range<i64>) -> Batch {
    let uuid = |n: i64| {
        let bits = (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        Value::Blob(bits.to_be_bytes().to_vec().into())
    };
    Batch {
        columns: vec![
            Column::Any(rows.clone().map(uuid).collect()),
            Column::Integers(rows.collect()),
        ],
    }
}

#[test]
fn rows_of_a_spread_table_go_straight_to_their_servers() {
    let Some([coordinator, one, two]) = start("postgres") else {
        return;
    };
    for (at, shard) in [&one, &two].into_iter().enumerate() {
        let make = format!(
            "CREATE SCHEMA far; CREATE TABLE far.t_{at}(id uuid PRIMARY KEY, n bigint UNIQUE)"
        );
        shard.sql(&make).unwrap();
    }
    coordinator.sql(&spread(&[one.port(), two.port()])).unwrap();
    let counts = || {
        let of = |shard: &Running, at| {
            shard
                .sql(&format!("SELECT count(*) FROM far.t_{at}"))
                .unwrap()
        };
        (of(&one, 0), of(&two, 1))
    };
    let open = || table(&coordinator.admin(), "t");
    let columns = ["id", "n"];
    let key = |table: &dyn LoadTable| table.shape().unwrap().columns[0].info.primary_key;
    assert_eq!(key(&*open()), 1, "the key is that of the shards");

    let told = load(&*open(), &columns, &uuids(0..2000)).unwrap();
    assert!(
        told[0].contains("routed by hash(id) to 2 servers"),
        "{told:?}"
    );
    assert!(told[1].contains("built after the load"), "{told:?}");
    // Each row where the coordinator looks for it.
    let found = "SELECT count(*) FROM t WHERE satisfies_hash_partition('t'::regclass, 2, (tableoid = 'part_1'::regclass)::int, id)";
    assert_eq!(coordinator.sql(found).unwrap(), ["2000"]);
    let before = counts();
    assert!(before.0 != ["0"] && before.1 != ["0"]);

    // A row that one shard refuses is refused by all.
    let mut twice = uuids(2000..2500);
    twice.columns[1] = Column::Integers(vec![1; 500]);
    load(&*open(), &columns, &twice).unwrap_err();
    assert_eq!(counts(), before);

    // If the target of a row is uncertain, the coordinator routes the rows.
    for (change, why) in [
        ("ALTER TABLE t ALTER n SET DEFAULT 5", "it computes n"),
        (
            "ALTER SERVER s1 OPTIONS (SET port '1')",
            "s1, as the coordinator reaches it",
        ),
        (
            "ALTER FOREIGN TABLE part_1 ALTER n OPTIONS (column_name 'm')",
            "have other names",
        ),
        (
            "ALTER TABLE t DETACH PARTITION part_1",
            "don't have one remainder each",
        ),
    ] {
        coordinator.sql(change).unwrap();
        let told = open().load(&columns[..1], false).unwrap().told;
        assert!(
            told.iter().any(|word| word.contains(why)),
            "{told:?}, not {why}"
        );
    }
}

/// A port that leads the coordinator to one server and everybody else to another. The first packet has the names of
/// programs. One of 8 bytes before it asks for TLS, which there is not.
fn two_faced(coordinators: u16, others: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().map(Result::unwrap) {
            let mut client = client;
            let mut packet = [0; 8];
            client.peek(&mut packet).unwrap();
            if packet[..4] == [0, 0, 0, 8] {
                client.read_exact(&mut packet).unwrap();
                client.write_all(b"N").unwrap();
            }
            let mut first = [0; 1 << 10];
            let bytes = client.peek(&mut first).unwrap();
            let is_coordinator = first[..bytes]
                .windows(12)
                .any(|word| word == b"postgres_fdw");
            let port = if is_coordinator { coordinators } else { others };
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            for (mut from, mut to) in [
                (client.try_clone().unwrap(), server.try_clone().unwrap()),
                (server, client),
            ] {
                thread::spawn(move || _ = io::copy(&mut from, &mut to));
            }
        }
    });
    port
}

#[test]
fn a_server_that_is_another_than_the_coordinator_means_is_not_written_to() {
    let Some([coordinator, meant, other]) = start("postgres") else {
        return;
    };
    for shard in [&meant, &other] {
        let make = "CREATE SCHEMA far; CREATE TABLE far.t_0(id uuid PRIMARY KEY, n bigint)";
        shard.sql(make).unwrap();
    }
    let port = two_faced(meant.port(), other.port());
    coordinator.sql(&spread(&[port])).unwrap();
    let table = table(&coordinator.admin(), "t");
    let told = load(&*table, &["id", "n"], &uuids(0..10)).unwrap();
    assert!(
        told[0].contains("the server that the coordinator connects to as s0"),
        "{told:?}"
    );
    let count = "SELECT count(*) FROM far.t_0";
    assert_eq!(meant.sql(count).unwrap(), ["10"]);
    assert_eq!(other.sql(count).unwrap(), ["0"]);
}
