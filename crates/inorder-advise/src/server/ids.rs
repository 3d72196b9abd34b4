//! Which kinds of ids the columns of a server hold, by the values of a sample.

use super::model::{Column, Database, Product, Sample, Table};
use crate::classify::{IdClass, IdRole, NewIds};
use crate::read::{
    self, Form, HASH_OF_128_BITS, Ids, KindShare, TableKind, Values, digest_bytes, integer_kind,
    now_ms,
};
use inorder_key::ByteOrder;
use rusqlite::types::ValueRef;
use serde::Serialize;
use std::borrow::Cow;

/// How a column stores its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// As text.
    Text,
    /// In the server's type of UUIDs.
    Uuid,
    /// As bytes.
    Bytes,
    /// As integers.
    Integer,
    /// As text of decimal digits.
    Digits,
}

/// The ids of a column.
#[derive(Debug, Clone)]
pub struct IdColumn {
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
    /// How they are stored.
    pub storage: Storage,
    /// The kinds, the most frequent first. Integers have one without a form of its own.
    pub kinds: Vec<KindShare>,
    /// What the integers are; empty for other ids.
    pub integers: &'static str,
    /// Values that are neither NULL nor of a kind.
    pub exceptions: u64,
    /// Rows of the sample, and those where it is NULL.
    pub rows: u64,
    /// NULLs of the sample.
    pub nulls: u64,
    /// The rank correlation with the order of insertion, where the table keeps it.
    pub correlation: Option<f64>,
    /// The largest integer.
    pub largest: Option<i64>,
    /// What new rows get, as the rows were measured.
    pub new: NewIds,
    /// The order in which UUIDs have their bytes.
    pub byte_order: ByteOrder,
    /// What the column is; it is found when all columns are known.
    pub class: IdClass,
    pub(super) values: Values,
}

impl IdColumn {
    /// The ids of a column of a sample, if it holds some. Integers are ids where they are a key's.
    pub fn of(
        product: Product,
        table: &Table,
        column: &Column,
        sample: &Sample,
        is_key: bool,
    ) -> Option<Self> {
        let at = sample.column(&column.name)?;
        let is_binary = sample.binary.contains(&column.name);
        let is_native = column.base_type == "uuid";
        let is_integer = is_integer(column);
        let is_text = is_text(column);
        if !(is_binary || is_native || is_integer || is_text) {
            return None;
        }
        let texts = sample
            .rows
            .iter()
            .map(|row| row.get(at).and_then(Option::as_deref));
        let counted = match is_native && product == Product::Mariadb {
            true => Values::of_parts(),
            false => Values::default(),
        };
        let values = values(counted, texts.clone(), is_integer, is_binary || is_native);
        let digits = (is_text && is_key).then(|| of_digits(texts)).flatten();
        if values.present() == 0 {
            return None;
        }
        let order = keeping_order(sample.is_in_storage_order);
        let as_read = |values: Values| read::Column {
            name: column.name.clone(),
            values,
            ..read::Column::default()
        };
        let found = Self::without_kinds(table, column, sample, &values);
        if is_integer || digits.is_some() {
            let (storage, numbers) = match digits {
                Some(digits) => (Storage::Digits, digits),
                None => (Storage::Integer, values),
            };
            let integers = integer_kind(&order, &as_read(numbers)).filter(|_| is_key)?;
            return Some(IdColumn {
                storage,
                integers,
                ..found
            });
        }
        let ids = Ids::of(&order, &as_read(values))?;
        Some(IdColumn {
            storage: match (is_native, is_binary) {
                (true, _) => Storage::Uuid,
                (_, true) => Storage::Bytes,
                _ => Storage::Text,
            },
            kinds: ids.kinds,
            exceptions: ids.exceptions,
            correlation: ids.correlation,
            new: ids.new,
            byte_order: ids.byte_order,
            ..found
        })
    }

    /// A column of which only counts are known.
    fn without_kinds(table: &Table, column: &Column, sample: &Sample, values: &Values) -> Self {
        IdColumn {
            schema: table.schema.clone(),
            table: table.name.clone(),
            column: column.name.clone(),
            storage: Storage::Text,
            kinds: Vec::new(),
            integers: "",
            exceptions: 0,
            rows: values.rows,
            nulls: values.nulls,
            correlation: values.correlation().filter(|_| sample.is_in_storage_order),
            largest: values.integer_range.map(|(_, high)| high),
            new: NewIds::Unknown,
            byte_order: ByteOrder::Standard,
            class: IdClass {
                role: IdRole::Key,
                evidence: Vec::new(),
                or: Vec::new(),
            },
            values: values.clone(),
        }
    }

    /// The form of every value, if there is only one.
    pub fn form(&self) -> Option<Form> {
        let first = self.kinds.first()?.form;
        self.kinds
            .iter()
            .all(|kind| kind.form == first)
            .then_some(first)
    }

    /// Tells whether new rows get random UUIDs, as the rows were measured.
    pub fn is_random_uuid(&self) -> bool {
        self.new == NewIds::Random
    }

    /// Tells whether the values are 128 bits without a version or a time, as MD5 has them, or digests of another length.
    pub fn is_hash(&self) -> bool {
        let mut kinds = self.kinds.iter();
        kinds.all(|kind| kind.kind == HASH_OF_128_BITS) || digest_bytes(&self.kinds).is_some()
    }

    /// The share of the ids that sort before a UUIDv7 of now.
    pub fn share_before_new(&self) -> Option<f64> {
        self.values.share_before(now_ms())
    }

    /// Tells whether the integers look counted: in the order of insertion or, where that isn't known, not random. `rows`
    /// are those of the table.
    pub fn looks_counted(&self, rows: u64) -> bool {
        match self.correlation {
            Some(correlation) => correlation >= read::ORDERED_MIN,
            None => !self.values.looks_random(rows),
        }
    }

    /// Tells whether two columns share ids.
    pub fn shares_ids_with(&self, other: &IdColumn) -> bool {
        self.values.shares_ids_with(&other.values)
    }

    /// `schema.table.column`.
    pub fn name(&self) -> String {
        format!("{}.{}.{}", self.schema, self.table, self.column)
    }

    /// Storage, kinds with their shares, and order.
    pub fn in_words(&self) -> String {
        let present = (self.rows - self.nulls).max(1);
        let mut words = Vec::new();
        match self.storage {
            Storage::Integer => words.push(self.integers.to_owned()),
            Storage::Digits => words.push(format!("text of digits, {}", self.integers)),
            _ => {
                let is_one = self.kinds.len() == 1 && self.exceptions == 0;
                for share in &self.kinds {
                    let form = match self.storage {
                        Storage::Uuid => "uuid",
                        _ => &share.form.words(),
                    };
                    words.push(match is_one {
                        true => format!("{form}, {}", share.kind),
                        false => {
                            format!("{form}, {} in {}", share.kind, percent(share.rows, present))
                        }
                    });
                }
            }
        }
        if self.exceptions > 0 {
            words.push(format!(
                "other values in {} of {present} rows read",
                self.exceptions
            ));
        }
        if let Some(share) = self.switch() {
            words.push(format!("the kind switches after {share:.0} % of the rows"));
        }
        if let Some(correlation) = self.correlation {
            words.push(format!("{:.0} % in order", 100.0 * correlation.max(0.0)));
        }
        if self.nulls > 0 {
            words.push(format!("NULL in {}", percent(self.nulls, self.rows)));
        }
        words.join("; ")
    }

    /// The share of rows, in percent, after which another kind is used, where two follow each other.
    fn switch(&self) -> Option<f64> {
        let [a, b] = &self.kinds[..] else { return None };
        self.correlation?;
        let (early, late) = if a.rows_between.0 <= b.rows_between.0 {
            (a, b)
        } else {
            (b, a)
        };
        let follows = early.rows_between.1 < late.rows_between.0;
        follows.then(|| 100.0 * late.rows_between.0 as f64 / self.rows.max(1) as f64)
    }
}

/// A table that keeps the order of insertion, or not.
fn keeping_order(keeps_order: bool) -> read::Table {
    let kind = match keeps_order {
        true => TableKind::Rowid,
        false => TableKind::WithoutRowid,
    };
    read::Table {
        kind,
        ..read::Table::default()
    }
}

/// Counts texts as what the column stores.
fn values<'a>(
    mut values: Values,
    texts: impl Iterator<Item = Option<&'a str>>,
    is_integer: bool,
    is_bytes: bool,
) -> Values {
    let now_ms = now_ms();
    for text in texts {
        let Some(text) = text else {
            values.add(ValueRef::Null, now_ms);
            continue;
        };
        let integer = is_integer.then(|| text.parse().ok()).flatten();
        let bytes = is_bytes.then(|| bytes(text)).flatten();
        let value = match (integer, &bytes) {
            (Some(integer), _) => ValueRef::Integer(integer),
            (_, Some(bytes)) => ValueRef::Blob(bytes),
            _ => ValueRef::Text(text.as_bytes()),
        };
        values.add(value, now_ms);
    }
    values
}

/// The numbers of a column of texts, if each is one.
fn of_digits<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Option<Values> {
    let now_ms = now_ms();
    let mut digits = Values::default();
    for text in texts {
        let value = match text {
            Some(text) => ValueRef::Integer(number(text)?),
            None => ValueRef::Null,
        };
        digits.add(value, now_ms);
    }
    Some(digits)
}

/// Finds the columns of ids of every table with a sample. `classes::find` says what they are.
pub fn find(database: &Database) -> Vec<IdColumn> {
    let mut found = Vec::new();
    for table in &database.tables {
        let Some(sample) = &table.sample else {
            continue;
        };
        if table.parent.is_some() {
            continue;
        }
        let ordered = in_insertion_order(database, table, sample);
        for column in &table.columns {
            let is_key = is_key(table, &column.name);
            found.extend(IdColumn::of(
                database.product,
                table,
                column,
                &ordered,
                is_key,
            ));
        }
    }
    found
}

/// A sample in the order in which its rows were inserted, or one that doesn't claim an order. PostgreSQL's tables keep it
/// by themselves. InnoDB stores rows by primary key: a counted column tells the order, or a time of creation.
fn in_insertion_order<'s>(
    database: &Database,
    table: &Table,
    sample: &'s Sample,
) -> Cow<'s, Sample> {
    if database.product == Product::Postgres {
        return Cow::Borrowed(sample);
    }
    let is_time = |column: &&Column| {
        let made = |default: &String| default.to_lowercase().starts_with("current_timestamp");
        matches!(column.base_type.as_str(), "timestamp" | "datetime")
            && column.is_not_null
            && column.default.as_ref().is_some_and(made)
    };
    let columns = || table.columns.iter();
    let by = columns()
        .find(|column| column.is_serial)
        .or_else(|| columns().find(is_time));
    let mut sample = sample.clone();
    sample.is_in_storage_order = false;
    if let Some((column, at)) = by.and_then(|column| Some((column, sample.column(&column.name)?))) {
        match column.is_serial {
            true => sample.rows.sort_by_key(|row| {
                row[at]
                    .as_deref()
                    .and_then(|text| text.parse::<i128>().ok())
            }),
            false => sample.rows.sort_by(|one, other| one[at].cmp(&other[at])),
        }
        sample.is_in_storage_order = true;
    }
    Cow::Owned(sample)
}

/// Tells whether a column is in a unique key or a foreign key, on either side.
fn is_key(table: &Table, column: &str) -> bool {
    let mut unique = table.indexes.iter().filter(|index| index.is_unique);
    let of_unique = unique.any(|index| {
        index
            .terms
            .iter()
            .any(|term| term.column.as_deref() == Some(column))
    });
    let mut keys = table.foreign_keys.iter();
    of_unique || keys.any(|key| key.columns.iter().any(|name| name == column))
}

/// Tells whether a column stores integers.
pub fn is_integer(column: &Column) -> bool {
    matches!(
        column.base_type.as_str(),
        "int2" | "int4" | "int8" | "tinyint" | "smallint" | "mediumint" | "int" | "bigint"
    ) || (matches!(column.base_type.as_str(), "numeric" | "decimal")
        && !column.type_name.contains('.')
        && has_no_scale(column))
}

/// Tells whether a column stores text.
pub fn is_text(column: &Column) -> bool {
    matches!(
        column.base_type.as_str(),
        "text" | "varchar" | "bpchar" | "citext" | "char" | "tinytext" | "mediumtext" | "longtext"
    )
}

/// `numeric`, `numeric(20)` and `numeric(20,0)`; the first may hold fractions, which are then no integers.
fn has_no_scale(column: &Column) -> bool {
    let scale = column
        .type_name
        .split_once(',')
        .map(|(_, scale)| scale.trim_end_matches(')').trim());
    scale.is_none_or(|scale| scale == "0")
}

/// A number of decimal digits as it would be printed.
fn number(text: &str) -> Option<i64> {
    let is_printed = !text.starts_with('0') || text == "0";
    (is_printed && text.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// The bytes of hexadecimal digits, with the hyphens of a UUID or without.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|&digit| digit != b'-').collect();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    digits
        .chunks(2)
        .map(|pair| Some(value(pair[0])? << 4 | value(pair[1])?))
        .collect()
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
