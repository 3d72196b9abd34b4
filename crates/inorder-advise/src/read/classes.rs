//! What each column of ids of an SQLite database is.

use super::{Column, Database, Ids, Table};
use crate::classify::{
    Contained, Holder, IdClass, IdFacts, Settled, Vocabulary, find_contained, made_by,
};

/// A column of ids.
struct Place<'d> {
    table: &'d Table,
    at: usize,
    ids: Option<Ids>,
}

impl Place<'_> {
    fn column(&self) -> &Column {
        &self.table.columns[self.at]
    }

    fn title(&self) -> String {
        format!("{}.{}", self.table.name, self.column().name)
    }

    fn is_primary(&self) -> bool {
        self.table.key == [self.at]
    }

    fn is_unique(&self) -> bool {
        let mut unique = self
            .table
            .indexes
            .iter()
            .filter(|index| index.is_unique && index.condition.is_none());
        self.is_primary()
            || unique.any(|index| index.columns().is_some_and(|columns| columns == [self.at]))
    }

    /// What a foreign key of one column refers to.
    fn parent(&self, database: &Database) -> Option<String> {
        let name = &self.column().name;
        let mut keys = self.table.foreign_keys.iter();
        keys.find_map(|key| {
            let place = key
                .columns
                .iter()
                .position(|own| own.eq_ignore_ascii_case(name))?;
            let parents = database.parent_columns(key);
            Some(format!(
                "{}({})",
                key.parent,
                parents.get(place).map_or("", String::as_str)
            ))
        })
    }

    fn referenced_by(&self, database: &Database) -> usize {
        let name = &self.column().name;
        let refers = |key: &&super::ForeignKey| {
            database
                .parent_columns(key)
                .iter()
                .any(|own| own.eq_ignore_ascii_case(name))
        };
        database
            .references(self.table)
            .filter(|(_, key)| refers(key))
            .count()
    }

    /// Rows and different values, if values repeat.
    fn repeats(&self) -> Option<(u64, u64)> {
        let values = &self.column().values;
        // An estimate is off by 2% at times.
        let bound = if values.sketch.is_whole() { 1.0 } else { 0.9 };
        let (rows, different) = (values.present(), values.sketch.different());
        let is_known = different > 0 && self.ids.is_some();
        (is_known && (different as f64) < bound * rows as f64).then_some((rows, different))
    }
}

impl Database {
    /// Finds what each column of ids is.
    pub(crate) fn classify(&mut self, settled: &Settled) {
        let classes = classes(self, settled);
        for (table, column, class) in classes {
            self.tables[table].columns[column].class = Some(class);
        }
    }
}

/// By the numbers of table and column.
fn classes(database: &Database, settled: &Settled) -> Vec<(usize, usize, IdClass)> {
    let mut places = Vec::new();
    for (number, table) in database
        .tables
        .iter()
        .enumerate()
        .filter(|(_, table)| table.is_ordinary() && table.rows > 0)
    {
        for at in 0..table.columns.len() {
            let ids = Ids::of(table, &table.columns[at]);
            let is_rowid = table.rowid_alias == Some(at);
            let is_key =
                table.key == [at] && super::integer_kind(table, &table.columns[at]).is_some();
            if ids.is_some() || is_rowid || is_key {
                places.push((number, Place { table, at, ids }));
            }
        }
    }
    let vocabulary = Vocabulary::of(database.tables.iter().map(|table| &*table.name));
    let holders: Vec<Holder<'_>> = places
        .iter()
        .map(|(_, place)| Holder {
            values: &place.column().values.sketch,
            coverage: 1.0,
            is_unique: place.is_unique(),
        })
        .collect();
    let contained = find_contained(&holders);
    let class = |((number, place), contained): (&(usize, Place<'_>), Vec<Contained>)| {
        let (table, column) = (place.table, place.column());
        let contained = contained.into_iter().map(|own| {
            let parent = &places[own.at].1;
            Contained {
                key: parent.title(),
                is_own: vocabulary.is_own(&parent.table.name, &parent.column().name),
                ..own
            }
        });
        let others = table
            .columns
            .iter()
            .filter(|other| other.name != column.name);
        let facts = IdFacts {
            table: &table.name,
            column: &column.name,
            is_primary: place.is_primary(),
            begins_primary: table.key.len() > 1 && table.key[0] == place.at,
            is_unique: place.is_unique(),
            refers_to: place.parent(database),
            referenced_by: place.referenced_by(database),
            contained: contained.collect(),
            repeats: place.repeats(),
            made: column.default.as_deref().and_then(made_by),
            digest: place.ids.as_ref().and_then(Ids::digest_in_words),
            beside: vocabulary.secret_of(&table.name, others.map(|other| &*other.name)),
            is_number: place.ids.is_none(),
            settled: settled.role(&[&place.title()]),
        };
        (*number, place.at, IdClass::of(&facts, &vocabulary))
    };
    places.iter().zip(contained).map(class).collect()
}
