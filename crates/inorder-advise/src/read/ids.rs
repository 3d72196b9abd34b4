//! Which kinds of ids a column holds.

use super::{
    Column, Form, Table, TableKind, Values,
    form::{CLOCKS, Clock},
    values::{Newest, Span, now_ms},
};
use crate::classify::NewIds;
use inorder_key::ByteOrder;
use serde::Serialize;

/// A column holds ids if at least this share of its values is written so.
const SHARE_MIN: f64 = 0.9;
/// A version that random bits show is one of 64 (4 bits and 2 bits of variant, over 8 versions: one of 8 · 1/64 each).
const CHANCE_OF_A_VERSION: f64 = 1.0 / 64.0;
/// The first 48 bits are a time if they are so in this share of the rows,
const TIMELY_MIN: f64 = 0.99;
/// of at least so many,
const TIMELY_ROWS_MIN: u64 = 16;
/// and if the values go with the rows.
pub(crate) const ORDERED_MIN: f64 = 0.95;
/// 64-bit ids with a time at their beginning are at least this large.
const LARGE_INTEGER: i64 = 1 << 50;

/// The kind of 32 hexadecimal digits without a version or a time.
pub(crate) const HASH_OF_128_BITS: &str = "128-bit token or hash";

/// The kind of random UUIDs.
const RANDOM: &str = "UUIDv4";

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
    /// What new rows get.
    #[serde(skip)]
    pub new: NewIds,
    /// The order in which UUIDs have their bytes.
    #[serde(skip)]
    pub byte_order: ByteOrder,
}

impl Ids {
    /// The ids of a column, if it holds some.
    pub fn of(table: &Table, column: &Column) -> Option<Self> {
        let values = &column.values;
        let (kinds, byte_order) = kinds(values);
        let rows: u64 = kinds.iter().map(|kind| kind.rows).sum();
        if rows == 0 || (rows as f64) < SHARE_MIN * values.present() as f64 {
            return None;
        }
        let correlation = correlation(table, values);
        Some(Ids {
            new: new_ids(&kinds, values, correlation, byte_order),
            kinds,
            byte_order,
            exceptions: values.present() - rows,
            correlation,
        })
    }

    /// The ids among the texts of a column, whatever else it holds.
    pub fn of_texts(table: &Table, column: &Column) -> Option<Self> {
        let values = &column.values;
        let (mut kinds, byte_order) = kinds(values);
        kinds.retain(|kind| kind.form.is_text());
        let rows: u64 = kinds.iter().map(|kind| kind.rows).sum();
        let has_ids = rows > 0 && rows as f64 >= SHARE_MIN * values.texts as f64;
        let correlation = correlation(table, values);
        has_ids.then(|| Ids {
            new: new_ids(&kinds, values, correlation, byte_order),
            kinds,
            byte_order,
            exceptions: values.texts - rows,
            correlation,
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

    /// Tells whether new rows get random ids.
    pub fn is_random(&self) -> bool {
        self.new == NewIds::Random
    }

    /// Whether most values have a time in known bits: they are easier to guess than random ones.
    pub(crate) fn begins_with_time(&self) -> bool {
        self.kinds
            .first()
            .is_some_and(|share| has_time(&share.kind))
    }

    /// The bytes of a digest, if all values have as many and are no UUIDs.
    pub fn digest_bytes(&self) -> Option<u64> {
        digest_bytes(&self.kinds)
    }

    /// The same in words.
    pub(crate) fn digest_in_words(&self) -> Option<String> {
        digest_in_words(&self.kinds)
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

/// Why new rows get no UUIDv7 where UUIDs are stored in a byte order: programs would store it in that order too.
pub(crate) fn refusal_of_order(order: ByteOrder) -> Option<&'static str> {
    match order {
        ByteOrder::Standard => None,
        ByteOrder::DotNet => Some(
            "its UUIDs are stored in the byte order of .NET's Guid, in which a UUIDv7 is not in the order of time. \
             Guid.ToByteArray(bigEndian: true) keeps that order, and then the ids that are there must be converted too",
        ),
        ByteOrder::Swapped => Some(
            "its UUIDs are stored in the byte order of UUID_TO_BIN(…, 1), in which a UUIDv1 is in the order of time and a UUIDv7 is not. \
             UUID_TO_BIN(…, 0) keeps the order of a UUIDv7, and then the ids that are there must be converted too",
        ),
    }
}

/// Rowids are given in the order of insertion, unless the application chooses them.
fn correlation(table: &Table, values: &Values) -> Option<f64> {
    (table.kind == TableKind::Rowid)
        .then(|| values.correlation())
        .flatten()
}

/// The bytes of a digest, if all kinds have as many and are no UUIDs or other ids.
pub(crate) fn digest_bytes(kinds: &[KindShare]) -> Option<u64> {
    let first = kinds.first()?.form.bytes();
    let is_digest = |kind: &KindShare| kind.form.bytes() == first && first > 16;
    kinds.iter().all(is_digest).then_some(first)
}

/// The same in words.
pub(crate) fn digest_in_words(kinds: &[KindShare]) -> Option<String> {
    digest_bytes(kinds).map(|bytes| format!("{bytes} bytes, as a digest has"))
}

/// What new rows get: the kind of the newest, or of all in tables that keep no order.
fn new_ids(
    kinds: &[KindShare],
    values: &Values,
    correlation: Option<f64>,
    byte_order: ByteOrder,
) -> NewIds {
    let newest = values.newest().filter(|_| correlation.is_some());
    if let Some(correlation) =
        correlation.filter(|&own| own >= ORDERED_MIN && !values.begin_anyhow())
    {
        let order = format!("{:.0} % in order", 100.0 * correlation);
        return NewIds::InOrder(order);
    }
    let Some(newest) = newest else {
        // A kind in order beside random ones is the later one: nobody goes back.
        let ordered = kinds.iter().find(|share| is_in_order(&share.kind));
        return match (ordered, kinds.first()) {
            (Some(share), _) => NewIds::InOrder(share.kind.clone()),
            (None, Some(share)) if share.kind.split(ORDER).next() == Some(RANDOM) => NewIds::Random,
            _ => NewIds::Unknown,
        };
    };
    let share = |is_it: &dyn Fn(&Newest) -> bool| {
        newest.iter().filter(|own| is_it(own)).count() as f64 / newest.len() as f64
    };
    let orders = ByteOrder::ALL.iter();
    let order = orders.take_while(|own| **own != byte_order).count();
    let is_standard = byte_order == ByteOrder::Standard;
    if is_standard && share(&|own| matches!(own.versions[0], 6 | 7)) >= SHARE_MIN {
        return NewIds::InOrder("UUIDv7".into());
    }
    let ordered = kinds.iter().find(|share| is_in_order(&share.kind));
    if let Some(kind) = ordered
        && (0..CLOCKS.len()).any(|clock| share(&|own| own.times[clock]) >= TIMELY_MIN)
    {
        return NewIds::InOrder(kind.kind.clone());
    }
    match share(&|own| own.versions[order] == 4) >= SHARE_MIN {
        true => NewIds::Random,
        false => NewIds::Unknown,
    }
}

/// Whether ids of a kind have their time in them.
pub(crate) fn has_time(kind: &str) -> bool {
    let plain = kind.split(ORDER).next().unwrap_or(kind);
    is_in_order(kind) || matches!(plain, "UUIDv1" | "UUIDv2" | "UUIDv6" | "UUIDv7")
}

/// Whether ids of a kind begin with their time.
fn is_in_order(kind: &str) -> bool {
    matches!(kind, "UUIDv7" | "UUIDv6" | "ULID" | "ObjectId") || kind.ends_with(TIME_FIRST)
}

/// The end of the name of a kind whose ids begin with a time that their version doesn't promise.
const TIME_FIRST: &str = ", time first";

/// What is between a kind and the byte order in which it is stored.
const ORDER: &str = " in the byte order of ";

/// The kinds of UUIDs that are stored in another byte order than that of RFC 9562.
fn kinds_in(values: &Values, order: ByteOrder, spans: &[Span]) -> Vec<KindShare> {
    let Some(form) = values.counts().first().map(|count| count.form) else {
        return Vec::new();
    };
    // The order of the stored bytes decides, whatever the versions promise.
    let is_ordered = values
        .correlation()
        .is_none_or(|value| value >= ORDERED_MIN);
    let of_version = |(version, span): (usize, &Span)| {
        let is_first = (order, version) == (ByteOrder::Swapped, 1) && is_ordered;
        let end = if is_first { TIME_FIRST } else { "" };
        (span.rows > 0).then(|| KindShare {
            kind: match version {
                0 => plain_kind(form, None),
                _ => format!("UUIDv{version}{ORDER}{}{end}", order.name()),
            },
            form,
            rows: span.rows,
            rows_between: (span.first, span.last),
        })
    };
    let mut found: Vec<KindShare> = spans.iter().enumerate().filter_map(of_version).collect();
    found.sort_by_key(|share| std::cmp::Reverse(share.rows));
    found
}

/// The kinds of a column's ids, and the order in which UUIDs have their bytes.
fn kinds(values: &Values) -> (Vec<KindShare>, ByteOrder) {
    let (order, spans) = values.byte_order(now_ms());
    let found = match order {
        ByteOrder::Standard => kinds_of_forms(values),
        _ => kinds_in(values, order, &spans),
    };
    (found, order)
}

fn kinds_of_forms(values: &Values) -> Vec<KindShare> {
    let mut found: Vec<KindShare> = Vec::new();
    let all = values.counts();
    let mut forms: Vec<Form> = all.iter().map(|count| count.form).collect();
    forms.dedup();
    for form in forms {
        let counts: Vec<_> = all.iter().filter(|count| count.form == form).collect();
        let total: u64 = counts.iter().map(|count| count.rows).sum();
        let unversioned = counts
            .iter()
            .find(|count| count.version == 0)
            .map_or(0, |count| count.rows);
        // Where most have no version, those that seem to have one are chance.
        let by_chance = unversioned as f64 * CHANCE_OF_A_VERSION * 2.0;
        let mut plain: Option<KindShare> = None;
        let mut timely = [0; CLOCKS.len()];
        for count in counts {
            let is_plain = count.version == 0 || is_ulid(form) || count.rows as f64 <= by_chance;
            if is_plain {
                for (own, count) in timely.iter_mut().zip(count.timely) {
                    *own += count;
                }
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
                let is_timely = count.version == 4 && clock_of(&count.timely, count.rows).is_some();
                let end = if is_timely { TIME_FIRST } else { "" };
                found.push(KindShare {
                    kind: format!("UUIDv{}{end}", count.version),
                    form,
                    rows: count.rows,
                    rows_between: (count.first, count.last),
                });
            }
        }
        if let Some(mut share) = plain {
            let is_ordered = share.rows < total
                || values
                    .correlation()
                    .is_none_or(|value| value >= ORDERED_MIN);
            let clock = clock_of(&timely, share.rows).filter(|_| is_ordered);
            share.kind = plain_kind(form, clock);
            found.push(share);
        }
    }
    found.sort_by_key(|share| std::cmp::Reverse(share.rows));
    found
}

/// The clock that nearly all values begin with.
fn clock_of(timely: &[u64; CLOCKS.len()], rows: u64) -> Option<Clock> {
    let is_it = |count: u64| rows >= TIMELY_ROWS_MIN && count as f64 >= TIMELY_MIN * rows as f64;
    let at = timely.iter().position(|&count| is_it(count))?;
    Some(CLOCKS[at])
}

fn is_ulid(form: Form) -> bool {
    matches!(form, Form::Ulid | Form::UlidOther)
}

/// The name of a kind without a version.
fn plain_kind(form: Form, clock: Option<Clock>) -> String {
    let is_of_16 = form.bytes() == 16 && !matches!(form, Form::Uuid(_));
    match (form, clock) {
        _ if is_ulid(form) => "ULID".into(),
        (_, Some(Clock::Ms)) if is_of_16 => "ULID".into(),
        (_, Some(Clock::Swapped)) if form.bytes() == 16 => format!("UUIDv1{TIME_FIRST}"),
        (_, Some(_)) if form.bytes() == 16 => format!("128-bit id{TIME_FIRST}"),
        (Form::Uuid(_), _) => "UUID without a version".into(),
        (_, Some(Clock::Seconds)) if form.bytes() == 12 => "ObjectId".into(),
        (Form::Hex { digits: 32, .. }, _) => HASH_OF_128_BITS.into(),
        (Form::Blob(16), _) => "128-bit token".into(),
        (form, _) if form.bytes() < 16 => format!("{}-bit id or token", 8 * form.bytes()),
        (form, _) => format!("{}-bit hash or token", 8 * form.bytes()),
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
