//! The application's queries: plans and times before and after.

use crate::{
    Error,
    ddl::tokens,
    read::{self, Database, Origin},
};
use rusqlite::Connection;
use serde::Serialize;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// A query that takes longer is stopped.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Each query runs so often; its shortest time counts.
const RUNS: usize = 3;
/// Instructions of SQLite's machine between two looks at the clock.
const INSTRUCTIONS: i32 = 10_000;

/// A query before and after the changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Query {
    /// Its text.
    pub sql: String,
    /// Its plan as it is, a line each; empty if it doesn't compile.
    pub plan_before: Vec<String>,
    /// Its plan with the changes.
    pub plan_after: Vec<String>,
    /// The shortest of three times, in milliseconds. `None` for one with parameters, one that writes, and one that was
    /// stopped.
    pub ms_before: Option<f64>,
    /// The same with the changes.
    pub ms_after: Option<f64>,
    /// Why it doesn't compile.
    pub error: Option<String>,
}

/// The queries of a file, and the indexes that none of them uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Queries {
    /// In the order of the file.
    pub queries: Vec<Query>,
    /// Indexes that CREATE INDEX made and no plan of these queries names.
    pub unused_indexes: Vec<String>,
}

/// The statements of a text.
pub fn statements(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut from, mut last) = (None, 0);
    for token in tokens(text) {
        if token.is_symbol(";") {
            if let Some(from) = from.take() {
                found.push(text[from..last].to_owned());
            }
        } else {
            from.get_or_insert(token.start);
            last = token.end();
        }
    }
    found.extend(from.map(|from| text[from..last].to_owned()));
    found
}

/// Runs queries on a database and, if there are changes, on one with them.
pub(super) fn compare(
    database: &Database,
    before: &Path,
    after: Option<&Path>,
    queries: &[String],
) -> Result<Queries, Error> {
    let open = |path: &Path| -> Result<Connection, Error> {
        let connection = read::open(path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    let before = open(before)?;
    let after = after.map(open).transpose()?;
    let queries: Vec<Query> = queries
        .iter()
        .map(|sql| query(&before, after.as_ref(), sql))
        .collect();
    let created = database
        .tables
        .iter()
        .flat_map(|table| &table.indexes)
        .filter(|index| index.origin == Origin::Created);
    let is_used = |name: &str| {
        let mut lines = queries.iter().flat_map(|query| &query.plan_before);
        lines.any(|line| line.split(' ').any(|word| word == name))
    };
    let unused = created
        .filter(|index| !is_used(&index.name))
        .map(|index| index.name.clone());
    Ok(Queries {
        unused_indexes: unused.collect(),
        queries,
    })
}

fn query(before: &Connection, after: Option<&Connection>, sql: &str) -> Query {
    let plans = |connection: &Connection| plan(connection, sql);
    let (plan_before, error) = match plans(before) {
        Ok(lines) => (lines, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    Query {
        sql: sql.into(),
        plan_after: after
            .and_then(|after| plans(after).ok())
            .unwrap_or_else(|| plan_before.clone()),
        plan_before,
        ms_before: shortest(before, sql),
        ms_after: after.and_then(|after| shortest(after, sql)),
        error,
    }
}

fn plan(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    // Parameters stay NULL.
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(row.get(3)?);
    }
    Ok(lines)
}

/// The shortest time of a query that reads and has no parameters.
fn shortest(connection: &Connection, sql: &str) -> Option<f64> {
    let mut statement = connection.prepare(sql).ok()?;
    if !statement.readonly() || statement.parameter_count() > 0 {
        return None;
    }
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        connection
            .progress_handler(INSTRUCTIONS, Some(move || began.elapsed() > TIME_MAX))
            .ok()?;
        let run = (|| {
            let mut rows = statement.query(())?;
            while rows.next()?.is_some() {}
            Ok::<(), rusqlite::Error>(())
        })();
        connection.progress_handler(0, None::<fn() -> bool>).ok()?;
        run.ok()?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    times.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn statements_end_at_semicolons_outside_of_texts() {
        let text =
            "SELECT ';' -- a; b\n; \n SELECT 2;; WITH x AS (SELECT 1) SELECT * FROM x -- end";
        assert_eq!(
            statements(text),
            [
                "SELECT ';'",
                "SELECT 2",
                "WITH x AS (SELECT 1) SELECT * FROM x"
            ]
        );
    }
}
