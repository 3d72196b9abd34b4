//! The values of columns that the input doesn't give.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::scratch::Scratch;
use crate::destination::Destination;

/// The values of the columns that aren't given, if they are the same in each row; otherwise the reason.
pub(crate) fn constants(
    scratch: &Scratch,
    destination: &Destination,
    given: &[usize],
) -> Result<Vec<(usize, Value)>, String> {
    let missing = destination
        .physical
        .iter()
        .filter(|column| !given.contains(column));
    let constant = |column: &usize| {
        let info = &destination.columns[*column];
        let value = match &info.default {
            // SQLite assigns a missing rowid, regardless of the default.
            _ if destination.rowid == Some(*column) => Some(Value::Null),
            None => Some(Value::Null),
            Some(clause) => value(&scratch.connection, clause),
        };
        match value {
            Some(value) => Ok((*column, value)),
            None => Err(format!("the default of {} is computed per row", info.name)),
        }
    };
    missing.map(constant).collect()
}

/// The defaults of these columns, for files without them: those that are the same in each row.
pub(crate) fn given(
    scratch: &Scratch,
    destination: &Destination,
    given: &[usize],
) -> Vec<(usize, Value)> {
    let default = |column: &usize| {
        let clause = destination.columns[*column].default.as_deref()?;
        Some((*column, value(&scratch.connection, clause)?))
    };
    // SQLite assigns a missing rowid, regardless of the default.
    let columns = given
        .iter()
        .filter(|column| destination.rowid != Some(**column));
    columns.filter_map(default).collect()
}

/// The value of a DEFAULT clause; `None` if it differs from row to row.
///
/// The clause, as `pragma_table_xinfo` has it, is an expression without its parentheses, or a name, quoted or not, which
/// SQLite takes as text. What isn't an expression of constants is a name
/// (<https://www.sqlite.org/syntax/column-constraint.html>).
pub(crate) fn value(connection: &Connection, clause: &str) -> Option<Value> {
    // The line ends so that a comment in it does too.
    let expression = format!("({clause}\n)");
    match inserted(connection, &format!("DEFAULT {expression}")) {
        Some(value) => is_constant(connection, &expression).then_some(value),
        None => inserted(connection, &format!("DEFAULT {clause}")),
    }
}

/// The value that SQLite inserts into a column with this clause.
fn inserted(connection: &Connection, clause: &str) -> Option<Value> {
    undone(connection, || {
        connection.execute_batch(&format!(
            "CREATE TABLE temp.constant(value {clause}); INSERT INTO temp.constant DEFAULT VALUES"
        ))?;
        let read = "SELECT value FROM temp.constant";
        connection.query_row(read, [], |row| row.get(0))
    })
}

/// Whether an expression is deterministic: SQLite allows no other in a generated column.
fn is_constant(connection: &Connection, expression: &str) -> bool {
    let made = undone(connection, || {
        connection.execute_batch(&format!(
            "CREATE TABLE temp.constant(given, value AS {expression}); \
             INSERT INTO temp.constant(given) VALUES (1)"
        ))?;
        // SQLite resolves `now` in date functions at run time.
        let read = "SELECT count(value) FROM temp.constant";
        connection.query_row(read, [], |_| Ok(()))
    });
    made.is_some()
}

/// Runs a closure and rolls it back. Returns its result; `None` if it fails.
fn undone<T>(connection: &Connection, run: impl FnOnce() -> rusqlite::Result<T>) -> Option<T> {
    connection.execute_batch("SAVEPOINT constant").ok()?;
    let result = run();
    connection
        .execute_batch("ROLLBACK TO constant; RELEASE constant")
        .ok()?;
    result.ok()
}
