//! Rows of a load, stored as INSERTs in strict mode store them.
//!
//! LOAD DATA LOCAL costs the server a fifth less CPU time than INSERTs of many rows, but acts as INSERT IGNORE: the
//! server cannot stop the file half-way, so it turns errors into warnings and stores something else. The writer
//! sends a chunk of rows by LOAD DATA LOCAL where that is known to store what an INSERT stores
//! ([`Column::takes_by_file`]). If all rows are stored and no warning is raised, the chunk is kept. Otherwise the
//! writer rolls back to the savepoint before it and sends the rows again by INSERT, which names the first row that the
//! server refuses.

use super::{
    rows,
    session::{is_duplicate, quoted, send_file},
    table::{Column, Table},
};
use crate::{
    Batch, Error, Writer,
    server::{Failure, session::Session, sql},
};
use mysql::{Conn, prelude::Queryable as _};
use std::ops::Range;

/// Rows per LOAD DATA statement. If the server refuses one, all of them are sent again.
const CHUNK_ROWS: usize = 10_000;
/// Size in bytes from which no further row is added to an INSERT.
const STATEMENT_BYTES: usize = 64 << 10;
/// Bytes of a packet in addition to the statement.
const PACKET_OVERHEAD: usize = 64;

/// SQL modes that only change the syntax or the output of SHOW CREATE TABLE, and not the accepted values.
const MODES_OF_SPELLING: [&str; 14] = [
    "ANSI",
    "ANSI_QUOTES",
    "DB2",
    "EMPTY_STRING_IS_NULL",
    "MAXDB",
    "MSSQL",
    "MYSQL323",
    "MYSQL40",
    "NO_BACKSLASH_ESCAPES",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "ORACLE",
    "POSTGRESQL",
];

/// Prepares a connection for a load: text is UTF-8, which the server converts into each column's character set;
/// `sql_mode` is the session's default and strict. Notes are not counted among warnings: strict mode takes what
/// they are about.
pub fn prepare(conn: &mut Conn) -> Result<(), mysql::Error> {
    let modes: Option<String> = conn.query_first("SELECT @@SESSION.sql_mode")?;
    conn.query_drop("SET NAMES utf8mb4")?;
    conn.query_drop(format!(
        "SET SESSION sql_mode = '{}', SESSION sql_notes = 0, SESSION sql_quote_show_create = 1",
        strict_modes(&modes.unwrap_or_default())
    ))
}

fn strict_modes(session: &str) -> String {
    let kept = session.split(',').filter(|mode| {
        !mode.is_empty() && !MODES_OF_SPELLING.iter().any(|spelling| spelling == mode)
    });
    let strict = ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"];
    kept.chain(strict).collect::<Vec<_>>().join(",")
}

/// A writer of rows into one table, in one transaction.
pub struct StrictWriter {
    session: Session<Conn>,
    /// Name of the table in messages.
    name: String,
    /// The table, quoted.
    into: String,
    /// The names of the columns, quoted, with commas.
    names: String,
    /// Whether the type of each column is UUID.
    uuids: Vec<bool>,
    /// The columns, if chunks may be sent by LOAD DATA as far as these permit it.
    by_file: Option<Vec<Column>>,
    packet_bytes_max: usize,
    /// Number of rows to send by INSERT after a refused row, because the next rows may be refused too.
    rows_by_statement: usize,
    is_open: bool,
}

impl StrictWriter {
    /// Creates a writer to `into`, which is `table` or a shadow table of it. The session must be prepared.
    /// `goes_by_file` permits LOAD DATA.
    pub fn open(
        mut session: Session<Conn>,
        table: &Table,
        into: &str,
        names: &[&str],
        goes_by_file: bool,
    ) -> Result<Self, Error> {
        let conn = &mut session.connection;
        let packet_bytes: Option<usize> = conn
            .query_first("SELECT @@max_allowed_packet")
            .map_err(|error| Failure::from(error).doing("asking for max_allowed_packet"))?;
        let columns = table.columns(names);
        let quoted_names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        Ok(StrictWriter {
            session,
            name: table.name.clone(),
            into: quoted(into),
            names: quoted_names.join(","),
            uuids: table.are_uuids(names),
            by_file: columns.filter(|_| goes_by_file && !table.has_triggers),
            packet_bytes_max: packet_bytes.unwrap_or(1 << 20),
            rows_by_statement: 0,
            is_open: false,
        })
    }

    /// Returns the connection of the writer.
    pub fn session(&mut self) -> &mut Session<Conn> {
        &mut self.session
    }

    fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.session.run(sql)
    }

    fn chunk(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        let is_careful = self.rows_by_statement > 0;
        self.rows_by_statement = self.rows_by_statement.saturating_sub(rows.len());
        if let Some(columns) = &self.by_file
            && !is_careful
            && rows.clone().all(|row| takes_row(columns, batch, row))
        {
            let lines = rows::lines(batch, rows.clone(), &self.uuids);
            self.run("SAVEPOINT inorder_chunk")?;
            match self.send_file(lines, rows.len() as u64) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // An operation that failed once is not retried, such as LOAD DATA with `local_infile` off.
                Err(_) => self.by_file = None,
            }
            self.run("ROLLBACK TO SAVEPOINT inorder_chunk")?;
        }
        self.send_statements(batch, rows)
    }

    /// Sends rows by LOAD DATA. Returns whether all of them were stored without a warning.
    fn send_file(&mut self, lines: Vec<u8>, rows: u64) -> Result<bool, mysql::Error> {
        let sql = format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({})",
            self.into, self.names
        );
        let conn = &mut self.session.connection;
        send_file(conn, &sql, lines)?;
        Ok(conn.affected_rows() == rows && conn.warnings() == 0)
    }

    /// Sends rows by multi-row INSERTs.
    fn send_statements(&mut self, batch: &Batch, mut rows: Range<usize>) -> Result<(), Error> {
        let head = format!("INSERT INTO {}({}) VALUES", self.into, self.names);
        let mut statement = String::with_capacity(STATEMENT_BYTES * 2);
        while !rows.is_empty() {
            statement.clear();
            statement.push_str(&head);
            let first = rows.start;
            while !rows.is_empty() && statement.len() < STATEMENT_BYTES {
                let before = statement.len();
                if rows.start > first {
                    statement.push(',');
                }
                rows::literals(batch, rows.start, &self.uuids, &mut statement);
                let is_too_long = statement.len() + PACKET_OVERHEAD > self.packet_bytes_max;
                if is_too_long && rows.start > first {
                    statement.truncate(before);
                    break;
                }
                rows.start += 1;
            }
            self.send_statement(&statement, batch, first..rows.start)?;
        }
        Ok(())
    }

    /// Sends the INSERT of these rows. If the server refuses a row and names it, sends the rows before it, that row,
    /// and the rows after it. If the server names no row, sends each half.
    fn send_statement(
        &mut self,
        statement: &str,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        if statement.len() + PACKET_OVERHEAD > self.packet_bytes_max {
            let message = format!(
                "the row takes {} bytes in a statement, and the server's max_allowed_packet is {}",
                statement.len(),
                self.packet_bytes_max
            );
            return Err(self.refused(Some(rows.start), &message, false));
        }
        let Err(error) = self.session.connection.query_drop(statement) else {
            return Ok(());
        };
        let named = named_row(&error.to_string()).filter(|row| (1..=rows.len()).contains(row));
        let refusal = self.refusal(error, Some(rows.start));
        if !matches!(refusal, Error::Refused { .. }) || rows.len() == 1 {
            return Err(refusal);
        }
        let middle = rows.start + named.map_or(rows.len() / 2, |row| row - 1);
        self.send_statements(batch, rows.start..middle)?;
        if named.is_some() {
            self.send_statements(batch, middle..middle + 1)?;
            return self.send_statements(batch, middle + 1..rows.end);
        }
        self.send_statements(batch, middle..rows.end)
    }

    /// Returns the error of a row, if the server's message is about one.
    pub fn refusal(&self, error: mysql::Error, row: Option<usize>) -> Error {
        let is_duplicate = is_duplicate(&error);
        let failure = Failure::from(error);
        match failure.is_of_the_row {
            true => self.refused(row, &failure.message, is_duplicate),
            false => failure.doing(format!("loading into {}", self.name)),
        }
    }

    fn refused(&self, row: Option<usize>, message: &str, is_duplicate: bool) -> Error {
        // Each statement has one row.
        let message = message.strip_suffix(" at row 1").unwrap_or(message);
        Error::Refused {
            table: self.name.clone(),
            row,
            message: message.replace(&self.into, &quoted(&self.name)),
            is_duplicate,
        }
    }
}

/// Returns the row of a statement, from 1, at the end of a message.
fn named_row(message: &str) -> Option<usize> {
    let (_, row) = message.rsplit_once(" at row ")?;
    let end = row.find(|char: char| !char.is_ascii_digit());
    row[..end.unwrap_or(row.len())].parse().ok()
}

/// Returns whether a row may be sent by LOAD DATA.
fn takes_row(columns: &[Column], batch: &Batch, row: usize) -> bool {
    let mut cells = columns.iter().zip(sql::cells(batch, row..row + 1));
    cells.all(|(column, cell)| column.takes_by_file(cell))
}

impl Writer for StrictWriter {
    fn begin(&mut self) -> Result<(), Error> {
        self.run("BEGIN")?;
        self.is_open = true;
        Ok(())
    }

    /// If a row is refused, none of these rows is stored.
    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        sql::fits(self.uuids.len(), batch, rows.end).map_err(|message| Error::Database {
            doing: format!("inserting into {}", self.name),
            message,
        })?;
        self.run("SAVEPOINT inorder_rows")?;
        let mut start = rows.start;
        while start < rows.end {
            let end = rows.end.min(start + CHUNK_ROWS);
            if let Err(error) = self.chunk(batch, start..end) {
                if let Error::Refused { .. } = error {
                    self.rows_by_statement = CHUNK_ROWS;
                    self.run("ROLLBACK TO SAVEPOINT inorder_rows")?;
                }
                return Err(error);
            }
            start = end;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.run("COMMIT")?;
        self.is_open = false;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_open) {
            self.run("ROLLBACK")?;
        }
        Ok(())
    }

    /// The server runs checkpoints itself.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn retries(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_the_sessions_and_strict() {
        assert_eq!(strict_modes(""), "STRICT_TRANS_TABLES,STRICT_ALL_TABLES");
        assert_eq!(
            strict_modes("PIPES_AS_CONCAT,ANSI_QUOTES,NO_KEY_OPTIONS,ORACLE,NO_ZERO_DATE"),
            "PIPES_AS_CONCAT,NO_ZERO_DATE,STRICT_TRANS_TABLES,STRICT_ALL_TABLES"
        );
    }
}
