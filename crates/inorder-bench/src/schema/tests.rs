//! Drafts of SQLite's catalogs. The command's tests draft from servers.

use super::*;
use crate::experiment::{Experiment, Overrides, Recipe, Scale, Table, TableRows};
use std::path::Path;

/// A shop: two tables that orders refer to, the orders, their items, and a table beside them.
const SHOP: &str = "
CREATE TABLE customers(id INTEGER PRIMARY KEY, email VARCHAR(120) NOT NULL UNIQUE);
CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(8, 2) NOT NULL);
CREATE TABLE orders(
  id CHAR(36) NOT NULL PRIMARY KEY, customer INTEGER REFERENCES customers(id), status TEXT NOT NULL,
  at DATETIME NOT NULL, \"the note\" TEXT);
CREATE INDEX orders_customer ON orders(customer);
CREATE INDEX orders_new ON orders(at) WHERE status = 'new';
CREATE TABLE items(
  order_id CHAR(36) NOT NULL REFERENCES orders(id), line INTEGER NOT NULL,
  product INTEGER NOT NULL REFERENCES products(id), PRIMARY KEY(order_id, line)) WITHOUT ROWID;
CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT);
";

fn catalog(folder: &Path, rows: &str) -> Catalog {
    let path = folder.join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(&format!("{SHOP}{rows}")).unwrap();
    Catalog::of_database(&path.to_string_lossy()).unwrap()
}

fn drafted(catalog: &Catalog, tables: &[&str], engines: &[&str]) -> (String, Experiment) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let wishes = Wishes {
        tables: owned(tables),
        engines: owned(engines),
        origin: "shop.sql".to_owned(),
    };
    let draft = draft(catalog, &wishes).unwrap();
    let file = format!("{}.toml", draft.name);
    let parsed = Experiment::parse(&file, &draft.text, Scale::Quick, &Overrides::default());
    (
        draft.text.clone(),
        parsed.unwrap_or_else(|error| panic!("{error}\n{}", draft.text)),
    )
}

fn table<'a>(experiment: &'a Experiment, name: &str) -> &'a Table {
    let mut tables = experiment.tables.iter();
    tables.find(|table| table.name == name).unwrap()
}

#[test]
fn a_schema_becomes_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let (text, experiment) = drafted(&catalog(folder.path(), ""), &[], &[]);
    insta::assert_snapshot!(text);
    assert_eq!(experiment.name, "orders");
    let items = table(&experiment, "items");
    assert_eq!(items.belongs_to, Some(("orders".to_owned(), 3)));
    assert!(
        !experiment
            .tables
            .iter()
            .any(|table| table.name == "settings")
    );
}

#[test]
fn ddl_is_read_from_the_engine_that_applied_it() {
    let folder = tempfile::tempdir().unwrap();
    let ddl = format!("\\restrict abc\n{SHOP}");
    let catalog = Catalog::of_ddl("sqlite", &ddl, folder.path()).unwrap();
    assert_eq!(catalog.tables.len(), 5);
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::of_ddl("sqlite", "CREATE TABLE t(x; ", folder.path())
        .err()
        .unwrap();
    assert!(error.to_string().contains("syntax error"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::of_ddl("sqlite", "ATTACH 'x' AS y", folder.path())
        .err()
        .unwrap();
    assert!(error.to_string().contains("isn't allowed"), "{error}");
}

#[test]
fn rows_decide_kinds_and_recipes_and_how_many_belong_together() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(
        folder.path(),
        "
        INSERT INTO customers VALUES(1, 'a@example.org'), (2, 'b@example.org');
        INSERT INTO products VALUES(1, 'cup', 3.5), (2, 'plate', 7);
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
        INSERT INTO orders SELECT printf('0190a0b0-0000-7000-8000-%012d', n), iif(n % 4, 1, NULL),
          iif(n % 5, 'paid', 'new'), '2026-01-01', NULL FROM n;
        INSERT INTO items SELECT id, 1, 1 FROM orders UNION ALL SELECT id, 2, 2 FROM orders;
        ",
    );
    let (text, experiment) = drafted(&catalog, &[], &[]);
    assert_eq!(
        experiment.baseline[0],
        ("key".to_owned(), "uuid7".to_owned()),
        "{text}"
    );
    assert!(
        text.contains(
            "\"customer\" = { fill = \"pick\", from = \"customers.id\", null_share = 0.250 }"
        ),
        "{text}"
    );
    assert!(
        text.contains("fill = \"values\", values = [\"new\""),
        "{text}"
    );
    // All NULL: the engine leaves it.
    assert!(!text.contains("\"the note\" ="), "{text}");
    let table = |name: &str| table(&experiment, name);
    assert_eq!(table("items").belongs_to, Some(("orders".to_owned(), 2)));
    assert_eq!(table("customers").rows, TableRows::Fixed(2));
}

#[test]
fn each_engine_gets_ddl_and_encodings_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let (_, experiment) = drafted(&catalog, &["orders"], &["sqlite", "postgres", "mariadb"]);
    let create = |name: &str, engine: &str| {
        let table = table(&experiment, name);
        table.create.of(engine, "rowid").unwrap().to_owned()
    };
    assert!(create("orders", "postgres").contains("\"customer\" bigint"));
    assert!(create("orders", "mariadb").contains("`customer` BIGINT"));
    assert!(create("orders", "mariadb").contains("`id` {key} NOT NULL"));
    assert!(create("items", "sqlite").ends_with("WITHOUT ROWID"));
    assert!(!create("items", "postgres").contains("ROWID"));
}

#[test]
fn tables_that_were_named_change_their_keys_together() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let (_, experiment) = drafted(&catalog, &["orders", "customers"], &[]);
    let table = |name: &str| table(&experiment, name);
    assert!(!table("customers").is_measured);
    let is_key = |(_, recipe): &&(String, Recipe)| matches!(recipe, Recipe::Key);
    assert_eq!(table("customers").columns.iter().filter(is_key).count(), 1);
    let create = table("orders").create.of("sqlite", "rowid").unwrap();
    assert!(create.contains("\"customer\" {key}"), "{create}");
}

#[test]
fn what_cannot_be_chosen_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let refusal = |tables: &[&str]| {
        let wishes = Wishes {
            tables: tables.iter().map(|&name| name.to_owned()).collect(),
            ..Wishes::default()
        };
        draft(&catalog, &wishes).unwrap_err().to_string()
    };
    assert!(refusal(&["order"]).contains("did you mean `orders`?"));
    assert!(refusal(&["items"]).contains("primary key of `items`"));
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("x.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY)",
        )
        .unwrap();
    let two = Catalog::of_database(&folder.path().join("x.db").to_string_lossy()).unwrap();
    let error = draft(&two, &Wishes::default()).unwrap_err().to_string();
    assert!(
        error.contains("--table") && error.contains("(a, b)"),
        "{error}"
    );
}

#[test]
fn a_cycle_of_references_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE team(id INTEGER PRIMARY KEY, lead INTEGER REFERENCES person(id));
             CREATE TABLE person(id TEXT PRIMARY KEY, team INTEGER REFERENCES team(id), boss TEXT REFERENCES person(id))",
        )
        .unwrap();
    let catalog = Catalog::of_database(&path.to_string_lossy()).unwrap();
    let (text, experiment) = drafted(&catalog, &["person"], &[]);
    let names: Vec<&str> = experiment
        .tables
        .iter()
        .map(|table| table.name.as_str())
        .collect();
    assert_eq!(names, ["team", "person"]);
    assert!(
        text.contains("left out: the foreign key team_fk0 of team"),
        "{text}"
    );
}
