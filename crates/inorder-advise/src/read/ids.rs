//! Which kinds of ids a column holds.

use super::{Column, Form, Table, TableKind, Values};
use serde::Serialize;

/// A column holds ids if at least this share of its values is written so.
const SHARE_MIN: f64 = 0.9;
/// A version that random bits show is one of 64 (4 bits and 2 bits of variant, over 8 versions: one of 8 · 1/64 each).
const CHANCE_OF_A_VERSION: f64 = 1.0 / 64.0;
/// The first 48 bits are a time if they are so in this share of the rows,
const TIMELY_MIN: f64 = 0.99;
/// and if the values go with the rows.
pub(crate) const ORDERED_MIN: f64 = 0.95;
/// 64-bit ids with a time at their beginning are at least this large.
const LARGE_INTEGER: i64 = 1 << 50;

/// The kind of 32 hexadecimal digits without a version or a time.
pub(crate) const HASH_OF_128_BITS: &str = "128-bit token or hash";

/// One kind of id within a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindShare {
    /// The kind, such as `UUIDv4`.
    pub kind: String,
    /// How it is written.
    pub form: Form,
    /// Rows with it.
    pub rows: u64,
    /// The first and the last row with it, counted from 0 in the order of the table.
    pub rows_between: (u64, u64),
}

/// The ids of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ids {
    /// The kinds, the most frequent first.
    pub kinds: Vec<KindShare>,
    /// Values that are neither NULL nor of a kind.
    pub exceptions: u64,
    /// The rank correlation with the order of insertion, where the table keeps it.
    pub correlation: Option<f64>,
}

impl Ids {
    /// The ids of a column, if it holds some.
    pub fn of(table: &Table, column: &Column) -> Option<Self> {
        let values = &column.values;
        let kinds = kinds(values);
        let rows: u64 = kinds.iter().map(|kind| kind.rows).sum();
        if rows == 0 || (rows as f64) < SHARE_MIN * values.present() as f64 {
            return None;
        }
        Some(Ids {
            kinds,
            exceptions: values.present() - rows,
            correlation: correlation(table, values),
        })
    }

    /// The ids among the texts of a column, whatever else it holds.
    pub fn of_texts(table: &Table, column: &Column) -> Option<Self> {
        let values = &column.values;
        let mut kinds = kinds(values);
        kinds.retain(|kind| !matches!(kind.form, Form::Blob16 | Form::Blob20 | Form::Blob32));
        let rows: u64 = kinds.iter().map(|kind| kind.rows).sum();
        let has_ids = rows > 0 && rows as f64 >= SHARE_MIN * values.texts as f64;
        has_ids.then(|| Ids {
            kinds,
            exceptions: values.texts - rows,
            correlation: correlation(table, values),
        })
    }

    /// The form of every value, if there is only one.
    pub fn form(&self) -> Option<Form> {
        let first = self.kinds.first()?.form;
        self.kinds
            .iter()
            .all(|kind| kind.form == first)
            .then_some(first)
    }

    /// Tells whether nearly all values are random.
    pub fn is_random(&self) -> bool {
        self.kinds.first().is_some_and(|kind| kind.kind == "UUIDv4")
    }

    /// The kinds with their shares, forms and order.
    pub fn in_words(&self, column: &Column) -> String {
        let present = column.values.present().max(1);
        let is_one = self.kinds.len() == 1 && self.exceptions == 0;
        let mut words: Vec<String> = self
            .kinds
            .iter()
            .map(|share| {
                let name = format!("{}, {}", share.form.words(), share.kind);
                if is_one {
                    name
                } else {
                    format!("{name} in {}", percent(share.rows, present))
                }
            })
            .collect();
        if self.exceptions > 0 {
            words.push(format!(
                "other values in {} of {present} rows",
                self.exceptions
            ));
        }
        if let Some(row) = self.switch() {
            words.push(format!("the kind switches at row {row}"));
        }
        if let Some(correlation) = self.correlation {
            words.push(format!("{:.0} % in order", 100.0 * correlation.max(0.0)));
        }
        let nulls = column.values.nulls;
        if nulls > 0 {
            words.push(format!("NULL in {}", percent(nulls, column.values.rows)));
        }
        words.join("; ")
    }

    /// The row from which another kind is used, where two kinds follow each other.
    pub fn switch(&self) -> Option<u64> {
        let [a, b] = &self.kinds[..] else { return None };
        let (early, late) = if a.rows_between.0 <= b.rows_between.0 {
            (a, b)
        } else {
            (b, a)
        };
        (early.rows_between.1 < late.rows_between.0).then_some(late.rows_between.0)
    }
}

/// Rowids are given in the order of insertion, unless the application chooses them.
fn correlation(table: &Table, values: &Values) -> Option<f64> {
    (table.kind == TableKind::Rowid)
        .then(|| values.correlation())
        .flatten()
}

fn kinds(values: &Values) -> Vec<KindShare> {
    let mut found: Vec<KindShare> = Vec::new();
    let mut forms: Vec<Form> = values.counts().map(|(form, ..)| form).collect();
    forms.dedup();
    for form in forms {
        let counts: Vec<_> = values.counts().filter(|(own, ..)| *own == form).collect();
        let total: u64 = counts.iter().map(|(.., count)| count.rows).sum();
        let unversioned = counts
            .iter()
            .find(|(_, version, _)| *version == 0)
            .map_or(0, |(.., count)| count.rows);
        // Where most have no version, those that seem to have one are chance.
        let by_chance = unversioned as f64 * CHANCE_OF_A_VERSION * 2.0;
        let mut plain: Option<KindShare> = None;
        let mut timely = 0;
        for (_, version, count) in counts {
            let is_plain = version == 0 || is_ulid(form) || count.rows as f64 <= by_chance;
            if is_plain {
                timely += count.timely;
                let share = plain.get_or_insert(KindShare {
                    kind: String::new(),
                    form,
                    rows: 0,
                    rows_between: (count.first, count.last),
                });
                share.rows += count.rows;
                share.rows_between = (
                    share.rows_between.0.min(count.first),
                    share.rows_between.1.max(count.last),
                );
            } else {
                found.push(KindShare {
                    kind: format!("UUIDv{version}"),
                    form,
                    rows: count.rows,
                    rows_between: (count.first, count.last),
                });
            }
        }
        if let Some(mut share) = plain {
            let is_timely = timely as f64 >= TIMELY_MIN * share.rows as f64;
            let is_ordered = share.rows < total
                || values
                    .correlation()
                    .is_none_or(|value| value >= ORDERED_MIN);
            share.kind = plain_kind(form, is_timely && is_ordered).into();
            found.push(share);
        }
    }
    found.sort_by_key(|share| std::cmp::Reverse(share.rows));
    found
}

fn is_ulid(form: Form) -> bool {
    matches!(form, Form::Ulid | Form::UlidOther)
}

/// The name of a kind without a version.
fn plain_kind(form: Form, is_timely: bool) -> &'static str {
    match form {
        Form::Ulid | Form::UlidOther => "ULID",
        Form::Blob16 | Form::Hex | Form::HexUpper | Form::HexMixed if is_timely => "ULID",
        Form::Uuid | Form::UuidUpper | Form::UuidMixed => "UUID without a version",
        Form::Hex | Form::HexUpper | Form::HexMixed => HASH_OF_128_BITS,
        Form::Blob16 => "128-bit token",
        Form::Hex40 | Form::Blob20 => "160-bit hash or token",
        Form::Hex64 | Form::Blob32 => "256-bit hash or token",
    }
}

/// Names the integers of a key: `None` if they are no key's integers.
pub fn integer_kind(table: &Table, column: &Column) -> Option<&'static str> {
    let values = &column.values;
    let (low, _) = values.integer_range?;
    if values.integers < values.present() || values.rows == 0 {
        return None;
    }
    let is_ordered = correlation(table, values).is_none_or(|value| value >= ORDERED_MIN);
    Some(match (low >= LARGE_INTEGER, is_ordered) {
        (true, true) => "64-bit integers, time first",
        (false, true) => "integers in order",
        (_, false) => "integers in no order",
    })
}

fn percent(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        _ if percent > 99.95 && part < whole => format!("{:.3} %", percent.min(99.999)),
        10.0.. => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}
