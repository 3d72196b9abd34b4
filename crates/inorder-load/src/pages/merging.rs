//! Decides whether the rows of a load are merged with those that a table has: its trees are then built again.

use rusqlite::Connection;

use crate::job::{OnDuplicate, WriterChoice};
use crate::raw_pages::RawPages;
use crate::schema::{Case, IndexInfo, Reason, indexes};
use crate::sql::quoted;

/// Whether the table has rows that stay.
fn has_rows(case: &Case<'_>) -> rusqlite::Result<bool> {
    let Some(database) = case.goal.kept() else {
        return Ok(false);
    };
    let any = format!(
        "SELECT EXISTS (SELECT 1 FROM main.{})",
        quoted(&case.scratch.table)
    );
    database.query_row(&any, [], |row| row.get(0))
}

/// Why rows are merged with those of a table; `None` if it has none. A function of the reasons against it comes before.
pub(super) fn reason_for(case: &Case<'_>) -> Reason {
    if !has_rows(case)? {
        return Ok(None);
    }
    Ok(Some(match case.job.writer {
        WriterChoice::Auto => compare(case)?.unwrap_or_else(|why| why),
        _ => "--writer direct".to_owned(),
    }))
}

/// Why rows are inserted into a table that has rows and not merged with them.
pub(super) fn reason_against(case: &Case<'_>) -> Reason {
    if !has_rows(case)? {
        return Ok(None);
    }
    let found = match why_impossible(case)? {
        None if case.job.writer == WriterChoice::Auto => compare(case)?.err(),
        found => found,
    };
    Ok(found.map(|why| format!("it already has rows, and {why}")))
}

fn why_impossible(case: &Case<'_>) -> Reason {
    let Case { goal, job, scratch } = case;
    let destination = goal.destination;
    if !goal.altered.is_empty() {
        return Ok(Some("columns are added".to_owned()));
    }
    if destination.key.is_empty() {
        return Ok(Some("it has no key".to_owned()));
    }
    if job.on_duplicate != OnDuplicate::Error {
        return Ok(Some(
            "a row may have the key of one of them (--on-duplicate)".to_owned(),
        ));
    }
    let parents = "SELECT \"table\" FROM pragma_foreign_key_list(?1)";
    let parents: Vec<String> = scratch.ask(parents, |row| row.get(0))?;
    if let Some(parent) = parents.first() {
        return Ok(Some(format!("it refers to the table {parent}")));
    }
    let indexes = indexes(scratch, destination)?;
    let index = indexes.iter().find(|index| index.is_left_to_sqlite());
    Ok(index.map(|index| format!("{} is partial or has an expression", index.name)))
}

/// The most pages of a tree that are estimated from one way down.
const DEPTH_MAX: usize = 20;

/// Smaller tables are not worth the free pages.
const PAGES_MIN: f64 = 64.0;

/// The interior pages of a tree, of which each has at least so many children in most trees.
const CHILDREN: f64 = 64.0;

/// Leaf pages that stay make a merge cheaper than inserts, which descend the tree for each row, if its interior pages are
/// few beside the new pages.
const FEW: f64 = 20.0;

/// Compares the pages that either way writes, but for those of the new rows. Returns the reason for a merge, or the one
/// against it.
///
/// An insert writes each leaf page that it changes twice: as it was to the journal, or as it is to the WAL, and to the
/// database. A merge writes all pages once, but for leaf pages that all new rows come after.
fn compare(case: &Case<'_>) -> rusqlite::Result<Result<String, String>> {
    let newcomers = case.goal.newcomers;
    let (Some(database), Some(rows)) = (case.goal.database, newcomers.rows) else {
        return Ok(Err(
            "how many come is not known before they are read".to_owned()
        ));
    };
    let destination = case.goal.destination;
    let roots = "SELECT rootpage, type = 'index' FROM main.sqlite_schema \
                 WHERE tbl_name = ?1 COLLATE NOCASE AND type IN ('table', 'index') AND rootpage > 1";
    let mut roots = database.prepare(roots)?;
    let roots = roots.query_map([&destination.table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let roots: Vec<(u32, bool)> = roots.collect::<rusqlite::Result<_>>()?;
    let has_rowid = !is_without_rowid(case)?;
    let inside = share_inside(case, database)?;
    let (mut all, mut merged, mut inserted) = (0.0, 0.0, 0.0);
    for (root, is_index) in roots {
        let pages = pages(database, root)?;
        all += pages;
        // Rows without a rowid get the next ones.
        let comes_last = has_rowid && !is_index && (destination.rowid.is_none() || inside == 0.0);
        if comes_last {
            merged += pages / CHILDREN;
            continue;
        }
        let is_key = !is_index || destination.rowid.is_none();
        let among = rows as f64 * if is_key { inside } else { 1.0 };
        merged += pages;
        // The leaves that rows in no order meet.
        inserted += 2.0 * pages * (1.0 - (-among / pages).exp());
    }
    if all < PAGES_MIN {
        return Ok(Err(format!("its {all:.0} pages are few")));
    }
    let pages =
        format!("inserts change about {inserted:.0} pages, a merge writes {merged:.0} again");
    let new = newcomers.bytes as f64 / destination.page_bytes.unwrap_or(4096) as f64;
    Ok(match inserted > merged || merged * FEW < new {
        true => Ok(pages),
        false => Err(pages),
    })
}

fn is_without_rowid(case: &Case<'_>) -> rusqlite::Result<bool> {
    let indexes = indexes(case.scratch, case.goal.destination)?;
    Ok(indexes.iter().any(IndexInfo::is_table))
}

/// The share of the first rows whose keys come before the last one of the table.
fn share_inside(case: &Case<'_>, database: &Connection) -> rusqlite::Result<f64> {
    let destination = case.goal.destination;
    let Some(part) = destination.key.first() else {
        return Ok(0.0);
    };
    let column = quoted(&destination.columns[part.column].name);
    let table = quoted(&destination.table);
    let later = match part.is_descending {
        true => "<",
        false => ">",
    };
    let is_inside = format!("SELECT EXISTS (SELECT 1 FROM main.{table} WHERE {column} {later} ?1)");
    let mut is_inside = database.prepare(&is_inside)?;
    let keys = &case.goal.newcomers.keys;
    let mut inside = 0u32;
    for key in keys {
        inside += u32::from(is_inside.query_row([key], |row| row.get::<_, bool>(0))?);
    }
    // Keys that are generated or counted come last.
    Ok(f64::from(inside) / keys.len().max(1) as f64)
}

/// About how many pages a tree has: as if all its pages had as many children as those on one way down.
fn pages(database: &Connection, root: u32) -> rusqlite::Result<f64> {
    let Some(raw) = RawPages::of(database)? else {
        return Ok(1.0);
    };
    let (mut number, mut pages) = (root, 1.0);
    for _ in 0..DEPTH_MAX {
        let page = raw.read(number)?;
        let at = |at: usize| page.get(at).copied().map_or(0, usize::from);
        let cells = at(3) << 8 | at(4);
        // Interior pages of an index and of a table.
        if !matches!(page.first(), Some(2 | 5)) || cells == 0 {
            break;
        }
        pages *= (cells + 1) as f64;
        let middle = 12 + cells / 2 * 2;
        let cell = at(middle) << 8 | at(middle + 1);
        let child = page
            .get(cell..cell + 4)
            .and_then(|child| child.first_chunk());
        number = child.map_or(root, |child| u32::from_be_bytes(*child));
    }
    Ok(pages)
}
