//! Advice for a terminal.

use super::{
    Look,
    lines::{Lines, MARGIN},
    words,
};
use crate::advice::{Advice, Item, Part, Verdict};
use std::fmt::Write as _;

/// Lines of one kind that are shown.
const PARTS_MAX: usize = 12;
/// Lines of look-ups of one item; JSON has all.
const LOOK_UPS_MAX: usize = 6;
/// Lines of what is left that are shown, the largest.
const LEFT_MAX: usize = 24;

pub(super) fn write(advice: &Advice, look: Look) -> String {
    let mut out = Lines::new(look);
    for line in words::alerts(advice) {
        out.wrapped(0, &line);
    }
    for lost in &advice.lost {
        out.entry("LOST", "31", &format!("{}: {}", lost.object, lost.reason));
        for note in &lost.notes {
            out.indented(note);
        }
        out.blank();
    }
    for line in words::heading(advice) {
        out.wrapped(0, &line);
    }
    out.blank();
    ids(advice, &mut out);
    for item in advice
        .items
        .iter()
        .filter(|item| item.verdict != Verdict::Leave)
    {
        action(item, advice, &mut out);
        out.blank();
    }
    let left: Vec<&Part> = advice
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Leave)
        .flat_map(|item| &item.parts)
        .collect();
    leave(&left, advice, &mut out);
    for line in words::summary(advice) {
        out.wrapped(0, &line);
    }
    let inserts = words::all_inserts(advice).map(|own| words::insert_cells(advice, own));
    out.table(0, &words::inserts_head(), &inserts.collect::<Vec<_>>());
    for line in words::queries(advice) {
        out.wrapped(0, &line);
    }
    out.text()
}

fn ids(advice: &Advice, out: &mut Lines) {
    let width = advice
        .ids
        .iter()
        .map(|line| line.column.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for (at, line) in advice.ids.iter().enumerate() {
        let begin = if at == 0 { "ids" } else { "" };
        let text = format!("{}  {}", line.in_words(), line.note);
        let column = format!("{:<width$}  ", line.column);
        out.row(begin, "1", &column, text.trim_end());
    }
    if !advice.ids.is_empty() {
        out.blank();
    }
    out.doubts(&advice.ids);
}

fn action(item: &Item, advice: &Advice, out: &mut Lines) {
    let mut line = words::title(item);
    if let (Some(saved), Some(percent)) = (item.saved_bytes, item.percent) {
        _ = write!(
            line,
            "   {}   {}   {}",
            words::figure(advice, words::change_of_bytes(saved)),
            words::change_of_percent(percent),
            words::safety(item)
        );
    }
    let color = match item.verdict {
        Verdict::Change => "32",
        Verdict::App => "33",
        _ => "36",
    };
    out.entry(words::verdict(item.verdict), color, line.trim_end());
    let width = item
        .parts
        .iter()
        .map(|part| part.candidate.object.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for part in item.parts.iter().take(PARTS_MAX) {
        let figure = part.measure.map_or(String::new(), |measure| {
            words::figure(advice, words::change_of_bytes(measure.saved_bytes))
        });
        let reason = &part.candidate.reason;
        match item.parts.len() {
            1 if words::title(item).contains(&part.candidate.object) => {
                out.indented(&format!("{reason}."))
            }
            _ => {
                let begin = format!("{:<width$}  {figure:>9}  ", part.candidate.object);
                out.row("", "", &begin, reason);
            }
        }
    }
    if item.parts.len() > PARTS_MAX {
        out.indented(&format!(
            "and {} more (--format json lists them)",
            item.parts.len() - PARTS_MAX
        ));
    }
    for inserts in item.parts.iter().filter_map(|part| part.inserts.as_ref()) {
        out.indented(&words::inserts(advice, inserts));
    }
    let look_ups = item.parts.iter().flat_map(|part| &part.look_ups);
    let look_ups = look_ups.take(LOOK_UPS_MAX).map(words::look_up_cells);
    out.table(MARGIN, words::LOOK_UPS, &look_ups.collect::<Vec<_>>());
    for note in words::notes(item) {
        out.indented(note);
    }
}

fn leave(parts: &[&Part], advice: &Advice, out: &mut Lines) {
    let width = parts
        .iter()
        .map(|part| words::action(part).chars().count())
        .max()
        .unwrap_or(0)
        .min(36);
    for (at, part) in parts.iter().take(LEFT_MAX).enumerate() {
        let begin = if at == 0 { "LEAVE" } else { "" };
        let tried = words::tried(part, advice).unwrap_or_default();
        let what = format!("{:<width$}  {tried:>14}  ", words::action(part));
        out.row(begin, "2", &what, &part.candidate.reason);
    }
    if parts.len() > LEFT_MAX {
        out.indented(&format!(
            "and {} more (--format json lists them)",
            parts.len() - LEFT_MAX
        ));
    }
    if !parts.is_empty() {
        out.blank();
    }
}
