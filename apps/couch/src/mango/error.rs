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

/// Characters of a value that a message shows.
const SHOWN: usize = 200;

impl Error {
    pub(crate) fn new(name: &'static str, message: impl Into<String>) -> Self {
        Error {
            name,
            message: message.into(),
        }
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
