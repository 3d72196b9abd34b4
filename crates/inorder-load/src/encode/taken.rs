//! Records for a server: the engine converts the values of its columns.

use std::ops::Range;

use inorder_btree::{Value, record};
use inorder_engine::{Given, Taken};

use super::cells::recycled;
use super::{Decode, Encoder, REMEDY_FOR_DECODING, Refusal, Slot, ValueSource, excerpt, refusal};
use crate::source::Row;

const REMEDY_FOR_VALUE: &str = "correct it, or change the column's type";

impl Encoder {
    /// Encodes a row from the values that the columns of a server convert.
    pub(super) fn encode_taken(&mut self, row: &Row) -> Result<&[u8], Refusal> {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        self.taken.clear();
        for slot in &self.slots {
            let start = bytes.len();
            let taken = take(slot, row, &mut bytes)?;
            self.taken.push((taken, start..bytes.len()));
        }
        let mut values = recycled(std::mem::take(&mut self.values));
        let value = |(taken, range): &(Taken, Range<usize>)| match *taken {
            Taken::Null => Value::Null,
            Taken::Integer(integer) => Value::Integer(integer),
            Taken::Real(real) => Value::Real(real),
            Taken::Text => Value::Text(&bytes[range.clone()]),
            Taken::Blob => Value::Blob(&bytes[range.clone()]),
        };
        values.extend(self.taken.iter().map(value));
        self.record.clear();
        record::encode(&values, &mut self.record);
        self.values = recycled(values);
        self.scratch = bytes;
        Ok(&self.record)
    }
}

fn take(slot: &Slot, row: &Row, out: &mut Vec<u8>) -> Result<Taken, Refusal> {
    let ValueSource::Field(place) = slot.from else {
        unreachable!("a server's columns are given values by fields alone");
    };
    let given = row.given(place);
    if let (Some(decode), Given::Text(text) | Given::JsonString(text)) = (slot.decode, given) {
        let decoded = decoded(decode, text).ok_or_else(|| {
            let what = format!(
                "`{}` is not {}; the loader decodes this column",
                excerpt(text),
                decode.name()
            );
            refusal(&slot.name, what, REMEDY_FOR_DECODING)
        })?;
        return slot.take(Given::Blob(&decoded), out);
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
        let intake = self.intake.as_ref().expect("a slot of a server's column");
        intake
            .take(given, out)
            .map_err(|what| refusal(&self.name, what, REMEDY_FOR_VALUE))
    }
}
