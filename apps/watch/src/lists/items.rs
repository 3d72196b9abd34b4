//! JSON: arrays of objects, each on a film. What is not read of an object never reaches its format.

use super::{
    answers::{Answers, Kind},
    collect::Collector,
    day::{self, Days},
    formats::{self, Context, Items},
    group::{Column, Mapped, SAMPLES, sample},
    meaning::Meaning,
    row::why,
};
use crate::{Error, Result, db::entries::NOTE_CHARACTERS_MAX, words::say};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt};

/// Calls `take` with each object of an array, however deep it is, without keeping the file in memory.
///
/// # Errors
/// [`Error::Invalid`] if the file is no JSON of this form, and that of `take`.
pub fn each(bytes: &[u8], name: &str, take: impl FnMut(Value) -> Result<()>) -> Result<()> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut walked = Walked {
        take,
        failure: None,
    };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let done = Walk(&mut walked).deserialize(&mut json);
    let bad = |error: serde_json::Error| Error::Invalid(say::json_bad(name, error.to_string()));
    done.and_then(|()| json.end()).map_err(bad)?;
    walked.failure.map_or(Ok(()), Err)
}

/// The format of an object.
pub fn format_of(item: &Value) -> Option<&'static Items> {
    formats::ITEMS.into_iter().find(|format| (format.is)(item))
}

/// Whether a value has something to read: the leaves of an object.
fn is_leaf(value: &Value) -> bool {
    !value.is_object() && !value.is_array() && !value.is_null()
}

/// A leaf as text.
fn leaf(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The path of a field of an object.
fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// Calls `take` with the path of each leaf, as `movie.ids.imdb` or `seasons[].number`.
pub fn leaves<'a>(value: &'a Value, path: &str, take: &mut impl FnMut(&str, &'a Value)) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| leaves(value, &below(path, name), take)),
        Value::Array(values) => values
            .iter()
            .for_each(|value| leaves(value, &format!("{path}[]"), take)),
        value if is_leaf(value) => take(path, value),
        _ => {}
    }
}

/// What is left of a value without the leaves that are not read.
fn pruned(value: Value, path: &str, is_read: &impl Fn(&str) -> bool) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter_map(|(name, value)| {
                let value = pruned(value, &below(path, &name), is_read)?;
                Some((name, value))
            });
            let fields: Map<String, Value> = fields.collect();
            (!fields.is_empty()).then(|| fields.into())
        }
        Value::Array(values) => {
            let inner = format!("{path}[]");
            let values: Vec<Value> = values
                .into_iter()
                .filter_map(|value| pruned(value, &inner, is_read))
                .collect();
            (!values.is_empty()).then(|| values.into())
        }
        leaf => (is_leaf(&leaf) && is_read(path)).then_some(leaf),
    }
}

/// Files of one JSON format.
pub struct Objects {
    /// The format.
    pub format: &'static Items,
    /// What is said of it.
    pub mapped: Mapped,
    /// Whether there are times.
    pub has_times: bool,
    places: BTreeMap<String, usize>,
}

impl Objects {
    /// No files of a format.
    pub fn new(format: &'static Items) -> Self {
        let mapped = Mapped {
            format: Some(format.name),
            files: Vec::new(),
            rows: Kind::ToWatch,
            columns: Vec::new(),
            is_fixed: true,
        };
        Objects {
            format,
            mapped,
            has_times: false,
            places: BTreeMap::new(),
        }
    }

    /// Looks at an object. Fields that are not read are listed too.
    pub fn look(&mut self, item: &Value) {
        leaves(item, "", &mut |path, value| {
            let at = *self.places.entry(path.to_owned()).or_insert_with(|| {
                let own = self.format.fields.iter().find(|(name, _)| *name == path);
                let meaning = own.map_or(Meaning::Unread, |(_, meaning)| *meaning);
                self.mapped.columns.push(Column {
                    name: path.to_owned(),
                    meaning,
                    usual: meaning,
                    samples: Vec::new(),
                    is_proved: false,
                });
                self.mapped.columns.len() - 1
            });
            let column = &mut self.mapped.columns[at];
            if column.samples.len() < SAMPLES {
                column.samples.push(sample(&leaf(value)));
            }
            let is_time = || value.as_str().is_some_and(day::is_instant);
            self.has_times |= column.meaning.is_day() && is_time();
        });
    }

    /// Decides which fields are read: those of the format that the sender does not leave out.
    pub fn decide(&mut self, number: usize, answers: &Answers) {
        for (at, column) in self.mapped.columns.iter_mut().enumerate() {
            if answers.meaning(number, at, &column.name) == Some(Meaning::Unread) {
                column.meaning = Meaning::Unread;
            }
        }
    }

    /// Reads an object, the one with this number of its file.
    ///
    /// # Errors
    /// [`Error::Invalid`] for too many films.
    pub fn read(
        &self,
        item: Value,
        file: (&str, usize),
        days: &Days,
        is_list: bool,
        into: &mut Collector,
    ) -> Result<()> {
        let (name, count) = file;
        let is_read = |path: &str| {
            let column = self.places.get(path).map(|at| &self.mapped.columns[*at]);
            column.is_some_and(|column| column.meaning != Meaning::Unread)
        };
        let item = pruned(item, "", &is_read).unwrap_or_default();
        match (self.format.read)(&item, &Context { days, is_list }) {
            Ok(found) => into.add(found, || {
                say::item_bad(name, count, say::note_long(NOTE_CHARACTERS_MAX))
            }),
            Err(error) => {
                into.problem(say::item_bad(name, count, why(error)));
                Ok(())
            }
        }
    }
}

/// Objects of an unknown format as CSV: a column for each leaf outside of arrays.
///
/// # Errors
/// None but for a lack of memory.
pub fn as_csv(items: &[Value]) -> Result<Vec<u8>> {
    let mut header: Vec<String> = Vec::new();
    let each = |item: &Value, take: &mut dyn FnMut(&str, &Value)| {
        leaves(item, "", &mut |path, value| {
            if !path.contains("[]") {
                take(path, value);
            }
        });
    };
    for item in items {
        each(item, &mut |path, _| {
            if !header.iter().any(|name| name == path) {
                header.push(path.to_owned());
            }
        });
    }
    let bad = |error: csv::Error| Error::Io(error.into());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).map_err(bad)?;
    for item in items {
        let mut fields: BTreeMap<String, String> = BTreeMap::new();
        each(item, &mut |path, value| {
            fields.insert(path.to_owned(), leaf(value));
        });
        let record = header
            .iter()
            .map(|name| fields.get(name).map_or("", String::as_str));
        writer.write_record(record).map_err(bad)?;
    }
    writer
        .into_inner()
        .map_err(|error| Error::Io(error.into_error()))
}

struct Walked<F> {
    take: F,
    failure: Option<Error>,
}

/// Walks through nested objects and arrays to the objects in arrays.
struct Walk<'a, F>(&'a mut Walked<F>);

impl<'de, F: FnMut(Value) -> Result<()>> DeserializeSeed<'de> for Walk<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Value) -> Result<()>> Visitor<'de> for Walk<'_, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of objects, each with a film")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(fields) = items.next_element::<Map<String, Value>>()? {
            if self.0.failure.is_none() {
                let done = (self.0.take)(Value::Object(fields));
                self.0.failure = done.err();
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_key::<IgnoredAny>()?.is_some() {
            entries.next_value_seed(Walk(&mut *self.0))?;
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
