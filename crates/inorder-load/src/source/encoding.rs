//! Text in other encodings than UTF-8, read as UTF-8.

use std::io::{self, BufRead, Read};

use encoding_rs::{DecoderResult, Encoding, UTF_16BE, UTF_16LE};

/// The bytes that are decoded at a time.
const STEP_BYTES: usize = 1 << 14;

/// The most bytes that one byte or one unit of UTF-16 takes in UTF-8, with room for a character that waits.
const GROWTH: usize = 4;

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEncoding {
    /// ISO 8859-1: each byte is the character of that number.
    Latin1,
    /// UTF-16 in the byte order that its mark tells, and little-endian without a mark.
    Utf16,
    /// An encoding of the WHATWG's list.
    Listed(&'static Encoding),
}

impl TextEncoding {
    /// The encoding of this name; `None` if it is unknown.
    pub(super) fn named(name: &str) -> Option<Self> {
        let is_latin1 = ["latin1", "latin-1", "iso-8859-1", "iso8859-1"]
            .iter()
            .any(|latin1| name.eq_ignore_ascii_case(latin1));
        match is_latin1 {
            true => Some(TextEncoding::Latin1),
            false if name.eq_ignore_ascii_case("utf-16") => Some(TextEncoding::Utf16),
            false => Encoding::for_label(name.as_bytes()).map(TextEncoding::Listed),
        }
    }

    /// The encoding that a byte order mark or the zero bytes of UTF-16 tell; `None` for UTF-8 and unknown ones.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if let Some((encoding, _)) = Encoding::for_bom(head) {
            return (encoding != encoding_rs::UTF_8).then_some(TextEncoding::Listed(encoding));
        }
        /// Enough pairs to tell text of UTF-16 from a binary format.
        const PAIRS: usize = 4;
        let pairs = head.as_chunks::<2>().0;
        if pairs.len() < PAIRS {
            return None;
        }
        let all = |is_ascii: fn(&[u8; 2]) -> bool| pairs.iter().take(PAIRS).all(is_ascii);
        if all(|pair| pair[1] == 0 && is_printable(pair[0])) {
            Some(TextEncoding::Listed(UTF_16LE))
        } else if all(|pair| pair[0] == 0 && is_printable(pair[1])) {
            Some(TextEncoding::Listed(UTF_16BE))
        } else {
            None
        }
    }

    /// This encoding, with the byte order that the first bytes tell.
    ///
    /// # Errors
    /// If they are the byte order mark of another encoding.
    pub(super) fn for_text(self, head: &[u8]) -> io::Result<Self> {
        let Some((marked, _)) = Encoding::for_bom(head) else {
            return Ok(self);
        };
        match self {
            TextEncoding::Listed(own) if own == marked => Ok(self),
            TextEncoding::Utf16 if marked != encoding_rs::UTF_8 => Ok(TextEncoding::Listed(marked)),
            _ => Err(not_of(format!(
                "the text begins with the byte order mark of {}, and --encoding says {}; leave the flag out",
                marked.name(),
                self.name()
            ))),
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            TextEncoding::Latin1 => "ISO-8859-1",
            TextEncoding::Utf16 => "UTF-16",
            TextEncoding::Listed(encoding) => encoding.name(),
        }
    }

    /// A reader of the text as UTF-8, without a byte order mark.
    pub(super) fn reader(self, text: Box<dyn BufRead + Send>) -> impl Read + Send {
        Transcoder {
            text,
            decoder: match self {
                TextEncoding::Latin1 => Decoder::Latin1,
                TextEncoding::Utf16 => listed(UTF_16LE),
                TextEncoding::Listed(encoding) => listed(encoding),
            },
            name: self.name(),
            out: Vec::new(),
            taken: 0,
            bytes_read: 0,
            is_at_end: false,
        }
    }
}

/// The error of text in another encoding.
fn not_of(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn listed(encoding: &'static Encoding) -> Decoder {
    Decoder::Listed(Box::new(encoding.new_decoder_with_bom_removal()))
}

fn is_printable(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

enum Decoder {
    Latin1,
    Listed(Box<encoding_rs::Decoder>),
}

/// Reads text of one encoding as UTF-8.
struct Transcoder {
    text: Box<dyn BufRead + Send>,
    decoder: Decoder,
    name: &'static str,
    /// Decoded, and taken up to `taken`.
    out: Vec<u8>,
    taken: usize,
    bytes_read: u64,
    is_at_end: bool,
}

impl Transcoder {
    fn refill(&mut self) -> io::Result<()> {
        let input = self.text.fill_buf()?;
        let step = &input[..input.len().min(STEP_BYTES)];
        let is_last = step.is_empty();
        self.out.resize(step.len() * GROWTH + 16, 0);
        self.taken = 0;
        let (read, written) = match &mut self.decoder {
            Decoder::Latin1 => {
                let written = encoding_rs::mem::convert_latin1_to_utf8(step, &mut self.out);
                (step.len(), written)
            }
            Decoder::Listed(decoder) => {
                let (result, read, written) =
                    decoder.decode_to_utf8_without_replacement(step, &mut self.out, is_last);
                if let DecoderResult::Malformed(..) = result {
                    let at = self.bytes_read + read as u64;
                    let name = self.name;
                    return Err(not_of(format!(
                        "the bytes before byte {at} are not {name} (--encoding names another encoding)"
                    )));
                }
                (read, written)
            }
        };
        self.text.consume(read);
        self.bytes_read += read as u64;
        self.out.truncate(written);
        self.is_at_end = is_last;
        Ok(())
    }
}

impl Read for Transcoder {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.out.len() && !self.is_at_end {
            self.refill()?;
        }
        let ready = &self.out[self.taken..];
        let bytes = ready.len().min(into.len());
        into[..bytes].copy_from_slice(&ready[..bytes]);
        self.taken += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use proptest::prelude::*;

    use super::*;

    fn read(encoding: &str, bytes: &[u8], buffer_bytes: usize) -> io::Result<String> {
        let input = BufReader::with_capacity(buffer_bytes, Cursor::new(bytes.to_vec()));
        let mut text = String::new();
        let encoding = TextEncoding::named(encoding).expect("an encoding");
        encoding.reader(Box::new(input)).read_to_string(&mut text)?;
        Ok(text)
    }

    fn utf16(text: &str, is_big: bool, has_mark: bool) -> Vec<u8> {
        let mark = has_mark.then_some(0xfeff);
        let units = mark.into_iter().chain(text.encode_utf16());
        units
            .flat_map(|unit| match is_big {
                true => unit.to_be_bytes(),
                false => unit.to_le_bytes(),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn any_text_of_utf_16_is_read(text in "[a-zé€\u{1f600}\\n]{0,200}", is_big: bool, has_mark: bool, buffer in 1usize..9) {
            let bytes = utf16(&text, is_big, has_mark);
            let name = if is_big { "utf-16be" } else { "utf-16le" };
            prop_assert_eq!(read(name, &bytes, buffer).expect("text"), text);
        }

        #[test]
        fn every_byte_is_a_character_of_latin_1(bytes in prop::collection::vec(any::<u8>(), 0..200), buffer in 1usize..9) {
            let expected: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            prop_assert_eq!(read("latin1", &bytes, buffer).expect("text"), expected);
        }
    }

    #[test]
    fn marks_and_zero_bytes_tell_utf_16() {
        for (is_big, encoding) in [(false, UTF_16LE), (true, UTF_16BE)] {
            for has_mark in [false, true] {
                let bytes = utf16("id,name\n", is_big, has_mark);
                let found = TextEncoding::of(&bytes);
                assert_eq!(found, Some(TextEncoding::Listed(encoding)));
            }
        }
        let others: [&[u8]; 4] = [
            b"",
            b"id,name\n",
            b"\xef\xbb\xbfid,name",
            b"SQLite format 3\0",
        ];
        for bytes in others {
            assert_eq!(TextEncoding::of(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_euro_sign_tells_windows_1252_from_latin_1() {
        assert_eq!(read("windows-1252", b"\x80\xe9", 8).expect("text"), "€é");
        assert_eq!(read("latin1", b"\x80\xe9", 8).expect("text"), "\u{80}é");
        let error = read("utf-8", b"a\xffb", 8).expect_err("not UTF-8");
        assert!(
            error.to_string().contains("before byte 2 are not UTF-8"),
            "{error}"
        );
    }
}
