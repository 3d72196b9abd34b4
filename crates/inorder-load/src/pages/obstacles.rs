//! The reasons why the direct page writer can't write a table. Each reason is a function and a line in [`ALL`].

use inorder_btree::Collation;

use super::merging;
use crate::job::{OnDuplicate, RowOrder};
use crate::schema::{Case, IndexInfo, Reason, children, first_reason, indexes, input_order_reason};

/// Every obstacle, the simplest first. A function may assume that the earlier ones don't apply.
const ALL: &[fn(&Case<'_>) -> Reason] = &[
    is_not_a_plain_table,
    is_emptied_and_referenced,
    updates_rows,
    has_triggers,
    has_generated_columns,
    has_a_column_twice,
    is_not_sorted,
    has_an_index_nobody_here_can_order,
    has_a_unique_index_of_some_rows,
    input_order_reason,
    replaces_null_by_default,
    merging::reason_against,
];

/// The first obstacle.
pub(super) fn first(case: &Case<'_>) -> Reason {
    first_reason(ALL, case)
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
        Some("table") => Some("it is an internal table of SQLite".to_owned()),
        Some(kind) => Some(format!("it is a {kind} table")),
        None => Some("its schema can't be recreated".to_owned()),
    })
}

/// Its old rows are deleted: SQLite counts the rows of other tables that are left without a parent.
fn is_emptied_and_referenced(case: &Case<'_>) -> Reason {
    let (Some(database), None) = (case.goal.database, case.goal.kept()) else {
        return Ok(None);
    };
    let there = "SELECT count(*) FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE";
    if 0 == database.query_row(there, [&case.scratch.table], |row| row.get::<_, i64>(0))? {
        return Ok(None);
    }
    let children = children(database, &case.scratch.table)?;
    let first = children.first();
    Ok(first.map(|child| format!("the table {} refers to it", child.table)))
}

fn updates_rows(case: &Case<'_>) -> Reason {
    let is_so = case.job.on_duplicate == OnDuplicate::Update;
    Ok(is_so.then(|| "rows may update rows (--on-duplicate update)".to_owned()))
}

fn has_triggers(case: &Case<'_>) -> Reason {
    // Those of a table that is created again are dropped with it.
    let (Some(database), None) = (case.goal.database, case.goal.created) else {
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
        RowOrder::Full => None,
        _ if !is_keyed => None,
        RowOrder::Input => Some("the rows keep the order of the input (--order)".to_owned()),
        RowOrder::Batch { .. } => {
            Some("the rows are sorted within batches only (--order)".to_owned())
        }
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
            "the unique index {} is partial or has an expression",
            index.name
        )
    }))
}

/// `INSERT OR REPLACE` stores the default in place of a NULL that is not allowed.
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
