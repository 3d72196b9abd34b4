//! Advice as one self-contained page: no script, no other file.

mod picture;

use super::{Look, words};
use crate::advice::{Advice, IdLine, Item, Part, Verdict};
use std::fmt::Write as _;
use words::escaped_html as escaped;

pub(crate) const STYLE: &str = include_str!("page.css");

pub(super) fn write(advice: &Advice, _look: Look) -> String {
    let name = escaped(&advice.file.name);
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
        let class = if line.starts_with("ESTIMATE") {
            "estimate"
        } else {
            "about"
        };
        _ = writeln!(out, "<p class=\"{class}\">{}</p>", escaped(&line));
    }
    out += "<ul class=\"summary\">\n";
    for line in words::summary(advice) {
        _ = writeln!(out, "<li>{}</li>", escaped(&line));
    }
    out += "</ul>\n";
    picture::strips(advice, &mut out);
    items(advice, &mut out);
    inserts(advice, &mut out);
    leave(advice, &mut out);
    queries(advice, &mut out);
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
                words::figure(advice, words::change_of_bytes(saved)),
                words::change_of_percent(percent),
                words::safety(item)
            );
        }
        parts(advice, item, out);
        for inserts in item.parts.iter().filter_map(|part| part.inserts.as_ref()) {
            let inserts = words::inserts(advice, inserts);
            _ = writeln!(out, "<p>{}</p>", escaped(&inserts));
        }
        let look_ups = item.parts.iter().flat_map(|part| &part.look_ups);
        let look_ups: Vec<_> = look_ups.map(words::look_up_cells).collect();
        figures(words::LOOK_UPS, &look_ups, out);
        for note in words::notes(item) {
            _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(note));
        }
        *out += "</section>\n";
    }
}

/// What an item consists of. Where the title says it, the reason is left.
fn parts(advice: &Advice, item: &Item, out: &mut String) {
    if let [part] = &item.parts[..]
        && words::title(item).contains(&part.candidate.object)
    {
        _ = writeln!(out, "<p>{}.</p>", escaped(&part.candidate.reason));
        return;
    }
    *out += "<table class=\"parts\">\n";
    for part in &item.parts {
        let figure = part.measure.map_or(String::new(), |measure| {
            words::figure(advice, words::change_of_bytes(measure.saved_bytes))
        });
        row(
            out,
            &[&part.candidate.object, &figure, &part.candidate.reason],
        );
    }
    *out += "</table>\n";
}

/// A small table of figures: what, and cells to the right.
fn figures<const N: usize>(head: &str, rows: &[[String; N]], out: &mut String) {
    if rows.is_empty() {
        return;
    }
    _ = writeln!(
        out,
        "<table class=\"figures\">\n<caption>{}</caption>",
        escaped(head)
    );
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            let begin = if at == 0 {
                "<tr><td>"
            } else {
                "<td class=\"number\">"
            };
            _ = write!(out, "{begin}{}</td>", escaped(cell));
        }
        *out += "</tr>\n";
    }
    *out += "</table>\n";
}

fn inserts(advice: &Advice, out: &mut String) {
    let rows: Vec<_> = words::all_inserts(advice)
        .map(|own| words::insert_cells(advice, own))
        .collect();
    if !rows.is_empty() {
        *out += "<h2>What inserting costs</h2>\n";
        figures(&words::inserts_head(), &rows, out);
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
    *out += "<h2>What to leave</h2>\n<table class=\"parts\">\n<tr><th>what</th><th>size</th><th>why</th></tr>\n";
    for part in parts {
        let tried = words::tried(part, advice).unwrap_or_default();
        row(out, &[&words::action(part), &tried, &part.candidate.reason]);
    }
    *out += "</table>\n";
}

fn ids(advice: &Advice, out: &mut String) {
    if advice.ids.is_empty() {
        return;
    }
    *out += "<h2>Ids</h2>\n<table class=\"parts\">\n<tr><th>column</th><th>note</th><th>ids</th></tr>\n";
    for line in &advice.ids {
        row(out, &[&line.column, &line.note, &line.in_words()]);
    }
    *out += "</table>\n";
    doubts(&advice.ids, out);
}

/// What settles the classes of columns that are in doubt.
pub(crate) fn doubts(ids: &[IdLine], out: &mut String) {
    if let Some((head, lines)) = words::doubts(ids) {
        _ = writeln!(
            out,
            "<p>{}</p>\n<div class=\"scroll\"><pre>{}</pre></div>",
            escaped(&head),
            escaped(&lines.join("\n"))
        );
    }
}

fn queries(advice: &Advice, out: &mut String) {
    let Some(found) = &advice.queries else {
        return;
    };
    let lines = words::queries(advice);
    let about = lines.first().map_or("", String::as_str);
    _ = writeln!(
        out,
        "<h2>Queries</h2>\n<p class=\"about\">{}</p>\n<table class=\"parts\">\n\
         <tr><th>query</th><th>before → after</th><th>what differs</th></tr>",
        escaped(about)
    );
    for query in &found.queries {
        let ms = |ms: Option<f64>| ms.map_or("–".into(), |ms| words::time(ms * 1e6));
        let times = match (query.ms_before, query.ms_after) {
            (None, None) => String::new(),
            (before, after) => format!("{} → {}", ms(before), ms(after)),
        };
        let said = words::query_in_words(query).join("; ");
        row(out, &[&words::short(query), &times, &said]);
    }
    *out += "</table>\n";
    if !found.unused_indexes.is_empty() {
        _ = writeln!(
            out,
            "<p>Indexes that none of these queries uses: {}.</p>",
            escaped(&found.unused_indexes.join(", "))
        );
    }
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
