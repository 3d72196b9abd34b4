//! Reading a view page by page.

use super::design::Design;
use super::index::{Index, State, root};
use super::key::{Collation, partition_prefix};
use super::page::{Page, ViewRow};
use super::query::{Grouping, Query};
use super::reduce::{
    Builtin, Reducer, Row, ScriptCall, call as call_scripts, reduce_call, rereduce_call,
};
use super::tree::{Cut, Fold, Nodes, OwnRow, Root, rank, visit};
use super::update::call;
use super::{Error, Result};
use crate::revision::Revision;
use crate::script::{Owner, Scripts};
use crate::store::{self, AttachmentOption, Database, GetOptions};
use rusqlite::Connection;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Rows of a page; fewer with documents.
const PAGE_ROWS_MAX: u64 = 1000;
const PAGE_DOCUMENTS_MAX: u64 = 100;

/// Bytes of rows after which a page ends.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// Reads views of an index.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) db: Database,
    pub(super) index: Arc<Index>,
    pub(super) scripts: Scripts,
    pub(super) owner: Owner,
    pub(super) design: Arc<Design>,
}

/// What is left of a query. Each page is a snapshot of its own.
#[derive(Clone, Debug)]
pub struct Answer {
    reader: Reader,
    query: Query,
    grouping: Option<Grouping>,
    view: usize,
    reducer: usize,
    ranges: VecDeque<Range>,
    skip: u64,
    limit: u64,
}

/// A range of positions.
#[derive(Clone, Debug, Default)]
struct Range {
    low: Option<Cut>,
    high: Option<Cut>,
    /// The key that was asked for, JSON, where a list of keys was.
    key: Option<String>,
}

/// After every document id.
const LAST_ID: &[u8] = &[0xff];

impl Reader {
    /// Begins to answer a query of a view.
    ///
    /// # Errors
    /// If there is no such view, or the parameters do not go together.
    pub fn answer(&self, view: &str, query: Query) -> Result<Answer> {
        let (view, reducer) = self.design.view(view)?;
        let grouping = query.check(reducer.is_some(), self.design.is_partitioned)?;
        let collation = self.design.views[view].collation;
        let order = Keys {
            collation,
            partition: query.partition_prefix(),
        };
        let ranges = match &query.keys {
            Some(Value::Array(keys)) => {
                let range = |key: &Value| query.range(&order, Some(key), Some(key), true);
                let mut ranges: VecDeque<Range> = keys.iter().map(range).collect::<Result<_>>()?;
                if query.descending && grouping.is_none() {
                    ranges.make_contiguous().reverse();
                }
                ranges
            }
            _ => [query.range(
                &order,
                query.start_key.as_ref(),
                query.end_key.as_ref(),
                false,
            )?]
            .into(),
        };
        Ok(Answer {
            reader: self.clone(),
            grouping,
            view,
            reducer: reducer.unwrap_or_default(),
            ranges,
            skip: query.skip,
            limit: query.limit.unwrap_or(u64::MAX),
            query,
        })
    }
}

/// How values become keys of a view: in its order, within a partition.
struct Keys {
    collation: Collation,
    partition: Vec<u8>,
}

impl Keys {
    fn key(&self, value: &Value) -> Vec<u8> {
        let mut key = self.partition.clone();
        self.collation.write(&mut key, value);
        key
    }

    /// The cut before or after all keys of the partition; none if there is no partition.
    fn end(&self, is_last: bool) -> Option<Cut> {
        let mut key = self.partition.clone();
        match key.last_mut() {
            None => return None,
            // The last byte of a prefix ends it: with the next one it is after all its keys.
            Some(last) if is_last => *last += 1,
            Some(_) => {}
        }
        Some(Cut {
            key,
            id: Vec::new(),
            is_after: false,
        })
    }
}

impl Query {
    fn partition_prefix(&self) -> Vec<u8> {
        let partition = self.partition.as_deref();
        partition.map(partition_prefix).unwrap_or_default()
    }

    fn range(
        &self,
        keys: &Keys,
        start: Option<&Value>,
        end: Option<&Value>,
        is_listed: bool,
    ) -> Result<Range> {
        let own = |id: &Option<String>| id.as_ref().map(|id| id.clone().into_bytes());
        let (first, last) = match self.descending {
            false => (Vec::new(), LAST_ID.to_vec()),
            true => (LAST_ID.to_vec(), Vec::new()),
        };
        let start_id = own(&self.start_id).unwrap_or_else(|| first.clone());
        let end_id = own(&self.end_id).unwrap_or_else(|| last.clone());
        if let (Some(start), Some(end)) = (start, end)
            && start != end
        {
            let [one, other] =
                [(start, &start_id), (end, &end_id)].map(|(key, id)| (keys.key(key), id));
            let (is_empty, hint) = match self.descending {
                false => (one >= other, "true"),
                true => (one < other, "false"),
            };
            if is_empty {
                return Err(Error::Query(format!(
                    "No rows can match your key range, reverse your start_key and end_key or set descending={hint}"
                )));
            }
        }
        let start_cut = start.map(|key| Cut {
            key: keys.key(key),
            id: start_id,
            is_after: self.descending,
        });
        let end_cut = end.map(|key| match self.inclusive_end {
            true => Cut {
                key: keys.key(key),
                id: end_id,
                is_after: !self.descending,
            },
            false => Cut {
                key: keys.key(key),
                id: own(&self.end_id).unwrap_or(first),
                is_after: self.descending,
            },
        });
        let (low, high) = match self.descending {
            false => (start_cut, end_cut),
            true => (end_cut, start_cut),
        };
        let (low, high) = (
            low.or_else(|| keys.end(false)),
            high.or_else(|| keys.end(true)),
        );
        let key = start.filter(|_| is_listed).map(Value::to_string);
        Ok(Range { low, high, key })
    }
}

impl Range {
    /// The numbers of its first row and of the row after its last.
    fn rows(&self, nodes: &Nodes<'_>, root: &Root) -> Result<(u64, u64)> {
        let from = match &self.low {
            Some(cut) => rank(nodes, root, cut)?,
            None => 0,
        };
        let to = match &self.high {
            Some(cut) => rank(nodes, root, cut)?,
            None => root.count,
        };
        Ok((from, to.max(from)))
    }

    /// Narrows it to what was not read.
    fn set_start(&mut self, cut: Cut, descending: bool) {
        match descending {
            false => self.low = Some(cut),
            true => self.high = Some(cut),
        }
    }
}

impl Answer {
    /// Whether there are no more pages.
    pub fn is_done(&self) -> bool {
        self.ranges.is_empty() || self.limit == 0
    }

    /// Reads the next page. The first one is read even if it has no rows.
    ///
    /// # Errors
    /// If the index or a document cannot be read, or a reduce function fails.
    pub async fn page(&mut self) -> Result<Page> {
        match self.grouping {
            None => self.map_page(),
            Some(grouping) => self.groups(grouping).await,
        }
    }

    fn map_page(&mut self) -> Result<Page> {
        let reader = self.reader.clone();
        let mut page = reader.index.readers.read_snapshot(|connection| {
            let root = root(connection, self.view)?;
            let nodes = Nodes::new(connection);
            let mut ranks = VecDeque::new();
            let offset = self.offset(&nodes, &root, &mut ranks)?;
            let counts = Some((root.count, offset));
            let mut page = Page::new(counts, self.update_seq(connection)?);
            self.read_rows(&nodes, &root, ranks, &mut page)?;
            Ok(page)
        })?;
        if self.query.include_docs {
            page.add_documents(|row| self.document(row))?;
        }
        Ok(page)
    }

    /// The sequence of the index, if requested.
    fn update_seq(&self, connection: &Connection) -> Result<Option<u64>> {
        let read = || State::read(connection).map(|state| state.update_seq);
        self.query.update_seq.then(read).transpose()
    }

    /// The number of rows before the first of the answer. Appends the rows of the first ranges to `ranks`.
    fn offset(
        &self,
        nodes: &Nodes<'_>,
        root: &Root,
        ranks: &mut VecDeque<(u64, u64)>,
    ) -> Result<u64> {
        let mut offset = 0;
        for range in &self.ranges {
            let (from, to) = range.rows(nodes, root)?;
            ranks.push_back((from, to));
            offset = match self.query.descending {
                false => from,
                true => root.count - to,
            };
            if from < to {
                break;
            }
        }
        Ok(offset.saturating_add(self.skip).min(root.count))
    }

    fn page_rows_max(&self) -> u64 {
        match self.query.include_docs {
            true => PAGE_DOCUMENTS_MAX,
            false => PAGE_ROWS_MAX,
        }
    }

    /// Reads the rows of a page. `ranks` has the rows of the first ranges.
    fn read_rows(
        &mut self,
        nodes: &Nodes<'_>,
        root: &Root,
        mut ranks: VecDeque<(u64, u64)>,
        page: &mut Page,
    ) -> Result<()> {
        let descending = self.query.descending;
        let rows_max = self.page_rows_max();
        while let Some(range) = self.ranges.front_mut() {
            let room = self.limit.min(rows_max - page.len() as u64);
            if room == 0 || page.text_bytes() >= PAGE_BYTES_MAX {
                return Ok(());
            }
            let (from, to) = match ranks.pop_front() {
                Some(known) => known,
                None => range.rows(nodes, root)?,
            };
            let count = to - from;
            if self.skip >= count {
                self.skip -= count;
                self.ranges.pop_front();
                continue;
            }
            let wanted = room.min(count - self.skip);
            let before = page.len() as u64;
            let first = if descending { root.count - to } else { from };
            // Where the page ended, and how many rows of the next entry are on it.
            let mut end: Option<(Cut, u64)> = None;
            visit(
                nodes,
                root,
                descending,
                first + self.skip,
                &mut |entry, skipped| {
                    let taken = (wanted - (page.len() as u64 - before)).min(entry.count - skipped);
                    for row in entry.rows().skip(skipped as usize).take(taken as usize) {
                        let row = row?;
                        page.push(Some(entry.id()?), row.key, row.value);
                    }
                    if page.len() as u64 - before < wanted && page.text_bytes() < PAGE_BYTES_MAX {
                        return Ok(true);
                    }
                    let is_whole = skipped + taken == entry.count;
                    let cut = Cut {
                        key: entry.position.key.to_vec(),
                        id: entry.position.id.to_vec(),
                        is_after: is_whole != descending,
                    };
                    end = Some((cut, if is_whole { 0 } else { skipped + taken }));
                    Ok(false)
                },
            )?;
            let read = page.len() as u64 - before;
            self.limit -= read;
            match end {
                Some((cut, read_of_last)) if read + self.skip < count => {
                    range.set_start(cut, descending);
                    self.skip = read_of_last;
                }
                _ => {
                    self.skip = 0;
                    self.ranges.pop_front();
                }
            }
        }
        Ok(())
    }

    /// The document of a row: its own, or the one that its value names.
    fn document(&self, row: ViewRow<'_>) -> Result<String> {
        let query = &self.query;
        let mut id = row.id.unwrap_or_default().to_owned();
        let mut options = GetOptions {
            conflicts: query.conflicts == Some(true),
            attachments: match query.attachments {
                true => AttachmentOption::Inline,
                false => AttachmentOption::Stubs,
            },
            att_encoding_info: query.att_encoding_info,
            ..GetOptions::default()
        };
        if row.value.starts_with('{') && row.value.contains("\"_") {
            let value: Value = serde_json::from_str(row.value).unwrap_or_default();
            let revision = value["_rev"]
                .as_str()
                .and_then(|text| text.parse::<Revision>().ok());
            match value.get("_id") {
                None => {}
                Some(Value::String(other)) => {
                    id.clone_from(other);
                    options = GetOptions::default();
                }
                Some(_) => return Ok("null".to_owned()),
            }
            options.revision = revision;
        }
        match self.reader.db.get(&id, &options) {
            Ok(document) => {
                let mut text = Vec::with_capacity(document.body.len() + 128);
                document.write_json(&mut text);
                // Only text was written.
                Ok(String::from_utf8(text).unwrap_or_default())
            }
            Err(store::Error::NotFound(_)) => Ok("null".to_owned()),
            Err(error) => Err(error.into()),
        }
    }

    async fn groups(&mut self, grouping: Grouping) -> Result<Page> {
        let (groups, update_seq) = self.read_groups(grouping)?;
        let mut page = Page::new(None, update_seq);
        let reader = &self.reader;
        let reducers = &reader.design.views[self.view].reducers;
        let reducer = reducers.get(self.reducer).ok_or(Error::NoView)?;
        let (keys, parts): (Vec<String>, Vec<_>) = groups.into_iter().unzip();
        let values = match reducer {
            Reducer::Builtin(builtin) => {
                let finished = parts
                    .into_iter()
                    .map(|parts| finished(builtin.as_ref(), parts));
                finished.collect::<Result<Vec<_>>>()?
            }
            Reducer::Script(function) => {
                let (reader, function) = (reader.clone(), *function);
                scripted(reader, function, parts).await?
            }
        };
        for (key, value) in keys.iter().zip(&values) {
            page.push(None, key, value);
        }
        Ok(page)
    }

    /// Reads the groups of a page: their keys, rows and reductions.
    fn read_groups(&mut self, grouping: Grouping) -> Result<(Groups, Option<u64>)> {
        let reader = self.reader.clone();
        let collation = reader.design.views[self.view].collation;
        reader.index.readers.read_snapshot(|connection| {
            let root = root(connection, self.view)?;
            let nodes = Nodes::new(connection);
            let fold = Fold {
                nodes: &nodes,
                root: &root,
                collation,
                prefix_bytes: self.query.partition_prefix().len(),
                level: match grouping {
                    Grouping::Exact => None,
                    Grouping::Level(level) => Some(usize::try_from(level).unwrap_or(usize::MAX)),
                },
                descending: self.query.descending,
                reducer: self.reducer,
            };
            let mut groups = Groups::new();
            while let Some(range) = self.ranges.front_mut() {
                if self.limit == 0 || groups.len() as u64 >= PAGE_ROWS_MAX {
                    break;
                }
                let (from, to) = range.rows(&nodes, &root)?;
                let (skip, limit) = (&mut self.skip, &mut self.limit);
                let asked = range.key.clone();
                let stopped = fold.run(from, to, &mut |group| {
                    if *skip > 0 {
                        *skip -= 1;
                    } else if *limit > 0 {
                        let key = asked
                            .clone()
                            .unwrap_or_else(|| shown_key(&group.key, grouping));
                        groups.push((key, group.parts.into()));
                        *limit -= 1;
                    }
                    Ok(*limit > 0 && (groups.len() as u64) < PAGE_ROWS_MAX)
                })?;
                match stopped {
                    Some(cut) => range.set_start(cut, self.query.descending),
                    None => drop(self.ranges.pop_front()),
                }
            }
            Ok((groups, self.update_seq(connection)?))
        })
    }
}

/// The keys of some groups, JSON, and what they are made of.
type Groups = Vec<(String, Parts)>;

/// The rows and the reductions of a group, the last read first: CouchDB's order.
struct Parts {
    rows: Vec<OwnRow>,
    reductions: Vec<Vec<u8>>,
}

impl From<super::tree::Parts> for Parts {
    fn from(mut parts: super::tree::Parts) -> Self {
        // The rows of one entry keep their order.
        parts.rows.reverse();
        parts.reductions.reverse();
        Parts {
            rows: parts.rows.into_iter().flatten().collect(),
            reductions: parts.reductions,
        }
    }
}

impl Parts {
    fn rows(&self) -> Vec<Row<'_>> {
        let rows = self.rows.iter();
        rows.map(|own| Row {
            key: &own.key,
            id: &own.id,
            value: &own.value,
        })
        .collect()
    }
}

/// The key of a group: what its rows have in common.
fn shown_key(key: &str, grouping: Grouping) -> String {
    match grouping {
        Grouping::Level(0) => "null".to_owned(),
        Grouping::Level(level) if key.starts_with('[') => {
            let items: Vec<&RawValue> = serde_json::from_str(key).unwrap_or_default();
            let level = usize::try_from(level).unwrap_or(usize::MAX);
            let items: Vec<&str> = items.into_iter().take(level).map(RawValue::get).collect();
            format!("[{}]", items.join(","))
        }
        _ => key.to_owned(),
    }
}

fn finished(builtin: &dyn Builtin, mut parts: Parts) -> Result<String> {
    if !parts.rows.is_empty() {
        let own = builtin.reduce(&parts.rows());
        parts.reductions.insert(0, own);
    }
    let reduction = match &parts.reductions[..] {
        [one] => one.clone(),
        several => {
            let several: Vec<&[u8]> = several.iter().map(Vec::as_slice).collect();
            builtin.rereduce(&several)
        }
    };
    builtin.finish(&reduction).map_err(Error::Reduce)
}

/// Reduces groups with a function of the design document. As in CouchDB, the result of a group is reduced once more, alone.
async fn scripted(reader: Reader, function: usize, mut groups: Vec<Parts>) -> Result<Vec<String>> {
    let with_rows: Vec<usize> = (0..groups.len())
        .filter(|at| !groups[*at].rows.is_empty())
        .collect();
    let calls = with_rows
        .iter()
        .map(|at| reduce_call(function, &groups[*at].rows()))
        .collect();
    for (at, result) in with_rows.into_iter().zip(run(&reader, calls).await?) {
        groups[at].reductions.insert(0, result.into_bytes());
    }
    let several: Vec<usize> = (0..groups.len())
        .filter(|at| groups[*at].reductions.len() > 1)
        .collect();
    let calls = several.iter().map(|at| group_call(function, &groups[*at]));
    let calls = calls.collect::<Result<Vec<_>>>()?;
    for (at, result) in several.into_iter().zip(run(&reader, calls).await?) {
        groups[at].reductions = vec![result.into_bytes()];
    }
    let calls = groups.iter().map(|group| group_call(function, group));
    let calls = calls.collect::<Result<Vec<_>>>()?;
    run(&reader, calls).await
}

fn group_call(function: usize, group: &Parts) -> Result<ScriptCall> {
    let parts: Vec<&[u8]> = group.reductions.iter().map(Vec::as_slice).collect();
    rereduce_call(function, &parts)
}

async fn run(reader: &Reader, calls: Vec<ScriptCall>) -> Result<Vec<String>> {
    let (scripts, owner) = (reader.scripts.clone(), reader.owner.clone());
    let design = Arc::clone(&reader.design);
    let handle = Handle::current();
    let done = tokio::task::spawn_blocking(move || {
        call_scripts(
            &|calls| handle.block_on(call(&scripts, &owner, &design, calls)),
            &calls,
        )
    });
    done.await
        .map_err(|error| Error::Internal(error.to_string()))?
}
