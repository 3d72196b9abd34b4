//! The encodings of text, and text of UTF-16 as SQLite turns it into UTF-8.

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

    /// The number in the header of a file.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            TextEncoding::Utf8 => 1,
            TextEncoding::Utf16Le => 2,
            TextEncoding::Utf16Be => 3,
        }
    }

    /// The encoding of this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|encoding| encoding.number() == number)
    }

    /// What `PRAGMA encoding` calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TextEncoding::Utf8 => "UTF-8",
            TextEncoding::Utf16Le => "UTF-16le",
            TextEncoding::Utf16Be => "UTF-16be",
        }
    }

    /// Appends a string to `out` in this encoding.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            TextEncoding::Utf8 => out.extend_from_slice(text.as_bytes()),
            TextEncoding::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            TextEncoding::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        }
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

/// SQLite pairs any surrogate with whatever unit comes next, and leaves the last one alone.
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

    proptest! {
        #[test]
        fn well_formed_text_comes_back(text: String) {
            for &encoding in TextEncoding::ALL {
                let mut bytes = Vec::new();
                encoding.encode(&text, &mut bytes);
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
