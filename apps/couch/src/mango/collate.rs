//! CouchDB's order of JSON values: `null`, `false`, `true`, numbers, strings, arrays, objects.
//!
//! Numbers are in the order of their values; strings in that of ICU's root collation at tertiary strength, as CouchDB's are
//! (so `"a" < "A" < "b"`, and strings that differ in control characters alone are equal); arrays and objects item by
//! item, a shorter one first, objects in the order their members stand.
//!
//! Source: `couch_ejson_compare`, and the [table](https://docs.couchdb.org/en/stable/ddocs/views/collation.html) in CouchDB's
//! manual.

use icu_collator::CollatorBorrowed;
use icu_collator::options::CollatorOptions;
use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// What sorts strings. Another version may sort some of them differently.
pub const COLLATOR_VERSION: &str = "ICU4X 2";

/// Follows after every key.
pub const MAX: u8 = 0xff;

// The type tags of key parts. The end tag is the lowest, so the shorter key comes first.
const END_OF_TEXT: u8 = 0;
const END: u8 = 1;
const NULL: u8 = 2;
const FALSE: u8 = 3;
const TRUE: u8 = 4;
const NUMBER: u8 = 5;
const STRING: u8 = 6;
const ARRAY: u8 = 7;
const OBJECT: u8 = 8;

// `try_new` with a locale would link the collations of all languages.
static COLLATOR: CollatorBorrowed<'static> = CollatorBorrowed::new_root(CollatorOptions::default());

/// The tags of a key that have more bytes behind them.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    /// Ten bytes follow.
    pub number: u8,
    /// Bytes up to a zero follow.
    pub string: u8,
    /// Parts up to [`Tags::end`] follow.
    pub lists: [u8; 2],
    /// Ends a list.
    pub end: u8,
}

/// The tags of [`write_key`].
pub const TAGS: Tags = Tags {
    number: NUMBER,
    string: STRING,
    lists: [ARRAY, OBJECT],
    end: END,
};

impl Tags {
    /// Returns the end of the part of a key that begins at `at`.
    pub fn part_end(&self, key: &[u8], mut at: usize) -> usize {
        let mut depth = 0_usize;
        while let Some(&tag) = key.get(at) {
            at += 1;
            if tag == self.number {
                at += NUMBER_BYTES;
            } else if tag == self.string {
                let rest = key.get(at..).unwrap_or_default();
                at += memchr::memchr(END_OF_TEXT, rest).map_or(rest.len(), |length| length + 1);
            } else if self.lists.contains(&tag) {
                depth += 1;
            } else if tag == self.end {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                break;
            }
        }
        at.min(key.len())
    }
}

/// Compares two strings.
pub fn compare_strings(one: &str, other: &str) -> Ordering {
    COLLATOR.compare(one, other)
}

/// Compares two values.
pub fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare_numbers(one, other),
        (Value::String(one), Value::String(other)) => compare_strings(one, other),
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other);
            let mut orders = pairs.map(|(one, other)| compare(one, other));
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or_else(|| one.len().cmp(&other.len()))
        }
        (Value::Object(one), Value::Object(other)) => {
            let pairs = one.iter().zip(other);
            let mut orders = pairs.map(|((name, value), (other_name, other))| {
                compare_strings(name, other_name).then_with(|| compare(value, other))
            });
            let first = orders.find(|order| order.is_ne());
            first.unwrap_or_else(|| one.len().cmp(&other.len()))
        }
        _ => kind(one).cmp(&kind(other)),
    }
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Bool(false) => FALSE,
        Value::Bool(true) => TRUE,
        Value::Number(_) => NUMBER,
        Value::String(_) => STRING,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

/// Appends a key of the value: keys are in the order of bytes as values are in theirs, and no key begins with another.
pub fn write_key(out: &mut Vec<u8>, value: &Value) {
    out.push(kind(value));
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            items.iter().for_each(|item| write_key(out, item));
            out.push(END);
        }
        Value::Object(members) => {
            for (name, value) in members {
                out.push(STRING);
                write_string(out, name);
                write_key(out, value);
            }
            out.push(END);
        }
    }
}

/// Appends the key of a JSON text, in which no object has two members of one name. It makes no value of the text.
///
/// # Errors
/// If the text is no JSON, or nested too deeply. A part of the key may be appended then.
pub fn write_key_of_text(out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    KeyWriter(out).deserialize(&mut json)?;
    json.end()
}

/// Writes the key of what is deserialized.
struct KeyWriter<'a>(&'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for KeyWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(NULL);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.push(NUMBER);
        write_number(self.0, &value.into());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.push(NUMBER);
        write_number(self.0, &value.into());
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("no finite number"))?;
        self.0.push(NUMBER);
        write_number(self.0, &number);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push(STRING);
        write_string(self.0, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(ARRAY);
        while items.next_element_seed(KeyWriter(self.0))?.is_some() {}
        self.0.push(END);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.push(OBJECT);
        while members.next_key_seed(KeyWriter(self.0))?.is_some() {
            members.next_value_seed(KeyWriter(self.0))?;
        }
        self.0.push(END);
        Ok(())
    }
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing into memory does not fail. Sort keys have no zero bytes.
    let Ok(()) = COLLATOR.write_sort_key_to(text, out);
    out.push(END_OF_TEXT);
}

/// The nearest float, and how far the number is above it: that is an integer, and not 0 only above 2^53.
fn split_number(number: &Number) -> (f64, i64) {
    let exact = match (number.as_i64(), number.as_u64()) {
        (Some(exact), _) => i128::from(exact),
        (_, Some(exact)) => i128::from(exact),
        // A zero has no sign here.
        _ => return (number.as_f64().unwrap_or_default() + 0.0, 0),
    };
    let nearest = exact as f64;
    (nearest, (exact - nearest as i128) as i64)
}

fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    let ((one, above), (other, other_above)) = (split_number(one), split_number(other));
    one.total_cmp(&other).then(above.cmp(&other_above))
}

/// The bytes of a number behind its tag.
const NUMBER_BYTES: usize = 10;

/// Appends the bytes of a number: they are in the order of numbers.
pub fn write_number(out: &mut Vec<u8>, number: &Number) {
    /// More than a 64-bit integer differs from its nearest float.
    const BIAS: i64 = 1 << 15;
    let (nearest, above) = split_number(number);
    let bits = nearest.to_bits();
    // Negative floats are in the reverse order of their bits.
    let ordered = match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    };
    out.extend_from_slice(&ordered.to_be_bytes());
    out.extend_from_slice(&((above + BIAS) as u16).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn key(value: &Value) -> Vec<u8> {
        let mut key = Vec::new();
        write_key(&mut key, value);
        key
    }

    #[test]
    fn values_are_in_the_order_of_couchdbs_manual() {
        let ordered = [
            json!(null),
            json!(false),
            json!(true),
            json!(-1e300),
            json!(-9007199254740993i64),
            json!(-9007199254740992i64),
            json!(-2),
            json!(0),
            json!(0.5),
            json!(1),
            json!(2),
            json!(3.0),
            json!(4),
            json!(9007199254740992i64),
            json!(9007199254740993i64),
            json!(18446744073709551615u64),
            json!(1e300),
            json!(""),
            json!("a"),
            json!("A"),
            json!("ä"),
            json!("aa"),
            json!("b"),
            json!("B"),
            json!("ba"),
            json!("bb"),
            json!([]),
            json!(["a"]),
            json!(["b"]),
            json!(["b", "c"]),
            json!(["b", "c", "a"]),
            json!(["b", "d"]),
            json!(["b", "d", "e"]),
            json!({}),
            json!({"a": 1}),
            json!({"a": 2}),
            json!({"b": 1}),
            json!({"b": 2}),
            json!({"b": 2, "a": 1}),
            json!({"b": 2, "c": 2}),
        ];
        for pair in ordered.windows(2) {
            let (one, other) = (&pair[0], &pair[1]);
            assert_eq!(compare(one, other), Ordering::Less, "{one} {other}");
            assert!(key(one) < key(other), "{one} {other}");
        }
    }

    #[test]
    fn numbers_of_one_value_are_equal() {
        for (one, other) in [
            ("1", "1.0"),
            ("0", "-0.0"),
            ("9007199254740992", "9007199254740992.0"),
        ] {
            let [one, other] =
                [one, other].map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(compare(&one, &other), Ordering::Equal);
            assert_eq!(key(&one), key(&other));
        }
    }

    #[test]
    fn a_text_that_is_no_json_has_no_key() {
        for text in ["", "1 2", "[1", "{\"a\"}", &"[".repeat(200)] {
            assert!(write_key_of_text(&mut Vec::new(), text).is_err(), "{text}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-3..3i64).prop_map(Value::from),
            (1i64 << 53..(1 << 53) + 4).prop_map(Value::from),
            any::<f64>()
                .prop_filter("finite", |float| float.is_finite())
                .prop_map(Value::from),
            "[aAbä\u{0}\u{300} ]{0,4}".prop_map(Value::from),
            "\\PC{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::vec(("[ab]{0,2}", inner), 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn the_parts_of_an_array_are_found() {
        let array = json!([1.5, "a\u{0}b", null, [true, {"x": [2]}], {}, false]);
        let whole = key(&array);
        let mut at = 1;
        for item in array.as_array().unwrap() {
            let end = TAGS.part_end(&whole, at);
            assert_eq!(whole[at..end], key(item), "{item}");
            at = end;
        }
        assert_eq!(at + 1, whole.len());
        assert_eq!(TAGS.part_end(&whole, 0), whole.len());
    }

    proptest! {
        #[test]
        fn floats_are_read_to_the_last_digit(bits: u64) {
            let text = format!("{:e}", f64::from_bits(bits));
            if let Ok(Value::Number(number)) = serde_json::from_str(&text) {
                prop_assert_eq!(Ok(split_number(&number).0), text.parse::<f64>().map(|it| it + 0.0));
            }
        }

        #[test]
        fn a_text_has_the_key_of_its_value(value in any_value()) {
            let mut found = Vec::new();
            write_key_of_text(&mut found, &value.to_string()).unwrap();
            prop_assert_eq!(found, key(&value), "{}", value);
        }

        #[test]
        fn keys_are_in_the_order_of_their_values(one in any_value(), other in any_value()) {
            prop_assert_eq!(key(&one).cmp(&key(&other)), compare(&one, &other), "{} {}", one, other);
        }

        #[test]
        fn keys_of_many_values_are_in_the_order_of_lists(
            one in proptest::collection::vec(any_value(), 2),
            other in proptest::collection::vec(any_value(), 2),
        ) {
            let joined = |values: &[Value]| values.iter().flat_map(key).collect::<Vec<_>>();
            let order = compare(&Value::from(one.clone()), &Value::from(other.clone()));
            prop_assert_eq!(joined(&one).cmp(&joined(&other)), order);
        }
    }
}
