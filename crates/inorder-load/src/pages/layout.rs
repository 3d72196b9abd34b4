//! The trees of a table, and what of a row goes into each.

use inorder_btree::record::{KeyColumn, Pick};
use inorder_btree::{Collation, KeyOrder};

use super::scratch::Scratch;
use crate::destination::Destination;

/// An index as SQLite describes it. That of a WITHOUT ROWID table's key is the table.
pub(super) struct IndexInfo {
    pub(super) name: String,
    pub(super) is_unique: bool,
    /// Whether it has some of the rows alone.
    is_partial: bool,
    /// Whether it is of a primary key.
    is_key: bool,
    pub(super) terms: Vec<Term>,
}

/// One value of an index's entries.
pub(super) struct Term {
    of: Of,
    is_descending: bool,
    pub(super) collation: String,
    /// Whether it's one that was asked for, and not added to tell entries apart.
    is_key: bool,
}

/// What a term is the value of.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// A column, by its place among those that can be given: SQLite's own numbers count generated ones too.
    Column(usize),
    /// The rowid.
    Rowid,
    /// An expression, or a generated column.
    Computed,
}

impl Of {
    /// The rowid has a number below 0 and no name, an expression another; a generated column isn't one of the
    /// destination's.
    fn new(number: i64, name: Option<&str>, destination: &Destination) -> Self {
        const ROWID: i64 = -1;
        match name.and_then(|name| destination.column(name)) {
            _ if number == ROWID => Of::Rowid,
            Some(column) if number >= 0 => Of::Column(column),
            _ => Of::Computed,
        }
    }
}

impl IndexInfo {
    /// Whether SQLite makes it itself, from the finished table: nothing else can say what its entries are.
    pub(super) fn is_left_to_sqlite(&self) -> bool {
        self.is_partial || self.terms.iter().any(|term| term.of == Of::Computed)
    }

    /// Whether it is the tree of a WITHOUT ROWID table.
    fn is_table(&self) -> bool {
        self.is_key && self.terms.iter().all(|term| term.of != Of::Rowid)
    }

    /// Whether it is the tree of a WITHOUT ROWID table whose rows have a column twice, in the key's two collations.
    pub(super) fn is_table_with_a_column_twice(&self) -> bool {
        let is_before =
            |(at, term): (usize, &Term)| self.terms[..at].iter().any(|before| before.of == term.of);
        self.is_table() && self.terms.iter().enumerate().any(is_before)
    }

    /// How many terms were asked for.
    fn key_terms(&self) -> usize {
        self.terms.iter().filter(|term| term.is_key).count()
    }
}

/// The indexes of the table, as they were made.
pub(super) fn indexes(
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
                of: Of::new(row.get(0)?, name.as_deref(), destination),
                is_descending: row.get(2)?,
                collation: row.get(3)?,
                is_key: row.get(4)?,
            })
        })?;
        index.terms = terms.collect::<rusqlite::Result<_>>()?;
    }
    Ok(found)
}

/// A table as trees.
pub(super) struct Layout {
    /// The table's name.
    pub(super) name: String,
    /// How many columns its rows have.
    columns: usize,
    pub(super) table: TableLayout,
    /// The index whose entries come in the order of the rows: it is built beside the table.
    pub(super) beside: Option<IndexLayout>,
    /// The others.
    pub(super) indexes: Vec<IndexLayout>,
    /// The schema's rows, without those of the indexes that SQLite makes.
    pub(super) schema: Vec<SchemaRow>,
    /// Statements for SQLite to run when all else is built.
    pub(super) statements_after: Vec<String>,
}

/// The tree of the rows.
pub(super) enum TableLayout {
    /// By the key: rows come as they are stored.
    WithoutRowid(KeyOrder),
    /// By the rowid.
    Rowid {
        /// The place in a row of the column that is the rowid's other name.
        alias: Option<usize>,
        /// The largest rowid that ever was, where that is written down (AUTOINCREMENT).
        counted: Option<i64>,
    },
}

/// The tree of an index.
pub(super) struct IndexLayout {
    pub(super) name: String,
    /// What entries consist of: values of a row, or its rowid.
    places: Vec<Option<usize>>,
    pub(super) order: KeyOrder,
    /// How many of the first values nobody may share.
    pub(super) unique_columns: Option<usize>,
}

/// A row of `sqlite_schema` without its root.
pub(super) struct SchemaRow {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) table_name: String,
    pub(super) sql: Option<String>,
}

/// The table that counts rowids for those with AUTOINCREMENT.
pub(super) const SEQUENCE: &str = "sqlite_sequence";

impl Layout {
    /// The trees of a table without obstacles, whose rows have these columns and come in this order, if in any.
    pub(super) fn new(
        scratch: &Scratch,
        destination: &Destination,
        record: &[usize],
        rows_order: Option<&KeyOrder>,
    ) -> rusqlite::Result<Self> {
        let all =
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE ?1 <> '' ORDER BY rowid";
        let mut schema = scratch.ask(all, |row| {
            Ok(SchemaRow {
                kind: row.get(0)?,
                name: row.get(1)?,
                table_name: row.get(2)?,
                sql: row.get(3)?,
            })
        })?;
        let is_counted = schema.iter().any(|row| row.name == SEQUENCE);
        let mut table = TableLayout::Rowid {
            alias: destination.rowid.map(|rowid| place(record, rowid)),
            counted: is_counted.then_some(0),
        };
        // Rows without a rowid of their own get one after another.
        let rows_order = rows_order.filter(|_| destination.rowid.is_none());
        let (mut beside, mut layouts, mut statements_after) = (None, Vec::new(), Vec::new());
        for index in indexes(scratch, destination)? {
            if index.is_left_to_sqlite() {
                let at = schema.iter().position(|row| row.name == index.name);
                let row = at.map(|at| schema.remove(at));
                statements_after.extend(row.and_then(|row| row.sql));
            } else if index.is_table() {
                let (_, order) = entries(&index, destination, record, index.key_terms());
                table = TableLayout::WithoutRowid(order);
            } else {
                let (places, order) = entries(&index, destination, record, index.terms.len());
                let index = IndexLayout {
                    places,
                    order,
                    unique_columns: index.is_unique.then(|| index.key_terms()),
                    name: index.name,
                };
                match rows_order {
                    Some(order) if beside.is_none() && index.is_in_order_of(order) => {
                        beside = Some(index);
                    }
                    _ => layouts.push(index),
                }
            }
        }
        if let TableLayout::WithoutRowid(_) = table {
            // Two trees at once are those of a table with rowids alone.
            layouts.extend(beside.take());
        }
        Ok(Layout {
            name: scratch.table.clone(),
            columns: record.len(),
            table,
            beside,
            indexes: layouts,
            schema,
            statements_after,
        })
    }

    /// How many trees there are.
    pub(super) fn trees(&self) -> u32 {
        let indexes = self.indexes.len() + usize::from(self.beside.is_some());
        1 + indexes as u32 + u32::from(self.is_counted())
    }

    /// Whether the largest rowid is written down.
    pub(super) fn is_counted(&self) -> bool {
        self.counted().is_some()
    }

    /// The largest rowid that ever was, where that is written down.
    pub(super) fn counted(&self) -> Option<i64> {
        match self.table {
            TableLayout::Rowid { counted, .. } => counted,
            TableLayout::WithoutRowid(_) => None,
        }
    }

    /// Says which rowid was the largest before, where that is written down.
    pub(super) fn count_from(&mut self, largest: i64) {
        if let TableLayout::Rowid { counted, .. } = &mut self.table {
            *counted = counted.map(|_| largest);
        }
    }

    /// Whether more is done with a row than to store it as it is.
    #[inline]
    pub(super) fn is_taken_apart(&self) -> bool {
        let has_alias = matches!(self.table, TableLayout::Rowid { alias: Some(_), .. });
        has_alias || self.beside.is_some() || !self.indexes.is_empty()
    }

    /// What is stored of a row; `None` where it is the row as it is. The rowid isn't stored twice.
    #[inline]
    pub(super) fn picks(&self) -> Option<impl Iterator<Item = Pick> + Clone + use<>> {
        let TableLayout::Rowid {
            alias: Some(alias), ..
        } = self.table
        else {
            return None;
        };
        let pick = move |place| {
            if place == alias {
                Pick::Null
            } else {
                Pick::Value(place)
            }
        };
        Some((0..self.columns).map(pick))
    }
}

impl IndexLayout {
    /// What an entry consists of.
    #[inline]
    pub(super) fn picks(&self, rowid: i64) -> impl Iterator<Item = Pick> + Clone {
        let pick = move |place: &Option<usize>| place.map_or(Pick::Integer(rowid), Pick::Value);
        self.places.iter().map(pick)
    }

    /// Whether rows in this order bring their entries in the order of the index: all but the last of its
    /// values, the rowid, are the first that rows are ordered by.
    fn is_in_order_of(&self, rows: &KeyOrder) -> bool {
        let Some((_, values)) = self.order.columns().split_last() else {
            return false;
        };
        let as_in_row = |column: &KeyColumn| {
            let index = self.places[column.index]?;
            Some(KeyColumn { index, ..*column })
        };
        values.len() <= rows.columns().len()
            && values
                .iter()
                .map(as_in_row)
                .eq(rows.columns()[..values.len()].iter().copied().map(Some))
    }
}

/// Where in a row a column is.
fn place(record: &[usize], column: usize) -> usize {
    let place = record.iter().position(|of| *of == column);
    place.expect("rows that are written directly have every column")
}

/// The values of an index's entries, and their order by the first `terms` of them.
fn entries(
    index: &IndexInfo,
    destination: &Destination,
    record: &[usize],
    terms: usize,
) -> (Vec<Option<usize>>, KeyOrder) {
    let value = |term: &Term| match term.of {
        Of::Column(column) if destination.rowid != Some(column) => Some(place(record, column)),
        _ => None,
    };
    let column = |(at, term): (usize, &Term)| KeyColumn {
        index: at,
        collation: Collation::from_name(&term.collation).unwrap_or(Collation::Binary),
        is_descending: term.is_descending,
    };
    let columns = index.terms.iter().take(terms).enumerate().map(column);
    (
        index.terms.iter().map(value).collect(),
        KeyOrder::new(columns.collect(), destination.encoding),
    )
}
