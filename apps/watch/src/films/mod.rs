//! Imports of films into the catalogue.

pub mod demo;
pub mod import;
pub mod source;
