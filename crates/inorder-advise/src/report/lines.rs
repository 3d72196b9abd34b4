//! Lines of a terminal: a word in the margin, and text that is wrapped. Control characters of names, which would move the
//! cursor, are left out of all.

use super::{Look, words::doubts};
use crate::advice::IdLine;
use std::fmt::Write as _;

/// A narrower column of text is no column.
const COLUMN_MIN: usize = 28;
/// Columns of the verdict's word.
pub(crate) const MARGIN: usize = 8;

/// Text that is wrapped at the width of the terminal.
pub(crate) struct Lines {
    text: String,
    look: Look,
}

impl Lines {
    /// No lines yet.
    pub(crate) fn new(look: Look) -> Self {
        Lines {
            text: String::new(),
            look,
        }
    }

    /// The lines as text.
    pub(crate) fn text(self) -> String {
        self.text
    }

    /// What settles the classes of columns that are in doubt.
    pub(crate) fn doubts(&mut self, ids: &[IdLine]) {
        let Some((head, lines)) = doubts(ids) else {
            return;
        };
        self.entry("DOUBT", "33", &head);
        for line in lines {
            _ = writeln!(self.text, "{:MARGIN$}{}", "", plain(&line));
        }
        self.blank();
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line behind a word in the margin.
    pub(crate) fn entry(&mut self, word: &str, color: &str, line: &str) {
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
    pub(crate) fn row(&mut self, word: &str, color: &str, begin: &str, text: &str) {
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
    pub(crate) fn table<const N: usize>(
        &mut self,
        indent: usize,
        head: &str,
        rows: &[[String; N]],
    ) {
        if rows.is_empty() {
            return;
        }
        self.wrapped(indent, head);
        let widest = |at: usize| rows.iter().map(move |row| row[at].chars().count()).max();
        let widths: Vec<usize> = (0..N).map(|at| widest(at).unwrap_or(0)).collect();
        let is_wide = indent + widths.iter().sum::<usize>() + 2 * N <= self.look.width;
        for row in rows {
            let mut line = format!("{:<1$}", plain(&row[0]), widths[0]);
            if !is_wide {
                self.wrapped(indent + 2, row[0].as_str());
                line.clear();
            }
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                _ = write!(line, "  {:>width$}", plain(cell));
            }
            _ = writeln!(self.text, "{:1$}{line}", "", indent + 2);
        }
    }

    /// A line under an entry.
    pub(crate) fn indented(&mut self, line: &str) {
        self.wrapped(MARGIN, line);
    }

    /// A line at any indentation.
    pub(crate) fn wrapped(&mut self, indent: usize, line: &str) {
        for (at, part) in wrap(line, self.look.width.saturating_sub(indent))
            .iter()
            .enumerate()
        {
            let more = if at == 0 { 0 } else { 2 };
            _ = writeln!(self.text, "{:indent$}{:more$}{part}", "", "");
        }
    }
}

/// A text on one line, as it may stand on a terminal or in a comment of SQL: names hold any character, and a blank takes
/// the place of each control character.
pub fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Breaks a line at blanks. Blanks within a line stay as they are.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let width = width.max(COLUMN_MIN);
    let mut lines = Vec::new();
    let line = plain(line);
    let mut rest = line.as_str();
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
    fn names_do_not_control_the_terminal() {
        let name = "a\u{1b}[2J\rb\n";
        let mut out = Lines::new(Look {
            color: false,
            width: 80,
        });
        out.entry("word", "1", name);
        out.row("word", "1", name, name);
        out.table(MARGIN, name, &[[name.to_owned(), name.to_owned()]]);
        out.wrapped(2, name);
        let text = out.text();
        assert_eq!(text.lines().count(), 5, "{text:?}");
        assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'));
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
            let mut out = Lines::new(Look {
                color: false,
                width,
            });
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
