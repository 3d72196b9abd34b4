//! `_sum`: numbers, arrays of numbers item by item, objects member by member.

use super::number::Number;
use super::{Builtin, Row};
use serde_json::Value;

const REASON: &str = "The _sum function requires that map values be numbers, arrays of numbers, or objects. Objects cannot be mixed with other data structures. Objects can be arbitrarily nested, provided that the values for all fields are themselves numbers, arrays of numbers, or objects.";

#[derive(Debug)]
pub struct Sum;

impl Builtin for Sum {
    fn bytes(&self) -> usize {
        8
    }

    fn reduce(&self, rows: &[Row<'_>]) -> Vec<u8> {
        sum(rows.iter().map(|row| row.value))
    }

    fn rereduce(&self, parts: &[&[u8]]) -> Vec<u8> {
        sum(parts
            .iter()
            .map(|part| std::str::from_utf8(part).unwrap_or_default()))
    }

    fn finish(&self, reduction: &[u8]) -> Result<String, String> {
        String::from_utf8(reduction.to_vec()).map_err(|error| error.to_string())
    }
}

/// A sum as it grows.
enum Total {
    Number(Number),
    List(Vec<Item>),
    Object(Vec<(String, Total)>),
    /// A value that cannot be added.
    Other(Value),
}

/// An item of an array that is added.
enum Item {
    Number(Number),
    Other(Value),
}

/// The value that ends a sum: the whole result, and whether it only caused it.
enum Fault {
    Invalid(Value),
    Known(Value),
}

fn sum<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut total = Total::Number(Number::ZERO);
    for text in values {
        // Nearly all values are numbers, which need no tree.
        if let (Total::Number(sum), Some(number)) = (&mut total, Number::parse(text)) {
            *sum = sum.add(number);
            continue;
        }
        total = match add(read(text), total) {
            Ok(total) => total,
            Err(fault) => return shown(fault).to_string().into_bytes(),
        };
    }
    let mut out = String::new();
    write(&mut out, &total);
    out.into_bytes()
}

fn shown(fault: Fault) -> Value {
    match fault {
        Fault::Known(value) => value,
        Fault::Invalid(value) => serde_json::json!({
            "error": "builtin_reduce_error", "reason": REASON, "caused_by": value,
        }),
    }
}

fn read(text: &str) -> Total {
    match Number::parse(text) {
        Some(number) => Total::Number(number),
        None => Total::of(serde_json::from_str(text).unwrap_or_default()),
    }
}

impl Total {
    fn of(value: Value) -> Self {
        match value {
            Value::Number(number) => Total::Number((&number).into()),
            Value::Array(items) => Total::List(items.into_iter().map(Item::of).collect()),
            Value::Object(members) => {
                let member = |(name, value)| (name, Total::of(value));
                Total::Object(members.into_iter().map(member).collect())
            }
            other => Total::Other(other),
        }
    }

    fn value(&self) -> Value {
        let mut out = String::new();
        write(&mut out, self);
        serde_json::from_str(&out).unwrap_or_default()
    }
}

impl Item {
    fn of(value: Value) -> Self {
        match value {
            Value::Number(number) => Item::Number((&number).into()),
            other => Item::Other(other),
        }
    }
}

fn add(value: Total, total: Total) -> Result<Total, Fault> {
    match (value, total) {
        (Total::Number(value), Total::Number(total)) => Ok(Total::Number(total.add(value))),
        (Total::List(value), Total::List(total)) => add_lists(total, value),
        (Total::Number(value), Total::List(total)) => add_lists(total, vec![Item::Number(value)]),
        (Total::List(value), Total::Number(total)) => add_lists(vec![Item::Number(total)], value),
        (Total::Object(value), total) => {
            let error = value.iter().find(|(name, _)| name == "error");
            if let Some((_, Total::Other(Value::String(error)))) = error
                && error == "builtin_reduce_error"
            {
                return Err(Fault::Known(Total::Object(value).value()));
            }
            match total {
                Total::Number(Number::ZERO) => Ok(Total::Object(value)),
                Total::Object(total) => add_objects(value, total),
                _ => Err(Fault::Invalid(Total::Object(value).value())),
            }
        }
        (value, _) => Err(Fault::Invalid(value.value())),
    }
}

fn add_lists(total: Vec<Item>, value: Vec<Item>) -> Result<Total, Fault> {
    let (mut total, mut value) = (total.into_iter(), value.into_iter());
    let mut sum = Vec::with_capacity(total.len().max(value.len()));
    loop {
        match (total.next(), value.next()) {
            (None, None) => return Ok(Total::List(sum)),
            (Some(one), None) | (None, Some(one)) => sum.push(one),
            (Some(Item::Number(one)), Some(Item::Number(other))) => {
                sum.push(Item::Number(one.add(other)));
            }
            (Some(one), Some(_)) => {
                let rest = std::iter::once(one).chain(total);
                return Err(Fault::Invalid(Total::List(rest.collect()).value()));
            }
        }
    }
}

fn add_objects(
    mut value: Vec<(String, Total)>,
    mut total: Vec<(String, Total)>,
) -> Result<Total, Fault> {
    value.sort_by(|one, other| one.0.cmp(&other.0));
    total.sort_by(|one, other| one.0.cmp(&other.0));
    let (mut value, mut total) = (value.into_iter().peekable(), total.into_iter().peekable());
    let mut sum = Vec::new();
    loop {
        let order = match (value.peek(), total.peek()) {
            (None, None) => return Ok(Total::Object(sum)),
            (Some((one, _)), Some((other, _))) => one.cmp(other),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
        };
        match order {
            std::cmp::Ordering::Less => sum.extend(value.next()),
            std::cmp::Ordering::Greater => sum.extend(total.next()),
            std::cmp::Ordering::Equal => {
                if let (Some((name, one)), Some((_, other))) = (value.next(), total.next()) {
                    sum.push((name, add(one, other)?));
                }
            }
        }
    }
}

fn write(out: &mut String, total: &Total) {
    match total {
        Total::Number(number) => out.push_str(&number.to_string()),
        Total::Other(value) => out.push_str(&value.to_string()),
        Total::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                match item {
                    Item::Number(number) => out.push_str(&number.to_string()),
                    Item::Other(value) => out.push_str(&value.to_string()),
                }
            }
            out.push(']');
        }
        Total::Object(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(out, value);
            }
            out.push('}');
        }
    }
}

/// The members of an object that is no error, for tests of other modules.
#[cfg(test)]
fn object(text: &str) -> serde_json::Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(values: &[&str]) -> String {
        String::from_utf8(sum(values.iter().copied())).unwrap()
    }

    #[test]
    fn numbers_arrays_and_objects_are_added() {
        for (values, expected) in [
            (&["1", "2", "0.5"][..], "3.5"),
            (&["[1,2]", "[10]", "5"], "[16,2]"),
            (&["1", "[1,2]"], "[2,2]"),
            (&[r#"{"b":1}"#, r#"{"a":2,"b":{}}"#][..1], r#"{"b":1}"#),
            (
                &[r#"{"b":1,"c":[1]}"#, r#"{"a":2,"b":4,"c":2}"#],
                r#"{"a":2,"b":5,"c":[3]}"#,
            ),
            (&[], "0"),
        ] {
            assert_eq!(sum_of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn what_cannot_be_added_is_the_result() {
        for (values, cause) in [
            (&["1", "\"x\""][..], "\"x\""),
            (&["null"], "null"),
            (&["[1]", "[\"a\"]"], "[1]"),
            (&[r#"{"a":1}"#, "2"], "2"),
        ] {
            let error = object(&sum_of(values));
            assert_eq!(error["error"], "builtin_reduce_error");
            assert_eq!(error["caused_by"].to_string(), cause, "{values:?}");
        }
        let known = sum_of(&["true"]);
        assert_eq!(sum_of(&["5", &known, "7"]), known);
    }
}
