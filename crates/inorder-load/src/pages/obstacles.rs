//! What keeps a table from being written directly, in words. Each is a function here and a line in [`ALL`].

use inorder_btree::Collation;

use super::layout::{IndexInfo, indexes};
use super::scratch::{Operation, Scratch};
use super::{Goal, input_order};
use crate::load::{Job, OnDuplicate, Order};
use crate::sql::quoted;

/// A table and what is to be done with it.
pub(super) struct Case<'a> {
    pub(super) goal: &'a Goal<'a>,
    pub(super) scratch: &'a Scratch,
    pub(super) job: &'a Job,
}

/// A reason, where it is one.
pub(super) type Reason = rusqlite::Result<Option<String>>;

/// Every obstacle, the plainest first; later ones may take the earlier for absent.
const ALL: &[fn(&Case<'_>) -> Reason] = &[
    is_not_a_plain_table,
    has_rows,
    has_triggers,
    has_generated_columns,
    has_a_column_twice,
    is_not_sorted,
    has_an_index_nobody_here_can_order,
    has_a_unique_index_of_some_rows,
    input_order::first,
    replaces_null_by_default,
];

/// The first thing that is in the way.
pub(super) fn first(case: &Case<'_>) -> Reason {
    for obstacle in ALL {
        if let Some(reason) = obstacle(case)? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

fn is_not_a_plain_table(case: &Case<'_>) -> Reason {
    let kind = "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
    let kinds = case.scratch.ask(kind, |row| row.get::<_, String>(0))?;
    let is_own = case
        .scratch
        .table
        .to_ascii_lowercase()
        .starts_with("sqlite_");
    Ok(match kinds.first().map(String::as_str) {
        Some("table") if !is_own => None,
        Some("table") => Some("it is one of SQLite's own tables".to_owned()),
        Some(kind) => Some(format!("it is a {kind} table")),
        None => Some("its schema can't be made anew".to_owned()),
    })
}

fn has_rows(case: &Case<'_>) -> Reason {
    let (Some(database), None) = (case.goal.database, case.goal.created) else {
        return Ok(None);
    };
    let any = format!(
        "SELECT EXISTS (SELECT 1 FROM main.{})",
        quoted(&case.scratch.table)
    );
    let has_rows: bool = database.query_row(&any, [], |row| row.get(0))?;
    Ok(has_rows.then(|| "it has rows already".to_owned()))
}

fn has_triggers(case: &Case<'_>) -> Reason {
    let Some(database) = case.goal.database else {
        return Ok(None);
    };
    let list = "SELECT group_concat(name, ', ') FROM main.sqlite_schema \
                WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE";
    let names: Option<String> =
        database.query_row(list, [&case.scratch.table], |row| row.get(0))?;
    Ok(names.map(|names| format!("it has triggers ({names})")))
}

fn has_generated_columns(case: &Case<'_>) -> Reason {
    let list = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
    let names: Vec<String> = case.scratch.ask(list, |row| row.get(0))?;
    Ok((!names.is_empty()).then(|| format!("it has generated columns ({})", names.join(", "))))
}

fn has_a_column_twice(case: &Case<'_>) -> Reason {
    let indexes = indexes(case.scratch, case.goal.destination)?;
    let is_so = indexes.iter().any(IndexInfo::is_table_with_a_column_twice);
    Ok(is_so.then(|| "its primary key has a column twice, in different collations".to_owned()))
}

fn is_not_sorted(case: &Case<'_>) -> Reason {
    let is_keyed = !case.goal.destination.key.is_empty();
    Ok(match case.job.order {
        Order::Full => None,
        _ if !is_keyed => None,
        Order::Input => Some("rows are to stay in the order of the input (--order)".to_owned()),
        Order::Batch { .. } => Some("rows are to be sorted by batches alone (--order)".to_owned()),
    })
}

fn has_an_index_nobody_here_can_order(case: &Case<'_>) -> Reason {
    let unknown = |index: &IndexInfo| {
        let mut terms = index.terms.iter().filter(|_| !index.is_left_to_sqlite());
        let term = terms.find(|term| Collation::from_name(&term.collation).is_none())?;
        Some(format!(
            "{} is ordered by the collation {}",
            index.name, term.collation
        ))
    };
    Ok(indexes(case.scratch, case.goal.destination)?
        .iter()
        .find_map(unknown))
}

fn has_a_unique_index_of_some_rows(case: &Case<'_>) -> Reason {
    let indexes = indexes(case.scratch, case.goal.destination)?;
    let found = indexes
        .iter()
        .find(|index| index.is_unique && index.is_left_to_sqlite());
    Ok(found.map(|index| {
        format!(
            "the unique index {} is of an expression, or of some rows alone",
            index.name
        )
    }))
}

/// The code that a CHECK constraint halts with (`SQLITE_CONSTRAINT_CHECK`).
const CHECK: i64 = 275;

/// Whether the table has CHECK constraints.
pub(super) fn has_checks(scratch: &Scratch) -> rusqlite::Result<bool> {
    let program = scratch.insert_program("INSERT")?;
    let is_check =
        |operation: &Operation| operation.opcode == "Halt" && operation.operands[0] == CHECK;
    Ok(program.iter().any(is_check))
}

/// OR ABORT goes before what constraints say themselves, and is what they do otherwise.
pub(super) fn has_conflict_clauses(case: &Case<'_>) -> Reason {
    let own = case.scratch.insert_program("INSERT")?;
    let is_usual = own == case.scratch.insert_program("INSERT OR ABORT")?;
    Ok((!is_usual).then(|| "its constraints say themselves what happens on conflict".to_owned()))
}

/// How many keys may not occur twice.
pub(super) fn unique_keys(case: &Case<'_>) -> rusqlite::Result<usize> {
    let indexes = indexes(case.scratch, case.goal.destination)?;
    let unique = indexes.iter().filter(|index| index.is_unique).count();
    Ok(unique + usize::from(case.goal.destination.rowid.is_some()))
}

/// `INSERT OR REPLACE` puts the default where NULL isn't taken.
fn replaces_null_by_default(case: &Case<'_>) -> Reason {
    let columns = &case.goal.destination.columns;
    let filled = columns
        .iter()
        .find(|column| column.is_not_null && column.default.is_some());
    Ok(filled
        .filter(|_| case.job.on_duplicate == OnDuplicate::Replace)
        .map(|column| {
            format!(
                "NULL in {} becomes its default (--on-duplicate replace)",
                column.name
            )
        }))
}
