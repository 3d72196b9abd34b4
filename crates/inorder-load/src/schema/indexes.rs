//! The indexes of a table.

use super::scratch::Scratch;
use crate::destination::Destination;

/// An index. The index of the primary key of a WITHOUT ROWID table is the table itself.
pub(crate) struct IndexInfo {
    pub(crate) name: String,
    pub(crate) is_unique: bool,
    /// Whether it is a partial index.
    is_partial: bool,
    /// Whether it is the index of the primary key.
    is_key: bool,
    pub(crate) terms: Vec<Term>,
}

/// A column of an index.
pub(crate) struct Term {
    pub(crate) of: ValueOf,
    pub(crate) is_descending: bool,
    pub(crate) collation: String,
    /// Whether the column is declared, and not added by SQLite to make entries unique.
    is_key: bool,
}

/// The value of a term.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ValueOf {
    /// A column, by its place in the destination. (SQLite's own numbers count generated columns too.)
    Column(usize),
    /// The rowid.
    Rowid,
    /// An expression or a generated column.
    Computed,
}

impl ValueOf {
    /// Reads `cid` and `name` of `pragma_index_xinfo`: the rowid is -1, an expression -2. The destination has no generated
    /// columns.
    fn new(number: i64, name: Option<&str>, destination: &Destination) -> Self {
        const ROWID: i64 = -1;
        match name.and_then(|name| destination.column(name)) {
            _ if number == ROWID => ValueOf::Rowid,
            Some(column) if number >= 0 => ValueOf::Column(column),
            _ => ValueOf::Computed,
        }
    }
}

impl IndexInfo {
    /// Whether SQLite has to create it from the finished table, because only SQLite can evaluate its entries.
    pub(crate) fn is_left_to_sqlite(&self) -> bool {
        self.is_partial || self.terms.iter().any(|term| term.of == ValueOf::Computed)
    }

    /// Whether it is a WITHOUT ROWID table.
    pub(crate) fn is_table(&self) -> bool {
        self.is_key && self.terms.iter().all(|term| term.of != ValueOf::Rowid)
    }

    /// Whether it is a WITHOUT ROWID table whose key has a column twice, in two collations.
    pub(crate) fn is_table_with_a_column_twice(&self) -> bool {
        let is_before =
            |(at, term): (usize, &Term)| self.terms[..at].iter().any(|before| before.of == term.of);
        self.is_table() && self.terms.iter().enumerate().any(is_before)
    }

    /// The number of declared columns.
    pub(crate) fn key_terms(&self) -> usize {
        self.terms.iter().filter(|term| term.is_key).count()
    }
}

/// The indexes of the table, in the order of their creation.
pub(crate) fn indexes(
    scratch: &Scratch,
    destination: &Destination,
) -> rusqlite::Result<Vec<IndexInfo>> {
    let list =
        "SELECT name, \"unique\", partial, origin FROM pragma_index_list(?1) ORDER BY seq DESC";
    let mut found = scratch.ask(list, |row| {
        Ok(IndexInfo {
            name: row.get(0)?,
            is_unique: row.get(1)?,
            is_partial: row.get(2)?,
            is_key: row.get::<_, String>(3)? == "pk",
            terms: Vec::new(),
        })
    })?;
    let list = "SELECT cid, name, \"desc\", coll, key FROM pragma_index_xinfo(?1) ORDER BY seqno";
    let mut statement = scratch.connection.prepare(list)?;
    for index in &mut found {
        let terms = statement.query_map([&index.name], |row| {
            let name: Option<String> = row.get(1)?;
            Ok(Term {
                of: ValueOf::new(row.get(0)?, name.as_deref(), destination),
                is_descending: row.get(2)?,
                collation: row.get(3)?,
                is_key: row.get(4)?,
            })
        })?;
        index.terms = terms.collect::<rusqlite::Result<_>>()?;
    }
    Ok(found)
}
