//! Dates and times as text, in the one form that SQLite's date functions read: ISO 8601 with a space.

/// A day of the proleptic Gregorian calendar. The year before 1 is 0, as in ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Day {
    year: i64,
    month: u32,
    day: u32,
}

/// A time of a day, or a longer time: hours, minutes, seconds and the digits of the fraction without zeros at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock<'a> {
    hours: u64,
    minutes: u32,
    seconds: u32,
    fraction: &'a [u8],
}

/// The years that SQLite's date functions read.
const YEARS_READ: std::ops::RangeInclusive<i64> = -4712..=9999;

/// The most digits of a fraction of a second that PostgreSQL stores.
pub const FRACTION_MAX: usize = 6;

const SECONDS_OF_DAY: i64 = 86_400;

/// What a text says about a point in time, or about a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Whether it has a time of the day.
    pub has_clock: bool,
    /// Whether it has an offset from UTC.
    pub has_offset: bool,
    /// The digits of the fraction without zeros at the end.
    pub fraction: usize,
}

/// Takes so many digits, or more if `is_open`.
fn digits(text: &[u8], least: usize, is_open: bool) -> Option<(u64, &[u8])> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let count = text.iter().take_while(is_digit).count();
    if count < least || (!is_open && count > least) || count > 18 {
        return None;
    }
    let number = text[..count]
        .iter()
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    Some((number, &text[count..]))
}

fn month_days(year: i64, month: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Takes `YYYY-MM-DD`, also with a sign. Returns the rest.
fn day(text: &[u8]) -> Option<(Day, &[u8])> {
    let (is_negative, text) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (year, text) = digits(text, 4, true)?;
    let (month, text) = digits(text.strip_prefix(b"-")?, 2, false)?;
    let (day, text) = digits(text.strip_prefix(b"-")?, 2, false)?;
    let (month, day) = (month as u32, day as u32);
    let year = year as i64 * if is_negative { -1 } else { 1 };
    let is_day = (1..=12).contains(&month) && (1..=month_days(year, month)).contains(&day);
    is_day.then_some((Day { year, month, day }, text))
}

/// Takes `HH:MM`, `HH:MM:SS` or one of these with a fraction. Returns the rest.
fn clock(text: &[u8], is_open: bool) -> Option<(Clock<'_>, &[u8])> {
    let (hours, text) = digits(text, 2, is_open)?;
    let (minutes, text) = digits(text.strip_prefix(b":")?, 2, false)?;
    let mut clock = Clock {
        hours,
        minutes: minutes as u32,
        seconds: 0,
        fraction: b"",
    };
    let mut rest = text;
    if let Some(text) = text.strip_prefix(b":") {
        let (seconds, text) = digits(text, 2, false)?;
        clock.seconds = seconds as u32;
        rest = text;
        if let Some(text) = text.strip_prefix(b".") {
            let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 {
                return None;
            }
            let kept = text[..count].iter().rposition(|digit| *digit != b'0');
            clock.fraction = &text[..kept.map_or(0, |at| at + 1)];
            rest = &text[count..];
        }
    }
    (clock.minutes < 60 && clock.seconds < 60).then_some((clock, rest))
}

/// Takes an offset from UTC: `Z`, `±HH`, `±HH:MM`, `±HHMM` or `±HH:MM:SS`. Returns its seconds and the rest; `None` for
/// something else.
fn offset(text: &[u8]) -> Option<(i64, &[u8])> {
    let sign = match text.first()? {
        b'Z' | b'z' => return Some((0, &text[1..])),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let pair = |text: &[u8]| {
        let pair = text.first_chunk::<2>()?;
        let is_number = pair.iter().all(u8::is_ascii_digit);
        is_number.then(|| i64::from(pair[0] - b'0') * 10 + i64::from(pair[1] - b'0'))
    };
    let mut seconds = pair(&text[1..])? * 3600;
    let mut text = &text[3..];
    for unit in [60, 1] {
        let part = text.strip_prefix(b":").unwrap_or(text);
        let Some(number) = pair(part) else { break };
        seconds += number * unit;
        text = &part[2..];
    }
    Some((sign * seconds, text))
}

impl Day {
    /// The number of days since 1970-01-01.
    fn number(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let month = i64::from((self.month + 9) % 12);
        let of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    fn of_number(number: i64) -> Self {
        let number = number + 719_468;
        let era = number.div_euclid(146_097);
        let of_era = number.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Day {
            year: year + era * 400 + i64::from(month <= 2),
            month: month as u32,
            day: day as u32,
        }
    }

    fn put(self, out: &mut Vec<u8>) {
        let sign = if self.year < 0 { "-" } else { "" };
        let (year, month, day) = (self.year.abs(), self.month, self.day);
        out.extend_from_slice(format!("{sign}{year:04}-{month:02}-{day:02}").as_bytes());
    }
}

impl Clock<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        let (hours, minutes, seconds) = (self.hours, self.minutes, self.seconds);
        out.extend_from_slice(format!("{hours:02}:{minutes:02}:{seconds:02}").as_bytes());
        if !self.fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(self.fraction);
        }
    }
}

/// Splits off the mark of the years before 1 that PostgreSQL writes.
fn before_christ(text: &[u8]) -> (&[u8], bool) {
    match text.strip_suffix(b" BC") {
        Some(text) => (text, true),
        None => (text, false),
    }
}

/// A day with the year of ISO 8601.
fn astronomical(day: Day, is_before_christ: bool) -> Day {
    match is_before_christ {
        true => Day {
            year: 1 - day.year,
            ..day
        },
        false => day,
    }
}

/// Appends a date, a timestamp or a point in time in UTC in the form of ISO 8601. Appends a text of another form, such as
/// `infinity`, as it is.
pub fn put_time(value: &[u8], has_clock: bool, out: &mut Vec<u8>) {
    let (text, is_before_christ) = before_christ(value);
    let parsed = day(text).and_then(|(day, rest)| {
        let clock_of = |rest| {
            let (time, rest) = clock(rest, false)?;
            let rest = rest.strip_prefix(b" ").unwrap_or(rest);
            let (offset, rest) = offset(rest).unwrap_or((0, rest));
            rest.is_empty().then_some((time, offset))
        };
        match rest.split_first() {
            None => Some((day, None)),
            Some((b' ' | b'T' | b't', rest)) => Some((day, Some(clock_of(rest)?))),
            Some(_) => None,
        }
    });
    let Some((day, time)) = parsed else {
        out.extend_from_slice(value);
        return;
    };
    let mut day = astronomical(day, is_before_christ);
    let midnight = Clock {
        hours: 0,
        minutes: 0,
        seconds: 0,
        fraction: b"",
    };
    let (mut time, offset) = time.unwrap_or((midnight, 0));
    if offset != 0 {
        let of_day = time.hours as i64 * 3600 + i64::from(time.minutes * 60 + time.seconds);
        let second = day.number() * SECONDS_OF_DAY + of_day - offset;
        day = Day::of_number(second.div_euclid(SECONDS_OF_DAY));
        let of_day = second.rem_euclid(SECONDS_OF_DAY);
        time.hours = (of_day / 3600) as u64;
        (time.minutes, time.seconds) = ((of_day / 60 % 60) as u32, (of_day % 60) as u32);
    }
    day.put(out);
    if has_clock {
        out.push(b' ');
        time.put(out);
    }
}

/// Appends a time of a day or a longer time. With an offset, it is that of ISO 8601, with minutes.
pub fn put_clock(value: &[u8], out: &mut Vec<u8>) {
    let (sign, text) = match value.strip_prefix(b"-") {
        Some(text) => (&b"-"[..], text),
        None => (&b""[..], value),
    };
    let Some((time, rest)) = clock(text, true) else {
        out.extend_from_slice(value);
        return;
    };
    let start = out.len();
    out.extend_from_slice(sign);
    time.put(out);
    match offset(rest) {
        _ if rest.is_empty() => {}
        Some((seconds, b"")) => {
            let sign = if seconds < 0 { '-' } else { '+' };
            let seconds = seconds.abs();
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            out.extend_from_slice(format!("{sign}{hours:02}:{minutes:02}").as_bytes());
            if seconds % 60 != 0 {
                out.extend_from_slice(format!(":{:02}", seconds % 60).as_bytes());
            }
        }
        _ => {
            out.truncate(start);
            out.extend_from_slice(value);
        }
    }
}

/// Appends an interval of PostgreSQL: `HH:MM:SS` if it has no more than that, otherwise a duration of ISO 8601.
pub fn put_interval(value: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(value);
    let (mut date, mut time) = (String::new(), None);
    let mut words = text.split(' ');
    while let Some(word) = words.next() {
        if word.contains(':') {
            time = Some(word);
            continue;
        }
        let letter = match words.next() {
            Some("year" | "years") => 'Y',
            Some("mon" | "mons") => 'M',
            Some("day" | "days") => 'D',
            _ => return out.extend_from_slice(value),
        };
        date += &format!("{}{letter}", word.trim_start_matches('+'));
    }
    if date.is_empty() {
        return put_clock(value, out);
    }
    let mut duration = format!("P{date}");
    if let Some(time) = time {
        let (sign, time) = match time.strip_prefix('-') {
            Some(time) => ("-", time),
            None => ("", time.trim_start_matches('+')),
        };
        let parts: Vec<&str> = time.split(':').collect();
        duration.push('T');
        for (part, letter) in parts.iter().zip(['H', 'M', 'S']) {
            let number = part.trim_start_matches('0');
            if !number.is_empty() {
                let zero = if number.starts_with('.') { "0" } else { "" };
                duration += &format!("{sign}{zero}{number}{letter}");
            }
        }
        if duration.ends_with('T') {
            duration.pop();
        }
    }
    out.extend_from_slice(duration.as_bytes());
}

/// A text in the form of [`put_time`] as PostgreSQL reads it. `end` follows the time, such as an offset.
pub fn in_postgres(canonical: &[u8], end: &str, out: &mut Vec<u8>) {
    let Some((day, rest)) = day(canonical) else {
        out.extend_from_slice(canonical);
        return;
    };
    let is_before_christ = day.year < 1;
    let year = if is_before_christ {
        1 - day.year
    } else {
        day.year
    };
    Day { year, ..day }.put(out);
    out.extend_from_slice(rest);
    out.extend_from_slice(end.as_bytes());
    if is_before_christ {
        out.extend_from_slice(b" BC");
    }
}

/// Whether SQLite's date functions read a text in the form of [`put_time`].
pub fn is_read(canonical: &[u8]) -> bool {
    day(canonical).is_some_and(|(day, _)| YEARS_READ.contains(&day.year))
}

/// Whether SQLite's date functions read a text in the form of [`put_clock`].
pub fn is_clock_read(canonical: &[u8]) -> bool {
    let time = clock(canonical, false);
    time.is_some_and(|(time, rest)| {
        let is_offset = || rest.len() == 6 && offset(rest).is_some_and(|(_, rest)| rest.is_empty());
        time.hours < 24 && (rest.is_empty() || is_offset())
    })
}

/// What a text says, if it is a day or a point in time as SQLite reads it.
pub fn shape(text: &[u8]) -> Option<Shape> {
    let (day, rest) = day(text)?;
    // A year of four digits and no sign: the others are read, but their text has another order.
    if !(0..=9999).contains(&day.year) || !text[0].is_ascii_digit() || is_zero(text) {
        return None;
    }
    let Some((b' ' | b'T', rest)) = rest.split_first() else {
        return rest.is_empty().then_some(Shape {
            has_clock: false,
            has_offset: false,
            fraction: 0,
        });
    };
    let (time, rest) = clock(rest, false)?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let has_offset = !rest.is_empty();
    let is_whole = !has_offset || offset(rest).is_some_and(|(_, rest)| rest.is_empty());
    (time.hours < 24 && is_whole).then_some(Shape {
        has_clock: true,
        has_offset,
        fraction: time.fraction.len(),
    })
}

/// The digits of the fraction of a time of the day without an offset; `None` for another text.
pub fn clock_fraction(text: &[u8]) -> Option<usize> {
    let (time, rest) = clock(text, false)?;
    (time.hours < 24 && rest.is_empty()).then_some(time.fraction.len())
}

/// The digits of the fraction of a time in hours, which may be negative and more than a day; `None` for another text.
pub fn span_fraction(text: &[u8]) -> Option<usize> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (time, rest) = clock(text, true)?;
    rest.is_empty().then_some(time.fraction.len())
}

/// Whether a text is a date with zeros, which no calendar has.
pub fn is_zero(value: &[u8]) -> bool {
    let is_date = value.len() >= 10 && value[4] == b'-' && value[7] == b'-';
    is_date && (&value[..4] == b"0000" || &value[5..7] == b"00" || &value[8..10] == b"00")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(put: impl FnOnce(&[u8], &mut Vec<u8>), value: &str) -> String {
        let mut out = Vec::new();
        put(value.as_bytes(), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn times_have_one_form() {
        for (value, expected) in [
            ("2024-02-29 10:00:00", "2024-02-29 10:00:00"),
            ("2024-02-29T10:00", "2024-02-29 10:00:00"),
            ("2024-02-29", "2024-02-29 00:00:00"),
            ("2024-02-29 10:00:00.500", "2024-02-29 10:00:00.5"),
            ("2024-02-29 10:00:00.000", "2024-02-29 10:00:00"),
            ("2024-02-29 10:00:00+00", "2024-02-29 10:00:00"),
            ("2024-02-29T10:00:00.25Z", "2024-02-29 10:00:00.25"),
            ("2024-03-01 01:15:00+05:30", "2024-02-29 19:45:00"),
            ("2023-12-31 23:00:00 -02:00", "2024-01-01 01:00:00"),
            ("0044-03-15 10:00:00+00 BC", "-0043-03-15 10:00:00"),
            ("0001-01-01 00:00:00 BC", "0000-01-01 00:00:00"),
            ("10000-01-01 00:00:00", "10000-01-01 00:00:00"),
            ("infinity", "infinity"),
            ("2023-02-29 10:00:00", "2023-02-29 10:00:00"),
            ("noon", "noon"),
        ] {
            let iso = put(|value, out| put_time(value, true, out), value);
            assert_eq!(iso, expected, "{value}");
            assert_eq!(put(|value, out| put_time(value, true, out), &iso), iso);
        }
        for (canonical, expected) in [
            ("-0043-03-15 10:00:00", "0044-03-15 10:00:00+00 BC"),
            ("0000-01-01 00:00:00", "0001-01-01 00:00:00+00 BC"),
            ("2024-02-29 10:00:00.5", "2024-02-29 10:00:00.5+00"),
            ("infinity", "infinity"),
        ] {
            let text = put(|value, out| in_postgres(value, "+00", out), canonical);
            assert_eq!(text, expected);
            assert_eq!(
                put(|value, out| put_time(value, true, out), &text),
                canonical
            );
        }
    }

    #[test]
    fn days_have_numbers() {
        for (day_text, number) in [
            ("1970-01-01", 0),
            ("2000-02-29", 11_016),
            ("1969-12-31", -1),
            ("0000-03-01", -719_468),
            ("-0004-02-29", -720_930),
        ] {
            let (found, _) = day(day_text.as_bytes()).expect("a day");
            assert_eq!(found.number(), number, "{day_text}");
        }
        for number in (-800_000..800_000).step_by(97) {
            assert_eq!(Day::of_number(number).number(), number);
        }
    }

    #[test]
    fn clocks_and_intervals_have_one_form() {
        for (value, expected, is_readable) in [
            ("10:00:00.50", "10:00:00.5", true),
            ("10:00", "10:00:00", true),
            ("24:00:00", "24:00:00", false),
            ("10:00:00+02", "10:00:00+02:00", true),
            ("10:00:00-03:30", "10:00:00-03:30", true),
            ("10:00:00+02:30:15", "10:00:00+02:30:15", false),
            ("838:59:58.250000", "838:59:58.25", false),
            ("-01:00:00", "-01:00:00", false),
        ] {
            let text = put(put_clock, value);
            assert_eq!(text, expected);
            assert_eq!(put(put_clock, &text), text);
            assert_eq!(is_clock_read(text.as_bytes()), is_readable, "{value}");
        }
        for (value, expected) in [
            ("1 year 2 mons -3 days +04:05:06.7", "P1Y2M-3DT4H5M6.7S"),
            ("1 day", "P1D"),
            ("-1 days -02:00:00.5", "P-1DT-2H-0.5S"),
            ("3 days 00:00:00", "P3D"),
            ("04:05:06", "04:05:06"),
            ("P1D", "P1D"),
        ] {
            assert_eq!(put(put_interval, value), expected);
        }
    }

    #[test]
    fn shapes_are_those_that_sqlite_reads() {
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        for (text, expected) in [
            ("2024-02-29", Some((false, false, 0))),
            ("2024-02-29 10:00", Some((true, false, 0))),
            ("2024-02-29T10:00:00.1230", Some((true, false, 3))),
            ("2024-02-29 10:00:00+02:00", Some((true, true, 0))),
            ("2024-02-29 10:00:00.5 Z", Some((true, true, 1))),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("0000-00-00", None),
            ("2024-2-9", None),
            ("20240229", None),
            ("2024-02-29 25:00:00", None),
            ("2024-02-29 10:00:00 pm", None),
            ("", None),
            ("soon", None),
        ] {
            let found = shape(text.as_bytes());
            let found = found.map(|shape| (shape.has_clock, shape.has_offset, shape.fraction));
            assert_eq!(found, expected, "{text}");
            let read: Option<f64> = db
                .query_row("SELECT julianday(?1)", [text], |row| row.get(0))
                .expect("a day");
            assert!(found.is_none() || read.is_some(), "{text}");
        }
    }
}
