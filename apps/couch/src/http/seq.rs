//! Sequences in the format for clients: a number and the id of the database.

use crate::json::write_integer;
use crate::store::{Database, Info};

/// The format of the sequences of a database.
///
/// `12-1f3a…`: the number, then the end of the database's id. A client that returns after the
/// database was deleted and created again starts from the beginning and misses nothing.
#[derive(Debug, Clone)]
pub struct SeqFormat {
    suffix: String,
}

/// The number of digits of the database's id, counted from its end.
const DIGITS: usize = 8;

impl SeqFormat {
    /// Creates the format of a database.
    pub fn new(db: &Database) -> Self {
        Self::of(db.uuid())
    }

    /// Creates the format of the database with this information.
    pub fn of_info(info: &Info) -> Self {
        Self::of(&info.uuid)
    }

    fn of(uuid: &str) -> Self {
        let digits = &uuid[uuid.len().saturating_sub(DIGITS)..];
        SeqFormat {
            suffix: format!("-{digits}"),
        }
    }

    /// Appends a sequence, in quotes.
    pub fn write(&self, out: &mut Vec<u8>, seq: u64) {
        out.push(b'"');
        write_integer(out, seq);
        out.extend_from_slice(self.suffix.as_bytes());
        out.push(b'"');
    }

    /// Returns a sequence as text, without quotes.
    pub fn text(&self, seq: u64) -> String {
        format!("{seq}{}", self.suffix)
    }

    /// Reads a sequence that a client brings back: what this database gave out, or a mere number. Another database's is 0.
    /// None when it is no sequence at all.
    pub fn parse(&self, text: &str) -> Option<u64> {
        let text = text.trim_matches('"');
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let number = number.parse().ok()?;
        match rest {
            "" => Some(number),
            rest if rest == self.suffix => Some(number),
            rest if rest.starts_with('-') => Some(0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_come_back_to_their_database_alone() {
        let (ours, theirs) = (SeqFormat::of("89abcdef01234567"), SeqFormat::of("fedc"));
        let mut out = Vec::new();
        ours.write(&mut out, 12);
        assert_eq!(out, b"\"12-01234567\"");
        assert_eq!(ours.parse("12-01234567"), Some(12));
        assert_eq!(ours.parse("\"12-01234567\""), Some(12));
        assert_eq!(ours.parse("12"), Some(12));
        assert_eq!(theirs.parse("12-01234567"), Some(0));
        for wrong in ["", "now", "-1", "x12", "12x", "99999999999999999999999"] {
            assert_eq!(ours.parse(wrong), None, "{wrong}");
        }
    }
}
