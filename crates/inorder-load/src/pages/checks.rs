//! CHECK constraints, which SQLite looks at: every row goes into an empty copy of the table and out of it again.

use inorder_btree::TextEncoding;
use rusqlite::Connection;

use super::scratch::Scratch;
use crate::destination::Destination;
use crate::sql::{bind, is_of_a_row, quoted};

/// A copy of a table with CHECK constraints.
pub(super) struct Checks {
    connection: Connection,
    insert: String,
    delete: String,
    encoding: TextEncoding,
    /// The parameter that is the rowid.
    rowid: Option<usize>,
}

impl Checks {
    /// Makes the scratch table the copy, for rows that have these columns.
    pub(super) fn new(
        scratch: Scratch,
        destination: &Destination,
        record: &[usize],
    ) -> rusqlite::Result<Self> {
        let indexes =
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql NOTNULL AND ?1 <> ''";
        for index in scratch.ask(indexes, |row| row.get::<_, String>(0))? {
            let drop = format!("DROP INDEX {}", quoted(&index));
            scratch.connection.execute_batch(&drop)?;
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
                "INSERT INTO {table}({}) VALUES ({places})",
                names.join(", ")
            ),
            delete: format!("DELETE FROM {table}"),
            encoding: destination.encoding,
            rowid: record.iter().position(is_rowid).map(|place| place + 1),
        })
    }

    /// What a row with this rowid breaks, in SQLite's words; nothing where all is right.
    pub(super) fn refusal(&self, rowid: i64, row: &[u8]) -> rusqlite::Result<Option<String>> {
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

    fn insert(&self, rowid: i64, row: &[u8]) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(&self.insert)?;
        bind(&mut statement, 0, row, self.encoding)?;
        if let Some(parameter) = self.rowid {
            statement.raw_bind_parameter(parameter, rowid)?;
        }
        statement.raw_execute().map(drop)
    }
}
