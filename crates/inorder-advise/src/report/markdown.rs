//! Advice as Markdown, for an issue or a pull request.

use super::{Look, words};
use crate::advice::{Advice, Part, Verdict};
use std::fmt::Write as _;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let mut out = String::new();
    _ = writeln!(out, "# {}\n", words::escaped_markdown(&advice.file.name));
    for lost in &advice.lost {
        _ = writeln!(
            out,
            "**Data was lost: {}: {}.** {}\n",
            lost.object,
            lost.reason,
            lost.notes.join(" ")
        );
    }
    for line in words::heading(advice) {
        _ = writeln!(out, "{}\n", words::escaped_markdown(&line));
    }
    for line in words::summary(advice) {
        _ = writeln!(out, "- {}", words::escaped_markdown(&line));
    }
    let table = |out: &mut String, heads: [&str; 4]| {
        _ = writeln!(
            out,
            "\n| {} |\n| --- | --- | ---: | --- |",
            heads.join(" | ")
        );
    };
    table(&mut out, ["verdict", "what", "size", "why"]);
    for item in &advice.items {
        for part in &item.parts {
            let figure = figure(part, item.verdict, advice);
            row(
                &mut out,
                [
                    words::verdict(item.verdict),
                    &words::action(part),
                    &figure,
                    &part.candidate.reason,
                ],
            );
        }
    }
    if !advice.ids.is_empty() {
        table(&mut out, ["column", "ids", "", "note"]);
        for line in &advice.ids {
            row(&mut out, [&line.column, &line.kind, "", &line.note]);
        }
    }
    if let Some(together) = &advice.together {
        out += "\nThe plan:\n\n";
        for change in &together.plan.changes {
            _ = writeln!(
                out,
                "1. {}",
                words::escaped_markdown(&words::change(change))
            );
        }
    }
    out
}

fn figure(part: &Part, verdict: Verdict, advice: &Advice) -> String {
    match (verdict, part.measure) {
        (Verdict::Leave, _) => words::tried(part, advice.base_bytes()).unwrap_or_default(),
        (_, Some(measure)) => words::change_of_bytes(measure.saved_bytes),
        _ => String::new(),
    }
}

fn row(out: &mut String, cells: [&str; 4]) {
    let cells = cells.map(words::escaped_markdown);
    _ = writeln!(out, "| {} |", cells.join(" | "));
}
