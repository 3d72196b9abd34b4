//! JSON values in Erlang's external term format, as CouchDB hashes them.
//!
//! Source: the [format](https://www.erlang.org/doc/apps/erts/erl_ext_dist.html), with minor version 1. CouchDB's JSON
//! reader (jiffy) represents objects as `{[{Name, Value}]}` and strings as binaries. Numbers with a fraction or an
//! exponent are floats; other numbers are integers in the range of floats. A very small or long number with an exponent and without a
//! fraction is the product of two floats, which may differ from the nearest float: `5e-324` is 0.

use crate::json::{self, Reader, Token};

mod tag {
    pub const NEW_FLOAT: u8 = 70;
    pub const SMALL_INTEGER: u8 = 97;
    pub const INTEGER: u8 = 98;
    pub const ATOM: u8 = 100;
    pub const SMALL_TUPLE: u8 = 104;
    pub const NIL: u8 = 106;
    pub const STRING: u8 = 107;
    pub const LIST: u8 = 108;
    pub const BINARY: u8 = 109;
    pub const SMALL_BIG: u8 = 110;
}

/// The maximum number of items in a list of bytes that is written as a string.
const STRING_ITEMS_MAX: usize = 0xffff;

/// The reason why a JSON value has no term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermError {
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A number is beyond the range of floats. CouchDB refuses such integers, too.
    #[error("a number is out of range: {0}")]
    Number(String),
}

/// A term in the external format, without the leading version byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Term(Vec<u8>);

impl Term {
    /// Encodes a JSON text whose objects have no duplicate members.
    ///
    /// # Errors
    /// If the text is not JSON, nested too deeply, or has a number out of range.
    pub fn from_json(text: &str, depth_max: usize) -> Result<Self, TermError> {
        let mut writer = Writer {
            out: Vec::with_capacity(text.len() + text.len() / 2 + 16),
            open: Vec::new(),
        };
        let mut reader = Reader::new(text, depth_max);
        while let Some(token) = reader.next()? {
            writer.token(token)?;
        }
        Ok(Term(writer.out))
    }

    /// Encodes `{}`.
    pub fn empty_object() -> Self {
        Term(vec![tag::SMALL_TUPLE, 1, tag::NIL])
    }

    /// Encodes a binary.
    pub fn binary(text: &str) -> Self {
        let mut out = Vec::new();
        binary(&mut out, text.as_bytes());
        Term(out)
    }

    /// Encodes a list of bytes, as Erlang represents text in records.
    pub fn string(text: &str) -> Self {
        let mut out = Vec::new();
        match u16::try_from(text.len()) {
            Ok(0) => out.push(tag::NIL),
            Ok(length) => {
                out.push(tag::STRING);
                out.extend(length.to_be_bytes());
                out.extend(text.as_bytes());
            }
            Err(_) => {
                list(&mut out, text.len() as u32);
                text.bytes()
                    .for_each(|byte| out.extend([tag::SMALL_INTEGER, byte]));
                end_list(&mut out);
            }
        }
        Term(out)
    }

    /// Encodes an atom of ASCII letters.
    pub fn atom(name: &str) -> Self {
        let mut out = Vec::new();
        atom(&mut out, name);
        Term(out)
    }

    /// Encodes an integer.
    pub fn integer(value: i128) -> Self {
        let mut out = Vec::new();
        integer(&mut out, value);
        Term(out)
    }

    /// Encodes a tuple of at most 255 items.
    pub fn tuple(items: &[Term]) -> Self {
        let mut out = Vec::new();
        tuple(&mut out, items.len() as u8);
        items.iter().for_each(|item| out.extend(&item.0));
        Term(out)
    }

    /// Encodes a list of terms that are not integers.
    pub fn list(items: &[Term]) -> Self {
        let mut out = Vec::new();
        if !items.is_empty() {
            list(&mut out, items.len() as u32);
        }
        items.iter().for_each(|item| out.extend(&item.0));
        end_list(&mut out);
        Term(out)
    }

    /// The encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A list under construction.
struct OpenList {
    /// The position of its tag.
    at: usize,
    items: u32,
    is_object: bool,
    /// Whether all items so far are integers from 0 to 255.
    is_bytes: bool,
}

struct Writer {
    out: Vec<u8>,
    open: Vec<OpenList>,
}

impl Writer {
    fn token(&mut self, token: Token<'_>) -> Result<(), TermError> {
        match token {
            Token::ObjectStart => {
                self.item(false);
                self.out.extend([tag::SMALL_TUPLE, 1]);
                self.open_list(true);
            }
            Token::ArrayStart => {
                self.item(false);
                self.open_list(false);
            }
            Token::ObjectEnd | Token::ArrayEnd => self.close_list(),
            Token::Key(key) => {
                if let Some(list) = self.open.last_mut() {
                    list.items += 1;
                }
                self.out.extend([tag::SMALL_TUPLE, 2]);
                binary(&mut self.out, key.decode().as_bytes());
            }
            Token::String(text) => {
                self.item(false);
                binary(&mut self.out, text.decode().as_bytes());
            }
            Token::Bool(value) => {
                self.item(false);
                atom(&mut self.out, if value { "true" } else { "false" });
            }
            Token::Null => {
                self.item(false);
                atom(&mut self.out, "null");
            }
            Token::Number(text) => {
                let before = self.out.len();
                number(&mut self.out, text)?;
                let is_byte = self.out[before] == tag::SMALL_INTEGER;
                self.item(is_byte);
            }
        }
        Ok(())
    }

    /// Counts an item of the innermost list. The name of a member was already counted.
    fn item(&mut self, is_byte: bool) {
        if let Some(list) = self.open.last_mut().filter(|list| !list.is_object) {
            list.items += 1;
            list.is_bytes &= is_byte;
        }
    }

    fn open_list(&mut self, is_object: bool) {
        self.open.push(OpenList {
            at: self.out.len(),
            items: 0,
            is_object,
            is_bytes: !is_object,
        });
        self.out.extend([tag::LIST, 0, 0, 0, 0]);
    }

    fn close_list(&mut self) {
        let Some(list) = self.open.pop() else {
            return;
        };
        let items_at = list.at + 5;
        if list.items == 0 {
            self.out.truncate(list.at);
            self.out.push(tag::NIL);
        } else if list.is_bytes && list.items as usize <= STRING_ITEMS_MAX {
            let bytes: Vec<u8> = self.out[items_at..]
                .iter()
                .copied()
                .skip(1)
                .step_by(2)
                .collect();
            self.out.truncate(list.at);
            self.out.push(tag::STRING);
            self.out.extend((list.items as u16).to_be_bytes());
            self.out.extend(bytes);
        } else {
            self.out[list.at + 1..items_at].copy_from_slice(&list.items.to_be_bytes());
            self.out.push(tag::NIL);
        }
    }
}

/// Appends a binary.
pub(super) fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(tag::BINARY);
    // The size of a request is limited far below 4 GiB.
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

/// Appends an atom of ASCII letters.
pub(super) fn atom(out: &mut Vec<u8>, name: &str) {
    out.push(tag::ATOM);
    out.extend((name.len() as u16).to_be_bytes());
    out.extend(name.as_bytes());
}

/// Appends the head of a non-empty list of this length; [`end_list`] follows the items.
pub(super) fn list(out: &mut Vec<u8>, items: u32) {
    out.push(tag::LIST);
    out.extend(items.to_be_bytes());
}

/// Appends the end of a list, which is also the empty list.
pub(super) fn end_list(out: &mut Vec<u8>) {
    out.push(tag::NIL);
}

/// Appends the head of a tuple.
pub(super) fn tuple(out: &mut Vec<u8>, items: u8) {
    out.extend([tag::SMALL_TUPLE, items]);
}

/// Appends an integer.
pub(super) fn integer(out: &mut Vec<u8>, value: i128) {
    if let Ok(small) = u8::try_from(value) {
        out.extend([tag::SMALL_INTEGER, small]);
    } else if let Ok(int) = i32::try_from(value) {
        out.push(tag::INTEGER);
        out.extend(int.to_be_bytes());
    } else {
        let digits = value.unsigned_abs().to_le_bytes();
        let length = digits
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        big(out, value < 0, &digits[..length]);
    }
}

/// Appends an integer in the range of floats; `digits` in base 256, least significant first, without a trailing zero.
fn big(out: &mut Vec<u8>, is_negative: bool, digits: &[u8]) {
    // The largest float has 128 digits.
    out.extend([tag::SMALL_BIG, digits.len() as u8, u8::from(is_negative)]);
    out.extend(digits);
}

fn number(out: &mut Vec<u8>, text: &str) -> Result<(), TermError> {
    let out_of_range = || TermError::Number(text.chars().take(40).collect());
    if text.contains(['.', 'e', 'E']) {
        let value = float(text).filter(|value| value.is_finite());
        let value = value.ok_or_else(out_of_range)?;
        out.push(tag::NEW_FLOAT);
        out.extend(value.to_be_bytes());
        return Ok(());
    }
    if let Ok(value) = text.parse::<i128>() {
        integer(out, value);
        return Ok(());
    }
    if !text.parse::<f64>().is_ok_and(f64::is_finite) {
        return Err(out_of_range());
    }
    let digits = text.trim_start_matches('-');
    big(out, text.starts_with('-'), &base_256(digits));
    Ok(())
}

/// The longest number, in bytes, that CouchDB's JSON reader converts to the nearest float in any case.
const NEAREST_BYTES_MAX: usize = 31;

/// The value of a number with a fraction or an exponent, as CouchDB's JSON reader computes it.
fn float(text: &str) -> Option<f64> {
    let nearest: f64 = text.parse().ok()?;
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return Some(nearest);
    };
    let mantissa_value: f64 = mantissa.parse().ok()?;
    let is_tiny = mantissa_value != 0.0 && nearest.abs() < f64::MIN_POSITIVE;
    if mantissa.contains('.') || !is_tiny && text.len() <= NEAREST_BYTES_MAX {
        return Some(nearest);
    }
    Some(mantissa_value * 10_f64.powf(exponent.parse().ok()?))
}

/// Converts a decimal number (more than 38 digits, no leading zero) to base 256, least significant digit first.
fn base_256(decimal: &str) -> Vec<u8> {
    /// Decimal digits per step.
    const STEP: usize = 9;
    let mut limbs: Vec<u32> = Vec::new();
    let first = match decimal.len() % STEP {
        0 => STEP,
        rest => rest,
    };
    let (head, tail) = decimal.as_bytes().split_at(first);
    for group in std::iter::once(head).chain(tail.chunks(STEP)) {
        let mut carry = group
            .iter()
            .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        for limb in &mut limbs {
            carry += u64::from(*limb) * 1_000_000_000;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let mut bytes: Vec<u8> = limbs.into_iter().flat_map(u32::to_le_bytes).collect();
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn term(text: &str) -> Vec<u8> {
        Term::from_json(text, 100).unwrap().0
    }

    /// Decodes the subset of the format that [`Term`] writes.
    struct Decoder<'a>(&'a [u8]);

    impl Decoder<'_> {
        fn bytes(&mut self, count: usize) -> Vec<u8> {
            let (taken, rest) = self.0.split_at(count);
            self.0 = rest;
            taken.to_vec()
        }

        fn number(&mut self, bytes: usize) -> u64 {
            let taken = self.bytes(bytes);
            taken
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte))
        }

        fn list(&mut self, items: u64) -> Vec<Value> {
            let list = (0..items).map(|_| self.value()).collect();
            assert_eq!(self.number(1), u64::from(tag::NIL));
            list
        }

        fn pairs(&mut self) -> Value {
            let items = match self.number(1) as u8 {
                tag::NIL => return Value::Object(Default::default()),
                _ => self.number(4),
            };
            let mut members = serde_json::Map::new();
            for _ in 0..items {
                assert_eq!(self.bytes(2), [tag::SMALL_TUPLE, 2]);
                let Value::String(key) = self.value() else {
                    panic!("a key is a string")
                };
                members.insert(key, self.value());
            }
            assert_eq!(self.number(1), u64::from(tag::NIL));
            Value::Object(members)
        }

        fn big(&mut self, length: usize) -> Value {
            let is_negative = self.number(1) == 1;
            let digits = self.bytes(length);
            let magnitude = digits
                .iter()
                .rev()
                .fold(0, |value: i128, byte| value << 8 | i128::from(*byte));
            let value = if is_negative { -magnitude } else { magnitude };
            i64::try_from(value).map_or_else(|_| Value::from(value as u64), Value::from)
        }

        fn value(&mut self) -> Value {
            match self.number(1) as u8 {
                tag::NEW_FLOAT => Value::from(f64::from_bits(self.number(8))),
                tag::SMALL_INTEGER => Value::from(self.number(1)),
                tag::INTEGER => Value::from(i64::from(self.number(4) as u32 as i32)),
                tag::SMALL_BIG => {
                    let length = self.number(1) as usize;
                    self.big(length)
                }
                tag::ATOM => {
                    let length = self.number(2) as usize;
                    serde_json::from_slice(&self.bytes(length)).unwrap()
                }
                tag::SMALL_TUPLE => {
                    assert_eq!(self.number(1), 1);
                    self.pairs()
                }
                tag::NIL => Value::Array(Vec::new()),
                tag::STRING => {
                    let length = self.number(2) as usize;
                    self.bytes(length).into_iter().map(Value::from).collect()
                }
                tag::LIST => {
                    let items = self.number(4);
                    Value::Array(self.list(items))
                }
                tag::BINARY => {
                    let length = self.number(4) as usize;
                    Value::String(String::from_utf8(self.bytes(length)).unwrap())
                }
                other => panic!("unknown tag {other}"),
            }
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (0..300i64).prop_map(Value::from),
            any::<f64>()
                .prop_filter("finite", |float| float.is_finite())
                .prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::vec(("\\PC{0,4}", inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_term_says_what_the_json_says(value in any_json()) {
            let text = value.to_string();
            let bytes = term(&text);
            let mut decoder = Decoder(&bytes);
            prop_assert_eq!(decoder.value(), value);
            prop_assert!(decoder.0.is_empty());
        }

        #[test]
        fn long_integers_have_the_right_digits(digits in "[1-9][0-9]{38,200}") {
            let bytes = base_256(&digits);
            // Converts back to decimal by long division.
            let mut rest = bytes.clone();
            let mut decimal = Vec::new();
            while !rest.is_empty() {
                let mut carry = 0u32;
                for byte in rest.iter_mut().rev() {
                    carry = carry << 8 | u32::from(*byte);
                    *byte = (carry / 10) as u8;
                    carry %= 10;
                }
                decimal.push(b'0' + carry as u8);
                while rest.last() == Some(&0) {
                    rest.pop();
                }
            }
            decimal.reverse();
            prop_assert_eq!(String::from_utf8(decimal).unwrap(), digits);
        }
    }

    #[test]
    fn integers_take_the_smallest_form() {
        assert_eq!(term("0"), [97, 0]);
        assert_eq!(term("-0"), [97, 0]);
        assert_eq!(term("255"), [97, 255]);
        assert_eq!(term("256"), [98, 0, 0, 1, 0]);
        assert_eq!(term("-1"), [98, 255, 255, 255, 255]);
        assert_eq!(term("-2147483648"), [98, 128, 0, 0, 0]);
        assert_eq!(term("2147483648"), [110, 4, 0, 0, 0, 0, 128]);
        assert_eq!(term("-2147483649"), [110, 4, 1, 1, 0, 0, 128]);
        let power = "340282366920938463463374607431768211456"; // 2^128
        let mut expected = vec![110, 17, 0];
        expected.extend([0; 16]);
        expected.push(1);
        assert_eq!(term(power), expected);
        let large = term(&"9".repeat(308));
        assert_eq!(large[..2], [110, 128]);
    }

    #[test]
    fn a_fraction_or_an_exponent_makes_a_float() {
        let float = |value: f64| {
            let mut bytes = vec![70];
            bytes.extend(value.to_be_bytes());
            bytes
        };
        assert_eq!(term("1.0"), float(1.0));
        assert_eq!(term("1e3"), float(1000.0));
        assert_eq!(term("-0.0"), float(-0.0));
        assert_eq!(term("1E-400"), float(0.0));
        assert!(Term::from_json("1e400", 9).is_err());
    }

    #[test]
    fn an_integer_beyond_the_floats_is_refused() {
        for digits in [309, 400, 5000] {
            let text = "9".repeat(digits);
            for text in [format!("{{\"a\":{text}}}"), format!("-{text}")] {
                let refused = Term::from_json(&text, 9);
                assert!(matches!(refused, Err(TermError::Number(_))), "{digits}");
            }
        }
    }

    #[test]
    fn the_empty_object_is_the_one_of_json() {
        assert_eq!(term("{}"), Term::empty_object().0);
    }

    #[test]
    fn arrays_of_bytes_are_strings_unless_they_are_long() {
        assert_eq!(term("[1,255]"), [107, 0, 2, 1, 255]);
        assert_eq!(
            term("[1,256]"),
            [108, 0, 0, 0, 2, 97, 1, 98, 0, 0, 1, 0, 106]
        );
        assert_eq!(term("[]"), [106]);
        assert_eq!(term("[[1]]"), [108, 0, 0, 0, 1, 107, 0, 1, 1, 106]);
        let bytes = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert_eq!(term(&bytes(0xffff))[..3], [107, 255, 255]);
        assert_eq!(term(&bytes(0x1_0000))[..5], [108, 0, 1, 0, 0]);
    }
}
