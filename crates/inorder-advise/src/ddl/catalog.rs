//! What SQLite reports of a table.

use rusqlite::Connection;

/// A table as SQLite reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Catalog {
    pub(crate) name: String,
    pub(crate) is_without_rowid: bool,
    pub(crate) is_strict: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
    /// The rows of `foreign_key_list` as text.
    pub(crate) foreign_keys: Vec<String>,
}

/// A row of `table_xinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) is_not_null: bool,
    pub(crate) default: Option<String>,
    /// Its place in the primary key from 1, or 0.
    pub(crate) key: usize,
    /// 0 for a column that rows can be given, 2 and 3 for generated columns.
    pub(crate) hidden: u8,
}

/// A row of `index_list` with its rows of `index_xinfo`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Index {
    pub(crate) origin: String,
    /// The name, also where SQLite gave it.
    pub(crate) name: String,
    pub(crate) is_unique: bool,
    pub(crate) is_partial: bool,
    pub(crate) terms: Vec<Term>,
}

/// A term of an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    /// Place of the column in `table_xinfo`; -1 is the rowid and -2 an expression.
    pub(crate) column: i64,
    pub(crate) name: Option<String>,
    pub(crate) is_descending: bool,
    pub(crate) collation: String,
    /// Whether it was asked for, and not added to tell entries apart.
    pub(crate) is_key: bool,
}

impl Catalog {
    /// Reads a table of the database `main`.
    pub(crate) fn read(connection: &Connection, table: &str) -> rusqlite::Result<Self> {
        let list = "SELECT name, wr, strict FROM pragma_table_list \
                    WHERE schema = 'main' AND name = ?1 COLLATE NOCASE";
        let (name, is_without_rowid, is_strict): (String, bool, bool) =
            connection.query_row(list, [table], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let foreign_keys = "SELECT json_array(id, seq, \"table\", \"from\", \"to\", on_update, on_delete, match) \
                            FROM pragma_foreign_key_list(?1, 'main')";
        let mut statement = connection.prepare(foreign_keys)?;
        let foreign_keys = statement.query_map([&name], |row| row.get(0))?;
        Ok(Catalog {
            columns: columns(connection, &name)?,
            indexes: indexes(connection, &name)?,
            foreign_keys: foreign_keys.collect::<rusqlite::Result<_>>()?,
            name,
            is_without_rowid,
            is_strict,
        })
    }

    /// The columns of the primary key in its order.
    pub(crate) fn key(&self) -> Vec<&Column> {
        let mut key: Vec<_> = self
            .columns
            .iter()
            .filter(|column| column.key > 0)
            .collect();
        key.sort_by_key(|column| column.key);
        key
    }

    /// The column that is the rowid: SQLite made no index for a key of one column.
    pub(crate) fn alias(&self) -> Option<&Column> {
        let key = self.key();
        let has_index = self.indexes.iter().any(|index| index.origin == "pk");
        let is_alias = !self.is_without_rowid && !has_index && key.len() == 1;
        is_alias.then(|| key[0])
    }

    /// The column of this name.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        let is_named = |column: &&Column| column.name.eq_ignore_ascii_case(name);
        self.columns.iter().find(is_named)
    }

    /// A name of the hidden rowid that no column has.
    pub(crate) fn rowid_name(&self) -> Option<&'static str> {
        let mut names = ["rowid", "_rowid_", "oid"].into_iter();
        names.find(|name| self.column(name).is_none())
    }

    /// Leaves out what may differ: the names that SQLite gives, and terms that weren't asked for.
    pub(crate) fn comparable(mut self) -> Self {
        for index in &mut self.indexes {
            if index.origin != "c" {
                index.name.clear();
            }
            index.terms.retain(|term| term.is_key);
        }
        self.indexes.sort();
        self
    }
}

impl Index {
    /// The columns that were asked for; `None` where one is an expression.
    pub(crate) fn key_columns(&self) -> Option<Vec<&str>> {
        let keys = self.terms.iter().filter(|term| term.is_key);
        keys.map(|term| term.name.as_deref().filter(|_| term.column >= 0))
            .collect()
    }
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let list = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main')";
    let mut statement = connection.prepare(list)?;
    let columns = statement.query_map([table], |row| {
        Ok(Column {
            name: row.get(0)?,
            kind: row.get(1)?,
            is_not_null: row.get(2)?,
            default: row.get(3)?,
            key: row.get(4)?,
            hidden: row.get(5)?,
        })
    })?;
    columns.collect()
}

fn indexes(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Index>> {
    let list = "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC";
    let mut statement = connection.prepare(list)?;
    let indexes = statement.query_map([table], |row| {
        Ok(Index {
            name: row.get(0)?,
            is_unique: row.get(1)?,
            origin: row.get(2)?,
            is_partial: row.get(3)?,
            terms: Vec::new(),
        })
    })?;
    let mut indexes: Vec<Index> = indexes.collect::<rusqlite::Result<_>>()?;
    let list =
        "SELECT cid, name, \"desc\", coll, key FROM pragma_index_xinfo(?1, 'main') ORDER BY seqno";
    let mut statement = connection.prepare(list)?;
    for index in &mut indexes {
        let terms = statement.query_map([&index.name], |row| {
            Ok(Term {
                column: row.get(0)?,
                name: row.get(1)?,
                is_descending: row.get(2)?,
                collation: row.get(3)?,
                is_key: row.get(4)?,
            })
        })?;
        index.terms = terms.collect::<rusqlite::Result<_>>()?;
    }
    Ok(indexes)
}
