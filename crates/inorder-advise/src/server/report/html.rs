//! Advice as one self-contained page: no script, no other file.

use super::{STEPS, outline, words};
use crate::{
    advice::Verdict,
    report::{Look, STYLE, doubts_in_html, escaped_html as escaped, verdict},
    server::advice::Advice,
};
use std::fmt::Write as _;

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let name = escaped(&advice.database.name);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name}: advice</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    for line in words::alerts(advice) {
        _ = writeln!(out, "<p class=\"lost\">{}</p>", escaped(&line));
    }
    _ = writeln!(out, "<h1>{name}</h1>");
    for line in words::heading(advice) {
        _ = writeln!(out, "<p class=\"about\">{}</p>", escaped(&line));
    }
    out += "<ul class=\"summary\">\n";
    for line in words::summary(advice) {
        _ = writeln!(out, "<li>{}</li>", escaped(&line));
    }
    out += "</ul>\n";
    items(advice, &mut out);
    leave(advice, &mut out);
    if !advice.ids.is_empty() {
        out += "<h2>Ids</h2>\n<div class=\"scroll\"><table class=\"parts\">\n<tr><th>column</th><th>note</th><th>ids</th></tr>\n";
        for line in &advice.ids {
            row(&mut out, &[&line.column, &line.note, &line.in_words()]);
        }
        out += "</table></div>\n";
        doubts_in_html(&advice.ids, &mut out);
    }
    if !advice.plans.is_empty() {
        _ = writeln!(
            out,
            "<h2>Steps</h2>\n<p>{}</p>\n<div class=\"scroll\"><pre>{}</pre></div>",
            escaped(STEPS),
            escaped(&outline(advice).join("\n"))
        );
    }
    out += "</main>\n</body>\n</html>\n";
    out
}

fn items(advice: &Advice, out: &mut String) {
    let mut shown = advice
        .items
        .iter()
        .filter(|item| item.verdict != Verdict::Leave)
        .peekable();
    if shown.peek().is_none() {
        return;
    }
    *out += "<h2>What to change</h2>\n";
    for item in shown {
        let name = verdict(item.verdict);
        _ = write!(
            out,
            "<section class=\"item\">\n<h3><span class=\"verdict {}\">{name}</span> {}</h3>\n<p class=\"figure\">{}</p>\n",
            name.to_lowercase(),
            escaped(&words::title(item)),
            escaped(&words::figures(item))
        );
        *out += "<div class=\"scroll\"><table class=\"parts\">\n";
        for part in &item.parts {
            row(
                out,
                &[
                    &part.candidate.object,
                    &words::figure(part),
                    &part.candidate.reason,
                ],
            );
        }
        *out += "</table></div>\n";
        for line in item
            .parts
            .iter()
            .filter_map(|part| part.measure.as_ref())
            .flat_map(|measure| words::predicted(advice, measure))
        {
            _ = writeln!(out, "<p>{}</p>", escaped(&line));
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
    let mut parts = left.flat_map(|item| &item.parts).peekable();
    if parts.peek().is_none() {
        return;
    }
    *out += "<h2>What to leave</h2>\n<div class=\"scroll\"><table class=\"parts\">\n<tr><th>what</th><th>size</th><th>why</th></tr>\n";
    for part in parts {
        row(
            out,
            &[
                &words::action(part),
                &words::tried(advice, part),
                &part.candidate.reason,
            ],
        );
    }
    *out += "</table></div>\n";
}

fn row(out: &mut String, cells: &[&str; 3]) {
    let [what, figure, why] = cells.map(escaped);
    _ = writeln!(
        out,
        "<tr><td>{what}</td><td class=\"number\">{figure}</td><td>{why}</td></tr>"
    );
}
