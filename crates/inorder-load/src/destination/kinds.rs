//! The kinds of values in a column, and the types that store them.

use inorder_engine::ColumnKind;

use super::near::{self, Fault};
use crate::encode::{Form, Oracle, excerpt, is_exact, plain_digits};
use crate::note::{Note, NoteKind};
use crate::source::Raw;

/// What the source of a column says of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Typing {
    /// Whether it tells numbers from text.
    pub is_typed: bool,
    /// Whether its numbers with a point are decimals, and not the digits of floating-point numbers.
    pub has_decimals: bool,
}

/// The type of a new column.
#[derive(Clone, Debug)]
pub(crate) struct Derived {
    /// The declared type in SQLite; empty if no type stores all values unchanged.
    pub(crate) declared_type: &'static str,
    /// The kind of a server's column, as far as the forms of texts do not say more.
    pub(crate) kind: ColumnKind,
    /// Why the column is one of text although its values are numbers, or nearly all.
    why_text: Option<WhyText>,
}

#[derive(Clone, Debug)]
struct WhyText {
    /// The first value that is the reason, and its line.
    value: String,
    line: u64,
    fault: Fault,
    /// Such values, and all.
    values: usize,
    of: usize,
}

impl Derived {
    /// The remark about a column of text whose values are numbers, or nearly so.
    pub(crate) fn note(&self, column: &str) -> Option<Note> {
        let WhyText {
            value,
            line,
            fault,
            values,
            of,
        } = self.why_text.as_ref()?;
        let hint = match fault {
            Fault::Comma => "--decimal , reads a decimal comma".to_owned(),
            Fault::NoNumber if value.len() <= near::WORD_BYTES_MAX => {
                format!("--null '{value}' reads it as NULL")
            }
            _ => format!("--type {column}=TYPE stores it as a number"),
        };
        let text = format!(
            "column `{column}` is kept as text: `{value}` in line {line} {}, {values} of {of} values; {hint}",
            fault.words()
        );
        let note = Note::new(NoteKind::KeptAsText, text).of_column(column);
        Some(note.counted(*values as u64, *line))
    }
}

/// The kinds of values in a column.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    integers: usize,
    /// Numbers with a point, of at most 15 digits.
    decimals: usize,
    /// Those of them without digits after the point: `5.`.
    bare: usize,
    /// Those of them that SQLite writes with other digits.
    unwritten: usize,
    /// Floating-point numbers, and numbers as these are written: with an exponent, or with 16 or 17 digits.
    floats: usize,
    /// Numbers that neither a 64-bit integer nor a real represents.
    inexact: usize,
    /// Those of them with an exponent.
    inexact_floats: usize,
    texts: usize,
    /// Those of them that are nearly numbers.
    near: usize,
    blobs: usize,
    /// The most digits before and after the point.
    whole_digits: usize,
    fraction_digits: usize,
    /// Whether one of the integers is not exact as a real.
    has_large_integer: bool,
    /// The first text that is nearly a number, the first other one, and the first number that needs a column of text; each with
    /// its line.
    first_near: Option<(String, u64, Fault)>,
    first_text: Option<(String, u64, Fault)>,
    first_number: Option<(String, u64, Fault)>,
}

impl Kinds {
    pub(super) fn add(&mut self, raw: Raw<'_>, line: u64, typing: Typing, oracle: &Oracle) {
        match raw {
            Raw::Missing | Raw::Null => {}
            Raw::Integer(integer) => self.add_integer(integer),
            Raw::Real(_) => self.floats += 1,
            Raw::Number(digits) if typing.is_typed => self.add_number(digits, line, typing, oracle),
            Raw::Number(text) | Raw::Text(text) => match Form::of(text) {
                Some(form) if !typing.is_typed => self.add_form(text, form, line, oracle),
                _ => self.add_text(text, line, typing),
            },
            Raw::Blob(_) => self.blobs += 1,
        }
    }

    fn add_integer(&mut self, integer: i64) {
        self.integers += 1;
        self.has_large_integer |= integer.unsigned_abs() > 1 << 53;
        let digits = integer.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
        self.whole_digits = self.whole_digits.max(digits);
    }

    fn add_digits(&mut self, (whole, fraction): (usize, usize)) {
        self.whole_digits = self.whole_digits.max(whole);
        self.fraction_digits = self.fraction_digits.max(fraction);
    }

    fn add_form(&mut self, text: &[u8], form: Form, line: u64, oracle: &Oracle) {
        self.add_digits((form.whole_digits.into(), form.fraction_digits.into()));
        if form.is_integer {
            self.integers += 1;
            return;
        }
        self.decimals += 1;
        self.bare += usize::from(form.fraction_digits == 0);
        if !form.is_written(text, oracle) {
            self.unwritten += 1;
            keep(&mut self.first_number, text, line, Fault::Unwritten);
        }
        if form.fraction_digits == 0 {
            keep(&mut self.first_number, text, line, Fault::BarePoint);
        }
    }

    /// Adds a number that its source writes in digits.
    fn add_number(&mut self, digits: &[u8], line: u64, typing: Typing, oracle: &Oracle) {
        if let Ok(Ok(integer)) = std::str::from_utf8(digits).map(str::parse) {
            return self.add_integer(integer);
        }
        let plain = plain_digits(digits);
        let is_exact = is_exact(digits, oracle);
        let is_short = Form::of(digits).is_some();
        match plain {
            Some(places) if is_exact && (is_short || typing.has_decimals) => {
                self.decimals += 1;
                self.add_digits(places);
            }
            _ if is_exact => self.floats += 1,
            Some(places) => {
                self.inexact += 1;
                self.add_digits(places);
                keep(&mut self.first_number, digits, line, Fault::Long);
            }
            None => {
                self.inexact += 1;
                self.inexact_floats += 1;
                keep(&mut self.first_number, digits, line, Fault::Long);
            }
        }
    }

    fn add_text(&mut self, text: &[u8], line: u64, typing: Typing) {
        self.texts += 1;
        let fault = match typing.is_typed {
            true => None,
            false => near::fault(text),
        };
        self.near += usize::from(fault.is_some());
        let first = match fault {
            Some(_) => &mut self.first_near,
            None => &mut self.first_text,
        };
        keep(first, text, line, fault.unwrap_or(Fault::NoNumber));
    }

    /// The type that all values have.
    pub(super) fn derived(&self, typing: Typing) -> Derived {
        let (declared_type, kind) = match typing.is_typed {
            true => (self.type_of_values(), self.kind_of_values()),
            false => (self.type_of_texts(), self.kind_of_texts()),
        };
        Derived {
            declared_type,
            kind,
            why_text: self.why_text(typing, declared_type),
        }
    }

    /// Whether the only points are those of `1.`, `2.`, `3.`, which are labels.
    fn are_labels(&self) -> bool {
        self.bare > 0 && self.bare == self.decimals && self.integers == 0
    }

    /// Returns the type that stores all texts as the numbers that they are.
    fn type_of_texts(&self) -> &'static str {
        match (self.integers > 0, self.decimals > 0) {
            _ if self.texts + self.unwritten > 0 || self.are_labels() => "TEXT",
            (false, false) => "TEXT",
            (true, false) => "INTEGER",
            (false, true) => "REAL",
            (true, true) => "NUMERIC",
        }
    }

    fn kind_of_texts(&self) -> ColumnKind {
        match (self.integers > 0, self.decimals > 0) {
            _ if self.texts > 0 || self.are_labels() => ColumnKind::Text,
            (false, false) => ColumnKind::Text,
            (true, false) => ColumnKind::Integer,
            (_, true) => self.decimal(),
        }
    }

    fn decimal(&self) -> ColumnKind {
        ColumnKind::Decimal {
            whole_digits: self.whole_digits,
            fraction_digits: self.fraction_digits,
        }
    }

    /// Returns the type that gives all values back unchanged.
    fn type_of_values(&self) -> &'static str {
        let reals = self.decimals + self.floats;
        let are_numbers = self.integers + reals > 0;
        match (are_numbers, self.texts > 0, self.blobs > 0) {
            // Text keeps all digits.
            (_, _, false) if self.inexact > 0 => "TEXT",
            (false, true, false) => "TEXT",
            (false, false, true) if self.inexact == 0 => "BLOB",
            (true, false, false) if reals == 0 => "INTEGER",
            (true, false, false) if self.has_large_integer && self.integers > 0 => "NUMERIC",
            (true, false, false) => "REAL",
            _ => "",
        }
    }

    fn kind_of_values(&self) -> ColumnKind {
        let numbers = self.integers + self.decimals + self.floats + self.inexact;
        match (numbers > 0, self.texts > 0, self.blobs > 0) {
            (false, false, true) => ColumnKind::Bytes,
            (true, false, false) => match (self.inexact, self.floats) {
                (0, 0) if self.decimals == 0 => ColumnKind::Integer,
                (_, 0) if self.inexact_floats == 0 => self.decimal(),
                (0, _) => ColumnKind::Real,
                _ => ColumnKind::Text,
            },
            _ => ColumnKind::Text,
        }
    }

    fn why_text(&self, typing: Typing, declared_type: &str) -> Option<WhyText> {
        let numbers = self.integers + self.decimals + self.floats + self.inexact;
        let of = numbers + self.texts + self.blobs;
        if of == 0 || matches!(declared_type, "INTEGER" | "REAL" | "NUMERIC" | "BLOB") {
            return None;
        }
        let (first, values) = match (self.texts, typing.is_typed) {
            (0, true) => (&self.first_number, self.inexact),
            (0, false) if self.are_labels() => (&self.first_number, self.bare),
            (0, false) => (&self.first_number, self.unwritten),
            // Words among which are some numbers are words.
            _ if (numbers + self.near) * 2 < of || numbers + self.near == 0 => return None,
            (texts, _) if texts > self.near => (&self.first_text, texts - self.near),
            (texts, _) => (&self.first_near, texts),
        };
        let (value, line, fault) = first.clone()?;
        Some(WhyText {
            value,
            line,
            fault,
            values,
            of,
        })
    }
}

/// Keeps the first value of its kind.
fn keep(first: &mut Option<(String, u64, Fault)>, text: &[u8], line: u64, fault: Fault) {
    if first.is_none() {
        *first = Some((excerpt(text), line, fault));
    }
}
