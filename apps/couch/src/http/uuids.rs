//! Ids of new documents, as `[uuids] algorithm` of the configuration says.
//!
//! Source: `couch_uuids`.

use crate::auth::{hex, random};
use crate::config::{Config, Derived, Values, keys};
use crate::store::new_id;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The last number of a prefix of sequential ids is below this and one step.
const NUMBERS_MAX: u32 = 0xff_f000;

/// The largest step between sequential ids.
const STEP_MAX: u32 = 0xffd;

/// Makes ids by the configuration as it is now.
#[derive(Debug)]
pub struct Uuids(Derived<Generator>);

impl Default for Uuids {
    fn default() -> Self {
        Uuids(Derived::new(Generator::read))
    }
}

impl Uuids {
    /// The next id.
    pub fn next(&self, config: &Config) -> String {
        self.0.get(config).next()
    }
}

#[derive(Debug)]
enum Generator {
    /// UUIDs of version 7: by time, then at random.
    Ordered,
    Random,
    /// The prefix, and the next number.
    Sequential(Mutex<(String, u32)>),
    /// The time in microseconds, and a random end.
    UtcRandom(Clock),
    /// The time in microseconds, and the same end for all.
    UtcId(Clock, String),
}

/// The last time that was used; none is used twice.
#[derive(Debug, Default)]
struct Clock(Mutex<u64>);

impl Generator {
    fn read(values: &Values) -> Self {
        match values.read(&keys::UUIDS_ALGORITHM).as_str() {
            "random" => Generator::Random,
            "sequential" => Generator::Sequential(Mutex::new((prefix(), step()))),
            "utc_random" => Generator::UtcRandom(Clock::default()),
            "utc_id" => Generator::UtcId(Clock::default(), values.read(&keys::UUIDS_UTC_ID_SUFFIX)),
            "uuid7" => Generator::Ordered,
            other => {
                tracing::error!(
                    "[uuids] algorithm = {other}: it is uuid7, sequential, random, utc_random or utc_id; uuid7 is used"
                );
                Generator::Ordered
            }
        }
    }

    fn next(&self) -> String {
        match self {
            Generator::Ordered => new_id(),
            Generator::Random => hex(&random::<16>()),
            Generator::Sequential(last) => {
                let mut last = lock(last);
                let (prefix_now, number) = last.clone();
                *last = match number >= NUMBERS_MAX {
                    true => (prefix(), step()),
                    false => (prefix_now.clone(), number + step()),
                };
                format!("{prefix_now}{number:06x}")
            }
            Generator::UtcRandom(clock) => format!("{:014x}{}", clock.next(), hex(&random::<9>())),
            Generator::UtcId(clock, end) => format!("{:014x}{end}", clock.next()),
        }
    }
}

impl Clock {
    fn next(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(u64::MAX));
        let mut last = lock(&self.0);
        *last = now.max(*last + 1);
        *last
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prefix() -> String {
    hex(&random::<13>())
}

fn step() -> u32 {
    u32::from_le_bytes(random()) % STEP_MAX + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Lifetime;

    fn ids(algorithm: &str, count: usize) -> Vec<String> {
        let config = Config::default();
        for (key, value) in [("algorithm", algorithm), ("utc_id_suffix", "-me")] {
            config.set("uuids", key, value, Lifetime::Run).unwrap();
        }
        let uuids = Uuids::default();
        (0..count).map(|_| uuids.next(&config)).collect()
    }

    fn all_sorted(ids: &[String]) -> bool {
        ids.is_sorted_by(|a, b| a < b)
    }

    #[test]
    fn each_algorithm_has_the_form_of_couchdb() {
        for algorithm in ["uuid7", "random", "sequential", "utc_random", "nonsense"] {
            let ids = ids(algorithm, 100);
            for id in &ids {
                let is_hex = id
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                assert!(id.len() == 32 && is_hex, "{algorithm}: {id}");
            }
            assert_eq!(all_sorted(&ids), algorithm != "random", "{algorithm}");
        }
        let sequential = ids("sequential", 100);
        assert!(sequential.iter().all(|id| id[..26] == sequential[0][..26]));
        let by_time = ids("utc_id", 100);
        assert!(all_sorted(&by_time));
        assert!(
            by_time
                .iter()
                .all(|id| id.len() == 17 && id.ends_with("-me")),
            "{by_time:?}"
        );
    }

    #[test]
    fn sequential_ids_get_another_prefix_when_the_numbers_are_used_up() {
        let last = Mutex::new(("a".repeat(26), NUMBERS_MAX));
        let generator = Generator::Sequential(last);
        assert_eq!(generator.next(), format!("{}fff000", "a".repeat(26)));
        let next = generator.next();
        assert_ne!(next[..26], "a".repeat(26));
        assert!(u32::from_str_radix(&next[26..], 16).unwrap() <= STEP_MAX);
    }
}
