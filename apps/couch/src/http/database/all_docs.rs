//! `_all_docs` and `_design_docs`: documents in the order of their ids, page by page.

use super::limits::{check_listed, listed, rows_max};
use crate::http::body::Question;
use crate::http::pages::Pages;
use crate::http::params::Params;
use crate::http::seq::SeqFormat;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, Server};
use crate::json::write_string;
use crate::mango::check_partition;
use crate::store::{
    AllDocs, AllDocsPage, AllDocsRow, AttachmentOption, Database, GetOptions, RowValue,
};
use crate::views;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

/// The query and the format of the answer.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The query for the store.
    pub question: AllDocs,
    /// Whether the answer includes the database's sequence.
    pub update_seq: bool,
    partition: Option<String>,
}

/// The parameters of the request. They are those of views except for `keys`, which gives one row per key.
#[derive(Debug, Clone, Default)]
struct Given {
    of_views: views::Query,
    keys: Option<Vec<Value>>,
}

impl Given {
    /// Adds the parameters of a URL.
    fn add_url(&mut self, params: &Params) -> HttpResult<()> {
        let keys = params.get("keys").map(serde_json::from_str);
        let keys = keys
            .transpose()
            .map_err(|error| HttpError::BadJson(error.to_string()))?;
        self.add_keys(keys.as_ref(), "`keys` parameter must be an array.")?;
        let others = params.pairs().filter(|(name, _)| *name != "keys");
        Ok(self.of_views.read_url(others)?)
    }

    /// Adds the members of a body.
    fn add_body(&mut self, body: &Map<String, Value>) -> HttpResult<()> {
        self.add_keys(body.get("keys"), "`keys` body member must be an array.")?;
        let others = body.iter().filter(|(name, _)| *name != "keys");
        Ok(self.of_views.read_members(others)?)
    }

    fn add_keys(&mut self, keys: Option<&Value>, wrong: &str) -> HttpResult<()> {
        match keys {
            None | Some(Value::Null) => {}
            Some(Value::Array(keys)) => self.keys = Some(keys.clone()),
            Some(_) => return Err(HttpError::BadRequest(wrong.to_owned())),
        }
        Ok(())
    }

    /// Makes a range of a single key, as CouchDB does in queries: without a document it has no row.
    fn range_of_single_key(&mut self) {
        if self.keys.as_ref().is_some_and(|keys| keys.len() == 1) {
            self.of_views
                .set_keys(self.keys.take().into_iter().flatten().collect());
        }
    }

    /// Applies the configured limit of rows, and checks the parameters against each other.
    fn limited(mut self, server: &Server) -> HttpResult<Query> {
        let is_of_partition = self.of_views.partition.is_some();
        self.of_views.limit_to(rows_max(server, is_of_partition))?;
        self.finish()
    }

    /// Checks the parameters against each other.
    fn finish(self) -> HttpResult<Query> {
        let Given { mut of_views, keys } = self;
        let partition = of_views.partition.take();
        of_views.keys = keys.clone().map(Value::Array);
        of_views.check(false, false)?;
        let descending = of_views.descending;
        let include_docs = of_views.include_docs.then(|| GetOptions {
            conflicts: of_views.conflicts == Some(true),
            att_encoding_info: of_views.att_encoding_info,
            attachments: match of_views.attachments {
                true => AttachmentOption::Inline,
                false => AttachmentOption::Stubs,
            },
            ..GetOptions::default()
        });
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        // CouchDB takes an id of a document for a key that is not given.
        let start_id = of_views.start_id.map(Value::String);
        let end_id = of_views.end_id.map(Value::String);
        let first = of_views.start_key.or(start_id);
        let last = of_views.end_key.or(end_id);
        let (start, end) = match descending {
            false => (first.and_then(text), last.map(upper)),
            true => (first.map(upper), last.and_then(text)),
        };
        Ok(Query {
            question: AllDocs {
                start,
                end,
                inclusive_end: of_views.inclusive_end,
                keys,
                limit: of_views.limit.map(count),
                skip: count(of_views.skip),
                descending,
                include_docs,
                counts_offset: true,
                ..AllDocs::default()
            },
            update_seq: of_views.update_seq,
            partition,
        })
    }
}

/// Returns the lower end of a range of ids. CouchDB compares them as Erlang terms: every other value is before all strings.
fn text(key: Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the upper end of a range of ids. The range up to another value than a string has no id, like the one up to the empty string.
fn upper(key: Value) -> String {
    text(key).unwrap_or_default()
}

impl Query {
    /// Returns the query of a GET.
    ///
    /// # Errors
    /// If a parameter is wrong, or two contradict each other.
    pub fn asked(server: &Server, db: &Database, params: &Params) -> HttpResult<Self> {
        read(server, db, params, &Map::new())
    }

    /// Returns the query of a POST. Parameters of the URL override those of the body.
    ///
    /// # Errors
    /// If a parameter is invalid, or the body is not a JSON object.
    pub fn posted(
        server: &Server,
        db: &Database,
        params: &Params,
        body: &Question,
    ) -> HttpResult<Self> {
        read(server, db, params, &body.object()?)
    }

    /// Keeps the keys that begin with a prefix. CouchDB counts `skip` and `limit` before.
    pub fn keep_keys(&mut self, prefix: &str) {
        let question = &mut self.question;
        let Some(mut keys) = question.keys.take() else {
            return;
        };
        if std::mem::take(&mut question.descending) {
            keys.reverse();
        }
        let skip = std::mem::take(&mut question.skip);
        let limit = question.limit.take().unwrap_or(usize::MAX);
        let wanted = keys.into_iter().skip(skip).take(limit);
        let is_kept = |key: &Value| key.as_str().is_some_and(|key| key.starts_with(prefix));
        question.keys = Some(wanted.filter(is_kept).collect());
    }

    /// Narrows the question to design documents.
    fn design_only(mut self) -> Self {
        if self.question.keys.is_some() {
            self.keep_keys(DESIGN.0);
        } else {
            narrow(&mut self.question, DESIGN.0, DESIGN.1);
        }
        self
    }

    /// Narrows the question to the partition that it names.
    ///
    /// # Errors
    /// If the name is invalid, or the database has no partitions.
    fn in_partition(mut self, db: &Database) -> HttpResult<Self> {
        let Some(partition) = self.partition.take() else {
            return Ok(self);
        };
        check_partition(&partition)?;
        if !db.is_partitioned() {
            let reason = "`partition` parameter is not supported on this db";
            return Err(HttpError::BadParameters(reason.to_owned()));
        }
        let (low, high) = (format!("{partition}:"), format!("{partition};"));
        match &mut self.question.keys {
            None => narrow(&mut self.question, &low, &high),
            Some(_) => self.question.prefix = Some(low),
        }
        Ok(self)
    }
}

/// Narrows a range of ids.
fn narrow(question: &mut AllDocs, first: &str, end: &str) {
    let (low, high) = if question.descending {
        (&mut question.end, &mut question.start)
    } else {
        (&mut question.start, &mut question.end)
    };
    if low.as_deref().is_none_or(|low| low < first) {
        *low = Some(first.to_owned());
    }
    if high.as_deref().is_none_or(|high| high > end) {
        *high = Some(end.to_owned());
    }
}

/// The first id of design documents, and the first id after them.
const DESIGN: (&str, &str) = ("_design/", "_design0");

/// `GET /db/_all_docs`.
pub async fn all_docs(State(server): State<Arc<Server>>, Db(db): Db, params: Params) -> HttpResult {
    let query = Query::asked(&server, &db, &params)?;
    Listing::one(db, query).await
}

/// `POST /db/_all_docs`.
pub async fn all_docs_of(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let query = Query::posted(&server, &db, &params, &body)?;
    Listing::one(db, query).await
}

/// Returns the head and all rows for a list function: `{"head": {…}, "rows": […]}`.
///
/// # Errors
/// If the parameters are wrong, or the rows take too much memory.
pub fn listed_rows(
    server: &Server,
    db: &Database,
    params: &Params,
    body: &Map<String, Value>,
) -> HttpResult<String> {
    let mut question = Some(read(server, db, params, body)?.question);
    let total = db.info()?.doc_count;
    let mut out =
        format!("{{\"head\":{{\"total_rows\":{total},\"offset\":0}},\"rows\":[").into_bytes();
    let mut is_first = true;
    while let Some(asked) = question {
        let page = db.all_docs(&asked)?;
        for row in &page.rows {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            write_row(&mut out, row, asked.include_docs.is_some());
        }
        check_listed(&out)?;
        question = page.next;
    }
    out.extend_from_slice(b"]}");
    listed(db, out)
}

/// `GET /db/_design_docs`.
pub async fn design_docs(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
) -> HttpResult {
    let query = Query::asked(&server, &db, &params)?;
    Listing::designs(db, [query].into())?.answer().await
}

/// `POST /db/_design_docs`.
pub async fn design_docs_of(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let query = Query::posted(&server, &db, &params, &body)?;
    Listing::designs(db, [query].into())?.answer().await
}

fn read(
    server: &Server,
    db: &Database,
    params: &Params,
    body: &Map<String, Value>,
) -> HttpResult<Query> {
    given(params, body)?.limited(server)?.in_partition(db)
}

fn given(params: &Params, body: &Map<String, Value>) -> HttpResult<Given> {
    let mut given = Given::default();
    given.add_body(body)?;
    given.add_url(params)?;
    Ok(given)
}

/// `POST /db/_all_docs/queries`: several questions at once.
pub async fn all_docs_queries(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let queries = queries(&server, &db, &params, &body)?;
    Listing::new(db, queries).wrapped().answer().await
}

/// `POST /db/_design_docs/queries`.
pub async fn design_docs_queries(
    State(server): State<Arc<Server>>,
    Db(db): Db,
    params: Params,
    body: Question,
) -> HttpResult {
    let queries = queries(&server, &db, &params, &body)?;
    Listing::designs(db, queries)?.wrapped().answer().await
}

#[derive(Deserialize)]
struct Queries {
    queries: Vec<Map<String, Value>>,
}

/// Reads the queries of a POST. Their members override the parameters of the URL.
///
/// # Errors
/// If a parameter is invalid, or the body has no list of queries.
pub fn queries(
    server: &Server,
    db: &Database,
    params: &Params,
    body: &Question,
) -> HttpResult<VecDeque<Query>> {
    let Queries { queries } = body.0.json()?;
    let mut common = Given::default();
    common.add_url(params)?;
    let query = |fields: &Map<String, Value>| {
        let mut given = common.clone();
        given.add_body(fields)?;
        given.range_of_single_key();
        given.limited(server)?.in_partition(db)
    };
    queries.iter().map(query).collect()
}

/// The answers to some queries, written page by page.
struct Listing {
    db: Database,
    queries: VecDeque<Query>,
    /// The unanswered part of the current query.
    rest: Option<AllDocs>,
    has_head: bool,
    has_rows: bool,
    is_first_query: bool,
    /// Whether the answers are an array in an object.
    is_wrapped: bool,
    /// The number to show instead of the number of all documents.
    total_rows: Option<u64>,
    is_done: bool,
}

impl Listing {
    fn new(db: Database, queries: VecDeque<Query>) -> Self {
        Listing {
            db,
            queries,
            rest: None,
            has_head: false,
            has_rows: false,
            is_first_query: true,
            is_wrapped: false,
            total_rows: None,
            is_done: false,
        }
    }

    async fn one(db: Database, query: Query) -> HttpResult {
        Listing::new(db, [query].into()).answer().await
    }

    fn designs(db: Database, queries: VecDeque<Query>) -> HttpResult<Self> {
        let mut total = 0;
        let mut question = Some(Query::default().design_only().question);
        while let Some(asked) = question {
            let page = db.all_docs(&asked)?;
            total += page.rows.len() as u64;
            question = page.next;
        }
        let queries = queries.into_iter().map(Query::design_only).collect();
        Ok(Listing {
            total_rows: Some(total),
            ..Listing::new(db, queries)
        })
    }

    fn wrapped(mut self) -> Self {
        self.is_wrapped = true;
        self
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_wrapped { b"]}\n" } else { b"\n" });
        self.is_done = true;
    }

    fn write_head(&self, out: &mut Vec<u8>, page: &AllDocsPage) -> HttpResult<()> {
        let write = |out: &mut Vec<u8>| -> std::io::Result<()> {
            if !self.is_first_query {
                out.push(b',');
            }
            let total = self.total_rows.unwrap_or(page.total_rows);
            write!(out, "{{\"total_rows\":{total},\"offset\":")?;
            match page.offset {
                Some(offset) => write!(out, "{}", offset.min(total))?,
                None => write!(out, "null")?,
            }
            match self.queries.front() {
                Some(query) if query.update_seq && query.question.keys.is_some() => {
                    out.extend_from_slice(b",\"update_seq\":null");
                }
                Some(query) if query.update_seq => {
                    out.extend_from_slice(b",\"update_seq\":");
                    SeqFormat::new(&self.db).write(out, page.update_seq);
                }
                _ => {}
            }
            write!(out, ",\"rows\":[")
        };
        write(out).map_err(|error| HttpError::Internal(error.to_string()))
    }
}

impl Pages for Listing {
    fn database(&self) -> &Database {
        &self.db
    }

    fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }

    /// Writes the next page, with the start and the end of its answer.
    async fn write_page(&mut self, out: &mut Vec<u8>) -> HttpResult<()> {
        let question = match self.rest.take() {
            Some(rest) => rest,
            None => match self.queries.front().cloned() {
                Some(query) => query.question,
                None => {
                    self.finish(out);
                    return Ok(());
                }
            },
        };
        let page = self.db.all_docs(&question)?;
        if !self.has_head {
            self.write_head(out, &page)?;
            self.has_head = true;
        }
        for row in &page.rows {
            out.extend_from_slice(if self.has_rows { b",\r\n" } else { b"\r\n" });
            self.has_rows = true;
            write_row(out, row, question.include_docs.is_some());
        }
        self.rest = page.next;
        if self.rest.is_none() {
            out.extend_from_slice(b"\r\n]}");
            self.queries.pop_front();
            (self.has_head, self.has_rows) = (false, false);
            self.is_first_query = false;
            if self.queries.is_empty() {
                self.finish(out);
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn write_row(out: &mut Vec<u8>, row: &AllDocsRow, with_docs: bool) {
    let member = |out: &mut Vec<u8>, name: &str| {
        out.extend_from_slice(name.as_bytes());
        write_string(out, &row.id);
    };
    match &row.value {
        RowValue::Missing => member(out, "{\"key\":"),
        RowValue::NoId(key) => out.extend_from_slice(format!("{{\"key\":{key}").as_bytes()),
        _ => {}
    }
    if matches!(row.value, RowValue::Missing | RowValue::NoId(_)) {
        out.extend_from_slice(b",\"error\":\"not_found\"}");
        return;
    }
    member(out, "{\"id\":");
    member(out, ",\"key\":");
    out.extend_from_slice(b",\"value\":{\"rev\":\"");
    match &row.value {
        RowValue::Present { revision, document } => {
            revision.write(out);
            out.extend_from_slice(b"\"}");
            if let Some(document) = document {
                out.extend_from_slice(b",\"doc\":");
                document.write_json(out);
            }
        }
        RowValue::Local(document) => {
            out.extend_from_slice(format!("0-{}\"}}", document.writes).as_bytes());
            if with_docs {
                out.extend_from_slice(b",\"doc\":");
                out.extend_from_slice(document.to_json().as_bytes());
            }
        }
        RowValue::Deleted { revision } => {
            revision.write(out);
            out.extend_from_slice(b"\",\"deleted\":true}");
            if with_docs {
                out.extend_from_slice(b",\"doc\":null");
            }
        }
        RowValue::Missing | RowValue::NoId(_) => {}
    }
    out.push(b'}');
}
