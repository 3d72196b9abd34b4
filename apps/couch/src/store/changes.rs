//! The changes after a sequence.

use super::row::{self, HEAD, Head, WHOLE};
use super::state::{State, number};
use super::{Document, GetOptions, Result, id};
use crate::revision::Revision;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

/// Changes that a page has, or looks at, at most.
const PAGE_CHANGES_MAX: usize = 1000;

/// Bytes of documents after which a page ends.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// Changes that are counted to say how many are pending.
const PENDING_COUNTED_MAX: u64 = 10_000;

/// Which revisions a change lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// The winner.
    #[default]
    MainOnly,
    /// Every leaf.
    AllDocs,
}

/// The parameters of a query for changes.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Only later changes than this sequence.
    pub since: u64,
    /// Only earlier changes than this sequence; with `descending` the page's `last_seq` goes here for the next.
    pub before: Option<u64>,
    /// At most so many; none for as many as a page has.
    pub limit: Option<usize>,
    /// Newest first.
    pub descending: bool,
    /// Which revisions are listed.
    pub style: Style,
    /// Only these documents.
    pub doc_ids: Option<Vec<String>>,
    /// Only design documents.
    pub design_only: bool,
    /// Only the winning revision.
    pub include_docs: Option<GetOptions>,
}

/// A document that has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The sequence of its last change.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// The revisions, the winner first.
    pub revisions: Vec<Revision>,
    /// Whether the winner is a deletion.
    pub deleted: bool,
    /// The winning document, if requested.
    pub document: Option<Document>,
}

/// Some changes, in order. A page is bounded: ask again with `since` (or, descending, `before`) set to
/// [`ChangesPage::last_seq`] until [`ChangesPage::is_last`].
#[derive(Clone, Debug, PartialEq)]
pub struct ChangesPage {
    /// The changes.
    pub changes: Vec<Change>,
    /// The sequence up to which everything was looked at, also what a filter left out. Ascending, it never goes back.
    pub last_seq: u64,
    /// Whether there was nothing more; with a limit that was reached, false.
    pub is_last: bool,
    /// The number of changes after `last_seq`, or before it when descending: exact up to 10,000, above that an upper bound.
    pub pending: u64,
}

/// Whether a change is of interest. It is called in the middle of a read, with a connection lent: it must not read the
/// database itself.
pub type Filter<'a> = dyn FnMut(&Change) -> Result<bool> + 'a;

/// A page of changes, all from one snapshot.
pub fn page(
    connection: &Connection,
    question: &Changes,
    filter: Option<&mut Filter<'_>>,
) -> Result<ChangesPage> {
    let state = State::read(connection)?;
    let mut page = match &question.doc_ids {
        Some(ids) => Page::new(question, filter).of_documents(connection, ids)?,
        None => Page::new(question, filter).of_all(connection)?,
    };
    page.pending = match (page.is_last, question.descending) {
        (true, _) => 0,
        (false, true) => earlier(connection, &state, page.last_seq)?,
        (false, false) => pending(connection, &state, page.last_seq)?,
    };
    if question.descending {
        // The start of an empty page is after all changes.
        page.last_seq = page.last_seq.min(state.update_seq);
    } else if page.is_last {
        page.last_seq = page.last_seq.max(state.update_seq.max(question.since));
    }
    Ok(page)
}

struct Page<'a, 'f> {
    question: &'a Changes,
    filter: Option<&'a mut Filter<'f>>,
    looked_at: usize,
    bytes: usize,
    given: ChangesPage,
}

impl<'a, 'f> Page<'a, 'f> {
    fn new(question: &'a Changes, filter: Option<&'a mut Filter<'f>>) -> Self {
        let start = match question.descending {
            true => question.before.unwrap_or(u64::MAX),
            false => question.since,
        };
        Page {
            question,
            filter,
            looked_at: 0,
            bytes: 0,
            given: ChangesPage {
                changes: Vec::new(),
                last_seq: start,
                is_last: true,
                pending: 0,
            },
        }
    }

    fn columns(&self) -> String {
        let whole = self.question.include_docs.is_some();
        let columns = if whole { WHOLE } else { HEAD };
        match self.question.style {
            Style::MainOnly => columns.to_owned(),
            Style::AllDocs => format!("{columns}, tree"),
        }
    }

    fn of_all(mut self, connection: &Connection) -> Result<ChangesPage> {
        let columns = self.columns();
        let order = if self.question.descending {
            "DESC"
        } else {
            "ASC"
        };
        let design = match self.question.design_only {
            true => "AND id >= ?3 AND id < ?4",
            false => "",
        };
        // Read in the order of the table, even if an index would fit.
        let sql = format!(
            "SELECT {columns} FROM docs NOT INDEXED WHERE seq > ?1 AND seq < ?2 {design} ORDER BY seq {order}"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let before = self.question.before.map_or(i64::MAX, |seq| seq as i64);
        let mut parameters: Vec<Value> = vec![(self.question.since as i64).into(), before.into()];
        if self.question.design_only {
            parameters.extend([
                id::DESIGN.to_owned().into(),
                id::DESIGN_END.to_owned().into(),
            ]);
        }
        let mut rows = statement.query(params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            if !self.row(connection, row)? {
                self.given.is_last = false;
                break;
            }
        }
        Ok(self.given)
    }

    /// The changes of these documents: looked up, then put in order.
    fn of_documents(mut self, connection: &Connection, ids: &[String]) -> Result<ChangesPage> {
        let mut seqs = Vec::new();
        let mut find = connection.prepare_cached("SELECT seq FROM docs WHERE id = ?1")?;
        for id in ids {
            let mut rows = find.query([id])?;
            if let Some(row) = rows.next()? {
                let seq = number(row, 0)?;
                let before = self.question.before.unwrap_or(u64::MAX);
                if seq > self.question.since && seq < before {
                    seqs.push(seq);
                }
            }
        }
        seqs.sort_unstable();
        seqs.dedup();
        if self.question.descending {
            seqs.reverse();
        }
        let sql = format!("SELECT {} FROM docs WHERE seq = ?1", self.columns());
        let mut statement = connection.prepare_cached(&sql)?;
        for seq in seqs {
            let mut rows = statement.query([seq as i64])?;
            if let Some(row) = rows.next()?
                && !self.row(connection, row)?
            {
                self.given.is_last = false;
                break;
            }
        }
        Ok(self.given)
    }

    /// Adds a row. Returns false if the page is full without it.
    fn row(&mut self, connection: &Connection, row: &Row<'_>) -> Result<bool> {
        let limit = self.question.limit.unwrap_or(PAGE_CHANGES_MAX);
        let is_full = self.given.changes.len() >= limit.min(PAGE_CHANGES_MAX)
            || self.looked_at >= PAGE_CHANGES_MAX
            || self.bytes >= PAGE_BYTES_MAX;
        if is_full {
            return Ok(false);
        }
        let change = self.change(connection, row)?;
        self.looked_at += 1;
        self.given.last_seq = change.seq;
        let is_wanted = match &mut self.filter {
            Some(filter) => filter(&change)?,
            None => true,
        };
        if is_wanted {
            self.bytes += change.document.as_ref().map_or(0, Document::text_bytes);
            self.given.changes.push(change);
        }
        Ok(true)
    }

    fn change(&self, connection: &Connection, row: &Row<'_>) -> Result<Change> {
        let head = Head::from_row(row)?;
        let document = match &self.question.include_docs {
            Some(options) => Some(row::winner_from_row(connection, row, options)?),
            None => None,
        };
        let revisions = match self.question.style {
            Style::MainOnly => vec![head.revision],
            Style::AllDocs => {
                let tree = crate::revision::Tree::decode(
                    row.get_ref("tree")?
                        .as_blob()
                        .map_err(rusqlite::Error::from)?,
                )?;
                let leaves = tree.leaves().into_iter();
                leaves.map(|leaf| leaf.revision.clone()).collect()
            }
        };
        Ok(Change {
            seq: head.seq,
            id: head.id,
            revisions,
            deleted: head.deleted,
            document,
        })
    }
}

/// Returns the number of documents changed before a sequence.
fn earlier(connection: &Connection, state: &State, before: u64) -> Result<u64> {
    let documents = state.doc_count + state.deleted_count;
    let at_most = before.saturating_sub(1).min(documents);
    if documents == state.update_seq || at_most > PENDING_COUNTED_MAX {
        return Ok(at_most);
    }
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached("SELECT count(*) FROM docs WHERE seq < ?1")?;
    Ok(statement.query_row([before], |row| number(row, 0))?)
}

/// Returns the number of documents changed after `last_seq`.
fn pending(connection: &Connection, state: &State, last_seq: u64) -> Result<u64> {
    let documents = state.doc_count + state.deleted_count;
    let at_most = state.update_seq.saturating_sub(last_seq).min(documents);
    // If every sequence is still a document's last change, the difference of sequences is the count.
    if documents == state.update_seq || at_most > PENDING_COUNTED_MAX {
        return Ok(at_most);
    }
    let mut statement = connection.prepare_cached("SELECT count(*) FROM docs WHERE seq > ?1")?;
    Ok(statement.query_row([last_seq as i64], |row| number(row, 0))?)
}
