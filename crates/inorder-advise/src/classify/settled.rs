//! `advise.toml`: what the user says of columns.

use super::IdRole;
use crate::Error;
use inorder_engine::similar;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The file's name, beside the database.
pub const FILE: &str = "advise.toml";

/// The table of the file with a line per column.
const COLUMNS: &str = "columns";

/// The classes of columns that are settled.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    path: PathBuf,
    /// By `table.column` as it is written, with the line.
    columns: BTreeMap<String, (IdRole, usize)>,
}

impl Settled {
    /// Reads a file; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::File`] where it can't be read, [`Error::Settled`] where it says something unknown.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        match fs::read_to_string(path) {
            Ok(text) => Settled::parse(path, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(path)(error)),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`Error::Settled`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let line_at = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
        let wrong = |line: usize, message: String| Error::Settled {
            path: path.to_owned(),
            line,
            message,
        };
        let file: toml::Spanned<toml::de::DeTable<'_>> =
            toml::de::DeTable::parse(text).map_err(|error| {
                wrong(
                    error.span().map_or(1, |span| line_at(span.start)),
                    error.message().to_owned(),
                )
            })?;
        let mut found = Settled {
            path: path.to_owned(),
            columns: BTreeMap::new(),
        };
        for (name, value) in file.get_ref() {
            let line = line_at(name.span().start);
            if name.get_ref() != COLUMNS {
                return Err(wrong(
                    line,
                    format!("there is no `{}`: write [{COLUMNS}]", name.get_ref()),
                ));
            }
            let toml::de::DeValue::Table(columns) = value.get_ref() else {
                return Err(wrong(
                    line,
                    format!("`{COLUMNS}` is a table: write [{COLUMNS}]"),
                ));
            };
            for (column, role) in columns {
                let line = line_at(column.span().start);
                let written = role.get_ref().as_str().ok_or_else(|| {
                    let hint = "write the column's name in quotes, and its class as a text";
                    wrong(line, format!("`{}` has no class: {hint}", column.get_ref()))
                })?;
                let role = IdRole::ALL.into_iter().find(|role| role.name() == written);
                let names = || IdRole::ALL.into_iter().map(IdRole::name);
                let role = role.ok_or_else(|| {
                    let all = names().collect::<Vec<_>>().join(", ");
                    wrong(
                        line,
                        format!(
                            "there is no class `{written}`{}: take one of {all}",
                            nearest(written, names())
                        ),
                    )
                })?;
                found
                    .columns
                    .insert(column.get_ref().to_string(), (role, line));
            }
        }
        Ok(found)
    }

    /// Checks that each name is that of a column; `known` are the names of all.
    ///
    /// # Errors
    /// [`Error::Settled`] with the nearest name.
    pub fn check<'a>(&self, known: impl Iterator<Item = &'a str> + Clone) -> Result<(), Error> {
        for (name, (_, line)) in &self.columns {
            if !known.clone().any(|own| own.eq_ignore_ascii_case(name)) {
                return Err(Error::Settled {
                    path: self.path.clone(),
                    line: *line,
                    message: format!("there is no column `{name}`{}", nearest(name, known)),
                });
            }
        }
        Ok(())
    }

    /// What is said of a column, by any of its names.
    pub fn role(&self, names: &[&str]) -> Option<IdRole> {
        let mut columns = self.columns.iter();
        let is_it = |(own, _): &(&String, &(IdRole, usize))| {
            names.iter().any(|name| own.eq_ignore_ascii_case(name))
        };
        columns.find(is_it).map(|(_, (role, _))| *role)
    }
}

/// The nearest name as the end of a sentence.
fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> String {
    let similar = similar(wrong, known);
    similar
        .first()
        .map_or(String::new(), |name| format!(", the nearest is `{name}`"))
}

/// A key of TOML in quotes.
pub(super) fn quoted(name: &str) -> String {
    toml::Value::String(name.to_owned()).to_string()
}
