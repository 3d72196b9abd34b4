//! A session that creates tables, writes rows by COPY and reads them back.

use super::{
    connect::{self, Target},
    copy_out,
};
use crate::{
    Error,
    remote::{Cancel, EachRow, ServerUrl, TextRows},
    server::{Connection as _, Failure},
};
use postgres::{Client, SimpleQueryMessage};
use std::io::Write as _;

/// A session of a database that a copy is written to.
pub struct Exchange {
    client: Client,
    target: Target,
}

impl Exchange {
    /// Connects to the database of a URL.
    ///
    /// # Errors
    /// If no server answers, or it refuses the connection.
    pub fn open(url: &ServerUrl) -> Result<Self, Error> {
        let target = connect::target(url)?;
        Ok(Exchange {
            client: connect::connect_with(&target, url)?,
            target,
        })
    }

    /// A function that ends the statement that runs when it is called, if one does.
    #[must_use]
    pub fn cancel(&self) -> Cancel {
        self.target.cancel(self.client.cancel_token())
    }

    /// Runs statements that return nothing.
    ///
    /// # Errors
    /// The server's message with the statements.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.client.run(sql).map_err(|failure| failure.doing(sql))
    }

    /// Runs a statement in a savepoint. Returns the server's reason if it refuses what the statement says: its syntax, its
    /// names, its values, or a constraint that rows violate.
    ///
    /// # Errors
    /// The server's message with the statement, if the statement failed for another reason.
    pub fn attempt(&mut self, sql: &str) -> Result<Option<String>, Error> {
        /// Classes of SQLSTATE: not supported, data, constraints, names and syntax, limits, state of an object.
        const REFUSALS: &[&str] = &["0A", "22", "23", "42", "54", "55000"];
        self.run("SAVEPOINT inorder")?;
        let Err(error) = self.client.batch_execute(sql) else {
            self.run("RELEASE SAVEPOINT inorder")?;
            return Ok(None);
        };
        let told = error.as_db_error();
        let is_refused = |told: &&postgres::error::DbError| {
            let code = told.code().code();
            REFUSALS.iter().any(|refusal| code.starts_with(refusal))
        };
        let Some(why_not) = told
            .filter(is_refused)
            .map(|told| told.message().to_owned())
        else {
            return Err(Failure::from(error).doing(sql));
        };
        self.run("ROLLBACK TO SAVEPOINT inorder; RELEASE SAVEPOINT inorder")?;
        Ok(Some(why_not))
    }

    /// Runs a query and returns its rows as text.
    ///
    /// # Errors
    /// The server's message with the query.
    pub fn rows(&mut self, sql: &str) -> Result<TextRows, Error> {
        let answer = self.client.simple_query(sql);
        let messages = answer.map_err(|error| Failure::from(error).doing(sql))?;
        let row = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => {
                let text = |at| row.get(at).map(str::to_owned);
                Some((0..row.len()).map(text).collect())
            }
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    }

    /// Runs a `COPY … FROM STDIN` with the text that `next` appends until it returns false. Returns the number of rows.
    ///
    /// # Errors
    /// The server's message with the statement.
    pub fn copy_in(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, Error> {
        let failed = |error: postgres::Error| {
            let detail = error.as_db_error().and_then(|told| told.where_());
            let place = detail.map_or(String::new(), |place| format!(" ({place})"));
            let mut failure = Failure::from(error);
            failure.message += &place;
            failure.doing(sql)
        };
        let mut sink = self.client.copy_in(sql).map_err(failed)?;
        let mut rows = Vec::new();
        while next(&mut rows) {
            // `finish` returns the server's error.
            if sink.write_all(&rows).is_err() {
                break;
            }
            rows.clear();
        }
        sink.finish().map_err(failed)
    }

    /// Reads the rows of a query, one after another.
    ///
    /// # Errors
    /// The server's message with the query.
    pub fn stream(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
        copy_out::stream(&mut self.client, sql, each)
    }
}
