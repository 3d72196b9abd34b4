//! Edits of schemas, as text that SQLite proves.

mod catalog;
mod conflict;
mod edit;
mod prove;
mod table;
mod token;

pub(crate) use catalog::{Catalog, Column, Index, Term};
pub(crate) use conflict::{Clause, changes_in_other_order, changes_without, clauses};
pub(crate) use edit::{
    literal, partial, quoted, renamed, retyped, same, with_rowid, without_rowid, without_unique,
};
pub(crate) use prove::{Statements, prove};
pub(crate) use token::{Kind, Token, has_text, mentions, tokens, within_expression};
