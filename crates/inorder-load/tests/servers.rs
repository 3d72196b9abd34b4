//! Loads into PostgreSQL and MariaDB, each a private server; a missing one prints SKIPPED.

mod common;

use std::sync::Arc;

use common::Folder;
use common::server;
use inorder_engine::{Database, ENGINES, Settings, Write};
use inorder_load::{OnDuplicate, Summary};
use inorder_testing::is_installed;
use tempfile::TempDir;

const ROWS: usize = 25_000;

/// Every server that is there, with an empty database.
fn servers() -> Vec<(&'static str, TempDir, Arc<dyn Database>)> {
    let mut servers = Vec::new();
    for engine in ENGINES
        .iter()
        .filter(|engine| ["postgres", "mariadb"].contains(&engine.name()))
    {
        if !is_installed(*engine) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            write: Write::Bulk,
            ..Settings::default()
        };
        let database = engine.create(folder.path(), &settings).expect("a server");
        servers.push((engine.name(), folder, Arc::from(database)));
    }
    servers
}

fn load(
    database: &Arc<dyn Database>,
    folder: &Folder,
    csv: &str,
    on_duplicate: OnDuplicate,
) -> Result<Summary, inorder_load::Error> {
    let path = folder.file("rows.csv", csv);
    let mut job = folder.job(&path);
    job.on_duplicate = on_duplicate;
    // Every test spills.
    job.memory_bytes = 1 << 19;
    job.spill_folder = path.parent().map(Into::into);
    server::load(database, &job)
}

#[test]
fn rows_go_in_order_of_the_key_and_all_or_none() {
    for (name, _folder, database) in servers() {
        let (id, text) = match name {
            "postgres" => ("uuid", "text"),
            _ => ("BINARY(16)", "VARCHAR(100)"),
        };
        let create = format!(
            "CREATE TABLE t(id {id} PRIMARY KEY, n bigint NOT NULL, note {text}, size double precision)"
        );
        database.execute(&create).expect("a table");
        let folder = Folder::new("");
        let mut csv = String::from("n,id,note,size\n");
        for n in 0..ROWS {
            let id = (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            let id = inorder_key::Uuid::from_u128(id);
            csv += &format!(
                "{n},{id},\"tab\t, quote\"\" and \\ {n}\",{}\n",
                n as f64 / 4.0
            );
        }
        let summary = load(&database, &folder, &csv, OnDuplicate::Error).expect(name);
        assert_eq!(summary.rows_written, ROWS as u64);
        assert_eq!(summary.sorted_by, ["id"]);
        assert!(summary.bytes_spilled > 0);
        assert_eq!(database.count("t").expect("a count"), ROWS as u64, "{name}");
        let check =
            "SELECT 1 FROM t WHERE n = 7 AND note = 'tab\t, quote\" and \\\\ 7' AND size = 1.75";
        let check = if name == "postgres" {
            check.replace("\\\\", "\\")
        } else {
            check.to_owned()
        };
        let found = database
            .reader(&check)
            .and_then(|mut reader| reader.query(&Default::default(), 0));
        assert_eq!(found.expect(name), 1, "{name}");

        // The same again: the server refuses, and nothing of it stays.
        let more = csv.replace("\n0,", "\n-1,");
        load(&database, &folder, &more, OnDuplicate::Error).expect_err("the keys are there");
        assert_eq!(database.count("t").expect("a count"), ROWS as u64, "{name}");

        // Two rows of one key: both lines are named before anything is sent.
        let twice = "n,id,note,size\n1,017f22e2-79b0-7cc3-98c4-dc0c0c07398f,a,1\n2,017f22e2-79b0-7cc3-98c4-dc0c0c07398f,b,1\n";
        let error = load(&database, &folder, twice, OnDuplicate::Error).expect_err("a duplicate");
        let said = error.to_string();
        assert!(said.contains("line 2") && said.contains("line 3"), "{said}");
        let summary = load(&database, &folder, twice, OnDuplicate::Replace).expect(name);
        assert_eq!((summary.rows_written, summary.rows_duplicate), (1, 1));
        assert_eq!(
            database.count("t").expect("a count"),
            ROWS as u64 + 1,
            "{name}"
        );
    }
}
