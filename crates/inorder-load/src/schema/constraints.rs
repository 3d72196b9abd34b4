//! The constraints of a table, read from the program that SQLite compiles an INSERT into.

use super::indexes::indexes;
use super::scratch::{Operation, Scratch};
use super::{Case, Reason};

/// The error code of a CHECK constraint (`SQLITE_CONSTRAINT_CHECK`).
const CHECK: i64 = 275;

/// Whether the table has CHECK constraints.
pub(crate) fn has_checks(scratch: &Scratch) -> rusqlite::Result<bool> {
    let program = scratch.insert_program("INSERT")?;
    let is_check =
        |operation: &Operation| operation.opcode == "Halt" && operation.operands[0] == CHECK;
    Ok(program.iter().any(is_check))
}

/// Whether constraints have conflict clauses: `OR ABORT`, which is the default, would override them.
pub(crate) fn has_conflict_clauses(case: &Case<'_>) -> Reason {
    let own = case.scratch.insert_program("INSERT")?;
    let is_usual = own == case.scratch.insert_program("INSERT OR ABORT")?;
    Ok((!is_usual).then(|| "its constraints have ON CONFLICT clauses".to_owned()))
}

/// The number of unique keys, including the rowid alias.
pub(crate) fn unique_keys(case: &Case<'_>) -> rusqlite::Result<usize> {
    let indexes = indexes(case.scratch, case.goal.destination)?;
    let unique = indexes.iter().filter(|index| index.is_unique).count();
    Ok(unique + usize::from(case.goal.destination.rowid.is_some()))
}
