//! Parsing and formatting of times.

use alloc::borrow::ToOwned;

use crate::{Error, UnixTime};

/// Parses a time in the forms of RFC 3339 and SQL, to the millisecond, or as milliseconds since 1970.
///
/// A date, `2024-01-31`, is midnight in UTC. A time of day may follow after `T` or a space: `12:30`, `12:30:05` or
/// `12:30:05.250`. `Z` or no suffix is UTC, and `+02:00` is an offset. Years have four digits. Years after 9999,
/// which ids can represent, have five. Digits after the millisecond are cut off.
///
/// A text of digits only is read as [`time_of_ms`] reads its number, and has 12 to 15 digits. A text of fewer digits is
/// refused, because it could be a year, a date without hyphens or seconds.
///
/// # Errors
/// [`Error::TimeText`] for any other text, [`Error::Time`] for a time before 1970, [`Error::TimeNumber`] for the digits of
/// a date and a time of day.
pub fn parse_time(text: &str) -> Result<UnixTime, Error> {
    let is_number = text.bytes().all(|c| c.is_ascii_digit()) && (12..=15).contains(&text.len());
    let number = text.parse().ok().filter(|_| is_number);
    match number {
        Some(ms) if text.starts_with('0') => UnixTime::try_from(ms),
        Some(ms) => time_of_ms(ms),
        None => {
            let ms = milliseconds(text).ok_or_else(|| Error::TimeText(text.to_owned()))?;
            UnixTime::try_from(ms)
        }
    }
}

/// The least number of milliseconds since 1970 that cannot be seconds: 12 digits, 3 March 1973.
const MS_MIN: i64 = 100_000_000_000;
/// The least number of seconds since 1970 that cannot be a date, days or years: the same time.
const SECONDS_MIN: i64 = MS_MIN / 1000;

/// Returns the time of a number of milliseconds since 1970.
///
/// The number has 12 digits or more, as all since March 1973. A smaller one is refused, because it could be seconds, days or
/// a date. So are the digits of a date and a time of day, `202405011230` or `20240501123045`. 0 is 1970 in each unit.
///
/// ```
/// use inorder_key::{UnixTime, time_of_ms};
/// assert_eq!(time_of_ms(1_714_521_600_000), Ok(UnixTime::from_ms(1_714_521_600_000)));
/// assert_eq!(
///     time_of_ms(1_714_521_600).unwrap_err().to_string(),
///     "1714521600 is no time in milliseconds since 1970, which have 12 digits or more: \
///      as seconds it is 2024-05-01T00:00:00.000Z"
/// );
/// ```
///
/// # Errors
/// [`Error::TimeNumber`] for a number that could have another unit, [`Error::Time`] for one before 1970 or after 10889.
pub fn time_of_ms(ms: i64) -> Result<UnixTime, Error> {
    let number = i128::from(ms);
    let refused = |unit| Error::TimeNumber { number, unit };
    let as_unit = |unit, ms: i64| Some((unit, UnixTime::from_ms(u64::try_from(ms).ok()?)));
    match ms {
        SECONDS_MIN..MS_MIN => Err(refused(as_unit("seconds", ms * 1000))),
        1..SECONDS_MIN => Err(refused(None)),
        _ => match (date_of_digits(ms), UnixTime::try_from(ms)) {
            (Some(date), _) => Err(refused(as_unit("a date", date))),
            (None, Err(_)) if is_plausible(ms / 1000) => {
                Err(refused(as_unit("microseconds", ms / 1000)))
            }
            (None, Err(_)) if is_plausible(ms / 1_000_000) => {
                Err(refused(as_unit("nanoseconds", ms / 1_000_000)))
            }
            (None, time) => time,
        },
    }
}

/// Returns the time of a number of seconds since 1970, to the millisecond.
///
/// The number has 9 digits or more, as all since March 1973, or is 0. The digits of a date and a time of day are refused.
///
/// # Errors
/// [`Error::SecondsNumber`] for any other number, and for one after 10889, such as milliseconds.
pub fn time_of_seconds(seconds: i64, ms: u16) -> Result<UnixTime, Error> {
    let is_certain = seconds >= SECONDS_MIN || (seconds, ms) == (0, 0);
    let is_right = is_certain && date_of_digits(seconds).is_none();
    let ms = seconds
        .checked_mul(1000)
        .and_then(|whole| whole.checked_add(ms.into()))
        .filter(|_| is_right);
    let time = ms.and_then(|ms| UnixTime::try_from(ms).ok());
    time.ok_or(Error::SecondsNumber { seconds })
}

/// Returns whether this millisecond lies in the years from 1973 to 9999.
fn is_plausible(ms: i64) -> bool {
    (MS_MIN..253_402_300_800_000).contains(&ms)
}

/// Returns the milliseconds since 1970 of the digits of a date and a time of day, `YYYYMMDDhhmm` or `YYYYMMDDhhmmss`, in the years
/// from 1900 to 2199. As milliseconds these numbers are times of 1976, and from 2572 on.
fn date_of_digits(number: i64) -> Option<i64> {
    let seconds_number = match number {
        190_000_000_000..220_000_000_000 => number * 100,
        19_000_000_000_000..22_000_000_000_000 => number,
        _ => return None,
    };
    let part = |divisor: i64, modulus: i64| seconds_number / divisor % modulus;
    let (hours, minutes, seconds) = (part(10_000, 100), part(100, 100), part(1, 100));
    let days = days(
        part(10_000_000_000, 10_000),
        part(100_000_000, 100),
        part(1_000_000, 100),
    )?;
    let is_time = hours < 24 && minutes < 60 && seconds < 60;
    is_time.then_some((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)
}

impl TryFrom<i64> for UnixTime {
    type Error = Error;

    /// Returns the time of these milliseconds since 1970, if an id can store it. See [`time_of_ms`] for numbers whose unit is
    /// not certain.
    fn try_from(ms: i64) -> Result<Self, Error> {
        match u64::try_from(ms) {
            Ok(ms) if ms <= UnixTime::MS_MAX => Ok(UnixTime::from_ms(ms)),
            _ => Err(Error::Time { ms: ms.into() }),
        }
    }
}

/// Returns the milliseconds since 1970 of a well-formed time, negative before 1970.
fn milliseconds(text: &str) -> Option<i64> {
    let mut rest = Rest(text.as_bytes());
    let year = match rest.digits(5) {
        Some(year) => Some(year).filter(|year| *year > 9999),
        None => rest.digits(4),
    }?;
    rest.one_of(b"-")?;
    let month = rest.digits(2)?;
    rest.one_of(b"-")?;
    let day = rest.digits(2)?;
    let mut ms = days(year, month, day)? * 86_400_000;
    if rest.one_of(b"T ").is_some() {
        ms += time_of_day(&mut rest)? - offset(&mut rest)?;
    }
    rest.0.is_empty().then_some(ms)
}

/// Returns the milliseconds since midnight.
fn time_of_day(rest: &mut Rest) -> Option<i64> {
    let hours = rest.digits(2).filter(|hours| *hours < 24)?;
    rest.one_of(b":")?;
    let minutes = rest.digits(2).filter(|minutes| *minutes < 60)?;
    let (mut seconds, mut ms) = (0, 0);
    if rest.one_of(b":").is_some() {
        seconds = rest.digits(2).filter(|seconds| *seconds < 60)?;
        if rest.one_of(b".").is_some() {
            let fraction = rest.0.iter().take_while(|c| c.is_ascii_digit()).count();
            let (digits, behind) = rest.0.split_at_checked(fraction).filter(|_| fraction > 0)?;
            let digit = |i: usize| digits.get(i).map_or(0, |c| i64::from(c - b'0'));
            ms = digit(0) * 100 + digit(1) * 10 + digit(2);
            rest.0 = behind;
        }
    }
    Some(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

/// Returns the offset of local time from UTC, in milliseconds.
fn offset(rest: &mut Rest) -> Option<i64> {
    if rest.one_of(b"Z").is_some() {
        return Some(0);
    }
    let Some(sign) = rest.one_of(b"+-") else {
        return Some(0);
    };
    let hours = rest.digits(2).filter(|hours| *hours < 24)?;
    rest.one_of(b":")?;
    let minutes = rest.digits(2).filter(|minutes| *minutes < 60)?;
    let ahead = (hours * 60 + minutes) * 60_000;
    Some(if sign == b'-' { -ahead } else { ahead })
}

/// Returns the days from 1970-01-01 to a valid date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let last = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day ends them.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_from_march = (153 * month + 2) / 5 + day - 1;
    Some(365 * year + leaps + days_from_march - 719_468)
}

/// The unread rest of the text.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Reads a number of exactly this many digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, behind) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |number, c| {
            c.is_ascii_digit()
                .then(|| number * 10 + i64::from(c - b'0'))
        })?;
        self.0 = behind;
        Some(number)
    }

    /// Reads the next character if it is one of these.
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, behind) = self
            .0
            .split_first()
            .filter(|(first, _)| wanted.contains(first))?;
        self.0 = behind;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_time_of_an_id_is_read_as_it_is_written() {
        let last = UnixTime::from_ms(UnixTime::MS_MAX);
        assert_eq!(last.to_string(), "10889-08-02T05:31:50.655Z");
        assert_eq!(parse_time(&last.to_string()), Ok(last));
    }

    #[test]
    fn times_are_read_in_every_form() {
        for (text, ms) in [
            ("1970-01-01", 0),
            ("1970-01-01T00:00:00.001Z", 1),
            ("2024-02-29", 1_709_164_800_000),
            ("2024-01-01T00:00", 1_704_067_200_000),
            ("2024-01-01 00:00:00", 1_704_067_200_000),
            ("2024-01-01T02:00:00+02:00", 1_704_067_200_000),
            ("2023-12-31T18:30:00.5-05:30", 1_704_067_200_500),
            ("2016-07-30T23:54:10.259999Z", 1_469_922_850_259),
            ("1469922850259", 1_469_922_850_259),
            ("000000000001", 1),
            ("281474976710655", 281_474_976_710_655),
        ] {
            assert_eq!(parse_time(text).unwrap(), UnixTime::from_ms(ms), "{text}");
        }
    }

    #[test]
    fn digits_of_a_date_are_no_milliseconds() {
        for (number, date) in [
            (202_405_011_230, "2024-05-01T12:30:00.000Z"),
            (20_240_501_123_045, "2024-05-01T12:30:45.000Z"),
            (19_000_101_000_000, ""),
        ] {
            let error = time_of_ms(number).unwrap_err().to_string();
            assert!(error.ends_with(date), "{error}");
            assert!(parse_time(&number.to_string()).is_err(), "{number}");
            assert!(time_of_seconds(number, 0).is_err(), "{number}");
        }
        for number in [
            202_413_011_230,
            202_402_300_000,
            20_240_501_126_045,
            18_990_101_000_000,
        ] {
            assert!(time_of_ms(number).is_ok(), "{number}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "now",
            "2024",
            "2024-1-1",
            "02024-01-01",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-04-31",
            "2024-01-01T",
            "2024-01-01T24:00",
            "2024-01-01T23:60",
            "2024-01-01T23:59:60",
            "2024-01-01T12:00:00.",
            "2024-01-01T12:00Zx",
            "2024-01-01 ",
            "2024-01-01T12:00+2",
            "+024-01-01",
            "２０２４-01-01",
            "20240131",
            "1700000000",
            "17000000000",
            "1700000000000000",
            "-1700000000000",
            "1700000000000.5",
            "١٧٠٠٠٠٠٠٠٠٠٠٠",
        ] {
            assert_eq!(
                parse_time(text),
                Err(Error::TimeText(text.to_owned())),
                "{text}"
            );
        }
        assert_eq!(
            parse_time("1969-12-31").unwrap_err().to_string(),
            "millisecond -86400000 is in no id: they begin in 1970 with 0 and end in the year 10889 with 281474976710655"
        );
    }

    proptest! {
        #[test]
        fn what_a_time_prints_is_read_back(ms in 0..253_402_300_800_000u64) {
            let time = UnixTime::from_ms(ms);
            prop_assert_eq!(parse_time(&time.to_string()).unwrap(), time);
        }

        #[test]
        fn numbers_of_other_units_are_refused(seconds in 100_000_000..100_000_000_000i64) {
            let named = |number: i64, unit: &str| time_of_ms(number).unwrap_err().to_string().contains(unit);
            prop_assert!(named(seconds, "as seconds"));
            let time = UnixTime::try_from(seconds * 1000).unwrap();
            // Microseconds of 1978 and before are milliseconds of ids.
            if let Ok(ms) = u64::try_from(seconds * 1_000_000) && ms > UnixTime::MS_MAX && seconds < 9_000_000_000 {
                prop_assert!(named(seconds * 1_000_000, "as microseconds"));
                prop_assert!(named(seconds * 1_000_000_000, "as nanoseconds"));
            }
            if date_of_digits(seconds * 1000).is_none() {
                prop_assert_eq!(time_of_ms(seconds * 1000), Ok(time));
                prop_assert_eq!(time_of_seconds(seconds, 7), UnixTime::try_from(seconds * 1000 + 7));
            }
            prop_assert!(time_of_seconds(seconds * 1000, 0).is_err() || seconds * 1000 <= 281_474_976_710);
            prop_assert!(time_of_ms(-seconds).is_err() && time_of_seconds(-seconds, 0).is_err());
        }

        #[test]
        fn no_number_panics(number: i64, ms: u16) {
            let _ = (time_of_ms(number), time_of_seconds(number, ms));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = parse_time(&text);
        }
    }
}
