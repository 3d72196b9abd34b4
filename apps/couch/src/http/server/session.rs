//! `/_session`: logging in and out.

use crate::auth::{AuthError, Credentials, User};
use crate::http::body::Received;
use crate::http::error::UnauthorizedReason;
use crate::http::params::Params;
use crate::http::{HttpError, HttpResult, Server, client, password_upgrade, reply};
use axum::Extension;
use axum::extract::{FromRequest, Request, State};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// `GET /_session`: the user of the request.
pub async fn session(
    State(server): State<Arc<Server>>,
    Extension(user): Extension<User>,
    params: Params,
) -> HttpResult {
    if user.name().is_none() && params.get("basic") == Some("true") {
        return Err(HttpError::Unauthorized("Please login.".to_owned()));
    }
    let policy = server.auth.policy();
    let handlers = policy.handlers.iter().map(|handler| handler.name());
    let mut info = json!({ "authentication_handlers": handlers.collect::<Vec<_>>() });
    if let Some(handler) = user.handler() {
        info["authenticated"] = handler.name().into();
    }
    if let Some(database) = &policy.users_database_shown {
        info["authentication_db"] = database.as_str().into();
    }
    let context = json!({ "name": user.name(), "roles": user.roles() });
    let body = json!({ "ok": true, "userCtx": context, "info": info });
    reply::json(StatusCode::OK, &body)
}

/// `POST /_session`: begins a session; name and password come as a form or as JSON. `next` and `fail` name the pages that a
/// browser is sent to.
pub async fn login(
    State(server): State<Arc<Server>>,
    params: Params,
    request: Request,
) -> HttpResult {
    let client = client::client(&request);
    let is_tls = client::is_tls(request.extensions());
    let headers = request.headers().clone();
    let is_secure = server.is_secure(&headers, is_tls);
    let body = Received::from_request(request, &server).await?;
    let fields = Fields::read(&headers, &body)?;
    let name = fields.name()?;
    let password = fields.get("password").unwrap_or_default();
    let login = Credentials {
        name,
        password,
        token: fields.get("token").unwrap_or_default(),
    };
    let login = server
        .auth
        .login(&login, client, is_secure, &server.accounts)
        .await;
    let (mut response, cookie, page) = match login {
        Ok(login) => {
            if login.is_outdated {
                password_upgrade::upgrade(&server, name, password.to_owned());
            }
            let user = login.user;
            let body = json!({ "ok": true, "name": user.name(), "roles": user.roles() });
            let response = reply::json(StatusCode::OK, &body)?;
            (response, login.cookie, "next")
        }
        Err(error @ AuthError::WrongPassword) => {
            let mut response = HttpError::from(error).into_response();
            // The client knows how to log in.
            response.extensions_mut().remove::<UnauthorizedReason>();
            (response, server.auth.logout_cookie(is_secure), "fail")
        }
        Err(error) => return Err(error.into()),
    };
    reply::set(&mut response, header::SET_COOKIE, &cookie);
    let origin = server.origin(&headers, is_tls);
    redirect(&mut response, &origin, params.get(page))?;
    Ok(response)
}

/// `DELETE /_session`: ends a session.
pub async fn logout(
    State(server): State<Arc<Server>>,
    params: Params,
    headers: HeaderMap,
    extensions: Extensions,
) -> HttpResult {
    let is_tls = client::is_tls(&extensions);
    let mut response = reply::ok(StatusCode::OK);
    let cookie = server
        .auth
        .logout_cookie(server.is_secure(&headers, is_tls));
    reply::set(&mut response, header::SET_COOKIE, &cookie);
    let origin = server.origin(&headers, is_tls);
    redirect(&mut response, &origin, params.get("next"))?;
    Ok(response)
}

/// Redirects a browser to a page of this server.
///
/// # Errors
/// If the page is no path.
fn redirect(response: &mut Response, origin: &str, page: Option<&str>) -> HttpResult<()> {
    let Some(page) = page else {
        return Ok(());
    };
    if !page.starts_with('/') {
        let reason = "path must begin with a /.";
        return Err(HttpError::BadRequest(reason.to_owned()));
    }
    *response.status_mut() = StatusCode::FOUND;
    reply::set(response, header::LOCATION, &format!("{origin}{page}"));
    Ok(())
}

/// The body of a login.
struct Fields(Params);

impl Fields {
    fn read(headers: &HeaderMap, body: &Received) -> HttpResult<Self> {
        let content_type = headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        if content_type.starts_with("application/x-www-form-urlencoded") {
            return Ok(Fields(Params::parse(body.text()?)));
        }
        if !content_type.starts_with("application/json") {
            return Err(HttpError::BadContentType(
                "'application/x-www-form-urlencoded' or 'application/json'",
            ));
        }
        let mut fields = Params::default();
        for (name, value) in body.json::<Map<String, Value>>()? {
            match value {
                Value::String(text) => fields.push(name, text),
                _ => {
                    let reason = format!("the value of {name} must be a string");
                    return Err(HttpError::BadRequest(reason));
                }
            }
        }
        Ok(Fields(fields))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)
    }

    fn name(&self) -> HttpResult<&str> {
        let bad = |reason: &str| HttpError::BadRequest(reason.to_owned());
        match (self.get("name"), self.get("username")) {
            (None, None) => Err(bad("request body must contain a username")),
            (Some(name), Some(other)) if name != other => {
                Err(bad("request body contains different usernames"))
            }
            (Some(name), _) | (None, Some(name)) => Ok(name),
        }
    }
}
