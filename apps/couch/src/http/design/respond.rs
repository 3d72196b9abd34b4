//! Builds responses from the answers of functions.
//!
//! Source: `chttpd_external:parse_external_response`.

use crate::http::{HttpError, HttpResult, reply};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::Response;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

/// Headers that no function sets: those of the HTTP library, and those that concern the whole origin.
const OWN: &[&str] = &[
    "content-length",
    "transfer-encoding",
    "connection",
    "content-security-policy",
    "set-cookie",
];

/// The default content types: of a list function, and of other functions.
pub const JSON: &str = "application/json";
pub const HTML: &str = "text/html; charset=utf-8";

/// Builds a response from the object that a function returned and from further headers.
///
/// # Errors
/// If a member of the object is unknown, or its value has the wrong type.
pub fn response(
    status: StatusCode,
    content_type: &str,
    answer: &Value,
    headers: &[(&str, &str)],
) -> HttpResult {
    let empty = Map::new();
    let members = answer.as_object().unwrap_or(&empty);
    let wrong = |name: &str, value: &Value| {
        let reason = format!("Invalid data from external server: {name}: {value}");
        HttpError::Function("external_response_error".to_owned(), reason)
    };
    let mut status = status;
    let mut content_type = content_type;
    let mut body = Vec::new();
    for (name, value) in members {
        let bad = || wrong(name, value);
        match name.as_str() {
            "code" => {
                let code = value.as_u64().and_then(|code| u16::try_from(code).ok());
                let code = code.and_then(|code| StatusCode::from_u16(code).ok());
                status = code.ok_or_else(bad)?;
            }
            "json" => {
                body = value.to_string().into_bytes();
                body.push(b'\n');
                content_type = JSON;
            }
            "body" => body = value.as_str().ok_or_else(bad)?.as_bytes().to_vec(),
            "base64" => {
                let text = value.as_str().ok_or_else(bad)?;
                body = STANDARD.decode(text).map_err(|_| bad())?;
                content_type = "application/binary";
            }
            "headers" | "stop" => {}
            _ => return Err(bad()),
        }
    }
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    reply::set(&mut response, header::CONTENT_TYPE, content_type);
    // Untrusted answers run no scripts in the origin of the server.
    reply::set(&mut response, header::CONTENT_SECURITY_POLICY, "sandbox");
    let given = members.get("headers").and_then(Value::as_object);
    for (name, value) in given.into_iter().flatten() {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let name = HeaderName::try_from(name.as_str());
        if let Ok(name) = name
            && !OWN.contains(&name.as_str())
        {
            reply::set(&mut response, name, &text);
        }
    }
    for (name, value) in headers {
        if let Ok(name) = HeaderName::try_from(*name) {
            reply::set(&mut response, name, value);
        }
    }
    Ok(response)
}
