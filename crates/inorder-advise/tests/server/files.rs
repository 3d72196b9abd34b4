//! The files that are written, run as a whole by the servers' own clients: the application's statements go on after the
//! safe one, and each file is taken back by its undo.

use crate::server::Server;
use inorder_advise::server::{advice::Advice, report::scripts};
use std::{
    io::{Seek as _, Write as _},
    process::Stdio,
};

/// Redundant indexes and constraints beside ids that are text, also on the same columns.
const POSTGRES: &[&str] = &[
    "CREATE TABLE customer (id char(36) PRIMARY KEY DEFAULT gen_random_uuid()::text, name text NOT NULL, gone timestamptz)",
    "ALTER TABLE customer ADD CONSTRAINT customer_twice UNIQUE (id)",
    "COMMENT ON INDEX customer_twice IS 'it''s the second'",
    "CREATE TABLE orders (n int PRIMARY KEY, customer char(36) NOT NULL REFERENCES customer, total int, page text)",
    "CREATE INDEX orders_customer ON orders (customer)",
    "COMMENT ON INDEX orders_customer IS 'of the customer'",
    "CREATE INDEX orders_customer_total ON orders (customer, total)",
    "CREATE INDEX customer_gone ON customer (gone)",
    "CREATE VIEW totals AS SELECT n, total FROM orders",
    "INSERT INTO customer (name) SELECT 'name ' || g FROM generate_series(1, 2000) g",
    "INSERT INTO orders SELECT row_number() OVER (), id, length(name) FROM customer",
    "CREATE TABLE asset (sha char(66) PRIMARY KEY, size int)",
    "INSERT INTO asset SELECT '0x' || encode(sha256(g::text::bytea), 'hex'), g FROM generate_series(1, 3000) g",
    "GRANT SELECT (name) ON customer TO PUBLIC",
    "GRANT SELECT (customer) ON orders TO PUBLIC",
    "ALTER TABLE orders ALTER customer SET STATISTICS 7",
    "ANALYZE",
];

const OF_POSTGRES: &[&str] = &[
    "INSERT INTO customer (name) VALUES ('new') ON CONFLICT (id) DO NOTHING",
    "INSERT INTO customer (id, name) VALUES ('0f8fad5b-d9cb-469f-a165-70867728950e', 'fixed') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
    "SELECT * FROM orders WHERE customer = (SELECT min(id) FROM customer) ORDER BY total",
    "SELECT count(*) FROM customer WHERE gone IS NULL",
    "INSERT INTO asset (sha, size) VALUES ('0x' || encode(sha256('new'), 'hex'), 7) ON CONFLICT (sha) DO UPDATE SET size = 8",
    "DELETE FROM asset WHERE sha = '0x' || encode(sha256('new'), 'hex')",
    "UPDATE customer SET gone = now() WHERE name = 'new'",
    "SELECT * FROM totals WHERE n = 5",
    "DELETE FROM customer WHERE name IN ('new', 'fixed')",
];

const OBJECTS_OF_POSTGRES: &str = "SELECT indexdef || coalesce(obj_description(indexname::regclass), '') FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT attrelid::regclass || attname || format_type(atttypid, atttypmod) || coalesce(attacl::text, '') || coalesce(nullif(attstattarget, -1), 0)
         FROM pg_attribute WHERE attrelid IN ('customer'::regclass, 'orders'::regclass, 'asset'::regclass) AND attnum > 0 AND NOT attisdropped
     UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1";

const MARIADB: &[&str] = &[
    "CREATE TABLE customer (id char(36) CHARACTER SET ascii NOT NULL DEFAULT uuid() PRIMARY KEY, name varchar(50) NOT NULL, KEY again (id), KEY named (name))",
    "CREATE TABLE orders (n int PRIMARY KEY, customer char(36) CHARACTER SET ascii NOT NULL, total int, KEY of_customer (customer),
         KEY of_total (customer, total), CONSTRAINT of_key FOREIGN KEY (customer) REFERENCES customer (id))",
    "CREATE VIEW hinted AS SELECT name FROM customer FORCE INDEX (named) WHERE name LIKE 'n%'",
    "INSERT INTO customer (name) SELECT concat('name ', seq) FROM seq_1_to_3000",
    "INSERT INTO orders SELECT substr(name, 6), id, 1 FROM customer",
    "CREATE TABLE asset (sha char(64) CHARACTER SET ascii NOT NULL PRIMARY KEY, size int)",
    "INSERT INTO asset SELECT upper(sha2(seq, 256)), seq FROM seq_1_to_3000",
    "ANALYZE TABLE customer, orders, asset",
];

const OF_MARIADB: &[&str] = &[
    "INSERT INTO customer (name) VALUES ('new') ON DUPLICATE KEY UPDATE name = 'old'",
    "SELECT * FROM orders WHERE customer = (SELECT min(id) FROM customer) ORDER BY total",
    "SELECT count(*) FROM hinted",
    "INSERT INTO asset (sha, size) VALUES (upper(sha2('new', 256)), 7) ON DUPLICATE KEY UPDATE size = 8",
    "DELETE FROM asset WHERE sha = upper(sha2('new', 256))",
    "DELETE FROM customer WHERE name = 'new'",
];

const OBJECTS_OF_MARIADB: &str = "SELECT concat_ws(' ', table_name, index_name, seq_in_index, column_name, non_unique) FROM information_schema.statistics WHERE table_schema = database()
     UNION ALL SELECT concat_ws(' ', table_name, constraint_name, delete_rule) FROM information_schema.referential_constraints WHERE constraint_schema = database()
     UNION ALL SELECT concat_ws(' ', table_name, column_name, ordinal_position, column_type, is_nullable, collation_name, column_default) FROM information_schema.columns
         WHERE table_schema = database() ORDER BY 1";

/// Runs a file by the client's defaults: as `psql -f FILE` and `mariadb < FILE` do.
pub fn run(server: &Server, advice: &Advice, suffix: &str) {
    let scripts = scripts(advice);
    let script = scripts
        .iter()
        .find(|script| script.suffix == suffix)
        .unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(script.text.as_bytes()).unwrap();
    let mut command = server.client();
    if server.is_postgres() {
        command.arg("-f").arg(file.path());
    } else {
        let mut file = file.as_file();
        file.rewind().unwrap();
        command.stdin(Stdio::from(file.try_clone().unwrap()));
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{suffix}: {said}");
}

fn files(engine: &str, make: &[&str], application: &[&str], objects: &str) {
    let Some(server) = Server::start(engine) else {
        return;
    };
    server.run(make);
    let before = server.rows(objects);
    let advice = server.advice();
    let dropped = |plan: &inorder_advise::server::advice::Plan| !plan.needs_application;
    assert!(
        advice.plans.iter().filter(|plan| dropped(plan)).count() >= 2,
        "{:?}",
        advice.plans
    );
    for title in ["uuid in place of text", "bytes in place of text"] {
        let mut plans = advice.plans.iter();
        let plan = plans.find(|plan| plan.title.starts_with(title));
        assert!(
            plan.is_some_and(|plan| plan.needs_application && plan.steps.is_ok()),
            "{title}: {:?}",
            advice.items
        );
    }
    server.run(application);
    run(&server, &advice, "advise.sql");
    assert_ne!(server.rows(objects), before);
    server.run(application);
    // It does nothing where its work is done.
    let safe = server.rows(objects);
    run(&server, &advice, "advise.sql");
    assert_eq!(server.rows(objects), safe);
    // The other file works after it and without it.
    for is_first in [true, false] {
        run(&server, &advice, "advise-app.sql");
        assert_ne!(server.rows(objects), safe);
        run(&server, &advice, "advise-app.sql");
        run(&server, &advice, "advise-app-undo.sql");
        assert_eq!(
            server.rows(objects),
            if is_first {
                safe.clone()
            } else {
                before.clone()
            }
        );
        run(&server, &advice, "advise-app-undo.sql");
        run(&server, &advice, "advise-undo.sql");
        assert_eq!(server.rows(objects), before);
    }
    server.run(application);
}

#[test]
fn postgres_files_leave_the_application_working() {
    files("postgres", POSTGRES, OF_POSTGRES, OBJECTS_OF_POSTGRES);
}

#[test]
fn mariadb_files_leave_the_application_working() {
    files("mariadb", MARIADB, OF_MARIADB, OBJECTS_OF_MARIADB);
}
