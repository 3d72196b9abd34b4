//! JSON written again, without what does not matter.

use super::{Text, Token};
use std::borrow::Cow;

/// Writes a JSON text again without white space, and of members that are given twice keeps the last, where it stands.
#[derive(Debug, Default)]
pub struct Compactor {
    out: Vec<u8>,
    open: Vec<Level>,
    /// The members of all open objects.
    members: Vec<Member>,
}

#[derive(Debug)]
struct Level {
    /// The numbers of members of the enclosing objects.
    members_before: usize,
    is_object: bool,
    is_empty: bool,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// The position of the name's opening quote.
    start: usize,
    /// The end of the name.
    name_end: usize,
    has_escapes: bool,
}

impl Compactor {
    /// Adds a step.
    pub fn push(&mut self, token: Token<'_>) {
        match token {
            Token::ObjectStart => self.open(true),
            Token::ArrayStart => self.open(false),
            Token::ObjectEnd => {
                let level = self.open.pop();
                let members = self
                    .members
                    .split_off(level.map_or(0, |level| level.members_before));
                self.keep_last_of_each(&members);
                self.out.push(b'}');
            }
            Token::ArrayEnd => {
                self.open.pop();
                self.out.push(b']');
            }
            Token::Key(key) => {
                self.separate();
                let start = self.out.len() + 1;
                self.quoted(key.raw);
                self.members.push(Member {
                    start: start - 1,
                    name_end: self.out.len() - 1,
                    has_escapes: key.has_escapes,
                });
                self.out.push(b':');
            }
            Token::String(text) => {
                self.item();
                self.quoted(text.raw);
            }
            Token::Number(text) => self.word(text),
            Token::Bool(true) => self.word("true"),
            Token::Bool(false) => self.word("false"),
            Token::Null => self.word("null"),
        }
    }

    /// The written text.
    pub fn finish(self) -> String {
        // Only tokens of a text were written.
        String::from_utf8(self.out).unwrap_or_default()
    }

    fn open(&mut self, is_object: bool) {
        self.item();
        self.open.push(Level {
            members_before: self.members.len(),
            is_object,
            is_empty: true,
        });
        self.out.push(if is_object { b'{' } else { b'[' });
    }

    fn word(&mut self, text: &str) {
        self.item();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn quoted(&mut self, raw: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(raw.as_bytes());
        self.out.push(b'"');
    }

    /// Before an item of an array; a member's value follows its name.
    fn item(&mut self) {
        if self.open.last().is_some_and(|level| !level.is_object) {
            self.separate();
        }
    }

    fn separate(&mut self) {
        if let Some(level) = self.open.last_mut()
            && !std::mem::replace(&mut level.is_empty, false)
        {
            self.out.push(b',');
        }
    }

    fn keep_last_of_each(&mut self, members: &[Member]) {
        let is_last = {
            let names: Vec<_> = members.iter().map(|member| self.name(*member)).collect();
            match last_of_each(&names) {
                None => return,
                Some(is_last) => is_last,
            }
        };
        let Some(start) = members.first().map(|member| member.start) else {
            return;
        };
        let ends = members[1..].iter().map(|next| next.start - 1);
        let ends: Vec<_> = ends.chain([self.out.len()]).collect();
        let mut kept = Vec::new();
        for ((member, end), is_last) in members.iter().zip(ends).zip(is_last) {
            if is_last {
                if !kept.is_empty() {
                    kept.push(b',');
                }
                kept.extend_from_slice(&self.out[member.start..end]);
            }
        }
        self.out.truncate(start);
        self.out.extend(kept);
    }

    fn name(&self, member: Member) -> Cow<'_, str> {
        let raw = &self.out[member.start + 1..member.name_end];
        let raw = std::str::from_utf8(raw).unwrap_or_default();
        let has_escapes = member.has_escapes;
        Text { raw, has_escapes }.decode()
    }
}

/// For each name whether it is the last of its kind; none when all are different.
fn last_of_each(names: &[Cow<'_, str>]) -> Option<Vec<bool>> {
    /// So few are compared with each other faster than they are sorted.
    const FEW: usize = 12;
    if names.len() <= FEW {
        let is_last = |(index, name)| !names[index + 1..].contains(name);
        let is_last: Vec<bool> = names.iter().enumerate().map(is_last).collect();
        return is_last.contains(&false).then_some(is_last);
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|index| (&names[*index], *index));
    let mut is_last = vec![true; names.len()];
    for pair in order.windows(2) {
        is_last[pair[0]] = names[pair[0]] != names[pair[1]];
    }
    is_last.contains(&false).then_some(is_last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Error, Reader};
    use proptest::prelude::*;

    fn compact(text: &str) -> Result<String, Error> {
        let mut reader = Reader::new(text, 128);
        let mut compactor = Compactor::default();
        while let Some(token) = reader.next()? {
            compactor.push(token);
        }
        Ok(compactor.finish())
    }

    #[test]
    fn white_space_goes_and_spelling_stays() {
        let text =
            " { \"a\\u0062\" : [ 1.0 , 1e3,-0 ,\t12345678901234567890123 ] ,\r\n\"é\":{ } } ";
        let expected = r#"{"a\u0062":[1.0,1e3,-0,12345678901234567890123],"é":{}}"#;
        assert_eq!(compact(text).as_deref(), Ok(expected));
    }

    #[test]
    fn of_members_given_twice_the_last_stays_where_it_is() {
        let cases = [
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
            (r#"{"a":1,"\u0061":2}"#, r#"{"\u0061":2}"#),
            (r#"[{"a":{"b":1,"b":[2,3]}}]"#, r#"[{"a":{"b":[2,3]}}]"#),
            (r#"{"a":{"a":1},"c":0}"#, r#"{"a":{"a":1},"c":0}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(compact(text).as_deref(), Ok(expected));
        }
        let many: Vec<_> = (0..40).map(|n| format!("\"{}\":{n}", n % 20)).collect();
        let expected = format!("{{{}}}", many[20..].join(","));
        assert_eq!(compact(&format!("{{{}}}", many.join(","))), Ok(expected));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(compact(&nested(128)).is_ok());
        assert_eq!(compact(&nested(129)), Err(Error::TooDeep { max: 128 }));
        assert_eq!(
            compact(&"[".repeat(1_000_000)),
            Err(Error::TooDeep { max: 128 })
        );
    }

    /// Texts that are JSON, or nearly.
    fn nearly_json() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[\\[\\]{},: \"]",
            Just("\"a\"".to_owned()),
            Just("\"\\u00e9\"".to_owned()),
            Just("\"\\ud800\\udc00\"".to_owned()),
            "\"\\\\u?[d0-9a-g]{0,4}\"",
            "-?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][+-]?[0-9]{0,2})?",
            "true|false|null|nul",
            "\\PC",
        ];
        proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_serde_json_reads_is_read_and_nothing_else(text in nearly_json()) {
            let expected = serde_json::from_str::<serde_json::Value>(&text);
            match compact(&text) {
                Ok(compacted) => {
                    // Out of range for a value, though well-formed.
                    if let Ok(expected) = expected {
                        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&compacted).unwrap(), expected);
                    } else {
                        prop_assert!(expected.unwrap_err().to_string().contains("out of range"));
                    }
                }
                Err(_) => prop_assert!(expected.is_err()),
            }
        }
    }
}
