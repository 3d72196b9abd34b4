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
use inorder_copy::model::{Column, Index, StoredIndex, Table, TableStorage};
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Beside, Engine, Layout, Order, Question, SecondaryIndex, Values};
use std::collections::BTreeMap;

/// Share of different values in a sample below which equal ones matter.
const DISTINCT_SHARE: f64 = 0.9;

/// Share of a page that entries fill in the order of their values, and in no order.
const LEAF_FILL: f64 = 0.9;
const SPLIT_FILL: f64 = 0.67;
/// How far the bytes of rows of different lengths may be off: PostgreSQL aligns each row and each entry to eight bytes, and
/// the mean of aligned lengths is not the aligned mean.
const ALIGNMENT_ERROR: f64 = 4.0;
/// Bytes of an entry beside its values: header, pointer, and what finds the row.
const ENTRY_BYTES: f64 = 20.0;
/// Bytes of the values of an index without a sample.
const GUESSED_BYTES: f64 = 20.0;
/// Bytes of a row's address in a list of PostgreSQL.
const ROW_ADDRESS_BYTES: f64 = 6.0;
/// How far the simulation of deduplication is off, as a share of an entry's bytes.
const DEDUPLICATION_ERROR: f64 = 0.05;
/// Rows from which the present size of an index tells its bytes per row.
const KNOWN_ROWS_MIN: u64 = 1000;

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

/// The keys that are compared with the present one.
fn alternatives(
    engine: Engine,
    own: (KeyKind, Encoding),
    wanted: &[KeyKind],
) -> Vec<(KeyKind, Encoding)> {
    let best = |kind| (kind, engine.encoding(kind));
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
        if self.table.key.len() > 1 {
            return Err(Error::Usage(format!(
                "the primary key of `{}` has several columns, and predictions are about keys of one",
                self.table.name
            )));
        }
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
            .unwrap_or_else(|| self.engine.encoding(kind));
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
        self.set_storage(&mut question);
        question
    }

    /// Sets the indexes, how they and the table are stored, and what is not simulated.
    fn set_storage(&self, question: &mut Question) {
        let is_by_arrival = question.key.is_ordered();
        let storage = self.storage();
        let is_server = self.engine == Engine::Postgres && self.catalog.engine == "postgres";
        let indexes: Vec<StoredIndex> = storage
            .indexes
            .into_iter()
            .filter(|i| self.is_stored(i))
            .collect();
        if Engine::from_name(self.catalog.engine) == Some(self.engine) {
            question.page_bytes = storage.page_bytes.unwrap_or(question.page_bytes);
            question.checkpoint_bytes = self.engine.checkpoint_bytes(question.page_bytes);
        }
        if is_server {
            question.fill_percent = storage.fill_percent;
        }
        let mut beside = Beside::default();
        let mut add = |bytes: f64, error_bytes: f64| {
            beside.bytes += bytes;
            beside.error_bytes += error_bytes;
        };
        add(0.0, self.row_error());
        for index in &indexes {
            if index.is_key {
                if is_server {
                    question.key_fill_percent = index.fill_percent;
                    question.key_included = self.included(index);
                }
                continue;
            }
            if index.special.is_some() {
                let (least, most) = self.special_bytes(index);
                add((least + most) / 2.0, (most - least) / 2.0);
                continue;
            }
            let mut stored = self.index(index, is_by_arrival);
            add(0.0, self.mean_error(&self.key_lengths(index)) / LEAF_FILL);
            if is_server {
                stored.fill_percent = index.fill_percent;
                stored.included = self.included(index);
                if let Some((rows, error)) = self.rows_per_value(index, &stored, question.rows) {
                    stored.rows_per_value = Some(rows);
                    add(0.0, error);
                }
            }
            question.indexes.push(stored);
        }
        question.beside = beside;
    }

    /// How the table is stored; without the catalog's word, its indexes have an entry for each row.
    fn storage(&self) -> TableStorage {
        if let Some(storage) = self.catalog.storage.get(&self.table.name) {
            return storage.clone();
        }
        let index = |index: &Index| StoredIndex {
            name: index.name.clone(),
            is_unique: index.is_unique,
            columns: index
                .columns
                .iter()
                .map(|name| (name.clone(), None))
                .collect(),
            ..StoredIndex::default()
        };
        TableStorage {
            page_bytes: None,
            fill_percent: None,
            indexes: self.table.indexes.iter().map(index).collect(),
        }
    }

    /// Whether the engine that is asked about stores an index beside the table: one that other engines need for a key is none.
    fn is_stored(&self, index: &StoredIndex) -> bool {
        !index.is_key || self.engine == Engine::Postgres
    }

    fn included(&self, index: &StoredIndex) -> Vec<Values> {
        let columns = index.included.iter().filter_map(|name| self.column(name));
        columns.map(|column| self.values(column)).collect()
    }

    fn values(&self, column: &Column) -> Values {
        let class = class(self.catalog.engine, column);
        if (self.engine, class) == (Engine::Mariadb, Class::Time) {
            return Values::Fixed(mariadb_time(&column.declared));
        }
        values_in(self.engine, class, &self.sample(&column.name))
    }

    fn index(&self, index: &StoredIndex, is_by_arrival: bool) -> SecondaryIndex {
        let columns = index.columns.iter();
        let columns = columns.filter_map(|(name, most)| Some((self.column(name)?, *most)));
        let order = |(column, _): (&Column, _)| {
            let class = class(self.catalog.engine, column);
            order_of(class, &self.sample(&column.name), is_by_arrival)
        };
        let orders: Vec<Order> = columns.clone().map(order).collect();
        let values = columns.map(|(column, most)| self.beginning(column, most));
        SecondaryIndex::new(index.name.clone(), values.collect(), together(&orders))
    }

    /// The values of a column, or so many characters of them.
    fn beginning(&self, column: &Column, most: Option<usize>) -> Values {
        let Some(most) = most else {
            return self.values(column);
        };
        let class = class(self.catalog.engine, column);
        let sample = self.sample(&column.name);
        let cut: Vec<Option<&[u8]>> = sample
            .into_iter()
            .map(|value| value.map(|value| &value[..value.len().min(most)]))
            .collect();
        values_in(self.engine, class, &cut)
    }

    /// Bytes of the values of some columns in each row of the sample, as far as they differ in length.
    fn lengths<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<f64> {
        let rows = self
            .catalog
            .samples
            .get(&self.table.name)
            .map_or(0, Vec::len);
        let mut lengths = vec![0.0; rows];
        for name in names {
            let Some(column) = self.column(name) else {
                continue;
            };
            let class = class(self.catalog.engine, column);
            for (length, value) in lengths.iter_mut().zip(self.sample(name)) {
                *length += match values_in(self.engine, class, &[value]) {
                    Values::Integer => 8.0,
                    Values::Fixed(bytes) | Values::Bytes(bytes) => bytes as f64,
                };
            }
        }
        lengths
    }

    fn key_lengths(&self, index: &StoredIndex) -> Vec<f64> {
        let included = index.included.iter().map(String::as_str);
        let columns = index.columns.iter().map(|(name, _)| name.as_str());
        self.lengths(columns.chain(included))
    }

    /// How far the mean of a sample may be off: half of its 95% interval.
    fn mean_error(&self, lengths: &[f64]) -> f64 {
        let count = lengths.len() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = lengths.iter().sum::<f64>() / count;
        let squares: f64 = lengths.iter().map(|length| (length - mean).powi(2)).sum();
        let differs = self.engine == Engine::Postgres && squares > 0.0;
        let alignment = if differs { ALIGNMENT_ERROR } else { 0.0 };
        alignment + 1.96 * (squares / (count - 1.0) / count).sqrt()
    }

    /// How far the bytes of a row may be off: by the sample, or by a guess where there is none.
    fn row_error(&self) -> f64 {
        let columns = self.table.columns.iter();
        let columns = columns.filter(|column| !self.table.key.contains(&column.name));
        let sampled = self.lengths(columns.clone().map(|column| column.name.as_str()));
        if !sampled.is_empty() {
            return self.mean_error(&sampled);
        }
        let guessed = columns.map(|column| match self.values(column) {
            Values::Bytes(bytes) => bytes as f64,
            Values::Integer | Values::Fixed(_) => 0.0,
        });
        guessed.sum()
    }

    /// The least and the largest number of bytes per row of an index that is not simulated.
    fn special_bytes(&self, index: &StoredIndex) -> (f64, f64) {
        let rows = self.table.rows_estimated;
        if let Some(bytes) = index.bytes.filter(|_| rows >= KNOWN_ROWS_MIN) {
            let now = bytes as f64 / rows as f64;
            return (now / 2.0, now * 1.5);
        }
        let lengths = self.key_lengths(index);
        let mean = match lengths.len() {
            0 => GUESSED_BYTES,
            count => lengths.iter().sum::<f64>() / count as f64,
        };
        (0.0, (mean + ENTRY_BYTES) / SPLIT_FILL)
    }

    /// Rows of a value of a deduplicated index when the table has so many rows, and how many bytes per row of the index
    /// depend on what a sample does not tell: whether new rows bring new values.
    fn rows_per_value(
        &self,
        index: &StoredIndex,
        stored: &SecondaryIndex,
        rows: u64,
    ) -> Option<(f64, f64)> {
        let distinct = self
            .distinct(index)
            .filter(|_| index.is_deduplicated && !index.is_unique)?;
        let sampled = self.catalog.samples.get(&self.table.name)?.len() as f64;
        // As many rows of a value as now, or of the same values.
        let now = (self.table.rows_estimated as f64).max(sampled);
        let fewest = (now / distinct).max(1.0);
        let most = (rows as f64 / distinct).max(fewest);
        if most < 1.0 + 1.0 - DISTINCT_SHARE {
            return None;
        }
        let is_few = matches!(stored.order, Order::Buckets(_));
        let alone = ENTRY_BYTES + stored.values.iter().map(|v| v.bytes()).sum::<u64>() as f64;
        let bytes = |rows: f64| ROW_ADDRESS_BYTES + alone / rows;
        let error = match is_few {
            true => 0.0,
            false => (bytes(fewest) - bytes(most)) / 2.0,
        } + alone * DEDUPLICATION_ERROR;
        let middle = match is_few {
            true => most,
            false => 2.0 * alone / (alone / fewest + alone / most),
        };
        Some((middle, error / SPLIT_FILL))
    }

    /// About how many different values the columns of an index have in all rows (Chao, "Nonparametric estimation of the
    /// number of classes in a population", Scandinavian Journal of Statistics 11, 1984). `None` where all rows of the
    /// sample differ.
    fn distinct(&self, index: &StoredIndex) -> Option<f64> {
        let samples: Vec<_> = (index.columns.iter())
            .map(|(name, _)| self.sample(name))
            .collect();
        let rows = samples.first().map_or(0, Vec::len);
        let mut counts: BTreeMap<Vec<Option<&[u8]>>, u64> = BTreeMap::new();
        for row in 0..rows {
            let entry = samples.iter().map(|values| values[row]).collect();
            *counts.entry(entry).or_default() += 1;
        }
        let with = |count| counts.values().filter(|found| **found == count).count() as f64;
        let (once, twice) = (with(1), with(2));
        let more = once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        (counts.len() < rows).then_some(counts.len() as f64 + more)
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
        let storage = self.storage();
        let special = storage.indexes.iter().filter(|index| !index.is_key);
        for (index, kind) in special.filter_map(|index| Some((index, index.special.as_ref()?))) {
            let (least, most) = self.special_bytes(index);
            notes.push(format!(
                "the index {} ({kind}) is not simulated: {least:.0} to {most:.0} bytes per row of it are in the size, and widen the interval",
                index.name
            ));
        }
        if self.engine == Engine::Postgres && self.catalog.engine != "postgres" {
            let has_equal = |index: &&StoredIndex| {
                !index.is_unique && !index.is_key && self.distinct(index).is_some()
            };
            let names = storage.indexes.iter().filter(has_equal);
            let names: Vec<&str> = names.map(|index| index.name.as_str()).collect();
            if !names.is_empty() {
                notes.push(format!(
                    "PostgreSQL stores equal values of an index together (deduplication), which is simulated for its own tables only: {} \
                     will be smaller",
                    names.join(", ")
                ));
            }
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
