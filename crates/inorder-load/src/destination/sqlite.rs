//! A table as SQLite describes it.

use std::path::Path;

use inorder_btree::{Collation, TextEncoding};
use rusqlite::{Connection, OptionalExtension as _};

use super::{ColumnInfo, Destination, KeyPart};
use crate::Error;
use crate::encode::{Affinity, Strict};

/// Describes a table of the main database.
///
/// # Errors
/// If the table does not exist or is a view, or SQLite can't read the schema.
pub fn describe(connection: &Connection, path: &Path, table: &str) -> Result<Destination, Error> {
    try_describe(connection, table)
        .map_err(|source| Error::Database {
            path: path.to_owned(),
            source,
        })?
        .ok_or_else(|| {
            let names = tables(connection).unwrap_or_default();
            Error::no_such_table(path, Some(table), names.iter().map(String::as_str))
        })
}

/// The tables of the main database that rows can be written into.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let list = "SELECT name FROM pragma_table_list WHERE schema = 'main' \
                AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = connection.prepare(list)?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn try_describe(connection: &Connection, table: &str) -> rusqlite::Result<Option<Destination>> {
    let found = connection
        .query_row(
            "SELECT name, strict FROM pragma_table_list \
             WHERE schema = 'main' AND name = ?1 COLLATE NOCASE AND type IN ('table', 'virtual')",
            [table],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)),
        )
        .optional()?;
    let Some((table, is_strict)) = found else {
        return Ok(None);
    };
    let all = all_columns(connection, &table, is_strict)?;
    // SQLite's column numbers include generated columns, which can't be given values.
    let places: Vec<Option<usize>> = places(&all);
    let index = sorted_by(connection, &table, &all)?;
    let (key, physical) = match &index {
        SortedBy::Nothing => (Vec::new(), None),
        SortedBy::Rowid(column) => (vec![ascending(*column)], None),
        SortedBy::Index { key, all } => (key.clone(), Some(all.clone())),
    };
    let rowid = match index {
        SortedBy::Rowid(column) => Some(column),
        _ => None,
    };
    let own = |column: usize| places.get(column).copied().flatten();
    let key = key
        .iter()
        .map(|part| {
            Some(KeyPart {
                column: own(part.column)?,
                ..*part
            })
        })
        .collect::<Option<Vec<_>>>();
    let columns: Vec<ColumnInfo> = all.into_iter().filter_map(|column| column.info).collect();
    Ok(Some(Destination {
        table,
        physical: match physical {
            Some(physical) => physical.into_iter().filter_map(own).collect(),
            None => (0..columns.len()).collect(),
        },
        columns,
        rowid: rowid.and_then(own),
        is_key_unique: key.as_ref().is_some_and(|key| !key.is_empty()),
        key: key.unwrap_or_default(),
        encoding: encoding(connection)?,
        page_bytes: connection.query_row("PRAGMA main.page_size", [], |row| row.get(0))?,
    }))
}

fn ascending(column: usize) -> KeyPart {
    KeyPart {
        column,
        collation: Collation::Binary,
        is_descending: false,
    }
}

fn encoding(connection: &Connection) -> rusqlite::Result<TextEncoding> {
    let name: String = connection.query_row("PRAGMA main.encoding", [], |row| row.get(0))?;
    let named = TextEncoding::ALL
        .iter()
        .find(|encoding| encoding.name() == name);
    Ok(named.copied().unwrap_or(TextEncoding::Utf8))
}

/// A column as SQLite numbers it.
struct Declared {
    /// `None` where it is generated or hidden.
    info: Option<ColumnInfo>,
    is_in_key: bool,
}

fn all_columns(
    connection: &Connection,
    table: &str,
    is_strict: bool,
) -> rusqlite::Result<Vec<Declared>> {
    let list = "SELECT name, type, \"notnull\", dflt_value, pk, hidden \
                FROM pragma_table_xinfo(?1, 'main') ORDER BY cid";
    let mut statement = connection.prepare(list)?;
    let columns = statement.query_map([table], |row| {
        let declared_type: String = row.get(1)?;
        let info = ColumnInfo {
            intake: None,
            text_bytes_max: 0,
            name: row.get(0)?,
            affinity: match is_strict {
                true => Affinity::of_strict(&declared_type),
                false => Affinity::of(&declared_type),
            },
            strict: is_strict
                .then(|| Strict::from_name(&declared_type))
                .flatten(),
            is_not_null: row.get(2)?,
            default: row.get(3)?,
            is_guessed: false,
            is_derived: false,
            is_undecided: false,
            declared_type,
        };
        let is_plain = row.get::<_, i64>(5)? == 0;
        Ok(Declared {
            info: is_plain.then_some(info),
            is_in_key: row.get::<_, i64>(4)? > 0,
        })
    })?;
    columns.collect()
}

fn places(all: &[Declared]) -> Vec<Option<usize>> {
    let mut next = 0;
    all.iter()
        .map(|column| {
            column.info.as_ref().map(|_| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

/// Returns the key that SQLite's error names: `UNIQUE constraint failed: t.a, t.b`. Empty if it is unknown.
pub(crate) fn unique_key(
    connection: &Connection,
    destination: &Destination,
    refusal: &str,
) -> Option<Vec<KeyPart>> {
    let own = format!("{}.", destination.table);
    let (_, columns) = refusal.rsplit_once(": ")?;
    let names: Option<Vec<&str>> = columns
        .split(", ")
        .map(|column| column.strip_prefix(&own))
        .collect();
    let names = names?;
    let list = "SELECT list.name, info.name, info.coll \
                FROM pragma_index_list(?1, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS info \
                WHERE \"unique\" AND NOT partial AND key ORDER BY list.seq, info.seqno";
    let mut statement = connection.prepare(list).ok()?;
    let terms = statement.query_map([&destination.table], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    });
    let terms: Vec<(String, Option<String>, String)> =
        terms.ok()?.collect::<Result<_, _>>().ok()?;
    let is_it = |index: &&[(String, Option<String>, String)]| {
        let columns = index.iter().map(|(_, column, _)| column.as_deref());
        columns.eq(names.iter().map(|name| Some(*name)))
    };
    let Some(index) = terms.chunk_by(|a, b| a.0 == b.0).find(is_it) else {
        let rowid = destination.rowid?;
        let is_rowid = names == [destination.columns[rowid].name.as_str()];
        return is_rowid.then(|| vec![ascending(rowid)]);
    };
    let parts = index.iter().zip(names).map(|((.., collation), name)| {
        Some(KeyPart {
            collation: Collation::from_name(collation)?,
            ..ascending(destination.column(name)?)
        })
    });
    parts.collect()
}

/// Returns the sort order of the rows.
enum SortedBy {
    /// Rowids that the engine counts.
    Nothing,
    /// The rowid, by the column that is its other name.
    Rowid(usize),
    /// An index, or the table's own key.
    Index {
        key: Vec<KeyPart>,
        /// Every column of a WITHOUT ROWID table in the order it stores them; else as declared.
        all: Vec<usize>,
    },
}

fn sorted_by(connection: &Connection, table: &str, all: &[Declared]) -> rusqlite::Result<SortedBy> {
    let list = "SELECT name, origin FROM pragma_index_list(?1, 'main') WHERE \"unique\" AND NOT partial \
                ORDER BY origin <> 'pk', seq DESC";
    let mut statement = connection.prepare(list)?;
    let indexes = statement.query_map([table], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let indexes: Vec<(String, String)> = indexes.collect::<rusqlite::Result<_>>()?;
    let has_key_index = indexes.iter().any(|(_, origin)| origin == "pk");
    if !has_key_index && let Some(column) = all.iter().position(|column| column.is_in_key) {
        return Ok(SortedBy::Rowid(column));
    }
    for (index, origin) in indexes {
        if let Some(found) = index_columns(connection, &index, origin == "pk", all.len())? {
            return Ok(found);
        }
    }
    Ok(SortedBy::Nothing)
}

/// Returns the columns of an index; `None` if it has an expression or an application-defined collation.
fn index_columns(
    connection: &Connection,
    index: &str,
    is_key: bool,
    columns: usize,
) -> rusqlite::Result<Option<SortedBy>> {
    let list = "SELECT cid, \"desc\", coll, key FROM pragma_index_xinfo(?1, 'main') ORDER BY seqno";
    let mut statement = connection.prepare(list)?;
    let mut rows = statement.query([index])?;
    let (mut key, mut stored) = (Vec::new(), Vec::new());
    let mut ends_with_rowid = false;
    while let Some(row) = rows.next()? {
        let column: i64 = row.get(0)?;
        let is_in_key: bool = row.get(3)?;
        match usize::try_from(column) {
            Ok(column) => {
                if !stored.contains(&column) {
                    stored.push(column);
                }
                let name: Option<String> = row.get(2)?;
                let collation = Collation::from_name(name.as_deref().unwrap_or("BINARY"));
                match (is_in_key, collation) {
                    (false, _) => {}
                    (true, None) => return Ok(None),
                    (true, Some(collation)) => key.push(KeyPart {
                        column,
                        collation,
                        is_descending: row.get(1)?,
                    }),
                }
            }
            Err(_) if is_in_key => return Ok(None),
            Err(_) => ends_with_rowid = true,
        }
    }
    let is_the_table = is_key && !ends_with_rowid;
    Ok(Some(SortedBy::Index {
        key,
        all: match is_the_table {
            true => stored,
            false => (0..columns).collect(),
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(sql: &str) -> Destination {
        let connection = Connection::open_in_memory().expect("SQLite");
        connection.execute_batch(sql).expect("a schema");
        describe(&connection, Path::new("x.db"), "T").expect("a table")
    }

    fn key(sql: &str) -> Vec<(usize, &'static str, bool)> {
        let part = |part: &KeyPart| (part.column, part.collation.name(), part.is_descending);
        described(sql).key.iter().map(part).collect()
    }

    #[test]
    fn the_key_is_what_rows_are_kept_in_order_by() {
        let none: [(usize, &str, bool); 0] = [];
        assert_eq!(key("CREATE TABLE t(a, b)"), none);
        assert_eq!(
            key("CREATE TABLE t(a, b INTEGER PRIMARY KEY)"),
            [(1, "BINARY", false)]
        );
        assert_eq!(
            key("CREATE TABLE t(a, b TEXT PRIMARY KEY)"),
            [(1, "BINARY", false)]
        );
        assert_eq!(
            key("CREATE TABLE t(a, b TEXT COLLATE NOCASE UNIQUE)"),
            [(1, "NOCASE", false)]
        );
        assert_eq!(
            key("CREATE TABLE t(a, b, c, PRIMARY KEY(c DESC, a COLLATE RTRIM)) WITHOUT ROWID"),
            [(2, "BINARY", true), (0, "RTRIM", false)]
        );
        assert_eq!(
            key("CREATE TABLE t(a); CREATE UNIQUE INDEX i ON t(a) WHERE a > 1"),
            none
        );
        assert_eq!(
            key("CREATE TABLE t(a); CREATE UNIQUE INDEX i ON t(a + 1)"),
            none
        );
        assert_eq!(
            key("CREATE TABLE t(a INTEGER PRIMARY KEY DESC)"),
            [(0, "BINARY", true)]
        );
        assert_eq!(
            key("CREATE TABLE t(g AS (a), a, b PRIMARY KEY)"),
            [(1, "BINARY", false)]
        );
    }

    #[test]
    fn columns_are_stored_in_the_order_of_the_key_without_rowids() {
        let sql = "CREATE TABLE t(a, g AS (a) STORED, b, c, PRIMARY KEY(c, b)) WITHOUT ROWID";
        let table = described(sql);
        let names = |table: &Destination| -> Vec<String> {
            let name = |column: &usize| table.columns[*column].name.clone();
            table.physical.iter().map(name).collect()
        };
        assert_eq!(names(&table), ["c", "b", "a"]);
        assert_eq!(
            names(&described("CREATE TABLE t(a, b PRIMARY KEY)")),
            ["a", "b"]
        );
    }

    #[test]
    fn a_table_that_is_not_there_is_answered_with_the_nearest() {
        let connection = Connection::open_in_memory().expect("SQLite");
        connection
            .execute_batch("CREATE TABLE films(a); CREATE VIEW film AS SELECT 1;")
            .expect("a schema");
        let error = describe(&connection, Path::new("x.db"), "film").expect_err("a view");
        assert_eq!(
            error.to_string(),
            "x.db has no table `film`; did you mean `films`?"
        );
    }
}
