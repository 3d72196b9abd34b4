//! Answers Mango queries.

use super::{Document, GetOptions, Result, id, indexes, partition, row};
use crate::json;
use crate::mango::{
    Chosen, FindQuery, Index, LAST_CHARACTER, NO_BOOKMARK, Plan, invalid_bookmark, key_expression,
    warnings,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Instant;

/// Documents looked at for each that is given, above which a better index is advised.
const SCAN_WARNING_RATIO: u64 = 10;

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct FindPage {
    /// The documents, each as a JSON object with the requested fields.
    pub docs: Vec<String>,
    /// The start of the next page; none, as with CouchDB, if the selector contradicts itself.
    pub bookmark: Option<String>,
    /// A warning for the client, such as that no index was usable.
    pub warning: Option<String>,
    /// The execution statistics, if requested.
    pub execution_stats: Option<Value>,
}

impl FindPage {
    /// The answer as `_find` gives it.
    pub fn to_json(&self) -> String {
        let mut out = b"{\"docs\":[".to_vec();
        for (index, document) in self.docs.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(document.as_bytes());
        }
        out.push(b']');
        if let Some(bookmark) = &self.bookmark {
            out.extend_from_slice(b",\"bookmark\":");
            json::write_string(&mut out, bookmark);
        }
        if let Some(stats) = &self.execution_stats {
            out.extend_from_slice(format!(",\"execution_stats\":{stats}").as_bytes());
        }
        if let Some(warning) = &self.warning {
            out.extend_from_slice(b",\"warning\":");
            json::write_string(&mut out, warning);
        }
        out.push(b'}');
        // Only text was written.
        String::from_utf8(out).unwrap_or_default()
    }
}

/// The end of a page.
#[derive(Serialize, Deserialize)]
struct Bookmark {
    /// The SQLite index; none for all documents by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<String>,
    /// The key in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    id: String,
}

impl Bookmark {
    fn read(text: &str, index: &Index) -> Result<(Option<Vec<u8>>, String)> {
        let read = || {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
            let bookmark: Bookmark = serde_json::from_slice(&bytes).ok()?;
            let name = index.place.as_ref().map(|_| index.definition.sqlite_name());
            if bookmark.index != name {
                return None;
            }
            let key = match bookmark.key {
                Some(key) => Some(URL_SAFE_NO_PAD.decode(key).ok()?),
                None => None,
            };
            (key.is_some() == name.is_some()).then_some((key, bookmark.id))
        };
        read().ok_or_else(|| invalid_bookmark(text).into())
    }

    fn write(index: &Index, key: Option<&[u8]>, id: &str) -> String {
        let bookmark = Bookmark {
            index: index.place.as_ref().map(|_| index.definition.sqlite_name()),
            key: key.map(|key| URL_SAFE_NO_PAD.encode(key)),
            id: id.to_owned(),
        };
        URL_SAFE_NO_PAD.encode(json!(bookmark).to_string())
    }
}

/// Answers a query. It looks at as many documents as the index gives until the limit is reached: with no index, at all.
pub fn find(connection: &Connection, is_partitioned: bool, query: &FindQuery) -> Result<FindPage> {
    let started = Instant::now();
    let plan = Plan::new(query, indexes::indexes(connection, is_partitioned)?)?;
    let chosen = plan.into_chosen(query, is_partitioned)?;
    if chosen.ranges.is_none() {
        return Ok(FindPage {
            docs: Vec::new(),
            bookmark: None,
            warning: None,
            execution_stats: None,
        });
    }
    let mut search = Search {
        query,
        left_out: 0,
        keys_examined: 0,
        docs: Vec::new(),
        last: None,
    };
    if query.limit > 0 {
        search.run(connection, &chosen)?;
    }
    let bookmark = match (&search.last, &query.bookmark) {
        (Some((key, id)), _) => Bookmark::write(&chosen.index, key.as_deref(), id),
        (None, Some(bookmark)) => bookmark.clone(),
        (None, None) => NO_BOOKMARK.to_owned(),
    };
    let milliseconds = started.elapsed().as_micros() as f64 / 1000.0;
    // Documents are read as often as keys. With more copies than one, CouchDB counts them apart.
    let (alone, quorum) = match query.copies {
        1 => (search.keys_examined, 0),
        _ => (0, search.keys_examined),
    };
    let stats = query.execution_stats.then(|| {
        json!({
            "total_keys_examined": search.keys_examined,
            "total_docs_examined": alone,
            "total_quorum_docs_examined": quorum,
            "results_returned": search.docs.len(),
            "execution_time_ms": milliseconds,
        })
    });
    Ok(FindPage {
        warning: search.warning(warnings(&chosen.index, query)),
        bookmark: Some(bookmark),
        docs: search.docs,
        execution_stats: stats,
    })
}

struct Search<'a> {
    query: &'a FindQuery,
    /// Matches that were skipped.
    left_out: u64,
    keys_examined: u64,
    docs: Vec<String>,
    /// The key and the id of the last match, given or skipped.
    last: Option<(Option<Vec<u8>>, String)>,
}

impl Search<'_> {
    fn run(&mut self, connection: &Connection, chosen: &Chosen) -> Result<()> {
        let after = match &self.query.bookmark {
            Some(bookmark) => Some(Bookmark::read(bookmark, &chosen.index)?),
            None => None,
        };
        let (sql, parameters) = match chosen.index.place {
            Some(_) => by_index(chosen, after, self.query),
            None => by_id(chosen, after, self.query),
        };
        let options = GetOptions {
            conflicts: self.query.conflicts,
            ..GetOptions::default()
        };
        let mut statement = connection.prepare(&sql)?;
        let mut found = statement.query(params_from_iter(parameters))?;
        while let Some(row) = found.next()? {
            self.keys_examined += 1;
            let document = row::winner_from_row(connection, row, &options)?;
            if id::is_design(&document.id) || !document.matches(&self.query.selector) {
                continue;
            }
            match self.left_out < self.query.skip {
                true => self.left_out += 1,
                false => self.docs.push(self.shown(&document)?),
            }
            self.last = Some((row.get(7)?, document.id));
            if self.docs.len() as u64 == self.query.limit {
                break;
            }
        }
        Ok(())
    }

    /// The document, or its requested fields.
    fn shown(&self, document: &Document) -> Result<String> {
        let whole = document.to_json();
        if self.query.fields.is_empty() {
            return Ok(whole);
        }
        let mut shown = Shown::default();
        for field in &self.query.fields {
            if let Some(text) = field.find_text(&whole)? {
                shown.set(field.names(), text);
            }
        }
        let mut out = Vec::new();
        shown.write(&mut out);
        // Only text was written.
        Ok(String::from_utf8(out).unwrap_or_default())
    }

    fn warning(&self, mut warnings: Vec<String>) -> Option<String> {
        let results = (self.docs.len() as u64).max(1);
        if self.keys_examined > SCAN_WARNING_RATIO * results {
            let advice = "The number of documents examined is high in proportion to the number of results returned. \
                          Consider adding a more specific index to improve this.";
            warnings.push(advice.to_owned());
        }
        (!warnings.is_empty()).then(|| warnings.join("\n"))
    }
}

/// An object that is put together: the members, or the text of a value.
#[derive(Default)]
struct Shown<'a> {
    text: Option<&'a str>,
    members: Vec<(&'a str, Shown<'a>)>,
}

impl<'a> Shown<'a> {
    fn set(&mut self, names: &'a [String], text: &'a str) {
        let Some((name, rest)) = names.split_first() else {
            self.text = Some(text);
            return;
        };
        let at = match self.members.iter().position(|(known, _)| known == name) {
            Some(at) => at,
            None => {
                self.members.push((name, Shown::default()));
                self.members.len() - 1
            }
        };
        self.members[at].1.set(rest, text);
    }

    fn write(&self, out: &mut Vec<u8>) {
        if let Some(text) = self.text {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        out.push(b'{');
        for (index, (name, value)) in self.members.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            json::write_string(out, name);
            out.push(b':');
            value.write(out);
        }
        out.push(b'}');
    }
}

/// Reads an index over fields: its key is selected, too.
fn by_index(
    chosen: &Chosen,
    after: Option<(Option<Vec<u8>>, String)>,
    query: &FindQuery,
) -> (String, Vec<SqlValue>) {
    let name = chosen.index.definition.sqlite_name();
    let key = key_expression(&chosen.index.definition);
    let (order, beyond) = order(query);
    let mut sql = format!(
        "SELECT {columns}, {key} FROM docs INDEXED BY \"{name}\"
         WHERE deleted = 0 AND {key} IS NOT NULL AND {key} >= ?1 AND {key} < ?2",
        columns = row::WHOLE
    );
    let (start, end) = chosen.key_bytes(query.partition.as_deref());
    let mut parameters: Vec<SqlValue> = vec![start.into(), end.into()];
    if let Some((Some(last), id)) = after {
        sql.push_str(&format!(" AND ({key}, id) {beyond} (?3, ?4)"));
        // Narrower than the range, so that what was given is not read again.
        let bound = if query.sort.descending { 1 } else { 0 };
        parameters[bound] = match query.sort.descending {
            true => beyond_key(&last).into(),
            false => last.clone().into(),
        };
        parameters.extend([last.into(), id.into()]);
    }
    sql.push_str(&format!(" ORDER BY {key} {order}, id {order}"));
    (sql, parameters)
}

/// SQL's words for the direction of a query, and for what comes later in it.
fn order(query: &FindQuery) -> (&'static str, &'static str) {
    match query.sort.descending {
        true => ("DESC", "<"),
        false => ("ASC", ">"),
    }
}

/// Returns the smallest key after a key.
fn beyond_key(key: &[u8]) -> Vec<u8> {
    let mut beyond = key.to_vec();
    beyond.push(0);
    beyond
}

/// Reads all documents by id.
fn by_id(
    chosen: &Chosen,
    after: Option<(Option<Vec<u8>>, String)>,
    query: &FindQuery,
) -> (String, Vec<SqlValue>) {
    let (order, beyond) = order(query);
    let mut sql = format!(
        "SELECT {columns}, NULL FROM docs WHERE deleted = 0",
        columns = row::WHOLE
    );
    let mut parameters: Vec<SqlValue> = Vec::new();
    let mut bound = |comparison: &str, id: &str| {
        sql.push_str(&format!(" AND id {comparison} ?"));
        parameters.push(id.to_owned().into());
    };
    let range = chosen.ranges.iter().flatten().next();
    // Ids come after all values that are no strings.
    if let Some((Value::String(id), is_open)) = range.and_then(|range| range.low.as_ref()) {
        bound(if *is_open { ">" } else { ">=" }, id);
    }
    match range.and_then(|range| range.high.as_ref()) {
        Some((Value::String(id), is_open)) => {
            // The last character in the order of collation is not the last one in that of ids.
            let last = match id.strip_suffix(LAST_CHARACTER) {
                Some(start) => format!("{start}{}", char::MAX),
                None => id.clone(),
            };
            bound(if *is_open { "<" } else { "<=" }, &last);
        }
        Some(_) => bound("<", ""),
        None => {}
    }
    if let Some(partition) = &query.partition {
        let (from, to) = partition::bounds(partition);
        bound(">=", &from);
        bound("<", &to);
    }
    if let Some((_, id)) = &after {
        bound(beyond, id);
    }
    sql.push_str(&format!(" ORDER BY id {order}"));
    (sql, parameters)
}
