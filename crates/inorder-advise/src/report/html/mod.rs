//! Advice as one self-contained page: no script, no other file.

mod picture;

use super::{Look, words};
use crate::advice::{Advice, Item, Part, Verdict};
use std::fmt::Write as _;
use words::escaped_html as escaped;

pub(crate) const STYLE: &str = include_str!("page.css");

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let name = escaped(&advice.file.name);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name}: advice</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>\n"
    );
    for lost in &advice.lost {
        _ = writeln!(
            out,
            "<p class=\"lost\"><b>Data was lost.</b> {}: {}. {}</p>",
            escaped(&lost.object),
            escaped(&lost.reason),
            escaped(&lost.notes.join(" "))
        );
    }
    for line in words::heading(advice) {
        _ = writeln!(out, "<p class=\"about\">{}</p>", escaped(&line));
    }
    out += "<ul class=\"summary\">\n";
    for line in words::summary(advice) {
        _ = writeln!(out, "<li>{}</li>", escaped(&line));
    }
    out += "</ul>\n";
    picture::strips(advice, &mut out);
    items(advice, &mut out);
    leave(advice, &mut out);
    picture::lines(advice, &mut out);
    ids(advice, &mut out);
    plan(advice, &mut out);
    out += "</main>\n</body>\n</html>\n";
    out
}

fn items(advice: &Advice, out: &mut String) {
    let shown: Vec<&Item> = advice
        .items
        .iter()
        .filter(|item| item.verdict != Verdict::Leave)
        .collect();
    if shown.is_empty() {
        return;
    }
    *out += "<h2>What to change</h2>\n";
    for item in shown {
        let verdict = words::verdict(item.verdict);
        _ = write!(
            out,
            "<section class=\"item\">\n<h3><span class=\"verdict {}\">{verdict}</span> {}</h3>\n",
            verdict.to_lowercase(),
            escaped(&words::title(item))
        );
        if let (Some(saved), Some(percent)) = (item.saved_bytes, item.percent) {
            _ = writeln!(
                out,
                "<p class=\"figure\">{} · {} · {}</p>",
                words::change_of_bytes(saved),
                words::change_of_percent(percent),
                words::safety(item)
            );
        }
        *out += "<div class=\"scroll\"><table>\n";
        for part in &item.parts {
            let figure = part.measure.map_or(String::new(), |measure| {
                words::change_of_bytes(measure.saved_bytes)
            });
            row(
                out,
                &[&part.candidate.object, &figure, &part.candidate.reason],
            );
        }
        *out += "</table></div>\n";
        for inserts in item.parts.iter().filter_map(|part| part.inserts.as_ref()) {
            _ = writeln!(out, "<p>{}</p>", escaped(&words::inserts(inserts)));
        }
        for note in words::notes(item) {
            _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(note));
        }
        *out += "</section>\n";
    }
}

fn leave(advice: &Advice, out: &mut String) {
    let left = advice
        .items
        .iter()
        .filter(|item| item.verdict == Verdict::Leave);
    let parts: Vec<&Part> = left.flat_map(|item| &item.parts).collect();
    if parts.is_empty() {
        return;
    }
    *out += "<h2>What to leave</h2>\n<div class=\"scroll\"><table>\n<tr><th>what</th><th>size</th><th>why</th></tr>\n";
    for part in parts {
        let tried = words::tried(part, advice.base_bytes()).unwrap_or_default();
        row(out, &[&words::action(part), &tried, &part.candidate.reason]);
    }
    *out += "</table></div>\n";
}

fn ids(advice: &Advice, out: &mut String) {
    if advice.ids.is_empty() {
        return;
    }
    *out += "<h2>Ids</h2>\n<div class=\"scroll\"><table>\n<tr><th>column</th><th>note</th><th>ids</th></tr>\n";
    for line in &advice.ids {
        row(out, &[&line.column, &line.note, &line.kind]);
    }
    *out += "</table></div>\n";
}

fn plan(advice: &Advice, out: &mut String) {
    let Some(together) = &advice.together else {
        return;
    };
    *out += "<h2>The plan</h2>\n<ol>\n";
    for change in &together.plan.changes {
        _ = writeln!(out, "<li>{}</li>", escaped(&words::change(change)));
    }
    *out += "</ol>\n";
}

fn row(out: &mut String, cells: &[&str; 3]) {
    let [what, figure, why] = cells.map(escaped);
    _ = writeln!(
        out,
        "<tr><td>{what}</td><td class=\"number\">{figure}</td><td>{why}</td></tr>"
    );
}
