//! `/_session`: logging in and out.

use crate::auth::{Method, User};
use crate::http::body::Received;
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, reply};
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// `GET /_session`: the user of the request.
pub async fn session(Extension(user): Extension<User>) -> HttpResult {
    let mut info = json!({ "authentication_handlers": ["cookie", "default"] });
    if let User::Admin { method, .. } = &user {
        info["authenticated"] = match method {
            Method::Cookie { .. } => "cookie".into(),
            Method::Default => "default".into(),
        };
    }
    let context = json!({ "name": user.name(), "roles": user.roles() });
    let body = json!({ "ok": true, "userCtx": context, "info": info });
    reply::json(StatusCode::OK, &body)
}

#[derive(Deserialize)]
struct Credentials {
    #[serde(alias = "username")]
    name: String,
    password: String,
}

/// `POST /_session`: begins a session; name and password come as a form or as JSON.
pub async fn login(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    body: Received,
) -> HttpResult {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let is_json = content_type.is_some_and(|value| value.starts_with("application/json"));
    let Credentials { name, password } = if is_json {
        body.json()?
    } else {
        let form = Params::parse(body.text()?);
        let field = |name: &str| {
            let missing = || HttpError::BadRequest(format!("The form has no {name}."));
            form.get(name).map(str::to_owned).ok_or_else(missing)
        };
        Credentials {
            name: field("name").or_else(|_| field("username"))?,
            password: field("password")?,
        }
    };
    let user = server.auth.login(&name, &password).await?;
    let body = json!({ "ok": true, "name": user.name(), "roles": user.roles() });
    let mut response = reply::json(StatusCode::OK, &body)?;
    if let Some(cookie) = server.auth.session_cookie(&user) {
        reply::set(&mut response, header::SET_COOKIE, &cookie);
    }
    Ok(response)
}

/// `DELETE /_session`: ends a session.
pub async fn logout() -> HttpResult {
    let mut response = reply::ok(StatusCode::OK);
    let cookie = crate::auth::session::set_cookie("");
    reply::set(&mut response, header::SET_COOKIE, &cookie);
    Ok(response)
}
