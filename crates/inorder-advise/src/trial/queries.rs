//! The application's queries: plans, results and times before and after.

use super::{
    pairs::{self, Pairs},
    parameters,
    value::Value,
};
use crate::{
    Error,
    ddl::{mentions, tokens},
    read::{self, Database, Origin},
};
use inorder_key::bulk::SplitMix64;
use rusqlite::{Connection, ErrorCode, Statement, params_from_iter, types::ValueRef};
use serde::Serialize;
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::Path,
    time::{Duration, Instant},
};

/// A query that takes longer is stopped.
const TIME_MAX: Duration = Duration::from_secs(2);
/// How long a query is measured. Three runs of each side are made in any case, if the first takes less than a second.
const TIME: Duration = Duration::from_millis(400);
/// Instructions of SQLite's machine between two looks at the clock.
const INSTRUCTIONS: i32 = 10_000;
/// Digits of a floating-point result that don't depend on the order of its terms.
const DIGITS: usize = 9;
/// Functions whose results depend on the order of the rows, which SQLite leaves open.
const OF_ORDER: [&str; 6] = [
    "group_concat",
    "string_agg",
    "json_group_array",
    "json_group_object",
    "jsonb_group_array",
    "jsonb_group_object",
];

/// A query before and after the changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Query {
    /// Its text.
    pub sql: String,
    /// Its plan as it is, a line each; empty if it doesn't compile.
    pub plan_before: Vec<String>,
    /// Its plan with the changes.
    pub plan_after: Vec<String>,
    /// The median time in milliseconds. `None` for a query that writes, one that was stopped, and one with parameters
    /// whose column can't be told.
    pub ms_before: Option<f64>,
    /// The same with the changes.
    pub ms_after: Option<f64>,
    /// The ratio of the times with its 95% interval, where there was time for enough runs.
    pub times: Option<Pairs>,
    /// What parameters were bound to: `?1 = film.year` is the value of random rows.
    pub parameters: Vec<String>,
    /// Parameters whose column can't be told: the query has plans and no times.
    pub unknown_parameters: Vec<String>,
    /// Whether results before and after were compared.
    pub is_compared: bool,
    /// Whether it was stopped with the changes and not without them: it took too long.
    pub is_stopped: bool,
    /// Why it doesn't compile.
    pub error: Option<String>,
    /// How the changes break it: other rows, or it doesn't compile any more.
    pub broken: Option<String>,
}

/// A query is clearly slower from this factor on: the whole 95% interval is at or above it.
const SLOWER_MIN: f64 = 1.25;
/// And from this many milliseconds on: less is what a cache or a page more or less makes.
const LONGER_MIN_MS: f64 = 0.005;
/// The factor for single runs, which have no interval.
const SLOWER_MIN_OF_SINGLE_RUNS: f64 = 2.0;

impl Query {
    /// How the changes make it clearly slower; nothing where they don't.
    pub fn slower(&self) -> Option<String> {
        let (Some(before), false) = (self.ms_before, self.error.is_some()) else {
            return self.scans_more();
        };
        if self.is_stopped {
            return Some(format!(
                "takes more than {:.0} s instead of {before:.3} ms",
                TIME_MAX.as_secs_f64()
            ));
        }
        let after = self.ms_after?;
        let (is_slower, interval) = match self.times {
            Some(times) => {
                let [low, high] = times.ratio_interval;
                let interval = format!("95% interval {low:.1} to {high:.1} times");
                (low >= SLOWER_MIN, interval)
            }
            None => (
                after >= SLOWER_MIN_OF_SINGLE_RUNS * before,
                "single runs".to_owned(),
            ),
        };
        (is_slower && after - before >= LONGER_MIN_MS)
            .then(|| format!("takes {after:.3} ms instead of {before:.3} ms ({interval})"))
    }

    /// The same by its plans, for one that was not run.
    fn scans_more(&self) -> Option<String> {
        let scans = |plan: &[String]| plan.iter().filter(|line| line.starts_with("SCAN")).count();
        let is_known = self.error.is_none() && self.broken.is_none();
        (is_known && scans(&self.plan_after) > scans(&self.plan_before)).then(|| {
            format!(
                "reads a whole table where it used an index ({} instead of {}); it was not timed",
                self.plan_after.join(", "),
                self.plan_before.join(", ")
            )
        })
    }
}

/// The queries of a file, and the indexes that none of them uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Queries {
    /// In the order of the file.
    pub queries: Vec<Query>,
    /// Indexes that CREATE INDEX made and no plan of these queries names.
    pub unused_indexes: Vec<String>,
}

impl Queries {
    /// Whether the changes break one of them.
    pub fn is_broken(&self) -> bool {
        self.queries.iter().any(|query| query.broken.is_some())
    }
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

/// Explains queries and, if times are taken, runs them: on a database and, if there are changes, on one with them.
pub(super) fn compare(
    database: &Database,
    before: &Path,
    after: Option<&Path>,
    queries: &[String],
    takes_times: bool,
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
        .map(|sql| query(database, &before, after.as_ref(), sql, takes_times))
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

fn query(
    database: &Database,
    before: &Connection,
    after: Option<&Connection>,
    sql: &str,
    takes_times: bool,
) -> Query {
    let mut query = Query {
        sql: sql.into(),
        ..Query::default()
    };
    match plan(before, sql) {
        Ok(lines) => query.plan_before = lines,
        Err(error) => {
            query.error = Some(error.to_string());
            return query;
        }
    }
    match after.map(|after| plan(after, sql)) {
        None => query.plan_after.clone_from(&query.plan_before),
        Some(Ok(lines)) => query.plan_after = lines,
        Some(Err(error)) => {
            query.broken = Some(format!("it does not compile with the changes: {error}"));
            return query;
        }
    }
    if takes_times && let Err(error) = run(database, before, after, &mut query) {
        query.error = Some(error.to_string());
    }
    query
}

/// Values for the parameters of a query, some sets of them; none where the column of one can't be told.
fn sets(
    database: &Database,
    connection: &Connection,
    statement: &Statement<'_>,
    query: &mut Query,
) -> Vec<Vec<Value>> {
    let name = |at| statement.parameter_name(at).map(str::to_owned);
    let names: Vec<_> = (1..=statement.parameter_count()).map(name).collect();
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let values = parameters::values(connection, database, &query.sql, &names);
    (query.parameters, query.unknown_parameters) = (values.words, values.unknown);
    values.sets
}

/// Runs a query that only reads: compares its results and takes its times.
fn run(
    database: &Database,
    before: &Connection,
    after: Option<&Connection>,
    query: &mut Query,
) -> rusqlite::Result<()> {
    let mut first = before.prepare(&query.sql)?;
    if !first.readonly() {
        return Ok(());
    }
    let mut sets = sets(database, before, &first, query);
    if sets.is_empty() {
        return Ok(());
    }
    // The first run caches pages. A query that is slow runs with one set of values.
    let mut all = results(before, &mut first, &sets)?;
    if all.is_none() {
        sets.truncate(1);
        all = results(before, &mut first, &sets)?;
    }
    let Some(results) = all else {
        return Ok(());
    };
    let again = Instant::now();
    let is_same_again = self::results(before, &mut first, &sets)? == Some(results);
    let ms = |time: Duration| time.as_secs_f64() * 1000.0 / sets.len() as f64;
    query.ms_before = Some(ms(again.elapsed()));
    let Some(after) = after else { return Ok(()) };
    let mut second = after.prepare(&query.sql)?;
    let other = match self::results(after, &mut second, &sets) {
        Ok(Some(other)) => other,
        Ok(None) => {
            query.is_stopped = true;
            return Ok(());
        }
        Err(error) => {
            query.broken = Some(format!("it fails with the changes: {error}"));
            return Ok(());
        }
    };
    query.is_compared = is_same_again;
    if is_same_again && !is_same(&query.sql, results, other) {
        query.broken = Some(format!(
            "it returns other rows with the changes: {} rows before, {} after",
            results.rows, other.rows
        ));
    }
    let mut statements = [(before, first), (after, second)];
    query.times = pairs::measure(TIME, |side, block| {
        let (connection, statement) = &mut statements[side];
        let set = &sets[block % sets.len()];
        let found = self::results(connection, statement, std::slice::from_ref(set));
        found.ok()?.map(|_| 1)
    });
    match query.times {
        Some(times) => {
            (query.ms_before, query.ms_after) =
                (Some(times.before_ns / 1e6), Some(times.after_ns / 1e6));
        }
        None => {
            let again = Instant::now();
            self::results(after, &mut statements[1].1, &sets)?;
            query.ms_after = Some(ms(again.elapsed()));
        }
    }
    Ok(())
}

/// Whether two results of a query are the same, as far as SQL says what they are.
fn is_same(sql: &str, before: Results, after: Results) -> bool {
    // Which rows LIMIT takes of equal ones is open.
    let has = |word: &str| mentions(sql, word);
    match has("limit") || OF_ORDER.into_iter().any(has) {
        true => before.rows == after.rows,
        false => before == after,
    }
}

/// Rows of a query, in any order: how many, and the sum of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Results {
    rows: u64,
    sum: u64,
}

/// Runs a statement with each set of values. `None` where it takes too long.
fn results(
    connection: &Connection,
    statement: &mut Statement<'_>,
    sets: &[Vec<Value>],
) -> rusqlite::Result<Option<Results>> {
    let began = Instant::now();
    connection.progress_handler(INSTRUCTIONS, Some(move || began.elapsed() > TIME_MAX))?;
    let mut found = Results::default();
    let run = (|| {
        for set in sets {
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(set))?;
            while let Some(row) = rows.next()? {
                let mut hash = 0;
                for at in 0..columns {
                    hash = SplitMix64::mix(hash ^ value_hash(row.get_ref(at)?));
                }
                found.rows += 1;
                found.sum = found.sum.wrapping_add(hash);
            }
        }
        Ok::<(), rusqlite::Error>(())
    })();
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match run {
        Ok(()) => Ok(Some(found)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn value_hash(value: ValueRef<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        ValueRef::Null => 0u8.hash(&mut hasher),
        ValueRef::Integer(integer) => (1u8, integer).hash(&mut hasher),
        ValueRef::Real(real) => (2u8, format!("{real:.DIGITS$e}")).hash(&mut hasher),
        ValueRef::Text(text) => (3u8, text).hash(&mut hasher),
        ValueRef::Blob(blob) => (4u8, blob).hash(&mut hasher),
    }
    hasher.finish()
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
