//! One value of a JSON text that arrives in pieces.

use super::Error;

/// The member of a document with its attachments, and those of an attachment that matter here.
const ATTACHMENTS: &[u8] = b"_attachments";
const DATA: &[u8] = b"data";
const CONTENT_TYPE: &[u8] = b"content_type";

/// The level of an attachment's members in a document.
const ATTACHMENT_DEPTH: usize = 3;

/// Takes one value out of a JSON text that arrives in pieces, without the white space between its tokens.
///
/// The data of a document's attachments is handed out and not kept: the text that is kept has the number of the data instead, as a
/// string. The value is not checked: it ends where its brackets end, and [`Reader`](super::Reader) reads it then.
#[derive(Debug, Default)]
pub struct Capture {
    text: Vec<u8>,
    state: State,
    depth: usize,
    /// The outer levels.
    levels: [Level; ATTACHMENT_DEPTH],
    is_document: bool,
    /// Whether white space came after the last byte that was kept.
    is_spaced: bool,
    received_bytes: usize,
    /// The position of the string that is being kept.
    string_start: usize,
    in_attachments: bool,
    field: Field,
    content_type: Option<String>,
    /// The media types of the attachments whose data was handed out, as far as they are known.
    content_types: Vec<Option<String>>,
    /// The number of data of the attachments before the current one.
    data_before: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    String,
    Escape,
    Data,
    DataEscape,
    DataUnicode {
        digits: u8,
        value: u32,
    },
    Done,
}

#[derive(Debug, Default, Clone, Copy)]
struct Level {
    is_object: bool,
    expects_name: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Field {
    Data,
    ContentType,
    #[default]
    Other,
}

/// A step through the text.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// All bytes were taken, and the value is not complete.
    More,
    /// The value is complete. A number or a word is it only before the next byte.
    Done,
    /// The data of an attachment begins.
    DataStart,
    /// Characters of the data.
    Data(&'a [u8]),
    /// A character of the data that was escaped; one that is not ASCII is 255.
    Escaped(u8),
    /// The data ends.
    DataEnd,
}

impl Capture {
    /// Takes a value as it is.
    pub fn of_value() -> Self {
        Capture::default()
    }

    /// Takes a document, and hands out the data of its attachments.
    pub fn of_document() -> Self {
        Capture {
            is_document: true,
            ..Capture::default()
        }
    }

    /// The size of the value as it came so far, in bytes, without handed out data.
    pub fn received_bytes(&self) -> usize {
        self.received_bytes
    }

    /// The media type of the attachment whose data begins, if it came before the data.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// The text that was kept, and the media types of the attachments whose data was handed out.
    ///
    /// # Errors
    /// If the text is not UTF-8.
    pub fn finish(self) -> Result<(String, Vec<Option<String>>), Error> {
        let text = String::from_utf8(self.text).map_err(|error| Error::Syntax {
            what: "the text is not UTF-8",
            at: error.utf8_error().valid_up_to(),
        })?;
        Ok((text, self.content_types))
    }

    /// Takes bytes from the start of `input`, up to the next step.
    ///
    /// # Errors
    /// If the data of an attachment is no JSON string.
    pub fn step<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Error> {
        while !input.is_empty() {
            match self.state {
                State::Done => return Ok(Step::Done),
                State::Between => {
                    if let Some(step) = self.between(input) {
                        return Ok(step);
                    }
                }
                State::String => self.string(input),
                State::Escape => {
                    self.keep(input, 1);
                    self.state = State::String;
                }
                State::Data | State::DataEscape | State::DataUnicode { .. } => {
                    if let Some(step) = self.data(input)? {
                        return Ok(step);
                    }
                }
            }
        }
        Ok(match self.state {
            State::Done => Step::Done,
            _ => Step::More,
        })
    }

    /// Takes bytes outside of strings.
    fn between<'a>(&mut self, input: &mut &'a [u8]) -> Option<Step<'a>> {
        while let [byte, rest @ ..] = *input {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {
                    self.is_spaced = true;
                    self.received_bytes += 1;
                    *input = rest;
                    continue;
                }
                b'"' => {
                    if self.is_data() {
                        *input = rest;
                        self.state = State::Data;
                        return Some(Step::DataStart);
                    }
                    self.string_start = self.text.len();
                    self.state = State::String;
                }
                b'{' | b'[' => self.open(*byte == b'{'),
                b'}' | b']' | b',' if self.depth == 0 => {
                    self.state = State::Done;
                    return Some(Step::Done);
                }
                b'}' | b']' => self.close(),
                b',' => self.expect_name(true),
                b':' => self.expect_name(false),
                _ => {
                    // `1 2` must not become `12`.
                    let after_word = self.text.last().is_some_and(|last| is_of_word(*last));
                    if self.is_spaced && after_word {
                        self.text.push(b' ');
                    }
                }
            }
            self.is_spaced = false;
            self.keep(input, 1);
            match self.state {
                State::Between => {}
                State::Done => return Some(Step::Done),
                _ => return None,
            }
        }
        None
    }

    fn keep(&mut self, input: &mut &[u8], bytes: usize) {
        let (kept, rest) = input.split_at(bytes);
        self.text.extend_from_slice(kept);
        self.received_bytes += bytes;
        *input = rest;
    }

    fn open(&mut self, is_object: bool) {
        self.depth += 1;
        if let Some(level) = self.levels.get_mut(self.depth - 1) {
            *level = Level {
                is_object,
                expects_name: is_object,
            };
        }
        if self.depth == ATTACHMENT_DEPTH {
            self.field = Field::Other;
            self.content_type = None;
            self.data_before = self.content_types.len();
        }
    }

    fn close(&mut self) {
        if self.depth == ATTACHMENT_DEPTH {
            // It may have come after the data.
            for content_type in &mut self.content_types[self.data_before..] {
                content_type.clone_from(&self.content_type);
            }
        }
        self.depth -= 1;
        if self.depth == 0 {
            self.state = State::Done;
        }
    }

    fn level(&mut self) -> Option<&mut Level> {
        let depth = self.depth.checked_sub(1)?;
        self.levels.get_mut(depth).filter(|level| level.is_object)
    }

    fn expect_name(&mut self, expects_name: bool) {
        if let Some(level) = self.level() {
            level.expects_name = expects_name;
        }
    }

    /// Whether the string that begins is the data of an attachment.
    fn is_data(&self) -> bool {
        self.is_document
            && self.depth == ATTACHMENT_DEPTH
            && self.in_attachments
            && self.field == Field::Data
            && self.levels[1..]
                .iter()
                .all(|level| level.is_object && !level.expects_name)
    }

    /// Takes bytes of a string.
    fn string(&mut self, input: &mut &[u8]) {
        let Some(at) = memchr::memchr2(b'"', b'\\', input) else {
            self.keep(input, input.len());
            return;
        };
        let is_end = input[at] == b'"';
        self.keep(input, at + 1);
        if !is_end {
            self.state = State::Escape;
            return;
        }
        self.state = State::Between;
        if self.depth == 0 {
            self.state = State::Done;
        } else if self.is_document && self.depth <= ATTACHMENT_DEPTH {
            self.string_ended();
        }
    }

    /// Looks at a whole string of one of the outer levels.
    fn string_ended(&mut self) {
        let depth = self.depth;
        let expects_name = match self.level() {
            Some(level) => level.expects_name,
            None => return,
        };
        let is_field = depth == ATTACHMENT_DEPTH && self.in_attachments;
        match (expects_name, depth) {
            (true, 1) => self.in_attachments = self.is_string(ATTACHMENTS),
            (true, ATTACHMENT_DEPTH) if is_field => {
                self.field = if self.is_string(DATA) {
                    Field::Data
                } else if self.is_string(CONTENT_TYPE) {
                    Field::ContentType
                } else {
                    Field::Other
                };
            }
            (false, ATTACHMENT_DEPTH) if is_field && self.field == Field::ContentType => {
                self.content_type = serde_json::from_slice(&self.text[self.string_start..]).ok();
            }
            _ => {}
        }
    }

    /// Whether the string that ended is this one.
    fn is_string(&self, expected: &[u8]) -> bool {
        let quoted = &self.text[self.string_start..];
        if memchr::memchr(b'\\', quoted).is_none() {
            return &quoted[1..quoted.len() - 1] == expected;
        }
        let decoded = serde_json::from_slice::<String>(quoted);
        decoded.is_ok_and(|text| text.as_bytes() == expected)
    }

    /// Takes bytes of an attachment's data.
    fn data<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Step<'a>>, Error> {
        let whole = *input;
        let byte = whole[0];
        *input = &whole[1..];
        match self.state {
            State::DataEscape => {
                self.state = State::Data;
                let escaped = match byte {
                    b'"' | b'\\' | b'/' => byte,
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'u' => {
                        let (digits, value) = (0, 0);
                        self.state = State::DataUnicode { digits, value };
                        return Ok(None);
                    }
                    _ => return Err(self.error("an escape is wrong")),
                };
                Ok(Some(Step::Escaped(escaped)))
            }
            State::DataUnicode { digits, value } => {
                let digit = char::from(byte).to_digit(16);
                let digit = digit.ok_or_else(|| self.error("an escape is wrong"))?;
                let (digits, value) = (digits + 1, value << 4 | digit);
                self.state = State::DataUnicode { digits, value };
                if digits < 4 {
                    return Ok(None);
                }
                self.state = State::Data;
                let ascii = u8::try_from(value).ok().filter(u8::is_ascii);
                Ok(Some(Step::Escaped(ascii.unwrap_or(u8::MAX))))
            }
            _ if byte == b'"' => {
                let number = self.content_types.len();
                self.text
                    .extend_from_slice(format!("\"{number}\"").as_bytes());
                self.content_types.push(None);
                self.state = State::Between;
                Ok(Some(Step::DataEnd))
            }
            _ if byte == b'\\' => {
                self.state = State::DataEscape;
                Ok(None)
            }
            _ => {
                let end = memchr::memchr2(b'"', b'\\', whole).unwrap_or(whole.len());
                let (data, rest) = whole.split_at(end);
                if data.iter().any(|byte| *byte < b' ') {
                    return Err(self.error("a control character in a string"));
                }
                *input = rest;
                Ok(Some(Step::Data(data)))
            }
        }
    }

    fn error(&self, what: &'static str) -> Error {
        let at = self.received_bytes;
        Error::Syntax { what, at }
    }
}

/// Whether a byte is of a number or a word.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A captured value: its text, the data, the media types, and what follows.
    type Captured = (String, Vec<Vec<u8>>, Vec<Option<String>>, usize);

    fn capture(mut capture: Capture, text: &[u8], piece_bytes: usize) -> Option<Captured> {
        let (mut data, mut taken) = (Vec::new(), 0);
        for piece in text.chunks(piece_bytes) {
            let mut rest = piece;
            loop {
                match capture.step(&mut rest).unwrap() {
                    Step::More => break,
                    Step::DataStart => data.push(Vec::new()),
                    Step::Data(bytes) => data.last_mut().unwrap().extend_from_slice(bytes),
                    Step::Escaped(byte) => data.last_mut().unwrap().push(byte),
                    Step::DataEnd => {}
                    Step::Done => {
                        taken += piece.len() - rest.len();
                        let (text, types) = capture.finish().unwrap();
                        return Some((text, data, types, taken));
                    }
                }
            }
            taken += piece.len();
        }
        None
    }

    #[test]
    fn data_of_attachments_is_handed_out_and_nothing_else() {
        let text = r#" { "data":"a", "_attachments" : {"data":{"data":"YQ==", "content_type":"te\u0078t/plain"},
            "b":{"content_type":"image/png","d\u0061ta":"Y\/\u003d\n", "x":{"data":"no"}},
            "c":{"data":1}, "d":["data","no"]}, "x":{"y":{"data":"no"}}, "_attachment\u0073":{"e":{"data":""}}},"rest""#;
        let expected = r#"{"data":"a","_attachments":{"data":{"data":"0","content_type":"te\u0078t/plain"},"b":{"content_type":"image/png","d\u0061ta":"1","x":{"data":"no"}},"c":{"data":1},"d":["data","no"]},"x":{"y":{"data":"no"}},"_attachment\u0073":{"e":{"data":"2"}}}"#;
        for piece_bytes in 1..text.len() {
            let (kept, data, types, taken) =
                capture(Capture::of_document(), text.as_bytes(), piece_bytes).unwrap();
            assert_eq!(kept, expected);
            assert_eq!(data, [&b"YQ=="[..], b"Y/=\n", b""]);
            let types: Vec<_> = types.iter().map(Option::as_deref).collect();
            assert_eq!(types, [Some("text/plain"), Some("image/png"), None]);
            assert_eq!(&text[taken..], ",\"rest\"");
        }
        let (kept, data, ..) = capture(Capture::of_value(), text.as_bytes(), 7).unwrap();
        assert!(data.is_empty() && kept.contains("YQ=="));
    }

    #[test]
    fn words_are_not_joined_and_scalars_end_before_the_next_byte() {
        for (text, kept, rest) in [
            ("1 2,", "1 2", ","),
            ("tr ue]", "tr ue", "]"),
            ("[1 , 2\n3]x", "[1,2 3]", "x"),
            ("\"a, b\" ,", "\"a, b\"", " ,"),
            (" ,", "", ","),
        ] {
            let (found, .., taken) = capture(Capture::of_value(), text.as_bytes(), 1).unwrap();
            assert_eq!((found.as_str(), &text[taken..]), (kept, rest), "{text}");
        }
        assert_eq!(capture(Capture::of_value(), b"{\"a\":[1}", 3), None);
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            "-?[1-9][0-9]{0,3}(\\.[0-9])?",
            "\"(data|_attachments|a|\\\\\"|\\\\\\\\|[\\[\\]{},: ])\"",
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let name = "\"(data|_attachments|content_type|a|\\\\u0061)\"";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| format!("[{}]", items.join(" ,\n"))),
                prop::collection::vec((name, inner), 0..4).prop_map(|members| {
                    let member = |(name, value)| format!("{name} : {value}");
                    let members: Vec<String> = members.into_iter().map(member).collect();
                    format!("{{ {} }}", members.join(", "))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_stays_as_it_is_whatever_the_pieces(text in value(), piece_bytes in 1_usize..9) {
            let mut expected = String::new();
            // Without white space outside of strings, and with every member.
            let mut in_string = false;
            let mut is_escaped = false;
            for character in text.chars() {
                if in_string || !character.is_whitespace() {
                    expected.push(character);
                }
                if is_escaped {
                    is_escaped = false;
                } else if character == '\\' {
                    is_escaped = true;
                } else if character == '"' {
                    in_string = !in_string;
                }
            }
            let whole = format!("{text},");
            let (kept, .., taken) = capture(Capture::of_value(), whole.as_bytes(), piece_bytes).unwrap();
            prop_assert_eq!(kept, expected);
            prop_assert_eq!(taken, text.len());
        }
    }
}
