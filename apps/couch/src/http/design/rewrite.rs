//! `_rewrite`: rules or a function of a design document say which request is meant.

use super::respond::{HTML, response};
use super::rules::{self, Rewritten};
use super::{body_of, call, design, path};
use crate::config::keys;
use crate::http::caller::Caller;
use crate::http::params::Params;
use crate::http::request::request_object;
use crate::http::resend::Routes;
use crate::http::rights::authorize;
use crate::http::target::Db;
use crate::http::{HttpError, HttpResult};
use crate::script::Function;
use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName, HeaderValue, Method, StatusCode, Uri};
use inorder_serve::{Detachable, IsTls};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::net::SocketAddr;
use tokio_util::task::AbortOnDropHandle;

/// The maximum number of times that a request is rewritten.
const REWRITES_MAX: usize = 100;

/// How often a request was rewritten.
#[derive(Clone, Copy, Default)]
struct Rewrites(usize);

/// `/db/_design/name/_rewrite/…`.
pub async fn rewrite(
    caller: Caller,
    Db(db): Db,
    Extension(routes): Extension<Routes>,
    request: Request,
) -> HttpResult {
    let (mut head, body) = request.into_parts();
    let Rewrites(count) = head.extensions.get().copied().unwrap_or_default();
    if count >= REWRITES_MAX {
        let reason = "Exceeded rewrite recursion limit";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    head.extensions.insert(Rewrites(count + 1));
    let path = path(&head);
    let [_, name, _, rest @ ..] = path.as_slice() else {
        return Err(invalid_path());
    };
    let (document, members) = design(&db, name)?;
    let prefix = format!(
        "/{}/_design/{}",
        utf8_percent_encode(db.name(), NON_ALPHANUMERIC),
        utf8_percent_encode(name, NON_ALPHANUMERIC)
    );
    let params = Params::parse(head.uri.query().unwrap_or_default());
    let mut body = body;
    let is_secure = caller.server.config.values().read(&keys::SECURE_REWRITES);
    let meant = match members.get("rewrites") {
        Some(Value::Array(list)) => {
            if is_secure && !rules::are_secure(list) {
                return Err(insecure());
            }
            let meant = rules::first(list, head.method.as_str(), rest, &params);
            meant.ok_or(HttpError::DocumentMissing)?
        }
        Some(Value::String(source)) => {
            let bytes = body_of(&caller, body).await?;
            let object = request_object(&caller, &db, &head, None, bytes.clone())?;
            let function = Function::new(source.clone(), document.body.clone());
            let answer = call(&caller, &db, &function, "rewrite", &object, "null").await?;
            let answer = &answer["rewrite"];
            if answer.is_null() {
                return Err(invalid_path());
            }
            if answer.get("code").is_some() {
                let mut answer = answer.clone();
                if let Some(members) = answer.as_object_mut() {
                    members.retain(|name, _| ["code", "body", "headers"].contains(&name.as_str()));
                }
                return response(StatusCode::OK, HTML, &answer, &[]);
            }
            let text = answer.get("body").and_then(Value::as_str);
            let text = text.or(bytes.as_ref().and_then(Value::as_str));
            body = Body::from(text.unwrap_or_default().to_owned());
            head.headers.remove("content-length");
            set_headers(&mut head, answer);
            by_function(answer, &params)?
        }
        _ => return Err(invalid_path()),
    };
    let is_function = members.get("rewrites").is_some_and(Value::is_string);
    let may_leave = is_function && only_reads(&head, &meant);
    if is_secure && !may_leave && !meant.is_within_database() {
        return Err(insecure());
    }
    send(&caller, head, body, &prefix, &meant, routes).await
}

/// Returns whether a rewritten request only reads. A function may name any path for it, as in CouchDB: the answer is for the user alone,
/// whose rights it needs.
fn only_reads(head: &Parts, meant: &Rewritten) -> bool {
    let method = meant.method.as_deref().unwrap_or(head.method.as_str());
    ["GET", "HEAD"].contains(&method)
}

/// Sends a rewritten request to the routes, with the rights of the user.
async fn send(
    caller: &Caller,
    mut head: Parts,
    body: Body,
    prefix: &str,
    meant: &Rewritten,
    routes: Routes,
) -> HttpResult {
    if let Some(method) = &meant.method {
        let bad = |_| HttpError::BadRequest(format!("Invalid method: {method}"));
        head.method = Method::from_bytes(method.as_bytes()).map_err(bad)?;
    }
    let uri = rules::normalized(&format!("{prefix}/{}", meant.path), &meant.query);
    head.uri = Uri::try_from(uri).map_err(|error| HttpError::BadRequest(error.to_string()))?;
    head.extensions = carried(&head.extensions, caller);
    // The path may lead to another database, or to what needs more rights.
    let (server, user) = (&caller.server, &caller.user);
    let admitted = authorize(
        server,
        &server.auth.policy(),
        user,
        &head.method,
        head.uri.path(),
    )?;
    if let Some(admitted) = admitted {
        head.extensions.insert(admitted);
    }
    // A task of its own: a hundred of them within each other would fill the stack.
    let meant = routes.answer(Request::from_parts(head, body));
    let task = AbortOnDropHandle::new(tokio::spawn(meant));
    task.await
        .map_err(|error| HttpError::Internal(error.to_string()))?
}

/// Returns the extensions that a request keeps on another path. The parameters of the old path are dropped.
fn carried(old: &Extensions, caller: &Caller) -> Extensions {
    let mut carried = Extensions::new();
    carried.insert(caller.user.clone());
    carried.insert(old.get::<Rewrites>().copied().unwrap_or_default());
    if let Some(peer) = old.get::<ConnectInfo<SocketAddr>>() {
        carried.insert(*peer);
    }
    if let Some(is_tls) = old.get::<IsTls>() {
        carried.insert(*is_tls);
    }
    if let Some(detachable) = old.get::<Detachable>() {
        carried.insert(detachable.clone());
    }
    carried
}

fn invalid_path() -> HttpError {
    HttpError::Function("rewrite_error".to_owned(), "Invalid path.".to_owned())
}

fn insecure() -> HttpError {
    let reason = "too many ../.. segments";
    HttpError::Function("insecure_rewrite_rule".to_owned(), reason.to_owned())
}

fn set_headers(head: &mut Parts, answer: &Value) {
    let headers = answer.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        let name = HeaderName::try_from(name.as_str());
        let value = HeaderValue::from_str(value.as_str().unwrap_or_default());
        if let (Ok(name), Ok(value)) = (name, value) {
            head.headers.insert(name, value);
        }
    }
}

/// Builds the request that a function returned.
fn by_function(answer: &Value, params: &Params) -> HttpResult<Rewritten> {
    let missing = || {
        let reason = "Rewrite result must produce a new path.";
        HttpError::Function("rewrite_error".to_owned(), reason.to_owned())
    };
    let path = answer.get("path").and_then(Value::as_str);
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let query = match answer.get("query").and_then(Value::as_object) {
        Some(query) => query
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        None => params
            .pairs()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    };
    Ok(Rewritten {
        path: path.ok_or_else(missing)?.trim_start_matches('/').to_owned(),
        query,
        method: answer
            .get("method")
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}
