//! What each column of ids of a server is.

use super::{
    ids::{IdColumn, Storage},
    model::{Column, Database, Table},
    rules::shown,
};
use crate::{
    Error,
    classify::{Contained, Holder, IdClass, IdFacts, Settled, Vocabulary, find_contained, made_by},
    read::digest_in_words,
};

/// The names of a column in `advise.toml`, the one that reports show first.
pub fn names(table: &Table, column: &str) -> [String; 3] {
    [
        format!("{}.{column}", shown(table)),
        format!("{}.{column}", table.name),
        format!("{}.{}.{column}", table.schema, table.name),
    ]
}

/// Checks that settled columns exist.
///
/// # Errors
/// [`Error::Settled`].
pub fn check_names(database: &Database, settled: &Settled) -> Result<(), Error> {
    let columns = |table: &Table| {
        let columns = table.columns.iter();
        columns
            .flat_map(|column| names(table, &column.name))
            .collect::<Vec<_>>()
    };
    let names: Vec<String> = database.tables.iter().flat_map(columns).collect();
    settled.check(names.iter().map(String::as_str))
}

/// A column of ids with its table.
struct Place<'d> {
    table: &'d Table,
    column: &'d Column,
    ids: &'d IdColumn,
}

impl Place<'_> {
    fn title(&self) -> String {
        format!("{}.{}", shown(self.table), self.column.name)
    }

    fn key(&self) -> Option<Vec<&str>> {
        self.table.primary().and_then(|key| key.columns())
    }

    fn is_primary(&self) -> bool {
        self.key()
            .is_some_and(|columns| columns == [self.column.name.as_str()])
    }

    fn begins_primary(&self) -> bool {
        self.key()
            .is_some_and(|columns| columns.len() > 1 && columns[0] == self.column.name)
    }

    fn is_unique(&self) -> bool {
        self.table.indexes.iter().any(|index| {
            let is_of_all = index.is_unique && index.predicate.is_none() && index.is_valid;
            is_of_all
                && index
                    .columns()
                    .is_some_and(|columns| columns == [self.column.name.as_str()])
        })
    }

    /// The share of the rows that were read.
    fn coverage(&self) -> f64 {
        let sample = self.table.sample.as_ref();
        match sample.is_some_and(|sample| sample.is_whole) {
            true => 1.0,
            false => (self.ids.rows as f64 / self.table.rows.max(1) as f64).min(1.0),
        }
    }

    /// What a foreign key refers to.
    fn parent(&self) -> Option<String> {
        self.table.foreign_keys.iter().find_map(|key| {
            let place = key
                .columns
                .iter()
                .position(|own| *own == self.column.name)?;
            let parent = key.parent_columns.get(place).map_or("", String::as_str);
            Some(format!("{}({parent})", key.parent))
        })
    }

    fn referenced_by(&self) -> usize {
        let keys = self.table.referenced_by.iter();
        keys.filter(|key| key.parent_columns.contains(&self.column.name))
            .count()
    }

    /// Rows and different values of the sample, if values repeat.
    fn repeats(&self) -> Option<(u64, u64)> {
        let values = &self.ids.values;
        let bound = if values.sketch.is_whole() { 1.0 } else { 0.9 };
        let (rows, different) = (values.present(), values.sketch.different());
        (different > 0 && (different as f64) < bound * rows as f64).then_some((rows, different))
    }
}

/// Finds what each column is.
pub(super) fn find(database: &Database, found: &mut [IdColumn], settled: &Settled) {
    let classes = classes(database, found, settled);
    for (ids, class) in found.iter_mut().zip(classes) {
        ids.class = class;
    }
}

fn classes(database: &Database, found: &[IdColumn], settled: &Settled) -> Vec<IdClass> {
    let place = |ids: &'_ IdColumn| -> Option<(&Table, &Column)> {
        let table = database.table(&ids.schema, &ids.table)?;
        Some((table, table.column(&ids.column)?))
    };
    // Every column of ids was found in a table.
    let places: Vec<Place<'_>> = found
        .iter()
        .filter_map(|ids| place(ids).map(|(table, column)| Place { table, column, ids }))
        .collect();
    let vocabulary = Vocabulary::of(database.tables.iter().map(|table| &*table.name));
    let holders: Vec<Holder<'_>> = places
        .iter()
        .map(|place| Holder {
            values: &place.ids.values.sketch,
            coverage: place.coverage(),
            is_unique: place.is_unique(),
        })
        .collect();
    let contained = find_contained(&holders);
    let class = |(place, contained): (&Place<'_>, Vec<Contained>)| {
        let contained = contained.into_iter().map(|own| {
            let parent = &places[own.at];
            Contained {
                key: parent.title(),
                is_own: vocabulary.is_own(&parent.table.name, &parent.column.name),
                ..own
            }
        });
        let others = place
            .table
            .columns
            .iter()
            .filter(|other| other.name != place.column.name);
        let names = names(place.table, &place.column.name);
        let is_number = matches!(place.ids.storage, Storage::Integer | Storage::Digits);
        let facts = IdFacts {
            table: &place.table.name,
            column: &place.column.name,
            is_primary: place.is_primary(),
            begins_primary: place.begins_primary(),
            is_unique: place.is_unique(),
            refers_to: place.parent(),
            referenced_by: place.referenced_by(),
            contained: contained.collect(),
            repeats: place.repeats(),
            made: place.column.default.as_deref().and_then(made_by),
            digest: digest_in_words(&place.ids.kinds),
            beside: vocabulary.secret_of(&place.table.name, others.map(|other| &*other.name)),
            is_number,
            settled: settled.role(&names.each_ref().map(String::as_str)),
        };
        IdClass::of(&facts, &vocabulary)
    };
    places.iter().zip(contained).map(class).collect()
}
