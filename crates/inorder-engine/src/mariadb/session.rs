//! A connection to MariaDB.

use super::{connect::Target, rows};
use crate::{
    Batch,
    batch::Cell,
    server::{
        Connection, Failure,
        session::{LOST, is_end},
        sql,
    },
};
use mysql::{Conn, LocalInfileHandler, Params, Statement, Value, prelude::Queryable as _};
use std::{io::Write as _, ops::Range};

/// Quotes a name for SQL.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns whether the session's time zone is UTC.
pub fn is_utc(conn: &mut Conn) -> Result<bool, mysql::Error> {
    const SQL: &str =
        "SELECT if(@@SESSION.time_zone = 'SYSTEM', @@system_time_zone, @@SESSION.time_zone)
         IN ('UTC', 'Etc/UTC', '+00:00', '-00:00')";
    Ok(conn.query_first(SQL)?.unwrap_or(false))
}

impl Connection for Conn {
    type Address = Target;
    type Statement = Statement;

    /// Sends bytes unchanged for every column type.
    fn open(address: &Target, enforces_foreign_keys: bool) -> Result<Self, Failure> {
        let mut conn = address.connect()?;
        let checks = u8::from(enforces_foreign_keys);
        conn.query_drop(format!("SET NAMES binary, foreign_key_checks = {checks}"))?;
        Ok(conn)
    }

    fn quoted(name: &str) -> String {
        quoted(name)
    }

    fn run(&mut self, sql: &str) -> Result<(), Failure> {
        Ok(self.query_drop(sql)?)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Failure> {
        Ok(self.prep(sql)?)
    }

    fn parameters(statement: &Statement) -> usize {
        usize::from(statement.num_params())
    }

    fn execute(
        &mut self,
        statement: &Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure> {
        Ok(self.exec_drop(statement, parameters(batch, rows))?)
    }

    fn query(&mut self, statement: &Statement, batch: &Batch, row: usize) -> Result<u64, Failure> {
        let mut rows = 0;
        for row in self.exec_iter(statement, parameters(batch, row..row + 1))? {
            row?;
            rows += 1;
        }
        Ok(rows)
    }

    fn insert_of_defaults(table: &str) -> String {
        format!("INSERT INTO {table}() VALUES()")
    }

    fn bulk_statement(table: &str, columns: &str) -> String {
        format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET binary ({columns})")
    }

    /// Sends rows with LOAD DATA. The server cannot stop the file half-way and skips rows that violate a constraint.
    /// The number of stored rows reveals this.
    fn bulk(
        &mut self,
        sql: &str,
        _insert: &Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure> {
        let wanted = rows.len() as u64;
        send_file(self, sql, rows::lines(batch, rows, &[]))?;
        match (self.affected_rows(), self.warnings()) {
            (stored, 0) if stored == wanted => Ok(()),
            (stored, warnings) => Err(Failure {
                message: format!(
                    "the server stored {stored} of {wanted} rows, with {warnings} warnings: the others violate a constraint"
                ),
                is_of_the_row: false,
                is_conflict: false,
            }),
        }
    }
}

/// Runs a LOAD DATA LOCAL with these lines as its file.
pub fn send_file(conn: &mut Conn, sql: &str, lines: Vec<u8>) -> Result<(), mysql::Error> {
    conn.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, file| {
        file.write_all(&lines)
    })));
    let loaded = conn.query_drop(sql);
    conn.set_local_infile_handler(None);
    loaded
}

impl From<mysql::Error> for Failure {
    fn from(error: mysql::Error) -> Self {
        let told = |message| Failure {
            message,
            is_of_the_row: false,
            is_conflict: false,
        };
        match error {
            mysql::Error::MySqlError(error) if ENDED.contains(&error.code) => {
                told(format!("{LOST} ({})", error.message))
            }
            mysql::Error::MySqlError(error) => Failure {
                is_of_the_row: is_of_the_row(&error),
                is_conflict: error.state == "40001",
                message: error.message,
            },
            mysql::Error::IoError(error) if is_end(&error) => told(LOST.to_owned()),
            // A packet can't be read completely: the connection is unusable, whatever the reason.
            mysql::Error::CodecError(error) => told(format!("{LOST} ({error})")),
            mysql::Error::DriverError(error) => told(error.to_string()),
            other => told(other.to_string()),
        }
    }
}

/// Error codes of a server that ends a session: shutdown, connection killed.
const ENDED: [u16; 2] = [1053, 1927];

/// Classes of `SQLSTATE` of errors that are caused by a row: strict-mode errors, data errors, constraint violations,
/// and errors that a trigger signals.
const CLASSES_OF_ROWS: [&str; 4] = ["01", "22", "23", "45"];
/// Further ones, in the class of all that has none: no default (1364), a value that doesn't fit its type (1366),
/// a type that doesn't fit the column's (4078), invalid characters (1300, 3854), a row too large for a page (1118), no partition (1526, 1591), a value for a
/// generated column (1906, 3105).
const ERRORS_OF_ROWS: [u16; 10] = [1118, 1300, 1364, 1366, 1526, 1591, 1906, 3105, 3854, 4078];

/// Errors about a duplicate key: 1062, 1586 (which names the key) and 1761 (for a child row).
const ERRORS_OF_DUPLICATES: [u16; 3] = [1062, 1586, 1761];

/// Returns whether another row with the same key is the reason.
pub fn is_duplicate(error: &mysql::Error) -> bool {
    matches!(error, mysql::Error::MySqlError(error) if ERRORS_OF_DUPLICATES.contains(&error.code))
}

/// Returns whether a row caused the error.
fn is_of_the_row(error: &mysql::error::MySqlError) -> bool {
    let is_class = |class: &&str| error.state.starts_with(*class);
    ERRORS_OF_ROWS.contains(&error.code) || CLASSES_OF_ROWS.iter().any(is_class)
}

/// Converts the values of rows to parameters.
fn parameters(batch: &Batch, rows: Range<usize>) -> Params {
    if batch.columns.is_empty() {
        return Params::Empty;
    }
    let values = sql::cells(batch, rows).map(|cell| match cell {
        Cell::Null => Value::NULL,
        Cell::Integer(integer) => Value::Int(integer),
        Cell::Real(real) => Value::Double(real),
        Cell::Text(bytes) | Cell::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    });
    Params::Positional(values.collect())
}
