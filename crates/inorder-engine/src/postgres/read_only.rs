//! A session that only reads a running server.

use super::{
    connect::{Target, connect_with, target},
    copy_out,
};
use crate::{
    Error,
    remote::{
        Remote,
        read_only::{Cancel, EachRow, ReadConnection, ReadLimits, TextRows},
    },
    server::{Failure, session::LOST},
};
use postgres::{Client, SimpleQueryMessage};

/// Settings of the session. Names in answers are qualified, because the search path is empty; no parallel workers are
/// taken from the server's other users. Times are in milliseconds.
const SETTINGS: &[(&str, &str)] = &[
    ("default_transaction_read_only", "on"),
    ("search_path", ""),
    ("client_min_messages", "error"),
    ("max_parallel_workers_per_gather", "0"),
    ("jit", "off"),
    // Rows of a whole table in the order of its pages.
    ("synchronize_seqscans", "off"),
    ("bytea_output", "hex"),
    ("datestyle", "ISO, MDY"),
    ("intervalstyle", "postgres"),
    ("extra_float_digits", "1"),
    ("standard_conforming_strings", "on"),
    ("timezone", "UTC"),
    // A policy that hides rows is an error, not a smaller sample.
    ("row_security", "off"),
];

/// Opens a session with a snapshot.
pub fn open(remote: &Remote, limits: ReadLimits) -> Result<Box<dyn ReadConnection>, Error> {
    let url = &remote.url;
    let mut target = target(url)?;
    target.config.application_name("inorder advise");
    let mut client = connect_with(&target, url)?;
    let mut begin: String = SETTINGS
        .iter()
        .map(|(name, value)| format!("SET {name} = '{value}';"))
        .collect();
    begin += &format!(
        "SET statement_timeout = {}; SET lock_timeout = {};
         BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1",
        limits.statement_max.as_millis(),
        limits.lock_max.as_millis()
    );
    count_nothing(&mut client);
    client
        .batch_execute(&begin)
        .map_err(|error| url.error(Failure::from(error).message))?;
    Ok(Box::new(Reading { client, target }))
}

/// Keeps the session's scans out of the server's statistics of use, where the user may decide that: superusers may, and
/// since release 15 those who were granted it. Where it fails, scans are counted as those of every reader.
fn count_nothing(client: &mut Client) {
    let mut is_true = |sql: &str| {
        let messages = client.simple_query(sql).unwrap_or_default();
        messages.iter().any(
            |message| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("t")),
        )
    };
    let is_superuser = "SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user";
    let has_privileges = "SELECT current_setting('server_version_num')::int >= 150000";
    let is_granted = "SELECT pg_catalog.has_parameter_privilege('track_counts', 'SET')";
    if is_true(is_superuser) || (is_true(has_privileges) && is_true(is_granted)) {
        _ = client.batch_execute("SET track_counts = off");
    }
}

fn lost() -> Error {
    Error::Database {
        doing: "reading the server".to_owned(),
        message: LOST.to_owned(),
    }
}

struct Reading {
    client: Client,
    target: Target,
}

impl ReadConnection for Reading {
    fn rows(&mut self, sql: &str) -> Result<TextRows, Error> {
        let failed = |error: postgres::Error| Failure::from(error).doing("reading the server");
        // Going back to it keeps the transaction after a failure, and releases the locks on the tables that were read.
        self.client.batch_execute("SAVEPOINT one").map_err(failed)?;
        let answer = self.client.simple_query(sql);
        if self.client.is_closed() {
            return Err(answer.map_or_else(failed, |_| lost()));
        }
        let back = self.client.batch_execute("ROLLBACK TO one; RELEASE one");
        let messages = answer.map_err(failed)?;
        back.map_err(failed)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(
                (0..row.len())
                    .map(|at| row.get(at).map(str::to_owned))
                    .collect(),
            ),
            _ => None,
        });
        Ok(rows.collect())
    }

    fn stream(&mut self, sql: &str, each: EachRow<'_>) -> Result<(), Error> {
        copy_out::stream(&mut self.client, sql, each)
    }

    fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    fn cancel(&self) -> Cancel {
        self.target.cancel(self.client.cancel_token())
    }
}
