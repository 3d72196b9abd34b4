//! Drafts an experiment, or the questions of a prediction, from a schema: from DDL, or from a database and its rows.

mod apply;
mod catalog;
mod class;
mod collation;
mod ddl;
mod distinct;
mod draft;
mod key;
mod limits;
mod question;
mod recipe;
mod references;
mod script;
mod stored;
mod together;
mod toml_text;

pub use catalog::{Catalog, Note};
pub(crate) use ddl::{Shape, Type, create};
pub use draft::{Draft, Wishes, draft};
pub use question::{Asked, Forecast, forecast};

#[cfg(test)]
mod tests;
