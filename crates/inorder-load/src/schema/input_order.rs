//! The reasons why the result of a load depends on the order of its rows. Such rows are written one by one in the order
//! of the input. Each reason is a function here and a line in [`ALL`].

use super::constraints::{has_conflict_clauses, unique_keys};
use super::{Case, Reason, first_reason};
use crate::job::OnDuplicate;
use crate::sql::quoted;

const ALL: &[fn(&Case<'_>) -> Reason] = &[
    runs_triggers,
    has_conflict_clauses,
    leaves_out_rows_by_another_key,
    fills_a_key_by_default,
];

/// The first reason.
pub(crate) fn reason(case: &Case<'_>) -> Reason {
    first_reason(ALL, case)
}

/// Triggers and the actions of foreign keys appear as `Program` opcodes in the program of an INSERT.
fn runs_triggers(case: &Case<'_>) -> Reason {
    let (Some(database), None) = (case.goal.database, case.goal.created) else {
        return Ok(None);
    };
    let destination = case.goal.destination;
    let (verb, cause) = match case.job.on_duplicate {
        OnDuplicate::Replace => (
            "INSERT OR REPLACE",
            "a trigger, or the action of a foreign key",
        ),
        _ => ("INSERT", "a trigger"),
    };
    let names: Vec<String> = destination
        .columns
        .iter()
        .filter(|column| {
            // Those that are added are not there yet.
            let altered = &case.goal.altered;
            !altered.iter().any(|altered| altered.column == column.name)
        })
        .map(|column| quoted(&column.name))
        .collect();
    let explain = format!(
        "EXPLAIN {verb} INTO main.{}({}) VALUES ({})",
        quoted(&destination.table),
        names.join(", "),
        vec!["NULL"; names.len()].join(", ")
    );
    database.execute_batch("PRAGMA foreign_keys = ON")?;
    let mut statement = database.prepare(&explain)?;
    let opcodes = statement.query_map([], |row| row.get::<_, String>(1))?;
    let opcodes: Vec<String> = opcodes.collect::<rusqlite::Result<_>>()?;
    let is_run = opcodes.iter().any(|opcode| opcode == "Program");
    Ok(is_run.then(|| format!("{cause} may depend on the order of the rows")))
}

fn leaves_out_rows_by_another_key(case: &Case<'_>) -> Reason {
    let is_one_enough = case.job.on_duplicate == OnDuplicate::Error || unique_keys(case)? <= 1;
    Ok((!is_one_enough).then(|| {
        "it has several unique keys, and the order of the rows decides which ones --on-duplicate omits".to_owned()
    }))
}

/// `INSERT OR REPLACE` stores the default in place of a NULL that is not allowed.
fn fills_a_key_by_default(case: &Case<'_>) -> Reason {
    let destination = case.goal.destination;
    let is_filled = |column: usize| {
        let info = &destination.columns[column];
        info.is_not_null && info.default.is_some() && destination.rowid != Some(column)
    };
    let filled = destination.key.iter().find(|part| is_filled(part.column));
    Ok(filled
        .filter(|_| case.job.on_duplicate == OnDuplicate::Replace)
        .map(|part| {
            let name = &destination.columns[part.column].name;
            format!("NULL in the key column {name} becomes its default (--on-duplicate replace)")
        }))
}
