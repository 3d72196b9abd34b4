//! The recipe of a column that is no key: from a sample of its values, or from its type.

use super::{class::Class, limits::Limits};
use std::collections::BTreeMap;

/// Values that a sample has at most if they are a list of choices, and how often each stands in the sample on average.
const CHOICES_MAX: usize = 12;
const CHOICE_ROWS: usize = 10;
/// Entries of a list of choices.
const CHOICE_ENTRIES: usize = 20;
/// Characters of a choice.
const CHOICE_LENGTH_MAX: usize = 60;
/// Shortest random text or bytes of a unique column.
const UNIQUE_LENGTH: usize = 20;
/// The first point in time, 2026-01-01.
const START_UNIX_S: u64 = 1_767_225_600;
const DAY_MS: u64 = 86_400_000;

/// What is known of a column.
pub struct Known<'a> {
    /// What its values are.
    pub class: Class,
    /// Sampled values; `None` is NULL.
    pub values: &'a [Option<&'a [u8]>],
    /// What its declared type refuses.
    pub limits: Limits,
    /// Whether no two rows have the same value.
    pub is_unique: bool,
    /// Whether it is unique together with other columns.
    pub is_unique_together: bool,
}

impl Known<'_> {
    /// The recipe in TOML, and `None` if there is none for the type, or the column has nothing but NULL.
    pub fn recipe(&self) -> Option<String> {
        let present: Vec<&[u8]> = self.values.iter().flatten().copied().collect();
        if present.is_empty() && !self.values.is_empty() {
            return None;
        }
        let fields = match self.is_unique {
            true => None,
            false => choices(self.class, &present),
        };
        let fields = fields.or_else(|| self.by_class(&present))?;
        let nulls = self.values.len() - present.len();
        Some(match nulls {
            0 => format!("{{ {fields} }}"),
            _ => {
                let share = nulls as f64 / self.values.len() as f64;
                format!("{{ {fields}, null_share = {share:.3} }}")
            }
        })
    }

    fn by_class(&self, present: &[&[u8]]) -> Option<String> {
        let lengths = || {
            let of = present.iter().map(|value| value.len());
            Some((of.clone().min()?, of.max()?))
        };
        // A step that no unit of the type hides.
        let is_distinct = self.is_unique || self.is_unique_together;
        let step_ms = |usual: u64, distinct: u64| if is_distinct { distinct } else { usual };
        if let Limits::Values(all) = &self.limits {
            let all = toml::Value::from(all.clone());
            return Some(format!("fill = \"values\", values = {all}"));
        }
        Some(match self.class {
            Class::Integer(_) if self.is_unique => "fill = \"sequence\"".to_owned(),
            Class::Integer(bits) => {
                let most = if bits < 32 { 100 } else { 1_000_000 };
                let guess = match self.limits {
                    Limits::Integers(low, high) if low > most => (low, high),
                    Limits::Integers(_, high) => (0, high.min(most)),
                    _ => (0, most),
                };
                let (low, high) = bounds::<i64>(present).unwrap_or(guess);
                format!("fill = \"random-int\", low = {low}, high = {high}")
            }
            Class::Boolean => "fill = \"random-int\", low = 0, high = 1".to_owned(),
            Class::Real => real(bounds(present).unwrap_or((0.0, 1000.0))),
            Class::Decimal(digits, places) => {
                let most = 10f64.powi(digits.saturating_sub(places).min(4) as i32) - 1.0;
                real(bounds(present).unwrap_or((0.0, most)))
            }
            Class::Text(most) => {
                let (short, long) = lengths().unwrap_or((8, 32));
                text("random-text", short, long, most, self.is_unique)
            }
            Class::Bytes => {
                let (short, long) = lengths().unwrap_or((32, 32));
                let most = match self.limits {
                    Limits::Bytes(most) => Some(most),
                    _ => None,
                };
                text("random-blob", short, long, most, self.is_unique)
            }
            Class::Uuid => "fill = \"key\", kind = \"uuid4\"".to_owned(),
            Class::Date => {
                let step = step_ms(1000, DAY_MS);
                format!("fill = \"times\", start = {START_UNIX_S}, step_ms = {step}, date = true")
            }
            Class::Time => {
                let step = step_ms(100, 1000);
                format!("fill = \"times\", start = {START_UNIX_S}, step_ms = {step}")
            }
            Class::Json => {
                let all: usize = present.iter().map(|value| value.len()).sum();
                let length = all.checked_div(present.len()).unwrap_or(64).max(8) - 8;
                format!(
                    "fill = \"constant\", value = '{{\"a\": \"{}\"}}'",
                    "x".repeat(length)
                )
            }
            Class::Other => return None,
        })
    }
}

/// A list of choices, each as often as in the sample.
fn choices(class: Class, present: &[&[u8]]) -> Option<String> {
    let is_number = match class {
        Class::Text(_) => false,
        Class::Integer(_) => true,
        _ => return None,
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in present {
        let text = std::str::from_utf8(value).ok()?;
        if text.len() > CHOICE_LENGTH_MAX || (is_number && text.parse::<i64>().is_err()) {
            return None;
        }
        *counts.entry(text).or_default() += 1;
    }
    if counts.is_empty() || counts.len() > CHOICES_MAX || present.len() < counts.len() * CHOICE_ROWS
    {
        return None;
    }
    let mut entries = Vec::new();
    for (text, count) in counts {
        let times = (count * CHOICE_ENTRIES / present.len()).max(1);
        let entry = match is_number {
            true => text.to_owned(),
            false => toml::Value::from(text).to_string(),
        };
        entries.extend(std::iter::repeat_n(entry, times));
    }
    Some(format!(
        "fill = \"values\", values = [{}]",
        entries.join(", ")
    ))
}

/// The least and the greatest number of a sample.
fn bounds<T: std::str::FromStr + PartialOrd + Copy>(present: &[&[u8]]) -> Option<(T, T)> {
    let mut found: Option<(T, T)> = None;
    for value in present {
        let number: T = std::str::from_utf8(value).ok()?.parse().ok()?;
        let (low, high) = found.unwrap_or((number, number));
        let low = if number < low { number } else { low };
        let high = if number > high { number } else { high };
        found = Some((low, high));
    }
    found
}

fn real((low, high): (f64, f64)) -> String {
    format!("fill = \"random-real\", low = {low:?}, high = {high:?}")
}

/// Random text or bytes between two lengths.
fn text(fill: &str, short: usize, long: usize, most: Option<usize>, is_unique: bool) -> String {
    let floor = if is_unique { UNIQUE_LENGTH } else { 1 };
    let ceiling = most.unwrap_or(usize::MAX).max(1);
    let (short, long) = (short.max(floor).min(ceiling), long.max(floor).min(ceiling));
    format!("fill = \"{fill}\", length = [{short}, {long}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(class: Class, values: &[Option<&str>], is_unique: bool) -> Option<String> {
        let values: Vec<Option<&[u8]>> = values.iter().map(|v| v.map(str::as_bytes)).collect();
        Known {
            class,
            values: &values,
            limits: Limits::None,
            is_unique,
            is_unique_together: false,
        }
        .recipe()
    }

    #[test]
    fn a_sample_decides_over_the_type() {
        let mut status = vec![Some("paid"); 30];
        status.extend([Some("it's \"new\""); 10]);
        let found = recipe(Class::Text(None), &status, false).unwrap();
        assert_eq!(found.matches("\"paid\"").count(), 15, "{found}");
        let parsed: toml::Table = toml::from_str(&format!("a = {found}")).unwrap();
        assert_eq!(parsed["a"]["values"][0].as_str(), Some("it's \"new\""));
        let numbers = [Some("-3"), None, Some("40"), None];
        assert_eq!(
            recipe(Class::Integer(64), &numbers, false).unwrap(),
            "{ fill = \"random-int\", low = -3, high = 40, null_share = 0.500 }"
        );
        assert_eq!(recipe(Class::Text(None), &[None, None], false), None);
    }

    #[test]
    fn a_type_decides_without_a_sample() {
        for (class, is_unique, wanted) in [
            (Class::Integer(32), true, "{ fill = \"sequence\" }"),
            (
                Class::Text(Some(5)),
                false,
                "{ fill = \"random-text\", length = [5, 5] }",
            ),
            (
                Class::Text(None),
                true,
                "{ fill = \"random-text\", length = [20, 32] }",
            ),
            (
                Class::Decimal(5, 2),
                false,
                "{ fill = \"random-real\", low = 0.0, high = 999.0 }",
            ),
        ] {
            assert_eq!(recipe(class, &[], is_unique).as_deref(), Some(wanted));
        }
        assert_eq!(recipe(Class::Other, &[], false), None);
    }

    #[test]
    fn a_declared_type_and_a_unique_key_bound_the_recipe() {
        let by = |class, limits, is_unique_together| {
            let known = Known {
                class,
                values: &[],
                limits,
                is_unique: false,
                is_unique_together,
            };
            known.recipe().unwrap()
        };
        for (class, limits, wanted) in [
            (
                Class::Text(None),
                Limits::Values(vec!["it's".to_owned(), "b".to_owned()]),
                "{ fill = \"values\", values = [\"it's\", \"b\"] }",
            ),
            (
                Class::Integer(32),
                Limits::Integers(0, 65_535),
                "{ fill = \"random-int\", low = 0, high = 65535 }",
            ),
            (
                Class::Integer(16),
                Limits::Integers(1970, 2069),
                "{ fill = \"random-int\", low = 1970, high = 2069 }",
            ),
            (
                Class::Bytes,
                Limits::Bytes(3),
                "{ fill = \"random-blob\", length = [3, 3] }",
            ),
        ] {
            assert_eq!(by(class, limits, false), wanted);
        }
        assert!(by(Class::Date, Limits::None, true).contains("step_ms = 86400000,"));
        assert!(by(Class::Date, Limits::None, false).contains("step_ms = 1000,"));
    }
}
