//! Drafts an experiment from a schema: from DDL, or from a database and its rows.

mod catalog;
mod class;
mod ddl;
mod draft;
mod key;
mod recipe;
mod together;

pub use catalog::Catalog;
pub use draft::{Draft, Wishes, draft};

#[cfg(test)]
mod tests;
