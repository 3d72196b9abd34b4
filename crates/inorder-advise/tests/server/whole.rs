//! The whole way: read, predict, judge, report, and the steps carried out, whose result is compared with the prediction.

use crate::server::{Quiet, Server, parts};
use inorder_advise::{
    advice::Verdict,
    report::Look,
    server::{
        advice::{Advice, Method, Options, Reader, Sizes},
        model::Database,
        predict::Predictor,
        report::{FORMATS, scripts},
        rules::Group,
    },
};
use inorder_engine::Settings;

const POSTGRES: &[&str] = &[
    "CREATE TABLE customer (id text PRIMARY KEY, name text)",
    "CREATE TABLE orders (number int PRIMARY KEY, customer text NOT NULL REFERENCES customer, at timestamptz NOT NULL)",
    "CREATE INDEX orders_customer ON orders (customer, at)",
    "INSERT INTO customer SELECT gen_random_uuid()::text, 'name ' || g FROM generate_series(1, 20000) g",
    "INSERT INTO orders SELECT row_number() OVER (), id, now() - random() * interval '90 days' FROM customer, generate_series(1, 2)",
    "VACUUM ANALYZE",
];

const MARIADB: &[&str] = &[
    "CREATE TABLE customer (id char(36) CHARACTER SET ascii PRIMARY KEY, name varchar(50))",
    "CREATE TABLE orders (number int PRIMARY KEY, customer char(36) CHARACTER SET ascii NOT NULL, at datetime NOT NULL,
         KEY orders_customer (customer, at), FOREIGN KEY (customer) REFERENCES customer (id))",
    // Random ids of version 4.
    "INSERT INTO customer SELECT concat_ws('-', left(h, 8), mid(h, 9, 4), concat('4', mid(h, 14, 3)), concat('a', mid(h, 18, 3)), right(h, 12)), concat('name ', seq)
         FROM (SELECT seq, md5(seq) h FROM seq_1_to_20000) x",
    "INSERT INTO orders SELECT row_number() OVER (), id, now() - INTERVAL crc32(id) % 8000000 SECOND FROM customer, seq_1_to_2",
    "ANALYZE TABLE customer, orders",
];

pub fn advice(server: &Server) -> Advice {
    let folder = inorder_testing::reachable_folder();
    let starts = |database: &Database| {
        Predictor::start(database, folder.path()).map(|own| Box::new(own) as Box<dyn Sizes>)
    };
    Reader::open(&server.url(), Options::default())
        .unwrap()
        .advise(&starts, &Quiet)
        .unwrap()
}

fn check(name: &str, make: &[&str], bytes: &dyn Fn(&Server) -> f64) {
    let Some(server) = Server::start(name) else {
        return;
    };
    server.run(make);
    let found = advice(&server);
    assert_eq!(found.unpredicted, "");
    let (part, verdict) = parts(&found)
        .find(|(part, _)| part.candidate.group == Group::NativeUuid)
        .unwrap();
    assert_eq!(verdict, Verdict::App);
    let measure = part.measure.as_ref().unwrap();
    assert_eq!(measure.method, Method::Predicted);
    let (log_before, log_after) = measure.log_bytes_per_insert.unwrap();
    assert!(log_after < log_before, "{log_before} {log_after}");
    let (part, verdict) = parts(&found)
        .find(|(part, _)| part.candidate.group == Group::OrderedUuid)
        .unwrap();
    assert_eq!(verdict, Verdict::App, "{part:?}");

    let trees = measure
        .predictions
        .iter()
        .flat_map(|(_, prediction)| &prediction.trees);
    let after: f64 = trees
        .filter(|tree| tree.index.as_deref() == Some("orders_customer"))
        .map(|tree| tree.after_bytes as f64)
        .sum();
    let plan = found
        .plans
        .iter()
        .find(|plan| plan.title.starts_with("uuid"))
        .unwrap();
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    let real = bytes(&server);
    assert!(
        (after / real - 1.0).abs() < 0.05,
        "{name}: {after} predicted, {real} real"
    );
    reports(&found);
}

/// Every format has the verdicts, the figures and the steps, and no password.
fn reports(found: &Advice) {
    let look = Look {
        color: false,
        width: 100,
    };
    assert!(
        scripts(found)
            .iter()
            .any(|script| script.text.contains("which ran none of them"))
    );
    for format in FORMATS {
        let text = (format.write)(found, look);
        for words in ["customer.id", "UUIDv4", "Proves that"] {
            assert!(
                text.contains(words) || text.contains(&words.replace('.', "\\.")),
                "{}: {words}",
                format.name
            );
        }
        assert!(!text.contains(":pw@"), "{}", format.name);
        if format.name == "json" {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(
                value["advice"]
                    .as_array()
                    .is_some_and(|items| !items.is_empty())
            );
        }
    }
}

#[test]
fn postgres_is_advised_on_as_a_whole() {
    check("postgres", POSTGRES, &|server| {
        server
            .one("SELECT pg_relation_size('orders_customer')")
            .parse()
            .unwrap()
    });
}

#[test]
fn mariadb_is_advised_on_as_a_whole() {
    check("mariadb", MARIADB, &|server| {
        server.run(&["ALTER TABLE orders FORCE", "ANALYZE TABLE orders"]);
        let pages = "SELECT stat_value * @@innodb_page_size FROM mysql.innodb_index_stats
             WHERE database_name = database() AND table_name = 'orders' AND index_name = 'orders_customer' AND stat_name = 'size'";
        server.one(pages).parse().unwrap()
    });
}

/// Ids of version 4, and of version 7 in the order of `g`.
const V4: &str = "gen_random_uuid()";
const V7: &str = "(lpad(to_hex(1700000000000 + g), 12, '0') || '7' || substr(md5(g::text), 1, 3) || '8' || substr(md5(g::text), 4, 15))::uuid";

/// Rows of the tables: all pages are changed between two checkpoints, and not.
const ROWS: [u32; 2] = [50_000, 200_000];

/// What is written per row: WAL, and pages of data files.
struct Written {
    log: f64,
    data: f64,
}

/// What 10,000 inserts between two checkpoints write.
fn written(server: &Server, ids: &str, table: &str, rows: u32) -> Written {
    server.run(&[
            &format!("CREATE TABLE {table} (LIKE event INCLUDING ALL)"),
            &format!("INSERT INTO {table} SELECT {ids}, g, repeat('x', 60) FROM generate_series(1, {rows}) g ORDER BY g"),
            &format!("VACUUM (FREEZE, ANALYZE) {table}"),
            "CHECKPOINT",
        ]);
    let release: u32 = server
        .one("SELECT current_setting('server_version_num')")
        .parse()
        .unwrap();
    let buffers = || {
        let sql = match release {
            170_000.. => "SELECT buffers_written FROM pg_stat_checkpointer",
            _ => "SELECT buffers_checkpoint FROM pg_stat_bgwriter",
        };
        server.one(sql).parse::<f64>().unwrap()
    };
    let position = server.one("SELECT pg_current_wal_insert_lsn()");
    let wait = || std::thread::sleep(std::time::Duration::from_millis(2500));
    // The checkpointer tells its counts some time after.
    wait();
    let before = buffers();
    server.run(&[&format!(
            "DO $$ BEGIN FOR g IN {rows} + 1..{rows} + 10000 LOOP INSERT INTO {table} VALUES ({ids}, g, repeat('x', 60)); COMMIT; END LOOP; END $$"
        )]);
    let log: f64 = server
        .one(&format!(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '{position}')"
        ))
        .parse()
        .unwrap();
    server.run(&["CHECKPOINT"]);
    wait();
    Written {
        log: log / 10_000.0,
        data: (buffers() - before) * 8192.0 / 10_000.0,
    }
}

/// The first line of a UUIDv7 item sums log, page images and data pages, and is near what the server writes.
#[test]
fn what_uuidv7_saves_is_summed_in_the_first_line() {
    for rows in ROWS {
        what_uuidv7_saves(rows);
    }
}

fn what_uuidv7_saves(rows: u32) {
    let settings = Settings {
        // One checkpoint, between the load and the inserts, and none but the checkpointer writes pages.
        checkpoint_pages: 0,
        cache_kib: 256 << 10,
        ..Settings::default()
    };
    let Some(server) = Server::with("postgres", &settings) else {
        return;
    };
    server.run(&[
        "CREATE TABLE event (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, pad text)",
        &format!(
            "INSERT INTO event SELECT {V4}, g, repeat('x', 60) FROM generate_series(1, {rows}) g"
        ),
        "VACUUM (FREEZE, ANALYZE) event",
    ]);
    let found = advice(&server);
    let (part, verdict) = parts(&found)
        .find(|(part, _)| part.candidate.group == Group::OrderedUuid)
        .unwrap();
    assert_eq!(verdict, Verdict::App);
    let measure = part.measure.as_ref().unwrap();
    let (log, images, data) = (
        measure.log_bytes_per_insert.unwrap(),
        measure.page_bytes_per_insert.unwrap(),
        measure.data_bytes_per_insert.unwrap(),
    );
    let told = measure.written_per_insert().unwrap();
    let sums = [log.0 + images.0 + data.0, log.1 + images.1 + data.1];
    assert!((told.0 - sums[0]).abs() < 1e-6 && (told.1 - sums[1]).abs() < 1e-6);
    let words = format!(
        "writes {:.0} → {:.0} bytes per inserted row   −",
        told.0, told.1
    );
    let look = Look {
        color: false,
        width: 1000,
    };
    for format in FORMATS
        .iter()
        .filter(|format| ["text", "html"].contains(&format.name))
    {
        let text = (format.write)(&found, look);
        assert!(text.contains(&words), "{}: {words} {text}", format.name);
    }
    for (kind, ids, log, images, data) in [
        ("v4", V4, log.0, images.0, data.0),
        ("v7", V7, log.1, images.1, data.1),
    ] {
        let real = written(&server, ids, &format!("of_{kind}"), rows);
        println!(
            "{rows} rows, {kind}: WAL {:.0} told, {:.0} written; data pages {data:.0} told, {:.0} written",
            log + images,
            real.log,
            real.data
        );
        for (told, real, most) in [(log + images, real.log, 1.15), (data, real.data, 1.4)] {
            assert!(
                (1.0 / most..most).contains(&(told / real)),
                "{rows} rows, {kind}: {told} told, {real} written"
            );
        }
    }
}
