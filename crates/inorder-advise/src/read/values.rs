//! What a column holds: storage classes, forms of ids, order.

use super::form::{self, CLOCKS, Form};
use crate::classify::Sketch;
use inorder_key::{ByteOrder, UnixTime, bulk::SplitMix64};
use rusqlite::types::ValueRef;
use std::{
    collections::HashSet,
    time::{SystemTime, UNIX_EPOCH},
};

/// Values kept to rank against the order of insertion.
const SAMPLE_MAX: usize = 8192;
/// Shorter texts of hexadecimal digits are words or numbers.
const HEX_ID_MIN: usize = 8;
/// The newest values that are kept.
const NEWEST_MAX: usize = 64;
/// Fewer values tell no order and no kind.
const NEWEST_MIN: usize = 16;

/// Counts over all values of a column.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// Rows read.
    pub rows: u64,
    /// Values that are NULL.
    pub nulls: u64,
    /// Values that are integers.
    pub integers: u64,
    /// Values that are floating-point numbers.
    pub reals: u64,
    /// Values that are text.
    pub texts: u64,
    /// Values that are blobs.
    pub blobs: u64,
    /// Bytes of the texts and blobs.
    pub bytes: u64,
    /// The smallest and the largest integer.
    pub integer_range: Option<(i64, i64)>,
    /// Whether all values that are not NULL are the same.
    pub has_one_value: bool,
    /// Texts that are hexadecimal digits, counted in columns of numeric affinity, and their length if it is one.
    pub(super) hex: Option<Hex>,
    /// How often each form occurs with each version.
    pub(super) forms: Vec<Count>,
    /// The newest ids, as a ring: version, and what clocks say.
    newest: Vec<Newest>,
    /// Whether the server sorts UUIDs of the versions 1 to 5 by their last parts.
    sorts_parts: bool,
    /// The versions of ids of 16 bytes in the byte orders of [`ByteOrder::ALL`].
    versions: [[Span; VERSIONS]; ByteOrder::ALL.len()],
    /// Hashes of ids, of which those below a limit are kept.
    pub(crate) sketch: Sketch,
    pub(super) sample: Sample,
    first: Option<u64>,
}

/// Versions of UUIDs, and 0 for none.
pub(super) const VERSIONS: usize = 9;

/// Rows, and the first and the last of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub rows: u64,
    pub first: u64,
    pub last: u64,
}

impl Span {
    fn add(&mut self, row: u64) {
        if self.rows == 0 {
            self.first = row;
        }
        self.rows += 1;
        self.last = row;
    }
}

/// Texts that are hexadecimal digits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hex {
    texts: u64,
    length: usize,
    has_one_length: bool,
}

impl Hex {
    fn add(&mut self, text: &[u8]) {
        if !text.iter().all(u8::is_ascii_hexdigit) {
            return;
        }
        self.has_one_length = self.texts == 0 || (self.has_one_length && self.length == text.len());
        self.length = text.len();
        self.texts += 1;
    }
}

/// How often a form occurs with one version, where first and last, and with a plausible time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub form: Form,
    pub version: u8,
    pub rows: u64,
    pub first: u64,
    pub last: u64,
    /// By clock, values that begin with a time between 2010 and tomorrow.
    pub timely: [u64; CLOCKS.len()],
    /// Values with letters, so that their case is known.
    pub cased: u64,
}

/// One of the newest ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Newest {
    /// The version in each of [`ByteOrder::ALL`].
    pub versions: [u8; ByteOrder::ALL.len()],
    /// What each clock says.
    pub times: [bool; CLOCKS.len()],
}

/// Values at equal distances.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    stride: u64,
    values: Vec<u128>,
}

impl Default for Sample {
    fn default() -> Self {
        Sample {
            stride: 1,
            values: Vec::new(),
        }
    }
}

impl Values {
    /// Counts of a column before its first row. Hexadecimal digits are told where they could become numbers.
    pub(crate) fn of_column(is_numeric: bool) -> Self {
        Values {
            hex: is_numeric.then(Hex::default),
            ..Values::default()
        }
    }

    /// Counts of a column of MariaDB's type `uuid`.
    pub(crate) fn of_parts() -> Self {
        Values {
            sorts_parts: true,
            ..Values::default()
        }
    }

    /// Counts the value of the next row. `now_ms` is the time now.
    #[inline]
    pub(crate) fn add(&mut self, value: ValueRef<'_>, now_ms: u64) {
        let row = self.rows;
        self.rows += 1;
        match value {
            ValueRef::Null => self.nulls += 1,
            ValueRef::Integer(value) => {
                self.integers += 1;
                let (low, high) = self.integer_range.unwrap_or((value, value));
                self.integer_range = Some((low.min(value), high.max(value)));
                // Integers in order are in order as unsigned numbers of an offset.
                self.sample
                    .add(row, u128::from((value as u64) ^ (1 << 63)) << 64);
                self.same(SplitMix64::mix(value as u64));
            }
            ValueRef::Real(value) => {
                self.reals += 1;
                self.same(SplitMix64::mix(!value.to_bits()));
            }
            ValueRef::Text(text) => {
                self.texts += 1;
                self.bytes += text.len() as u64;
                if let Some(hex) = &mut self.hex {
                    hex.add(text);
                }
                self.add_bytes(text, form::of_text(text), row, now_ms);
            }
            ValueRef::Blob(blob) => {
                self.blobs += 1;
                self.bytes += blob.len() as u64;
                self.add_bytes(blob, form::of_blob(blob), row, now_ms);
            }
        }
    }

    fn add_bytes(&mut self, bytes: &[u8], read: Option<form::Read>, row: u64, now_ms: u64) {
        let Some(read) = read else {
            if self.has_one_value || self.first.is_none() {
                self.same(hash(bytes));
            }
            self.sample.add_with(row, || {
                let rest = bytes.get(8..).unwrap_or_default();
                u128::from(leading(bytes)) << 64 | u128::from(leading(rest))
            });
            return;
        };
        let versions = match read.form.has_128_bits() {
            true => form::versions(read.bits),
            false => Default::default(),
        };
        for (own, version) in self.versions.iter_mut().zip(versions) {
            own[usize::from(version)].add(row);
        }
        let version = versions[0];
        let times = form::times(read.bits, now_ms);
        let count = self.count(read.form, version, row);
        count.last = row;
        count.rows += 1;
        count.cased += u64::from(read.has_case);
        for (count, is_time) in count.timely.iter_mut().zip(times) {
            *count += u64::from(is_time);
        }
        let newest = Newest { versions, times };
        match self.newest.len() {
            NEWEST_MAX => self.newest[row as usize % NEWEST_MAX] = newest,
            _ => self.newest.push(newest),
        }
        let hash = hash(bytes);
        self.same(hash);
        self.sketch.add(hash);
        let is_turned = self.sorts_parts && (1..=5).contains(&version);
        let bits = if is_turned {
            form::in_parts(read.bits)
        } else {
            read.bits
        };
        self.sample.add(row, bits);
    }

    fn count(&mut self, form: Form, version: u8, row: u64) -> &mut Count {
        let is_it = |count: &Count| count.form == form && count.version == version;
        let at = self.forms.iter().position(is_it).unwrap_or_else(|| {
            self.forms.push(Count {
                form,
                version,
                rows: 0,
                first: row,
                last: row,
                timely: [0; CLOCKS.len()],
                cased: 0,
            });
            self.forms.len() - 1
        });
        &mut self.forms[at]
    }

    fn same(&mut self, hash: u64) {
        match self.first {
            None => {
                self.first = Some(hash);
                self.has_one_value = true;
            }
            Some(first) => self.has_one_value &= first == hash,
        }
    }

    /// The forms that occur, with version and count, in the order of the forms. Texts without letters have the case of the
    /// others.
    pub(super) fn counts(&self) -> Vec<Count> {
        let mut found: Vec<Count> = Vec::new();
        for count in &self.forms {
            let same = |other: &&Count| {
                other.form != count.form
                    && other.form.case().is_some()
                    && other.form
                        == count
                            .form
                            .in_case(other.form.case().unwrap_or(form::Case::Lower))
            };
            let mut others: Vec<&Count> = self.forms.iter().filter(same).collect();
            others.sort_by_key(|other| std::cmp::Reverse(other.rows));
            let form = match others.first() {
                Some(other) if count.cased == 0 => other.form,
                _ => count.form,
            };
            match found
                .iter_mut()
                .find(|own| own.form == form && own.version == count.version)
            {
                Some(own) => own.join(count),
                None => found.push(Count { form, ..*count }),
            }
        }
        found.sort_by_key(|count| (count.form, count.version));
        found
    }

    /// What the newest ids are, if rows were read in the order of their insertion: versions, and what clocks say.
    pub(super) fn newest(&self) -> Option<&[Newest]> {
        (self.newest.len() >= NEWEST_MIN).then_some(&self.newest)
    }

    /// The order in which a column's UUIDs have their bytes, and the rows of each version then. RFC 9562's where they are
    /// none in any order, or too few to tell.
    pub(super) fn byte_order(&self, now_ms: u64) -> (ByteOrder, [Span; VERSIONS]) {
        let at = |order: ByteOrder| ByteOrder::ALL.iter().position(|own| *own == order);
        let forms: HashSet<Form> = self.forms.iter().map(|count| count.form).collect();
        let is_of_16 = forms.iter().all(|form| form.has_128_bits());
        let stored = &self.sample.values;
        let is_told = is_of_16 && !self.sorts_parts && stored.len() >= NEWEST_MIN;
        let values = stored.iter().map(|bits| bits.to_be_bytes());
        let order = is_told
            .then(|| ByteOrder::of_values(values, UnixTime::from_ms(now_ms)))
            .flatten()
            .unwrap_or(ByteOrder::Standard);
        (order, self.versions[at(order).unwrap_or(0)])
    }

    /// Whether the values have all beginnings, as random ids have. A table may be stored in their order.
    pub(super) fn begin_anyhow(&self) -> bool {
        self.sample.begin_anyhow()
    }

    /// The share of the ids that sort before a UUIDv7 of now.
    pub(crate) fn share_before(&self, now_ms: u64) -> Option<f64> {
        let bound = u128::from(now_ms) << 80;
        let values = &self.sample.values;
        let before = values.iter().filter(|&&value| value < bound).count();
        (!self.forms.is_empty() && !values.is_empty()).then(|| before as f64 / values.len() as f64)
    }

    /// The digits of the hexadecimal ids that a column of numeric affinity holds, if its texts are such.
    pub fn hex_id_digits(&self) -> Option<u32> {
        let hex = self
            .hex
            .filter(|hex| hex.has_one_length && hex.length >= HEX_ID_MIN)?;
        let is_most = hex.texts * 10 >= self.texts * 9 && hex.texts > self.integers + self.reals;
        is_most.then_some(hex.length as u32)
    }

    /// Values that are not NULL.
    pub fn present(&self) -> u64 {
        self.rows - self.nulls
    }

    /// The rank correlation (Spearman's) of the values with the order of the rows, from -1 to 1.
    pub fn correlation(&self) -> Option<f64> {
        self.sample.correlation()
    }

    /// Tells whether the integers look random: some in each quarter of a range that is much larger than their number,
    /// which counted numbers leave empty or fill. `rows` are those of the whole column.
    pub fn looks_random(&self, rows: u64) -> bool {
        /// Fewer integers tell nothing.
        const INTEGERS_MIN: usize = 16;
        /// Counted numbers fill this share of their range, in percent, though rows were deleted.
        const FILLED_PERCENT: u128 = 1;
        /// The share of the integers that each quarter has of random ones, as one in so many.
        const QUARTER_MIN: usize = 10;
        let Some((low, high)) = self.integer_range else {
            return false;
        };
        let range = (i128::from(high) - i128::from(low)).unsigned_abs();
        let values = &self.sample.values;
        if values.len() < INTEGERS_MIN || u128::from(rows) * 100 >= FILLED_PERCENT * range {
            return false;
        }
        // As the sample has them: unsigned numbers of an offset, in the upper half.
        let low = u128::from((low as u64) ^ (1 << 63));
        let mut quarters = [0; 4];
        for &value in values {
            let at = (value >> 64).saturating_sub(low) * 4 / (range + 1);
            quarters[at.min(3) as usize] += 1;
        }
        quarters
            .iter()
            .all(|&own| own * QUARTER_MIN >= values.len())
    }

    /// Tells whether two columns share ids.
    pub fn shares_ids_with(&self, other: &Values) -> bool {
        self.sketch.shares_with(&other.sketch)
    }
}

impl Count {
    fn join(&mut self, other: &Count) {
        self.rows += other.rows;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.cased += other.cased;
        for (own, other) in self.timely.iter_mut().zip(other.timely) {
            *own += other;
        }
    }
}

impl Sample {
    #[inline]
    fn add(&mut self, row: u64, value: u128) {
        self.add_with(row, || value);
    }

    #[inline]
    fn add_with(&mut self, row: u64, value: impl FnOnce() -> u128) {
        if !row.is_multiple_of(self.stride) {
            return;
        }
        self.values.push(value());
        if self.values.len() > SAMPLE_MAX {
            self.stride *= 2;
            let mut at = 0;
            self.values.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }

    fn begin_anyhow(&self) -> bool {
        const BEGINNINGS: f64 = 256.0;
        let first: HashSet<u8> = self
            .values
            .iter()
            .map(|value| (value >> 120) as u8)
            .collect();
        let expected = BEGINNINGS * (1.0 - (-(self.values.len() as f64) / BEGINNINGS).exp());
        first.len() as f64 > expected / 2.0
    }

    fn correlation(&self) -> Option<f64> {
        let n = self.values.len();
        if n < 16 {
            return None;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by_key(|&at| self.values[at]);
        let mut ranks = vec![0.0; n];
        let mut from = 0;
        while from < n {
            let value = self.values[order[from]];
            let until = from
                + order[from..]
                    .iter()
                    .take_while(|&&at| self.values[at] == value)
                    .count();
            let rank = (from + until - 1) as f64 / 2.0;
            order[from..until].iter().for_each(|&at| ranks[at] = rank);
            from = until;
        }
        let mean = (n - 1) as f64 / 2.0;
        let (mut both, mut own, mut rows) = (0.0, 0.0, 0.0);
        for (at, rank) in ranks.iter().enumerate() {
            let (x, y) = (at as f64 - mean, rank - mean);
            both += x * y;
            rows += x * x;
            own += y * y;
        }
        (own > 0.0).then(|| both / (rows * own).sqrt())
    }
}

/// The first eight bytes as a number that sorts as they do.
fn leading(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = bytes.len().min(8);
    first[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(first)
}

/// The time now.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

fn hash(bytes: &[u8]) -> u64 {
    let seed = SplitMix64::mix(bytes.len() as u64);
    bytes
        .chunks(8)
        .fold(seed, |hash, chunk| SplitMix64::mix(hash ^ leading(chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Values {
        let mut found = Values::default();
        values
            .into_iter()
            .for_each(|value| found.add(ValueRef::Integer(value), 0));
        found
    }

    #[test]
    fn correlation_ranks_against_the_rows() {
        assert!(of(0..100_000).correlation().unwrap() > 0.999);
        assert!(of((0..100_000).rev()).correlation().unwrap() < -0.999);
        let shuffled = of((0..100_000).map(|value| SplitMix64::mix(value as u64) as i64));
        assert!(shuffled.correlation().unwrap().abs() < 0.1);
        assert_eq!(of([7; 100]).correlation(), None);
    }

    #[test]
    fn ids_are_shared_however_many_there_are() {
        let ids = |from: u128, until: u128| {
            let mut found = Values::default();
            for id in from..until {
                let bytes = (u128::from(SplitMix64::mix(id as u64)) << 64 | id).to_be_bytes();
                found.add(ValueRef::Blob(&bytes), 0);
            }
            found
        };
        let many = ids(0, 100_000);
        assert!(many.shares_ids_with(&ids(0, 100_000)));
        assert!(many.shares_ids_with(&ids(90_000, 92_000)));
        assert!(!many.shares_ids_with(&ids(200_000, 300_000)));
    }

    #[test]
    fn random_integers_are_told_from_counted_ones() {
        let random = of((0..1000).map(|value| (SplitMix64::mix(value) >> 33) as i64));
        assert!(random.looks_random(1000) && !random.looks_random(1 << 28));
        assert!(!of(0..1000).looks_random(1000));
        assert!(!of(2_140_000_000..2_140_001_000).looks_random(1000));
        // Counted, and one row of the largest number by accident.
        let accident = of((0..1000).chain([i64::MAX]));
        assert!(!accident.looks_random(1001));
    }

    #[test]
    fn one_value_is_told_from_two() {
        assert!(of([3; 9]).has_one_value);
        assert!(!of([3, 3, 4]).has_one_value);
    }
}
