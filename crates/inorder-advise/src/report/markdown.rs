//! Advice as Markdown, for an issue or a pull request.

use super::{Look, words};
use crate::advice::{Advice, Part, Verdict};
use std::fmt::Write as _;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let mut out = String::new();
    for line in words::alerts(advice) {
        _ = writeln!(out, "**{}**\n", words::escaped_markdown(&line));
    }
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
    let inserts = words::all_inserts(advice);
    let inserts = inserts.map(|own| words::inserts(advice, own));
    let lines = words::summary(advice).into_iter().chain(inserts);
    for line in lines.chain(words::queries(advice)) {
        _ = writeln!(out, "- {}", words::escaped_markdown(&line));
    }
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
    let parts = advice.items.iter().flat_map(|item| &item.parts);
    let look_ups: Vec<_> = parts.flat_map(|part| &part.look_ups).collect();
    if !look_ups.is_empty() {
        table(&mut out, [words::LOOK_UPS, "time", "change", "interval"]);
    }
    for own in look_ups {
        let cells = words::look_up_cells(own);
        row(&mut out, [&cells[0], &cells[1], &cells[2], &cells[3]]);
    }
    ids(advice, &mut out);
    plan(advice, &mut out);
    out
}

fn plan(advice: &Advice, out: &mut String) {
    if let Some(together) = &advice.together {
        *out += "\nThe plan:\n\n";
        for change in &together.plan.changes {
            _ = writeln!(
                out,
                "1. {}",
                words::escaped_markdown(&words::change(change))
            );
        }
    }
}

fn table(out: &mut String, heads: [&str; 4]) {
    _ = writeln!(
        out,
        "\n| {} |\n| --- | --- | ---: | --- |",
        heads.join(" | ")
    );
}

/// The columns of ids, and what settles those that are in doubt.
fn ids(advice: &Advice, out: &mut String) {
    if !advice.ids.is_empty() {
        table(out, ["column", "ids", "note", "class"]);
        for line in &advice.ids {
            row(
                out,
                [&line.column, &line.kind, &line.note, &line.class_in_words()],
            );
        }
    }
    if let Some((head, lines)) = words::doubts(&advice.ids) {
        _ = writeln!(
            out,
            "\n{}\n\n```toml\n{}\n```",
            words::escaped_markdown(&head),
            lines.join("\n")
        );
    }
}

fn figure(part: &Part, verdict: Verdict, advice: &Advice) -> String {
    match (verdict, part.measure) {
        (Verdict::Leave, _) => words::tried(part, advice).unwrap_or_default(),
        (_, Some(measure)) => words::figure(advice, words::change_of_bytes(measure.saved_bytes)),
        _ => String::new(),
    }
}

fn row(out: &mut String, cells: [&str; 4]) {
    let cells = cells.map(words::escaped_markdown);
    _ = writeln!(out, "| {} |", cells.join(" | "));
}
