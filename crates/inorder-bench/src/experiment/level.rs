//! Levels: how a text is read as one, and how it is named in plans, tables and legends.

use inorder_key::{Encoding, KeyKind};

use crate::{error::nearest, format};

/// Derives title, unit and multiplier of levels from the name of a factor.
pub fn unit_of(factor: &str) -> (String, &'static str, f64) {
    const ENDINGS: &[(&str, &str, f64)] = &[
        ("_bytes", "bytes", 1.0),
        ("_kib", "bytes", 1024.0),
        ("_mib", "bytes", 1_048_576.0),
        ("_us", "us", 1.0),
        ("_ms", "us", 1e3),
        ("_s", "s", 1.0),
    ];
    let words = |name: &str| name.replace('_', " ");
    ENDINGS
        .iter()
        .find_map(|(ending, unit, worth)| {
            Some((words(factor.strip_suffix(ending)?), *unit, *worth))
        })
        .unwrap_or_else(|| match factor.split('_').next() {
            Some("rows") => (words(factor), "rows", 1.0),
            _ => (words(factor), "", 1.0),
        })
}

/// Formats a level: a number follows the name of its factor. `None` if the level turns the factor off.
pub fn words(factor: &str, level: &str) -> Option<String> {
    match (factor, level) {
        ("key_after", "same") | ("rows_per_sort" | "rows_before" | "arriving_rows_per_s", "0") => {
            return None;
        }
        ("rows_before", rows) => {
            let rows = rows.parse().ok()?;
            return Some(format!("after {}", format::quantity(rows, "rows")));
        }
        ("arriving_rows_per_s", rows) => {
            let rows = rows.parse().ok()?;
            return Some(format!("{} arriving", format::quantity(rows, "rows/s")));
        }
        ("first_shard_cpu_percent", "100") => return Some("no shard held back".to_owned()),
        ("first_shard_cpu_percent", percent) => {
            return Some(format!("first shard at {percent}% of a core"));
        }
        ("migrate_to", "none") => return Some("not moved".to_owned()),
        ("migrate_to", key) => return Some(format!("to {key}")),
        ("read_percent", percent) => return Some(format!("{percent}% reads")),
        ("workload", "none") => return Some("load alone".to_owned()),
        ("partition", by) => return Some(format!("by {by}")),
        ("key_after", kind) => return Some(format!("then {kind}")),
        ("presort", "none") => return Some("unsorted".to_owned()),
        ("presort", "prefix8") => return Some("sorted by 8 bytes".to_owned()),
        ("presort", "key") => return Some("sorted by key".to_owned()),
        (_, "true" | "false") => return Some(format!("{factor} {level}")),
        _ => {}
    }
    let Ok(number) = level.parse::<f64>() else {
        return Some(level.to_owned());
    };
    let (title, unit, worth) = unit_of(factor);
    Some(match (unit, title.strip_prefix("rows per ")) {
        ("rows", Some(whole)) => format!("{} per {whole}", format::quantity(number, "")),
        ("rows", None) => format::quantity(number, "rows"),
        _ => format!("{title} {}", format::quantity(number * worth, unit)),
    })
}

/// Reads the name of a kind of ids.
pub fn kind(level: &str) -> Result<KeyKind, String> {
    named("key kind", level, KeyKind::ALL, KeyKind::name)
}

/// Reads the name of an encoding.
pub fn encoding(level: &str) -> Result<Encoding, String> {
    named("encoding", level, Encoding::ALL, Encoding::name)
}

/// Reads what a level stands for; `None` where it has the name of nothing.
pub fn optional<T>(
    level: &str,
    none: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    (level != none).then(|| parse(level)).transpose()
}

/// Reads the name of one of the values that a level may have.
pub fn named<T: Copy>(
    what: &str,
    level: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let found = all.iter().copied().find(|value| name(*value) == level);
    found.ok_or_else(|| unknown(what, level, all.iter().map(|value| name(*value))))
}

/// An unknown level, with the known ones.
pub fn unknown<'a>(what: &str, level: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    format!("unknown {what} `{level}`: {}", nearest(level, known))
}

/// Reads `true` or `false`.
pub fn boolean(level: &str) -> Result<bool, String> {
    level
        .parse()
        .map_err(|_| format!("`{level}` is neither true nor false"))
}

/// Reads an integer within bounds; `_` between digits is allowed.
pub fn integer(level: &str, low: u64, high: u64) -> Result<u64, String> {
    level
        .replace('_', "")
        .parse()
        .ok()
        .filter(|value| (low..=high).contains(value))
        .ok_or_else(|| format!("`{level}` isn't an integer from {low} to {high}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_factors_carry_their_unit() {
        assert_eq!(unit_of("cache_kib"), ("cache".into(), "bytes", 1024.0));
        assert_eq!(
            unit_of("rows_per_transaction"),
            ("rows per transaction".into(), "rows", 1.0)
        );
        assert_eq!(unit_of("writers"), ("writers".into(), "", 1.0));
    }

    #[test]
    fn levels_read_as_a_person_says_them() {
        let say = |factor, level| words(factor, level).unwrap_or_default();
        assert_eq!(say("key", "uuid4"), "uuid4");
        assert_eq!(say("cache_kib", "2048"), "cache 2 MiB");
        assert_eq!(say("payload_bytes", "16"), "payload 16 B");
        assert_eq!(say("rows", "100000"), "100,000 rows");
        assert_eq!(say("rows_per_transaction", "1000"), "1,000 per transaction");
        assert_eq!(say("presort", "none"), "unsorted");
        assert_eq!(say("writers", "4"), "writers 4");
        assert_eq!(say("foreign_keys", "true"), "foreign_keys true");
        assert_eq!(say("rows_before", "1000"), "after 1,000 rows");
        assert_eq!(say("arriving_rows_per_s", "500"), "500 rows/s arriving");
        assert_eq!(words("rows_per_sort", "0"), None);
    }
}
