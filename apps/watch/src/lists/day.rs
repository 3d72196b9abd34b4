//! Days and times in files, and the day that a time is for the user.

use crate::{Error, Result, date, db::entries, words::say};
use jiff::{Timestamp, civil, tz::TimeZone};

/// How the days of a file are read.
#[derive(Clone, Debug)]
pub struct Days {
    /// The user's zone.
    pub zone: TimeZone,
    /// Whether times without a zone are in UTC.
    pub is_utc: bool,
    /// Whether the day comes before the month in `5/1/2024`; `None` if nobody knows.
    pub is_day_first: Option<bool>,
}

/// The zone of an IANA name such as `Europe/Berlin`, or of an offset such as `+02:00`.
pub fn zone(name: &str) -> Option<TimeZone> {
    if let Some(rest) = name.strip_prefix(['+', '-', '\u{2212}']) {
        let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        let seconds = hours * 3600 + minutes * 60;
        let sign = if name.starts_with('+') { 1 } else { -1 };
        let offset = jiff::tz::Offset::from_seconds(sign * seconds).ok()?;
        return Some(TimeZone::fixed(offset));
    }
    TimeZone::get(name).ok()
}

/// The date and the time of a text; the time is empty where there is none.
fn parts(text: &str) -> (&str, &str) {
    match text.split_once(['T', ' ']) {
        Some((date, time)) if is_time(time) => (date, time),
        _ => (text, ""),
    }
}

/// Whether a text begins as a time of day does: `20:15`.
fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let is_number =
        |part: Option<&str>| part.is_some_and(|part| part.len() <= 2 && part.parse::<u8>().is_ok());
    is_number(parts.next())
        && parts
            .next()
            .is_some_and(|minutes| minutes.starts_with(|c: char| c.is_ascii_digit()))
}

/// The numbers of `5/1/2024`, of which nobody knows which one is the month.
pub fn slashed(text: &str) -> Option<(u32, u32)> {
    let (date, _) = parts(text.trim());
    let by: Vec<&str> = date.split('/').map(str::trim).collect();
    match by[..] {
        [first, second, year] if first.len() <= 2 && !year.is_empty() => {
            year.parse::<u32>().ok()?;
            Some((first.parse().ok()?, second.parse().ok()?))
        }
        _ => None,
    }
}

/// Whether a text is a time in a stated zone.
pub fn is_instant(text: &str) -> bool {
    instant(text.trim()).is_some()
}

fn instant(text: &str) -> Option<Timestamp> {
    let (date, time) = parts(text);
    if time.is_empty() {
        return None;
    }
    let time = time.strip_suffix(" UTC").map(|time| format!("{time}Z"));
    match time {
        Some(time) => format!("{date}T{time}").parse().ok(),
        None => text.parse().ok(),
    }
}

impl Days {
    /// The day of a text: `2026-01-31` or `2026-1-31`, `31.1.2026`, or `1/31/2026` where it is known which number is the month. A time
    /// in a stated zone, or in that of the file, is the day that it was for the user.
    ///
    /// # Errors
    /// [`Error::Invalid`] for another text, and for a day on which nobody can have watched a film.
    pub fn day(&self, text: &str) -> Result<String> {
        let text = text.trim();
        let day = self.of_time(text).or_else(|| self.of_date(parts(text).0));
        let day = day.filter(|day| entries::is_watched_day(day) && *day <= date::tomorrow());
        day.ok_or_else(|| Error::Invalid(say::csv_no_day(text)))
    }

    fn of_time(&self, text: &str) -> Option<String> {
        let (_, time) = parts(text);
        let time = match instant(text) {
            Some(time) => time,
            None if self.is_utc && !time.is_empty() => {
                let time: civil::DateTime = text.parse().ok()?;
                time.to_zoned(TimeZone::UTC).ok()?.timestamp()
            }
            None => return None,
        };
        Some(time.to_zoned(self.zone.clone()).date().to_string())
    }

    fn of_date(&self, date: &str) -> Option<String> {
        let by = |separator| date.split(separator).map(str::trim).collect::<Vec<_>>();
        let (year, month, day) = match (&by('-')[..], &by('.')[..], &by('/')[..]) {
            ([year, month, day], ..) if year.len() == 4 => (*year, *month, *day),
            (_, [day, month, year], _) => (*year, *month, *day),
            (.., [year, month, day]) if year.len() == 4 => (*year, *month, *day),
            (.., [first, second, year]) => match self.is_day_first? {
                true => (*year, *second, *first),
                false => (*year, *first, *second),
            },
            _ => return None,
        };
        // A day of watching is of this century where the year has two digits.
        let century = if year.len() == 2 { "20" } else { "" };
        let day = format!("{century}{year}-{month:0>2}-{day:0>2}");
        date::is_day(&day).then_some(day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(zone_name: &str, is_utc: bool, is_day_first: Option<bool>) -> Days {
        Days {
            zone: zone(zone_name).unwrap(),
            is_utc,
            is_day_first,
        }
    }

    #[test]
    fn days_are_read_with_a_time_and_without_zeros_and_others_are_named() {
        let days = days("UTC", false, None);
        for (text, expected) in [
            ("2024-01-05", Some("2024-01-05")),
            ("2024-1-5", Some("2024-01-05")),
            ("2024-01-05T20:15:00Z", Some("2024-01-05")),
            ("2024-01-05T23:15:00-05:00", Some("2024-01-06")),
            ("2024-01-05 23:15:00+00:00", Some("2024-01-05")),
            ("2024-01-05 23:15:00 UTC", Some("2024-01-05")),
            ("2024-01-05 20:15:00", Some("2024-01-05")),
            ("2024-01-05 9:15", Some("2024-01-05")),
            ("05.01.2024", Some("2024-01-05")),
            ("5. 1. 2024", Some("2024-01-05")),
            ("5.1.2024 20:15", Some("2024-01-05")),
            ("5.1.24", Some("2024-01-05")),
            ("2024/01/05", Some("2024-01-05")),
            ("1/5/2024", None),
            ("24-1-5", None),
            ("2024-02-30", None),
            ("2024-01-05 or later", None),
            ("2024-1-", None),
            ("soon", None),
            ("", None),
            ("2999-01-01", None),
            ("0001-01-01", None),
            ("0001-01-01T00:00:00Z", None),
            ("9999-12-31", None),
        ] {
            assert_eq!(days.day(text).ok().as_deref(), expected, "{text}");
        }
        assert_eq!(days.day(&date::tomorrow()).ok(), Some(date::tomorrow()));
    }

    #[test]
    fn a_time_is_the_day_that_it_was_for_the_user() {
        for (zone, text, is_utc, expected) in [
            ("Europe/Berlin", "2024-03-01T22:59:59Z", false, "2024-03-01"),
            ("Europe/Berlin", "2024-03-01T23:00:00Z", false, "2024-03-02"),
            // In summer an hour earlier.
            (
                "Europe/Berlin",
                "2024-07-01T22:00:00.000Z",
                false,
                "2024-07-02",
            ),
            (
                "America/Los_Angeles",
                "2024-03-01T04:00:00Z",
                false,
                "2024-02-29",
            ),
            (
                "Pacific/Auckland",
                "2024-03-01T12:00:00Z",
                false,
                "2024-03-02",
            ),
            ("+05:30", "2024-03-01T18:30:00Z", false, "2024-03-02"),
            ("-03:00", "2024-03-01T02:59:00Z", false, "2024-02-29"),
            (
                "America/New_York",
                "2021-10-22 02:04:11",
                true,
                "2021-10-21",
            ),
            (
                "America/New_York",
                "2021-10-22 02:04:11",
                false,
                "2021-10-22",
            ),
            ("America/New_York", "2021-10-22", true, "2021-10-22"),
        ] {
            let day = days(zone, is_utc, None).day(text).unwrap();
            assert_eq!(day, expected, "{zone} {text}");
        }
        assert!(zone("Mars/Olympus").is_none() && zone("+99:00").is_none() && zone("").is_none());
    }

    #[test]
    fn the_order_of_slashes_is_told() {
        for (text, is_day_first, expected) in [
            ("1/5/2024", Some(true), Some("2024-05-01")),
            ("1/5/2024", Some(false), Some("2024-01-05")),
            ("12/31/19", Some(false), Some("2019-12-31")),
            ("12/31/19", Some(true), None),
            ("1/5/2024", None, None),
        ] {
            let day = days("UTC", false, is_day_first).day(text);
            assert_eq!(day.ok().as_deref(), expected, "{text}");
        }
        assert_eq!(slashed("31/12/2019"), Some((31, 12)));
        assert_eq!(slashed("2019/12/31"), None);
        assert_eq!(slashed("a/b/c"), None);
    }
}
