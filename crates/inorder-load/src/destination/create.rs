//! Creates a table for the rows that are loaded into it.

use inorder_engine::nearest;
use inorder_key::{Encoding, KeyKind};

use super::Sample;
use crate::Error;
use crate::error::offer;
use crate::sql::quoted;

/// The definition of the table to create.
#[derive(Clone, Debug, Default)]
pub struct Create {
    /// Columns and their declared types. The first rows decide the types of the others.
    pub types: Vec<(String, String)>,
    /// The columns of the primary key. If empty, the table has none.
    pub key: Vec<KeySpec>,
    /// Whether the table has rowids. Otherwise it is WITHOUT ROWID, if it has a key.
    pub has_rowid: bool,
}

/// A column of the primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Its name.
    pub column: String,
    /// The kind and encoding of the ids to make; `None` if the input has them.
    pub made: Option<(KeyKind, Encoding)>,
}

impl KeySpec {
    /// Parses `id`, `id=uuid7` or `id=uuid7:text`.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((column, made)) = text.split_once('=') else {
            return Ok(KeySpec {
                column: text.to_owned(),
                made: None,
            });
        };
        let (kind, encoding) = match made.split_once(':') {
            Some((kind, encoding)) => (kind, Some(encoding)),
            None => (made, None),
        };
        let kinds = || {
            let all = KeyKind::ALL.iter().copied();
            all.filter(|kind| *kind != KeyKind::Composite)
        };
        let kind = kinds().find(|known| known.name() == kind).ok_or_else(|| {
            let hint = nearest(kind, kinds().map(KeyKind::name));
            format!("unknown kind of key `{kind}`: {hint}")
        })?;
        let stored = kind
            .encodings()
            .iter()
            .copied()
            .filter(|encoding| *encoding != Encoding::Native);
        let encoding = match encoding {
            None => stored.clone().next(),
            Some(name) => stored.clone().find(|encoding| encoding.name() == name),
        };
        let encoding = encoding.ok_or_else(|| {
            let names: Vec<&str> = stored.map(Encoding::name).collect();
            format!("{} is stored as {}", kind.name(), names.join(" or "))
        })?;
        Ok(KeySpec {
            column: column.to_owned(),
            made: Some((kind, encoding)),
        })
    }

    fn declared_type(&self, sampled: &'static str) -> &'static str {
        match self.made {
            None => sampled,
            Some((_, Encoding::Integer)) => "INTEGER",
            Some((_, Encoding::Text)) => "TEXT",
            Some(_) => "BLOB",
        }
    }
}

impl Create {
    /// The statement that makes the table, for an input whose first rows are these.
    ///
    /// # Errors
    /// If a column of the key or of `types` is not in the input, or the input has a column to generate.
    pub fn sql(&self, table: &str, sample: &Sample) -> Result<String, Error> {
        self.check(sample)?;
        let mut columns: Vec<(String, String)> = Vec::new();
        for key in self.key.iter().filter(|key| key.made.is_some()) {
            columns.push((key.column.clone(), key.declared_type("").to_owned()));
        }
        for (name, place) in &sample.names {
            let given = self.types.iter().find(|(column, _)| column == name);
            let declared_type = match given {
                Some((_, declared_type)) => declared_type.clone(),
                None => {
                    let found = sample.declared_type(*place);
                    let found = found.map_err(|error| Error::Create {
                        what: format!("column `{name}`: {error}"),
                    })?;
                    found.to_owned()
                }
            };
            columns.push((name.clone(), declared_type));
        }
        Ok(self.statement(table, &columns))
    }

    /// The columns whose types are guessed.
    pub(crate) fn is_guessed(&self, column: &str) -> bool {
        let is_made = self
            .key
            .iter()
            .any(|key| key.column == column && key.made.is_some());
        !is_made && !self.types.iter().any(|(name, _)| name == column)
    }

    fn check(&self, sample: &Sample) -> Result<(), Error> {
        let has = |name: &str| sample.names.iter().any(|(column, _)| column == name);
        let wrong = |what: String| Err(Error::Create { what });
        for key in &self.key {
            match (&key.made, has(&key.column)) {
                (Some((kind, _)), true) => {
                    return wrong(format!(
                        "the input already has a column `{}`: omit `={}` to use it, or give the generated column another name",
                        key.column,
                        kind.name()
                    ));
                }
                (None, false) => return wrong(self.not_there(&key.column, sample)),
                _ => {}
            }
        }
        match self.types.iter().find(|(column, _)| !has(column)) {
            Some((column, _)) => wrong(self.not_there(column, sample)),
            None => Ok(()),
        }
    }

    fn not_there(&self, column: &str, sample: &Sample) -> String {
        let names = sample.names.iter().map(|(column, _)| column.as_str());
        format!(
            "the input has no column `{column}`; {} (to generate a key: `--key {column}=uuid7`)",
            offer(column, names)
        )
    }

    fn statement(&self, table: &str, columns: &[(String, String)]) -> String {
        let is_sole_key = |name: &str| matches!(&self.key[..], [only] if only.column == name);
        let is_integer = |declared_type: &str| declared_type.eq_ignore_ascii_case("INTEGER");
        let mut lines = Vec::new();
        let mut has_rowid = self.has_rowid || self.key.is_empty();
        for (name, declared_type) in columns {
            let mut line = quoted(name);
            if !declared_type.is_empty() {
                line += &format!(" {declared_type}");
            }
            if is_sole_key(name) {
                // Another name of the rowid: nothing is shorter.
                has_rowid |= is_integer(declared_type);
                line += " PRIMARY KEY";
            }
            let is_in_key = self.key.iter().any(|key| key.column == *name);
            if is_in_key && !is_integer(declared_type) {
                line += " NOT NULL";
            }
            lines.push(line);
        }
        if self.key.len() > 1 {
            let names: Vec<String> = self.key.iter().map(|key| quoted(&key.column)).collect();
            lines.push(format!("PRIMARY KEY ({})", names.join(", ")));
        }
        format!(
            "CREATE TABLE {} (\n  {}\n){}",
            quoted(table),
            lines.join(",\n  "),
            if has_rowid { "" } else { " WITHOUT ROWID" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_wrong_ones_answered() {
        let made = |kind, encoding| {
            Ok(KeySpec {
                column: "id".to_owned(),
                made: Some((kind, encoding)),
            })
        };
        assert_eq!(
            KeySpec::parse("id=uuid7"),
            made(KeyKind::Uuid7, Encoding::Blob)
        );
        assert_eq!(
            KeySpec::parse("id=ulid:text"),
            made(KeyKind::Ulid, Encoding::Text)
        );
        assert_eq!(
            KeySpec::parse("id=serial"),
            made(KeyKind::Serial, Encoding::Integer)
        );
        assert_eq!(KeySpec::parse("id").map(|key| key.made), Ok(None));
        assert_eq!(
            KeySpec::parse("id=uuid"),
            Err(
                "unknown kind of key `uuid`: did you mean `uuid4`? (known: serial, int-seq, int-random, uuid4, uuid7, \
                 ulid, token160)"
                    .to_owned()
            )
        );
        assert_eq!(
            KeySpec::parse("id=ulid:hex"),
            Err("ulid is stored as blob or text".to_owned())
        );
    }
}
