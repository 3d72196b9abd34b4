//! Encodes rows, as their files have them, to records, as SQLite stores them.

mod affinity;
mod cells;
mod decode;
mod form;
mod maker;
mod misfits;
mod oracle;
mod rowids;
mod taken;

use std::sync::Arc;

use inorder_btree::{TextEncoding, Value, record};
use inorder_engine::Intake;

use crate::note::Note;
use crate::source::{Raw, Row};
use affinity::number;
use cells::Carver;
use misfits::Misfits;

pub(crate) use form::{Form, is_exact, plain_digits};
pub(crate) use oracle::Oracle;

pub use affinity::Affinity;
pub use decode::Decode;
pub use maker::Maker;
pub use rowids::Rowids;

/// The source of a value of a record.
pub enum ValueSource {
    /// The field at this place of the row.
    Field(usize),
    /// The field at this place of the row, or the column's default if the row doesn't name it.
    FieldOrDefault(usize),
    /// The default of the column.
    Default,
    /// A generator of ids.
    Made(Box<Maker>),
}

/// One value of a record.
pub struct Slot {
    /// The column's name, for messages.
    pub name: String,
    /// The source of the value.
    pub from: ValueSource,
    /// The default of the column, the same in each row.
    pub default: rusqlite::types::Value,
    /// The decoding of text to bytes, if any.
    pub decode: Option<Decode>,
    /// Whether the first rows decided the decoding, and not the job.
    pub is_decode_derived: bool,
    /// Whether text in a BLOB column is told: the first rows have none, or all of it may be bytes in writing.
    pub is_form_unknown: bool,
    /// The rules by which the column converts and refuses values.
    pub rules: Rules,
    /// The conversion for a server's column, in place of the rules. Either all slots of an encoder have one, or none.
    pub intake: Option<Arc<dyn Intake>>,
}

impl Slot {
    /// Whether a text is stored as it is, whatever it says.
    fn takes_text(&self, encoding: TextEncoding) -> bool {
        let rules = self.rules;
        encoding == TextEncoding::Utf8
            && rules.affinity == Affinity::Text
            && !rules.is_undecided
            && rules
                .strict
                .is_none_or(|strict| strict.takes(&Value::Text(b"")))
            && self.decode.is_none()
            && !self.is_form_unknown
    }
}

/// The rules by which a column converts and refuses values.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The affinity.
    pub affinity: Affinity,
    /// Whether NULL is refused.
    pub is_not_null: bool,
    /// The type in a STRICT table; `None` if any is allowed.
    pub strict: Option<Strict>,
    /// Whether the type was guessed from the first rows. Then a value that it would change is refused.
    pub is_guessed: bool,
    /// Whether the load gives the column its type, from the first rows or from all. The sign of a zero gets lost, and is told.
    pub is_derived: bool,
    /// Whether the first rows had no value. Then any value is refused, because it decides the type.
    pub is_undecided: bool,
}

/// A type of a STRICT table. Source: <https://www.sqlite.org/stricttables.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// INT and INTEGER.
    Integer,
    /// REAL.
    Real,
    /// TEXT.
    Text,
    /// BLOB.
    Blob,
}

impl Strict {
    /// Returns the type of this name; `None` for ANY.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "INT" | "INTEGER" => Some(Strict::Integer),
            "REAL" => Some(Strict::Real),
            "TEXT" => Some(Strict::Text),
            "BLOB" => Some(Strict::Blob),
            _ => None,
        }
    }

    fn takes(self, value: &Value<'_>) -> bool {
        matches!(
            (self, value),
            (_, Value::Null)
                | (Strict::Integer | Strict::Real, Value::Integer(_))
                | (Strict::Real, Value::Real(_))
                | (Strict::Text, Value::Text(_))
                | (Strict::Blob, Value::Blob(_))
        )
    }
}

impl Rules {
    #[inline]
    fn check(
        self,
        name: &str,
        raw: Raw<'_>,
        value: &Value<'_>,
        oracle: &Oracle,
    ) -> Result<(), Refusal> {
        if self.is_guessed && !is_kept_whole(raw, self.affinity, oracle) {
            let what = format!(
                "{} would be changed by the type chosen from the first rows",
                shown(raw)
            );
            return Err(refusal(name, what, REMEDY_FOR_GUESS));
        }
        if self.is_undecided && *value != Value::Null {
            let what = format!("{} is the first value of the column", shown(raw));
            return Err(refusal(name, what, REMEDY_FOR_GUESS));
        }
        if self.is_not_null && *value == Value::Null {
            let what = "the value is missing, and the column is NOT NULL".to_owned();
            return Err(refusal(name, what, REMEDY_FOR_NULL));
        }
        match self.strict {
            Some(strict) if !strict.takes(value) => {
                let what = format!("{} doesn't fit the column's type", kind(value));
                Err(refusal(name, what, REMEDY_FOR_TYPE))
            }
            _ => Ok(()),
        }
    }
}

const REMEDY_FOR_DECODING: &str = "correct it, or set the column's encoding (--decode)";
pub(crate) const REMEDY_FOR_GUESS: &str = "set the column's type, such as --type COLUMN=TEXT";
const REMEDY_FOR_NULL: &str = "supply one, or load empty fields as text (--empty-text)";
const REMEDY_FOR_TYPE: &str =
    "correct it; a rowid and the columns of a STRICT table accept no other type";

const REMEDY_FOR_ROWIDS: &str = "supply a smaller one that is free";

#[cold]
fn rowids_spent(column: &str) -> Refusal {
    let what = format!("the rowid is missing, and none is left above {}", i64::MAX);
    refusal(column, what, REMEDY_FOR_ROWIDS)
}

#[cold]
fn refusal(column: &str, what: String, remedy: &'static str) -> Refusal {
    Refusal {
        column: column.to_owned(),
        what,
        remedy,
    }
}

/// The reason why a row can't be stored.
#[derive(Debug, PartialEq)]
pub struct Refusal {
    /// The column.
    pub column: String,
    /// The fault of its value.
    pub what: String,
    /// The remedy.
    pub remedy: &'static str,
}

/// The rowid alias among the values of a record.
#[derive(Debug)]
struct RowidSlot {
    place: usize,
    rowids: Rowids,
    /// The rowid of the last row, unless that was rejected.
    last: Option<i64>,
}

/// Encodes rows one after another, without an allocation per row.
pub struct Encoder {
    slots: Vec<Slot>,
    /// Of each slot.
    misfits: Vec<Misfits>,
    /// Of each slot, whether it stores any text as it is.
    takes_text: Vec<bool>,
    rowid: Option<RowidSlot>,
    block: u64,
    encoding: TextEncoding,
    /// The bytes of all defaults.
    default_bytes: usize,
    is_of_server: bool,
    oracle: Oracle,
    scratch: Vec<u8>,
    writer: record::Writer,
    record: Vec<u8>,
}

impl Encoder {
    /// Sets the source of each value of the following rows; `None` keeps the source.
    pub fn bind(&mut self, sources: Vec<Option<ValueSource>>) {
        for (slot, source) in self.slots.iter_mut().zip(sources) {
            if let Some(source) = source {
                slot.from = source;
            }
        }
    }

    /// Numbers rows without a rowid, whose alias is the value at this place.
    pub fn count_rowids(&mut self, place: usize, rowids: Rowids) {
        self.rowid = Some(RowidSlot {
            place,
            rowids,
            last: None,
        });
    }

    /// What is to be said about the values so far.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Note> {
        let slots = self.slots.iter().zip(&self.misfits);
        slots.flat_map(|(slot, misfits)| {
            let text = misfits.remark(&slot.name, slot.is_form_unknown);
            let decode = slot.decode.filter(|_| slot.is_decode_derived);
            text.into_iter()
                .chain(misfits.remark_about_nans(&slot.name))
                .chain(misfits.remark_about_zeros(&slot.name))
                .chain(decode.and_then(|decode| misfits.remark_about_bytes(&slot.name, decode)))
        })
    }

    /// Whether other encoders can encode rows between those of this one: no value depends on the row before.
    pub fn is_independent(&self) -> bool {
        let is_made = |slot: &Slot| matches!(slot.from, ValueSource::Made(_));
        self.rowid.is_none() && !self.slots.iter().any(is_made)
    }

    /// Begins a block of rows: remarks name the first row of the first block.
    pub fn begin_block(&mut self, number: u64) {
        self.block = number;
    }

    /// Takes what is to be said about the values of another encoder.
    pub fn take_remarks(&mut self, other: &mut Encoder) {
        for (own, other) in self.misfits.iter_mut().zip(&mut other.misfits) {
            own.merge(std::mem::take(other));
        }
    }

    /// Takes the last row back: it is not stored, and its rowid stays free.
    pub fn take_back(&mut self) {
        if let Some(rowid) = &mut self.rowid {
            rowid.last = None;
        }
    }

    /// An encoder of records with these values. Text is stored in this encoding.
    ///
    /// # Errors
    /// If SQLite can't be opened for its conversions.
    pub fn new(slots: Vec<Slot>, encoding: TextEncoding) -> rusqlite::Result<Self> {
        let default_bytes = slots.iter().map(|slot| match &slot.default {
            rusqlite::types::Value::Text(text) => text.len(),
            _ => 0,
        });
        Ok(Encoder {
            default_bytes: default_bytes.sum(),
            is_of_server: slots.iter().any(|slot| slot.intake.is_some()),
            misfits: slots.iter().map(|_| Misfits::default()).collect(),
            takes_text: slots.iter().map(|slot| slot.takes_text(encoding)).collect(),
            slots,
            rowid: None,
            block: 0,
            encoding,
            oracle: Oracle::new()?,
            scratch: Vec::new(),
            writer: record::Writer::default(),
            record: Vec::new(),
        })
    }

    /// Encodes a row.
    ///
    /// # Errors
    /// [`Refusal`] if a value can't be stored in its column.
    pub fn encode(&mut self, row: &Row) -> Result<&[u8], Refusal> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        let encoded = self.encode_to(row, &mut record);
        self.record = record;
        encoded.map(|()| &*self.record)
    }

    /// The most bytes of a row that [`Encoder::encode_to`] appends, most often.
    #[inline]
    pub fn bytes_max(&self, row: &Row) -> usize {
        // Text of UTF-16 takes up to twice its bytes, and what is made of a number is short.
        2 * (row.bytes_len() + self.default_bytes) + 80 * self.slots.len()
    }

    /// Appends the record of a row, or nothing if there is an error.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`].
    #[inline]
    pub fn encode_to(&mut self, row: &Row, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let start = out.len();
        let encoded = match self.is_of_server {
            true => self.encode_taken(row, out),
            false => self.encode_values(row, out),
        };
        if encoded.is_err() {
            out.truncate(start);
        }
        encoded
    }

    #[inline]
    fn encode_values(&mut self, row: &Row, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let bytes = self.bytes_max(row);
        let mut convert = Convert {
            carver: Carver::new(&mut self.scratch, bytes),
            encoding: self.encoding,
            oracle: &self.oracle,
        };
        if let Some(rowid) = &mut self.rowid
            && let Some(last) = rowid.last.take()
        {
            rowid.rowids.take(last);
        }
        self.writer.begin(out);
        for (place, (slot, misfits)) in self.slots.iter_mut().zip(&mut self.misfits).enumerate() {
            // Most of most files.
            if self.takes_text[place]
                && let ValueSource::Field(field) = slot.from
                && let Raw::Text(text) = row.field(field)
            {
                self.writer.push(&Value::Text(text), out);
                continue;
            }
            let mut decode = slot.decode;
            let raw = match &mut slot.from {
                ValueSource::Field(place) if slot.rules.affinity.is_numeric() => {
                    row.numeric_field(*place)
                }
                ValueSource::Field(place) => row.field(*place),
                ValueSource::Made(maker) => maker.next(),
                ValueSource::FieldOrDefault(place) if row.has(*place) => {
                    match slot.rules.affinity.is_numeric() {
                        true => row.numeric_field(*place),
                        false => row.field(*place),
                    }
                }
                ValueSource::FieldOrDefault(_) | ValueSource::Default => {
                    decode = None;
                    constant(&slot.default)
                }
            };
            let mut value = convert
                .value(raw, slot.rules.affinity, decode)
                .map_err(|what| refusal(&slot.name, what, REMEDY_FOR_DECODING))?;
            slot.rules.check(&slot.name, raw, &value, convert.oracle)?;
            let told = Told {
                is_text: slot.rules.affinity.is_numeric() || slot.is_form_unknown,
                is_decoded: slot.is_decode_derived,
                is_zero: slot.rules.is_derived && slot.rules.affinity.is_numeric(),
            };
            if told != Told::default() || matches!(raw, Raw::Real(_)) {
                note(misfits, told, raw, &value, (self.block, row.line()));
            }
            if let Some(rowid) = &mut self.rowid
                && rowid.place == place
            {
                value = rowid.value(value).ok_or_else(|| rowids_spent(&slot.name))?;
            }
            self.writer.push(&value, out);
        }
        self.writer.end(out);
        Ok(())
    }
}

/// What is told of the values of a column, NaN aside.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Told {
    /// Text.
    is_text: bool,
    /// Text that was decoded.
    is_decoded: bool,
    /// Zeros with a sign.
    is_zero: bool,
}

/// Counts a value that is to be told.
#[inline]
fn note(misfits: &mut Misfits, told: Told, raw: Raw<'_>, value: &Value<'_>, at: (u64, u64)) {
    let (block, line) = at;
    match (raw, value) {
        (Raw::Text(text), Value::Text(_)) if told.is_text => misfits.add(text, block, line),
        (Raw::Text(text), Value::Blob(_)) if told.is_decoded => {
            misfits.add_decoded(text, block, line);
        }
        // SQLite has no NaN.
        (Raw::Real(_), Value::Null) => misfits.add_nan(block, line),
        (Raw::Text(text) | Raw::Number(text), _) if told.is_zero => note_zero(misfits, text, at),
        _ => {}
    }
}

/// Counts a zero whose sign a number does not keep.
#[inline]
fn note_zero(misfits: &mut Misfits, text: &[u8], (block, line): (u64, u64)) {
    if let [b'-', digits @ ..] = text
        && digits.iter().all(|digit| matches!(digit, b'0' | b'.'))
    {
        misfits.add_zero(text, block, line);
    }
}

impl RowidSlot {
    /// The value with a rowid in place of NULL; `None` if there is none left.
    fn value<'v>(&mut self, value: Value<'v>) -> Option<Value<'v>> {
        let value = match value {
            Value::Null => Value::Integer(self.rowids.next()?),
            value => value,
        };
        if let Value::Integer(taken) = value {
            self.last = Some(taken);
        }
        Some(value)
    }
}

/// Whether a column of a guessed type stores a value without loss: it returns the same text, or an equal number.
// Most columns are of text, for which this is one comparison.
#[inline(always)]
fn is_kept_whole(raw: Raw<'_>, affinity: Affinity, oracle: &Oracle) -> bool {
    /// Integers up to this are exact as reals.
    const EXACT_MAX: u64 = 1 << 53;
    let is_real = |integer: i64| affinity != Affinity::Real || integer.unsigned_abs() <= EXACT_MAX;
    match (raw, affinity) {
        (Raw::Text(_), Affinity::Text) => true,
        (Raw::Text(text), Affinity::Integer | Affinity::Real | Affinity::Numeric) => {
            Form::of(text).is_some_and(|form| form.fits(affinity) && form.is_written(text, oracle))
        }
        (Raw::Number(_), Affinity::Text) => true,
        (Raw::Number(digits), _) => {
            let integer = std::str::from_utf8(digits).ok().map(str::parse);
            match integer {
                Some(Ok(integer)) => is_real(integer),
                _ => affinity != Affinity::Integer && is_exact(digits, oracle),
            }
        }
        (Raw::Integer(integer), _) => is_real(integer),
        (Raw::Real(_), Affinity::Integer) => false,
        (Raw::Real(real), Affinity::Text) => real.is_nan() || oracle.text(real).parse() == Ok(real),
        _ => true,
    }
}

fn shown(raw: Raw<'_>) -> String {
    match raw {
        Raw::Text(text) | Raw::Number(text) => format!("`{}`", excerpt(text)),
        Raw::Integer(integer) => integer.to_string(),
        Raw::Real(real) => real.to_string(),
        Raw::Blob(_) => "a blob".to_owned(),
        Raw::Missing | Raw::Null => "NULL".to_owned(),
    }
}

fn constant(value: &rusqlite::types::Value) -> Raw<'_> {
    use rusqlite::types::Value as Sql;
    match value {
        Sql::Null => Raw::Null,
        Sql::Integer(integer) => Raw::Integer(*integer),
        Sql::Real(real) => Raw::Real(*real),
        Sql::Text(text) => Raw::Text(text.as_bytes()),
        Sql::Blob(blob) => Raw::Blob(blob),
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Integer(_) => "an integer",
        Value::Real(_) => "a real",
        Value::Text(_) => "text",
        Value::Blob(_) => "a blob",
    }
}

/// Converts the values of one row.
struct Convert<'a, 'o> {
    carver: Carver<'a>,
    encoding: TextEncoding,
    oracle: &'o Oracle,
}

impl<'a> Convert<'a, '_> {
    /// Returns the value that a column of this affinity stores.
    fn value(
        &mut self,
        raw: Raw<'a>,
        affinity: Affinity,
        decode: Option<Decode>,
    ) -> Result<Value<'a>, String> {
        Ok(match (raw, affinity) {
            (Raw::Missing | Raw::Null, _) => Value::Null,
            (Raw::Blob(blob), _) => Value::Blob(blob),
            (Raw::Integer(integer), Affinity::Text) => self.text(integer.to_string().as_bytes()),
            (Raw::Integer(integer), Affinity::Real) => Value::in_real_column(integer as f64),
            (Raw::Integer(integer), _) => Value::Integer(integer),
            (Raw::Real(real), _) if real.is_nan() => Value::Null,
            (Raw::Real(real), Affinity::Text) => {
                let text = self.oracle.text(real);
                self.text(text.as_bytes())
            }
            (Raw::Real(real), _) => affinity::Number::Real(real).stored(affinity),
            (Raw::Number(digits), Affinity::Text) => self.text(digits),
            (Raw::Number(text), _)
            | (Raw::Text(text), Affinity::Numeric | Affinity::Integer | Affinity::Real) => {
                match number(text, self.encoding, self.oracle) {
                    Some(number) => number.stored(affinity),
                    None => self.text(text),
                }
            }
            (Raw::Text(text), _) => match decode {
                Some(decode) => self.bytes(text, decode)?,
                None => self.text(text),
            },
        })
    }

    fn bytes(&mut self, text: &[u8], decode: Decode) -> Result<Value<'a>, String> {
        match self.carver.carve(|out| decode.decode(text, out)) {
            Some(bytes) => Ok(Value::Blob(bytes)),
            None => Err(format!(
                "`{}` is not {}, unlike the column's first values",
                excerpt(text),
                decode.name()
            )),
        }
    }

    /// Converts text to the encoding of the database.
    fn text(&mut self, text: &[u8]) -> Value<'a> {
        let encoding = self.encoding;
        let carved = self.carver.carve(|out| Some(encoding.encode_to(text, out)));
        Value::Text(carved.unwrap_or_default())
    }
}

/// The beginning of a text, for messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const CHARS_MAX: usize = 40;
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
