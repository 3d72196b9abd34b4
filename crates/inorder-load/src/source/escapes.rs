//! The characters that split text, and records in which they may be escaped.

use std::ops::Range;

use super::quoting::Broken;

/// The characters that split text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    pub(super) delimiter: u8,
    /// The byte that fields may stand between.
    pub(super) quote: Option<u8>,
    /// Lines that begin with this byte are no records.
    pub(super) comment: Option<u8>,
    /// Whether a blank line is a record of one empty field, and not left out.
    pub(super) keeps_blank_lines: bool,
    /// What an escape character means, if there is one.
    pub(super) escapes: Option<Escapes>,
}

impl Syntax {
    /// Whether a byte ends a line outside of quotes.
    #[inline]
    pub(super) fn is_line_end(&self, byte: u8) -> bool {
        match byte {
            b'\r' => !matches!(self.escapes, Some(Escapes::MySql { .. })),
            byte => byte == b'\n',
        }
    }

    /// Whether a text has a character other than delimiters and line ends that splits it, or that is not itself.
    #[inline]
    pub(super) fn is_marked(&self, text: &[u8]) -> bool {
        let escape = self.escapes.and_then(|escapes| escapes.outside(self.quote));
        match (self.quote, escape) {
            (Some(mark), None) | (None, Some(mark)) => memchr::memchr(mark, text).is_some(),
            (Some(quote), Some(escape)) => memchr::memchr2(quote, escape, text).is_some(),
            (None, None) => false,
        }
    }
}

/// Whether a byte is a line feed or a carriage return.
pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The line feeds of a text.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// What an escape character means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// In quotes, the quote or the escape character after it is text. Elsewhere it is a character as any other. Where there are no
    /// quotes, any character after it is text.
    Quotes(u8),
    /// As MySQL and MariaDB write (`SELECT … INTO OUTFILE`, `mysqldump --tab`): letters stand for control characters. A carriage
    /// return is text, unless lines end with CR LF and it is before the LF.
    MySql { escape: u8, has_returns: bool },
    /// As PostgreSQL's `COPY` writes text: letters, octal and hex digits stand for characters.
    PgText(u8),
}

impl Escapes {
    /// The character, where it means something outside of quotes.
    fn outside(self, quote: Option<u8>) -> Option<u8> {
        match self {
            Escapes::Quotes(escape) => quote.is_none().then_some(escape),
            Escapes::MySql { escape, .. } | Escapes::PgText(escape) => Some(escape),
        }
    }

    /// The character.
    fn character(self) -> u8 {
        let (Escapes::Quotes(escape) | Escapes::MySql { escape, .. } | Escapes::PgText(escape)) =
            self;
        escape
    }

    /// Appends the character that the bytes after the escape character stand for. Returns how many bytes that are.
    fn decode(self, rest: &[u8], quote: Option<u8>, out: &mut Vec<u8>) -> usize {
        let Some(&byte) = rest.first() else {
            out.push(self.character());
            return 0;
        };
        let control = match (self, byte) {
            (Escapes::Quotes(escape), _) if quote.is_some() => {
                if byte != escape && Some(byte) != quote {
                    out.push(escape);
                    return 0;
                }
                None
            }
            (Escapes::Quotes(_), _) => None,
            (Escapes::MySql { .. }, b'0') => Some(0),
            (Escapes::MySql { .. }, b'Z') => Some(0x1a),
            (_, b'b') => Some(0x08),
            (_, b'n') => Some(b'\n'),
            (_, b'r') => Some(b'\r'),
            (_, b't') => Some(b'\t'),
            (Escapes::PgText(_), b'f') => Some(0x0c),
            (Escapes::PgText(_), b'v') => Some(0x0b),
            (Escapes::PgText(_), b'0'..=b'7') => return number(rest, 3, 8, out),
            (Escapes::PgText(_), b'x') if rest.get(1).is_some_and(u8::is_ascii_hexdigit) => {
                return 1 + number(&rest[1..], 2, 16, out);
            }
            _ => None,
        };
        out.push(control.unwrap_or(byte));
        1
    }
}

/// Appends the byte that at most so many digits stand for. Returns how many there are.
fn number(rest: &[u8], most: usize, radix: u32, out: &mut Vec<u8>) -> usize {
    let digits = rest
        .iter()
        .take(most)
        .map_while(|byte| char::from(*byte).to_digit(radix));
    let digits: Vec<u32> = digits.collect();
    let value = digits.iter().fold(0, |value, digit| value * radix + digit);
    out.push((value & 0xff) as u8);
    digits.len()
}

/// A record that was split.
#[derive(Default)]
pub(super) struct Escaped {
    /// Where each field is in the record.
    pub(super) raw: Vec<Range<usize>>,
    /// Whether it is in quotes.
    pub(super) is_quoted: Vec<bool>,
    pub(super) broken: Option<Broken>,
}

/// Splits a record off the beginning of a text, and appends its fields to `out` with their ends. Returns the bytes up to the first
/// byte of its line end, that included; `None` if the text ends before, and `is_end` is false.
pub(super) fn split(
    text: &[u8],
    is_end: bool,
    syntax: &Syntax,
    escapes: Escapes,
    (out, ends): (&mut Vec<u8>, &mut Vec<usize>),
) -> Option<(usize, Escaped)> {
    out.clear();
    ends.clear();
    let mut escaped = Escaped::default();
    let mut at = 0;
    loop {
        let start = at;
        let is_quoted = syntax.quote.is_some() && text.get(at) == syntax.quote.as_ref();
        at = match is_quoted {
            true => quoted(text, at, is_end, syntax, escapes, out, &mut escaped)?,
            false => unquoted(text, at, is_end, syntax, escapes, out)?,
        };
        escaped.raw.push(start..at);
        escaped.is_quoted.push(is_quoted);
        ends.push(out.len());
        match text.get(at) {
            Some(byte) if *byte == syntax.delimiter => at += 1,
            Some(_) => return Some((at + 1, escaped)),
            None => return is_end.then_some((at, escaped)),
        }
    }
}

/// Whether the byte at this place ends a field outside of quotes.
fn ends_field(text: &[u8], at: usize, syntax: &Syntax) -> bool {
    match (text[at], syntax.escapes) {
        (b'\r', Some(Escapes::MySql { has_returns, .. })) => {
            has_returns && text.get(at + 1) == Some(&b'\n')
        }
        (byte, _) => byte == syntax.delimiter || matches!(byte, b'\r' | b'\n'),
    }
}

/// Returns the end of a field without quotes.
fn unquoted(
    text: &[u8],
    mut at: usize,
    is_end: bool,
    syntax: &Syntax,
    escapes: Escapes,
    out: &mut Vec<u8>,
) -> Option<usize> {
    let escape = escapes.outside(syntax.quote);
    while let Some(&byte) = text.get(at) {
        if Some(byte) == escape {
            // Enough for every escape.
            if text.len() - at < 5 && !is_end {
                return None;
            }
            at += 1 + escapes.decode(&text[at + 1..], None, out);
        } else if byte == b'\r' && at + 1 == text.len() && !is_end {
            return None;
        } else if ends_field(text, at, syntax) {
            return Some(at);
        } else {
            out.push(byte);
            at += 1;
        }
    }
    is_end.then_some(at)
}

/// Returns the end of a field in quotes. If it is broken, that is the end of the line or of the text.
fn quoted(
    text: &[u8],
    start: usize,
    is_end: bool,
    syntax: &Syntax,
    escapes: Escapes,
    out: &mut Vec<u8>,
    escaped: &mut Escaped,
) -> Option<usize> {
    let field = escaped.raw.len();
    let mut at = start + 1;
    loop {
        if text.len() - at.min(text.len()) < 5 && !is_end {
            return None;
        }
        let Some(&byte) = text.get(at) else {
            let what = "a quote is never closed";
            escaped.broken.get_or_insert(Broken {
                field,
                at: start,
                what,
            });
            return Some(text.len());
        };
        if byte == escapes.character() {
            at += 1 + escapes.decode(&text[at + 1..], syntax.quote, out);
        } else if Some(byte) != syntax.quote {
            out.push(byte);
            at += 1;
        } else if text.get(at + 1) == Some(&byte) {
            out.push(byte);
            at += 2;
        } else {
            at += 1;
            break;
        }
    }
    let rest = &text[at..];
    let end = (0..rest.len()).find(|place| ends_field(rest, *place, syntax));
    match end {
        Some(0) => {}
        None if rest.is_empty() => {}
        None if !is_end => return None,
        end => {
            let what = "text follows the closing quote of the field";
            escaped.broken.get_or_insert(Broken { field, at, what });
            at += end.unwrap_or(rest.len());
        }
    }
    Some(at)
}
