//! `_stats`: sum, count, minimum, maximum and sum of squares of numbers, or of the items of arrays.

use super::number::Number;
use super::{Builtin, Row};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Debug)]
pub struct Stats;

impl Builtin for Stats {
    fn bytes(&self) -> usize {
        70
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        merge(rows.iter().map(|row| row.value))
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        merge(
            parts
                .iter()
                .map(|part| std::str::from_utf8(part).unwrap_or_default()),
        )
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        let text = String::from_utf8(reduction.to_vec()).map_err(|error| error.to_string())?;
        match serde_json::from_str::<Fault>(&text) {
            Ok(fault) => Err(fault.fault),
            Err(_) => Ok(text),
        }
    }
}

/// A value that has no statistics, as it is kept in the place of the reduction.
#[derive(Deserialize)]
struct Fault {
    fault: String,
}

#[derive(Clone)]
enum Statistics {
    One([Number; 5]),
    List(Vec<Statistics>),
}

/// The members of an object that a map function or a reduction has.
const MEMBERS: [&str; 5] = ["sum", "count", "min", "max", "sumsqr"];

fn merge<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut total = None;
    for text in values {
        let merged = read(text).and_then(|value| match total.take() {
            None => Ok(value),
            Some(total) => join(value, total),
        });
        match merged {
            Ok(merged) => total = Some(merged),
            Err(fault) => {
                return serde_json::json!({ "fault": fault })
                    .to_string()
                    .into_bytes();
            }
        }
    }
    let total = total.unwrap_or(Statistics::One([Number::ZERO; 5]));
    let mut out = String::new();
    write(&mut out, &total);
    out.into_bytes()
}

fn read(text: &str) -> Result<Statistics, String> {
    if let Some(number) = Number::parse(text) {
        let one = Number::Integer(1);
        return Ok(Statistics::One([
            number,
            one,
            number,
            number,
            number.square(),
        ]));
    }
    if text.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        let items = items.into_iter().map(|item| read(item.get()));
        return Ok(Statistics::List(items.collect::<Result<_, _>>()?));
    }
    if text.starts_with('{') {
        if let Ok(Fault { fault }) = serde_json::from_str(text) {
            return Err(fault);
        }
        let members: std::collections::HashMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut numbers = [Number::ZERO; 5];
        for (name, number) in MEMBERS.iter().zip(&mut numbers) {
            let member = members.get(*name).ok_or_else(|| {
                format!("user _stats input missing required field {name} ({text})")
            })?;
            *number = Number::parse(member.get()).ok_or_else(|| {
                format!(
                    "non-numeric _stats input received for {name}: {}",
                    member.get()
                )
            })?;
        }
        return Ok(Statistics::One(numbers));
    }
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    Err(format!("non-numeric _stats input: {value}"))
}

fn join(value: Statistics, total: Statistics) -> Result<Statistics, String> {
    match (value, total) {
        (Statistics::One(one), Statistics::One(other)) => Ok(Statistics::One([
            one[0].add(other[0]),
            one[1].add(other[1]),
            one[2].min(other[2]),
            one[3].max(other[3]),
            one[4].add(other[4]),
        ])),
        (Statistics::List(one), Statistics::List(other)) if one.len() == other.len() => {
            let pairs = one.into_iter().zip(other);
            let joined = pairs.map(|(one, other)| join(one, other));
            Ok(Statistics::List(joined.collect::<Result<_, _>>()?))
        }
        _ => Err("The _stats function requires that map values be numbers or arrays of numbers of one length".to_owned()),
    }
}

fn write(out: &mut String, statistics: &Statistics) {
    match statistics {
        Statistics::One(numbers) => {
            for (at, (name, number)) in MEMBERS.iter().zip(numbers).enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
                out.push_str(&format!("\"{name}\":{number}"));
            }
            out.push('}');
        }
        Statistics::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(values: &[&str]) -> Result<String, String> {
        Stats.finish(&merge(values.iter().copied()))
    }

    #[test]
    fn statistics_are_those_of_all_values() {
        let three = r#"{"sum":6,"count":3,"min":1,"max":3,"sumsqr":14}"#;
        assert_eq!(stats(&["1", "3", "2"]).unwrap(), three);
        let (one, two) = (merge(["1"].into_iter()), merge(["3", "2"].into_iter()));
        let joined = Stats.rereduce(&[&one, &two]);
        assert_eq!(Stats.finish(&joined).unwrap(), three);
        let lists = stats(&["[1,2]", "[3,0.5]"]).unwrap();
        let lists: Value = serde_json::from_str(&lists).unwrap();
        assert_eq!(
            (&lists[0]["max"], &lists[1]["min"]),
            (&3.into(), &0.5.into())
        );
    }

    #[test]
    fn a_value_without_statistics_is_named_after_all_merges() {
        let wrong = merge(["1", "\"x\""].into_iter());
        let joined = Stats.rereduce(&[&wrong, &merge(["1"].into_iter())]);
        assert_eq!(
            Stats.finish(&joined).unwrap_err(),
            "non-numeric _stats input: \"x\""
        );
    }
}
