//! The parameters of a query, with CouchDB's rules and its words for what breaks them.

use super::{Error, Result};
use serde_json::{Map, Value};

/// Whether the index is updated for a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Before it.
    #[default]
    True,
    /// Not at all.
    False,
    /// After it.
    Lazy,
}

/// A value as it came: in the URL, or in a JSON body.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// In the URL.
    Text(&'a str),
    /// In a body.
    Json(&'a Value),
}

/// The parameters of a query. `keys` with one key is a range of that key, as in CouchDB.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Whether rows are reduced; none for what the view has.
    pub reduce: Option<bool>,
    /// The first key.
    pub start_key: Option<Value>,
    /// The first document id of rows with the first key.
    pub start_id: Option<String>,
    /// The last key.
    pub end_key: Option<Value>,
    /// The last document id of rows with the last key.
    pub end_id: Option<String>,
    /// Only rows with these keys.
    pub keys: Option<Value>,
    /// From the last to the first.
    pub descending: bool,
    /// At most so many rows.
    pub limit: Option<u64>,
    /// Rows left out before the first.
    pub skip: u64,
    /// Whether equal keys are grouped.
    pub group: Option<bool>,
    /// Items of array keys that make a group.
    pub group_level: Option<u64>,
    /// Whether the index is updated.
    pub update: Update,
    /// Whether the last key itself belongs to the range.
    pub inclusive_end: bool,
    /// Whether rows have documents.
    pub include_docs: bool,
    /// Whether these have their attachments.
    pub attachments: bool,
    /// Whether attachments have their stored encoding.
    pub att_encoding_info: bool,
    /// Whether the answer has the sequence of the index.
    pub update_seq: bool,
    /// Whether documents have their conflicts.
    pub conflicts: Option<bool>,
    /// The partition, for views that are of partitions.
    pub partition: Option<String>,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            reduce: None,
            start_key: None,
            start_id: None,
            end_key: None,
            end_id: None,
            keys: None,
            descending: false,
            limit: None,
            skip: 0,
            group: None,
            group_level: None,
            update: Update::True,
            inclusive_end: true,
            include_docs: false,
            attachments: false,
            att_encoding_info: false,
            update_seq: false,
            conflicts: None,
            partition: None,
        }
    }
}

/// How rows are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// By equal keys.
    Exact,
    /// By so many items of array keys; 0 for one group.
    Level(u64),
}

impl Query {
    /// Adds the parameters of a URL.
    ///
    /// # Errors
    /// Why one is wrong.
    pub fn read_url<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Result<()> {
        // They are read before the others.
        if let Some((_, keys)) = pairs.clone().find(|(name, _)| *name == "keys") {
            self.set_keys(json(keys)?);
        }
        for (name, value) in pairs {
            self.set(name, Given::Text(value))?;
        }
        Ok(())
    }

    /// Adds the members of a body.
    ///
    /// # Errors
    /// Why one is wrong.
    pub fn read_body(&mut self, body: &Map<String, Value>) -> Result<()> {
        self.read_members(body.iter())
    }

    /// Adds some members of a body.
    ///
    /// # Errors
    /// Why one is wrong.
    pub fn read_members<'a>(
        &mut self,
        members: impl Iterator<Item = (&'a String, &'a Value)>,
    ) -> Result<()> {
        for (name, value) in members {
            self.set(name, Given::Json(value))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, given: Given<'_>) -> Result<()> {
        match name {
            "reduce" => self.reduce = Some(boolean(given)?),
            "key" => {
                self.start_key = Some(key(given)?);
                self.end_key = self.start_key.clone();
            }
            "keys" => self.set_keys(key(given)?),
            "startkey" | "start_key" => self.start_key = Some(key(given)?),
            "endkey" | "end_key" => self.end_key = Some(key(given)?),
            "startkey_docid" | "start_key_doc_id" => self.start_id = Some(text(given)),
            "endkey_docid" | "end_key_doc_id" => self.end_id = Some(text(given)),
            "limit" => self.limit = Some(natural(given)?),
            "skip" => self.skip = natural(given)?,
            "stale" => match word(given) {
                Some("ok") => self.update = Update::False,
                Some("update_after") => self.update = Update::Lazy,
                _ => return Err(invalid("stale")),
            },
            "stable" if matches!(word(given), Some("true" | "false")) => {}
            "stable" => return Err(invalid("stable")),
            "update" => match word(given) {
                Some("true") => self.update = Update::True,
                Some("false") => self.update = Update::False,
                Some("lazy") => self.update = Update::Lazy,
                _ => return Err(invalid("update")),
            },
            "descending" => self.descending = boolean(given)?,
            "group" => self.group = Some(boolean(given)?),
            "group_level" => self.group_level = Some(natural(given)?),
            "inclusive_end" => self.inclusive_end = boolean(given)?,
            "include_docs" => self.include_docs = boolean(given)?,
            "attachments" => self.attachments |= boolean(given)?,
            "att_encoding_info" => self.att_encoding_info |= boolean(given)?,
            "update_seq" => self.update_seq = boolean(given)?,
            "conflicts" => self.conflicts = Some(boolean(given)?),
            // The rows are always in order.
            "sorted" => drop(boolean(given)?),
            "partition" => self.partition = Some(text(given)),
            _ => {}
        }
        Ok(())
    }

    /// Sets the keys; one key is a range.
    pub fn set_keys(&mut self, keys: Value) {
        match keys {
            Value::Array(keys) if keys.len() == 1 => {
                self.start_key = keys.into_iter().next();
                self.end_key = self.start_key.clone();
            }
            keys => self.keys = Some(keys),
        }
    }

    /// Checks parameters against each other, for a view that has a reduce function or none and is of partitions or of the whole
    /// database. Returns the grouping of a query that reduces.
    ///
    /// # Errors
    /// What does not go together.
    pub fn check(&self, has_reduce: bool, is_partitioned: bool) -> Result<Option<Grouping>> {
        let wrong = |reason: &str| Err(Error::Query(reason.to_owned()));
        let grouping = self.grouping()?;
        let is_reduced = has_reduce && self.reduce != Some(false);
        if !is_reduced && self.reduce == Some(true) {
            return wrong("Reduce is invalid for map-only views.");
        }
        let has_list = matches!(self.keys, Some(Value::Array(_)));
        if is_reduced && has_list && grouping != Grouping::Exact {
            return wrong("Multi-key fetches for reduce views must use `group=true`");
        }
        let has_range = self.start_key.is_some() || self.end_key.is_some();
        match &self.keys {
            None => {}
            Some(Value::Array(keys)) if !keys.is_empty() && has_range => {
                return wrong("`keys` is incompatible with `key`, `start_key` and `end_key`");
            }
            Some(Value::Array(_)) => {}
            Some(_) => return wrong("`keys` must be an array of strings."),
        }
        if !is_reduced && grouping != Grouping::Level(0) {
            return wrong("Invalid use of grouping on a map view.");
        }
        if is_reduced && self.include_docs {
            return wrong("`include_docs` is invalid for reduce");
        }
        if is_reduced && self.conflicts.is_some() {
            return wrong("`conflicts` is invalid for reduce views.");
        }
        match (is_partitioned, &self.partition) {
            (true, None) => {
                return wrong("`partition` parameter is mandatory for queries to this view.");
            }
            (false, Some(_)) => {
                return wrong("`partition` parameter is not supported in this design doc");
            }
            _ => {}
        }
        Ok(is_reduced.then_some(grouping))
    }

    /// Applies the configured limit of rows: no query may ask for more, and a query without a limit gets it.
    ///
    /// # Errors
    /// If the query asks for more.
    pub fn limit_to(&mut self, rows_max: Option<u64>) -> Result<()> {
        match (rows_max, self.limit) {
            (None, _) => {}
            (Some(rows_max), Some(limit)) if limit > rows_max => {
                let reason = format!("Limit is too large, must not exceed {rows_max}");
                return Err(Error::Query(reason));
            }
            (Some(rows_max), limit) => self.limit = Some(limit.unwrap_or(rows_max)),
        }
        Ok(())
    }

    fn grouping(&self) -> Result<Grouping> {
        Ok(match (self.group, self.group_level) {
            (None | Some(false), None) => Grouping::Level(0),
            (Some(false), Some(level)) if level > 0 => {
                let reason = "Can't specify group=false and group_level>0 at the same time";
                return Err(Error::Query(reason.to_owned()));
            }
            (Some(true), None) => Grouping::Exact,
            (_, Some(level)) => Grouping::Level(level),
        })
    }
}

fn invalid(name: &str) -> Error {
    Error::Query(format!("Invalid value for `{name}`."))
}

fn json(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| Error::Json(error.to_string()))
}

fn key(given: Given<'_>) -> Result<Value> {
    match given {
        Given::Text(text) => json(text),
        Given::Json(value) => Ok(value.clone()),
    }
}

fn text(given: Given<'_>) -> String {
    match given {
        Given::Text(text) => text.to_owned(),
        Given::Json(Value::String(text)) => text.clone(),
        Given::Json(other) => other.to_string(),
    }
}

/// The word that a value is; `true` and `false` of JSON are words, too.
fn word(given: Given<'_>) -> Option<&str> {
    match given {
        Given::Text(text) => Some(text),
        Given::Json(Value::String(text)) => Some(text),
        Given::Json(Value::Bool(true)) => Some("true"),
        Given::Json(Value::Bool(false)) => Some("false"),
        Given::Json(_) => None,
    }
}

fn boolean(given: Given<'_>) -> Result<bool> {
    let lower = word(given).map(str::to_lowercase);
    match lower.as_deref() {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        // A text of a body is a list of characters there, as one of the URL is.
        _ => Err(Error::Query(format!(
            "Invalid boolean parameter: {}",
            match given {
                Given::Json(Value::String(text)) => term(Given::Text(text)),
                given => term(given),
            }
        ))),
    }
}

fn natural(given: Given<'_>) -> Result<u64> {
    let number = match given {
        Given::Text(text) => integer(text),
        Given::Json(value) => value
            .as_i64()
            .map(i128::from)
            .or(value.as_u64().map(i128::from)),
    };
    let (number, kind) = match number {
        Some(number) if number >= 0 => (u64::try_from(number).ok(), ""),
        Some(_) => (None, "positive "),
        None => (None, ""),
    };
    let wrong = || Error::Query(format!("Invalid value for {kind}integer: {}", term(given)));
    number.ok_or_else(wrong)
}

fn integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // What is larger than any number of rows counts as that.
    is_number.then(|| match text.parse::<i128>() {
        Ok(number) => number.min(u64::MAX.into()),
        Err(_) if text.starts_with('-') => -1,
        Err(_) => u64::MAX.into(),
    })
}

/// A value as Erlang prints it.
fn term(given: Given<'_>) -> String {
    match given {
        Given::Text("") => "[]".to_owned(),
        // Printable there are the bytes that are characters of Latin-1.
        Given::Text(text)
            if text
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~' | 0xa0..)) =>
        {
            quoted(text)
        }
        Given::Text(text) => {
            let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
            format!("[{}]", bytes.join(","))
        }
        Given::Json(Value::String(text)) => format!("<<{}>>", quoted(text)),
        Given::Json(Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(|item| term(Given::Json(item))).collect();
            format!("[{}]", items.join(","))
        }
        Given::Json(Value::Object(members)) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{{<<{}>>,{}}}", quoted(name), term(Given::Json(value)))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{[{}]}}", members.join(","))
        }
        Given::Json(other) => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(pairs: &[(&str, &str)]) -> Result<Query> {
        let mut query = Query::default();
        query.read_url(pairs.iter().copied()).map(|()| query)
    }

    #[test]
    fn parameters_are_read() {
        let query = read(&[
            ("startkey", "[1]"),
            ("limit", "5"),
            ("descending", "TRUE"),
            ("x", "y"),
        ]);
        let query = query.unwrap();
        assert_eq!(
            (query.start_key, query.limit, query.descending),
            (Some(json!([1])), Some(5), true)
        );
        let one = read(&[("keys", "[\"a\"]")]).unwrap();
        assert_eq!(
            (one.start_key, one.end_key, one.keys),
            (Some(json!("a")), Some(json!("a")), None)
        );
    }

    #[test]
    fn wrong_values_are_named_as_couchdb_names_them() {
        for (name, value, reason) in [
            ("limit", "x", "Invalid value for integer: \"x\""),
            ("limit", "-1", "Invalid value for positive integer: \"-1\""),
            ("skip", "", "Invalid value for integer: []"),
            ("descending", "no", "Invalid boolean parameter: \"no\""),
            ("group", "é", "Invalid boolean parameter: \"é\""),
            ("update", "later", "Invalid value for `update`."),
            ("stale", "true", "Invalid value for `stale`."),
            ("key", "{", "invalid UTF-8 JSON"),
        ] {
            assert_eq!(read(&[(name, value)]).unwrap_err().to_string(), reason);
        }
        let mut query = Query::default();
        let body = json!({ "limit": "5" });
        let error = query.read_body(body.as_object().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "Invalid value for integer: <<\"5\">>");
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        let check =
            |pairs: &[(&str, &str)], has_reduce| read(pairs).unwrap().check(has_reduce, false);
        let level = |level| Some(Grouping::Level(level));
        assert_eq!(check(&[], false).unwrap(), None);
        assert_eq!(check(&[], true).unwrap(), level(0));
        assert_eq!(
            check(&[("group_level", "2"), ("group", "true")], true).unwrap(),
            level(2)
        );
        assert_eq!(
            check(&[("group", "true")], true).unwrap(),
            Some(Grouping::Exact)
        );
        for (pairs, has_reduce, reason) in [
            (
                &[("reduce", "true")][..],
                false,
                "Reduce is invalid for map-only views.",
            ),
            (
                &[("group", "true")],
                false,
                "Invalid use of grouping on a map view.",
            ),
            (
                &[("include_docs", "true")],
                true,
                "`include_docs` is invalid for reduce",
            ),
            (
                &[("conflicts", "false")],
                true,
                "`conflicts` is invalid for reduce views.",
            ),
            (
                &[("keys", "[1,2]")],
                true,
                "Multi-key fetches for reduce views must use `group=true`",
            ),
            (
                &[("keys", "5")],
                false,
                "`keys` must be an array of strings.",
            ),
            (
                &[("keys", "[1,2]"), ("key", "1")],
                false,
                "`keys` is incompatible with `key`, `start_key` and `end_key`",
            ),
            (
                &[("group", "false"), ("group_level", "1")],
                true,
                "Can't specify group=false and group_level>0 at the same time",
            ),
        ] {
            assert_eq!(check(pairs, has_reduce).unwrap_err().to_string(), reason);
        }
    }
}
