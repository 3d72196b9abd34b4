//! Generates the values of a column: numbers, text and blobs from a seed, or rows of another column.

use std::sync::Arc;

use inorder_engine::{Column, Value};
use inorder_key::bulk::SplitMix64;

use super::words::{Names, Titles};
use crate::{Error, format};

/// The content of a column. Bounds are inclusive, unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// `start`, `start + step`, `start + 2 * step`, … wrapping at 64 bits.
    Sequence {
        /// The first number.
        start: i64,
        /// From one number to the next.
        step: i64,
    },
    /// Integers, each equally likely.
    RandomInt {
        /// The least.
        low: i64,
        /// The greatest.
        high: i64,
    },
    /// Reals, evenly spread.
    RandomReal {
        /// The least.
        low: f64,
        /// The bound, never reached unless it is `low`.
        high: f64,
    },
    /// Letters and digits, see [`FRESH_BYTES_MAX`] for how unlikely it is that two rows are equal.
    RandomText {
        /// Characters of the shortest.
        length_min: usize,
        /// Characters of the longest.
        length_max: usize,
    },
    /// Bytes, see [`FRESH_BYTES_MAX`] for how unlikely it is that two rows are equal.
    RandomBlob {
        /// Bytes of the shortest.
        length_min: usize,
        /// Bytes of the longest.
        length_max: usize,
    },
    /// Film titles, see [`Titles`].
    Words,
    /// User names, see [`Names`].
    Names,
    /// Points in time as text, `2026-01-31 23:59:59.999` or the day alone, in UTC.
    Times {
        /// The first, in milliseconds since 1970.
        start_unix_ms: u64,
        /// From one to the next.
        step_ms: u64,
        /// The day alone. After 9999, the last year that every engine stores, come the days from 1970 on.
        is_date: bool,
    },
    /// NULL in a random share of the rows, else the rows of another fill.
    Nullable {
        /// The share, from 0 to 1.
        share: f64,
        /// The other fill.
        fill: Box<Fill>,
    },
    /// The same value in each row.
    Constant(Value),
    /// Rows of a column, each equally likely.
    Pick {
        /// The column picked from.
        from: Arc<Column>,
        /// In each so many consecutive rows, counted from the first, no row of `from` comes twice.
        distinct_within: Option<usize>,
    },
    /// Each row of a column, repeated a number of times, cyclically.
    Each {
        /// The column repeated.
        from: Arc<Column>,
        /// Rows made of one row of `from`.
        repeat: usize,
    },
}

/// The longest random text or blob whose bytes are made for it alone.
///
/// A unique column may hold those: 20 random bytes, or 20 letters and digits, come twice in no table
/// there is. Longer values are slices of [`POOL_BYTES`]: of a million, two are likely to be equal.
pub const FRESH_BYTES_MAX: usize = 64;

/// Bytes that random texts or blobs longer than [`FRESH_BYTES_MAX`] are slices of, on top of the
/// longest of them.
///
/// No bytes are copied or made a row. That slices overlap makes no difference to a database that does
/// not compress, as SQLite does not; they begin at about four million places.
pub const POOL_BYTES: usize = 4 << 20;

/// The longest text or blob: SQLite's default limit.
const LENGTH_MAX_BYTES: usize = 1_000_000_000;
/// The first point in time of the year 10000.
const YEAR_10000_UNIX_MS: u64 = 253_402_300_800_000;

/// Fills a column batch by batch: each call continues where the previous one ended.
///
/// The same fill and seed give the same rows, however they are split into calls. Columns of one table
/// want different seeds, or their random values go together.
#[derive(Clone, Debug)]
pub struct Filler {
    source: Source,
    rng: SplitMix64,
}

/// A checked [`Fill`] and how far it has come.
#[derive(Clone, Debug)]
enum Source {
    Sequence {
        next: i64,
        step: i64,
    },
    Integers {
        low: i64,
        count: u64,
    },
    Reals {
        low: f64,
        width: f64,
    },
    Fresh(Lengths, IsText),
    Slices(Slices),
    Titles(Titles),
    Names(Names),
    Constant(Value),
    Times {
        next_unix_ms: u64,
        step_ms: u64,
        is_date: bool,
    },
    Nullable {
        share: f64,
        filler: Box<Filler>,
    },
    Rows {
        from: Arc<Column>,
        picker: Picker,
    },
}

impl Filler {
    /// A filler at its first row.
    ///
    /// # Errors
    /// [`Error::Fill`] where bounds are reversed or out of range, or a column to take rows from has
    /// none, or fewer than are to be distinct.
    pub fn new(fill: Fill, seed: u64) -> Result<Self, Error> {
        let mut rng = SplitMix64::new(SplitMix64::mix(seed));
        let source = match fill {
            Fill::Sequence { start, step } => Source::Sequence { next: start, step },
            Fill::RandomInt { low, high } => {
                check_bounds(low <= high, low, high)?;
                let count = (high.wrapping_sub(low) as u64).wrapping_add(1);
                Source::Integers { low, count }
            }
            Fill::RandomReal { low, high } => {
                let width = high - low;
                check_bounds(low <= high && width.is_finite(), low, high)?;
                Source::Reals { low, width }
            }
            Fill::RandomText {
                length_min,
                length_max,
            } => Source::random_bytes(length_min, length_max, true, &mut rng)?,
            Fill::RandomBlob {
                length_min,
                length_max,
            } => Source::random_bytes(length_min, length_max, false, &mut rng)?,
            Fill::Words => Source::Titles(Titles::new(seed)),
            Fill::Names => Source::Names(Names::new(seed)),
            Fill::Constant(value) => Source::Constant(value),
            Fill::Times {
                start_unix_ms,
                step_ms,
                is_date,
            } => Source::Times {
                next_unix_ms: start_unix_ms,
                step_ms,
                is_date,
            },
            Fill::Nullable { share, fill } => Source::Nullable {
                share,
                filler: Box::new(Filler::new(*fill, rng.bits())?),
            },
            Fill::Each { from, repeat } => Source::rows(from, |rows| match repeat {
                0 => Err(unfillable(
                    "each row repeated 0 times",
                    "repeat it at least once",
                )),
                repeat => Ok(Picker::each(rows, repeat)),
            })?,
            Fill::Pick {
                from,
                distinct_within,
            } => Source::rows(from, |rows| Picker::pick(rows, distinct_within))?,
        };
        Ok(Filler { source, rng })
    }

    /// The next `rows` rows.
    pub fn fill(&mut self, rows: usize) -> Column {
        let rng = &mut self.rng;
        match &mut self.source {
            Source::Sequence { next, step } => {
                let first = *next;
                *next = first.wrapping_add(step.wrapping_mul(rows as i64));
                let row = |i: usize| first.wrapping_add(step.wrapping_mul(i as i64));
                Column::Integers((0..rows).map(row).collect())
            }
            Source::Integers { low, count } => {
                let row = |_| low.wrapping_add(rng.below(*count) as i64);
                Column::Integers((0..rows).map(row).collect())
            }
            Source::Reals { low, width } => {
                Column::Reals((0..rows).map(|_| *low + rng.unit() * *width).collect())
            }
            Source::Fresh(lengths, is_text) => fresh(rows, *lengths, *is_text, rng),
            Source::Slices(slices) => slices.fill(rows, rng),
            Source::Titles(titles) => written(rows, |to| titles.write(to)),
            Source::Names(names) => written(rows, |to| names.write(to)),
            Source::Constant(value) => constant(value, rows),
            Source::Times {
                next_unix_ms,
                step_ms,
                is_date,
            } => written(rows, |to| {
                format::push_time(*next_unix_ms, *is_date, to);
                *next_unix_ms = next_unix_ms.wrapping_add(*step_ms);
                if *is_date && *next_unix_ms >= YEAR_10000_UNIX_MS {
                    *next_unix_ms -= YEAR_10000_UNIX_MS;
                }
            }),
            Source::Nullable { share, filler } => {
                let column = filler.fill(rows);
                let value = |row| match rng.unit() < *share {
                    true => Value::Null,
                    false => column.value(row),
                };
                Column::Any((0..rows).map(value).collect())
            }
            Source::Rows { from, picker } => {
                let picks: Vec<u32> = (0..rows).map(|_| picker.next(rng)).collect();
                from.gather(&picks)
            }
        }
    }
}

impl Source {
    /// Random texts or blobs: short ones fresh, long ones slices.
    fn random_bytes(
        length_min: usize,
        length_max: usize,
        is_text: IsText,
        rng: &mut SplitMix64,
    ) -> Result<Self, Error> {
        let lengths = Lengths::new(length_min, length_max)?;
        Ok(if length_max <= FRESH_BYTES_MAX {
            Source::Fresh(lengths, is_text)
        } else {
            Source::Slices(Slices::new(lengths, is_text, rng))
        })
    }

    /// Rows of a column that has some, picked by what `picker` makes of their number.
    fn rows(
        from: Arc<Column>,
        picker: impl FnOnce(u32) -> Result<Picker, Error>,
    ) -> Result<Self, Error> {
        let picker = match u32::try_from(from.len()) {
            Ok(0) => Err(unfillable(
                "the column to take rows from has none",
                "bring a source that has rows",
            )),
            Ok(rows) => picker(rows),
            Err(_) => Err(unfillable(
                format!("the column to take rows from has {}", from.len()),
                "bring at most 2^32 - 1",
            )),
        }?;
        Ok(Source::Rows { from, picker })
    }
}

fn unfillable(what: impl Into<String>, remedy: &'static str) -> Error {
    Error::Fill {
        what: what.into(),
        remedy,
    }
}

fn check_bounds<T: std::fmt::Display>(are_good: bool, low: T, high: T) -> Result<(), Error> {
    if are_good {
        return Ok(());
    }
    Err(unfillable(
        format!("there is nothing from {low} to {high}"),
        "give finite bounds, the lower first",
    ))
}

/// Whether random bytes are letters and digits, and so a text, or any, and so a blob.
type IsText = bool;

/// Bytes of random texts or blobs, each length equally likely.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    min: u32,
    count: u32,
}

impl Lengths {
    fn new(min: usize, max: usize) -> Result<Self, Error> {
        check_bounds(min <= max, min, max)?;
        if max > LENGTH_MAX_BYTES {
            return Err(unfillable(
                format!("{max} bytes in one value"),
                "ask for at most 1000000000",
            ));
        }
        Ok(Lengths {
            min: min as u32,
            count: (max - min) as u32 + 1,
        })
    }

    fn max(self) -> u32 {
        self.min + (self.count - 1)
    }

    /// A length from the upper half of a random number.
    fn pick(self, bits: u64) -> u32 {
        self.min + (((bits >> 32) * u64::from(self.count)) >> 32) as u32
    }
}

/// Appends random bytes until there are at least `length`, eight at a time.
fn extend_randomly(bytes: &mut Vec<u8>, length: usize, is_text: IsText, rng: &mut SplitMix64) {
    while bytes.len() < length {
        let mut word = rng.bits().to_le_bytes();
        if is_text {
            word = word.map(alphanumeric);
        }
        bytes.extend_from_slice(&word);
    }
}

/// A column of random bytes made for each row.
fn fresh(rows: usize, lengths: Lengths, is_text: IsText, rng: &mut SplitMix64) -> Column {
    let mut pool = Vec::with_capacity(rows * lengths.max() as usize + 8);
    let spans = (0..rows).map(|_| {
        let length = match lengths.count {
            1 => lengths.min,
            _ => lengths.pick(rng.bits()),
        };
        let offset = u32::try_from(pool.len()).expect("values of one call take less than 4 GiB");
        let end = pool.len() + length as usize;
        extend_randomly(&mut pool, end, is_text, rng);
        pool.truncate(end);
        (offset, length)
    });
    Column::Spans {
        spans: spans.collect(),
        pool: pool.into(),
        is_text,
    }
}

/// Random slices of random bytes.
#[derive(Clone, Debug)]
struct Slices {
    pool: Arc<[u8]>,
    lengths: Lengths,
    is_text: IsText,
}

impl Slices {
    fn new(lengths: Lengths, is_text: IsText, rng: &mut SplitMix64) -> Self {
        let mut pool = Vec::new();
        let bytes = POOL_BYTES + lengths.max() as usize;
        extend_randomly(&mut pool, bytes, is_text, rng);
        Slices {
            pool: pool.into(),
            lengths,
            is_text,
        }
    }

    fn fill(&self, rows: usize, rng: &mut SplitMix64) -> Column {
        let span = |_| {
            // One random number serves both: its upper half the length, its lower half the offset.
            let bits = rng.bits();
            let length = self.lengths.pick(bits);
            let offsets = self.pool.len() as u64 - u64::from(length) + 1;
            let offset = ((bits & u64::from(u32::MAX)) * offsets) >> 32;
            (offset as u32, length)
        };
        Column::Spans {
            pool: self.pool.clone(),
            spans: (0..rows).map(span).collect(),
            is_text: self.is_text,
        }
    }
}

/// One of 62 letters and digits; the first few are a little likelier.
fn alphanumeric(byte: u8) -> u8 {
    const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    CHARACTERS[usize::from(byte) * CHARACTERS.len() / 256]
}

/// A text column that `write` appends to row by row.
fn written(rows: usize, mut write: impl FnMut(&mut String)) -> Column {
    let mut pool = String::with_capacity(rows * 24);
    let spans = (0..rows).map(|_| {
        let offset = u32::try_from(pool.len()).expect("words of one call take less than 4 GiB");
        write(&mut pool);
        (offset, pool.len() as u32 - offset)
    });
    Column::Spans {
        spans: spans.collect(),
        pool: pool.into_bytes().into(),
        is_text: true,
    }
}

fn constant(value: &Value, rows: usize) -> Column {
    let spans = |bytes: &[u8], is_text| Column::Spans {
        pool: bytes.into(),
        spans: vec![(0, bytes.len() as u32); rows],
        is_text,
    };
    match value {
        Value::Null => Column::Any(vec![Value::Null; rows]),
        Value::Integer(integer) => Column::Integers(vec![*integer; rows]),
        Value::Real(real) => Column::Reals(vec![*real; rows]),
        Value::Text(text) => spans(text.as_bytes(), true),
        Value::Blob(blob) => spans(blob, false),
    }
}

/// Which row of a column comes next.
#[derive(Clone, Debug)]
enum Picker {
    /// Each row `repeat` times, in order.
    Each {
        rows: u32,
        repeat: usize,
        row: u32,
        repeated: usize,
    },
    /// Any row.
    Any { rows: u32 },
    /// Any row not yet picked in this group: the first `picked` of `order` are.
    Distinct {
        order: Vec<u32>,
        group: usize,
        picked: usize,
    },
}

impl Picker {
    fn each(rows: u32, repeat: usize) -> Self {
        Picker::Each {
            rows,
            repeat,
            row: 0,
            repeated: 0,
        }
    }

    fn pick(rows: u32, distinct_within: Option<usize>) -> Result<Self, Error> {
        match distinct_within {
            None => Ok(Picker::Any { rows }),
            Some(0) => Err(unfillable(
                "distinct within 0 rows",
                "leave it out where rows may repeat",
            )),
            Some(group) if group > rows as usize => Err(unfillable(
                format!("{group} distinct rows of {rows}"),
                "ask for fewer, or bring more",
            )),
            Some(group) => Ok(Picker::Distinct {
                order: (0..rows).collect(),
                group,
                picked: 0,
            }),
        }
    }

    #[inline]
    fn next(&mut self, rng: &mut SplitMix64) -> u32 {
        match self {
            Picker::Each {
                rows,
                repeat,
                row,
                repeated,
            } => {
                if *repeated == *repeat {
                    *repeated = 0;
                    *row = if *row + 1 == *rows { 0 } else { *row + 1 };
                }
                *repeated += 1;
                *row
            }
            Picker::Any { rows } => rng.below(u64::from(*rows)) as u32,
            // A shuffle broken off after `group` swaps; any order is as good a start for the next.
            Picker::Distinct {
                order,
                group,
                picked,
            } => {
                *picked = if picked == group { 0 } else { *picked };
                let left = (order.len() - *picked) as u64;
                order.swap(*picked, *picked + rng.below(left) as usize);
                *picked += 1;
                order[*picked - 1]
            }
        }
    }
}

#[cfg(test)]
mod tests;
