//! From a file to the advice on it.

use super::{
    Advice,
    base::Base,
    changes::try_changes,
    id_lines::id_lines,
    options::{Observer, Options},
};
use crate::{
    Error, check,
    classify::Settled,
    counter::{self, now_s},
    ddl::quoted,
    read::{self, Database},
    rules,
    trial::Trial,
};
use rusqlite::ErrorCode;
use std::{fs, path::Path, thread};

/// Tables are read and rebuilt by so many threads at most: each has its own cache.
const THREADS_MAX: usize = 2;

/// Copies a database into `folder`, reads the copy, tries what the rules find, and judges.
///
/// # Errors
/// Those of [`crate::snapshot::Snapshot::take`], and those of reading the schema.
pub fn advise(
    path: &Path,
    folder: &Path,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Advice, Error> {
    let base = Base::make(path, folder, options, observer)?;
    let threads = match options.threads {
        0 => thread::available_parallelism()
            .map_or(1, usize::from)
            .min(THREADS_MAX),
        threads => threads,
    };
    let mut notes = base.notes;
    if !base.is_damaged && base.estimate.is_none() {
        observer.step("checking full-text indexes");
        notes.extend(wrong_full_text(&base.path)?);
    }
    let mut database = values_of(&base.path, threads, options, observer)?;
    notes.append(&mut database.problems);
    database.reached = base.reached;
    let read_at_s = now_s();
    let mut counters = rules::counters(&database);
    if let Some(readings) = &options.since {
        readings.date(&mut counters, read_at_s);
    }
    counter::sort(&mut counters);
    database.counters = counters;
    notes.extend(missing(&database));
    let mut scaled = database.clone();
    base.scale.apply(&mut scaled);
    let mut advice = Advice {
        file: base.file,
        estimate: base.estimate,
        ids: id_lines(&database),
        read_at_s,
        vacuumed_bytes: (!base.is_damaged).then(|| scaled.bytes()),
        notes,
        is_damaged: base.is_damaged,
        database: scaled,
        copy: base.copy,
        lost: Vec::new(),
        items: Vec::new(),
        together: None,
        with_minor: None,
        with_app: None,
        queries: None,
    };
    let trial = Trial {
        base: &base.path,
        folder,
        database: &database,
        is_wal: advice.file.is_wal,
        threads,
        scale: &base.scale,
    };
    let found = try_changes(&trial, &advice, options, observer)?;
    (advice.lost, advice.items) = (found.lost, found.items);
    (advice.together, advice.with_minor) = (found.together, found.with_minor);
    (advice.with_app, advice.queries) = (found.with_app, found.queries);
    if advice.copy != base.path {
        // A migration needs the room.
        _ = fs::remove_file(&base.path);
    }
    Ok(advice)
}

/// Reads a database with its values, and what its columns of ids are.
fn values_of(
    path: &Path,
    threads: usize,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Database, Error> {
    observer.step("reading the schema");
    let mut database = Database::read(path)?;
    if let Some(settled) = &options.settled {
        check_names(&database, settled)?;
    }
    observer.step("reading values");
    database.scan(path, threads, &|table| observer.object(table));
    if let Some(settled) = &options.settled {
        database.classify(settled);
    }
    Ok(database)
}

/// Checks that settled columns exist.
fn check_names(database: &Database, settled: &Settled) -> Result<(), Error> {
    let names = |table: &read::Table| {
        let columns = table.columns.iter();
        columns
            .map(|column| format!("{}.{}", table.name, column.name))
            .collect::<Vec<_>>()
    };
    let names: Vec<String> = database.tables.iter().flat_map(names).collect();
    settled.check(names.iter().map(String::as_str))
}

/// A sentence about what tables need and is not here.
fn missing(database: &Database) -> Option<String> {
    let tables = database.tables.iter();
    let lacking = tables.filter(|table| table.missing.is_some());
    let names: Vec<_> = lacking.map(|table| &*table.name).collect();
    (!database.missing.is_empty()).then(|| {
        format!(
            "Missing here: {}. The tables that need it are read for their sizes, and stay as they are: {}.",
            database.missing.join(", "),
            names.join(", ")
        )
    })
}

/// A sentence for each index of FTS5 that does not fit its content, in a private copy.
fn wrong_full_text(copy: &Path) -> Result<Vec<String>, Error> {
    let found = check::full_text_damage(&read::open(copy)?)?;
    // Another error says that FTS5 cannot check it here, such as without its tokenizer.
    let is_wrong = |(_, error): &(String, rusqlite::Error)| {
        error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
    };
    let sentence = |(name, _): (String, rusqlite::Error)| {
        let table = quoted(&name);
        format!(
            "The full-text index {name} does not fit its content: searches miss rows or find wrong ones. FTS5 builds it anew with INSERT INTO {table}({table}) VALUES ('rebuild'), and such a copy gives other answers. No change here repairs it."
        )
    };
    Ok(found.into_iter().filter(is_wrong).map(sentence).collect())
}
