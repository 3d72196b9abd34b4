//! Stand-ins for collations and functions that only the application has, so that its tables can be read.

use crate::{
    ddl::{Kind, tokens},
    sql::depth_of,
};
use rusqlite::{Connection, functions::FunctionFlags, types::Null};
use std::collections::BTreeSet;

/// Words that a parenthesis follows in an expression and that are no functions.
const NO_FUNCTIONS: &[&str] = &[
    "and", "as", "between", "by", "case", "cast", "collate", "else", "escape", "exists", "filter",
    "from", "glob", "in", "is", "isnull", "like", "match", "not", "notnull", "or", "over", "raise",
    "regexp", "select", "then", "values", "when", "where", "on", "check", "decimal", "numeric",
    "varchar", "char", "unlikely",
];

/// The collations that SQLite has.
const COLLATIONS: [&str; 3] = ["binary", "nocase", "rtrim"];

/// Registers a stand-in for every collation and function that is missing.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    connection.collation_needed(|connection, name| {
        connection.create_collation(name, |a: &str, b: &str| a.cmp(b))
    })?;
    for_functions(connection, missing_functions(connection)?)
}

/// Registers functions that return NULL.
pub(super) fn for_functions(
    connection: &Connection,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for name in names {
        connection.create_scalar_function(name.as_ref(), -1, flags, |_| Ok(Null))?;
    }
    Ok(())
}

/// The names of collations and functions that are missing, asked before there are stand-ins.
pub(super) fn missing(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names: BTreeSet<String> = statements(connection)?
        .iter()
        .flat_map(|(_, sql)| collations(sql))
        .filter(|name| !COLLATIONS.contains(&name.as_str()))
        .collect();
    names.extend(missing_functions(connection)?);
    Ok(names.into_iter().collect())
}

fn missing_functions(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let known = list(
        connection,
        "SELECT DISTINCT lower(name) FROM pragma_function_list",
    )?;
    let called = statements(connection)?;
    let called = called
        .iter()
        .flat_map(|(is_table, sql)| functions(*is_table, sql));
    Ok(called.filter(|name| !known.contains(name)).collect())
}

fn list(connection: &Connection, sql: &str) -> rusqlite::Result<BTreeSet<String>> {
    connection
        .prepare(sql)?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// The statements of tables that are not virtual, and of indexes.
fn statements(connection: &Connection) -> rusqlite::Result<Vec<(bool, String)>> {
    connection
        .prepare(
            "SELECT type = 'table', sql FROM sqlite_schema
             WHERE type IN ('table', 'index') AND sql NOT NULL AND rootpage > 0",
        )?
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn collations(sql: &str) -> Vec<String> {
    let words = tokens(sql);
    words
        .windows(2)
        .filter(|pair| pair[0].is("COLLATE"))
        .filter_map(|pair| pair[1].name())
        .map(|name| name.to_ascii_lowercase())
        .collect()
}

/// The functions that a statement calls. In CREATE TABLE, expressions are within two parentheses; in CREATE INDEX,
/// the first parenthesis follows the table's name.
fn functions(is_table: bool, sql: &str) -> Vec<String> {
    let words = tokens(sql);
    let mut names = Vec::new();
    let mut depth = 0;
    let mut is_within = false;
    for pair in words.windows(2) {
        depth += depth_of(&pair[0]);
        is_within |= depth >= if is_table { 2 } else { 1 };
        let is_deep = if is_table { depth >= 2 } else { is_within };
        if is_deep && pair[0].kind == Kind::Word && pair[1].is_symbol("(") {
            let name = pair[0].text.to_ascii_lowercase();
            if !NO_FUNCTIONS.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_tables_are_no_functions() {
        let table = "CREATE TABLE t(a VARCHAR(10), b FOO(3) REFERENCES u(x), c AS (mine(a) || lower(b)), \
                     CHECK (a IN (1, 2) AND other(c)), UNIQUE(a))";
        assert_eq!(functions(true, table), ["mine", "lower", "other"]);
        let index = "CREATE INDEX i ON t(mine(a), b) WHERE other(c) > 1";
        assert_eq!(functions(false, index), ["mine", "other"]);
    }

    #[test]
    fn what_is_missing_is_named_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let made = Connection::open(&path).unwrap();
        made.create_collation("unicase", |a: &str, b: &str| {
            a.to_lowercase().cmp(&b.to_lowercase())
        })
        .unwrap();
        made.create_scalar_function("mine", 1, FunctionFlags::SQLITE_DETERMINISTIC, |_| Ok(7))
            .unwrap();
        made.execute_batch(
            "CREATE TABLE t(a TEXT COLLATE unicase PRIMARY KEY, b AS (mine(a)));
             CREATE INDEX i ON t(mine(a));
             INSERT INTO t VALUES('x'), ('Y');",
        )
        .unwrap();
        drop(made);
        let connection = Connection::open(&path).unwrap();
        assert_eq!(missing(&connection).unwrap(), ["mine", "unicase"]);
        assert!(connection.execute_batch("SELECT b FROM t").is_err());
        register(&connection).unwrap();
        connection
            .execute_batch("SELECT b FROM t ORDER BY a")
            .unwrap();
    }
}
