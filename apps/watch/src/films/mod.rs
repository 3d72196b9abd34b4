//! Where films come from.

pub mod demo;
pub mod import;
pub mod source;
