//! The trees of a table, and the parts of a row that go into each.

use inorder_btree::record::{Fields, KeyColumn, Pick};
use inorder_btree::{Collation, KeyOrder};

use crate::destination::Destination;
use crate::schema::{IndexInfo, Scratch, Term, ValueOf, indexes};

/// The trees of a table.
pub(super) struct Layout {
    /// The table's name.
    pub(super) name: String,
    /// The number of columns of a row.
    columns: usize,
    pub(super) table: TableLayout,
    /// The index whose entries come in the order of the rows. It is built in the same pass as the table.
    pub(super) beside: Option<IndexLayout>,
    /// The other indexes.
    pub(super) indexes: Vec<IndexLayout>,
    /// The rows of the schema, without the indexes that SQLite creates afterwards.
    pub(super) schema: Vec<SchemaRow>,
    /// The indexes that SQLite builds afterwards.
    pub(super) built_after: Vec<BuiltAfter>,
}

/// An index on expressions or with a condition.
pub(super) struct BuiltAfter {
    pub(super) name: String,
    /// The statement that creates it.
    pub(super) sql: String,
}

/// The tree of the rows.
pub(super) enum TableLayout {
    /// By the key of a WITHOUT ROWID table: records are stored as they come.
    WithoutRowid(KeyOrder),
    /// By the rowid.
    Rowid {
        /// The place in a row of the rowid alias.
        alias: Option<usize>,
        /// The largest rowid ever, for AUTOINCREMENT.
        counted: Option<i64>,
    },
}

/// The tree of an index.
pub(super) struct IndexLayout {
    pub(super) name: String,
    /// The values of an entry: positions in a row, or `None` for the rowid.
    places: Vec<Option<usize>>,
    /// How many values of a row come before the rowid, if these are its first ones.
    first: Option<usize>,
    pub(super) order: KeyOrder,
    /// The number of leading values that are unique.
    pub(super) unique_columns: Option<usize>,
}

/// A row of `sqlite_schema` without its root.
pub(super) struct SchemaRow {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) table_name: String,
    pub(super) sql: Option<String>,
}

/// The table of the largest rowids of AUTOINCREMENT tables.
pub(super) const SEQUENCE: &str = "sqlite_sequence";

impl Layout {
    /// The trees of a table without obstacles, for rows with these columns, in this order if any.
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
        // Rows without a rowid get consecutive ones.
        let rows_order = rows_order.filter(|_| destination.rowid.is_none());
        let (mut beside, mut layouts, mut built_after) = (None, Vec::new(), Vec::new());
        for index in indexes(scratch, destination)? {
            if index.is_left_to_sqlite() {
                let at = schema.iter().position(|row| row.name == index.name);
                let row = at.map(|at| schema.remove(at));
                let sql = row.and_then(|row| row.sql);
                built_after.extend(sql.map(|sql| BuiltAfter {
                    name: index.name,
                    sql,
                }));
            } else if index.is_table() {
                let (_, order) = entries(&index, destination, record, index.key_terms());
                table = TableLayout::WithoutRowid(order);
            } else {
                let (places, order) = entries(&index, destination, record, index.terms.len());
                let index = IndexLayout {
                    first: first(&places),
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
            built_after,
        })
    }

    /// The names of the table and its indexes, in the order in which their trees are built.
    pub(super) fn tree_names(&self) -> impl Iterator<Item = &str> {
        let indexes = self.beside.iter().chain(&self.indexes);
        std::iter::once(self.name.as_str()).chain(indexes.map(|index| index.name.as_str()))
    }

    /// The number of trees of a new file.
    pub(super) fn trees(&self) -> u32 {
        self.tree_names().count() as u32 + u32::from(self.is_counted())
    }

    /// Whether the table is AUTOINCREMENT.
    pub(super) fn is_counted(&self) -> bool {
        self.counted().is_some()
    }

    /// The largest rowid ever of an AUTOINCREMENT table.
    pub(super) fn counted(&self) -> Option<i64> {
        match self.table {
            TableLayout::Rowid { counted, .. } => counted,
            TableLayout::WithoutRowid(_) => None,
        }
    }

    /// Sets the largest rowid before the load, if the table is AUTOINCREMENT.
    pub(super) fn count_from(&mut self, largest: i64) {
        if let TableLayout::Rowid { counted, .. } = &mut self.table {
            *counted = counted.map(|_| largest);
        }
    }

    /// How many fields of a row must be decoded before it is stored, from the first one on.
    pub(super) fn fields_used(&self) -> usize {
        if let TableLayout::Rowid { alias: Some(_), .. } = self.table {
            return usize::MAX;
        }
        let indexes = self.beside.iter().chain(&self.indexes);
        let places = indexes.flat_map(|index| index.places.iter().flatten());
        places.max().map_or(0, |last| last + 1)
    }

    /// The stored values of a row; `None` for all of them. The rowid alias is stored as NULL.
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
    /// Appends the entry of a row, whose fields were read.
    #[inline]
    pub(super) fn write(&self, fields: &Fields, row: &[u8], rowid: i64, out: &mut Vec<u8>) {
        if let Some(count) = self.first
            && fields.write_first_and(row, count, rowid, out)
        {
            return;
        }
        let pick = |place: &Option<usize>| place.map_or(Pick::Integer(rowid), Pick::Value);
        fields.write(row, self.places.iter().map(pick), out);
    }

    /// Whether the entries of rows in this order are in the order of the index: its values without the last one, the
    /// rowid, are the first that the rows are sorted by.
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

/// How many values come before the rowid, if these are the first ones of a row and there are no others.
fn first(places: &[Option<usize>]) -> Option<usize> {
    let (rowid, values) = places.split_last()?;
    let are_first = values.iter().copied().eq((0..values.len()).map(Some));
    (rowid.is_none() && are_first).then_some(values.len())
}

/// The position of a column in a row.
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
        ValueOf::Column(column) if destination.rowid != Some(column) => Some(place(record, column)),
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
