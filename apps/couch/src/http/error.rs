//! Errors of requests in CouchDB's format: a status, an error and a reason.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The content type of JSON answers.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An error answer. Its text is the `reason`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // Each one's text says what it is.
pub enum HttpError {
    #[error("{0}")]
    BadRequest(String),
    #[error("invalid UTF-8 JSON")]
    BadJson(String),
    #[error("{0}")]
    Gone(String),
    #[error("Invalid value for {0}: {1}")]
    BadParameter(&'static str, String),
    #[error("{0}")]
    BadParameters(String),
    #[error("{0}")]
    BadDocumentId(String),
    #[error("{0}")]
    BadDocument(String),
    #[error("{0}")]
    InvalidDesign(String),
    #[error("{0}")]
    Uncompiled(String),
    #[error(
        "Name: '{0}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, -, and / are allowed. Must begin with a letter."
    )]
    BadDatabaseName(String),
    #[error("{0}")]
    LongDatabaseName(String),
    #[error("{0}")]
    Mango(crate::mango::Error),
    #[error("Invalid rev format or database name in the Destination header.")]
    BadDestination,
    #[error("{0}")]
    Unauthorized(String),
    #[error("Authentication required.")]
    UserRequired,
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    PartitionFull(String),
    #[error("missing")]
    DocumentMissing,
    #[error("deleted")]
    DocumentDeleted,
    #[error("Document is missing attachment")]
    AttachmentMissing,
    #[error("Database does not exist.")]
    DatabaseMissing,
    #[error("{0}")]
    NotFound(String),
    #[error("Only {0} allowed")]
    MethodNotAllowed(String),
    #[error("Document update conflict.")]
    Conflict,
    #[error("The database could not be created, the file already exists.")]
    DatabaseExists,
    #[error("{0}")]
    MissingStub(String),
    #[error("missing_rev")]
    RevisionMissing,
    #[error("{0}")]
    DocumentTooLarge(String),
    #[error("the request entity is too large")]
    BodyTooLarge,
    #[error("more than {0} documents in one request")]
    TooManyDocuments(usize),
    #[error("Content-Type must be {0}")]
    BadContentType(&'static str),
    #[error("Requested range not satisfiable")]
    BadRange {
        /// The attachment's.
        length_bytes: u64,
    },
    #[error("{0}")]
    Script(String),
    #[error("{1}")]
    Function(String, String),
    #[error("{0}")]
    ScriptTimeout(String),
    #[error("{0}")]
    ScriptsBusy(String),
    #[error("{0}")]
    NotImplemented(String),
    #[error("The client took too long to send its request.")]
    RequestTimeout,
    #[error("The server is busy with other requests; try again.")]
    Busy,
    #[error("{0}")]
    StorageFull(String),
    #[error("{1}")]
    Replication(&'static str, String),
    #[error("{0}")]
    Internal(String),
}

/// The result of a handler.
pub type HttpResult<T = Response> = Result<T, HttpError>;

impl HttpError {
    /// Returns the status and CouchDB's `error`. This is the only list of both.
    pub fn kind(&self) -> (StatusCode, &str) {
        use HttpError as E;
        use StatusCode as S;
        match self {
            E::BadRequest(_) | E::BadJson(_) => (S::BAD_REQUEST, "bad_request"),
            E::BadDestination => (S::BAD_REQUEST, "bad_request"),
            E::BadParameter(..) | E::BadParameters(_) => (S::BAD_REQUEST, "query_parse_error"),
            E::Gone(_) => (S::GONE, "gone"),
            E::BadDocumentId(_) => (S::BAD_REQUEST, "illegal_docid"),
            E::InvalidDesign(_) => (S::BAD_REQUEST, "invalid_design_doc"),
            E::Uncompiled(_) => (S::BAD_REQUEST, "compilation_error"),
            E::BadDocument(_) => (S::BAD_REQUEST, "doc_validation"),
            E::BadDatabaseName(_) => (S::BAD_REQUEST, "illegal_database_name"),
            E::LongDatabaseName(_) => (S::BAD_REQUEST, "database_name_too_long"),
            E::Mango(error) => (
                S::from_u16(error.status()).unwrap_or(S::BAD_REQUEST),
                error.name,
            ),
            E::Unauthorized(_) | E::UserRequired => (S::UNAUTHORIZED, "unauthorized"),
            E::PartitionFull(_) => (S::FORBIDDEN, "partition_overflow"),
            E::Forbidden(_) => (S::FORBIDDEN, "forbidden"),
            E::DocumentMissing | E::DocumentDeleted => (S::NOT_FOUND, "not_found"),
            E::AttachmentMissing | E::DatabaseMissing => (S::NOT_FOUND, "not_found"),
            E::NotFound(_) => (S::NOT_FOUND, "not_found"),
            E::MethodNotAllowed(_) => (S::METHOD_NOT_ALLOWED, "method_not_allowed"),
            E::RequestTimeout => (S::REQUEST_TIMEOUT, "timeout"),
            E::Conflict => (S::CONFLICT, "conflict"),
            E::DatabaseExists => (S::PRECONDITION_FAILED, "file_exists"),
            E::MissingStub(_) => (S::PRECONDITION_FAILED, "missing_stub"),
            E::RevisionMissing => (S::CONFLICT, "not_found"),
            E::DocumentTooLarge(_) => (S::PAYLOAD_TOO_LARGE, "document_too_large"),
            E::BodyTooLarge => (S::PAYLOAD_TOO_LARGE, "too_large"),
            E::TooManyDocuments(_) => (S::PAYLOAD_TOO_LARGE, "too_large"),
            E::BadContentType(_) => (S::UNSUPPORTED_MEDIA_TYPE, "bad_content_type"),
            E::BadRange { .. } => (S::RANGE_NOT_SATISFIABLE, "requested_range_not_satisfiable"),
            E::Script(_) => (S::INTERNAL_SERVER_ERROR, "compilation_error"),
            E::Function(name, _) => thrown(name),
            E::ScriptTimeout(_) => (S::INTERNAL_SERVER_ERROR, "os_process_error"),
            E::NotImplemented(_) => (S::NOT_IMPLEMENTED, "not_implemented"),
            E::Busy | E::ScriptsBusy(_) => (S::SERVICE_UNAVAILABLE, "service_unavailable"),
            E::StorageFull(_) => (S::INSUFFICIENT_STORAGE, "insufficient_storage"),
            E::Replication(name @ "invalid_replication", _) => (S::BAD_REQUEST, name),
            E::Replication(name, _) => (S::INTERNAL_SERVER_ERROR, name),
            E::Internal(_) => (S::INTERNAL_SERVER_ERROR, "internal_server_error"),
        }
    }

    /// Returns the body of the answer, or of a row in an answer with several rows.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut fields = serde_json::Map::new();
        fields.insert("error".into(), self.kind().1.into());
        fields.insert("reason".into(), self.to_string().into());
        if let HttpError::BadJson(detail) = self {
            fields.insert("detail".into(), detail.as_str().into());
        }
        fields
    }
}

/// The status of an error that a function threw by name.
fn thrown(name: &str) -> (StatusCode, &str) {
    let status = match name {
        "not_found" | "show_error" | "list_error" | "update_error" | "rewrite_error" => {
            StatusCode::NOT_FOUND
        }
        "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
        "not_acceptable" => StatusCode::NOT_ACCEPTABLE,
        "bad_request" => StatusCode::BAD_REQUEST,
        "forbidden" => StatusCode::FORBIDDEN,
        "unauthorized" => StatusCode::UNAUTHORIZED,
        "conflict" => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    (status, name)
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let (status, error) = self.kind();
        // An unsupported feature is not logged as an error.
        if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED {
            tracing::error!(%status, error, reason = %self, "request failed");
        }
        let mut body = serde_json::Value::Object(self.json()).to_string();
        body.push('\n');
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, JSON);
        let special = match &self {
            HttpError::MethodNotAllowed(allowed) => Some((header::ALLOW, allowed.clone())),
            HttpError::BadRange { length_bytes } => {
                Some((header::CONTENT_RANGE, format!("bytes */{length_bytes}")))
            }
            _ => None,
        };
        if let Some((name, value)) = special
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            headers.insert(name, value);
        }
        if status == StatusCode::UNAUTHORIZED {
            let reason = self.to_string();
            response.extensions_mut().insert(UnauthorizedReason(reason));
        }
        response
    }
}

/// The reason of an answer with the status 401. The gate adds to such answers how to log in.
#[derive(Debug, Clone)]
pub struct UnauthorizedReason(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[tokio::test]
    async fn an_error_is_couchdbs_json() {
        let response = HttpError::DocumentMissing.into_response();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        let body = to_bytes(response.into_body(), 1000).await.unwrap();
        assert_eq!(body, "{\"error\":\"not_found\",\"reason\":\"missing\"}\n");
    }

    #[test]
    fn special_headers_tell_what_would_do() {
        let allowed = HttpError::MethodNotAllowed("GET,HEAD".into()).into_response();
        assert_eq!(allowed.headers()[header::ALLOW], "GET,HEAD");
        let range = HttpError::BadRange { length_bytes: 5 }.into_response();
        assert_eq!(range.headers()[header::CONTENT_RANGE], "bytes */5");
    }
}
