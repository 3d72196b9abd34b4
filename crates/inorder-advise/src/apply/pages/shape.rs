//! Where the values of a table's rows are.

use inorder_btree::record::Fields;
use inorder_btree::{Reader, Value};

use super::{Failure, digest};
use crate::IdForm;
use crate::apply::ids;
use crate::ddl::{self, Catalog, Index};

/// A tree of the old file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) root: u32,
    /// Whether its rows have rowids.
    pub(crate) is_table: bool,
}

/// Gives each record of a tree.
pub(super) fn every(
    reader: &mut Reader,
    from: Source,
    mut record: impl FnMut(i64, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match from.is_table {
        true => reader.table(from.root, record),
        false => reader.index(from.root, |entry| record(0, entry)),
    }
}

/// Where a table's columns are in its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) source: Source,
    /// The field of each column; none for virtual columns.
    pub(super) fields: Vec<Option<usize>>,
    /// The column that is the rowid.
    pub(super) alias: Option<usize>,
    /// As in [`Row`].
    pub(super) last_field: Option<usize>,
}

impl Shape {
    pub(super) fn new(catalog: &Catalog, root: u32) -> Self {
        let mut fields = vec![None; catalog.columns.len()];
        match key_index(catalog) {
            Some(key) => {
                for (field, term) in key.terms.iter().enumerate() {
                    if let Ok(column) = usize::try_from(term.column) {
                        fields[column] = Some(field);
                    }
                }
            }
            None => {
                let stored = (0..fields.len()).filter(|at| catalog.columns[*at].hidden != 2);
                for (field, column) in stored.collect::<Vec<_>>().into_iter().enumerate() {
                    fields[column] = Some(field);
                }
            }
        }
        let has_default = |column: &ddl::Column| {
            let default = column.default.as_deref().unwrap_or("NULL");
            column.hidden == 0 && !default.eq_ignore_ascii_case("NULL")
        };
        let alias = catalog.alias().map(|alias| alias.name.clone());
        Shape {
            source: Source {
                root,
                is_table: !catalog.is_without_rowid,
            },
            alias: catalog
                .columns
                .iter()
                .position(|own| Some(&own.name) == alias.as_ref()),
            last_field: fields
                .iter()
                .flatten()
                .max()
                .copied()
                .filter(|_| catalog.columns.iter().any(has_default)),
            fields,
        }
    }

    /// Where a column's value is; none where it is computed.
    fn place(&self, column: usize) -> Option<Place> {
        match self.alias == Some(column) {
            true => Some(Place::Rowid),
            false => self.fields[column].map(Place::Field),
        }
    }
}

/// The index that is a WITHOUT ROWID table itself.
pub(super) fn key_index(catalog: &Catalog) -> Option<&Index> {
    let mut indexes = catalog.indexes.iter();
    let key = indexes.find(|index| index.origin == "pk");
    key.filter(|_| catalog.is_without_rowid)
}

/// How many values of a record have to be read to know those of these fields.
pub(super) fn needed(fields: impl IntoIterator<Item = usize>) -> usize {
    let last = fields.into_iter().max();
    last.map_or(0, |last| last + 1)
}

/// Where a value of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Rowid,
    Field(usize),
}

impl Place {
    /// The field of the value, if it is in one.
    pub(super) fn field(self) -> Option<usize> {
        match self {
            Place::Rowid => None,
            Place::Field(field) => Some(field),
        }
    }

    /// The value at this place of a row whose fields were read.
    #[inline(always)]
    pub(super) fn value<'a>(self, fields: &Fields, rowid: i64, record: &'a [u8]) -> Value<'a> {
        match self {
            Place::Rowid => Value::Integer(rowid),
            Place::Field(field) => fields.value(record, field).unwrap_or(Value::Null),
        }
    }
}

/// How a table's rows are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    /// The columns that are stored or the rowid, and the form of the ids that each is converted from.
    columns: Vec<(Place, Option<IdForm>)>,
    /// Whether the rowid is compared.
    keeps_rowid: bool,
    /// Whether the records are compared as they are: the other layout has the same.
    is_same: bool,
}

impl Layout {
    /// The layout of a table at this root. `conversions` are to be made of its ids.
    pub(super) fn new(
        catalog: &Catalog,
        root: u32,
        conversions: &[(String, IdForm)],
        keeps_rowid: bool,
        is_same: bool,
    ) -> Self {
        let form = |column: &ddl::Column| {
            let conversion = conversions.iter().find(|(name, _)| *name == column.name);
            conversion.map(|(_, form)| *form)
        };
        let shape = Shape::new(catalog, root);
        let place = |(at, column): (usize, &ddl::Column)| Some((shape.place(at)?, form(column)));
        let columns = catalog.columns.iter().enumerate();
        Layout {
            columns: columns.filter_map(place).collect(),
            shape,
            keeps_rowid,
            is_same,
        }
    }

    /// How many values of a row have to be read for its digest, and to say whether it is short.
    pub(super) fn needed(&self) -> usize {
        let fields = self.columns.iter().filter_map(|(place, _)| place.field());
        let digested = fields.filter(|_| !self.is_same);
        needed(digested.chain(self.shape.last_field))
    }

    /// Whether a row lacks columns that have other values than NULL then.
    pub(super) fn is_short(&self, fields: &Fields, record: &[u8]) -> bool {
        let last = self.shape.last_field;
        last.is_some_and(|last| fields.value(record, last).is_none())
    }

    /// Where the terms of an index are; none where one of them is not in the rows.
    pub(super) fn places(&self, index: &Index) -> Option<Vec<Place>> {
        let place = |term: &ddl::Term| match usize::try_from(term.column) {
            Ok(column) => self.shape.place(column),
            Err(_) => (term.column == -1).then_some(Place::Rowid),
        };
        index.terms.iter().map(place).collect()
    }

    /// The digest of a row's columns in the order of the table's definition.
    pub(super) fn row(&self, fields: &Fields, rowid: i64, record: &[u8]) -> u64 {
        if self.is_same {
            return digest::bytes(0, record);
        }
        let mut digest = match self.keeps_rowid {
            true => digest::value(0, Value::Integer(rowid)),
            false => 0,
        };
        for (place, form) in &self.columns {
            let value = place.value(fields, rowid, record);
            digest = match form {
                None => digest::value(digest, value),
                Some(form) => converted(digest, value, *form),
            };
        }
        digest
    }
}

/// The digest of an id that is compared as the blob that it becomes.
fn converted(before: u64, id: Value<'_>, form: IdForm) -> u64 {
    let blob = match id {
        Value::Text(text) => ids::to_blob(text, form),
        _ => None,
    };
    digest::value(before, blob.as_deref().map_or(id, Value::Blob))
}
