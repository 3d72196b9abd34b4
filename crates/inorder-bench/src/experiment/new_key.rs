//! The key that a table moves to: a kind of ids and how it is stored.

use super::level;
use inorder_engine::Engine;
use inorder_key::{Encoding, KeyKind};

/// Names of kinds in other words.
const ALIASES: &[(&str, KeyKind)] = &[("bigint", KeyKind::IntSeq)];

/// A kind of ids, and how it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// The kind.
    pub kind: KeyKind,
    /// How it is stored; `None` is the default of the engine.
    pub encoding: Option<Encoding>,
}

impl NewKey {
    /// Parses `KIND` or `KIND/ENCODING`.
    ///
    /// # Errors
    /// The nearest name, for messages.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, encoding) = match text.split_once('/') {
            Some((kind, encoding)) => (kind, Some(encoding)),
            None => (text, None),
        };
        let alias = ALIASES.iter().find(|(name, _)| *name == kind);
        let kind = alias.map_or_else(|| level::kind(kind), |(_, kind)| Ok(*kind))?;
        Ok(NewKey {
            kind,
            encoding: encoding.map(level::encoding).transpose()?,
        })
    }

    /// Its name in experiments.
    pub fn name(self) -> String {
        match self.encoding {
            Some(encoding) => format!("{}/{}", self.kind.name(), encoding.name()),
            None => self.kind.name().to_owned(),
        }
    }

    /// The encoding in an engine.
    pub fn encoding_in(self, engine: &dyn Engine) -> Encoding {
        self.encoding.unwrap_or_else(|| engine.encoding(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_as_it_was_written() {
        for name in ["uuid7", "uuid4/native", "int-seq"] {
            assert_eq!(NewKey::parse(name).unwrap().name(), name);
        }
        assert_eq!(NewKey::parse("bigint").unwrap().name(), "int-seq");
        let error = NewKey::parse("uuid7/txt").unwrap_err();
        assert!(error.contains("did you mean `text`?"), "{error}");
    }
}
