//! A small database with some rows of each table of a larger one, which is only read.
//!
//! Interior pages tell how many leaves a table has and where they begin. The rows of leaves at equal distances are read by
//! SQL, in short read transactions, so that rows have what SQLite makes of them.

mod pages;

use crate::{
    Error,
    ddl::quoted,
    read::{self, Column, Database, Table, TableKind},
    snapshot::Source,
    sql::quoted_list,
};
use inorder_btree::record::{Record, Value as Field};
use pages::{Bound, Leaf, Pages, Shape};
use rusqlite::{Connection, OpenFlags, params_from_iter, types::Value};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// A read transaction lasts so long at most, but for one leaf.
const STEP: Duration = Duration::from_millis(50);
/// Leaves of a table that are sampled at least.
const LEAVES_MIN: u64 = 16;

/// A sample of a database.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The vacuumed sample.
    pub(crate) path: PathBuf,
    /// The tables that have rows.
    pub(crate) tables: Vec<SampledTable>,
    /// What is known of the original.
    pub(crate) source: Source,
    /// What could not be sampled, in sentences.
    pub(crate) notes: Vec<String>,
}

/// A table in a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampledTable {
    /// Its name.
    pub name: String,
    /// Rows of the sample.
    pub sampled_rows: u64,
    /// Rows of the original, estimated by its leaf pages.
    pub rows: u64,
    /// Whether the sample has all rows.
    pub is_complete: bool,
    /// Leaf and interior pages of the table in the original, without overflow pages.
    pub pages: Option<u64>,
}

/// What is taken of a table.
struct Share<'d> {
    table: &'d Table,
    shape: Option<Shape>,
    /// Pages of the table and its indexes in the original.
    pages: u64,
    /// Pages of them that the sample takes.
    taken: u64,
}

impl Sample {
    /// Takes a sample of about `bytes` into `folder`.
    ///
    /// # Errors
    /// As those of [`crate::snapshot::Snapshot::take`]; [`Error::Refused`] where SQLite would have to write in order to read.
    pub(crate) fn take(
        path: &Path,
        folder: &Path,
        bytes: u64,
        progress: &dyn Fn(&str),
    ) -> Result<Self, Error> {
        let (source, reader) = Source::open(path)?;
        let missing = read::missing(&reader)?;
        drop(reader);
        let draft = folder.join("sample.db");
        let connection = open(&draft, &source, &missing)?;
        make_tables(&connection)?;
        let database = Database::read(&draft)?;
        let pages = Pages::open(path);
        let shares = shares(&connection, &database, pages.as_ref(), bytes)?;
        let mut sample = Sample {
            path: folder.join("base.db"),
            tables: Vec::new(),
            source,
            notes: Vec::new(),
        };
        for share in &shares {
            progress(&share.table.name);
            match share.fill(&connection, sample.source.encoding == "UTF-8") {
                Ok(table) => sample.tables.push(table),
                Err(error) => sample
                    .notes
                    .push(format!("{}: reading ended: {error}.", share.table.name)),
            }
        }
        make_the_rest(&connection)?;
        sample.source.check_unchanged(path)?;
        connection.execute_batch("DETACH source")?;
        connection.execute("VACUUM INTO ?1", [sample.path.to_string_lossy()])?;
        drop(connection);
        _ = fs::remove_file(draft);
        Ok(sample)
    }
}

/// Makes the file of the sample, with the original attached.
fn open(draft: &Path, source: &Source, missing: &[String]) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = inorder_sqlite::open(draft, flags)?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = {}; PRAGMA encoding = '{}'; PRAGMA journal_mode = OFF; PRAGMA application_id = {};",
        source.page_bytes, source.encoding, source.application_id
    ))?;
    read::prepare(&connection)?;
    read::stand_in(&connection, missing)?;
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    connection.execute("ATTACH ?1 AS source", [&source.uri])?;
    Ok(connection)
}

/// An object of the original.
type Object = (String, String, String, Option<String>);

fn objects(connection: &Connection) -> Result<Vec<Object>, Error> {
    let sql = "SELECT type, name, tbl_name, sql FROM source.sqlite_schema ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map((), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn is_virtual(sql: &str) -> bool {
    let words = crate::ddl::tokens(sql);
    words.get(1).is_some_and(|word| word.is("VIRTUAL"))
}

/// Makes all tables, the virtual ones without running their modules.
fn make_tables(connection: &Connection) -> Result<(), Error> {
    let mut rest = Vec::new();
    for object in objects(connection)? {
        let (kind, name, _, Some(sql)) = &object else {
            continue;
        };
        if kind != "table" || name.to_ascii_lowercase().starts_with("sqlite_") {
            continue;
        }
        match is_virtual(sql) {
            true => rest.push(object),
            false => connection.execute_batch(sql)?,
        }
    }
    add(connection, &rest)
}

/// Makes indexes, then views and triggers without running them.
fn make_the_rest(connection: &Connection) -> Result<(), Error> {
    let mut rest = Vec::new();
    for object in objects(connection)? {
        match (object.0.as_str(), &object.3) {
            ("index", Some(sql)) => connection.execute_batch(sql)?,
            ("view" | "trigger", _) => rest.push(object),
            _ => {}
        }
    }
    add(connection, &rest)
}

/// Adds objects without pages to the schema, as `VACUUM` does.
fn add(connection: &Connection, objects: &[Object]) -> Result<(), Error> {
    connection.execute_batch("PRAGMA writable_schema = ON")?;
    for object in objects {
        let sql = "INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, 0, ?4)";
        connection.execute(sql, (&object.0, &object.1, &object.2, &object.3))?;
    }
    // What was added is read from the file.
    connection.execute_batch("PRAGMA writable_schema = RESET")?;
    Ok(())
}

/// How much of each table is taken: small tables whole, the others the same number of pages.
fn shares<'d>(
    connection: &Connection,
    database: &'d Database,
    pages: Option<&Pages>,
    bytes: u64,
) -> Result<Vec<Share<'d>>, Error> {
    let sql =
        "SELECT name, rootpage FROM source.sqlite_schema WHERE tbl_name = ?1 AND rootpage > 0";
    let mut roots = connection.prepare(sql)?;
    let mut shares = Vec::new();
    for table in database.tables.iter().filter(|table| table.is_ordinary()) {
        let trees: Vec<(String, u32)> = roots
            .query_map([&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let (mut own, mut all) = (None, 0);
        for (name, root) in trees {
            let is_table = name == table.name;
            let shape = pages.and_then(|pages| pages.shape(root, is_table));
            all += shape.as_ref().map_or(0, |shape| shape.pages);
            if is_table {
                own = shape;
            }
        }
        shares.push(Share {
            table,
            pages: all.max(1),
            shape: own,
            taken: 0,
        });
    }
    shares.sort_by_key(|share| share.pages);
    let mut left = bytes / u64::from(database.page_bytes.max(512));
    let mut tables = shares.len() as u64;
    for share in &mut shares {
        share.taken = share.pages.min(left / tables);
        left -= share.taken;
        tables -= 1;
    }
    Ok(shares)
}

impl Share<'_> {
    /// Copies the rows.
    fn fill(&self, connection: &Connection, is_utf8: bool) -> Result<SampledTable, Error> {
        let insert = self.insert();
        let leaves = self.shape.as_ref().map_or(0, |shape| shape.leaves);
        let wanted = (u128::from(leaves) * u128::from(self.taken) / u128::from(self.pages)) as u64;
        let wanted = wanted.max(LEAVES_MIN);
        let direction = self.direction(connection)?;
        let (mut rows, mut taken) = (0, 0);
        match (&self.shape, direction) {
            (Some(_), _) if wanted >= leaves => {
                rows = connection.execute(&insert, ())? as u64;
                taken = leaves;
            }
            (Some(shape), Some(is_descending)) => {
                let statement = format!("{insert} WHERE {}", self.between(is_descending));
                let mut statement = connection.prepare(&statement)?;
                let mut began = None;
                for leaf in evenly(&shape.kept, wanted as usize) {
                    let Some(values) = self.bounds(leaf, is_utf8) else {
                        continue;
                    };
                    if began.is_none_or(|began: Instant| began.elapsed() > STEP) {
                        if began.is_some() {
                            connection.execute_batch("COMMIT")?;
                        }
                        connection.execute_batch("BEGIN")?;
                        began = Some(Instant::now());
                    }
                    rows += statement.execute(params_from_iter(values))? as u64;
                    taken += 1;
                }
                if began.is_some() {
                    connection.execute_batch("COMMIT")?;
                }
            }
            _ => {}
        }
        let is_complete = taken == leaves && leaves > 0;
        if taken == 0 {
            return self.fill_first(connection, &insert, wanted);
        }
        let estimated = u128::from(rows) * u128::from(leaves) / u128::from(taken);
        Ok(SampledTable {
            name: self.table.name.clone(),
            sampled_rows: rows,
            rows: estimated as u64,
            is_complete,
            pages: self.shape.as_ref().map(|shape| shape.pages),
        })
    }

    /// Copies the first rows, where the order of the key can't be asked for, or the pages make no sense.
    fn fill_first(
        &self,
        connection: &Connection,
        insert: &str,
        wanted: u64,
    ) -> Result<SampledTable, Error> {
        let limit = wanted * ROWS_PER_LEAF;
        let rows = connection.execute(&format!("{insert} LIMIT {limit}"), ())? as u64;
        let leaves = self.shape.as_ref().map_or(wanted, |shape| shape.leaves);
        let is_complete = rows < limit;
        Ok(SampledTable {
            name: self.table.name.clone(),
            sampled_rows: rows,
            rows: if is_complete {
                rows
            } else {
                rows * leaves.div_ceil(wanted.max(1))
            },
            is_complete,
            pages: self.shape.as_ref().map(|shape| shape.pages),
        })
    }

    /// The statement that copies all rows, with their rowids.
    fn insert(&self) -> String {
        let table = self.table;
        let stored = table.columns.iter().filter(|column| !column.is_generated());
        let mut columns = quoted_list(stored.map(|column: &Column| column.name.as_str()));
        if let Some(rowid) = self.hidden_rowid() {
            columns += &format!(", {rowid}");
        }
        let name = quoted(&table.name);
        format!(
            "INSERT OR IGNORE INTO main.{name}({columns}) SELECT {columns} FROM source.{name} NOT INDEXED"
        )
    }

    /// A name of the rowid that is no column's.
    fn hidden_rowid(&self) -> Option<&'static str> {
        let table = self.table;
        let is_hidden = table.kind == TableKind::Rowid && table.rowid_alias.is_none();
        let names = ["rowid", "oid", "_rowid_"];
        let mut free = names
            .into_iter()
            .filter(|name| table.column(name).is_none());
        free.next().filter(|_| is_hidden)
    }

    /// Whether the key is descending; `None` where it is neither descending nor ascending, or has no name.
    fn direction(&self, connection: &Connection) -> Result<Option<bool>, Error> {
        let table = self.table;
        if table.kind == TableKind::Rowid {
            let is_named = table.rowid_alias.is_some() || self.hidden_rowid().is_some();
            return Ok(is_named.then_some(false));
        }
        let sql = "SELECT max(x.desc), min(x.desc) FROM pragma_index_list(?1) AS l, pragma_index_xinfo(l.name) AS x
                   WHERE l.origin = 'pk' AND x.key";
        let found: (Option<bool>, Option<bool>) =
            connection.query_row(sql, [&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(match found {
            (Some(most), Some(least)) if most == least => Some(most),
            _ => None,
        })
    }

    /// The condition of one leaf: the entry behind it, of a WITHOUT ROWID table, belongs to it.
    fn between(&self, is_descending: bool) -> String {
        let table = self.table;
        if table.kind == TableKind::Rowid {
            let alias = table.rowid_alias.map(|at| quoted(&table.columns[at].name));
            let name = alias.unwrap_or_else(|| self.hidden_rowid().unwrap_or("rowid").to_owned());
            return format!("{name} BETWEEN ?1 AND ?2");
        }
        let names = table.names(&table.key);
        let key = quoted_list(names.iter().map(String::as_str));
        let marks = |from: usize| {
            let marks: Vec<String> = (0..names.len())
                .map(|at| format!("?{}", from + at))
                .collect();
            marks.join(", ")
        };
        let (low, high) = (marks(1), marks(names.len() + 1));
        match is_descending {
            false => format!("({key}) > ({low}) AND ({key}) <= ({high})"),
            true => format!("({key}) < ({low}) AND ({key}) >= ({high})"),
        }
    }

    /// The values of the condition. `None` where the leaf has an open end that a key can't name.
    fn bounds(&self, leaf: &Leaf, is_utf8: bool) -> Option<Vec<Value>> {
        if self.table.kind == TableKind::Rowid {
            let rowid = |bound: &Option<Bound>| match bound {
                Some(Bound::Rowid(rowid)) => Some(*rowid),
                _ => None,
            };
            let after = rowid(&leaf.after).map_or(i64::MIN, |rowid| rowid.saturating_add(1));
            let until = rowid(&leaf.until).unwrap_or(i64::MAX);
            return Some(vec![Value::Integer(after), Value::Integer(until)]);
        }
        let key = |bound: &Option<Bound>| key_of(bound.as_ref()?, self.table.key.len());
        let mut values = key(&leaf.after)?;
        values.extend(key(&leaf.until)?);
        // Texts are bound as UTF-8.
        let has_text = || values.iter().any(|value| matches!(value, Value::Text(_)));
        (is_utf8 || !has_text()).then_some(values)
    }
}

/// Rows of a leaf, where nothing tells.
const ROWS_PER_LEAF: u64 = 50;

/// The first fields of a record.
fn key_of(bound: &Bound, fields: usize) -> Option<Vec<Value>> {
    let Bound::Record(record) = bound else {
        return None;
    };
    let record = Record::parse(record).ok()?;
    let value = |at| {
        Some(match record.value(at)? {
            Field::Null => Value::Null,
            Field::Integer(integer) => Value::Integer(integer),
            Field::Real(real) => Value::Real(real),
            Field::Text(text) => Value::Text(String::from_utf8(text.to_vec()).ok()?),
            Field::Blob(blob) => Value::Blob(blob.to_vec()),
        })
    };
    (0..fields).map(value).collect()
}

/// Some of the items at equal distances.
fn evenly<T>(items: &[T], count: usize) -> impl Iterator<Item = &T> {
    let count = count.min(items.len());
    (0..count).map(move |at| &items[(2 * at + 1) * items.len() / (2 * count)])
}

#[cfg(test)]
mod tests {
    use super::evenly;

    #[test]
    fn items_are_taken_at_equal_distances() {
        let items: Vec<usize> = (0..10).collect();
        let of = |count| evenly(&items, count).copied().collect::<Vec<_>>();
        assert_eq!(of(2), [2, 7]);
        assert_eq!(of(5), [1, 3, 5, 7, 9]);
        assert_eq!(of(99), items);
        assert_eq!(of(0), [0; 0]);
    }
}
