//! Advice for a terminal.

use super::{Look, words};
use crate::advice::{Advice, Item, Part, Verdict};
use std::fmt::Write as _;

/// A narrower column of text is no column.
const COLUMN_MIN: usize = 28;
/// Columns of the verdict's word.
const MARGIN: usize = 8;
/// Lines of one kind that are shown.
const PARTS_MAX: usize = 12;
/// Lines of look-ups of one item; JSON has all.
const LOOK_UPS_MAX: usize = 6;
/// Lines of what is left that are shown, the largest.
const LEFT_MAX: usize = 24;

pub(super) fn write(advice: &Advice, look: Look) -> String {
    let mut out = Lines {
        text: String::new(),
        look,
    };
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
    out.text
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
        let text = format!("{}  {}", line.kind, line.note);
        let column = format!("{:<width$}  ", line.column);
        out.row(begin, "1", &column, text.trim_end());
    }
    if !advice.ids.is_empty() {
        out.blank();
    }
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

/// Text that is wrapped at the width of the terminal.
struct Lines {
    text: String,
    look: Look,
}

impl Lines {
    fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line behind a word in the margin.
    fn entry(&mut self, word: &str, color: &str, line: &str) {
        let gap = " ".repeat(MARGIN.saturating_sub(word.chars().count()));
        let lines = wrap(line, self.look.width.saturating_sub(MARGIN));
        for (at, line) in lines.iter().enumerate() {
            match at {
                0 if self.look.color && !word.is_empty() => {
                    _ = writeln!(self.text, "\u{1b}[{color}m{word}\u{1b}[0m{gap}{line}");
                }
                0 => _ = writeln!(self.text, "{}", format!("{word}{gap}{line}").trim_end()),
                _ => _ = writeln!(self.text, "{:MARGIN$}  {line}", ""),
            }
        }
    }

    /// A line whose text has a column of its own, or lines of its own where that would be narrow.
    fn row(&mut self, word: &str, color: &str, begin: &str, text: &str) {
        let indent = begin.chars().count();
        let width = self.look.width.saturating_sub(MARGIN + indent);
        if width < COLUMN_MIN {
            self.entry(word, color, begin.trim_end());
            self.wrapped(MARGIN + 2, text);
            return;
        }
        for (at, line) in wrap(text, width).iter().enumerate() {
            match at {
                0 => self.entry(word, color, &format!("{begin}{line}")),
                _ => _ = writeln!(self.text, "{:MARGIN$}{:indent$}{line}", "", ""),
            }
        }
    }

    /// Rows of cells under a line, the first cell to the left and the others to the right.
    fn table<const N: usize>(&mut self, indent: usize, head: &str, rows: &[[String; N]]) {
        if rows.is_empty() {
            return;
        }
        self.wrapped(indent, head);
        let widest = |at: usize| rows.iter().map(move |row| row[at].chars().count()).max();
        let widths: Vec<usize> = (0..N).map(|at| widest(at).unwrap_or(0)).collect();
        let is_wide = indent + widths.iter().sum::<usize>() + 2 * N <= self.look.width;
        for row in rows {
            let mut line = format!("{:<1$}", row[0], widths[0]);
            if !is_wide {
                self.wrapped(indent + 2, row[0].as_str());
                line.clear();
            }
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                _ = write!(line, "  {cell:>width$}");
            }
            _ = writeln!(self.text, "{:1$}{line}", "", indent + 2);
        }
    }

    fn indented(&mut self, line: &str) {
        self.wrapped(MARGIN, line);
    }

    fn wrapped(&mut self, indent: usize, line: &str) {
        for (at, part) in wrap(line, self.look.width.saturating_sub(indent))
            .iter()
            .enumerate()
        {
            let more = if at == 0 { 0 } else { 2 };
            _ = writeln!(self.text, "{:indent$}{:more$}{part}", "", "");
        }
    }
}

/// Breaks a line at blanks. Blanks within a line stay as they are.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let width = width.max(COLUMN_MIN);
    let mut lines = Vec::new();
    let mut rest = line;
    while rest.chars().count() > width {
        let end = rest
            .char_indices()
            .nth(width)
            .map_or(rest.len(), |(at, _)| at);
        let cut = rest[..end].rfind(' ').filter(|&at| at > 0).unwrap_or(end);
        lines.push(rest[..cut].trim_end().to_owned());
        rest = rest[cut..].trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        let line = "a ".repeat(60);
        let lines = wrap(line.trim_end(), 50);
        assert!(lines.iter().all(|line| line.chars().count() <= 50));
        assert_eq!(lines.join(" ").replace("  ", " "), line.trim_end());
        assert_eq!(wrap(&"−".repeat(90), 50).len(), 2);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let cells = || {
            [
                "a_table by a_column".to_owned(),
                "4.1 µs → 3.9 µs".into(),
                "−4.9 %".into(),
            ]
        };
        for width in [60, 80, 120] {
            let look = Look {
                color: false,
                width,
            };
            let mut out = Lines {
                text: String::new(),
                look,
            };
            out.row(
                "LEAVE",
                "2",
                &format!("{:<36}  {:>14}  ", "an_index", "8.81 MB"),
                &"why ".repeat(30),
            );
            out.row("ids", "1", "t.id  ", &"kind of an id ".repeat(9));
            out.table(MARGIN, "look-ups", &[cells(), cells()]);
            let widest = out.text.lines().map(|line| line.chars().count()).max();
            assert!(widest.unwrap() <= width, "{}", out.text);
            assert_eq!(out.text.matches("why").count(), 30);
            assert_eq!(out.text.matches("µs →").count(), 2);
        }
    }
}
