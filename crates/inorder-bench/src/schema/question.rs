//! The questions to the simulation about a table of a database.

use super::{
    catalog::{Catalog, Note},
    class::{Class, class},
    key::key_of,
    references::References,
    stored::{mariadb_time, order_of, values_in},
    together::choose,
};
use crate::error::Error;
use inorder_copy::model::{Column, Index, Table};
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Engine, Layout, Order, Question, SecondaryIndex, Values};
use std::collections::BTreeSet;

/// Share of different values in a sample below which equal ones matter.
const DISTINCT_SHARE: f64 = 0.9;

/// A table as predictions know it.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Its name.
    pub table: String,
    /// Rows that it has.
    pub rows: u64,
    /// The question about its present key first, then those about others.
    pub questions: Vec<Question>,
    /// What is not simulated as it is.
    pub notes: Vec<String>,
}

/// What is asked about a table.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The table; `None`: the schema decides.
    pub table: Option<String>,
    /// The engine; `None`: that of the database.
    pub engine: Option<Engine>,
    /// Rows that the table grows to.
    pub rows: u64,
    /// Keys to compare with the present one, each in the encoding that suits the engine; empty: those that are worth it.
    pub keys: Vec<KeyKind>,
}

/// Returns the questions about the growth of a table.
///
/// # Errors
/// If the table can't be chosen, has as many rows already, or has no key that is simulated.
pub fn forecast(catalog: &Catalog, asked: &Asked) -> Result<Forecast, Error> {
    let named: Vec<String> = asked.table.iter().cloned().collect();
    let table = choose(&References::of(catalog), &named)?.root;
    let engine = match asked.engine.or_else(|| Engine::from_name(catalog.engine)) {
        Some(engine) => engine,
        None => {
            let known: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
            let known = known.join(", ");
            let message = format!("{} has no simulation: name one of {known}", catalog.engine);
            return Err(Error::Usage(message));
        }
    };
    if asked.rows <= table.rows_estimated {
        return Err(Error::Usage(format!(
            "the table {} has {} rows already: --rows says how many it grows to",
            table.name, table.rows_estimated
        )));
    }
    let reader = Reader {
        catalog,
        table,
        engine,
    };
    let own = reader.key()?;
    let present = reader.question(own, asked.rows);
    let mut questions = vec![present.clone()];
    for (kind, encoding) in alternatives(engine, own, &asked.keys) {
        let mut question = present.clone();
        (question.key, question.encoding) = (kind, encoding);
        questions.push(question);
    }
    Ok(Forecast {
        table: table.name.clone(),
        rows: table.rows_estimated,
        questions,
        notes: reader.notes(),
    })
}

/// The encoding of a kind that suits an engine: a type of its own, else bytes, else what there is.
pub fn best_encoding(engine: Engine, kind: KeyKind) -> Encoding {
    let wanted = [Encoding::Native, Encoding::Blob];
    let found = wanted.into_iter().find(|&e| engine.has_encoding(kind, e));
    found.unwrap_or_else(|| engine.encoding(kind))
}

/// The keys that are compared with the present one.
fn alternatives(
    engine: Engine,
    own: (KeyKind, Encoding),
    wanted: &[KeyKind],
) -> Vec<(KeyKind, Encoding)> {
    let best = |kind| (kind, best_encoding(engine, kind));
    let all: Vec<(KeyKind, Encoding)> = match (wanted.is_empty(), own.1) {
        (false, _) => wanted.iter().map(|&kind| best(kind)).collect(),
        (true, Encoding::Integer) => {
            vec![
                best(KeyKind::IntSeq),
                best(KeyKind::Uuid7),
                best(KeyKind::Uuid4),
            ]
        }
        (true, encoding) => vec![
            best(own.0),
            (KeyKind::Uuid7, encoding),
            best(KeyKind::Uuid7),
            best(KeyKind::IntSeq),
        ],
    };
    let mut found = vec![own];
    for key in all {
        if engine.has_encoding(key.0, key.1) && !found.contains(&key) {
            found.push(key);
        }
    }
    found.split_off(1)
}

/// Reads a table.
struct Reader<'a> {
    catalog: &'a Catalog,
    table: &'a Table,
    engine: Engine,
}

impl<'a> Reader<'a> {
    fn column(&self, name: &str) -> Option<&'a Column> {
        self.table.columns.iter().find(|column| column.name == name)
    }

    fn sample(&self, column: &str) -> Vec<Option<&'a [u8]>> {
        self.catalog.values(&self.table.name, column)
    }

    /// The kind of the present key and its encoding in the engine.
    fn key(&self) -> Result<(KeyKind, Encoding), Error> {
        let column = self.table.key.first().and_then(|name| self.column(name));
        let found = column.and_then(|column| {
            let sample = self.sample(&column.name);
            let key = key_of(column, class(self.catalog.engine, column), &sample)?;
            Some((KeyKind::from_name(key.kind)?, key.encoding))
        });
        let (kind, encoding) = found
            .ok_or_else(|| Error::Usage(format!("the key of {} is no id", self.table.name)))?;
        let encoding = Encoding::from_name(encoding)
            .filter(|&encoding| self.engine.has_encoding(kind, encoding))
            .unwrap_or_else(|| best_encoding(self.engine, kind));
        Ok((kind, encoding))
    }

    fn question(&self, (kind, encoding): (KeyKind, Encoding), rows: u64) -> Question {
        let mut question = Question::new(self.engine, kind, rows);
        question.encoding = encoding;
        question.payload_bytes = 0;
        if self.engine == Engine::Sqlite && self.table.is_without_rowid {
            question.layout = Layout::WithoutRowid;
        }
        let others = self.table.columns.iter();
        let others = others.filter(|column| !self.table.key.contains(&column.name));
        question.columns = others.map(|column| self.values(column)).collect();
        let is_by_arrival = kind.is_ordered();
        let indexes = self.table.indexes.iter();
        question.indexes = indexes
            .map(|index| self.index(index, is_by_arrival))
            .collect();
        question
    }

    fn values(&self, column: &Column) -> Values {
        let class = class(self.catalog.engine, column);
        if (self.engine, class) == (Engine::Mariadb, Class::Time) {
            return Values::Fixed(mariadb_time(&column.declared));
        }
        values_in(self.engine, class, &self.sample(&column.name))
    }

    fn index(&self, index: &Index, is_by_arrival: bool) -> SecondaryIndex {
        let columns = index.columns.iter().filter_map(|name| self.column(name));
        let order = |column: &Column| {
            let class = class(self.catalog.engine, column);
            order_of(class, &self.sample(&column.name), is_by_arrival)
        };
        let orders: Vec<Order> = columns.clone().map(order).collect();
        SecondaryIndex {
            name: index.name.clone(),
            values: columns.map(|column| self.values(column)).collect(),
            order: together(&orders),
        }
    }

    /// Whether rows of the sample share the values of an index.
    fn has_equal_values(&self, index: &Index) -> bool {
        let names = index.columns.iter();
        let samples: Vec<_> = names.map(|name| self.sample(name)).collect();
        let rows = samples.first().map_or(0, Vec::len);
        let entry = |row| -> Vec<_> { samples.iter().map(|values| values[row]).collect() };
        let distinct: BTreeSet<_> = (0..rows).map(entry).collect();
        (distinct.len() as f64) < rows as f64 * DISTINCT_SHARE
    }

    /// What of the table is not simulated as it is.
    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let children = self.catalog.tables.iter().filter(|table| {
            let mut keys = table.foreign_keys.iter();
            table.name != self.table.name && keys.any(|key| key.parent == self.table.name)
        });
        let children: Vec<&str> = children.map(|table| table.name.as_str()).collect();
        if !children.is_empty() {
            let all = children.join(", ");
            notes.push(format!(
                "{all} also stores these keys, which is not included"
            ));
        }
        let indexes = self.table.indexes.iter();
        let indexes = indexes.filter(|index| !index.is_unique && self.has_equal_values(index));
        let names: Vec<&str> = indexes.map(|index| index.name.as_str()).collect();
        if self.engine == Engine::Postgres && !names.is_empty() {
            let all = names.join(", ");
            notes.push(format!(
                "PostgreSQL stores equal values of an index together (deduplication), which is not simulated: {all} will be smaller"
            ));
        }
        let has_sample = |rows: &Vec<_>| !rows.is_empty();
        if !(self.catalog.samples.get(&self.table.name)).is_some_and(has_sample) {
            notes.push("the table has no rows: lengths of texts are guessed".to_owned());
        }
        let all = self.catalog.notes.iter();
        let own = all.filter(|note| note.table.as_ref() == Some(&self.table.name));
        notes.extend(own.map(Note::to_string));
        notes
    }
}

/// The order of entries with values of several columns.
fn together(orders: &[Order]) -> Order {
    match orders {
        [] => Order::Random,
        [Order::Buckets(buckets), rest @ ..] if !rest.is_empty() => match together(rest) {
            Order::Buckets(more) => Order::Buckets(buckets.saturating_mul(more)),
            Order::Ascending => Order::Buckets(*buckets),
            Order::Random => Order::Random,
        },
        [first, ..] => *first,
    }
}
