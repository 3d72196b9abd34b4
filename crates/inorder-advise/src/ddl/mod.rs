//! Edits of schemas, as text that SQLite proves.

mod catalog;
mod conflict;
mod edit;
mod false_nulls;
mod prove;
mod table;
mod token;

pub(crate) use catalog::{Catalog, Column, Index, Term};
pub(crate) use conflict::{
    Clause, changes_in_other_order, changes_without, clauses, null_is_handled,
};
pub(crate) use edit::{
    index_as_key, literal, partial, quoted, renamed, retyped, same, unique_as_key, with_rowid,
    without_rowid, without_unique,
};
pub(crate) use false_nulls::{StoredColumn, false_report};
pub(crate) use prove::{Statements, prove};
pub(crate) use token::{Kind, Token, has_text, mentions, tokens, within_expression};
