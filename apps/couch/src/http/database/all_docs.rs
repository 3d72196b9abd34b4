//! `_all_docs` and `_design_docs`: documents in the order of their ids, page by page.

use crate::http::body::Question;
use crate::http::document::shown_options;
use crate::http::params::Params;
use crate::http::reply::Pages;
use crate::http::seq::SeqFormat;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult, reply};
use crate::mango::check_partition;
use crate::store::{AllDocs, AllDocsPage, AllDocsRow, Database, RowValue};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::Write;

/// The query and the format of the answer.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The query for the store.
    pub question: AllDocs,
    /// Whether the answer includes the database's sequence.
    update_seq: bool,
    /// Nothing can be meant: a key range that holds no string.
    is_empty: bool,
    /// Whether a key or an end of a range was given.
    has_range: bool,
    partition: Option<String>,
}

/// The end of a range, in the order of keys: numbers and the like, then text, then arrays and objects.
enum Bound {
    BeforeText,
    Text(String),
    AfterText,
}

impl Query {
    /// From the parameters of the URL.
    pub fn from_params(params: &Params) -> HttpResult<Self> {
        let mut query = Query::default();
        query.add(params)?;
        Ok(query)
    }

    /// From the URL, in addition: it counts more than a body.
    fn add(&mut self, params: &Params) -> HttpResult<()> {
        for name in FIELDS {
            if let Some(value) = params.json(name)? {
                self.set(name, value)?;
            }
        }
        self.partition = params.get("partition").map(str::to_owned);
        self.show(params)?;
        self.check()
    }

    /// From the body of a POST, in addition.
    pub fn read(&mut self, body: &Map<String, Value>) -> HttpResult<()> {
        for name in FIELDS {
            if let Some(value) = body.get(*name) {
                self.set(name, value.clone())?;
            }
        }
        let mut shown = Params::default();
        for (name, value) in body {
            shown.push(name, value.to_string());
        }
        self.show(&shown)?;
        self.check()
    }

    /// Refuses what contradicts itself.
    fn check(&self) -> HttpResult<()> {
        let has_keys = self
            .question
            .keys
            .as_ref()
            .is_some_and(|keys| !keys.is_empty());
        if has_keys && self.has_range {
            let reason = "`keys` is incompatible with `key`, `start_key` and `end_key`";
            return Err(HttpError::BadParameters(reason.to_owned()));
        }
        Ok(())
    }

    fn show(&mut self, params: &Params) -> HttpResult<()> {
        self.update_seq |= params.flag("update_seq")?;
        if params.flag("reduce")? {
            let reason = "Reduce is invalid for map-only views.";
            return Err(HttpError::BadParameters(reason.to_owned()));
        }
        if params.flag("group")? || params.parsed("group_level")?.unwrap_or(0_u64) > 0 {
            let reason = "Invalid use of grouping on a map view.";
            return Err(HttpError::BadParameters(reason.to_owned()));
        }
        if params.flag("include_docs")? {
            self.question.include_docs = Some(shown_options(params)?);
        }
        Ok(())
    }

    fn set(&mut self, name: &'static str, value: Value) -> HttpResult<()> {
        let wrong = |value: &Value| HttpError::BadParameter(name, value.to_string());
        let number = || value.as_u64().ok_or_else(|| wrong(&value));
        let flag = || value.as_bool().ok_or_else(|| wrong(&value));
        match name {
            "limit" => self.question.limit = Some(number()? as usize),
            "skip" => self.question.skip = number()? as usize,
            "descending" => self.question.descending = flag()?,
            "inclusive_end" => self.question.inclusive_end = flag()?,
            "keys" => match value {
                Value::Array(keys) => self.question.keys = Some(keys),
                Value::Null => {}
                _ => {
                    let reason = "`keys` parameter must be an array.";
                    return Err(HttpError::BadRequest(reason.to_owned()));
                }
            },
            // Of one document there is no row if it is not there, other than with `keys`.
            "key" => {
                self.has_range = true;
                match value {
                    Value::String(id) => {
                        self.question.start = Some(id.clone());
                        self.question.end = Some(id);
                    }
                    _ => self.is_empty = true,
                }
            }
            "startkey" | "start_key" => match self.bound(value) {
                Bound::BeforeText => self.question.start = None,
                Bound::Text(text) => self.question.start = Some(text),
                Bound::AfterText => self.is_empty = true,
            },
            _ => match self.bound(value) {
                Bound::BeforeText => self.is_empty = true,
                Bound::Text(text) => self.question.end = Some(text),
                Bound::AfterText => self.question.end = None,
            },
        }
        Ok(())
    }

    /// Descending, what comes after all text is before it.
    fn bound(&mut self, value: Value) -> Bound {
        self.has_range = true;
        match (value, self.question.descending) {
            (Value::String(text), _) => Bound::Text(text),
            (Value::Array(_) | Value::Object(_), false) => Bound::AfterText,
            (Value::Array(_) | Value::Object(_), true) => Bound::BeforeText,
            (_, false) => Bound::BeforeText,
            (_, true) => Bound::AfterText,
        }
    }

    /// Narrows the question to design documents.
    fn design_only(mut self) -> Self {
        let question = &mut self.question;
        if let Some(keys) = &mut question.keys {
            keys.retain(|key| key.as_str().is_some_and(|key| key.starts_with(DESIGN.0)));
            return self;
        }
        narrow(question, DESIGN.0, DESIGN.1);
        self
    }

    /// Narrows the question to the partition that it names.
    ///
    /// # Errors
    /// If the name is none, or the database has no partitions.
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

const FIELDS: &[&str] = &[
    // First, because ends of ranges depend on it.
    "descending",
    "limit",
    "skip",
    "inclusive_end",
    "keys",
    "key",
    "startkey",
    "start_key",
    "endkey",
    "end_key",
];

/// `GET /db/_all_docs`.
pub async fn all_docs(Db(db): Db, params: Params) -> HttpResult {
    let query = Query::from_params(&params)?.in_partition(&db)?;
    Listing::one(db, query).await
}

/// `POST /db/_all_docs`.
pub async fn all_docs_of(Db(db): Db, params: Params, body: Question) -> HttpResult {
    let query = posted(&params, &body)?.in_partition(&db)?;
    Listing::one(db, query).await
}

/// All rows, and what stands before them, as a list function gets them: `{"head": {…}, "rows": […]}`.
///
/// # Errors
/// If the parameters are wrong, or the rows take too much memory.
pub fn listed_rows(
    db: &Database,
    params: &Params,
    body: &Map<String, Value>,
) -> HttpResult<String> {
    let mut query = Query::from_params(params)?;
    query.read(body)?;
    let query = query.in_partition(db)?;
    let mut question = match query.is_empty {
        true => None,
        false => Some(query.question),
    };
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
    String::from_utf8(out).map_err(|error| HttpError::Internal(error.to_string()))
}

/// Bytes of the rows that a list function gets.
const LISTED_BYTES_MAX: usize = 16 << 20;

/// Refuses more rows than a list function gets.
///
/// # Errors
/// If there are more.
pub fn check_listed(rows: &[u8]) -> HttpResult<()> {
    if rows.len() <= LISTED_BYTES_MAX {
        return Ok(());
    }
    let reason =
        format!("A list function gets at most {LISTED_BYTES_MAX} bytes of rows: use limit.");
    Err(HttpError::BadRequest(reason))
}

/// `GET /db/_design_docs`.
pub async fn design_docs(Db(db): Db, params: Params) -> HttpResult {
    Listing::designs(db, [Query::from_params(&params)?].into())?
        .answer()
        .await
}

/// `POST /db/_design_docs`.
pub async fn design_docs_of(Db(db): Db, params: Params, body: Question) -> HttpResult {
    Listing::designs(db, [posted(&params, &body)?].into())?
        .answer()
        .await
}

/// The query of a POST. The URL counts more than the body.
///
/// # Errors
/// If a parameter is wrong, or the body is no JSON object.
pub fn posted(params: &Params, body: &Question) -> HttpResult<Query> {
    let mut query = Query::default();
    query.read(&body.object()?)?;
    query.add(params)?;
    Ok(query)
}

/// `POST /db/_all_docs/queries`: several questions at once.
pub async fn all_docs_queries(Db(db): Db, params: Params, body: Question) -> HttpResult {
    Listing::new(db, queries(&params, &body)?)
        .wrapped()
        .answer()
        .await
}

/// `POST /db/_design_docs/queries`.
pub async fn design_docs_queries(Db(db): Db, params: Params, body: Question) -> HttpResult {
    Listing::designs(db, queries(&params, &body)?)?
        .wrapped()
        .answer()
        .await
}

#[derive(Deserialize)]
struct Queries {
    queries: Vec<Map<String, Value>>,
}

fn queries(params: &Params, body: &Question) -> HttpResult<VecDeque<Query>> {
    let Queries { queries } = body.0.json()?;
    let common = Query::from_params(params)?;
    let query = |fields: &Map<String, Value>| {
        let mut query = common.clone();
        query.read(fields).map(|()| query)
    };
    queries.iter().map(query).collect()
}

/// Streams the answer: query after query, page after page.
struct Listing {
    db: Database,
    queries: VecDeque<Query>,
    /// The question that is being answered: what is left of it.
    rest: Option<AllDocs>,
    has_head: bool,
    has_rows: bool,
    is_first_query: bool,
    /// Several answers are an array in an object.
    is_wrapped: bool,
    /// Shown instead of the number of all documents.
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

    async fn answer(self) -> HttpResult {
        let head: &[u8] = if self.is_wrapped {
            b"{\"results\":["
        } else {
            b""
        };
        Pages::answer(self, head).await
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
                Some(offset) => write!(out, "{offset}")?,
                None => write!(out, "null")?,
            }
            if self.queries.front().is_some_and(|query| query.update_seq) {
                out.extend_from_slice(b",\"update_seq\":");
                SeqFormat::new(&self.db).write(out, page.update_seq);
            }
            write!(out, ",\"rows\":[")
        };
        write(out).map_err(|error| HttpError::Internal(error.to_string()))
    }
}

impl Pages for Listing {
    /// Writes the next page, with what stands before and after it.
    async fn write_page(&mut self, out: &mut Vec<u8>) -> HttpResult<()> {
        let question = match self.rest.take() {
            Some(rest) => rest,
            None => match self.queries.front().cloned() {
                Some(query) if query.is_empty => AllDocs {
                    keys: Some(Vec::new()),
                    ..query.question
                },
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
        reply::push_string(out, &row.id);
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
            out.extend_from_slice(revision.to_string().as_bytes());
            out.extend_from_slice(b"\"}");
            if let Some(document) = document {
                out.extend_from_slice(b",\"doc\":");
                document.write_json(out);
            }
        }
        RowValue::Deleted { revision } => {
            out.extend_from_slice(revision.to_string().as_bytes());
            out.extend_from_slice(b"\",\"deleted\":true}");
            if with_docs {
                out.extend_from_slice(b",\"doc\":null");
            }
        }
        RowValue::Missing | RowValue::NoId(_) => {}
    }
    out.push(b'}');
}
