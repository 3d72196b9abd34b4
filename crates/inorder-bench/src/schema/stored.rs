//! What an engine stores of the values of a column.

use super::class::Class;
use inorder_predict::{Engine, Order, Values};
use std::collections::BTreeMap;

/// Bytes of a text or a blob without a sample.
const BYTES: u64 = 20;
/// Values that a sample has at most if equal ones are next to each other in an index, and how often each stands in it on
/// average.
const BUCKETS_MAX: usize = 50;
const BUCKET_ROWS: usize = 10;

/// A sampled value; `None` is NULL.
type Sampled<'a> = Option<&'a [u8]>;

/// Returns the values of a column in an engine, of their mean size.
pub fn values_in(engine: Engine, class: Class, sample: &[Sampled<'_>]) -> Values {
    let present = sample.iter().flatten().count();
    let share = match sample.len() {
        0 => 1.0,
        all => present as f64 / all as f64,
    };
    let fixed = |bytes: u64| match (bytes, share) {
        (8, 1.0) => Values::Integer,
        (bytes, share) => Values::Fixed((bytes as f64 * share).round() as u64),
    };
    let mean = |of: &dyn Fn(&[u8]) -> u64, default: u64| {
        let sum: u64 = sample.iter().flatten().map(|value| of(value)).sum();
        match sample.len() {
            0 => default,
            all => (sum as f64 / all as f64).round() as u64,
        }
    };
    let length = |value: &[u8]| value.len() as u64;
    match (engine, class) {
        (Engine::Sqlite, Class::Integer(_) | Class::Boolean) => {
            Values::Fixed(mean(&sqlite_integer, 4))
        }
        (Engine::Sqlite, Class::Decimal(..)) => Values::Fixed(mean(&sqlite_number, 8)),
        (Engine::Sqlite, Class::Uuid) => fixed(16),
        (Engine::Sqlite, Class::Date) => Values::Bytes(mean(&length, 10)),
        (Engine::Sqlite, Class::Time) => Values::Bytes(mean(&length, 19)),
        (_, Class::Integer(bits)) => fixed(u64::from(bits) / 8),
        (_, Class::Boolean) => fixed(1),
        (_, Class::Real) => fixed(8),
        (_, Class::Uuid) => fixed(16),
        (Engine::Postgres, Class::Decimal(..)) => Values::Bytes(mean(&postgres_decimal, 6)),
        (_, Class::Decimal(digits, places)) => fixed(mariadb_decimal(digits, places)),
        (Engine::Postgres, Class::Date) => fixed(4),
        (_, Class::Date) => fixed(3),
        (_, Class::Time) => fixed(8),
        (_, Class::Text(_) | Class::Bytes | Class::Json | Class::Other) => {
            Values::Bytes(mean(&length, BYTES))
        }
    }
}

/// Returns the order in which the values of a column arrive, as far as its type and a sample tell. `is_by_arrival` says that
/// the sample is in that order.
pub fn order_of(class: Class, sample: &[Sampled<'_>], is_by_arrival: bool) -> Order {
    let mut counts: BTreeMap<Sampled<'_>, usize> = BTreeMap::new();
    for value in sample {
        *counts.entry(*value).or_default() += 1;
    }
    let distinct = counts.len();
    if (1..=BUCKETS_MAX).contains(&distinct) && sample.len() >= distinct * BUCKET_ROWS {
        return Order::Buckets(distinct as u64);
    }
    let number = |value: &Sampled<'_>| std::str::from_utf8((*value)?).ok()?.parse::<f64>().ok();
    match class {
        Class::Time | Class::Date => Order::Ascending,
        Class::Integer(_) if is_by_arrival && distinct > 1 => {
            match sample.is_sorted_by_key(number) {
                true => Order::Ascending,
                false => Order::Random,
            }
        }
        _ => Order::Random,
    }
}

/// Bytes of an integer in a record of SQLite: <https://www.sqlite.org/fileformat2.html#record_format>.
fn sqlite_integer(text: &[u8]) -> u64 {
    let text = std::str::from_utf8(text).ok();
    let Some(value) = text.and_then(|text| text.parse::<i64>().ok()) else {
        return 8;
    };
    let bits = 65 - u64::from(value.unsigned_abs().leading_zeros());
    match (value, bits.div_ceil(8)) {
        (0 | 1, _) => 0,
        (_, 5) => 6,
        (_, 7..) => 8,
        (_, bytes) => bytes,
    }
}

/// Bytes of a number with the affinity NUMERIC, which is an integer if it has no fraction.
fn sqlite_number(text: &[u8]) -> u64 {
    let fraction = text.iter().position(|&byte| byte == b'.');
    let (whole, fraction) = text.split_at(fraction.unwrap_or(text.len()));
    match fraction.iter().skip(1).all(|&byte| byte == b'0') {
        true => sqlite_integer(whole),
        false => 8,
    }
}

/// Bytes of a `numeric` without its length: two, and two for four digits before or behind the point (`numeric.c`).
fn postgres_decimal(text: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.trim_start_matches(['-', '0']).len();
    let fraction = fraction.trim_end_matches('0').len();
    2 + 2 * (whole.div_ceil(4) + fraction.div_ceil(4)) as u64
}

/// Bytes of a TIMESTAMP (four) or a DATETIME (five) with so many digits behind the point; of another type those of
/// `DATETIME(6)`.
pub fn mariadb_time(declared: &str) -> u64 {
    let declared = declared.to_ascii_lowercase();
    let (name, rest) = declared.split_once('(').unwrap_or((&declared, ""));
    let digits: u64 = rest.trim_end_matches(')').parse().unwrap_or_default();
    match name {
        "timestamp" => 4 + digits.div_ceil(2),
        "datetime" => 5 + digits.div_ceil(2),
        _ => 8,
    }
}

/// Bytes of a DECIMAL: four for nine digits before or behind the point, fewer for the rest
/// (<https://mariadb.com/kb/en/data-type-storage-requirements/>).
fn mariadb_decimal(digits: u32, places: u32) -> u64 {
    let bytes = |digits: u32| u64::from(digits / 9 * 4 + (digits % 9).div_ceil(2));
    bytes(digits.saturating_sub(places)) + bytes(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numeric(10,2)` of 1234.50 has 8 bytes by `pg_column_size`, two of which are the header of four bytes in place of that
    /// of one.
    #[test]
    fn numbers_have_the_bytes_that_engines_store() {
        for (value, bytes) in [("0", 0), ("1", 0), ("-1", 1), ("127", 1), ("128", 2)] {
            assert_eq!(sqlite_integer(value.as_bytes()), bytes, "{value}");
        }
        for (value, bytes) in [("8388608", 4), ("2147483648", 6), ("140737488355328", 8)] {
            assert_eq!(sqlite_integer(value.as_bytes()), bytes, "{value}");
        }
        assert_eq!(sqlite_number(b"12.00"), 1);
        assert_eq!(sqlite_number(b"12.5"), 8);
        assert_eq!(postgres_decimal(b"1234.50"), 6);
        assert_eq!(postgres_decimal(b"-0.5"), 4);
        assert_eq!(mariadb_decimal(10, 2), 5);
        assert_eq!(mariadb_decimal(18, 9), 8);
        assert_eq!(
            (mariadb_time("timestamp"), mariadb_time("datetime(3)")),
            (4, 7)
        );
        assert_eq!(mariadb_time("timestamp without time zone"), 8);
    }

    #[test]
    fn values_of_a_column_have_their_mean_size() {
        let sample: [Sampled<'_>; 4] = [Some(b"abc"), Some(b"abcdefg"), None, Some(b"ab")];
        let text = values_in(Engine::Postgres, Class::Text(None), &sample);
        assert_eq!(text, Values::Bytes(3));
        let all: [Sampled<'_>; 1] = [Some(b"1")];
        let integer = |class, sample: &[Sampled<'_>]| values_in(Engine::Mariadb, class, sample);
        assert_eq!(integer(Class::Integer(64), &all), Values::Integer);
        assert_eq!(integer(Class::Integer(32), &[]), Values::Fixed(4));
        assert_eq!(
            integer(Class::Integer(64), &[Some(b"1"), None]),
            Values::Fixed(4)
        );
    }

    #[test]
    fn few_values_are_buckets_and_times_ascend() {
        let few: Vec<Sampled<'_>> = (0..40)
            .map(|row| [Some(&b"new"[..]), None][row % 2])
            .collect();
        assert_eq!(order_of(Class::Text(None), &few, true), Order::Buckets(2));
        assert_eq!(order_of(Class::Time, &[], false), Order::Ascending);
        let counted: [Sampled<'_>; 3] = [Some(b"9"), Some(b"10"), Some(b"11")];
        let order = |sample| order_of(Class::Integer(64), sample, true);
        assert_eq!(order(&counted), Order::Ascending);
        assert_eq!(order(&[Some(b"9"), Some(b"3")]), Order::Random);
        assert_eq!(order_of(Class::Integer(64), &counted, false), Order::Random);
    }
}
