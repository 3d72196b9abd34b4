//! The report for a terminal.

use super::{
    Options, answer, format,
    view::{Column, ExperimentView, Report, Row, Summary},
};
use crate::claims::Verdict;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, ContentLineStyle, LineStyle, Table,
    TableStyle,
};

/// A column's padding and the room between two.
const COLUMN_GAP: usize = 3;

/// Lays out a report.
pub fn render(report: &Report, options: &Options) -> String {
    let mut page = Page {
        out: String::new(),
        options: *options,
    };
    page.heading("inorder: report of a run");
    for (name, value) in &report.facts {
        page.paragraph(&format!("{name:<9}{value}"), 9);
    }
    page.claims(report);
    for experiment in &report.experiments {
        page.experiment(experiment);
    }
    page.out
}

/// Text that grows, for a terminal of some width.
struct Page {
    out: String,
    options: Options,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    fn heading(&mut self, text: &str) {
        if self.options.color {
            self.line(&format!("\u{1b}[1m{text}\u{1b}[0m"));
        } else {
            self.line(text);
            self.line(&"=".repeat(text.chars().count()));
        }
    }

    /// Wraps text; lines after the first are indented.
    fn paragraph(&mut self, text: &str, indent: usize) {
        for line in wrap(text, self.options.width, indent) {
            self.line(&line);
        }
    }

    fn table(&self) -> Table {
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

    fn push_table(&mut self, table: &Table) {
        for line in table.lines() {
            self.line(&line);
        }
    }

    fn claims(&mut self, report: &Report) {
        if report.claims.is_empty() {
            return;
        }
        self.blank();
        self.heading("What the posts said, what this machine saw");
        let mut table = self.table();
        table.set_header(["", "claim", "the post", "here", "verdict"].map(head));
        for claim in report.claims.iter().filter(|claim| claim.is_judged()) {
            let judgement = &claim.judgement;
            let seen = match &judgement.ratio {
                Some(ratio) => format!(
                    "{}\nratio {}",
                    judgement.seen,
                    format::ratio_with_interval(ratio)
                ),
                None => judgement.seen.clone(),
            };
            let verdict = match judgement.reason.is_empty() {
                true => judgement.verdict.name().to_owned(),
                false => format!("{}: {}", judgement.verdict.name(), judgement.reason),
            };
            table.add_row([
                Cell::new(claim.id),
                Cell::new(claim.statement),
                Cell::new(claim.figure),
                Cell::new(seen),
                Cell::new(verdict).fg(color(judgement.verdict)),
            ]);
        }
        if table.row_count() > 0 {
            self.push_table(&table);
        }
        let not_run: Vec<&str> = report
            .claims
            .iter()
            .filter(|claim| !claim.is_judged())
            .map(|claim| claim.id)
            .collect();
        if !not_run.is_empty() {
            self.paragraph(&format!("Not run: {}.", not_run.join(", ")), 0);
        }
    }

    fn experiment(&mut self, experiment: &ExperimentView) {
        self.blank();
        self.heading(&format!("{}: {}", experiment.name, experiment.title));
        self.paragraph(&experiment.question, 0);
        self.paragraph(&format!("> {}", answer::text(&experiment.answer)), 2);
        self.blank();
        self.summary(&experiment.summary);
        if let Some(reason) = &experiment.noise.withheld {
            let text = format!("Times are withheld: {reason}. Bytes and sizes stand.");
            self.paragraph(&text, 2);
        }
        let floor: Vec<String> = experiment
            .noise
            .floor
            .iter()
            .map(|(_, title, ratio)| format!("{title} {}", format::ratio_with_interval(ratio)))
            .collect();
        if !floor.is_empty() {
            let text = format!(
                "Noise floor (the baseline run twice): {}.",
                floor.join(", ")
            );
            self.paragraph(&text, 2);
        }
        for trial in &experiment.failed {
            let text = format!(
                "FAILED {}, repetition {}: {}",
                trial.label,
                trial.repetition + 1,
                trial.error
            );
            self.paragraph(&text, 2);
        }
        if experiment.missing > 0 {
            let missing = format::count(experiment.missing, "trial");
            self.paragraph(&format!("{missing} not run yet."), 2);
        }
    }

    /// The table, cut into as many as the width asks for.
    fn summary(&mut self, summary: &Summary) {
        if summary.columns.is_empty() {
            return;
        }
        let mut columns: Vec<Heads> = summary
            .telling()
            .map(|(at, column)| Heads::new(summary, at, column))
            .collect();
        let label = summary.rows.iter().map(|row| width(&row.label)).max();
        // A label that takes more than a third of the line is wrapped.
        let label = label.unwrap_or(0).min(self.options.width / 3);
        let fixed = label + "trials".len() + 2 * COLUMN_GAP + 1;
        let mut is_first = true;
        while !columns.is_empty() {
            let mut used = fixed;
            let fits = columns
                .iter()
                .take_while(|column| {
                    used += column.width + COLUMN_GAP;
                    used <= self.options.width
                })
                .count()
                .max(1);
            let rest = columns.split_off(fits);
            if !std::mem::take(&mut is_first) {
                self.blank();
            }
            self.summary_part(summary, &columns);
            columns = rest;
        }
    }

    fn summary_part(&mut self, summary: &Summary, columns: &[Heads]) {
        let mut table = self.table();
        let titles = columns
            .iter()
            .map(|column| head(&column.title).set_alignment(CellAlignment::Right));
        table.set_header(["", "trials"].map(head).into_iter().chain(titles));
        for row in &summary.rows {
            let label = match row.is_baseline {
                true => Cell::new(&row.label).add_attribute(Attribute::Bold),
                false => Cell::new(&row.label),
            };
            let trials = Cell::new(row.trials());
            let readings = columns.iter().map(|column| {
                Cell::new(column.text(summary, row)).set_alignment(CellAlignment::Right)
            });
            table.add_row([label, trials].into_iter().chain(readings));
        }
        self.push_table(&table);
    }
}

/// A column of the summary with the room it needs.
struct Heads {
    at: usize,
    title: String,
    width: usize,
}

impl Heads {
    fn new(summary: &Summary, at: usize, column: &Column) -> Self {
        let mut heads = Heads {
            at,
            title: column.heading(),
            width: 0,
        };
        let texts = summary.rows.iter().map(|row| heads.text(summary, row));
        let widest = texts.map(|text| width(&text)).max().unwrap_or(0);
        // A heading may break at its spaces.
        let words = heads.title.split(' ').map(width).max().unwrap_or(0);
        heads.width = widest.max(words);
        heads
    }

    /// The value, and below it the ratio to the baseline.
    fn text(&self, summary: &Summary, row: &Row) -> String {
        let reading = &row.readings[self.at];
        match &reading.ratio {
            Some(ratio) => {
                let ratio = summary.columns[self.at].ratio(ratio);
                format!("{}\n{ratio}", reading.text)
            }
            None => reading.text.clone(),
        }
    }
}

fn head(text: impl AsRef<str>) -> Cell {
    Cell::new(text.as_ref()).add_attribute(Attribute::Bold)
}

fn color(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Holds => Color::Green,
        Verdict::DoesNot => Color::Red,
        Verdict::Depends => Color::Yellow,
        Verdict::Withheld | Verdict::NeedsEngine | Verdict::NotRun => Color::DarkGrey,
    }
}

/// Characters of the widest line.
fn width(text: &str) -> usize {
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
