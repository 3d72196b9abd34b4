//! Evaluates CHECK constraints and expressions of a row: SQLite inserts the row into an empty copy of the table and
//! deletes it again.

use inorder_btree::TextEncoding;
use rusqlite::Connection;

use super::constraints::has_checks;
use super::indexes::indexes;
use super::scratch::Scratch;
use crate::destination::{ColumnInfo, Destination};
use crate::job::OnDuplicate;
use crate::sql::{bind, is_of_a_row, quoted};

/// Whether a row with these columns may be refused by CHECK constraints, generated columns, expressions of indexes, or
/// the default of a column that it doesn't give.
pub(crate) fn are_needed(
    scratch: &Scratch,
    destination: &Destination,
    record: &[usize],
) -> rusqlite::Result<bool> {
    let is_refused_without = |(column, info): (usize, &ColumnInfo)| {
        let is_made = destination.rowid == Some(column);
        !is_made && !record.contains(&column) && (info.is_not_null || info.strict.is_some())
    };
    if destination
        .columns
        .iter()
        .enumerate()
        .any(is_refused_without)
    {
        return Ok(true);
    }
    let generated = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden > 1";
    let generated: Vec<String> = scratch.ask(generated, |row| row.get(0))?;
    let indexes = indexes(scratch, destination)?;
    let has_expressions = indexes.iter().any(|index| index.is_left_to_sqlite());
    Ok(!generated.is_empty() || has_checks(scratch)? || has_expressions)
}

/// The copy of a table in which rows are checked.
pub(crate) struct Checks {
    connection: Connection,
    insert: String,
    delete: String,
    encoding: TextEncoding,
    /// The parameter of the rowid alias.
    rowid: Option<usize>,
}

impl Checks {
    /// Turns the scratch table into the copy, for rows with these columns.
    pub(crate) fn new(
        scratch: Scratch,
        destination: &Destination,
        record: &[usize],
        on_duplicate: OnDuplicate,
    ) -> rusqlite::Result<Self> {
        let made =
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOTNULL AND ?1 <> ''";
        let made: Vec<String> = scratch.ask(made, |row| row.get(0))?;
        let is_dropped = |name: &str| made.iter().any(|made| made == name);
        for index in indexes(&scratch, destination)? {
            // An expression of it may fail.
            if is_dropped(&index.name) && !index.is_left_to_sqlite() {
                let drop = format!("DROP INDEX {}", quoted(&index.name));
                scratch.connection.execute_batch(&drop)?;
            }
        }
        scratch.connection.execute_batch("BEGIN")?;
        let table = quoted(&scratch.table);
        let names: Vec<String> = record
            .iter()
            .map(|column| quoted(&destination.columns[*column].name))
            .collect();
        let places = vec!["?"; names.len()].join(", ");
        let is_rowid = |column: &usize| destination.rowid == Some(*column);
        Ok(Checks {
            connection: scratch.connection,
            insert: format!(
                "{} INTO {table}({}) VALUES ({places})",
                match on_duplicate {
                    // NULL may become a default.
                    OnDuplicate::Replace => "INSERT OR REPLACE",
                    _ => "INSERT",
                },
                names.join(", ")
            ),
            delete: format!("DELETE FROM {table}"),
            encoding: destination.encoding,
            rowid: record.iter().position(is_rowid).map(|place| place + 1),
        })
    }

    /// Returns SQLite's message for the constraint that a row breaks; `None` if it breaks none. `rowid` replaces its rowid.
    pub(crate) fn refusal(
        &self,
        rowid: Option<i64>,
        row: &[u8],
    ) -> rusqlite::Result<Option<String>> {
        match self.insert(rowid, row) {
            Ok(()) => self
                .connection
                .prepare_cached(&self.delete)?
                .raw_execute()?,
            Err(error) if is_of_a_row(&error) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error),
        };
        Ok(None)
    }

    fn insert(&self, rowid: Option<i64>, row: &[u8]) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(&self.insert)?;
        bind(&mut statement, 0, row, self.encoding)?;
        if let (Some(parameter), Some(rowid)) = (self.rowid, rowid) {
            statement.raw_bind_parameter(parameter, rowid)?;
        }
        statement.raw_execute().map(drop)
    }
}
