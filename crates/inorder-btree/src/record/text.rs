//! The encodings of text, and the conversions between them as SQLite does them.

/// The encoding of all text in a database. Source: `PRAGMA encoding`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextEncoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

impl TextEncoding {
    /// Every encoding.
    pub const ALL: &[TextEncoding] = &[
        TextEncoding::Utf8,
        TextEncoding::Utf16Le,
        TextEncoding::Utf16Be,
    ];

    /// Returns the number in the header of a database file.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            TextEncoding::Utf8 => 1,
            TextEncoding::Utf16Le => 2,
            TextEncoding::Utf16Be => 3,
        }
    }

    /// Returns the encoding of this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|encoding| encoding.number() == number)
    }

    /// Returns the name of `PRAGMA encoding`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf8 => "UTF-8",
            TextEncoding::Utf16Le => "UTF-16le",
            TextEncoding::Utf16Be => "UTF-16be",
        }
    }

    /// Appends UTF-8 text to `out` in this encoding, as SQLite converts it.
    ///
    /// Malformed sequences and the noncharacters U+FFFE and U+FFFF become U+FFFD. The result has at most twice the bytes.
    ///
    /// Source: <https://www.sqlite.org/src/file?name=src/utf.c>, `READ_UTF8`.
    pub fn encode(self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            TextEncoding::Utf8 => out.extend_from_slice(text),
            TextEncoding::Utf16Le => encode_units(text, |unit| out.extend(unit.to_le_bytes())),
            TextEncoding::Utf16Be => encode_units(text, |unit| out.extend(unit.to_be_bytes())),
        }
    }

    /// Writes text to the beginning of `out`, which has at least twice its bytes, as [`encode`](TextEncoding::encode)
    /// does. Returns the bytes written.
    pub fn encode_to(self, text: &[u8], out: &mut [u8]) -> usize {
        let mut at = 0;
        let mut put = |unit: [u8; 2]| {
            out[at..at + 2].copy_from_slice(&unit);
            at += 2;
        };
        match self {
            TextEncoding::Utf8 => {
                out[..text.len()].copy_from_slice(text);
                return text.len();
            }
            TextEncoding::Utf16Le => encode_units(text, |unit| put(unit.to_le_bytes())),
            TextEncoding::Utf16Be => encode_units(text, |unit| put(unit.to_be_bytes())),
        }
        at
    }

    /// The bytes in UTF-8 of text in this encoding, well formed or not, one after another.
    pub(super) fn utf8(self, text: &[u8]) -> impl Iterator<Item = u8> {
        let (plain, units) = match self {
            TextEncoding::Utf8 => (text, &[][..]),
            _ => (&[][..], text),
        };
        let units = units.chunks_exact(2).map(move |unit| {
            let unit = [unit[0], unit[1]];
            match self {
                TextEncoding::Utf16Be => u16::from_be_bytes(unit),
                _ => u16::from_le_bytes(unit),
            }
        });
        plain.iter().copied().chain(utf8_of_units(units))
    }
}

/// Decodes UTF-8 text as SQLite does: a byte of a sequence that stands alone is a character,
/// and a sequence takes as many bytes of its kind as follow.
fn encode_units(text: &[u8], mut put: impl FnMut(u16)) {
    const REPLACEMENT: u32 = 0xfffd;
    let mut bytes = text.iter().copied().peekable();
    while let Some(first) = bytes.next() {
        let mut point = u32::from(first);
        if first >= 0xc0 {
            point = first_bits(first);
            while let Some(next) = bytes.next_if(|next| next & 0xc0 == 0x80) {
                point = point << 6 | u32::from(next & 0x3f);
            }
            if point < 0x80 || point & !0x7ff == 0xd800 || point & !1 == 0xfffe {
                point = REPLACEMENT;
            }
        }
        match u16::try_from(point) {
            Ok(unit) => put(unit),
            Err(_) => {
                let above = point.wrapping_sub(0x1_0000);
                put(0xd800 | (above >> 10 & 0x3ff) as u16);
                put(0xdc00 | (point & 0x3ff) as u16);
            }
        }
    }
}

/// The bits of a point that the first byte of its sequence has: fewer the longer it is.
fn first_bits(first: u8) -> u32 {
    u32::from(match first {
        0xc0..0xe0 => first & 0x1f,
        0xe0..0xf0 => first & 0x0f,
        0xf0..0xf8 => first & 0x07,
        0xf8..0xfc => first & 0x03,
        0xfc..0xfe => first & 0x01,
        _ => 0,
    })
}

/// SQLite pairs any surrogate with the next unit, and keeps the last one alone.
fn utf8_of_units(mut units: impl Iterator<Item = u16>) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let unit = u32::from(units.next()?);
        if !(0xd800..0xe000).contains(&unit) {
            return Some(utf8_of_point(unit));
        }
        let Some(next) = units.next() else {
            return Some(utf8_of_point(unit));
        };
        let high = ((unit & 0x3f) << 10) + (((unit & 0x3c0) + 0x40) << 10);
        Some(utf8_of_point((u32::from(next) & 0x3ff) + high))
    })
    .flat_map(|(bytes, len)| bytes.into_iter().take(len))
}

fn utf8_of_point(point: u32) -> ([u8; 4], usize) {
    let tail = |shift: u32| 0x80 | (point >> shift & 0x3f) as u8;
    match point {
        0..0x80 => ([point as u8, 0, 0, 0], 1),
        0x80..0x800 => ([0xc0 | (point >> 6) as u8, tail(0), 0, 0], 2),
        0x800..0x1_0000 => ([0xe0 | (point >> 12) as u8, tail(6), tail(0), 0], 3),
        _ => (
            [0xf0 | (point >> 18 & 7) as u8, tail(12), tail(6), tail(0)],
            4,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the bytes that SQLite stores for a text in a database of this encoding.
    fn stored(connection: &rusqlite::Connection, text: &[u8]) -> Vec<u8> {
        let mut insert = connection
            .prepare_cached("INSERT INTO t VALUES (?1)")
            .expect("a statement");
        let value = rusqlite::types::ValueRef::Text(text);
        insert
            .execute([rusqlite::types::ToSqlOutput::Borrowed(value)])
            .expect("a row");
        let mut read = connection
            .prepare_cached("DELETE FROM t RETURNING CAST(a AS BLOB)")
            .expect("a statement");
        read.query_row([], |row| row.get(0)).expect("a value")
    }

    fn databases() -> Vec<(TextEncoding, rusqlite::Connection)> {
        let database = |encoding: &TextEncoding| {
            let connection = rusqlite::Connection::open_in_memory().expect("SQLite");
            let make = format!(
                "PRAGMA encoding = '{}'; CREATE TABLE t(a TEXT)",
                encoding.name()
            );
            connection.execute_batch(&make).expect("a table");
            (*encoding, connection)
        };
        TextEncoding::ALL.iter().map(database).collect()
    }

    fn check(encoding: TextEncoding, connection: &rusqlite::Connection, text: &[u8]) {
        let mut bytes = Vec::new();
        encoding.encode(text, &mut bytes);
        assert!(
            bytes == stored(connection, text),
            "{encoding:?} {:x?}",
            &text[..text.len().min(64)]
        );
        let mut given = vec![0; 2 * text.len()];
        let len = encoding.encode_to(text, &mut given);
        assert!(given[..len] == bytes);
    }

    #[test]
    fn every_code_point_is_stored_as_sqlite_stores_it() {
        // Surrogates too, in the three bytes that they would have.
        let of = |point: u32| {
            let (bytes, len) = utf8_of_point(point);
            bytes[..len].to_vec()
        };
        for (encoding, connection) in databases() {
            for plane in 0..=0x10u32 {
                for block in 0..0x100 {
                    let points = (0..0x100).map(|low| plane << 16 | block << 8 | low);
                    let text: Vec<u8> = points.flat_map(of).collect();
                    check(encoding, &connection, &text);
                }
            }
            for point in [
                0, 0x7f, 0xd800, 0xdfff, 0xfffd, 0xfffe, 0xffff, 0x1_fffe, 0x10_ffff,
            ] {
                check(encoding, &connection, &of(point));
            }
        }
    }

    proptest! {
        #[test]
        fn text_that_is_not_well_formed_is_stored_as_sqlite_stores_it(
            text in proptest::collection::vec(
                prop_oneof![any::<u8>(), 0x80..0xc0u8, 0xc0..=0xffu8, Just(0)], 0..40
            )
        ) {
            for (encoding, connection) in databases() {
                check(encoding, &connection, &text);
            }
        }

        #[test]
        fn well_formed_text_comes_back(text: String) {
            let text = text.replace(['\u{fffe}', '\u{ffff}'], "");
            for &encoding in TextEncoding::ALL {
                let mut bytes = Vec::new();
                encoding.encode(text.as_bytes(), &mut bytes);
                prop_assert_eq!(encoding.utf8(&bytes).collect::<Vec<_>>(), text.as_bytes());
            }
        }
    }

    #[test]
    fn numbers_lead_back_to_their_encodings() {
        for &encoding in TextEncoding::ALL {
            assert_eq!(TextEncoding::from_number(encoding.number()), Some(encoding));
        }
        assert_eq!(TextEncoding::from_number(0), None);
    }
}
