//! `--migrate FROM:TO`: the levels that it sets, and the question that an experiment then asks.

use super::{Experiment, NewKey};
use inorder_key::{Encoding, KeyKind};
use std::fmt::Write as _;

/// The factor that a migration sets.
pub(super) const FACTOR: &str = "migrate_to";

/// A migration from one key to others, as the command line writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrate {
    from: Side,
    to: Vec<Side>,
}

/// A kind of ids, an encoding, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    kind: Option<KeyKind>,
    encoding: Option<Encoding>,
}

impl Side {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(encoding) = Encoding::from_name(text) {
            return Ok(Side {
                kind: None,
                encoding: Some(encoding),
            });
        }
        let key = NewKey::parse(text)?;
        Ok(Side {
            kind: Some(key.kind),
            encoding: key.encoding,
        })
    }
}

impl Migrate {
    /// Parses `FROM:TO`, or `FROM:TO,TO`. A side is a kind of ids, `KIND/ENCODING`, or an encoding.
    ///
    /// # Errors
    /// What is wrong, for messages.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once(':')
            .filter(|(from, to)| !from.is_empty() && !to.is_empty())
            .ok_or("write FROM:TO, such as uuid4:uuid7, uuid4/text:uuid4/native or text:native")?;
        Ok(Migrate {
            from: Side::parse(from)?,
            to: to.split(',').map(Side::parse).collect::<Result<_, _>>()?,
        })
    }

    /// The levels, for an experiment whose tables have this key and encoding, if it says so.
    pub fn levels(&self, own: Option<(&str, &str)>) -> Vec<(String, Vec<String>)> {
        let own_kind = own.and_then(|(kind, _)| KeyKind::from_name(kind));
        let kind = self.from.kind.or(own_kind).unwrap_or(KeyKind::Uuid4);
        let own_encoding = own.filter(|_| own_kind == Some(kind));
        let encoding = match (self.from.encoding, own_encoding) {
            (Some(encoding), _) => Some(encoding.name()),
            (None, Some((_, encoding))) => Some(encoding),
            // The experiment has the smallest type of each engine.
            (None, None) if kind.encodings().contains(&Encoding::Native) => None,
            (None, None) => Some("default"),
        };
        let to = self.to.iter().map(|side| {
            NewKey {
                kind: side.kind.unwrap_or(kind),
                encoding: side.encoding,
            }
            .name()
        });
        let mut levels = vec![
            ("key".to_owned(), vec![kind.name().to_owned()]),
            (FACTOR.to_owned(), to.collect()),
        ];
        levels.extend(encoding.map(|name| ("encoding".to_owned(), vec![name.to_owned()])));
        levels
    }
}

impl Experiment {
    /// Asks what the migration costs that the command line sets.
    pub(super) fn ask_for_migration(&mut self) {
        let keys = self.all_levels(FACTOR);
        let from = self.all_levels("key").join(", ");
        let table = self
            .measured()
            .map_or("a table", |table| &table.name)
            .to_owned();
        self.title = format!("The way of {table} to another key");
        self.question = format!(
            "What does it cost to move {table} from {from} to {} while it is in use, and what do inserts cost before and after?",
            keys.join(" or ")
        );
        self.expect = String::new();
        let mut answer = String::new();
        for engine in self.all_levels("engine") {
            for key in &keys {
                let cell = format!("engine={engine},{FACTOR}={key}");
                let _ = write!(
                    answer,
                    "On {engine}, a row that moves to {key} costs {{value migration_bytes_per_row {cell}}} of writes, and a writer \
                     waits for at most {{value migration_writer_wait_us {cell}}}. An insert writes \
                     {{value migration_insert_bytes_before {cell}}} before and {{value migration_insert_bytes_after {cell}}} after. "
                );
            }
        }
        answer.trim_end().clone_into(&mut self.answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str, own: Option<(&str, &str)>) -> Vec<String> {
        let levels = Migrate::parse(text).unwrap().levels(own);
        let levels = levels.iter();
        levels
            .map(|(factor, levels)| format!("{factor}={}", levels.join(",")))
            .collect()
    }

    #[test]
    fn both_sides_are_a_kind_an_encoding_or_both() {
        assert_eq!(
            levels("uuid4:uuid7,bigint", None),
            ["key=uuid4", "migrate_to=uuid7,int-seq"]
        );
        assert_eq!(
            levels("text:native", Some(("uuid7", "text"))),
            ["key=uuid7", "migrate_to=uuid7/native", "encoding=text"]
        );
        assert_eq!(
            levels("uuid4:uuid7", Some(("uuid4", "text"))),
            ["key=uuid4", "migrate_to=uuid7", "encoding=text"]
        );
        assert_eq!(
            levels("bigint:uuid7", None),
            ["key=int-seq", "migrate_to=uuid7", "encoding=default"]
        );
        assert!(Migrate::parse("uuid7").unwrap_err().contains("FROM:TO"));
    }
}
