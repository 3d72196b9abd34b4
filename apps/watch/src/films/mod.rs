//! Imports of films into the catalogue.

pub mod demo;
pub mod episodes;
pub mod import;
mod lines;
pub mod source;
