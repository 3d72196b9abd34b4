//! Strict reading of TOML tables: every field is asked for by name, what was not asked for is an
//! error that names the nearest field that exists, and every error knows its line.

use crate::error::{Error, nearest};
use inorder_engine::similar;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The text being read, for line numbers.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The file's name, as errors show it.
    pub file: &'a str,
    /// The whole text.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Parses the text into a table whose fields carry their positions.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, Error> {
        DeTable::parse(self.text).map_err(|error| {
            self.error(
                error.span().map_or(0, |span| span.start),
                error.message().to_owned(),
            )
        })
    }

    /// An error at a byte offset.
    pub fn error(self, offset: usize, message: impl Into<String>) -> Error {
        let offset = offset.min(self.text.len());
        Error::Experiment {
            file: self.file.to_owned(),
            line: 1 + self.text[..offset].matches('\n').count(),
            message: message.into(),
        }
    }
}

/// A value with its place.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    source: Source<'a>,
    name: String,
    value: Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    /// An error at this value.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(self.value.span().start, message)
    }

    fn wrong(&self, wanted: &str) -> Error {
        self.error(format!(
            "`{}` must be {wanted}, not {}",
            self.name,
            self.value.get_ref().type_str()
        ))
    }

    /// A string.
    pub fn string(&self) -> Result<String, Error> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong("a string")),
        }
    }

    /// A boolean.
    pub fn boolean(&self) -> Result<bool, Error> {
        self.value
            .get_ref()
            .as_bool()
            .ok_or_else(|| self.wrong("true or false"))
    }

    /// An integer.
    pub fn integer(&self) -> Result<i64, Error> {
        match self.value.get_ref() {
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map_err(|_| self.error(format!("`{}` doesn't fit in 64 bits", self.name))),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// An integer of at least `low`.
    pub fn at_least(&self, low: i64) -> Result<u64, Error> {
        let value = self.integer()?;
        if value < low {
            return Err(self.error(format!("`{}` must be at least {low}", self.name)));
        }
        Ok(value.unsigned_abs())
    }

    /// A floating-point number or an integer.
    pub fn real(&self) -> Result<f64, Error> {
        match self.value.get_ref() {
            DeValue::Float(digits) => digits.as_str().parse().map_err(|_| self.wrong("a number")),
            _ => Ok(self.integer()? as f64),
        }
    }

    /// A string, integer or boolean as the text that names a factor's level.
    pub fn level(&self) -> Result<String, Error> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Boolean(value) => Ok(value.to_string()),
            DeValue::Integer(_) => Ok(self.integer()?.to_string()),
            _ => Err(self.wrong("a string, an integer or a boolean")),
        }
    }

    /// The elements of an array, or the value itself as the only one.
    pub fn list(&self) -> Vec<Field<'a>> {
        match self.value.get_ref() {
            DeValue::Array(items) => items
                .iter()
                .map(|item| Field {
                    source: self.source,
                    name: self.name.clone(),
                    value: item.clone(),
                })
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// Whether the value is a string.
    pub fn is_string(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// The fields of a table.
    pub fn table(&self) -> Result<Fields<'a>, Error> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Fields::new(
                self.source,
                &self.name,
                self.value.span().start,
                table,
            )),
            _ => Err(self.wrong("a table")),
        }
    }
}

/// The fields of a table, taken one by one.
pub(crate) struct Fields<'a> {
    source: Source<'a>,
    name: String,
    start: usize,
    fields: Vec<(Spanned<String>, Spanned<DeValue<'a>>)>,
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a table that errors call `name`.
    pub fn new(source: Source<'a>, name: &str, start: usize, table: &DeTable<'a>) -> Self {
        Fields {
            source,
            name: name.to_owned(),
            start,
            fields: table
                .iter()
                .map(|(key, value)| {
                    let key_text = Spanned::new(key.span(), key.get_ref().to_string());
                    (key_text, value.clone())
                })
                .collect(),
            asked: Vec::new(),
        }
    }

    /// Takes a field that may be missing.
    pub fn take(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.asked.push(name);
        let at = self
            .fields
            .iter()
            .position(|(key, _)| key.get_ref() == name)?;
        let (_, value) = self.fields.remove(at);
        Some(Field {
            source: self.source,
            name: name.to_owned(),
            value,
        })
    }

    /// Takes a field that must be there.
    pub fn need(&mut self, name: &'static str) -> Result<Field<'a>, Error> {
        self.take(name).ok_or_else(|| {
            let missing = format!("{} needs the field `{name}`", self.title());
            // Shows a field with a similar name in preference to the start of the table.
            match self
                .fields
                .iter()
                .find(|(key, _)| !similar(key.get_ref(), [name]).is_empty())
            {
                Some((key, _)) => self.source.error(
                    key.span().start,
                    format!("{missing}: did you mean that with `{}`?", key.get_ref()),
                ),
                None => self.error(missing),
            }
        })
    }

    /// Takes every field left, with its name: for tables whose names are the user's.
    pub fn take_all(&mut self) -> Vec<(String, Field<'a>)> {
        self.fields
            .drain(..)
            .map(|(key, value)| {
                let name = key.into_inner();
                let field = Field {
                    source: self.source,
                    name: name.clone(),
                    value,
                };
                (name, field)
            })
            .collect()
    }

    /// Ends the reading: remaining fields are errors.
    pub fn finish(self) -> Result<(), Error> {
        match self.fields.first() {
            None => Ok(()),
            Some((key, _)) => Err(self.source.error(
                key.span().start,
                format!(
                    "unknown field `{}` in {}: {}",
                    key.get_ref(),
                    self.title(),
                    nearest(key.get_ref(), self.asked.iter().copied())
                ),
            )),
        }
    }

    /// An error at the table's beginning.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.source.error(self.start, message)
    }

    fn title(&self) -> String {
        if self.name.is_empty() {
            "the experiment".to_owned()
        } else {
            format!("[{}]", self.name)
        }
    }
}
