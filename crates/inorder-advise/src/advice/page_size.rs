//! Whether another page size stays in the plan: what it costs inserts, and what it saves beside other layouts.

use super::{Item, Verdict, judge::ALONE_MIN_PERCENT};
use crate::{
    Change, Error,
    read::Table,
    rules::{Class, Group},
    trial::Trial,
};
use std::fs;

/// Inserts may write this many times the bytes that they write today, whatever the page size saves.
const WRITTEN_MAX: f64 = 1.25;

/// Of a page size that saves much, inserts may write this share more per share of the file that it saves.
const WRITTEN_PER_SAVED: f64 = 1.5;

/// Inserts are measured for so many tables, the largest ones.
const TABLES_MAX: usize = 3;

/// Leaves a page size that makes inserts write more. Of a page size and layouts that save the same bytes, leaves those
/// that are not needed.
pub(super) fn settle(trial: &Trial<'_>, items: &mut [Item], bytes: u64) -> Result<(), Error> {
    let is_chosen = |item: &Item| item.verdict == Verdict::Change;
    let is_size = |item: &Item| item.group == Group::PageSize && is_chosen(item);
    let is_layout = |item: &Item| {
        let layouts = [Group::WithoutRowid, Group::Rowid, Group::IntegerKey];
        layouts.contains(&item.group) && is_chosen(item)
    };
    let changes = |items: &[Item], is_taken: &dyn Fn(&Item) -> bool| -> Vec<Change> {
        let taken = items
            .iter()
            .filter(|item| is_chosen(item) && is_taken(item));
        taken.flat_map(Item::changes).cloned().collect()
    };
    if !items.iter().any(is_size) {
        return Ok(());
    }
    choose_size(trial, items)?;
    if !items.iter().any(is_size) || !items.iter().any(is_layout) {
        return Ok(());
    }
    // The simplest first: one that needs more has to save more.
    let sets = [
        changes(items, &|item| !is_size(item)),
        changes(items, &|item| !is_layout(item)),
        changes(items, &|_| true),
    ];
    match simplest(&sizes_of(trial, &sets)?, bytes) {
        0 => leave(items, is_size, "the other changes save as much without it"),
        1 => leave(items, is_layout, "another page size alone saves as much"),
        _ => {}
    }
    Ok(())
}

/// Of the page sizes that save enough, chooses the one that saves most among those that inserts don't write much more
/// with.
fn choose_size(trial: &Trial<'_>, items: &mut [Item]) -> Result<(), Error> {
    let saves_enough = |item: &&mut Item| {
        let percent = item.percent.unwrap_or(0.0);
        item.group == Group::PageSize && percent >= ALONE_MIN_PERCENT
    };
    let mut sizes: Vec<&mut Item> = items.iter_mut().filter(saves_enough).collect();
    sizes.sort_by_key(|item| std::cmp::Reverse(item.saved_bytes));
    let today = format!("pages of {} bytes today", trial.database.page_bytes);
    for item in sizes {
        let change: Vec<Change> = item.changes().cloned().collect();
        let times = written_times(trial, &change)?;
        let written_max = written_max(item.percent.unwrap_or(0.0));
        let is_taken = times.is_none_or(|times| times <= written_max);
        let verdict = match is_taken {
            true => Verdict::Change,
            false => Verdict::Leave,
        };
        let more = times.filter(|&times| times > WRITTEN_MAX);
        let more = more.map(|times| format!("inserts would write {times:.1} times the bytes"));
        item.verdict = verdict;
        item.parts[0].candidate.reason = match more {
            Some(more) if is_taken => format!("{today}; {more}"),
            Some(more) => more,
            None => today.clone(),
        };
        if is_taken {
            item.parts[0].candidate.class = Class::Safe;
            break;
        }
    }
    sort(items);
    Ok(())
}

/// How many times the bytes inserts may write with a page size that saves this share of the file.
fn written_max(saved_percent: f64) -> f64 {
    WRITTEN_MAX.max(1.0 + WRITTEN_PER_SAVED * saved_percent / 100.0)
}

/// The bytes of the file with each set of changes; none where it can't be made.
fn sizes_of(trial: &Trial<'_>, sets: &[Vec<Change>]) -> Result<Vec<Option<u64>>, Error> {
    let size = |set: &Vec<Change>| match trial.together(set, "page-size.db") {
        Ok((path, bytes)) => {
            _ = fs::remove_file(path);
            Ok(Some(bytes))
        }
        Err(Error::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    sets.iter().map(size).collect()
}

/// The first of some sizes that no later one is below by the threshold.
fn simplest(sizes: &[Option<u64>], bytes: u64) -> usize {
    let is_enough = |own: u64| {
        let saved_more = |other: &u64| 100.0 * (own as f64 - *other as f64) / bytes.max(1) as f64;
        let mut others = sizes.iter().flatten();
        others.all(|other| saved_more(other) < ALONE_MIN_PERCENT)
    };
    let enough = sizes.iter().position(|size| size.is_some_and(&is_enough));
    enough.unwrap_or(sizes.len())
}

/// How many times the bytes inserts into the largest tables write with a change; none where they can't be measured.
fn written_times(trial: &Trial<'_>, changes: &[Change]) -> Result<Option<f64>, Error> {
    let (path, _) = match trial.together(changes, "page-size.db") {
        Err(Error::Refused { .. }) => return Ok(None),
        made => made?,
    };
    let mut tables: Vec<&Table> = trial.database.tables.iter().collect();
    tables.sort_by_key(|table| std::cmp::Reverse(table.pages()));
    let (mut before, mut after) = (0.0, 0.0);
    for table in tables.into_iter().take(TABLES_MAX) {
        if let Some(inserts) = trial.inserts(&path, table)? {
            before += inserts.before.written_bytes as f64;
            after += inserts.after.written_bytes as f64;
        }
    }
    _ = fs::remove_file(path);
    Ok((before > 0.0).then_some(after / before))
}

fn leave(items: &mut [Item], is_left: impl Fn(&Item) -> bool, reason: &str) {
    for item in items.iter_mut().filter(|item| is_left(item)) {
        item.verdict = Verdict::Leave;
        for part in &mut item.parts {
            reason.clone_into(&mut part.candidate.reason);
        }
    }
    sort(items);
}

/// Puts items in the order in which a report shows them.
fn sort(items: &mut [Item]) {
    items.sort_by_key(|item| {
        (
            item.verdict,
            std::cmp::Reverse(item.saved_bytes.unwrap_or(0)),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_size_that_saves_much_may_write_more() {
        assert_eq!(written_max(3.0), WRITTEN_MAX);
        assert_eq!(written_max(10.0), WRITTEN_MAX);
        assert!((written_max(40.0) - 1.6).abs() < 1e-9);
    }

    #[test]
    fn more_changes_have_to_save_more() {
        let simplest = |sizes: [u64; 3]| simplest(&sizes.map(Some), 1000);
        assert_eq!(
            simplest([620, 607, 618]),
            0,
            "the sizes are nearly the same"
        );
        assert_eq!(
            simplest([950, 607, 618]),
            1,
            "the page size alone is enough"
        );
        assert_eq!(simplest([950, 607, 560]), 2, "both are needed");
        assert_eq!(super::simplest(&[None, Some(600), Some(590)], 1000), 1);
    }
}
