//! Comparison of a database before and after a change.

mod content;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

pub(crate) use content::{Content, Reading};

use crate::apply::{Draft, Schema};
use crate::ddl::{quoted, same};

/// What must not change, as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// By table.
    contents: BTreeMap<String, Content>,
    /// None where foreign keys can't be checked.
    violations: Option<Violations>,
}

impl State {
    /// Reads all tables but SQLite's statistics. Where `is_converted`, ids are read as the blobs that they become.
    /// A rowid counts where it is kept.
    pub(crate) fn read(
        connection: &Connection,
        draft: &Draft,
        is_converted: bool,
    ) -> rusqlite::Result<Self> {
        let mut contents = BTreeMap::new();
        for table in Schema::read(connection)?.tables() {
            if table.name.starts_with("sqlite_stat") {
                continue;
            }
            let conversions = draft.conversions.get(&table.name).filter(|_| is_converted);
            let reading = Reading {
                conversions: conversions.map_or(&[], Vec::as_slice),
                has_rowid: !draft.rekeyed.contains(&table.name) && table.name != "sqlite_sequence",
            };
            let content = Content::read(connection, &table.name, reading)?;
            contents.insert(table.name.clone(), content);
        }
        Ok(State {
            contents,
            violations: violations(connection).ok(),
        })
    }

    /// What differs in `after`, in words; nothing where all is the same.
    pub(crate) fn difference(&self, after: &State) -> Option<String> {
        for (table, old) in &self.contents {
            match after.contents.get(table) {
                Some(new) if new == old => {}
                Some(new) => {
                    let (old, new) = (old.rows, new.rows);
                    return Some(format!(
                        "{table} has other content: {old} rows before, {new} after"
                    ));
                }
                None => return Some(format!("the table {table} is missing")),
            }
        }
        match (
            after.contents.len() == self.contents.len(),
            after.violations == self.violations,
        ) {
            (false, _) => Some("there are more tables than before".to_owned()),
            (_, false) => Some("other rows violate foreign keys than before".to_owned()),
            _ => None,
        }
    }
}

/// How many rows violate each foreign key, by child, parent and number of the key.
type Violations = BTreeMap<(String, String, i64), u64>;

/// Counts violations of foreign keys.
///
/// # Errors
/// SQLite's, such as that a foreign key leads to columns that are no key.
pub(crate) fn violations(connection: &Connection) -> rusqlite::Result<Violations> {
    let check =
        "SELECT \"table\", parent, fkid, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2, 3";
    let mut statement = connection.prepare(check)?;
    let rows = statement.query_map([], |row| {
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?))
    })?;
    rows.collect()
}

/// What FTS5 finds wrong, by index.
pub(crate) type FullText = BTreeMap<String, rusqlite::Error>;

/// What `integrity_check` and the indexes of FTS5 find wrong but found right before; nothing where all is right. `before` is
/// asked only where FTS5 finds something wrong.
pub(crate) fn damage(
    connection: &Connection,
    before: impl FnOnce() -> rusqlite::Result<BTreeSet<String>>,
) -> rusqlite::Result<Option<String>> {
    let schema = Schema::read(connection)?;
    let checked = checkable(&schema);
    let checks = match checked.len() == schema.tables().count() {
        true => vec!["PRAGMA integrity_check(1)".to_owned()],
        false => checked
            .iter()
            .map(|table| format!("PRAGMA integrity_check({})", quoted(table)))
            .collect(),
    };
    for check in checks {
        let found: String = connection.query_row(&check, [], |row| row.get(0))?;
        if found != "ok" {
            return Ok(Some(found));
        }
    }
    let now = full_text_damage(connection)?;
    if now.is_empty() {
        return Ok(None);
    }
    let before = before()?;
    let mut new = now.iter().filter(|(name, _)| !before.contains(*name));
    Ok(new
        .next()
        .map(|(name, error)| format!("FTS5 finds {name} wrong: {error}")))
}

/// Indexes of FTS5 that don't fit their content, such as external content that was changed without its triggers. The
/// check is a statement that writes, though it changes nothing.
pub(crate) fn full_text_damage(connection: &Connection) -> rusqlite::Result<FullText> {
    let mut found = FullText::new();
    for table in Schema::read(connection)?.objects {
        let sql = table.sql.as_deref().unwrap_or_default();
        if !table.is_virtual() || !table.mentions("fts5") || sql.is_empty() {
            continue;
        }
        let name = quoted(&table.name);
        // Rank 1 compares with external content too (<https://www.sqlite.org/fts5.html#the_integrity_check_command>).
        let check = format!("INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)");
        if let Err(error) = connection.execute_batch(&check) {
            found.insert(table.name, error);
        }
    }
    Ok(found)
}

/// The tables that SQLite can make, and so check, without a collation or function of the application.
fn checkable(schema: &Schema) -> Vec<&str> {
    let can_be_made = |name: &str| {
        let statements = schema.statements(name);
        name.starts_with("sqlite_") || statements.is_none_or(|own| own.catalog().is_ok())
    };
    let names = schema.tables().map(|table| &*table.name);
    names.filter(|name| can_be_made(name)).collect()
}

/// What differs between two schemas, in words.
pub(crate) fn schema_difference(expected: &Schema, found: &Schema) -> Option<String> {
    let is_own = |name: &str| name.starts_with("sqlite_stat");
    let relevant = |schema: &Schema| -> Vec<_> {
        let objects = schema.objects.iter().filter(|object| object.sql.is_some());
        objects
            .filter(|object| !is_own(&object.name))
            .cloned()
            .collect()
    };
    let (expected, found) = (relevant(expected), relevant(found));
    let missing = expected.iter().find(|object| {
        let is_it = |other: &&crate::apply::Object| {
            let texts = (object.sql.as_deref(), other.sql.as_deref());
            other.kind == object.kind
                && other.name == object.name
                && matches!(texts, (Some(a), Some(b)) if same(a, b))
        };
        found.iter().find(is_it).is_none()
    });
    match missing {
        Some(object) => Some(format!(
            "the {} {} is not as intended",
            object.kind, object.name
        )),
        None if expected.len() != found.len() => {
            Some("there are more objects than intended".to_owned())
        }
        None => None,
    }
}
