//! The clock, and days as people read them.

use inorder_key::{Error, UnixTime, parse_time};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// The day of this time, `YYYY-MM-DD`, in UTC.
pub fn day(ms: u64) -> String {
    let time = UnixTime::from_ms(ms.min(UnixTime::MS_MAX)).to_string();
    time[..time.find('T').unwrap_or(time.len())].to_owned()
}

/// The year of this time, in UTC.
pub fn year(ms: i64) -> i64 {
    let day = day(ms.unsigned_abs());
    day[..4].parse().unwrap_or_default()
}

/// This time as feeds write it, RFC 3339, in UTC.
pub fn time(ms: u64) -> String {
    UnixTime::from_ms(ms.min(UnixTime::MS_MAX)).to_string()
}

/// Whether the text is a day, `YYYY-MM-DD`.
pub fn is_day(text: &str) -> bool {
    text.len() == 10 && matches!(parse_time(text), Ok(_) | Err(Error::Time { .. }))
}

/// The last day that has begun anywhere on earth, or is about to.
pub fn tomorrow() -> String {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    day((now_ms() + DAY_MS).unsigned_abs())
}

/// The time at which this day began in UTC, in milliseconds since 1970.
pub fn day_ms(text: &str) -> Option<u64> {
    let time = parse_time(text).ok().filter(|_| is_day(text));
    time.map(|time| time.ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(951_782_400_000), "2000-02-29");
        assert!(is_day("2024-02-29") && is_day("1969-07-20"));
        assert!(
            !is_day("2023-02-29") && !is_day("2024-2-9") && !is_day("") && !is_day("20240229ab")
        );
    }

    proptest! {
        #[test]
        fn a_day_survives_its_text(days in 0u64..60_000) {
            prop_assert_eq!(day_ms(&day(days * 86_400_000)), Some(days * 86_400_000));
        }
    }
}
