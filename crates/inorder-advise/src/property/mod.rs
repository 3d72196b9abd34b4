//! Random schemas and changes: the answers of queries stay the same, whichever way the changes are made.

mod dice;
mod schema;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use inorder_btree::Reader;
use rusqlite::{Connection, OpenFlags};

use crate::apply::{self, Draft, Settings, Work};
use crate::check::{self, State};
use crate::ddl::quoted;
use crate::migrate::{self, migrate, without_dots};
use crate::{Change, Error, Progress, Rekey};
use dice::Dice;
use schema::Schema;

/// How many cases are run, and the seed of the first.
const CASES: &str = "INORDER_FUZZ_CASES";
const SEED: &str = "INORDER_FUZZ_SEED";

fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable);
    text.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// How many cases had which property.
type Counts = BTreeMap<String, u32>;

#[test]
fn answers_stay_the_same() {
    let (cases, seed) = (number(CASES, 150), number(SEED, 1));
    let mut counts = Counts::new();
    let mut count = |what: &str| *counts.entry(what.to_owned()).or_default() += 1;
    let folder = tempfile::tempdir().expect("a folder");
    for seed in seed..seed + cases {
        if let Err(why) = case(folder.path(), seed, &mut count) {
            let kept = folder.keep();
            panic!(
                "seed {seed} ({SEED}={seed} {CASES}=1): {why}; the databases are in {}",
                kept.display()
            );
        }
    }
    eprintln!("{cases} cases: {counts:#?}");
    let made = |what: &str| counts.get(what).copied().unwrap_or(0);
    if cases >= 150 {
        for what in [
            "by pages",
            "by statements",
            "rewritten",
            "in place",
            "without-rowid",
            "without-rowid-by-unique",
            "rowid",
            "integer-primary-key",
            "ids-to-blobs",
            "drop-unique",
            "partial-index",
            "drop-index",
        ] {
            assert!(made(what) > 0, "no case of {what}: {counts:#?}");
        }
    }
}

/// Makes a database; statements that SQLite refuses are left out.
fn made(path: &Path, dice: &mut Dice) -> Schema {
    let schema = Schema::new(dice);
    let database = inorder_sqlite::open(path, OpenFlags::default()).expect("a database");
    database.execute_batch(&schema.settings).expect("settings");
    for statement in &schema.statements {
        _ = database.execute_batch(statement);
    }
    let rows = *dice.pick(&[0, 1, 30, 200]);
    database.execute_batch("BEGIN").expect("begun");
    for table in &schema.tables {
        for row in 0..rows {
            let is_given =
                "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE name = ?2 AND hidden = 0";
            let columns = table.columns.iter().filter(|column| {
                let given =
                    database.query_row(is_given, [&table.name, &column.name], |row| row.get(0));
                given.unwrap_or(0) > 0
            });
            let (names, values): (Vec<String>, Vec<String>) = columns
                .map(|column| (quoted(&column.name), schema::value(dice, column, row)))
                .unzip();
            let insert = format!(
                "INSERT OR IGNORE INTO {}({}) VALUES ({})",
                quoted(&table.name),
                names.join(", "),
                values.join(", ")
            );
            _ = database.execute_batch(&insert);
        }
        let delete = format!("DELETE FROM {} WHERE random() % 7 = 0", quoted(&table.name));
        _ = database.execute_batch(&delete);
    }
    database.execute_batch("COMMIT").expect("ended");
    for statement in schema.later(dice) {
        _ = database.execute_batch(&statement);
    }
    if dice.percent(30) {
        database.execute_batch("ANALYZE").expect("analyzed");
    }
    schema
}

/// The changes that aren't refused, tried one after another.
fn accepted(
    connection: &Connection,
    wanted: Vec<Change>,
    count: &mut impl FnMut(&str),
) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    for change in wanted {
        changes.push(change);
        match Draft::new(connection, &changes) {
            Ok(_) => {
                let name = serde_json::to_value(changes.last()).expect("JSON");
                count(name["change"].as_str().expect("a name"));
            }
            Err(Error::Refused { .. }) => {
                count("refused");
                changes.pop();
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(changes)
}

fn case(folder: &Path, seed: u64, count: &mut impl FnMut(&str)) -> Result<(), String> {
    let (old, new) = (folder.join("old.db"), folder.join("new.db"));
    let text = |error: &dyn std::fmt::Display| error.to_string();
    for path in [&old, &new, &folder.join("empty.db")] {
        _ = std::fs::remove_file(path);
    }
    let mut dice = Dice::new(seed);
    let schema = made(&old, &mut dice);
    if old.metadata().is_ok_and(|old| old.len() == 0) {
        count("empty");
        return Ok(());
    }
    let file = std::fs::File::open(&old).map_err(|error| text(&error))?;
    let mut pages = Reader::mapped(file).map_err(|error| text(&error))?;
    let connection =
        inorder_sqlite::open(&old, OpenFlags::default()).map_err(|error| text(&error))?;
    let changes = accepted(&connection, schema.changes(&mut dice), count)?;
    let draft = Draft::new(&connection, &changes).map_err(|error| text(&error))?;
    let settings = Settings::read(&connection).map_err(|error| text(&error))?;
    let settings = settings.changed(&draft);
    let work = Work {
        settings: &settings,
        memory_bytes: 1 << 16,
        folder,
        is_verified: true,
        look: &|| Ok(()),
        free_bytes: None,
        begins: &|_| (),
    };
    let queries = queries(&schema, &draft, &mut dice);
    match apply::fill(&connection, &mut pages, &new, &draft, &work).map_err(|error| text(&error))? {
        Ok(()) => {
            count("by pages");
            compare(&connection, &new, &draft, &queries)
                .map_err(|why| format!("by pages: {why}"))?;
        }
        Err(obstacle) => count(&format!(
            "by statements alone: {}",
            obstacle.split(' ').next_back().unwrap_or_default()
        )),
    }
    _ = std::fs::remove_file(&new);
    apply::copy_by_statements(&old, &new, &settings, &draft)
        .map_err(|error| format!("by statements: {error}"))?;
    count("by statements");
    compare(&connection, &new, &draft, &queries).map_err(|why| format!("by statements: {why}"))?;
    for mode in ["DELETE", "WAL"] {
        let is_whole = rekeyed(&old, &new, mode, &changes)
            .map_err(|error| format!("rekey, {mode}: {error}; changes: {changes:?}"))?;
        count(if is_whole { "rewritten" } else { "in place" });
        compare(&connection, &new, &draft, &queries)
            .map_err(|why| format!("rekey, {mode}: {why}; changes: {changes:?}"))?;
    }
    scripts([&old, &new], folder, &changes, &draft, count)
        .map_err(|why| format!("{why}; changes: {changes:?}"))
}

/// Writes the scripts of changes, and takes rekeys back by them.
fn scripts(
    [old, new]: [&Path; 2],
    folder: &Path,
    changes: &[Change],
    draft: &Draft,
    count: &mut impl FnMut(&str),
) -> Result<(), String> {
    let migration = match migrate(old, folder, "old.db", changes, &[]) {
        Ok(migration) => migration,
        Err(Error::NotByScript { .. }) => {
            count("scripts refused");
            return Ok(());
        }
        Err(error) => return Err(format!("migration: {error}")),
    };
    count("migrations");
    let mut scripts = vec![migration.undo];
    match migrate::undo(old, folder, "old.db", changes) {
        Ok(script) => scripts.push(script),
        Err(_) => count("undo of a schema that can't be made"),
    }
    for script in scripts {
        // Kept with the databases where it fails.
        std::fs::write(folder.join("undo.sql"), &script).map_err(|error| error.to_string())?;
        undone(old, new, changes, draft, &script)
            .map_err(|why| format!("undo of a rekey: {why}"))?;
        count("undone");
    }
    Ok(())
}

/// Takes a rekey back by the script that takes the migration back.
fn undone(
    old: &Path,
    new: &Path,
    changes: &[Change],
    draft: &Draft,
    undo: &str,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    rekeyed(old, new, "DELETE", changes).map_err(|error| text(&error))?;
    let connections = [old, new].map(|path| inorder_sqlite::open(path, OpenFlags::default()));
    let [old, new] = connections.map(|opened| opened.map_err(|error| text(&error)));
    let (old, new) = (old?, new?);
    new.execute_batch(&without_dots(undo))
        .map_err(|error| text(&error))?;
    let state = |connection| State::read(connection, draft, false).map_err(|error| text(&error));
    let schema = apply::Schema::read(&new).map_err(|error| text(&error))?;
    let found = check::schema_difference(&draft.old, &schema);
    let found = found.or(state(&old)?.difference(&state(&new)?));
    let damage = check::damage(&new, || Ok(Default::default())).map_err(|error| text(&error))?;
    found.or(damage).map_or(Ok(()), Err)
}

/// Changes a copy of a database that is in a journal mode. Returns whether the whole file was written.
fn rekeyed(old: &Path, new: &Path, mode: &str, changes: &[Change]) -> Result<bool, Error> {
    std::fs::copy(old, new).map_err(Error::io(new))?;
    let has_page_size = |change: &Change| matches!(change, Change::PageSize { .. });
    if !changes.iter().any(has_page_size) {
        let connection = inorder_sqlite::open(new, OpenFlags::default())?;
        connection.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(()))?;
    }
    let rekey = Rekey {
        path: new.to_owned(),
        changes: changes.to_vec(),
        memory_bytes: 1 << 16,
        wait: Duration::ZERO,
        rebuilds_all: false,
    };
    Ok(rekey.run(&Progress::default())?.is_whole)
}

fn compare(old: &Connection, new: &Path, draft: &Draft, queries: &[String]) -> Result<(), String> {
    let new = inorder_sqlite::open(new, OpenFlags::default()).map_err(|error| error.to_string())?;
    let state = |connection, is_converted| {
        State::read(connection, draft, is_converted).map_err(|error| error.to_string())
    };
    let found = state(old, true)?.difference(&state(&new, false)?);
    let schema = apply::Schema::read(&new).map_err(|error| error.to_string())?;
    let found = found.or(check::schema_difference(&draft.new, &schema));
    if let Some(why) =
        found.or(check::damage(&new, || Ok(Default::default())).map_err(|error| error.to_string())?)
    {
        return Err(why);
    }
    for query in queries {
        let (before, after) = (answer(old, query), answer(&new, query));
        if before != after {
            return Err(format!("{query}: {before:?} before, {after:?} after"));
        }
    }
    Ok(())
}

/// The rows of an answer, sorted, or the error.
fn answer(connection: &Connection, query: &str) -> Result<Vec<String>, String> {
    let mut statement = connection
        .prepare(query)
        .map_err(|error| error.to_string())?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values = (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at));
        Ok(format!(
            "{:?}",
            values.collect::<rusqlite::Result<Vec<_>>>()?
        ))
    });
    let rows = rows.map_err(|error| error.to_string())?;
    let mut rows: Vec<String> = rows
        .collect::<rusqlite::Result<_>>()
        .map_err(|error| error.to_string())?;
    rows.sort();
    Ok(rows)
}

/// Random queries of columns that aren't converted.
fn queries(schema: &Schema, draft: &Draft, dice: &mut Dice) -> Vec<String> {
    let mut queries = Vec::new();
    for table in &schema.tables {
        let mut conversions = draft.conversions.iter();
        let converted = conversions.find(|(name, _)| name.eq_ignore_ascii_case(&table.name));
        let is_converted = |column: &schema::Column| {
            let mut names = converted.iter().flat_map(|(_, columns)| columns.iter());
            names.any(|(name, _)| name.eq_ignore_ascii_case(&column.name))
        };
        let columns: Vec<String> = table
            .columns
            .iter()
            .filter(|column| !is_converted(column))
            // Where there is no such column, this is the rowid.
            .filter(|column| column.name != "rowid")
            .map(|column| quoted(&column.name))
            .collect();
        if columns.is_empty() {
            continue;
        }
        for _ in 0..6 {
            let (a, b) = (dice.pick(&columns), dice.pick(&columns));
            let value = schema::value(dice, &schema.tables[0].columns[0], 3);
            let condition = match dice.below(6) {
                0 => format!("{a} = {value}"),
                1 => format!("{a} > {value} AND {b} IS NOT NULL"),
                2 => format!("{a} IN (SELECT {b} FROM {})", quoted(&table.name)),
                3 => format!("{a} IS NULL OR {b} < {value}"),
                4 => format!("lower({a}) LIKE 't%'"),
                _ => format!("{a} BETWEEN 0 AND {value}"),
            };
            queries.push(format!(
                "SELECT {} FROM {} WHERE {condition}",
                columns.join(", "),
                quoted(&table.name)
            ));
        }
        let (a, b) = (dice.pick(&columns), dice.pick(&columns));
        queries.push(format!(
            "SELECT quote({a}), count(*), min(quote({b})), max(quote({b})) FROM {} GROUP BY 1",
            quoted(&table.name)
        ));
    }
    queries
}
