//! Counters: how far counted numbers have come on the way to the last one that fits.
//!
//! The readers of each engine fill [`Counter`]; rules and reports of files and of servers read it.

use crate::Error;
use serde::{Deserialize, Serialize, Serializer};
use std::time::{SystemTime, UNIX_EPOCH};

/// Share of its range, in percent, from which a counter is worth a warning,
pub const WARN_MIN_PERCENT: f64 = 50.0;
/// and from which it is the first line of a report.
pub const ALERT_MIN_PERCENT: f64 = 80.0;

const DAY_S: f64 = 86_400.0;

/// What counts numbers, and how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counter {
    /// The column with its table, or the sequence, as a report names it.
    pub object: String,
    /// What counts, such as `AUTO_INCREMENT` or `the sequence public.orders_id_seq`.
    pub counted_by: String,
    /// What ends it, such as `integer`.
    pub bounded_by: String,
    /// The first number of the range.
    #[serde(serialize_with = "number")]
    pub first: i128,
    /// The number that was reached.
    #[serde(serialize_with = "number")]
    pub reached: i128,
    /// The last number that fits. It is below the first one where numbers descend.
    #[serde(serialize_with = "number")]
    pub last: i128,
    /// The share of the range that is used, in percent.
    pub used_percent: f64,
    /// Numbers that are left.
    #[serde(serialize_with = "number")]
    pub left: i128,
    /// Numbers used per day since the earlier report, if there is one.
    pub per_day: Option<f64>,
    /// Days until the last number at that rate; `None` also where the counter stands still.
    pub days_left: Option<f64>,
}

/// JSON has integers of 64 bits.
fn number<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*value) {
        Ok(value) => serializer.serialize_i64(value),
        Err(_) => serializer.serialize_u64(u64::try_from(*value).unwrap_or(u64::MAX)),
    }
}

impl Counter {
    /// A counter that goes from `first` to `last`, in either direction, and has come to `reached`.
    pub fn new(
        object: impl Into<String>,
        counted_by: impl Into<String>,
        bounded_by: impl Into<String>,
        (first, reached, last): (i128, i128, i128),
    ) -> Self {
        let sign = if last < first { -1 } else { 1 };
        let range = (sign * (last - first) + 1) as f64;
        let used = (sign * (reached - first) + 1) as f64;
        Counter {
            object: object.into(),
            counted_by: counted_by.into(),
            bounded_by: bounded_by.into(),
            first,
            reached,
            last,
            used_percent: (100.0 * used / range).clamp(0.0, 100.0),
            left: (sign * (last - reached)).max(0),
            per_day: None,
            days_left: None,
        }
    }

    /// Whether a report begins with it.
    pub fn is_alert(&self) -> bool {
        self.used_percent >= ALERT_MIN_PERCENT
    }

    /// Whether it is worth a warning.
    pub fn is_warning(&self) -> bool {
        self.used_percent >= WARN_MIN_PERCENT
    }

    /// How far it has come: `has reached 1900000000, 88 % of what integer holds`.
    pub fn in_words(&self) -> String {
        format!(
            "has reached {}, {} of what {} holds",
            self.reached,
            percent(self.used_percent),
            self.bounded_by
        )
    }

    /// What is left, and for how long.
    pub fn left_in_words(&self) -> String {
        let left = format!("{} numbers are left", self.left);
        match (self.per_day, self.days_left) {
            (Some(rate), Some(days)) => format!(
                "{left}: {} at {} per day",
                days_in_words(days),
                rounded(rate)
            ),
            (Some(_), None) => format!("{left}; it stood still since the earlier report"),
            _ => format!("{left} (--since EARLIER.json tells for how many days)"),
        }
    }
}

fn percent(share: f64) -> String {
    match share {
        99.5..100.0 => format!("{:.1} %", share.min(99.9)),
        _ => format!("{share:.0} %"),
    }
}

fn days_in_words(days: f64) -> String {
    match days {
        ..0.1 => "less than 0.1 days".into(),
        ..10.0 => format!("about {days:.1} days"),
        _ => format!("about {days:.0} days"),
    }
}

fn rounded(rate: f64) -> String {
    match rate {
        ..10.0 => format!("{rate:.1}"),
        _ => format!("{rate:.0}"),
    }
}

/// The first lines of a report: counters that are nearly at their end, the nearest first.
pub(crate) fn alerts(counters: &[Counter]) -> Vec<String> {
    /// Lines that are shown.
    const SHOWN: usize = 8;
    let alerts: Vec<&Counter> = counters.iter().filter(|own| own.is_alert()).collect();
    let line = |own: &&Counter| {
        format!(
            "COUNTER NEAR ITS END: {} {}; {}.",
            own.object,
            own.in_words(),
            own.left_in_words()
        )
    };
    let mut lines: Vec<String> = alerts.iter().take(SHOWN).map(line).collect();
    if alerts.len() > SHOWN {
        lines.push(format!(
            "{} more counters are near their end (--format json lists them).",
            alerts.len() - SHOWN
        ));
    }
    lines
}

/// Sorts counters for a report: those that are nearest to their end first.
pub(crate) fn sort(counters: &mut [Counter]) {
    counters.sort_by(|one, other| {
        let by_use = other.used_percent.total_cmp(&one.used_percent);
        by_use.then_with(|| (&one.object, &one.counted_by).cmp(&(&other.object, &other.counted_by)))
    });
}

/// Seconds since 1970.
pub(crate) fn now_s() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

/// The counters of an earlier report in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Readings {
    read_at_s: u64,
    counters: Vec<Reading>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Reading {
    object: String,
    counted_by: String,
    reached: i128,
}

impl Readings {
    /// Takes the counters out of a report in JSON, of a file or of a server.
    ///
    /// # Errors
    /// [`Error::NotAReport`] if it has none.
    pub fn parse(report: &str) -> Result<Self, Error> {
        serde_json::from_str(report).map_err(|error| Error::NotAReport {
            why: error.to_string(),
        })
    }

    /// Tells how fast each counter went since, and how long it lasts at that rate.
    pub(crate) fn date<'c>(&self, counters: impl IntoIterator<Item = &'c mut Counter>, now_s: u64) {
        let days = now_s.saturating_sub(self.read_at_s) as f64 / DAY_S;
        if days <= 0.0 {
            return;
        }
        for own in counters {
            let mut earlier = self.counters.iter();
            let earlier = earlier.find(|earlier| {
                (&earlier.object, &earlier.counted_by) == (&own.object, &own.counted_by)
            });
            let Some(earlier) = earlier else { continue };
            let sign = if own.last < own.first { -1 } else { 1 };
            // One that was set back tells nothing.
            let used = sign * (own.reached - earlier.reached);
            if used < 0 {
                continue;
            }
            let rate = used as f64 / days;
            own.per_day = Some(rate);
            own.days_left = (used > 0).then(|| own.left as f64 / rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(first: i128, reached: i128, last: i128) -> Counter {
        Counter::new("t.id", "AUTO_INCREMENT", "int", (first, reached, last))
    }

    #[test]
    fn the_share_is_that_of_the_range_in_either_direction() {
        let used = |first, reached, last| counter(first, reached, last).used_percent;
        assert_eq!(used(1, 50, 100), 50.0);
        assert_eq!(used(-1, -50, -100), 50.0);
        assert_eq!(used(0, 0, 255), 100.0 / 256.0);
        assert_eq!(used(-128, -1, 127), 50.0);
        assert_eq!(used(1, 0, 100), 0.0);
        assert_eq!(used(1, 300, 100), 100.0);
        let max = i128::from(u64::MAX);
        let whole = counter(1, max, max);
        assert_eq!((whole.used_percent, whole.left), (100.0, 0));
        let json = serde_json::to_value(&whole).unwrap();
        assert_eq!(json["last"], u64::MAX);
        let wide = counter(i64::MIN.into(), 0, i64::MAX.into());
        assert_eq!(serde_json::to_value(&wide).unwrap()["first"], i64::MIN);
    }

    #[test]
    fn days_are_told_from_two_readings() {
        let report = |reached: i128| {
            format!(
                r#"{{"read_at_s": 1000000, "url": "x", "counters": [{{"object": "t.id", "counted_by": "AUTO_INCREMENT", "reached": {reached}, "more": 1}}]}}"#
            )
        };
        let dated = |earlier: i128, own: Counter, after_s: u64| {
            let mut counters = [own];
            let readings = Readings::parse(&report(earlier)).unwrap();
            readings.date(&mut counters, 1_000_000 + after_s);
            let [own] = counters;
            (own.per_day, own.days_left)
        };
        let day = DAY_S as u64;
        assert_eq!(
            dated(100, counter(1, 300, 1300), 2 * day),
            (Some(100.0), Some(10.0))
        );
        assert_eq!(
            dated(-100, counter(-1, -300, -1300), 2 * day),
            (Some(100.0), Some(10.0))
        );
        assert_eq!(dated(300, counter(1, 300, 1300), day), (Some(0.0), None));
        assert_eq!(dated(400, counter(1, 300, 1300), day), (None, None));
        assert_eq!(dated(100, counter(1, 300, 1300), 0), (None, None));
        assert!(Readings::parse("{}").is_err() && Readings::parse("no").is_err());
        let mut own = counter(1, 900, 1000);
        assert!(alerts(&[own.clone()])[0].contains("100 numbers are left (--since"));
        (own.per_day, own.days_left) = (Some(50.0), Some(2.0));
        assert_eq!(
            alerts(&[own]),
            [
                "COUNTER NEAR ITS END: t.id has reached 900, 90 % of what int holds; 100 numbers are left: about 2.0 days at 50 per day."
            ]
        );
    }

    #[test]
    fn warnings_begin_at_half_and_alerts_at_four_fifths() {
        let of = |reached| {
            let own = counter(1, reached, 100);
            (own.is_warning(), own.is_alert())
        };
        assert_eq!(of(49), (false, false));
        assert_eq!(of(50), (true, false));
        assert_eq!(of(79), (true, false));
        assert_eq!(of(80), (true, true));
    }
}
