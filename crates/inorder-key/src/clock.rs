//! Clocks: the sources of time for ids.

use core::fmt;

/// A time as ids store it: milliseconds since 1970-01-01T00:00:00Z, and the nanoseconds within the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    /// Whole milliseconds since the Unix epoch, at most [`UnixTime::MS_MAX`] in an id.
    pub ms: u64,
    /// Nanoseconds within the millisecond, 0 to 999,999.
    pub sub_ms_nanos: u32,
}

impl UnixTime {
    /// The last millisecond that 48 bits can represent, in the year 10889.
    pub const MS_MAX: u64 = (1 << 48) - 1;

    /// Creates the time at which a millisecond begins.
    pub const fn from_ms(ms: u64) -> Self {
        Self {
            ms,
            sub_ms_nanos: 0,
        }
    }
}

impl fmt::Display for UnixTime {
    /// Formats the time as RFC 3339 to the millisecond: `2022-02-22T19:22:22.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAYS_IN_400_YEARS: u64 = 146_097;
        let (seconds, ms) = (self.ms / 1000, self.ms % 1000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        // Years begin in March here, so that the leap day ends them; day 0 is 0000-03-01.
        let days = days + 719_468;
        let (cycle, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let year = 400 * cycle + year + u64::from(month >= 10);
        let month = (month + 2) % 12 + 1;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z"
        )
    }
}

/// The result of reading a clock: the time, and the number of ids that may use it before the next reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time.
    pub time: UnixTime,
    /// Number of ids that may use this time, at least 1.
    pub ids: usize,
}

/// A source of time for ids.
///
/// The clock may stand still or be set back. Generators keep their order in both cases.
pub trait Clock {
    /// Reads the clock for the next `wanted` ids (at least 1). The reading is valid for 1 to `wanted` of them.
    fn read(&mut self, wanted: usize) -> Reading;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339_has_them() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_469_922_850_259, "2016-07-30T23:54:10.259Z"),
            (1_704_067_199_999, "2023-12-31T23:59:59.999Z"),
            (1_704_067_200_000, "2024-01-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (UnixTime::MS_MAX, "10889-08-02T05:31:50.655Z"),
        ] {
            assert_eq!(UnixTime::from_ms(ms).to_string(), text);
        }
    }
}
