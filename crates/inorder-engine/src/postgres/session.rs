//! A connection to PostgreSQL.

use super::{connect::Target, copy};
use crate::{
    Batch,
    batch::Cell,
    server::{
        Connection, Failure,
        session::{LOST, is_end},
        sql::{self, numbered},
    },
};
use postgres::{Client, Statement, types::ToSql};
use std::ops::Range;

/// Connection options.
#[derive(Clone)]
pub struct Address {
    /// The server and the user.
    pub target: Target,
    /// Schema of names without one, or `None` for the server's default.
    pub schema: Option<String>,
    /// Whether the role's own settings turn off the enforcement of foreign keys.
    pub has_replica_role: bool,
}

impl Connection for Client {
    type Address = Address;
    type Statement = Statement;

    fn open(address: &Address, enforces_foreign_keys: bool) -> Result<Self, Failure> {
        let mut client = address.target.connect()?;
        if let Some(schema) = &address.schema {
            client.batch_execute(&format!("SET search_path TO {schema}"))?;
        }
        if !enforces_foreign_keys && !address.has_replica_role {
            // Foreign keys are enforced by triggers that do not fire for a replica.
            client.batch_execute("SET session_replication_role = replica")?;
        }
        Ok(client)
    }

    fn quoted(name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn run(&mut self, sql: &str) -> Result<(), Failure> {
        Ok(self.batch_execute(sql)?)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Failure> {
        Ok(Client::prepare(self, &numbered(sql))?)
    }

    fn parameters(statement: &Statement) -> usize {
        statement.params().len()
    }

    fn execute(
        &mut self,
        statement: &Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure> {
        let cells: Vec<Cell<'_>> = sql::cells(batch, rows).collect();
        Client::execute(self, statement, &parameters(&cells))?;
        Ok(())
    }

    fn query(&mut self, statement: &Statement, batch: &Batch, row: usize) -> Result<u64, Failure> {
        let cells: Vec<Cell<'_>> = sql::cells(batch, row..row + 1).collect();
        let rows = Client::query(self, statement, &parameters(&cells))?;
        Ok(rows.len() as u64)
    }

    fn insert_of_defaults(table: &str) -> String {
        format!("INSERT INTO {table} DEFAULT VALUES")
    }

    fn bulk_statement(table: &str, columns: &str) -> String {
        format!("COPY {table}({columns}) FROM STDIN")
    }

    /// Copies rows in binary if all values have that form, otherwise as text.
    fn bulk(
        &mut self,
        sql: &str,
        insert: &Statement,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Failure> {
        copy::send(self, sql, insert.params(), batch, rows)?;
        Ok(())
    }
}

/// Class of errors with which a server ends a session.
const ENDED: &str = "57P";

/// Converts values to parameters.
fn parameters<'a>(cells: &'a [Cell<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    cells.iter().map(|cell| cell as _).collect()
}

impl From<postgres::Error> for Failure {
    fn from(error: postgres::Error) -> Self {
        let of_the_row = of_the_row(&error);
        let is_of_the_row = of_the_row.is_some();
        // Serialization failure, deadlock.
        let is_conflict = error
            .code()
            .is_some_and(|code| ["40001", "40P01"].contains(&code.code()));
        let message = of_the_row.unwrap_or_else(|| match error.as_db_error() {
            Some(told) if told.code().code().starts_with(ENDED) => {
                format!("{LOST} ({})", told.message())
            }
            Some(told) => told.message().to_owned(),
            None if is_lost(&error) => LOST.to_owned(),
            None => match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
        });
        Failure {
            message,
            is_of_the_row,
            is_conflict,
        }
    }
}

/// Returns whether the server has closed the connection.
fn is_lost(error: &postgres::Error) -> bool {
    let source = std::error::Error::source(error);
    let io = source.and_then(|source| source.downcast_ref());
    error.is_closed() || io.is_some_and(is_end)
}

/// Returns the problem of a row, if the row caused the error: the classes 22 (data) and 23 (constraints) of
/// <https://www.postgresql.org/docs/15/errcodes-appendix.html>, or a value that does not fit its type.
fn of_the_row(error: &postgres::Error) -> Option<String> {
    let Some(told) = error.as_db_error() else {
        return std::error::Error::source(error)
            .filter(|_| !is_lost(error))
            .map(ToString::to_string);
    };
    let is_of_the_row = ["22", "23"].contains(&&told.code().code()[..2]);
    let detail = told.detail().map(|detail| format!(": {detail}"));
    is_of_the_row.then(|| format!("{}{}", told.message(), detail.unwrap_or_default()))
}
