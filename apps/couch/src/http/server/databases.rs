//! `/_all_dbs` and `/_dbs_info`.

use crate::http::body::Question;
use crate::http::info::info_json;
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::store::Error;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// `GET /_all_dbs`: the names.
pub async fn all_dbs(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    reply::json(StatusCode::OK, &names(&server, &params)?)
}

fn names(server: &Server, params: &Params) -> HttpResult<Vec<String>> {
    let descending = params.flag("descending")?;
    let key = |a, b| {
        params
            .json::<String>(a)
            .transpose()
            .or_else(|| params.json(b).transpose())
    };
    let start = key("startkey", "start_key").transpose()?;
    let end = key("endkey", "end_key").transpose()?;
    let inclusive = params.parsed("inclusive_end")?.unwrap_or(true);
    let mut names = server.databases.names()?;
    if descending {
        names.reverse();
    }
    let (low, high) = if descending {
        (&end, &start)
    } else {
        (&start, &end)
    };
    names.retain(|name| {
        low.as_ref().is_none_or(|low| name >= low)
            && high.as_ref().is_none_or(|high| name <= high)
            && (inclusive || end.as_ref() != Some(name))
    });
    let skip = params.parsed("skip")?.unwrap_or(0);
    let limit = params.parsed("limit")?.unwrap_or(usize::MAX);
    Ok(names.into_iter().skip(skip).take(limit).collect())
}

/// `GET /_dbs_info`: the numbers of all databases.
pub async fn dbs_info(State(server): State<Arc<Server>>, params: Params) -> HttpResult {
    let names = names(&server, &params)?;
    reply::json(StatusCode::OK, &infos(&server, &names)?)
}

#[derive(Deserialize)]
struct Keys {
    keys: Option<Vec<String>>,
}

/// The maximum number of databases per request, as in CouchDB.
const KEYS_MAX: usize = 100;

/// `POST /_dbs_info`: the numbers of some databases.
pub async fn dbs_info_of(
    State(server): State<Arc<Server>>,
    Question(body): Question,
) -> HttpResult {
    let Keys { keys } = body.json()?;
    let missing = || HttpError::BadRequest("`keys` member must exist.".to_owned());
    let keys = keys.ok_or_else(missing)?;
    if keys.len() > KEYS_MAX {
        return Err(HttpError::BadRequest("too_many_keys".to_owned()));
    }
    reply::json(StatusCode::OK, &infos(&server, &keys)?)
}

fn infos(server: &Server, names: &[String]) -> HttpResult<Vec<Value>> {
    let info = |name: &String| match server.databases.get(name).and_then(|db| db.info()) {
        Ok(info) => Ok(json!({ "key": name, "info": info_json(&info) })),
        Err(Error::DatabaseMissing | Error::IllegalDatabaseName(_) | Error::Closed) => {
            Ok(json!({ "key": name, "error": "not_found" }))
        }
        Err(error) => Err(error.into()),
    };
    names.iter().map(info).collect()
}
