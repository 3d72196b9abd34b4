//! The forms of values, which decide the types of new columns on a server.

use std::str::from_utf8;

use inorder_engine::{ColumnKind, Given};
use inorder_key::Uuid;

use crate::encode::{Form, plain_digits};

/// Characters of a UUID with its hyphens.
const UUID_CHARS: usize = 36;

/// Most digits of a fraction of a second.
const FRACTION_DIGITS: usize = 6;

/// The forms of text, and the values of typed sources, in one column.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// Of each of [`FORMS`].
    counts: [usize; FORMS.len()],
    values: usize,
}

type Test = fn(Given<'_>) -> bool;

/// Kinds of columns that are recognised by the form of all their values.
const FORMS: [(ColumnKind, Test); 7] = [
    (ColumnKind::Boolean, |given| matches!(given, Given::Bool(_))),
    (ColumnKind::Json, |given| matches!(given, Given::Json(_))),
    (ColumnKind::Uuid, |given| text(given).is_some_and(is_uuid)),
    (ColumnKind::Date, |given| text(given).is_some_and(is_date)),
    (ColumnKind::DateTime, |given| {
        text(given).and_then(date_time).is_some_and(str::is_empty)
    }),
    (
        ColumnKind::Utc,
        |given| matches!(given, Given::Instant(text) if from_utf8(text).ok().and_then(date_time).is_some_and(str::is_empty)),
    ),
    (ColumnKind::Instant, |given| {
        text(given).and_then(date_time).is_some_and(is_zone)
    }),
];

impl Forms {
    pub(crate) fn add(&mut self, given: Given<'_>) {
        if given == Given::Null {
            return;
        }
        self.values += 1;
        for (count, (_, fits)) in self.counts.iter_mut().zip(&FORMS) {
            *count += usize::from(fits(given));
        }
    }

    /// The kind of a column of these values, whose kind would be this one if the forms of texts said nothing.
    pub(crate) fn kind(&self, otherwise: &ColumnKind) -> ColumnKind {
        let mut forms = self.counts.iter().zip(&FORMS);
        let form = forms.find(|(count, _)| self.values > 0 && **count == self.values);
        let kind = form.map_or(otherwise, |(_, (kind, _))| kind);
        kind.clone()
    }
}

/// Whether a value has the form of a column whose kind was derived from the first rows.
pub(crate) fn fits(kind: &ColumnKind, given: Given<'_>) -> bool {
    if let ColumnKind::Decimal {
        whole_digits,
        fraction_digits,
    } = *kind
    {
        return is_decimal(given, whole_digits, fraction_digits);
    }
    let form = FORMS.iter().find(|(known, _)| known == kind);
    given == Given::Null || form.is_none_or(|(_, fits)| fits(given))
}

/// Whether a value is a number with at most so many digits before and after the point.
fn is_decimal(given: Given<'_>, whole_max: usize, fraction_max: usize) -> bool {
    let digits = match given {
        Given::Null => return true,
        Given::Integer(integer) => {
            let digits = integer.unsigned_abs().checked_ilog10().unwrap_or(0);
            Some((digits as usize + 1, 0))
        }
        Given::Number(number) => plain_digits(number),
        Given::Text(text) => Form::of(text).map(|form| {
            let [whole, fraction] = [form.whole_digits, form.fraction_digits];
            (whole.into(), fraction.into())
        }),
        _ => None,
    };
    digits.is_some_and(|(whole, fraction)| whole <= whole_max && fraction <= fraction_max)
}

fn text(given: Given<'_>) -> Option<&str> {
    match given {
        Given::Text(text) | Given::JsonString(text) => from_utf8(text).ok(),
        _ => None,
    }
}

/// Whether a text is a UUID of RFC 9562. MariaDB returns others with their groups in another order than given.
fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.len() == UUID_CHARS
        && matches!(bytes[14], b'1'..=b'8')
        && matches!(bytes[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
        && Uuid::parse(text).is_ok()
}

/// Whether a text is a date as ISO 8601 writes it, which every server stores.
fn is_date(text: &str) -> bool {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| digits.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let bytes = text.as_bytes();
    let is_separated = text.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    is_separated && year >= 1000 && (1..=days).contains(&day)
}

/// The text after a date and a time of day: the time zone.
fn date_time(text: &str) -> Option<&str> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let bytes = time.as_bytes();
    let pair = |at: usize, most: u8| {
        let digits = bytes.get(at..at + 2)?;
        let is_plain = digits.iter().all(u8::is_ascii_digit);
        (is_plain && (digits[0] - b'0') * 10 + digits[1] - b'0' <= most).then_some(())
    };
    let colon = |at: usize| (bytes.get(at) == Some(&b':')).then_some(());
    pair(0, 23)
        .and(colon(2))
        .and(pair(3, 59))
        .and(colon(5))
        .and(pair(6, 59))?;
    let rest = time.get(8..).filter(|_| is_date(date))?;
    let Some(fraction) = rest.strip_prefix('.') else {
        return Some(rest);
    };
    let end = fraction.find(|char: char| !char.is_ascii_digit());
    let end = end.unwrap_or(fraction.len());
    (1..=FRACTION_DIGITS)
        .contains(&end)
        .then(|| &fraction[end..])
}

/// Whether a text is a time zone as an offset from UTC.
fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        b"Z" => true,
        [b'+' | b'-', b'0'..=b'1', b'0'..=b'9', rest @ ..] => {
            matches!(
                rest,
                [] | [b'0'..=b'5', b'0'..=b'9'] | [b':', b'0'..=b'5', b'0'..=b'9']
            )
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_recognised() {
        for (value, kind) in [
            ("2024-02-29", ColumnKind::Date),
            ("2023-02-29", ColumnKind::Text),
            ("2024-02-30", ColumnKind::Text),
            ("0999-01-01", ColumnKind::Text),
            ("2024-1-1", ColumnKind::Text),
            ("2024-01-01 10:00:00", ColumnKind::DateTime),
            ("2024-01-01T10:00:00.123456", ColumnKind::DateTime),
            ("2024-01-01 10:00:00.1234567", ColumnKind::Text),
            ("2024-01-01 24:00:00", ColumnKind::Text),
            ("2024-01-01 10:00", ColumnKind::Text),
            ("2024-01-01 10:00:60", ColumnKind::Text),
            ("2024-01-01T10:00:00Z", ColumnKind::Instant),
            ("2024-01-01 10:00:00.5+02:00", ColumnKind::Instant),
            ("2024-01-01 10:00:00+02", ColumnKind::Instant),
            ("2024-01-01 10:00:00+99", ColumnKind::Text),
            ("2024-01-01 10:00:00 UTC", ColumnKind::Text),
            ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", ColumnKind::Uuid),
            ("017f22e279b07cc398c4dc0c0c07398f", ColumnKind::Text),
            // The version or the variant is none.
            ("6a99b4b1-f77d-d107-8b59-04845b25627c", ColumnKind::Text),
            ("6a99b4b1-f77d-4107-6b59-04845b25627c", ColumnKind::Text),
            ("true", ColumnKind::Text),
        ] {
            let mut forms = Forms::default();
            forms.add(Given::Null);
            forms.add(Given::Text(value.as_bytes()));
            assert_eq!(forms.kind(&ColumnKind::Text), kind, "{value}");
            assert!(fits(&kind, Given::Text(value.as_bytes())), "{value}");
            forms.add(Given::Text(b"word"));
            assert_eq!(forms.kind(&ColumnKind::Text), ColumnKind::Text, "{value}");
        }
        let mut forms = Forms::default();
        forms.add(Given::Bool(true));
        assert_eq!(forms.kind(&ColumnKind::Integer), ColumnKind::Boolean);
        forms.add(Given::Integer(7));
        assert_eq!(forms.kind(&ColumnKind::Integer), ColumnKind::Integer);
    }
}
