//! Creates a table for the rows that are loaded into it.

use inorder_engine::{ColumnKind, nearest};
use inorder_key::{Encoding, KeyKind};

use super::{Destination, FoundColumn, FullText, Sample};
use crate::Error;
use crate::error::offer;
use crate::note::Note;
use crate::sql::{place_of, quoted};

/// The definition of the table to create.
#[derive(Clone, Debug, Default)]
pub struct Create {
    /// Columns and their declared types. The first rows decide the types of the others.
    pub types: Vec<(String, String)>,
    /// All columns of the input with their types, if more is known than the first rows say. They are not checked again.
    pub found: Vec<FoundColumn>,
    /// The columns of the primary key. If empty, the table has none.
    pub key: Vec<KeySpec>,
    /// The columns of each index.
    pub indexes: Vec<Vec<String>>,
    /// The foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// The full-text index, in SQLite.
    pub full_text: Option<FullText>,
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

/// A foreign key of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The column.
    pub column: String,
    /// The table that it refers to.
    pub parent: String,
    /// The column that it refers to; `None` is the primary key.
    pub parent_column: Option<String>,
}

impl ForeignKey {
    /// Parses `author=people` or `author=people.id`.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("write `{text}` as COLUMN=TABLE or COLUMN=TABLE.COLUMN");
        let (column, parent) = text.split_once('=').ok_or_else(wrong)?;
        let (parent, parent_column) = match parent.split_once('.') {
            Some((parent, column)) => (parent, Some(column.to_owned())),
            None => (parent, None),
        };
        if [column, parent].contains(&"") || parent_column.as_deref() == Some("") {
            return Err(wrong());
        }
        Ok(ForeignKey {
            column: column.to_owned(),
            parent: parent.to_owned(),
            parent_column,
        })
    }

    fn clause(&self) -> String {
        let column = self.parent_column.as_deref();
        let column = column.map_or(String::new(), |column| format!("({})", quoted(column)));
        format!(" REFERENCES {}{column}", quoted(&self.parent))
    }
}

impl KeySpec {
    /// Parses `id`, `id=uuid7` or `id=uuid7:text`.
    ///
    /// # Errors
    /// A message that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.starts_with('=') {
            return Err(format!("write `{text}` as COLUMN or COLUMN=KIND"));
        }
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
            Some((_, Encoding::Text | Encoding::Hex)) => "TEXT",
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
        self.check_case(sample)?;
        let mut columns: Vec<(String, String)> = Vec::new();
        for key in self.key.iter().filter(|key| key.made.is_some()) {
            columns.push((key.column.clone(), key.declared_type("").to_owned()));
        }
        for (name, place) in self.columns(sample) {
            let declared_type = match (self.type_of(name), place) {
                (Some(declared_type), _) => declared_type.to_owned(),
                (None, None) => String::new(),
                (None, Some(place)) => {
                    let derived = sample.derived(place);
                    let derived = derived.map_err(|error| Error::Create {
                        what: format!("column `{name}`: {error}"),
                    })?;
                    derived.declared_type.to_owned()
                }
            };
            columns.push((name.to_owned(), declared_type));
        }
        let mut statements = vec![self.statement(table, &columns)];
        for index in &self.indexes {
            let name = format!("{table}_{}", index.join("_"));
            let columns: Vec<String> = index.iter().map(|column| quoted(column)).collect();
            statements.push(format!(
                "CREATE INDEX {} ON {}({})",
                quoted(&name),
                quoted(table),
                columns.join(", ")
            ));
        }
        Ok(statements.join(";\n"))
    }

    /// The type that is given for a column, or found from all rows.
    pub(crate) fn type_of(&self, name: &str) -> Option<&str> {
        let given = self.types.iter().find(|(column, _)| column == name);
        let given = given.map(|(_, declared_type)| declared_type.as_str());
        given.or_else(|| self.found(name).map(|found| found.declared_type.as_str()))
    }

    /// What all rows say of a column, if they were read.
    pub(super) fn found(&self, name: &str) -> Option<&FoundColumn> {
        self.found.iter().find(|found| found.name == name)
    }

    /// Whether the values of the inputs give a column its type.
    pub(crate) fn is_derived(&self, column: &str) -> bool {
        let is_made = |key: &KeySpec| key.column == column && key.made.is_some();
        !self.key.iter().any(is_made) && !self.types.iter().any(|(name, _)| name == column)
    }

    /// What is to be said about the types of columns that are derived.
    pub(crate) fn notes(&self, sample: &Sample, destination: &Destination) -> Vec<Note> {
        let of_column = |(name, place): (&str, Option<usize>)| {
            let info =
                &destination.columns[destination.column(name).filter(|_| self.is_derived(name))?];
            if !info.is_derived {
                return None;
            }
            let is_text = match info.intake {
                Some(_) => self.kind_of(name, place, sample).ok()? == ColumnKind::Text,
                None => info.declared_type == "TEXT",
            };
            let note = match self.found(name) {
                Some(found) => found.note.clone(),
                None => sample.derived(place?).ok()?.note(name),
            };
            note.filter(|_| is_text)
        };
        self.columns(sample)
            .into_iter()
            .filter_map(of_column)
            .collect()
    }

    /// The columns of the input, with their places in the first rows.
    pub(super) fn columns<'a>(&'a self, sample: &'a Sample) -> Vec<(&'a str, Option<usize>)> {
        let first = sample.names.iter();
        let mut columns: Vec<(&str, Option<usize>)> = first
            .map(|(name, place)| (name.as_str(), Some(*place)))
            .collect();
        let later = self.found.iter().map(|found| found.name.as_str());
        let later: Vec<&str> = later
            .filter(|name| !columns.iter().any(|(column, _)| column == name))
            .collect();
        columns.extend(later.into_iter().map(|name| (name, None)));
        columns
    }

    /// The columns whose types are guessed.
    pub(crate) fn is_guessed(&self, column: &str) -> bool {
        self.found(column).is_none() && self.is_derived(column)
    }

    /// Returns the same definition with names of columns as the input spells them: SQLite does not tell upper case from lower
    /// case. Names that the input does not have stay as they are.
    pub(crate) fn spelled(&self, sample: &Sample) -> Self {
        let mut create = self.clone();
        let columns = self.columns(sample);
        let mut known: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let spell = |known: &[&str], name: &mut String| {
            if let Some(place) = place_of(name, known.iter().copied()) {
                known[place].clone_into(name);
            }
        };
        for key in &mut create.key {
            spell(&known, &mut key.column);
        }
        let made = create.key.iter().filter(|key| key.made.is_some());
        let made: Vec<String> = made.map(|key| key.column.clone()).collect();
        known.extend(made.iter().map(String::as_str));
        let types = create.types.iter_mut().map(|(column, _)| column);
        let searched = create.full_text.iter_mut();
        let searched = searched.flat_map(|index| &mut index.columns);
        let foreign = create.foreign_keys.iter_mut().map(|key| &mut key.column);
        let indexed = create.indexes.iter_mut().flatten();
        for name in types.chain(searched).chain(foreign).chain(indexed) {
            spell(&known, name);
        }
        create
    }

    pub(super) fn check(&self, sample: &Sample) -> Result<(), Error> {
        let columns = self.columns(sample);
        if columns.is_empty() {
            return Err(Error::Create {
                what: "the input has no rows, and so no columns to create a table with".to_owned(),
            });
        }
        let has = |name: &str| columns.iter().any(|(column, _)| *column == name);
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
                (None, false) => return Err(self.not_there("--key", &key.column, sample)),
                _ => {}
            }
        }
        let is_made = |name: &str| self.key.iter().any(|key| key.column == name);
        let indexed = self.indexes.iter().flatten().filter(|name| !is_made(name));
        let searched = self.full_text.iter().flat_map(|index| &index.columns);
        let foreign = self.foreign_keys.iter().map(|key| &key.column);
        let types = self.types.iter().map(|(column, _)| column);
        let named = types.map(|column| ("--type", column));
        let mut named = named
            .chain(indexed.map(|column| ("--index", column)))
            .chain(searched.map(|column| ("--fts", column)))
            .chain(foreign.map(|column| ("--foreign-key", column)));
        match named.find(|(_, column)| !has(column)) {
            Some((flag, column)) => Err(self.not_there(flag, column, sample)),
            None => self.check_once(),
        }
    }

    /// Checks that no column of a key or an index, no type and no index is given twice.
    fn check_once(&self) -> Result<(), Error> {
        let keys = self.key.iter().map(|key| key.column.clone()).collect();
        let types = self.types.iter().map(|(column, _)| column.clone());
        let indexes = self.indexes.iter().map(|columns| columns.join(","));
        let mut lists = vec![
            ("--key", keys),
            ("--type", types.collect()),
            ("--index", indexes.collect::<Vec<_>>()),
        ];
        let columns = self.indexes.iter().cloned();
        lists.extend(columns.map(|columns| ("--index", columns)));
        for (flag, names) in lists {
            let mut all = names.iter().enumerate();
            if let Some((_, name)) = all.find(|(at, name)| names[..*at].contains(name)) {
                return Err(Error::Create {
                    what: format!("{flag}: `{name}` is given twice"),
                });
            }
        }
        Ok(())
    }

    /// SQLite does not tell upper case from lower case in names.
    fn check_case(&self, sample: &Sample) -> Result<(), Error> {
        let columns = self.columns(sample);
        for (at, (name, _)) in columns.iter().enumerate() {
            let before = columns[..at].iter();
            let mut alike = before.filter(|(other, _)| other.eq_ignore_ascii_case(name));
            if let Some((other, _)) = alike.next() {
                return Err(Error::Create {
                    what: format!(
                        "`{other}` and `{name}` are one name in SQLite: give the columns other names (--columns NAME,…)"
                    ),
                });
            }
        }
        Ok(())
    }

    /// The error of a flag that names a column which the input does not have. A row to come may have it.
    fn not_there(&self, flag: &str, column: &str, sample: &Sample) -> Error {
        let names = self.columns(sample).into_iter().map(|(column, _)| column);
        let known = offer(column, names);
        let hint = match flag {
            "--key" => format!(" (to generate a key: `--key {column}=uuid7`)"),
            _ => String::new(),
        };
        let what = format!("{flag}: the input has no column `{column}`; {known}{hint}");
        match sample.is_complete || !self.found.is_empty() {
            true => Error::Create { what },
            false => Error::NewColumn { what },
        }
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
            let foreign = self.foreign_keys.iter().filter(|key| key.column == *name);
            line.extend(foreign.map(ForeignKey::clause));
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
                 ulid, tsid, token160)"
                    .to_owned()
            )
        );
        assert_eq!(
            KeySpec::parse("id=ulid:integer"),
            Err("ulid is stored as blob or text or hex".to_owned())
        );
    }
}
