//! Where the values of a table's rows are.

use std::ops::Range;

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
    /// The columns that are stored or the rowid, in their order.
    parts: Vec<Digested>,
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
        let part = |(at, column): (usize, &ddl::Column)| {
            let place = shape.place(at)?;
            Some(match form(column) {
                None => Digested::Value(place),
                Some(form) => Digested::Id(place, form),
            })
        };
        let columns = catalog.columns.iter().enumerate();
        Layout {
            parts: columns.filter_map(part).collect(),
            shape,
            keeps_rowid,
            is_same,
        }
    }

    /// Digests the values together that come one after another in the rows of both layouts, as they are encoded: the rows
    /// of one were copied value by value from those of the other.
    pub(super) fn join_values(&mut self, other: &mut Self) {
        if self.parts.len() != other.parts.len() {
            return;
        }
        let parts = std::mem::take(&mut self.parts);
        let others = std::mem::take(&mut other.parts);
        for (part, own) in parts.into_iter().zip(others) {
            let (Some(at), Some(place)) = (part.field(), own.field()) else {
                self.parts.push(part);
                other.parts.push(own);
                continue;
            };
            match (self.parts.last_mut(), other.parts.last_mut()) {
                (Some(Digested::Run(run)), Some(Digested::Run(before)))
                    if (run.end, before.end) == (at, place) =>
                {
                    run.end += 1;
                    before.end += 1;
                }
                _ => {
                    self.parts.push(Digested::Run(at..at + 1));
                    other.parts.push(Digested::Run(place..place + 1));
                }
            }
        }
    }

    /// How many values of a row have to be read for its digest, and to say whether it is short.
    pub(super) fn needed(&self) -> usize {
        let fields = self.parts.iter().filter_map(|part| match part {
            Digested::Value(place) | Digested::Id(place, _) => place.field(),
            Digested::Run(fields) => fields.end.checked_sub(1),
        });
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
        for part in &self.parts {
            digest = match part {
                Digested::Value(place) => digest::value(digest, place.value(fields, rowid, record)),
                Digested::Id(place, form) => {
                    converted(digest, place.value(fields, rowid, record), *form)
                }
                Digested::Run(run) => {
                    let types = run.clone().map(|field| fields.serial_type_at(field));
                    digest::encoded(digest, types, fields.body(record, run.clone()))
                }
            };
        }
        digest
    }
}

/// What of a row is digested.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Digested {
    Value(Place),
    /// An id as the blob that it becomes.
    Id(Place, IdForm),
    /// Some fields as they are encoded.
    Run(Range<usize>),
}

impl Digested {
    /// The field whose value is digested, if that is all.
    fn field(&self) -> Option<usize> {
        match self {
            Digested::Value(place) => place.field(),
            Digested::Id(..) | Digested::Run(_) => None,
        }
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
