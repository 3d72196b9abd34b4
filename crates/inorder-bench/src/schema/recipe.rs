//! The recipe of a column that is no key: from a sample of its values, or from its type.

use super::{
    class::Class,
    distinct::{Distinct, Room},
    limits::Limits,
    toml_text::string,
};
use crate::generate::FRESH_BYTES_MAX;
use std::collections::BTreeMap;

/// Values that a sample has at most if they are a list of choices, and how often each stands in the sample on average.
const CHOICES_MAX: usize = 12;
const CHOICE_ROWS: usize = 10;
/// Entries of a list of choices.
const CHOICE_ENTRIES: usize = 20;
/// Characters of a choice.
const CHOICE_LENGTH_MAX: usize = 60;
/// Shortest random text or bytes of a unique column, if its type has that length.
const UNIQUE_LENGTH: usize = 20;
/// Shortest random text and bytes of which no two of some million are equal, upper and lower case alike.
const RANDOM_TEXT_MIN: usize = 10;
const RANDOM_BYTES_MIN: usize = 8;
/// Days from the first one on until they repeat.
const DAYS: u64 = 2_900_000;
/// Integers that each floating-point type stores.
const EXACT_REALS: i64 = 1 << 24;
/// The first point in time, 2026-01-01.
const START_UNIX_S: u64 = 1_767_225_600;
const DAY_MS: u64 = 86_400_000;

/// What is known of a column.
pub struct Known<'a> {
    /// What its values are.
    pub class: Class,
    /// Sampled values; `None` is NULL.
    pub values: Vec<Option<&'a [u8]>>,
    /// What its declared type refuses.
    pub limits: Limits,
    /// How it keeps rows apart, if a unique key needs it.
    pub distinct: Option<Distinct>,
}

impl Known<'_> {
    /// The recipe in TOML, and `None` if there is none for the type, or the column has nothing but NULL.
    pub fn recipe(&self) -> Option<String> {
        let present: Vec<&[u8]> = self.values.iter().flatten().copied().collect();
        if self.is_empty() {
            return None;
        }
        let fields = match self.distinct {
            Some(distinct) => self.numbers_of(distinct),
            None => choices(self.class, &present),
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

    /// Whether its values are known, and all are NULL.
    pub fn is_empty(&self) -> bool {
        !self.values.is_empty() && self.values.iter().all(Option::is_none)
    }

    /// The bytes to which a recipe shortens values of a unique key; `None` if it doesn't.
    pub fn shortened_to(&self) -> Option<usize> {
        let mut lengths = self.values.iter().flatten().map(|value| value.len());
        let is_shortened = self.distinct.is_some()
            && matches!(self.class, Class::Text(_) | Class::Bytes)
            && lengths.any(|length| length > FRESH_BYTES_MAX);
        is_shortened.then_some(FRESH_BYTES_MAX)
    }

    /// What it can do to keep rows apart.
    pub fn room(&self) -> Room {
        match (self.class, &self.limits) {
            // NULL, or the text in place of a type without a recipe.
            (Class::Other, _) => Room::Distinct,
            (_, Limits::Values(_)) | (Class::Json, _) => Room::None,
            (Class::Uuid, _) => Room::Distinct,
            (Class::Bytes, Limits::Bytes(most)) if *most < RANDOM_BYTES_MIN => Room::None,
            (Class::Date, _) => Room::Random(DAYS),
            (Class::Bytes | Class::Time, _) => Room::Random(u64::MAX),
            _ => match self.numbers() {
                Some((low, high)) => Room::Numbers(high.abs_diff(low).saturating_add(1)),
                None => Room::Random(u64::MAX),
            },
        }
    }

    /// The numbers that it can have if it is to have each of them once; `None` if there are better values.
    fn numbers(&self) -> Option<(i64, i64)> {
        let from_one = |most: i64| (most.min(1), most);
        match (self.class, &self.limits) {
            (Class::Integer(_), Limits::Integers(low, high)) => Some(((*low).max(1), *high)),
            (Class::Integer(16), _) => Some(from_one(i16::MAX.into())),
            (Class::Integer(32), _) => Some(from_one(i32::MAX.into())),
            (Class::Integer(_), _) => Some(from_one(i64::MAX)),
            (Class::Boolean, _) => Some((0, 1)),
            (Class::Real, _) => Some(from_one(EXACT_REALS)),
            (Class::Decimal(digits, places), _) => {
                Some(from_one(nines(digits.saturating_sub(places) as usize)))
            }
            // As text, all of this length.
            (Class::Text(Some(most)), _) if most < RANDOM_TEXT_MIN => {
                let high = nines(most);
                Some(((high / 10 + 1).min(high), high))
            }
            _ => None,
        }
    }

    /// The recipe of its numbers, if it keeps rows apart by them.
    fn numbers_of(&self, distinct: Distinct) -> Option<String> {
        let (low, _) = self.numbers()?;
        Some(match distinct {
            Distinct::InTurn { values, repeat } => {
                let high = low.saturating_add_unsigned(values - 1);
                let repeat = match repeat {
                    1 => String::new(),
                    repeat => format!(", repeat = {repeat}"),
                };
                format!("fill = \"cycle\", low = {low}, high = {high}{repeat}")
            }
            _ if low == 1 => "fill = \"sequence\"".to_owned(),
            _ => format!("fill = \"sequence\", start = {low}"),
        })
    }

    fn by_class(&self, present: &[&[u8]]) -> Option<String> {
        let lengths = || {
            let of = present.iter().map(|value| value.len());
            Some((of.clone().min()?, of.max()?))
        };
        let is_distinct = self.distinct.is_some();
        // A step that no unit of the type hides.
        let step_ms = |usual: u64, distinct: u64| if is_distinct { distinct } else { usual };
        if let Limits::Values(all) = &self.limits {
            let all: Vec<String> = all.iter().map(|value| string(value)).collect();
            return Some(format!("fill = \"values\", values = [{}]", all.join(", ")));
        }
        Some(match self.class {
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
                text("random-text", short, long, most, is_distinct)
            }
            Class::Bytes => {
                let (short, long) = lengths().unwrap_or((32, 32));
                let most = match self.limits {
                    Limits::Bytes(most) => Some(most),
                    _ => None,
                };
                text("random-blob", short, long, most, is_distinct)
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
            false => string(text),
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

/// The largest number of so many digits, as far as there is one.
fn nines(digits: usize) -> i64 {
    10_i64.pow(digits.min(18) as u32) - 1
}

fn real((low, high): (f64, f64)) -> String {
    format!("fill = \"random-real\", low = {low:?}, high = {high:?}")
}

/// Random text or bytes between two lengths.
fn text(fill: &str, short: usize, long: usize, most: Option<usize>, is_unique: bool) -> String {
    let (floor, ceiling) = match is_unique {
        true => (UNIQUE_LENGTH, FRESH_BYTES_MAX),
        false => (1, usize::MAX),
    };
    let ceiling = most.unwrap_or(ceiling).min(ceiling).max(1);
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
            values,
            limits: Limits::None,
            distinct: is_unique.then_some(Distinct::Always),
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
                Class::Text(Some(3)),
                true,
                "{ fill = \"sequence\", start = 100 }",
            ),
            (Class::Boolean, true, "{ fill = \"sequence\", start = 0 }"),
            (
                Class::Decimal(3, 3),
                true,
                "{ fill = \"sequence\", start = 0 }",
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
        let by = |class, limits, distinct| {
            let known = Known {
                class,
                values: Vec::new(),
                limits,
                distinct,
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
            assert_eq!(by(class, limits, None), wanted);
        }
        let always = Some(Distinct::Always);
        assert!(by(Class::Date, Limits::None, always).contains("step_ms = 86400000,"));
        assert!(by(Class::Date, Limits::None, None).contains("step_ms = 1000,"));
        let in_turn = Distinct::InTurn {
            values: 10,
            repeat: 2,
        };
        assert_eq!(
            by(
                Class::Integer(16),
                Limits::Integers(1970, 2069),
                Some(in_turn)
            ),
            "{ fill = \"cycle\", low = 1970, high = 1979, repeat = 2 }"
        );
    }
}
