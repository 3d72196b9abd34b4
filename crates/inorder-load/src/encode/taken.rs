//! Records for a server: the engine converts the values of its columns.

use inorder_btree::Value;
use inorder_engine::{Given, Taken};

use super::{
    Decode, Encoder, Misfits, Oracle, REMEDY_FOR_DECODING, REMEDY_FOR_GUESS, Refusal, Slot,
    ValueSource, excerpt, is_kept_whole, note_zero, refusal, shown,
};
use crate::source::{Raw, Row};

const OF_SERVER: &str = "a slot of a server's column";
const REMEDY_FOR_VALUE: &str = "correct it, or change the column's type";

impl Encoder {
    /// Encodes a row from the values that the columns of a server convert.
    pub(super) fn encode_taken(&mut self, row: &Row, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.writer.begin(out);
        for (slot, misfits) in self.slots.iter_mut().zip(&mut self.misfits) {
            self.scratch.clear();
            let bytes = &mut self.scratch;
            let at = (self.block, row.line());
            let value = match take(slot, row, &self.oracle, bytes, (misfits, at))? {
                Taken::Null => Value::Null,
                Taken::Integer(integer) => Value::Integer(integer),
                Taken::Real(real) => Value::Real(real),
                Taken::Text => Value::Text(bytes),
                Taken::Blob => Value::Blob(bytes),
            };
            self.writer.push(&value, out);
        }
        self.writer.end(out);
        Ok(())
    }
}

fn take(
    slot: &mut Slot,
    row: &Row,
    oracle: &Oracle,
    out: &mut Vec<u8>,
    (misfits, at): (&mut Misfits, (u64, u64)),
) -> Result<Taken, Refusal> {
    let place = match &mut slot.from {
        ValueSource::Field(place) => *place,
        ValueSource::Made(maker) => {
            let id = match maker.next() {
                Raw::Integer(integer) => Given::Integer(integer),
                Raw::Text(text) => Given::Text(text),
                Raw::Blob(blob) => Given::Blob(blob),
                _ => Given::Null,
            };
            let intake = slot.intake.as_ref().expect(OF_SERVER);
            let taken = intake.take(id, out);
            return taken.map_err(|what| refusal(&slot.name, what, REMEDY_FOR_VALUE));
        }
        ValueSource::FieldOrDefault(_) | ValueSource::Default => {
            unreachable!("a server has its own defaults")
        }
    };
    let number = row.number(place).filter(|_| slot.takes_numbers());
    let (given, raw) = match number {
        Some(number) => (Given::Number(number), Raw::Number(number)),
        None => (row.given(place), row.field(place)),
    };
    slot.check_guess(raw, oracle)?;
    if let (Some(decode), Given::Text(text) | Given::JsonString(text)) = (slot.decode, given) {
        let decoded = decoded(decode, text).ok_or_else(|| {
            let what = format!(
                "`{}` is not {}; the loader decodes this column",
                excerpt(text),
                decode.name()
            );
            refusal(&slot.name, what, REMEDY_FOR_DECODING)
        })?;
        if slot.is_decode_derived {
            misfits.add_decoded(text, at.0, at.1);
        }
        return slot.take(Given::Blob(&decoded), out);
    }
    if slot.rules.is_derived
        && slot.takes_numbers()
        && let Raw::Text(text) | Raw::Number(text) = raw
    {
        note_zero(misfits, text, at);
    }
    slot.take(given, out)
}

fn decoded(decode: Decode, text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() + 16];
    let length = decode.decode(text, &mut bytes)?;
    bytes.truncate(length);
    Some(bytes)
}

impl Slot {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, Refusal> {
        let intake = self.intake.as_ref().expect(OF_SERVER);
        let remedy = match self.rules.is_guessed {
            true => REMEDY_FOR_GUESS,
            false => REMEDY_FOR_VALUE,
        };
        intake
            .take(given, out)
            .map_err(|what| refusal(&self.name, what, remedy))
    }

    /// Whether the server's column has a type of numbers.
    fn takes_numbers(&self) -> bool {
        let intake = self.intake.as_ref();
        intake.is_some_and(|intake| intake.is_numeric())
    }

    /// Refuses a value that the type chosen from the first rows would change.
    fn check_guess(&self, raw: Raw<'_>, oracle: &Oracle) -> Result<(), Refusal> {
        let is_given = !matches!(raw, Raw::Missing | Raw::Null);
        let is_changed = self.rules.is_guessed && !is_kept_whole(raw, self.rules.affinity, oracle);
        if is_changed || (self.rules.is_undecided && is_given) {
            let what = format!(
                "{} does not fit the type chosen from the first rows",
                shown(raw)
            );
            return Err(refusal(&self.name, what, REMEDY_FOR_GUESS));
        }
        Ok(())
    }
}
