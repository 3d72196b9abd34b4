//! What is asked of `_changes`.

use crate::http::document::shown_options;
use crate::http::params::Params;
use crate::http::seq::SeqFormat;
use crate::http::{HttpError, HttpResult};
use crate::store::{Changes, Database, Style};
use axum::http::HeaderMap;
use serde_json::{Map, Value};
use std::time::Duration;

/// How the changes are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Those there are.
    Normal,
    /// Those there are, or else the next.
    Longpoll,
    /// Those there are and all that follow, a line each.
    Continuous,
    /// The same, as a browser's `EventSource` reads them.
    EventSource,
}

/// A feed that says nothing for that long ends, or shows that it lives.
const QUIET_DEFAULT: Duration = Duration::from_secs(60);

/// Nobody needs signs of life more often.
const HEARTBEAT_MIN: Duration = Duration::from_millis(10);

/// The question, and how its answer is told.
#[derive(Debug)]
pub struct Asked {
    pub kind: Kind,
    pub question: Changes,
    /// At most so many changes in all.
    pub limit: Option<u64>,
    /// Signs of life, instead of an end.
    pub heartbeat: Option<Duration>,
    /// The end of a feed that says nothing.
    pub timeout: Duration,
}

impl Asked {
    /// From the URL, the body of a POST, and the header by which an `EventSource` resumes.
    pub fn read(
        db: &Database,
        params: &Params,
        body: &Map<String, Value>,
        headers: &HeaderMap,
    ) -> HttpResult<Self> {
        let kind = match params.get("feed").unwrap_or("normal") {
            "normal" => Kind::Normal,
            "longpoll" => Kind::Longpoll,
            "continuous" | "live" => Kind::Continuous,
            "eventsource" => Kind::EventSource,
            other => return Err(HttpError::BadParameter("feed", other.to_owned())),
        };
        let resumed = headers
            .get("Last-Event-ID")
            .and_then(|value| value.to_str().ok());
        let resumed = resumed.or(params.get("last-event-id"));
        let since = resumed.or(params.get("since"));
        let style = match params.get("style").unwrap_or("main_only") {
            "main_only" => Style::MainOnly,
            "all_docs" => Style::AllDocs,
            other => return Err(HttpError::BadParameter("style", other.to_owned())),
        };
        // CouchDB takes 0 for 1, too.
        let limit = params.parsed::<u64>("limit")?.map(|limit| limit.max(1));
        let include_docs = if params.flag("include_docs")? {
            Some(shown_options(params)?)
        } else {
            None
        };
        let millis = params.parsed("timeout")?.map(Duration::from_millis);
        Ok(Asked {
            kind,
            limit,
            heartbeat: heartbeat(params)?,
            timeout: millis.unwrap_or(QUIET_DEFAULT).min(QUIET_DEFAULT),
            question: Changes {
                since: since_seq(db, since)?,
                descending: params.flag("descending")?,
                style,
                doc_ids: doc_ids(params, body)?,
                design_only: params.get("filter") == Some("_design"),
                include_docs,
                ..Changes::default()
            },
        })
    }
}

fn heartbeat(params: &Params) -> HttpResult<Option<Duration>> {
    match params.get("heartbeat") {
        None | Some("false") => Ok(None),
        Some("true") => Ok(Some(QUIET_DEFAULT)),
        Some(text) => match text.parse() {
            Ok(0) | Err(_) => Err(HttpError::BadParameter("heartbeat", text.to_owned())),
            Ok(millis) => Ok(Some(Duration::from_millis(millis).max(HEARTBEAT_MIN))),
        },
    }
}

fn since_seq(db: &Database, since: Option<&str>) -> HttpResult<u64> {
    match since {
        None | Some("") => Ok(0),
        Some("now") => Ok(*db.watch().borrow()),
        Some(text) => SeqFormat::new(db)
            .parse(text)
            .ok_or_else(|| HttpError::BadParameter("since", text.to_owned())),
    }
}

fn doc_ids(params: &Params, body: &Map<String, Value>) -> HttpResult<Option<Vec<String>>> {
    if params.get("filter") != Some("_doc_ids") {
        return Ok(None);
    }
    let wrong = || HttpError::BadRequest("`doc_ids` must be a list of strings.".to_owned());
    match body.get("doc_ids") {
        Some(ids) => serde_json::from_value(ids.clone())
            .map(Some)
            .map_err(|_| wrong()),
        None => params.json("doc_ids")?.map(Some).ok_or_else(wrong),
    }
}
