//! Lines of a terminal: a word in the margin, and text that is wrapped.

use super::Look;
use std::fmt::Write as _;

/// Columns of the verdict's word.
const MARGIN: usize = 8;

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

    /// A line as it is.
    pub(crate) fn raw(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
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

/// Breaks a line at blanks. Blanks within a line stay as they are.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let width = width.max(40);
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
    use super::wrap;

    #[test]
    fn lines_break_at_blanks() {
        let line = "a ".repeat(60);
        let lines = wrap(line.trim_end(), 50);
        assert!(lines.iter().all(|line| line.chars().count() <= 50));
        assert_eq!(lines.join(" ").replace("  ", " "), line.trim_end());
        assert_eq!(wrap(&"−".repeat(90), 50).len(), 2);
    }
}
