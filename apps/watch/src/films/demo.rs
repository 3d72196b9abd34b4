//! A hundred films and twenty series to begin with.

use super::{import, source::Source};
use crate::{
    Result,
    db::{Database, films},
};

const FILMS: &str = include_str!("demo.jsonl");

/// Adds them to a database without any films and series. Gives whether there were none.
///
/// # Errors
/// SQLite's error.
pub fn add_to_empty(database: &Database) -> Result<bool> {
    let is_empty = database.read(films::count)? == 0;
    if is_empty {
        import::import(database, Source::of_text(FILMS)?, |_| ())?;
    }
    Ok(is_empty)
}
