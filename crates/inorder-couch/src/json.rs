//! JSON read in one pass, without a tree: numbers and strings stay as they were spelled.
//!
//! `serde_json` gives values; a document store needs the text. A body is kept as it came (so that `1.0` and a large
//! integer come back as they were), its revision's hash depends on whether a number was spelled as an integer, and its
//! members are taken out one by one.

use std::borrow::Cow;

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no JSON.
    #[error("invalid UTF-8 JSON: {what} at byte {at}")]
    Syntax {
        /// What is wrong.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// Arrays and objects are nested too deep.
    #[error("JSON is nested more than {max} levels deep")]
    TooDeep {
        /// The most that are accepted.
        max: usize,
    },
}

/// A string as it is spelled, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Between the quotes.
    pub raw: &'a str,
    has_escapes: bool,
}

impl<'a> Text<'a> {
    /// What it says.
    pub fn decode(self) -> Cow<'a, str> {
        if !self.has_escapes {
            return Cow::Borrowed(self.raw);
        }
        Cow::Owned(unescape(self.raw))
    }
}

/// A step through a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A member's name; its value follows.
    Key(Text<'a>),
    /// A string.
    String(Text<'a>),
    /// A number, as it is spelled.
    Number(&'a str),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Key,
    CommaOrEnd,
    Nothing,
}

/// Steps through a JSON text of one value, and checks it on the way.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    expected: Expected,
    /// Whether each open level is an object.
    open: Vec<bool>,
    depth_max: usize,
}

impl<'a> Reader<'a> {
    /// At the start of a text, which may nest so many levels.
    pub fn new(text: &'a str, depth_max: usize) -> Self {
        Reader {
            text,
            at: 0,
            expected: Expected::Value,
            open: Vec::new(),
            depth_max,
        }
    }

    /// How many levels are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next step; none at the end of the text.
    ///
    /// # Errors
    /// When the text is no JSON, or nested too deep.
    #[allow(clippy::should_implement_trait)] // A step may fail.
    pub fn next(&mut self) -> Result<Option<Token<'a>>, Error> {
        self.skip_space();
        if self.expected == Expected::CommaOrEnd {
            self.comma_or_end()?;
        }
        let Some(byte) = self.peek() else {
            return match self.expected {
                Expected::Nothing => Ok(None),
                _ => Err(self.error("the text ends too early")),
            };
        };
        match (self.expected, byte) {
            (Expected::Nothing, _) => Err(self.error("something follows the value")),
            (Expected::KeyOrEnd | Expected::Key, b'"') => {
                let key = self.string()?;
                self.skip_space();
                self.take(b':', "a colon is missing")?;
                self.expected = Expected::Value;
                Ok(Some(Token::Key(key)))
            }
            (Expected::KeyOrEnd | Expected::CommaOrEnd, b'}')
                if self.open.last() == Some(&true) =>
            {
                self.close(Token::ObjectEnd)
            }
            (Expected::ValueOrEnd | Expected::CommaOrEnd, b']')
                if self.open.last() == Some(&false) =>
            {
                self.close(Token::ArrayEnd)
            }
            (Expected::Value | Expected::ValueOrEnd, _) => self.value(byte).map(Some),
            _ => Err(self.error("a member's name, or an end, is missing")),
        }
    }

    /// The text of the value that is next, without stopping at its parts.
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn skip_value(&mut self) -> Result<&'a str, Error> {
        self.skip_space();
        let start = self.at;
        let depth = self.depth();
        loop {
            match self.next()? {
                None => return Err(self.error("a value is missing")),
                Some(Token::Key(_)) => {}
                Some(_) if self.depth() <= depth => return Ok(&self.text[start..self.at]),
                Some(_) => {}
            }
        }
    }

    /// Whether an item of the array that was entered is next; the end is not passed.
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn has_item(&mut self) -> Result<bool, Error> {
        self.skip_space();
        if self.peek() == Some(b']') {
            return Ok(false);
        }
        if self.expected == Expected::CommaOrEnd {
            self.comma_or_end()?;
        }
        Ok(true)
    }

    fn comma_or_end(&mut self) -> Result<(), Error> {
        match (self.peek(), self.open.last()) {
            (Some(b','), Some(is_object)) => {
                self.expected = if *is_object {
                    Expected::Key
                } else {
                    Expected::Value
                };
                self.at += 1;
                self.skip_space();
                Ok(())
            }
            (Some(b'}' | b']'), _) => Ok(()),
            _ => Err(self.error("a comma or an end is missing")),
        }
    }

    fn value(&mut self, byte: u8) -> Result<Token<'a>, Error> {
        let token = match byte {
            b'{' | b'[' => return self.open(byte == b'{'),
            b'"' => Token::String(self.string()?),
            b't' => self.word("true", Token::Bool(true))?,
            b'f' => self.word("false", Token::Bool(false))?,
            b'n' => self.word("null", Token::Null)?,
            b'-' | b'0'..=b'9' => Token::Number(self.number()?),
            _ => return Err(self.error("a value is missing")),
        };
        self.value_ended();
        Ok(token)
    }

    fn open(&mut self, is_object: bool) -> Result<Token<'a>, Error> {
        if self.open.len() >= self.depth_max {
            return Err(Error::TooDeep {
                max: self.depth_max,
            });
        }
        self.at += 1;
        self.open.push(is_object);
        let (token, expected) = if is_object {
            (Token::ObjectStart, Expected::KeyOrEnd)
        } else {
            (Token::ArrayStart, Expected::ValueOrEnd)
        };
        self.expected = expected;
        Ok(token)
    }

    fn close(&mut self, token: Token<'a>) -> Result<Option<Token<'a>>, Error> {
        self.at += 1;
        self.open.pop();
        self.value_ended();
        Ok(Some(token))
    }

    fn value_ended(&mut self) {
        self.expected = if self.open.is_empty() {
            Expected::Nothing
        } else {
            Expected::CommaOrEnd
        };
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, Error> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error("a value is missing"));
        }
        self.at += word.len();
        Ok(token)
    }

    fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("a digit is missing"));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Text<'a>, Error> {
        self.at += 1;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            match self.peek() {
                None => return Err(self.error("a string does not end")),
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..=0x1f) => return Err(self.error("a control character in a string")),
                Some(_) => self.at += 1,
            }
        }
        let raw = &self.text[start..self.at];
        self.at += 1;
        Ok(Text { raw, has_escapes })
    }

    fn escape(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                match self.hex()? {
                    0xd800..=0xdbff => {
                        self.take(b'\\', "half a character in a string")?;
                        self.take(b'u', "half a character in a string")?;
                        match self.hex()? {
                            0xdc00..=0xdfff => Ok(()),
                            _ => Err(self.error("half a character in a string")),
                        }
                    }
                    0xdc00..=0xdfff => Err(self.error("half a character in a string")),
                    _ => Ok(()),
                }
            }
            _ => Err(self.error("an unknown escape in a string")),
        }
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let value = digits.and_then(|digits| {
            digits.iter().try_fold(0, |value, byte| {
                char::from(*byte)
                    .to_digit(16)
                    .map(|digit| value << 4 | digit)
            })
        });
        let value = value.ok_or_else(|| self.error("four hexadecimal digits are missing"))?;
        self.at += 4;
        Ok(value)
    }

    fn take(&mut self, byte: u8, what: &'static str) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn error(&self, what: &'static str) -> Error {
        Error::Syntax { what, at: self.at }
    }
}

/// What a checked string with escapes says.
fn unescape(raw: &str) -> String {
    let quoted = format!("\"{raw}\"");
    serde_json::from_str(&quoted).unwrap_or_default()
}

/// Appends a string in quotes, escaped.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing into memory does not fail.
    let _ = serde_json::to_writer(out, text);
}

/// Writes a JSON text again without white space, and of members that are given twice keeps the last, where it stands.
#[derive(Debug, Default)]
pub struct Compactor {
    out: Vec<u8>,
    open: Vec<Level>,
    /// The members of all open objects.
    members: Vec<Member>,
}

#[derive(Debug)]
struct Level {
    /// How many members the objects around it have.
    members_before: usize,
    is_object: bool,
    is_empty: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Where its name's opening quote is.
    start: usize,
    /// Where its name ends.
    name_end: usize,
    has_escapes: bool,
}

impl Compactor {
    /// Adds a step.
    pub fn push(&mut self, token: Token<'_>) {
        match token {
            Token::ObjectStart => self.open(true),
            Token::ArrayStart => self.open(false),
            Token::ObjectEnd => {
                let level = self.open.pop();
                let members = self
                    .members
                    .split_off(level.map_or(0, |level| level.members_before));
                self.keep_last_of_each(&members);
                self.out.push(b'}');
            }
            Token::ArrayEnd => {
                self.open.pop();
                self.out.push(b']');
            }
            Token::Key(key) => {
                self.separate();
                let start = self.out.len() + 1;
                self.quoted(key.raw);
                self.members.push(Member {
                    start: start - 1,
                    name_end: self.out.len() - 1,
                    has_escapes: key.has_escapes,
                });
                self.out.push(b':');
            }
            Token::String(text) => {
                self.item();
                self.quoted(text.raw);
            }
            Token::Number(text) => self.word(text),
            Token::Bool(true) => self.word("true"),
            Token::Bool(false) => self.word("false"),
            Token::Null => self.word("null"),
        }
    }

    /// What was written.
    pub fn finish(self) -> String {
        // Only tokens of a text were written.
        String::from_utf8(self.out).unwrap_or_default()
    }

    fn open(&mut self, is_object: bool) {
        self.item();
        self.open.push(Level {
            members_before: self.members.len(),
            is_object,
            is_empty: true,
        });
        self.out.push(if is_object { b'{' } else { b'[' });
    }

    fn word(&mut self, text: &str) {
        self.item();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn quoted(&mut self, raw: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(raw.as_bytes());
        self.out.push(b'"');
    }

    /// Before an item of an array; a member's value follows its name.
    fn item(&mut self) {
        if self.open.last().is_some_and(|level| !level.is_object) {
            self.separate();
        }
    }

    fn separate(&mut self) {
        if let Some(level) = self.open.last_mut()
            && !std::mem::replace(&mut level.is_empty, false)
        {
            self.out.push(b',');
        }
    }

    fn keep_last_of_each(&mut self, members: &[Member]) {
        let is_last = {
            let names: Vec<_> = members.iter().map(|member| self.name(*member)).collect();
            match last_of_each(&names) {
                None => return,
                Some(is_last) => is_last,
            }
        };
        let Some(start) = members.first().map(|member| member.start) else {
            return;
        };
        let ends = members[1..].iter().map(|next| next.start - 1);
        let ends: Vec<_> = ends.chain([self.out.len()]).collect();
        let mut kept = Vec::new();
        for ((member, end), is_last) in members.iter().zip(ends).zip(is_last) {
            if is_last {
                if !kept.is_empty() {
                    kept.push(b',');
                }
                kept.extend_from_slice(&self.out[member.start..end]);
            }
        }
        self.out.truncate(start);
        self.out.extend(kept);
    }

    fn name(&self, member: Member) -> Cow<'_, str> {
        let raw = &self.out[member.start + 1..member.name_end];
        let raw = std::str::from_utf8(raw).unwrap_or_default();
        let has_escapes = member.has_escapes;
        Text { raw, has_escapes }.decode()
    }
}

/// For each name whether it is the last of its kind; none when all are different.
fn last_of_each(names: &[Cow<'_, str>]) -> Option<Vec<bool>> {
    /// So few are compared with each other faster than they are sorted.
    const FEW: usize = 12;
    if names.len() <= FEW {
        let is_last = |(index, name)| !names[index + 1..].contains(name);
        let is_last: Vec<bool> = names.iter().enumerate().map(is_last).collect();
        return is_last.contains(&false).then_some(is_last);
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|index| (&names[*index], *index));
    let mut is_last = vec![true; names.len()];
    for pair in order.windows(2) {
        is_last[pair[0]] = names[pair[0]] != names[pair[1]];
    }
    is_last.contains(&false).then_some(is_last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compact(text: &str) -> Result<String, Error> {
        let mut reader = Reader::new(text, 128);
        let mut compactor = Compactor::default();
        while let Some(token) = reader.next()? {
            compactor.push(token);
        }
        Ok(compactor.finish())
    }

    #[test]
    fn white_space_goes_and_spelling_stays() {
        let text =
            " { \"a\\u0062\" : [ 1.0 , 1e3,-0 ,\t12345678901234567890123 ] ,\r\n\"é\":{ } } ";
        let expected = r#"{"a\u0062":[1.0,1e3,-0,12345678901234567890123],"é":{}}"#;
        assert_eq!(compact(text).as_deref(), Ok(expected));
    }

    #[test]
    fn of_members_given_twice_the_last_stays_where_it_is() {
        let cases = [
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
            (r#"{"a":1,"\u0061":2}"#, r#"{"\u0061":2}"#),
            (r#"[{"a":{"b":1,"b":[2,3]}}]"#, r#"[{"a":{"b":[2,3]}}]"#),
            (r#"{"a":{"a":1},"c":0}"#, r#"{"a":{"a":1},"c":0}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(compact(text).as_deref(), Ok(expected));
        }
        let many: Vec<_> = (0..40).map(|n| format!("\"{}\":{n}", n % 20)).collect();
        let expected = format!("{{{}}}", many[20..].join(","));
        assert_eq!(compact(&format!("{{{}}}", many.join(","))), Ok(expected));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(compact(&nested(128)).is_ok());
        assert_eq!(compact(&nested(129)), Err(Error::TooDeep { max: 128 }));
        assert_eq!(
            compact(&"[".repeat(1_000_000)),
            Err(Error::TooDeep { max: 128 })
        );
    }

    /// Texts that are JSON, or nearly.
    fn nearly_json() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[\\[\\]{},: \"]",
            Just("\"a\"".to_owned()),
            Just("\"\\u00e9\"".to_owned()),
            Just("\"\\ud800\\udc00\"".to_owned()),
            "\"\\\\u?[d0-9a-g]{0,4}\"",
            "-?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?",
            "true|false|null|nul",
            "\\PC",
        ];
        proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_serde_json_reads_is_read_and_nothing_else(text in nearly_json()) {
            let expected = serde_json::from_str::<serde_json::Value>(&text);
            match compact(&text) {
                Ok(compacted) => {
                    // Out of range for a value, though well-formed.
                    if let Ok(expected) = expected {
                        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&compacted).unwrap(), expected);
                    } else {
                        prop_assert!(expected.unwrap_err().to_string().contains("out of range"));
                    }
                }
                Err(_) => prop_assert!(expected.is_err()),
            }
        }
    }
}
