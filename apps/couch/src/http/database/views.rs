//! Map and reduce views.

use super::limits::{check_listed, listed, rows_max};
use crate::http::body::{JsonBody, Question};
use crate::http::pages::Pages;
use crate::http::params::Params;
use crate::http::seq::SeqFormat;
use crate::http::target::{Doc, ViewOf};
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::json::{write_integer, write_string};
use crate::mango::COLLATOR_VERSION;
use crate::store::Database;
use crate::views::{Answer, Design, Failed, Page, Query, ViewRow, overflow_reason};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// `GET /db/_design/design/_view/view`.
pub async fn view(State(server): State<Arc<Server>>, view: ViewOf, params: Params) -> HttpResult {
    let design = server.views.design(&view.db, &view.id)?;
    let mut query = Query::default();
    query.read_url(params.pairs())?;
    let answer = begin(&server, &view, &design, vec![query]).await?;
    Listing::new(view.db, answer).answer().await
}

/// `POST /db/_design/design/_view/view`: with parameters in the body.
pub async fn view_of(
    State(server): State<Arc<Server>>,
    view: ViewOf,
    params: Params,
    body: Question,
) -> HttpResult {
    let design = server.views.design(&view.db, &view.id)?;
    let body = body.object()?;
    if body.contains_key("queries") {
        array(&body, "queries")?;
        let reason = "The `queries` parameter is no longer supported at this endpoint";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    if body.contains_key("keys") {
        array(&body, "keys")?;
    }
    let mut query = Query::default();
    query.read_body(&body)?;
    query.read_url(params.pairs())?;
    let answer = begin(&server, &view, &design, vec![query]).await?;
    Listing::new(view.db, answer).answer().await
}

/// `POST /db/_design/design/_view/view/queries`: several queries at once.
pub async fn view_queries(
    State(server): State<Arc<Server>>,
    view: ViewOf,
    params: Params,
    body: Question,
) -> HttpResult {
    let design = server.views.design(&view.db, &view.id)?;
    let body = body.object()?;
    if !body.contains_key("queries") {
        let reason = "POST body must include `queries` parameter.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    let mut common = Query::default();
    common.read_url(params.pairs())?;
    let (_, reducer) = design.view(&view.name)?;
    let mut queries = Vec::new();
    for fields in array(&body, "queries")? {
        let mut query = common.clone();
        (query.group, query.group_level) = (None, None);
        let wrong = || HttpError::BadRequest("a query must be an object".to_owned());
        query.read_body(fields.as_object().ok_or_else(wrong)?)?;
        query.check(reducer.is_some(), design.is_partitioned)?;
        queries.push(query);
    }
    let answers = begin(&server, &view, &design, queries).await?;
    Listing::new(view.db, answers).wrapped().answer().await
}

fn array<'a>(body: &'a Map<String, Value>, name: &str) -> HttpResult<&'a Vec<Value>> {
    let wrong = || HttpError::BadRequest(format!("`{name}` member must be an array."));
    body.get(name).and_then(Value::as_array).ok_or_else(wrong)
}

/// Checks all queries and begins to answer them.
async fn begin(
    server: &Server,
    view: &ViewOf,
    design: &Arc<Design>,
    mut queries: Vec<Query>,
) -> HttpResult<VecDeque<Answer>> {
    let ViewOf { db, id, name } = view;
    server.metrics.view_reads.fetch_add(1, Ordering::Relaxed);
    let (_, reducer) = design.view(name)?;
    let rows_max = rows_max(server, design.is_partitioned);
    for query in &mut queries {
        query.check(reducer.is_some(), design.is_partitioned)?;
        query.limit_to(rows_max)?;
    }
    let mut answers = VecDeque::with_capacity(queries.len());
    for query in queries {
        let reader = server.views.reader(db, id, design, query.update).await?;
        answers.push_back(reader.answer(name, query)?);
    }
    Ok(answers)
}

/// The answers to some queries, written page by page.
struct Listing {
    db: Database,
    answers: VecDeque<Answer>,
    has_head: bool,
    has_rows: bool,
    is_first: bool,
    /// Whether the answers are an array in an object.
    is_wrapped: bool,
    is_done: bool,
}

impl Listing {
    fn new(db: Database, answers: VecDeque<Answer>) -> Self {
        Listing {
            db,
            answers,
            has_head: false,
            has_rows: false,
            is_first: true,
            is_wrapped: false,
            is_done: false,
        }
    }

    fn wrapped(mut self) -> Self {
        self.is_wrapped = true;
        self
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_wrapped { b"\r\n]}\n" } else { b"\n" });
        self.is_done = true;
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
        let Some(answer) = self.answers.front_mut() else {
            self.finish(out);
            return Ok(());
        };
        let page = answer.page().await?;
        let is_done = answer.is_done();
        if !self.has_head {
            if !self.is_first {
                out.push(b',');
            }
            if self.is_wrapped {
                out.extend_from_slice(b"\r\n");
            }
            out.push(b'{');
            write_head_members(out, &self.db, &page);
            out.extend_from_slice(b"\"rows\":[");
            self.has_head = true;
        }
        for row in page.rows() {
            out.extend_from_slice(if self.has_rows { b",\r\n" } else { b"\r\n" });
            self.has_rows = true;
            write_row(out, row);
        }
        if is_done {
            out.extend_from_slice(b"\r\n]}");
            self.answers.pop_front();
            (self.has_head, self.has_rows, self.is_first) = (false, false, false);
            if self.answers.is_empty() {
                self.finish(out);
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Returns the head and all rows of a view for a list function: `{"head": {…}, "rows": […]}`.
///
/// # Errors
/// If there is no such view, the parameters are wrong, or the rows take too much memory.
pub async fn listed_view_rows(
    server: &Server,
    view: &ViewOf,
    params: &Params,
    body: &Map<String, Value>,
) -> HttpResult<String> {
    let design = server.views.design(&view.db, &view.id)?;
    let mut query = Query::default();
    query.read_body(body)?;
    query.read_url(params.pairs())?;
    let mut answers = begin(server, view, &design, vec![query]).await?;
    let mut out = Vec::new();
    let mut has_rows = false;
    while let Some(answer) = answers.front_mut() {
        let page = answer.page().await?;
        if out.is_empty() {
            out.extend_from_slice(b"{\"head\":{");
            write_head_members(&mut out, &view.db, &page);
            if out.last() == Some(&b',') {
                out.pop();
            }
            out.extend_from_slice(b"},\"rows\":[");
        }
        for row in page.rows() {
            if std::mem::replace(&mut has_rows, true) {
                out.push(b',');
            }
            write_row(&mut out, row);
        }
        check_listed(&out)?;
        if answer.is_done() {
            answers.pop_front();
        }
    }
    out.extend_from_slice(b"]}");
    listed(&view.db, out)
}

/// Writes the members before the rows, each with a comma after it.
fn write_head_members(out: &mut Vec<u8>, db: &Database, page: &Page) {
    if let Some((total, offset)) = page.counts {
        out.extend_from_slice(b"\"total_rows\":");
        write_integer(out, total);
        out.extend_from_slice(b",\"offset\":");
        write_integer(out, offset);
        out.push(b',');
    }
    if let Some(seq) = page.update_seq {
        out.extend_from_slice(b"\"update_seq\":");
        SeqFormat::new(db).write(out, seq);
        out.push(b',');
    }
}

fn write_row(out: &mut Vec<u8>, row: ViewRow<'_>) {
    let overflow = row.id.is_none().then(|| overflow_reason(row.value));
    if let Some(reason) = overflow.flatten() {
        out.extend_from_slice(b"{\"key\":null,\"error\":\"reduce_overflow_error\",\"reason\":");
        out.extend_from_slice(reason.as_bytes());
        out.push(b'}');
        return;
    }
    out.push(b'{');
    if let Some(id) = row.id {
        out.extend_from_slice(b"\"id\":");
        write_string(out, id);
        out.push(b',');
    }
    out.extend_from_slice(b"\"key\":");
    out.extend_from_slice(row.key.as_bytes());
    out.extend_from_slice(b",\"value\":");
    out.extend_from_slice(row.value.as_bytes());
    if let Some(doc) = row.doc {
        out.extend_from_slice(b",\"doc\":");
        out.extend_from_slice(doc.as_bytes());
    }
    out.push(b'}');
}

/// `GET /db/_design/design/_info`: the numbers of an index.
pub async fn view_info(State(server): State<Arc<Server>>, Doc { db, id }: Doc) -> HttpResult {
    let info = server.views.info(&db, &id)?;
    let name = id.strip_prefix("_design/").unwrap_or(&id);
    let mut index = json!({
        "signature": info.signature,
        "language": info.language,
        "sizes": {
            "file": info.file_bytes,
            "external": info.external_bytes,
            "active": info.active_bytes,
        },
        "updater_running": info.updater_running,
        "compact_running": info.compact_running,
        "collator_versions": [COLLATOR_VERSION],
        "waiting_commit": false,
        "waiting_clients": 0,
        "update_seq": info.update_seq,
        "purge_seq": info.purge_seq,
        "updates_pending": {
            "minimum": info.pending,
            "preferred": info.pending,
            "total": info.pending,
        },
    });
    // CouchDB has no such member.
    if let (count @ 1.., failed) = info.failed {
        let one = |one: Failed| json!({ "id": one.id, "reason": one.reason });
        let documents: Vec<Value> = failed.into_iter().map(one).collect();
        index["set_aside"] = json!({ "count": count, "documents": documents });
    }
    reply::json(
        StatusCode::OK,
        &json!({ "name": name, "view_index": index }),
    )
}

/// `POST /db/_compact/design`: frees space in an index, in the background.
pub async fn compact_views(
    State(server): State<Arc<Server>>,
    Doc { db, id }: Doc,
    _: JsonBody,
) -> HttpResult {
    let compaction = server.views.compaction(&db, &id)?;
    let mut fields = Map::new();
    fields.insert("database".into(), db.name().into());
    fields.insert("design_document".into(), id.as_str().into());
    let task = server.tasks.begin("view_compaction", fields);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = compaction.run() {
            tracing::error!(%error, database = db.name(), design = id, "the compaction of views failed");
        }
        drop((compaction, task));
    });
    Ok(reply::ok(StatusCode::ACCEPTED))
}

/// `POST /db/_view_cleanup`: removes indexes that no design document has.
pub async fn clean_up_views(
    State(server): State<Arc<Server>>,
    crate::http::target::Db(db): crate::http::target::Db,
    _: JsonBody,
) -> HttpResult {
    let views = server.views.clone();
    crate::http::blocking::blocking(move || views.clean_up(&db)).await??;
    Ok(reply::ok(StatusCode::ACCEPTED))
}

/// `_temp_view`: gone in CouchDB, too.
pub async fn temp_view() -> HttpError {
    HttpError::Gone("Temporary views are not supported in CouchDB".to_owned())
}
