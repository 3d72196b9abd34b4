//! All documents, in the order of their ids.

use super::row::{revision, winner};
use super::state::{State, number};
use super::{Document, Error, GetOptions, LocalDocument, Result, local};
use crate::revision::Revision;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

/// Rows of a page.
const PAGE_ROWS_MAX: usize = 1000;

/// Rows before a start that are counted for the offset: a scan of the index.
const OFFSET_ROWS_MAX: u64 = 1000;

/// Bytes of documents after which a page ends.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// The parameters of `_all_docs`. Ids are in the order of their bytes, as in CouchDB.
#[derive(Clone, Debug)]
pub struct AllDocs {
    /// The first id in the requested direction; it need not exist.
    pub start: Option<String>,
    /// The last.
    pub end: Option<String>,
    /// Whether the last itself belongs to it.
    pub inclusive_end: bool,
    /// Only these ids, in this order; missing and deleted ids have a row, too, and so has what is no id.
    pub keys: Option<Vec<serde_json::Value>>,
    /// Of the keys, those that do not begin with this count as missing.
    pub prefix: Option<String>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// Rows left out before the first.
    pub skip: usize,
    /// From the last to the first.
    pub descending: bool,
    /// Only the winning revision.
    pub include_docs: Option<GetOptions>,
    /// Whether to count the rows before the start.
    pub counts_offset: bool,
}

impl Default for AllDocs {
    fn default() -> Self {
        AllDocs {
            start: None,
            end: None,
            inclusive_end: true,
            keys: None,
            prefix: None,
            limit: None,
            skip: 0,
            descending: false,
            include_docs: None,
            counts_offset: false,
        }
    }
}

/// The document of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowValue {
    /// It is there.
    Present {
        /// Its winning revision.
        revision: Revision,
        /// The document, if requested.
        document: Option<Box<Document>>,
    },
    /// It was deleted (only with keys).
    Deleted {
        /// The winning revision.
        revision: Revision,
    },
    /// It is not replicated (only with keys).
    Local(Box<LocalDocument>),
    /// There is none (only with keys).
    Missing,
    /// The key is no id (only with keys).
    NoId(serde_json::Value),
}

/// A row of all documents.
#[derive(Clone, Debug, PartialEq)]
pub struct AllDocsRow {
    /// The id.
    pub id: String,
    /// The document.
    pub value: RowValue,
}

/// Some rows. A page is bounded; [`AllDocsPage::next`] has the question for the next.
#[derive(Clone, Debug)]
pub struct AllDocsPage {
    /// The rows.
    pub rows: Vec<AllDocsRow>,
    /// Documents of the database that are not deleted.
    pub total_rows: u64,
    /// Rows before the first in this order. `None` with keys, if more than 1,000 rows are before the start, or if they were not to be
    /// counted.
    pub offset: Option<u64>,
    /// The sequence of the snapshot the page is from.
    pub update_seq: u64,
    /// The query for the next page, if this page is incomplete. Every page is a separate snapshot.
    pub next: Option<AllDocs>,
}

/// A page, all from one snapshot.
pub fn page(connection: &Connection, question: &AllDocs) -> Result<AllDocsPage> {
    let state = State::read(connection)?;
    let (rows, next) = match &question.keys {
        Some(keys) => by_keys(connection, question, keys)?,
        None => by_range(connection, question)?,
    };
    let before = before_start(connection, question)?;
    let offset = before.map(|before| before.saturating_add(question.skip as u64));
    Ok(AllDocsPage {
        rows,
        total_rows: state.doc_count,
        offset: offset.map(|offset| offset.min(state.doc_count)),
        update_seq: state.update_seq,
        next,
    })
}

/// Counts the rows before the start, if there are at most [`OFFSET_ROWS_MAX`].
fn before_start(connection: &Connection, question: &AllDocs) -> Result<Option<u64>> {
    if question.keys.is_some() {
        return Ok(None);
    }
    let Some(start) = &question.start else {
        return Ok(Some(0));
    };
    if !question.counts_offset {
        return Ok(None);
    }
    let before = if question.descending { ">" } else { "<" };
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM docs WHERE deleted = 0 AND id {before} ?1 LIMIT ?2)"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = (OFFSET_ROWS_MAX + 1) as i64;
    let count = statement.query_row((start, limit), |row| number(row, 0))?;
    Ok((count <= OFFSET_ROWS_MAX).then_some(count))
}

/// Rows and what is left of the question.
type Rows = (Vec<AllDocsRow>, Option<AllDocs>);

fn by_range(connection: &Connection, question: &AllDocs) -> Result<Rows> {
    let limit = question.limit.unwrap_or(usize::MAX);
    let page_rows = limit.min(PAGE_ROWS_MAX);
    let (sql, mut parameters) = statement(question);
    parameters.push((page_rows as i64).into());
    parameters.push(i64::try_from(question.skip).unwrap_or(i64::MAX).into());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found = statement.query(params_from_iter(parameters))?;
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut is_cut = false;
    while let Some(row) = found.next()? {
        if bytes >= PAGE_BYTES_MAX {
            is_cut = true;
            break;
        }
        let id: String = row.get(0)?;
        let revision = revision(row, 1)?;
        let document = document(connection, &id, question)?;
        bytes += document
            .as_ref()
            .map_or(0, |document| document.text_bytes());
        let value = RowValue::Present { revision, document };
        rows.push(AllDocsRow { id, value });
    }
    let is_cut = is_cut || (rows.len() == page_rows && page_rows < limit);
    let next = rows.last().filter(|_| is_cut).map(|last| AllDocs {
        start: Some(last.id.clone()),
        skip: 1,
        limit: question.limit.map(|limit| limit - rows.len()),
        counts_offset: false,
        ..question.clone()
    });
    Ok((rows, next))
}

/// Only the index is read: it has all the columns.
fn statement(question: &AllDocs) -> (String, Vec<Value>) {
    let mut sql = "SELECT id, gen, hash FROM docs WHERE deleted = 0".to_owned();
    let mut parameters: Vec<Value> = Vec::new();
    let (from, to, order) = match question.descending {
        true => ("<=", ">", "DESC"),
        false => (">=", "<", "ASC"),
    };
    if let Some(start) = &question.start {
        sql.push_str(&format!(" AND id {from} ?"));
        parameters.push(start.clone().into());
    }
    if let Some(end) = &question.end {
        let or_equal = if question.inclusive_end { "=" } else { "" };
        sql.push_str(&format!(" AND id {to}{or_equal} ?"));
        parameters.push(end.clone().into());
    }
    sql.push_str(&format!(" ORDER BY id {order} LIMIT ? OFFSET ?"));
    (sql, parameters)
}

fn by_keys(
    connection: &Connection,
    question: &AllDocs,
    keys: &[serde_json::Value],
) -> Result<Rows> {
    let limit = question.limit.unwrap_or(usize::MAX);
    let keys: Vec<&serde_json::Value> = match question.descending {
        true => keys.iter().rev().collect(),
        false => keys.iter().collect(),
    };
    let wanted = keys.iter().skip(question.skip).take(limit);
    let mut find =
        connection.prepare_cached("SELECT id, gen, hash, deleted FROM docs WHERE id = ?1")?;
    let mut rows: Vec<AllDocsRow> = Vec::new();
    let mut bytes = 0;
    for key in wanted {
        if rows.len() >= PAGE_ROWS_MAX || bytes >= PAGE_BYTES_MAX {
            let next = AllDocs {
                skip: question.skip + rows.len(),
                limit: question.limit.map(|limit| limit - rows.len()),
                ..question.clone()
            };
            return Ok((rows, Some(next)));
        }
        let serde_json::Value::String(id) = key else {
            rows.push(AllDocsRow {
                id: String::new(),
                value: RowValue::NoId((*key).clone()),
            });
            continue;
        };
        if id.starts_with("_local/") {
            rows.push(local_row(connection, id)?);
            continue;
        }
        let found = find.query_row([id], |row| Ok((revision(row, 1)?, row.get::<_, bool>(3)?)));
        let prefix = question.prefix.as_deref().unwrap_or_default();
        let value = match found.optional()?.filter(|_| id.starts_with(prefix)) {
            None => RowValue::Missing,
            Some((revision, true)) => RowValue::Deleted { revision },
            Some((revision, false)) => {
                let document = document(connection, id, question)?;
                bytes += document
                    .as_ref()
                    .map_or(0, |document| document.text_bytes());
                RowValue::Present { revision, document }
            }
        };
        rows.push(AllDocsRow {
            id: id.clone(),
            value,
        });
    }
    Ok((rows, None))
}

fn local_row(connection: &Connection, id: &str) -> Result<AllDocsRow> {
    let value = match local::get(connection, id) {
        Ok(document) => RowValue::Local(Box::new(document)),
        Err(Error::NotFound(_)) => RowValue::Missing,
        Err(error) => return Err(error),
    };
    let id = id.to_owned();
    Ok(AllDocsRow { id, value })
}

fn document(
    connection: &Connection,
    id: &str,
    question: &AllDocs,
) -> Result<Option<Box<Document>>> {
    let Some(options) = &question.include_docs else {
        return Ok(None);
    };
    winner(connection, id, options).map(|document| Some(Box::new(document)))
}
