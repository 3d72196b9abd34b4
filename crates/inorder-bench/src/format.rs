//! Numbers as a person reads them: one place, so that every report writes them alike.

use std::fmt::Write as _;

use crate::statistics::Ratio;

/// The text for an unobservable value.
pub const NOT_AVAILABLE: &str = "n/a";

/// A value with its unit, such as `1.2 MiB`, `12.3 us`, `43%` or `1,000,000 rows`.
///
/// `unit` is one of those in the lists of probes and metrics; an unknown one follows the number.
pub fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => scaled(value, BYTES),
        "us" => scaled(value, TIMES),
        "s" => scaled(value * 1e6, TIMES),
        "CPU s" => format!("{} CPU", scaled(value * 1e6, TIMES)),
        "share" => percent(value),
        "times" | "" => significant(value),
        _ => format!("{} {unit}", significant(value)),
    }
}

/// The same for a value that may be missing.
pub fn quantity_or_na(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| NOT_AVAILABLE.to_owned(), |value| quantity(value, unit))
}

/// A ratio: two decimals around 1, three significant digits elsewhere.
pub fn ratio(value: f64) -> String {
    // An empty sum is -0 in Rust; it is shown as 0.
    let value = value + 0.0;
    let size = value.abs();
    if size != 0.0 && size < 0.0995 {
        format!("{value:.3}")
    } else if size < 9.995 {
        format!("{value:.2}")
    } else {
        significant(value)
    }
}

/// A ratio with its interval: `0.52 [0.49, 0.55]`, or `0.52` where both ends read the same.
pub fn ratio_with_interval(ratio: &Ratio) -> String {
    ratio_of(ratio, "")
}

/// A ratio in words with its interval: `0.52 times [0.49, 0.55]`.
pub fn times_with_interval(ratio: &Ratio) -> String {
    ratio_of(ratio, " times")
}

fn ratio_of(ratio: &Ratio, unit: &str) -> String {
    let (middle, low, high) = (self::ratio(ratio.ratio), end(ratio.low), end(ratio.high));
    if !ratio.has_interval() {
        format!("{middle}{unit} (one pair)")
    } else if low == middle && high == middle {
        format!("{middle}{unit}")
    } else {
        format!("{middle}{unit} [{low}, {high}]")
    }
}

/// Formats the interval of a ratio: `0.49 to 0.55`.
pub fn interval(ratio: &Ratio) -> String {
    if !ratio.has_interval() {
        return "unknown from one pair".to_owned();
    }
    format!("{} to {}", end(ratio.low), end(ratio.high))
}

/// Ratios beyond which the end of an interval says only that little is known.
const END_MIN: f64 = 0.001;
const END_MAX: f64 = 1000.0;

/// An end of an interval. A few pairs that differ have ends of many digits, which mean nothing.
fn end(value: f64) -> String {
    match value {
        _ if value > END_MAX => format!("over {}", significant(END_MAX)),
        _ if value < END_MIN && value > 0.0 => format!("under {END_MIN}"),
        _ => ratio(value),
    }
}

/// A share as a percentage: `43%`, `0.4%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0 + 0.0;
    if percent != 0.0 && percent.abs() < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// A whole number with its thousands apart: `1,000,000`.
pub fn integer(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three significant digits, thousands apart, no exponent and no trailing zeros after the point.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    if size >= 999.5 || size.fract() == 0.0 {
        return format!("{sign}{}", integer(size.round() as u64));
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 9) as usize;
    format!("{sign}{}", trim_zeros(&format!("{size:.decimals$}")))
}

/// A tick of an axis or a level of a factor: `250k`, `1M`, `0.5`.
pub fn short(value: f64) -> String {
    let (divisor, suffix) = match value.abs() {
        size if size >= 1e9 => (1e9, "G"),
        size if size >= 1e6 => (1e6, "M"),
        size if size >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{suffix}", significant(value / divisor))
}

/// The scale that suits the largest value of an axis: what to divide by and the unit to name.
pub fn axis_scale(largest: f64, unit: &str) -> (f64, String) {
    let of = |scales: Scales, factor: f64| {
        let (divisor, name) = step(largest * factor, scales);
        (divisor / factor, name.to_owned())
    };
    match unit {
        "bytes" => of(BYTES, 1.0),
        "us" => of(TIMES, 1.0),
        "s" | "CPU s" => of(TIMES, 1e6),
        "share" => (0.01, "%".to_owned()),
        _ => (1.0, unit.to_owned()),
    }
}

/// A moment as `2026-03-01 14:05 UTC`, from seconds since 1970.
pub fn moment(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil_from_days(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60
    )
}

/// A moment as a part of a file's name: `2026-03-01-140527`, UTC.
pub fn stamp(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    let (year, month, day) = civil_from_days(days);
    format!(
        "{year:04}-{month:02}-{day:02}-{:02}{:02}{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// A length of time as `42 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A count with its noun: `1 trial`, `3 trials`.
pub fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", integer(n as u64))
}

/// Names of a unit's scales with what each is worth, smallest first.
type Scales = &'static [(f64, &'static str)];

const BYTES: Scales = &[
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];

/// Times in microseconds.
const TIMES: Scales = &[(1e-3, "ns"), (1.0, "us"), (1e3, "ms"), (1e6, "s")];

/// The largest scale in which the value is at least 1 (0.9995 of it, which prints as 1).
fn step(value: f64, scales: Scales) -> (f64, &'static str) {
    let size = value.abs();
    let fitting = scales
        .iter()
        .rev()
        .find(|(worth, _)| size >= worth * 0.9995);
    match fitting {
        Some(found) => *found,
        // 0 is shown in the base unit.
        None if size == 0.0 => *scales
            .iter()
            .find(|(worth, _)| *worth == 1.0)
            .unwrap_or(&scales[0]),
        None => scales[0],
    }
}

fn scaled(value: f64, scales: Scales) -> String {
    let (divisor, name) = step(value, scales);
    format!("{} {name}", significant(value / divisor))
}

fn trim_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// Appends a point in time in UTC, `2026-01-31 23:59:59.999`, or its day alone.
pub(crate) fn push_time(unix_ms: u64, is_date: bool, out: &mut String) {
    let (year, month, day) = civil_from_days(unix_ms / 86_400_000);
    let ms = unix_ms % 86_400_000;
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    if !is_date {
        let (seconds, ms) = (ms / 1000, ms % 1000);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let _ = write!(out, " {hours:02}:{minutes:02}:{seconds:02}.{ms:03}");
    }
}

/// Year, month and day of a count of days since 1970 (Howard Hinnant, "chrono-compatible low-level
/// date algorithms", civil_from_days).
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (value, unit, text) in [
            (0.0, "bytes", "0 B"),
            (512.0, "bytes", "512 B"),
            (1_258_291.0, "bytes", "1.2 MiB"),
            (14_638_120.0, "bytes", "14 MiB"),
            (12_939_428.0, "bytes", "12.3 MiB"),
            (1_047_552.0, "bytes", "1,023 KiB"),
            (12.34, "us", "12.3 us"),
            (0.4, "us", "400 ns"),
            (0.0, "us", "0 us"),
            (1_500.0, "us", "1.5 ms"),
            (2.5, "s", "2.5 s"),
            (0.0021, "s", "2.1 ms"),
            (1.5, "CPU s", "1.5 s CPU"),
            (0.434, "share", "43%"),
            (0.004, "share", "0.4%"),
            (1e6, "rows", "1,000,000 rows"),
            (70_123.4, "rows/s", "70,123 rows/s"),
            (1.5, "times", "1.5"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
        assert_eq!(quantity_or_na(None, "bytes"), "n/a");
    }

    #[test]
    fn ratios() {
        for (value, text) in [
            (0.5, "0.50"),
            (1.0, "1.00"),
            (0.0314, "0.031"),
            (12.34, "12.3"),
            (1234.0, "1,234"),
            (0.0, "0.00"),
            (-0.0, "0.00"),
        ] {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn axes() {
        assert_eq!(axis_scale(5e6, "bytes"), (1_048_576.0, "MiB".to_owned()));
        assert_eq!(axis_scale(0.002, "s"), (1e-3, "ms".to_owned()));
        assert_eq!(axis_scale(7.0, "rows/s"), (1.0, "rows/s".to_owned()));
        assert_eq!(short(250_000.0), "250k");
        assert_eq!(short(1e6), "1M");
        assert_eq!(short(1_500.0), "1,500");
        assert_eq!(short(0.5), "0.5");
    }

    #[test]
    fn moments() {
        assert_eq!(moment(0), "1970-01-01 00:00 UTC");
        assert_eq!(moment(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(moment(1_767_225_599), "2025-12-31 23:59 UTC");
        assert_eq!(duration(3_725), "1 h 2 min");
    }

    #[test]
    fn counts() {
        assert_eq!(count(1, "trial"), "1 trial");
        assert_eq!(count(12_000, "trial"), "12,000 trials");
        assert_eq!(integer(999), "999");
    }
}
