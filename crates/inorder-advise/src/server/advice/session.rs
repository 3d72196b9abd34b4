//! From a URL to the advice: read, find, predict, judge, and write the steps.

use super::{
    Advice, Plan,
    judge::{Part, judge},
    measure::{SHARE_MIN, Sizes, measure},
    stale,
};
use crate::{
    Error,
    advice::{IdLine, Observer, Verdict, id_lines::NOT_RANDOM},
    classify::{IdRole, Settled},
    counter::{Readings, now_s},
    read::has_time,
    rules::Class,
    server::{
        classes::{self, check_names},
        counters::{self, ServerCounter},
        ids::{self, IdColumn, Storage},
        mariadb, migrate,
        model::{Database, Table, TableKind},
        named, postgres, predict,
        rules::{self, Action, Candidate, ColumnName, Group},
    },
};
use inorder_engine::remote::{Cancel, ReadLimits, ReadOnly, Remote, ServerUrl};
use std::time::Duration;

/// Products whose catalog and storage are those of PostgreSQL, and of MariaDB.
const PRODUCTS: &[&str] = &[
    "PostgreSQL",
    "Aurora PostgreSQL",
    "MariaDB",
    "Galera",
    "MySQL",
    "Aurora MySQL",
];
/// Products by what they derive from.
const POSTGRES: &str = "postgres";

/// What can't be seen of the names of indexes.
const NAMED_ELSEWHERE: &str = "Statements of the application that name an index or a constraint, such as FORCE INDEX or ON CONFLICT ON CONSTRAINT, are not visible here, \
     nor are routines that the user of the URL may not see.";

/// Starts predictions for a database that was read. An error is the reason why there are none.
pub type Starts<'a> = &'a dyn Fn(&Database) -> Result<Box<dyn Sizes + 'a>, Error>;

/// How to advise.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Maximum time of one statement on the server.
    pub statement_max: Duration,
    /// Maximum time to wait for a lock.
    pub lock_max: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            statement_max: Duration::from_secs(60),
            lock_max: Duration::from_secs(2),
        }
    }
}

/// A session that reads a server's database.
pub struct Reader {
    remote: Remote,
    session: ReadOnly,
    since: Option<Readings>,
    settled: Settled,
}

impl Reader {
    /// Connects to the server at a URL. The session can only read.
    ///
    /// # Errors
    /// If no server answers, it refuses, or its product isn't advised on.
    pub fn open(url: &str, options: Options) -> Result<Self, Error> {
        let remote = Remote::at(&ServerUrl::parse(url)?)?;
        if !PRODUCTS.contains(&remote.dialect.name) {
            return Err(Error::OtherProduct {
                product: remote.dialect.name,
                of: if remote.dialect.engine == POSTGRES {
                    "PostgreSQL"
                } else {
                    "MariaDB"
                },
            });
        }
        let session = remote.read_only(ReadLimits {
            statement_max: options.statement_max,
            lock_max: options.lock_max,
        })?;
        Ok(Reader {
            remote,
            session,
            since: None,
            settled: Settled::default(),
        })
    }

    /// Tells for how many days counters last, by what an earlier report has of them.
    pub fn since(self, readings: Option<Readings>) -> Self {
        Reader {
            since: readings,
            ..self
        }
    }

    /// The same with what the user says of columns.
    #[must_use]
    pub fn with_settled(self, settled: Settled) -> Self {
        Reader { settled, ..self }
    }

    /// Returns a function that stops the running statement, from any thread.
    pub fn cancel(&self) -> Cancel {
        self.session.cancel()
    }

    /// Reads the database.
    ///
    /// # Errors
    /// If its catalog can't be read, or the connection is lost.
    pub fn read(&mut self, observer: &dyn Observer) -> Result<Database, Error> {
        let version = self.remote.version();
        let step = |name: &str, object: &str| {
            observer.step(name);
            observer.object(object);
        };
        match self.remote.dialect.engine {
            POSTGRES => postgres::read(&mut self.session, &version, &step),
            _ => mariadb::read(&mut self.session, &version, &step),
        }
    }

    /// Reads the database and advises on it. `starts` starts the server of predictions.
    ///
    /// # Errors
    /// If its catalog can't be read, or the connection is lost.
    pub fn advise(mut self, starts: Starts<'_>, observer: &dyn Observer) -> Result<Advice, Error> {
        let mut database = self.read(observer)?;
        let url = self.remote.url.to_string();
        check_names(&database, &self.settled)?;
        let mut found = find(&database, &self.settled, self.since.as_ref(), observer);
        self.reject_named(&mut database, &mut found.candidates, observer)?;
        self.count_keys(&mut database, &found.candidates, observer)?;
        // The snapshot holds back VACUUM: it ends before anything is predicted.
        drop(self);
        Ok(advise(url, database, found, starts, observer))
    }

    /// Rejects to take an index or a constraint away that something in the database names.
    fn reject_named(
        &mut self,
        database: &mut Database,
        candidates: &mut [Candidate],
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        observer.step("looking for what names the indexes");
        let mut is_any = false;
        for candidate in candidates {
            let [
                Action::DropIndex {
                    schema,
                    table,
                    index,
                }
                | Action::DropConstraint {
                    schema,
                    table,
                    index,
                    ..
                }
                | Action::PartialIndex {
                    schema,
                    table,
                    index,
                    ..
                },
            ] = &candidate.actions[..]
            else {
                continue;
            };
            let Some(table) = database
                .table(schema, table)
                .filter(|_| candidate.class == Class::Safe)
            else {
                continue;
            };
            observer.object(index);
            let constraint = match &candidate.actions[0] {
                Action::DropConstraint { constraint, .. } => Some(constraint.as_str()),
                _ => None,
            };
            let names: Vec<&str> = std::iter::once(index.as_str())
                .chain(constraint.filter(|own| own != index))
                .collect();
            let found = named::find(&mut self.session, database.product, table, &names)?;
            match found {
                Some(words) => {
                    candidate.class = Class::Rejected;
                    candidate.reason = format!("{words} names it");
                }
                None => is_any = true,
            }
        }
        if is_any {
            database.notes.push(NAMED_ELSEWHERE.into());
        }
        Ok(())
    }

    /// Counts the rows of some keys of the tables that are predicted: a sample doesn't tell how often a key repeats.
    fn count_keys(
        &mut self,
        database: &mut Database,
        candidates: &[Candidate],
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        observer.step("counting rows per key");
        let base = super::base_bytes(database);
        let mut scanned = Vec::new();
        for at in 0..database.tables.len() {
            let table = &database.tables[at];
            let mut candidates = candidates.iter();
            let is_large = table.total_bytes() as f64 >= SHARE_MIN * base as f64;
            let is_whole = table.sample.as_ref().is_some_and(|sample| sample.is_whole);
            if !is_large || is_whole || !candidates.any(|candidate| is_predicted(candidate, table))
            {
                continue;
            }
            for index in 0..table.indexes.len() {
                let table = &database.tables[at];
                let own = &table.indexes[index];
                let query = predict::rows_per_key(database, table, own);
                let Some(query) = query.filter(|_| own.is_valid) else {
                    continue;
                };
                observer.object(&own.name);
                // Without it the prediction goes by the sample alone.
                if let Some(rows) = postgres::probe(&mut self.session, table, &query)? {
                    scanned.push(own.name.clone());
                    let counts = rows
                        .into_iter()
                        .filter_map(|row| row.into_iter().next()??.parse().ok());
                    database.tables[at].indexes[index].rows_per_key = counts.collect();
                }
            }
        }
        if !scanned.is_empty() && postgres::counts_scans(&mut self.session)? {
            database.notes.push(format!(
                "Rows per key were counted by these indexes, which the server's statistics of their use contain: {}.",
                scanned.join(", ")
            ));
        }
        Ok(())
    }
}

/// What was found in a database.
struct Found {
    ids: Vec<IdColumn>,
    counters: Vec<ServerCounter>,
    read_at_s: u64,
    candidates: Vec<Candidate>,
}

fn find(
    database: &Database,
    settled: &Settled,
    since: Option<&Readings>,
    observer: &dyn Observer,
) -> Found {
    observer.step("finding kinds of ids");
    let mut ids = ids::find(database);
    classes::find(database, &mut ids, settled);
    let mut counters = counters::find(database, &ids);
    let read_at_s = now_s();
    if let Some(readings) = since {
        let all = counters.iter_mut().map(|own| &mut own.counter);
        readings.date(all, read_at_s);
    }
    let candidates = rules::find(&rules::Facts {
        database,
        ids: &ids,
        counters: &counters,
    });
    Found {
        ids,
        counters,
        read_at_s,
        candidates,
    }
}

/// Tells whether sizes of a table are predicted for a candidate.
fn is_predicted(candidate: &Candidate, table: &Table) -> bool {
    let is_of =
        |column: &ColumnName| (&column.schema, &column.table) == (&table.schema, &table.name);
    let is_wanted = candidate.class != Class::Rejected || candidate.group == Group::Bigint;
    is_wanted
        && candidate.actions.iter().any(|action| match action {
            Action::Convert { columns, .. } => columns.iter().any(is_of),
            Action::OrderedUuid { column } => is_of(column),
            _ => false,
        })
}

/// Advises on a database that was read.
fn advise(
    url: String,
    mut database: Database,
    found: Found,
    starts: Starts<'_>,
    observer: &dyn Observer,
) -> Advice {
    let Found {
        ids,
        counters,
        read_at_s,
        candidates,
    } = found;
    let is_any = database.tables.iter().any(|table| {
        candidates
            .iter()
            .any(|candidate| is_predicted(candidate, table))
    });
    let (mut sizes, mut unpredicted) = (None, String::new());
    if is_any {
        observer.step("rebuilding samples on a private server");
        match starts(&database) {
            Ok(started) => sizes = Some(started),
            Err(error) => unpredicted = error.to_string(),
        }
    }
    // Conversions are measured without the indexes that go before them.
    let after = after(&database, &candidates);
    let (mut parts, mut notes) = (Vec::new(), Vec::new());
    for candidate in candidates {
        observer.object(&candidate.object);
        let (found, note) = measure(&database, &after, &candidate, &mut sizes);
        notes.extend(note);
        parts.push(Part {
            candidate,
            measure: found,
        });
    }
    drop(sizes);
    database.notes.extend(notes);
    let base_bytes = super::base_bytes(&database);
    let stale = stale::note(&database, &parts, base_bytes);
    let mut items = judge(parts, base_bytes);
    if stale.is_some() {
        items.iter_mut().for_each(|item| item.percent = None);
    }
    let plans = plans(&database, &items);
    let rows_read = database
        .tables
        .iter()
        .filter(|table| table.kind != TableKind::Partitioned)
        .filter_map(|table| Some(table.sample.as_ref()?.rows.len() as u64))
        .sum();
    let lines = ids.iter().filter_map(|own| line(&database, own)).collect();
    let sizes_are_stale = stale.is_some();
    // It is the first note: it concerns all others.
    database.notes.splice(0..0, stale);
    Advice {
        url,
        ids: lines,
        counters: counters.into_iter().map(|own| own.counter).collect(),
        read_at_s,
        items,
        plans,
        unpredicted,
        rows_read,
        sizes_are_stale,
        database,
    }
}

/// The database without its samples, after the safe changes of its indexes.
fn after(database: &Database, candidates: &[Candidate]) -> Database {
    let mut after = Database {
        tables: database
            .tables
            .iter()
            .map(|table| Table {
                sample: None,
                ..table.clone()
            })
            .collect(),
        ..database.clone_without_tables()
    };
    for action in candidates
        .iter()
        .filter(|candidate| candidate.class == Class::Safe)
        .flat_map(|candidate| &candidate.actions)
    {
        let (schema, name) = match action {
            Action::DropIndex { schema, table, .. }
            | Action::DropConstraint { schema, table, .. }
            | Action::PartialIndex { schema, table, .. } => (schema, table),
            _ => continue,
        };
        let Some(table) = after
            .tables
            .iter_mut()
            .find(|table| (&table.schema, &table.name) == (schema, name))
        else {
            continue;
        };
        match action {
            Action::DropIndex { index, .. } | Action::DropConstraint { index, .. } => {
                table.indexes.retain(|own| own.name != *index)
            }
            Action::PartialIndex { index, column, .. } => {
                let own = table.indexes.iter_mut().find(|own| own.name == *index);
                if let Some(own) = own {
                    own.predicate = Some(format!("{column} IS NOT NULL"));
                    own.entries = Some(0);
                }
            }
            _ => {}
        }
    }
    after
}

/// The steps of everything that is proposed. New types come before new defaults.
fn plans(database: &Database, items: &[super::Item]) -> Vec<Plan> {
    let proposed = items.iter().filter(|item| item.verdict != Verdict::Leave);
    let parts: Vec<_> = proposed
        .flat_map(|item| item.parts.iter().map(move |part| (item, part)))
        .flat_map(|(item, part)| {
            part.candidate
                .actions
                .iter()
                .map(move |action| (item, part, action))
        })
        .collect();
    let actions: Vec<Action> = parts.iter().map(|(.., action)| (*action).clone()).collect();
    let context = migrate::Context {
        database,
        actions: &actions,
    };
    let mut plans: Vec<(bool, Plan)> = parts
        .iter()
        .map(|(item, part, action)| {
            let measure = part.measure.as_ref();
            let predictions = measure.map_or(&[][..], |measure| &measure.predictions[..]);
            let plan = Plan {
                title: action.to_string(),
                needs_application: item.verdict == Verdict::App,
                steps: migrate::steps(context, action, predictions),
            };
            (matches!(action, Action::OrderedUuid { .. }), plan)
        })
        .collect();
    plans.sort_by_key(|(is_default, _)| *is_default);
    plans.into_iter().map(|(_, plan)| plan).collect()
}

/// A column of ids in words. Good ids and other ones are told apart for keys only.
fn line(database: &Database, ids: &IdColumn) -> Option<IdLine> {
    let table = database.table(&ids.schema, &ids.table)?;
    let is_indexed = table.indexes.iter().any(|index| {
        index.terms.first().and_then(|term| term.column.as_ref()) == Some(&ids.column)
    });
    let is_secret = ids.class.role == IdRole::Secret && !ids.class.is_open();
    let begins_with_time = ids.kinds.first().is_some_and(|share| has_time(&share.kind));
    let note = match ids.storage {
        _ if is_secret && begins_with_time => NOT_RANDOM,
        _ if is_secret => "must stay random",
        _ if !is_indexed => "not indexed",
        Storage::Text if ids.is_random_uuid() => "text, random",
        Storage::Text => "text",
        Storage::Digits => "numbers as text",
        _ if ids.is_random_uuid() => "random",
        _ => "good",
    };
    let name = format!("{}.{}", rules::shown(table), ids.column);
    Some(IdLine {
        kind: ids.in_words(),
        note: note.into(),
        class: Some(ids.class.clone()),
        settles: ids.class.line(&name),
        column: name,
    })
}
