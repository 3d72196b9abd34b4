//! A database with changes, built page by page: records are copied as they are, and sorted where their key changes.

mod build;
mod digest;
mod extend;
mod join;
mod recipe;
mod shape;
mod sorting;
mod verify;

use std::fs::File;

use inorder_btree::Reader;
use rusqlite::Connection;

use super::Draft;
pub(crate) use build::Work;
pub(crate) use extend::{Extended, extend};
use recipe::Plans;

/// Why a file isn't built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Rows lack columns that were added later with a DEFAULT.
    #[error("rows lack a column that was added later")]
    ShortRow,
    /// The file that was built isn't what it should be.
    #[error("{0}")]
    Unproven(String),
    /// The disk is too small.
    #[error("the disk has no room for {needed_bytes} bytes")]
    NoRoom {
        /// What the new trees and their sorted runs need.
        needed_bytes: u64,
    },
    /// What was checked before isn't so.
    #[error("{0}")]
    Unforeseen(&'static str),
    /// Stop was asked for.
    #[error("stopped")]
    Stopped,
    /// The file can't be read or written.
    #[error(transparent)]
    Tree(#[from] inorder_btree::Error),
    /// Rows can't be spilled.
    #[error("sorting rows: {0}")]
    Spill(#[from] std::io::Error),
    /// SQLite can't read the schema.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// Schemas below this format ignore DESC.
const SCHEMA_FORMAT: u32 = 4;

/// Builds the file of a draft and returns the statements that complete it, or why it can't be built so. `source` is
/// the file itself, of which `connection` has a read transaction.
///
/// # Errors
/// [`Failure`] where reading, sorting or writing fails, or stop was asked for.
pub(crate) fn copy(
    connection: &Connection,
    source: &mut Reader,
    target: File,
    draft: &Draft,
    work: &Work<'_>,
) -> Result<Result<Vec<String>, String>, Failure> {
    if source.schema_format() != SCHEMA_FORMAT {
        return Ok(Err("its schema has an old format".to_owned()));
    }
    let plans = match Plans::new(connection, source, draft, work.settings.encoding)? {
        Ok(plans) => plans,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    let file = target.try_clone().map_err(Failure::Spill)?;
    let built = match build::build(source, &plans, target, work) {
        Ok(built) => built,
        Err(Failure::ShortRow) => return Ok(Err(Failure::ShortRow.to_string())),
        Err(failure) => return Err(failure),
    };
    if work.is_verified {
        let mut new = Reader::direct(file)?;
        verify::verify(&mut new, &plans, &built)?;
    }
    let mut statements = plans.statements_after;
    statements.extend(draft.statistics());
    Ok(Ok(statements))
}
