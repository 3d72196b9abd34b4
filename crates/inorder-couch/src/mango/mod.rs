//! Finding documents by what is in them: CouchDB's Mango.

use serde_json::Value;

/// What is wrong with a query; `name` and the message are CouchDB's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{message}")]
pub struct Error {
    /// CouchDB's name for the error, such as `invalid_operator` or `no_usable_index`.
    pub name: &'static str,
    /// What is wrong, where.
    pub message: String,
}

/// A condition on documents.
#[derive(Clone, Debug)]
pub struct Selector {}

impl Selector {
    /// Reads a selector as clients write it.
    ///
    /// # Errors
    /// When an operator is unknown, has a wrong argument, or the selector is too deep.
    pub fn from_json(selector: &Value) -> Result<Selector, Error> {
        todo!("{selector}")
    }

    /// Whether a document is meant.
    pub fn matches(&self, document: &crate::store::Document) -> bool {
        todo!("{document:?}")
    }
}

/// A query, as `_find` and `_explain` get it.
#[derive(Clone, Debug)]
pub struct FindQuery {}

impl FindQuery {
    /// Reads the body of `_find` or `_explain`.
    ///
    /// # Errors
    /// When something of it is not right.
    pub fn from_json(body: &Value) -> Result<FindQuery, Error> {
        todo!("{body}")
    }
}

/// What a query found.
#[derive(Clone, Debug, PartialEq)]
pub struct FindPage {
    /// The documents, each as a JSON object, with only the fields that were asked for.
    pub docs: Vec<String>,
    /// Where the next page begins.
    pub bookmark: String,
    /// What to tell whoever asked, such as that no index served.
    pub warning: Option<String>,
    /// What it cost, when asked for.
    pub execution_stats: Option<Value>,
}

impl FindPage {
    /// The answer as `_find` gives it.
    pub fn to_json(&self) -> String {
        todo!()
    }
}

/// How a query would be answered, as `_explain` shows it.
pub type Explanation = Value;

/// An index that is to be, as `POST _index` gets it.
#[derive(Clone, Debug)]
pub struct IndexDefinition {}

impl IndexDefinition {
    /// Reads the body of `POST _index`.
    ///
    /// # Errors
    /// When something of it is not right, or the type is not `json`.
    pub fn from_json(body: &Value) -> Result<IndexDefinition, Error> {
        todo!("{body}")
    }
}

/// What became of an index that was to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWritten {
    /// The design document, with `_design/`.
    pub id: String,
    /// The name.
    pub name: String,
    /// Whether it is new, rather than there already.
    pub created: bool,
}

/// An index, as `GET _index` lists it.
#[derive(Clone, Debug)]
pub struct Index {}

impl Index {
    /// The index as `GET _index` shows it.
    pub fn to_json(&self) -> Value {
        todo!()
    }
}

use crate::store::Result as StoreResult;
use rusqlite::Connection;

pub(crate) fn register(_connection: &Connection) -> rusqlite::Result<()> {
    Ok(())
}

pub(crate) fn design_changed(_connection: &Connection, _id: &str) -> StoreResult<()> {
    Ok(())
}

pub(crate) fn find(_connection: &Connection, query: &FindQuery) -> StoreResult<FindPage> {
    todo!("{query:?}")
}

pub(crate) fn explain(
    _connection: &Connection,
    name: &str,
    query: &FindQuery,
) -> StoreResult<Explanation> {
    todo!("{name} {query:?}")
}

pub(crate) fn indexes(_connection: &Connection) -> StoreResult<Vec<Index>> {
    todo!()
}

pub(crate) fn create_index(
    _connection: &Connection,
    definition: &IndexDefinition,
) -> StoreResult<(IndexWritten, Option<u64>)> {
    todo!("{definition:?}")
}

pub(crate) fn delete_index(
    _connection: &Connection,
    design_document: &str,
    name: &str,
) -> StoreResult<((), Option<u64>)> {
    todo!("{design_document} {name}")
}
