//! From a URL to the advice: read, find, predict, judge, and write the steps.

use super::{
    Advice, Plan,
    judge::{Part, judge},
    measure::{Sizes, measure},
};
use crate::{
    Error,
    advice::{IdLine, Observer, Verdict},
    server::{
        ids::{self, IdColumn, Storage},
        mariadb, migrate,
        model::Database,
        postgres, rules,
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
        Ok(Reader { remote, session })
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
        let database = self.read(observer)?;
        let url = self.remote.url.to_string();
        // The snapshot holds back VACUUM: it ends before anything is predicted.
        drop(self);
        Ok(advise(url, database, starts, observer))
    }
}

/// Advises on a database that was read.
pub fn advise(
    url: String,
    mut database: Database,
    starts: Starts<'_>,
    observer: &dyn Observer,
) -> Advice {
    observer.step("finding kinds of ids");
    let ids = ids::find(&database);
    let candidates = rules::find(&rules::Facts {
        database: &database,
        ids: &ids,
    });
    let is_predicted = candidates.iter().any(|candidate| {
        matches!(
            candidate.actions.first(),
            Some(rules::Action::Convert { .. } | rules::Action::OrderedUuid { .. })
        )
    });
    let (mut sizes, mut unpredicted) = (None, String::new());
    if is_predicted {
        observer.step("rebuilding samples on a private server");
        match starts(&database) {
            Ok(started) => sizes = Some(started),
            Err(error) => unpredicted = error.to_string(),
        }
    }
    let (mut parts, mut notes) = (Vec::new(), Vec::new());
    for candidate in candidates {
        observer.object(&candidate.object);
        let (found, note) = measure(&database, &candidate, &mut sizes);
        notes.extend(note);
        parts.push(Part {
            candidate,
            measure: found,
        });
    }
    drop(sizes);
    database.notes.extend(notes);
    let items = judge(parts, super::base_bytes(&database));
    let plans = plans(&database, &items);
    let rows_read = database
        .tables
        .iter()
        .filter_map(|table| Some(table.sample.as_ref()?.rows.len() as u64))
        .sum();
    let lines = ids.iter().filter_map(|own| line(&database, own)).collect();
    Advice {
        url,
        ids: lines,
        items,
        plans,
        unpredicted,
        rows_read,
        database,
    }
}

/// The steps of everything that is proposed.
fn plans(database: &Database, items: &[super::Item]) -> Vec<Plan> {
    let proposed = items.iter().filter(|item| item.verdict != Verdict::Leave);
    let parts = proposed.flat_map(|item| item.parts.iter().map(move |part| (item, part)));
    parts
        .flat_map(|(item, part)| {
            let predictions = part
                .measure
                .as_ref()
                .map_or(&[][..], |measure| &measure.predictions[..]);
            part.candidate.actions.iter().map(move |action| Plan {
                title: action.to_string(),
                needs_application: item.verdict == Verdict::App,
                steps: migrate::steps(database, action, predictions),
            })
        })
        .collect()
}

/// A column of ids in words. Good ids and other ones are told apart for keys only.
fn line(database: &Database, ids: &IdColumn) -> Option<IdLine> {
    let table = database.table(&ids.schema, &ids.table)?;
    let is_indexed = table.indexes.iter().any(|index| {
        index.terms.first().and_then(|term| term.column.as_ref()) == Some(&ids.column)
    });
    let note = match ids.storage {
        _ if !is_indexed => "not indexed",
        Storage::Text if ids.is_random_uuid() => "text, random",
        Storage::Text => "text",
        Storage::Digits => "numbers as text",
        _ if ids.is_random_uuid() => "random",
        _ => "good",
    };
    Some(IdLine {
        column: format!("{}.{}", rules::shown(table), ids.column),
        kind: ids.in_words(),
        note: note.into(),
    })
}
