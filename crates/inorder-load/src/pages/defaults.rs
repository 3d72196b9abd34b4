//! What columns hold that the input doesn't give.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _};

use super::scratch::Scratch;
use crate::destination::Destination;

/// The values of the columns that aren't given, the same in each row; or why they aren't the same.
pub(super) fn constants(
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
            None => Some(Value::Null),
            Some(expression) => value(&scratch.connection, expression),
        };
        match value {
            Some(value) => Ok((*column, value)),
            None => Err(format!(
                "the default of {} is worked out for each row",
                info.name
            )),
        }
    };
    missing.map(constant).collect()
}

/// The value of an expression that is always the same. SQLite says whether it is: it takes no other for a
/// generated column.
fn value(connection: &Connection, expression: &str) -> Option<Value> {
    connection.execute_batch("SAVEPOINT constant").ok()?;
    let make = format!(
        "CREATE TABLE temp.constant(given, value GENERATED ALWAYS AS ({expression})); \
         INSERT INTO temp.constant(given) VALUES (1)"
    );
    let made = connection.execute_batch(&make);
    let value = made.and_then(|()| {
        let read = "SELECT value FROM temp.constant";
        connection.query_row(read, [], |row| row.get(0)).optional()
    });
    connection
        .execute_batch("ROLLBACK TO constant; RELEASE constant")
        .ok()?;
    value.ok().flatten()
}
