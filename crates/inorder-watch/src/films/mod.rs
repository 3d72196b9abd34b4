//! Where films come from, and how they are found.

pub mod demo;
pub mod find;
pub mod import;
pub mod source;
mod spelling;
pub mod title;
