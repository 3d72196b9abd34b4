//! Sizes that are predicted from a sample, beside those of real rebuilds: some schemas here, all of them in the example
//! `predict` and in the ignored tests.

#[path = "../examples/predict/compare/mod.rs"]
mod compare;

use inorder_testing::is_installed;

/// Rows of a table here, and in the long tests.
const ROWS: u64 = 40_000;
const ROWS_LONG: u64 = 300_000;

fn check(engine: &str, rows: u64, only: &[&str]) {
    let installed = inorder_engine::engine(engine).expect("an engine of the list");
    if !is_installed(installed) {
        return;
    }
    let off = compare::compare(engine, rows, only).unwrap();
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
