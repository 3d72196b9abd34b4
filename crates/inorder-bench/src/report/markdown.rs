//! The report as Markdown: the terminal's tables, for a repository or an issue.

use super::{
    answer,
    view::{Column, ExperimentView, Ranked, Report, Row, Summary},
};
use crate::claims::Post;

/// Lays out a report.
pub fn render(report: &Report) -> String {
    let mut out = String::from("# inorder: report of a run\n\n");
    for view in &report.experiments {
        experiment(&mut out, view);
    }
    claims(&mut out, report);
    out.push_str("\n## The run\n\n");
    for (name, value) in &report.facts {
        out.push_str(&format!("- **{name}**: {}\n", plain(value)));
    }
    out
}

/// A table whose first `words` columns are words and whose others are numbers; `|`, `<` and line ends are escaped.
pub fn table(headings: &[String], rows: &[Vec<String>], words: usize) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = |at| if at < words { "---" } else { "---:" };
    let rules: Vec<&str> = (0..headings.len()).map(rule).collect();
    let mut out = line(headings);
    out.push_str(&format!("| {} |\n", rules.join(" | ")));
    out.extend(rows.iter().map(|row| line(row)));
    out
}

/// Text on one line in which nothing ends a table's cell or becomes a tag.
fn plain(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', "<br>")
}

fn claims(out: &mut String, report: &Report) {
    let claims = &report.claims;
    if claims.is_empty() {
        return;
    }
    let headings = ["claim", "", "published", "measured here", "verdict"].map(String::from);
    let rows: Vec<Vec<String>> = claims
        .iter()
        .map(|claim| {
            let judgement = &claim.judgement;
            let reason = match judgement.reason.is_empty() {
                true => String::new(),
                false => format!(": {}", judgement.reason),
            };
            vec![
                claim.id.to_owned(),
                claim.statement.to_owned(),
                claim.figure.to_owned(),
                claim.seen_lines(),
                format!("**{}**{reason}", judgement.verdict_text()),
            ]
        })
        .collect();
    out.push_str("\n## Published claims, and what this machine measured\n\n");
    out.push_str(&table(&headings, &rows, headings.len()));
    out.push_str(&sources(&report.posts()));
}

/// The posts that published claims, each with a link.
pub fn sources(posts: &[&Post]) -> String {
    let source = |post: &&Post| {
        let day = post
            .published
            .map_or_else(String::new, |day| format!(", {day}"));
        let (author, title) = (plain(post.author), plain(post.title));
        format!(
            "- {}: {author}, [{title}]({}){day}\n",
            post.letter, post.url
        )
    };
    let sources: String = posts.iter().map(source).collect();
    format!("\nSources of the claims:\n\n{sources}")
}

fn experiment(out: &mut String, view: &ExperimentView) {
    out.push_str(&format!("\n## {}: {}\n\n", view.name, plain(&view.title)));
    for text in [&view.question, &answer::text(&view.answer)] {
        if !text.is_empty() {
            out.push_str(&format!("{}\n\n", plain(text)));
        }
    }
    for ranking in &view.rankings {
        let row = |row: &Ranked| {
            let label = match row.is_baseline {
                true => format!("**{}**", row.label),
                false => row.label.clone(),
            };
            std::iter::once(label)
                .chain(row.readings.iter().cloned())
                .collect()
        };
        let rows: Vec<Vec<String>> = ranking.rows.iter().map(row).collect();
        out.push_str(&table(&ranking.headings, &rows, 1));
        for line in view.advice(ranking) {
            out.push_str(&format!("\n{}\n", plain(&line)));
        }
        out.push('\n');
    }
    for migration in &view.migrations {
        out.push_str(&table(&migration.headings, &migration.rows, 1));
        out.push_str(&format!("\n{}\n\n", plain(&migration.lines.join(" "))));
    }
    if !view.expect.is_empty() {
        let expect = plain(&view.expect);
        out.push_str(&format!("*Expected before the first run:* {expect}\n\n"));
    }
    out.push_str(&summary(&view.summary, |column| column.is_telling));
    for note in view.notes() {
        out.push_str(&format!("\n{}\n", plain(&note)));
    }
}

/// The table of an experiment, with the columns that are wanted; empty without any.
pub fn summary(summary: &Summary, is_wanted: impl Fn(&Column) -> bool) -> String {
    let columns = summary.columns.iter().enumerate();
    let columns: Vec<_> = columns.filter(|(_, column)| is_wanted(column)).collect();
    if columns.is_empty() {
        return String::new();
    }
    let headings: Vec<String> = ["cell".to_owned(), "trials".to_owned()]
        .into_iter()
        .chain(columns.iter().map(|(_, column)| column.heading()))
        .collect();
    let row = |row: &Row| -> Vec<String> {
        let label = match row.is_baseline {
            true => format!("**{}**", row.label),
            false => row.label.clone(),
        };
        let readings = columns.iter().map(|(at, column)| {
            let reading = &row.readings[*at];
            match &reading.ratio {
                Some(ratio) => format!("{}\n{}", reading.text, column.ratio(ratio)),
                None => reading.text.clone(),
            }
        });
        [label, row.trials()].into_iter().chain(readings).collect()
    };
    let rows: Vec<Vec<String>> = summary.rows.iter().map(row).collect();
    table(&headings, &rows, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cannot_break_the_table() {
        let rows = [vec!["a|b".to_owned(), "<i>\nx".to_owned()]];
        assert_eq!(
            table(&["n".into(), "v".into()], &rows, 1),
            "| n | v |\n| --- | ---: |\n| a\\|b | &lt;i><br>x |\n"
        );
    }
}
