//! Text for a terminal: headings, wrapped paragraphs, tables.

use super::output::Options;
use comfy_table::{
    Attribute, Cell, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle,
};

/// Text for a terminal of a given width.
pub struct Sheet {
    out: String,
    options: Options,
}

impl Sheet {
    /// An empty sheet.
    pub fn new(options: Options) -> Self {
        Sheet {
            out: String::new(),
            options,
        }
    }

    /// Returns the text.
    pub fn into_text(self) -> String {
        self.out
    }

    /// Columns of the terminal.
    pub fn width(&self) -> usize {
        self.options.width
    }

    /// Text as this terminal can show it: in plain ASCII without colours.
    pub fn plain(&self, text: &str) -> String {
        match self.options.color {
            true => text.to_owned(),
            false => text.chars().map(ascii).collect(),
        }
    }

    pub fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    pub fn heading(&mut self, text: &str) {
        let lines = wrap(text, self.options.width, 0);
        if self.options.color {
            for line in &lines {
                self.line(&format!("\u{1b}[1m{line}\u{1b}[0m"));
            }
        } else {
            for line in &lines {
                self.line(line);
            }
            self.line(&"=".repeat(width(&lines.join("\n"))));
        }
    }

    /// Wraps text; lines after the first are indented.
    pub fn paragraph(&mut self, text: &str, indent: usize) {
        for line in wrap(text, self.options.width, indent) {
            self.line(&line);
        }
    }

    pub fn table(&self) -> Table {
        let mut table = Table::new();
        let rule = if self.options.color { '─' } else { '-' };
        let rule = LineStyle::new(' ', rule, ' ', ' ');
        let between = ContentLineStyle::none().junction(' ');
        table.load_style(
            TableStyle::new()
                .header_lines(between)
                .header_separator(rule)
                .content_lines(between),
        );
        if self.options.color {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.options.width).unwrap_or(u16::MAX));
        table
    }

    pub fn push_table(&mut self, table: &Table) {
        for line in table.lines() {
            self.line(&line);
        }
    }
}

/// Letters of names in ASCII, for a terminal that may have no others.
const LETTERS: &[(char, char)] = &[('č', 'c'), ('é', 'e'), ('ö', 'o'), ('ü', 'u')];

fn ascii(letter: char) -> char {
    let found = LETTERS.iter().find(|(own, _)| *own == letter);
    match found {
        Some((_, ascii)) => *ascii,
        None if letter.is_ascii() => letter,
        None => '?',
    }
}

/// A heading of a column.
pub fn head(text: impl AsRef<str>) -> Cell {
    Cell::new(text.as_ref()).add_attribute(Attribute::Bold)
}

/// Characters of the widest line.
pub fn width(text: &str) -> usize {
    text.lines().map(|l| l.chars().count()).max().unwrap_or(0)
}

/// Greedy wrapping at spaces; a word longer than the line stays whole.
fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut is_fresh = true;
    for word in text.split(' ') {
        if !is_fresh && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            is_fresh = true;
        }
        if !is_fresh {
            line.push(' ');
        }
        line.push_str(word);
        is_fresh = false;
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn wraps_at_spaces_and_indents() {
        assert_eq!(wrap("aa bb cc dd", 5, 2), ["aa bb", "  cc", "  dd"]);
        assert_eq!(wrap("", 5, 0), Vec::<String>::new());
        assert_eq!(wrap("longer-than-that x", 5, 0), ["longer-than-that", "x"]);
    }
}
