//! The page about ids lists every function in the words of the list, and its SQL runs.

use inorder_sqlite::{FUNCTIONS, KINDS, register};
use rusqlite::Connection;

const PAGE: &str = include_str!("../../../docs/ids.md");

#[test]
fn every_function_is_documented_and_nothing_else() {
    let rows = PAGE
        .lines()
        .skip_while(|line| *line != "| function | gives |")
        .skip(2);
    let documented: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let listed = FUNCTIONS
        .iter()
        .map(|function| format!("| `{}` | {} |", function.signature(), function.what));
    let (keys, functions) = documented.split_last().unwrap();
    assert_eq!(functions, listed.collect::<Vec<_>>());
    assert!(keys.starts_with("| `keys(kind, n)` |"));
    let kinds: Vec<String> = KINDS
        .iter()
        .map(|kind| format!("`{}`", kind.name))
        .collect();
    assert!(PAGE.contains(&format!("The kinds of `keys` are {}.", kinds.join(", "))));
}

/// The functions that servers have; `bindings/sql/tests` compares the other columns with the servers.
#[test]
fn every_function_has_its_row_in_the_table_of_servers() {
    let rows = PAGE
        .lines()
        .skip_while(|line| *line != "| SQLite | PostgreSQL | MariaDB |")
        .skip(2);
    let named = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('`').nth(1).unwrap());
    let signatures = FUNCTIONS.iter().map(|function| function.signature());
    let listed: Vec<String> = signatures.chain(["keys(kind, n)".to_owned()]).collect();
    assert_eq!(named.collect::<Vec<_>>(), listed);
}

/// The SQL of the page, a block each.
fn blocks() -> Vec<&'static str> {
    let rest = PAGE.split("```sql\n").skip(1);
    rest.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_sql_of_the_page_runs() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("PRAGMA trusted_schema = off").unwrap();
    register(&db).unwrap();
    assert_eq!(blocks().len(), 6);
    for sql in blocks() {
        db.execute_batch(sql)
            .unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    for (table, rows) in [("event", 1000), ("checked", 1000), ("measurement", 2)] {
        let made = format!("SELECT count(*) FROM {table}");
        let made: i64 = db.query_row(&made, [], |row| row.get(0)).unwrap();
        assert_eq!(made, rows, "{table}");
    }
}

/// What a program without the functions does with the tables of the page, as its table says.
#[test]
fn tables_of_the_page_work_without_the_functions_unless_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for (number, sql) in blocks().into_iter().enumerate() {
        let path = folder.path().join(format!("{number}.db"));
        let db = Connection::open(&path).unwrap();
        register(&db).unwrap();
        db.execute_batch(sql).unwrap();
        drop(db);
        let plain = Connection::open(&path).unwrap();
        let is_checked = sql.contains("CHECK (uuid7_valid(id))");
        let tables: Vec<(String, String)> = {
            let read = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'";
            let mut read = plain.prepare(read).unwrap();
            let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            rows.unwrap().map(Result::unwrap).collect()
        };
        assert!(!tables.is_empty());
        let copy = folder.path().join("copy");
        let mut statements = vec![
            "VACUUM".to_owned(),
            "PRAGMA integrity_check".to_owned(),
            format!("VACUUM INTO '{}'", copy.display()),
            "REINDEX".to_owned(),
        ];
        for (name, _) in &tables {
            statements.push(format!("SELECT * FROM \"{name}\""));
            statements.push(format!("DELETE FROM \"{name}\" WHERE false"));
            statements.push(format!("ALTER TABLE \"{name}\" ADD COLUMN more"));
            // The restore of a dump.
            statements.push(format!(
                "CREATE TEMP TABLE restored AS SELECT * FROM \"{name}\""
            ));
            statements.push(format!("DROP TABLE temp.restored; DROP TABLE \"{name}\""));
        }
        statements.extend(tables.iter().map(|(_, create)| create.clone()));
        let failed = statements
            .iter()
            .filter(|sql| plain.execute_batch(sql).is_err());
        let failed: Vec<_> = failed.collect();
        assert_eq!(failed.is_empty(), !is_checked, "{sql}: {failed:?}");
        let _ = std::fs::remove_file(copy);
    }
}
