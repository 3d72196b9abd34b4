//! The script that makes changes in the `sqlite3` shell, and its undo. Both are proven on a copy.

mod script;
mod values;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::apply::{Draft, Schema, Settings, statistics};
use crate::check::{self, State};
use crate::{Change, Error, read};
use script::{BAIL, Direction, Script, TEXT_IN_QUOTES};

/// A migration that was run forth and back on a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The script for the `sqlite3` shell.
    pub script: String,
    /// The script that takes it back. Hidden rowids of tables that were rebuilt with another key are not restored.
    pub undo: String,
}

/// Writes the migration for these changes and proves it: runs it on a copy of `source` in `folder`, and compares
/// schema, row counts, content, violations of foreign keys, and whether `queries` still compile and use an index
/// where they did. `source` is read, and nobody else may write it meanwhile. `name` is the database's name in
/// comments.
///
/// # Errors
/// [`Error::Refused`] where a change can't be made or the script can't be proven; [`Error::NotByScript`] where only a rekey
/// can make it; SQLite's and the system's errors.
pub fn migrate(
    source: &Path,
    folder: &Path,
    name: &str,
    changes: &[Change],
    queries: &[String],
) -> Result<Migration, Error> {
    let written = proven(source, folder, name, changes, queries, &[]);
    match written {
        // The shell has no functions of this project, and a statement needs one of them.
        Err(Error::Refused { .. } | Error::NotByScript { .. }) => {
            let functions = functions(source)?;
            match functions.is_empty() {
                true => written,
                false => proven(source, folder, name, changes, queries, &functions),
            }
        }
        written => written,
    }
}

/// Writes the script that takes changes back after a rekey has made them, without reading a row: the scripts are proven on
/// an empty database with the same schema. `source` is the database before the changes; `folder` is for small files.
///
/// # Errors
/// As [`migrate`]; [`Error::Refused`] where SQLite can't make the schema here.
pub fn undo(source: &Path, folder: &Path, name: &str, changes: &[Change]) -> Result<String, Error> {
    let empty = folder.join("empty.db");
    let from = inorder_sqlite::open(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    from.busy_timeout(BUSY)?;
    let (settings, schema) = (Settings::read(&from)?, Schema::read(&from)?);
    drop(from);
    let to = inorder_sqlite::open(&empty, OpenFlags::default())?;
    to.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; PRAGMA page_size = {}; PRAGMA auto_vacuum = {}; PRAGMA encoding = '{}'",
        settings.page_bytes,
        settings.auto_vacuum as u8,
        settings.encoding.name(),
    ))?;
    if statistics::TABLES
        .iter()
        .any(|name| schema.find("table", name).is_some())
    {
        to.execute_batch("ANALYZE")?;
    }
    let made = schema.make(&to, |_| true)?;
    if let Some((object, Some(error))) = made.into_iter().find(|(_, error)| error.is_some()) {
        return Err(Error::Refused {
            change: "write the undo script".to_owned(),
            why: format!("SQLite cannot make the {object} here: {error}"),
        });
    }
    if settings.is_wal {
        to.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    }
    drop(to);
    Ok(migrate(&empty, folder, name, changes, &[])?.undo)
}

/// How long a lock of another process is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// The functions of this project that tables and indexes of a database call.
fn functions(source: &Path) -> Result<Vec<String>, Error> {
    // Without them: this is what a shell has.
    let plain = inorder_sqlite::open_plain(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let is_own = |name: &String| inorder_sqlite::FUNCTIONS.iter().any(|own| own.name == name);
    Ok(read::missing(&plain)?.into_iter().filter(is_own).collect())
}

/// Writes a migration and proves it, in a shell that has these functions of this project.
fn proven(
    source: &Path,
    folder: &Path,
    name: &str,
    changes: &[Change],
    queries: &[String],
    functions: &[String],
) -> Result<Migration, Error> {
    let copy = Copy::of(source, folder)?;
    let open = || inorder_sqlite::open(&copy.path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    let connection = open()?;
    connection.execute_batch("PRAGMA synchronous = OFF")?;
    let draft = Draft::new(&connection, changes)?;
    let settings = Settings::read(&connection)?;
    let old = State::read(&connection, &draft, false)?;
    let old_converted = State::read(&connection, &draft, true)?;
    let full_text: BTreeSet<String> = check::full_text_damage(&connection)?.into_keys().collect();
    let plans = plans(&connection, queries)?;
    let base = Script {
        name,
        from: &draft.old,
        to: &draft.new,
        draft: &draft,
        direction: Direction::Forth,
        page_bytes: draft.page_bytes,
        is_wal: settings.is_wal,
        has_sound_keys: check::violations(&connection).is_ok(),
        functions,
    };
    let script = base.text()?;
    let refused = |direction: &str, why: String| Error::Refused {
        change: format!("the {direction} of {name}"),
        why,
    };
    let run = |direction: &str, script: &str| {
        let failed =
            |error: rusqlite::Error| refused(direction, format!("it fails on a copy: {error}"));
        copy.run(&without_dots(script), !functions.is_empty())
            .map_err(failed)
    };
    // A script may need to be alone, to leave WAL mode.
    drop(connection);
    run("migration", &script)?;
    let connection = open()?;
    let found = wrong(&connection, &draft, &draft.new, &old_converted, &full_text)?;
    let found = found.or(worse(&plans, &self::plans(&connection, queries)?));
    if let Some(why) = found {
        return Err(refused("migration", why));
    }
    let new = Schema::read(&connection)?;
    let undo = Script {
        from: &new,
        to: &draft.old,
        direction: Direction::Back,
        page_bytes: draft.page_bytes.map(|_| settings.page_bytes),
        ..base
    };
    let undo = undo.text()?;
    drop(connection);
    run("undo", &undo)?;
    let connection = open()?;
    match wrong(&connection, &draft, &draft.old, &old, &full_text)? {
        Some(why) => Err(refused("undo", why)),
        None => Ok(Migration { script, undo }),
    }
}

/// What of a copy isn't as a script should have made it.
fn wrong(
    connection: &Connection,
    draft: &Draft,
    schema: &Schema,
    content: &State,
    full_text: &BTreeSet<String>,
) -> Result<Option<String>, Error> {
    let found = check::schema_difference(schema, &Schema::read(connection)?);
    let found = found.or(content.difference(&State::read(connection, draft, false)?));
    match found {
        None => Ok(check::damage(connection, || Ok(full_text.clone()))?),
        found => Ok(found),
    }
}

/// A copy that is removed in the end.
struct Copy {
    path: PathBuf,
}

impl Copy {
    fn of(source: &Path, folder: &Path) -> Result<Self, Error> {
        let path = folder.join("migrated.db");
        let copy = Copy { path };
        copy.remove();
        // `VACUUM INTO` reads the journals of the source too.
        let reader = inorder_sqlite::open(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        reader.backup("main", &copy.path, None)?;
        Ok(copy)
    }

    /// Runs statements as a shell does, which has the functions of this project or not.
    fn run(&self, statements: &str, has_functions: bool) -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let shell = match has_functions {
            true => inorder_sqlite::open(&self.path, flags)?,
            false => inorder_sqlite::open_plain(&self.path, flags)?,
        };
        shell.execute_batch("PRAGMA synchronous = OFF")?;
        shell.execute_batch(statements)
    }

    fn remove(&self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A script without the commands of the shell.
pub(crate) fn without_dots(script: &str) -> String {
    let Some(start) = script.find(BAIL) else {
        return script.to_owned();
    };
    let rest = &script[start + BAIL.len()..];
    script[..=start].to_owned() + rest.strip_prefix(TEXT_IN_QUOTES).unwrap_or(rest)
}

/// The plan of each query; `None` where it doesn't compile.
fn plans(
    connection: &Connection,
    queries: &[String],
) -> rusqlite::Result<Vec<Option<Vec<String>>>> {
    let plan = |query: &String| {
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {query}"))
            .ok()?;
        let lines = statement
            .query_map([], |row| row.get::<_, String>(3))
            .ok()?;
        Some(lines.flatten().collect())
    };
    Ok(queries.iter().map(plan).collect())
}

/// The first query that doesn't compile any more, or reads a whole table where it used an index.
fn worse(before: &[Option<Vec<String>>], after: &[Option<Vec<String>>]) -> Option<String> {
    let scans = |plan: &[String]| plan.iter().filter(|line| line.starts_with("SCAN")).count();
    before
        .iter()
        .zip(after)
        .enumerate()
        .find_map(|(at, plans)| match plans {
            (Some(_), None) => Some(format!("query {} does not compile any more", at + 1)),
            (Some(before), Some(after)) if scans(after) > scans(before) => Some(format!(
                "query {} reads a whole table where it used an index",
                at + 1
            )),
            _ => None,
        })
}
