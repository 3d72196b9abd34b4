//! Sizes that are predicted from a sample, beside those of real rebuilds: some schemas here, all of them in the example
//! `predict` and in the ignored tests.

#[path = "../examples/predict/compare/mod.rs"]
mod compare;

use inorder_advise::server::{
    model::{Database, Product},
    predict::Predictor,
};
use inorder_testing::is_installed;
use std::{env, process::Command};

/// Rows of a table here, and in the long tests.
const ROWS: u64 = 40_000;
const ROWS_LONG: u64 = 300_000;

fn check(engine: &str, rows: u64, only: &[&str]) {
    let installed = inorder_engine::engine(engine).expect("an engine of the list");
    if !is_installed(installed) {
        return;
    }
    let off = compare::compare(&compare::Comparison {
        engine,
        rows,
        only,
        csv: None,
    })
    .unwrap();
    assert!(off.is_empty(), "{off:#?}");
}

#[test]
fn sizes_on_postgresql_are_predicted() {
    check(
        "postgres",
        ROWS,
        &["skewed foreign key", "mostly NULL", "TOAST"],
    );
}

#[test]
fn sizes_on_mariadb_are_predicted() {
    check("mariadb", ROWS, &["char(36) ascii", "long keys"]);
}

#[test]
#[ignore = "takes minutes: all schemas with 300,000 rows"]
fn sizes_of_every_schema_on_postgresql_are_predicted() {
    check("postgres", ROWS_LONG, &[""]);
}

#[test]
#[ignore = "takes minutes: all schemas with 300,000 rows"]
fn sizes_of_every_schema_on_mariadb_are_predicted() {
    check("mariadb", ROWS_LONG, &[""]);
}

/// Set in the process of the test that runs without servers.
const WITHOUT: &str = "INORDER_TEST_WITHOUT_SERVERS";

#[test]
fn without_server_programs_the_error_says_so() {
    if env::var_os(WITHOUT).is_some() {
        let folder = tempfile::tempdir().unwrap();
        for (product, name) in [
            (Product::Postgres, "PostgreSQL"),
            (Product::Mariadb, "MariaDB"),
        ] {
            let database = Database {
                product,
                ..Database::default()
            };
            let Err(error) = Predictor::start(&database, folder.path()) else {
                panic!("{name} started without its programs");
            };
            let error = error.to_string();
            let told = format!("{name}'s server programs are not installed");
            assert!(error.contains(&told), "{error}");
        }
        return;
    }
    // Programs are searched once per process.
    let nothing = tempfile::tempdir().unwrap();
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "without_server_programs_the_error_says_so"])
        .env(WITHOUT, "1")
        .env("INORDER_POSTGRES", nothing.path())
        .env("INORDER_MARIADB", nothing.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && told.contains("1 passed"),
        "{told}"
    );
}
