//! The report as Markdown: the terminal's tables, for a repository or an issue.

use super::{
    answer,
    view::{ClaimRow, ExperimentView, Report, Row, Summary},
};

/// Lays out a report.
pub fn render(report: &Report) -> String {
    let mut out = String::from("# inorder: report of a run\n\n");
    for (name, value) in &report.facts {
        out.push_str(&format!("- **{name}**: {}\n", plain(value)));
    }
    claims(&mut out, &report.claims);
    for view in &report.experiments {
        experiment(&mut out, view);
    }
    out
}

/// A table whose first `words` columns are words and whose others are numbers.
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

fn claims(out: &mut String, claims: &[ClaimRow]) {
    if claims.is_empty() {
        return;
    }
    let headings = ["claim", "", "the post", "here", "verdict"].map(String::from);
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
    out.push_str("\n## What the posts said, what this machine saw\n\n");
    out.push_str(&table(&headings, &rows, headings.len()));
}

fn experiment(out: &mut String, view: &ExperimentView) {
    out.push_str(&format!("\n## {}: {}\n\n", view.name, plain(&view.title)));
    for text in [&view.question, &answer::text(&view.answer)] {
        if !text.is_empty() {
            out.push_str(&format!("{}\n\n", plain(text)));
        }
    }
    if !view.expect.is_empty() {
        let expect = plain(&view.expect);
        out.push_str(&format!("*Expected before the first run:* {expect}\n\n"));
    }
    out.push_str(&summary(&view.summary));
    for note in view.notes() {
        out.push_str(&format!("\n{}\n", plain(&note)));
    }
}

fn summary(summary: &Summary) -> String {
    let columns: Vec<_> = summary.telling().collect();
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
