//! Stepping through a JSON text.

use std::borrow::Cow;

/// The error of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is no JSON.
    #[error("{what} at byte {at}")]
    Syntax {
        /// The fault.
        what: &'static str,
        /// The position.
        at: usize,
    },
    /// Arrays and objects are nested too deep.
    #[error("JSON is nested more than {max} levels deep")]
    TooDeep {
        /// The most that are accepted.
        max: usize,
    },
}

/// The raw text of a string, without its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Between the quotes.
    pub raw: &'a str,
    pub(super) has_escapes: bool,
}

impl<'a> Text<'a> {
    /// The decoded text.
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
    /// The raw text of a number.
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

    /// The number of open levels.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next step; none at the end of the text.
    ///
    /// # Errors
    /// If the text is no JSON, or nested too deep.
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
    /// Those of [`Reader::next`].
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
    /// Those of [`Reader::next`].
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

/// Decodes a checked string with escapes.
fn unescape(raw: &str) -> String {
    let quoted = format!("\"{raw}\"");
    serde_json::from_str(&quoted).unwrap_or_default()
}
