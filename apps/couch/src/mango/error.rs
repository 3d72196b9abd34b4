//! Errors of queries and index definitions.

use serde_json::Value;

/// The error of a query or an index; `name` and the message are CouchDB's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{message}")]
pub struct Error {
    /// CouchDB's name for the error, such as `invalid_operator` or `no_usable_index`.
    pub name: &'static str,
    /// The fault and its position.
    pub message: String,
}

/// The name of the error where a text index would be needed.
pub const SERVICE_UNAVAILABLE: &str = "required index service unavailable";

/// The name of the error where `limit` or `skip` of a list of indexes is out of range.
pub const INVALID_LIST: &str = "invalid_list_index_params";

/// Characters of a value that a message shows.
const SHOWN: usize = 200;

impl Error {
    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self.name {
            SERVICE_UNAVAILABLE => 503,
            INVALID_LIST => 500,
            _ => 400,
        }
    }

    pub(crate) fn new(name: &'static str, message: impl Into<String>) -> Self {
        Error {
            name,
            message: message.into(),
        }
    }

    pub(crate) fn invalid_key(name: &str) -> Self {
        Error::new(
            "invalid_key",
            format!("Invalid key {name} for this request."),
        )
    }

    pub(crate) fn missing_key(name: &str) -> Self {
        Error::new(
            "missing_required_key",
            format!("Missing required key: {name}"),
        )
    }

    pub(crate) fn invalid_string(value: &Value) -> Self {
        Error::new(
            "invalid_string",
            format!("Invalid string: {}", shown(value)),
        )
    }

    pub(crate) fn bad_argument(operator: &str, argument: &Value) -> Self {
        let argument = shown(argument);
        let message = format!("Bad argument for operator {operator}: {argument}");
        Error::new("bad_arg", message)
    }
}

/// A value as a message shows it: not too long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
