//! The parameters of `_changes`.

use crate::http::document::shown_options;
use crate::http::feed::{Kind, Quiet};
use crate::http::params::Params;
use crate::http::seq::SeqFormat;
use crate::http::{HttpError, HttpResult};
use crate::store::{Changes, Database, Style};
use axum::http::HeaderMap;
use serde_json::{Map, Value};

/// The parameters of a changes feed.
#[derive(Debug)]
pub struct Asked {
    pub kind: Kind,
    pub question: Changes,
    /// The maximum number of changes in the answer.
    pub limit: Option<u64>,
    /// The behaviour while there are no changes.
    pub quiet: Quiet,
}

impl Asked {
    /// Reads the parameters from the URL, from the body of a POST, and from the header with which an `EventSource` resumes.
    pub fn read(
        db: &Database,
        params: &Params,
        body: &Map<String, Value>,
        headers: &HeaderMap,
    ) -> HttpResult<Self> {
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
        let include_docs = params
            .is_true("include_docs")
            .then(|| shown_options(params));
        let descending = params.is_true("descending");
        let since = since_seq(db, since)?;
        Ok(Asked {
            kind: Kind::read(params)?,
            limit: params.parsed("limit")?,
            quiet: Quiet::read(params)?,
            question: Changes {
                // As in CouchDB, a descending feed has all changes.
                since: if descending { 0 } else { since },
                descending,
                style,
                doc_ids: doc_ids(params, body)?,
                design_only: params.get("filter") == Some("_design"),
                include_docs,
                ..Changes::default()
            },
        })
    }
}

fn since_seq(db: &Database, since: Option<&str>) -> HttpResult<u64> {
    match since {
        None | Some("") => Ok(0),
        Some("now") => Ok(*db.watch().borrow()),
        Some(text) => SeqFormat::new(db).parse(text).ok_or_else(|| {
            let reason = "Malformed sequence supplied in 'since' parameter.";
            HttpError::BadRequest(reason.to_owned())
        }),
    }
}

fn doc_ids(params: &Params, body: &Map<String, Value>) -> HttpResult<Option<Vec<String>>> {
    if params.get("filter") != Some("_doc_ids") {
        return Ok(None);
    }
    let wrong =
        || HttpError::BadRequest("`doc_ids` filter parameter is not a list of doc ids.".to_owned());
    match body.get("doc_ids") {
        Some(ids) => serde_json::from_value(ids.clone())
            .map(Some)
            .map_err(|_| wrong()),
        None => params.json("doc_ids")?.map(Some).ok_or_else(wrong),
    }
}
