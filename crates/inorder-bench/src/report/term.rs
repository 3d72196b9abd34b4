//! The report for a terminal.

use super::{
    answer,
    output::Options,
    sheet::{Sheet, head, width},
    view::{Column, ExperimentView, Migration, Ranking, Report, Row, Summary},
};
use crate::claims::Verdict;
use comfy_table::{Attribute, Cell, CellAlignment, Color};

/// A column's padding and the room between two.
const COLUMN_GAP: usize = 3;

/// Lays out a report.
pub fn render(report: &Report, options: &Options) -> String {
    let mut page = Sheet::new(*options);
    page.heading("inorder: report of a run");
    for experiment in &report.experiments {
        page.answer(experiment);
    }
    for experiment in &report.experiments {
        page.experiment(experiment);
    }
    page.claims(report);
    page.blank();
    page.heading("The run");
    for (name, value) in &report.facts {
        page.paragraph(&format!("{name:<9}{value}"), 9);
    }
    page.into_text()
}

/// Writes the parts of a report onto a sheet.
impl Sheet {
    fn claims(&mut self, report: &Report) {
        if report.claims.is_empty() {
            return;
        }
        self.blank();
        self.heading("Published claims, and what this machine measured");
        let mut table = self.table();
        table.set_header(["", "claim", "published", "measured here", "verdict"].map(head));
        for claim in report.claims.iter().filter(|claim| claim.is_judged()) {
            let judgement = &claim.judgement;
            let verdict = match judgement.reason.is_empty() {
                true => judgement.verdict_text(),
                false => format!("{}: {}", judgement.verdict_text(), judgement.reason),
            };
            table.add_row([
                Cell::new(claim.id),
                Cell::new(claim.statement),
                Cell::new(claim.figure),
                Cell::new(claim.seen_lines()),
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
        self.blank();
        self.line("Sources of the claims:");
        for post in report.posts() {
            let source = format!("{}: {post}", post.letter);
            self.paragraph(&self.plain(&source), 3);
            // An address is never broken: a terminal makes a link of it.
            self.line(&format!("   {}", post.url));
        }
    }

    /// The question, its answer and the recommendations.
    fn answer(&mut self, experiment: &ExperimentView) {
        self.blank();
        self.paragraph(&format!("{}: {}", experiment.name, experiment.question), 0);
        self.paragraph(&format!("> {}", answer::text(&experiment.answer)), 2);
        for ranking in &experiment.rankings {
            self.ranking(ranking, &experiment.advice(ranking));
        }
        for migration in &experiment.migrations {
            self.migration(migration);
        }
    }

    fn migration(&mut self, migration: &Migration) {
        self.blank();
        let mut table = self.table();
        table.set_header(migration.headings.iter().map(head));
        for row in &migration.rows {
            let right = |(at, text): (usize, &String)| match at {
                0 => Cell::new(text),
                _ => Cell::new(text).set_alignment(CellAlignment::Right),
            };
            table.add_row(row.iter().enumerate().map(right));
        }
        self.push_table(&table);
        for line in &migration.lines {
            self.paragraph(line, 2);
        }
    }

    fn ranking(&mut self, ranking: &Ranking, advice: &[String]) {
        self.blank();
        let mut table = self.table();
        table.set_header(ranking.headings.iter().map(head));
        for row in &ranking.rows {
            let label = match row.is_baseline {
                true => Cell::new(format!("{} (compared with)", row.label))
                    .add_attribute(Attribute::Bold),
                false => Cell::new(&row.label),
            };
            table.add_row(
                [label]
                    .into_iter()
                    .chain(row.readings.iter().map(Cell::new)),
            );
        }
        self.push_table(&table);
        for line in advice {
            self.paragraph(line, 2);
        }
    }

    fn experiment(&mut self, experiment: &ExperimentView) {
        self.blank();
        self.heading(&format!("{}: {}", experiment.name, experiment.title));
        self.summary(&experiment.summary);
        for note in experiment.notes() {
            self.paragraph(&note, 2);
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
        let label = label.unwrap_or(0).min(self.width() / 3);
        let fixed = label + "trials".len() + 2 * COLUMN_GAP + 1;
        let mut is_first = true;
        while !columns.is_empty() {
            let mut used = fixed;
            let fits = columns
                .iter()
                .take_while(|column| {
                    used += column.width + COLUMN_GAP;
                    used <= self.width()
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

fn color(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Holds => Color::Green,
        Verdict::DoesNot => Color::Red,
        Verdict::Depends => Color::Yellow,
        Verdict::Inconclusive
        | Verdict::SettingsDiffer
        | Verdict::NeedsEngine
        | Verdict::NotRun => Color::DarkGrey,
    }
}
