//! Numbers that are added as CouchDB adds them: integers stay exact, an integer and a float make a float.

use std::cmp::Ordering;
use std::fmt;

/// A number of a view row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub const ZERO: Number = Number::Integer(0);

    /// Reads a JSON number; none for other JSON.
    pub fn parse(text: &str) -> Option<Self> {
        let first = text.bytes().next()?;
        if !first.is_ascii_digit() && first != b'-' {
            return None;
        }
        match text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
        {
            true => text
                .parse()
                .ok()
                .map(Number::Integer)
                .or_else(|| Number::float(text)),
            false => Number::float(text),
        }
    }

    fn float(text: &str) -> Option<Self> {
        text.parse().ok().map(Number::Float)
    }

    fn as_float(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }

    pub fn add(self, other: Self) -> Self {
        match (self, other) {
            (Number::Integer(one), Number::Integer(other)) => match one.checked_add(other) {
                Some(sum) => Number::Integer(sum),
                None => Number::Float(one as f64 + other as f64),
            },
            _ => Number::Float(self.as_float() + other.as_float()),
        }
    }

    pub fn square(self) -> Self {
        match self {
            Number::Integer(integer) => match integer.checked_mul(integer) {
                Some(square) => Number::Integer(square),
                None => Number::Float(integer as f64 * integer as f64),
            },
            Number::Float(float) => Number::Float(float * float),
        }
    }

    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Number::Integer(one), Number::Integer(other)) => one.cmp(&other),
            _ => self.as_float().total_cmp(&other.as_float()),
        }
    }

    pub fn min(self, other: Self) -> Self {
        match self.compare(other) {
            Ordering::Greater => other,
            _ => self,
        }
    }

    pub fn max(self, other: Self) -> Self {
        match self.compare(other) {
            Ordering::Less => other,
            _ => self,
        }
    }
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Number::Integer(integer.into()),
            (_, Some(integer)) => Number::Integer(integer.into()),
            _ => Number::Float(number.as_f64().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Number {
    /// As JSON. A float always looks like one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(integer) => write!(f, "{integer}"),
            Number::Float(float) if float.is_finite() => write!(f, "{float:?}"),
            Number::Float(_) => f.write_str("null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_stay_exact_and_floats_look_like_floats() {
        let sum = |texts: &[&str]| {
            let numbers = texts.iter().filter_map(|text| Number::parse(text));
            numbers.fold(Number::ZERO, Number::add).to_string()
        };
        assert_eq!(sum(&["9007199254740993", "1"]), "9007199254740994");
        assert_eq!(
            sum(&["100000000000000000000", "1"]),
            "100000000000000000001"
        );
        assert_eq!(sum(&["0.5", "0.5"]), "1.0");
        assert_eq!(sum(&["1e+21", "0"]), "1e21");
        assert_eq!(sum(&["-3", "1"]), "-2");
        for text in ["null", "\"1\"", "[1]", ""] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::Integer(3).square(), Number::Integer(9));
        assert_eq!(
            Number::Integer(3).min(Number::Float(2.5)),
            Number::Float(2.5)
        );
    }
}
