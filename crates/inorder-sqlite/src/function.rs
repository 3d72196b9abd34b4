//! SQL functions: name, argument, properties and implementation.

use crate::Error;
use crate::read::Value;
use inorder_key::{Ulid, Uuid};
use rusqlite::Connection;

/// An SQL function.
#[derive(Debug)]
pub struct Function {
    /// Name in SQL. Functions of the same name differ in their arguments.
    pub name: &'static str,
    /// Name of the only argument, if there is one.
    pub argument: Option<&'static str>,
    /// Whether equal arguments give equal results (deterministic). SQLite then allows the function in indexes and
    /// generated columns.
    pub is_deterministic: bool,
    /// Description of the result.
    pub what: &'static str,
    pub(crate) body: Body,
}

/// Implementation of a function.
#[derive(Debug)]
pub(crate) enum Body {
    /// Takes no argument.
    Make(fn() -> Result<Output, Error>),
    /// Takes one argument that is not NULL.
    Read(fn(Value<'_>) -> Result<Output, Error>),
    /// Takes a database: the one that the argument names, or all that the transaction writes.
    MakeIn(fn(&Connection, Option<Value<'_>>) -> Result<Output, Error>),
}

/// Result of a function.
#[derive(Debug)]
pub(crate) enum Output {
    Null,
    Integer(i64),
    Id([u8; 16]),
    UlidText([u8; Ulid::TEXT_BYTES]),
    UuidText([u8; Uuid::TEXT_BYTES]),
    Hex([u8; 32]),
    Blob(Vec<u8>),
    Text(String),
}

impl Function {
    /// Returns the signature: `ulid_text(x)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.argument.unwrap_or_default())
    }

    pub(crate) const fn make(
        name: &'static str,
        what: &'static str,
        body: fn() -> Result<Output, Error>,
    ) -> Self {
        Self {
            name,
            argument: None,
            is_deterministic: false,
            what,
            body: Body::Make(body),
        }
    }

    pub(crate) const fn make_in(
        name: &'static str,
        argument: Option<&'static str>,
        what: &'static str,
        body: fn(&Connection, Option<Value<'_>>) -> Result<Output, Error>,
    ) -> Self {
        Self {
            argument,
            body: Body::MakeIn(body),
            ..Self::make(name, what, || Ok(Output::Null))
        }
    }

    /// Creates a function whose results are random.
    pub(crate) const fn draw(
        name: &'static str,
        argument: &'static str,
        what: &'static str,
        body: fn(Value<'_>) -> Result<Output, Error>,
    ) -> Self {
        Self {
            name,
            argument: Some(argument),
            is_deterministic: false,
            what,
            body: Body::Read(body),
        }
    }

    pub(crate) const fn convert(
        name: &'static str,
        argument: &'static str,
        what: &'static str,
        body: fn(Value<'_>) -> Result<Output, Error>,
    ) -> Self {
        Self {
            is_deterministic: true,
            ..Self::draw(name, argument, what, body)
        }
    }
}
