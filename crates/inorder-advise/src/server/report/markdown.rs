//! Advice as Markdown, for an issue or a pull request.

use super::{STEPS, outline_of, words};
use crate::{
    advice::Verdict,
    report::{Look, doubts, escaped_markdown as escaped, verdict},
    server::advice::Advice,
};
use std::fmt::Write as _;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let mut out = String::new();
    for line in words::alerts(advice) {
        _ = writeln!(out, "**{}**\n", escaped(&line));
    }
    _ = writeln!(out, "# {}\n", escaped(&advice.database.name));
    for line in words::heading(advice) {
        _ = writeln!(out, "{}\n", escaped(&line));
    }
    for line in words::summary(advice) {
        _ = writeln!(out, "- {}", escaped(&line));
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
            let figure = match item.verdict {
                Verdict::Leave => words::tried(advice, part),
                _ => words::figure(part),
            };
            row(
                &mut out,
                [
                    verdict(item.verdict),
                    &words::action(part),
                    &figure,
                    &part.candidate.reason,
                ],
            );
        }
    }
    if !advice.ids.is_empty() {
        table(&mut out, ["column", "ids", "note", "class"]);
        for line in &advice.ids {
            row(
                &mut out,
                [&line.column, &line.kind, &line.note, &line.class_in_words()],
            );
        }
    }
    if let Some((head, lines)) = doubts(&advice.ids) {
        _ = writeln!(
            out,
            "\n{}\n\n```toml\n{}\n```",
            escaped(&head),
            lines.join("\n")
        );
    }
    if !advice.plans.is_empty() {
        _ = writeln!(out, "\n{}", escaped(STEPS));
    }
    for plan in &advice.plans {
        let lines = outline_of(plan);
        let Some((title, steps)) = lines.split_first() else {
            continue;
        };
        _ = writeln!(out, "\n**{}**\n", escaped(title));
        for line in steps {
            _ = writeln!(out, "- {}", escaped(line.trim_start()));
        }
    }
    out
}

fn row(out: &mut String, cells: [&str; 4]) {
    let cells = cells.map(escaped);
    _ = writeln!(out, "| {} |", cells.join(" | "));
}
