//! Predictions as text, JSON and CSV.

use super::Device;
use anyhow::Result;
use inorder_bench::{format, schema::Forecast};
use inorder_predict::{Answer, Estimate, Question, TreeSize, crossings};
use serde_json::json;
use std::fmt::Write as _;

/// A line of the table of predictions: its heading, and its content for an answer.
type Line = (&'static str, fn(&Answer, &Device) -> String);

/// The first line, if the table is not there yet.
const WHOLE_LOAD: Line = ("bytes written per insert, whole load", |a, _| {
    with_error(a.load_bytes, "bytes")
});

const LINES: &[Line] = &[
    ("bytes written per insert, at the end", |a, _| {
        with_error(a.last_bytes, "bytes")
    }),
    ("size of table and indexes", |a, _| {
        with_error(a.size_bytes, "bytes")
    }),
    ("depth", |a, _| depths(&a.trees)),
    ("cache hits", |a, _| with_error(a.hit_share, "share")),
    ("page reads per insert", |a, _| with_error(a.reads, "")),
    ("page writes per insert", |a, _| with_error(a.writes, "")),
    ("inserts per second that the device allows", |a, device| {
        let (rate, by_operations) = a.rate(device.operations_per_s, device.bytes_per_s);
        let bound = match by_operations {
            true => "operations",
            false => "bandwidth",
        };
        format!("{} ({bound})", with_error(rate, ""))
    }),
];

/// Trees whose depths are listed.
const LISTED_MAX: usize = 3;

/// The depths of the trees, or between which they are.
fn depths(trees: &[TreeSize]) -> String {
    let all = || trees.iter().map(|tree| tree.depth);
    match (all().min(), all().max()) {
        (Some(least), Some(most)) if trees.len() > LISTED_MAX => match least == most {
            true => format!("{most}"),
            false => format!("{least} to {most}"),
        },
        _ => {
            let each = trees.iter();
            let each = each.map(|tree| format!("{} {}", tree.name, tree.depth));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// A number with its error: `1.2 KiB ± 2%`.
fn with_error(estimate: Estimate, unit: &str) -> String {
    let value = format::quantity(estimate.value, unit);
    match (unit, estimate.value) {
        ("share", _) => format!("{value} ± {}", format::percent(estimate.error)),
        (_, 0.0) => value,
        (_, all) => format!("{value} ± {}", format::percent(estimate.error / all)),
    }
}

/// The predictions as a table, one column for each key. `forecast` is the table that they are about, if it is there.
pub fn text(answers: &[Answer], device: &Device, forecast: Option<&Forecast>) -> String {
    let Some(first) = answers.first() else {
        return String::new();
    };
    let mut out = match forecast {
        Some(forecast) => heading_of_table(forecast, first),
        None => heading(first),
    };
    let of = |line: &Line, answer: &Answer| (line.1)(answer, device);
    let mut rows = match forecast {
        Some(forecast) => growth(answers, forecast.rows),
        None => Vec::new(),
    };
    let whole = forecast.is_none().then_some(&WHOLE_LOAD);
    for line in whole.into_iter().chain(LINES) {
        let cells = answers.iter().map(|answer| of(line, answer)).collect();
        rows.push((line.0, cells));
    }
    let names = answers.iter().enumerate().map(|(number, answer)| {
        let is_present = forecast.is_some() && number == 0;
        name(answer) + if is_present { ", present" } else { "" }
    });
    rows.insert(0, ("", names.collect()));
    out += &columns(&rows);
    out.push('\n');
    out += &overtaking(answers);
    if let Some(forecast) = forecast {
        out += &best(answers);
        for note in &forecast.notes {
            let _ = writeln!(out, "{note}");
        }
    }
    let _ = writeln!(
        out,
        "The device: {} operations/s, {}/s. ± is a 95% interval. A simulation, not a measurement.",
        format::integer(device.operations_per_s as u64),
        format::quantity(device.bytes_per_s, "bytes")
    );
    out
}

/// Rows of cells below each other, each with its heading.
fn columns(rows: &[(&str, Vec<String>)]) -> String {
    let width = |cells: &mut dyn Iterator<Item = &str>| {
        let widths = cells.map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    };
    let first = width(&mut rows.iter().map(|(heading, _)| *heading));
    let count = rows.first().map_or(0, |(_, cells)| cells.len());
    let widths: Vec<usize> = (0..count)
        .map(|column| width(&mut rows.iter().map(|(_, cells)| cells[column].as_str())))
        .collect();
    let mut out = String::new();
    for (heading, cells) in rows {
        let mut line = format!("{heading:first$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "  {cell:width$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// What the growth of a table from so many rows on costs.
fn growth(answers: &[Answer], rows: u64) -> Vec<(&'static str, Vec<String>)> {
    let present = answers[0].last_bytes.value;
    let line = |heading, of: &dyn Fn(&Answer) -> String| {
        let cells: Vec<String> = answers.iter().map(of).collect();
        (heading, cells)
    };
    let bytes = |estimate| with_error(estimate, "bytes");
    let mut lines = Vec::new();
    if rows > 0 {
        lines = vec![
            line("size of table and indexes, now", &|a| {
                bytes(a.stage(rows).size_bytes)
            }),
            line("bytes written per insert, now", &|a| {
                bytes(a.stage(rows).insert_bytes)
            }),
        ];
    }
    lines.push(line("bytes written until the end", &|a| {
        bytes(a.stage(rows).rest_bytes)
    }));
    lines.push(line(
        "an insert at the end, times the present key's",
        &|a| format::ratio(a.last_bytes.value / present),
    ));
    lines
}

/// Which key writes least.
fn best(answers: &[Answer]) -> String {
    let bytes = |answer: &&Answer| answer.last_bytes.value;
    let Some((present, others)) = answers.split_first() else {
        return String::new();
    };
    let rows = format::integer(present.question.rows);
    let least = others.iter().min_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    match least {
        Some(least) if bytes(&least) + least.last_bytes.error < bytes(&present) => format!(
            "At {rows} rows an insert with {} writes {} times the bytes of one with the present key, {}; the size is {} times.\n",
            name(least),
            format::ratio(bytes(&least) / bytes(&present)),
            name(present),
            format::ratio(least.size_bytes.value / present.size_bytes.value)
        ),
        _ => format!(
            "At {rows} rows no key writes clearly less per insert than the present one, {}.\n",
            name(present)
        ),
    }
}

/// The table, and what all answers have in common.
fn heading_of_table(forecast: &Forecast, answer: &Answer) -> String {
    let question = &answer.question;
    let indexes = question.indexes.iter().map(|index| index.name.as_str());
    let indexes: Vec<&str> = indexes.collect();
    let values = question.columns.iter().map(|values| values.bytes());
    let bytes = question.key_bytes() + values.sum::<u64>();
    let mut out = format!(
        "{}, table {}: {} now, of {bytes} bytes with the key; indexes: {}\n",
        question.engine.name(),
        forecast.table,
        format::count(forecast.rows as usize, "row"),
        match indexes.is_empty() {
            true => "none".to_owned(),
            false => indexes.join(", "),
        },
    );
    let _ = writeln!(
        out,
        "It grows to {} rows, {} per transaction, as if its first row had had that key already",
        format::integer(question.rows),
        format::count(question.rows_per_transaction as usize, "row"),
    );
    out + &server(question)
}

/// What all answers have in common.
fn heading(answer: &Answer) -> String {
    let question = &answer.question;
    let mut out = format!(
        "{}, {}: {} rows, {} of payload, {}, {} per transaction\n",
        question.engine.name(),
        question.layout.name(),
        format::integer(question.rows),
        format::quantity(question.payload_bytes as f64, "bytes"),
        match question.indexes.len() {
            1 => "1 secondary index".to_owned(),
            indexes => format!("{indexes} secondary indexes"),
        },
        format::count(question.rows_per_transaction as usize, "row"),
    );
    if question.loaded_rows > 0 {
        let loaded = format::integer(question.loaded_rows);
        let _ = writeln!(out, "{loaded} of the rows were loaded in key order");
    }
    out + &server(question)
}

fn server(question: &Question) -> String {
    format!(
        "cache {}, checkpoint after {} of log, pages of {}\n\n",
        format::quantity(question.cache_bytes as f64, "bytes"),
        format::quantity(question.checkpoint_bytes as f64, "bytes"),
        format::quantity(f64::from(question.page_bytes), "bytes"),
    )
}

fn name(answer: &Answer) -> String {
    key_name(&answer.question)
}

/// The kind of a key and its encoding.
pub fn key_name(question: &Question) -> String {
    format!("{} ({})", question.key.name(), question.encoding.name())
}

/// The kind of a key, with its encoding if another answer has the same kind.
pub fn shortest(answer: &Answer, answers: &[Answer]) -> String {
    let kind = answer.question.key;
    let same = answers.iter().filter(|other| other.question.key == kind);
    match same.count() {
        1 => kind.name().to_owned(),
        _ => name(answer),
    }
}

/// Where keys overtake each other.
fn overtaking(answers: &[Answer]) -> String {
    let mut out = String::new();
    let names: Vec<String> = answers
        .iter()
        .map(|answer| shortest(answer, answers))
        .collect();
    for crossing in crossings(answers) {
        let _ = writeln!(
            out,
            "From about {} rows on, an insert with {} writes over 5% less than with {}.",
            format::short(crossing.rows),
            names[crossing.better],
            names[crossing.worse],
        );
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The predictions as JSON.
pub fn json(answers: &[Answer], device: &Device, forecast: Option<&Forecast>) -> Result<String> {
    let number = |e: Estimate| json!({"value": e.value, "error": e.error});
    let one = |answer: &Answer| {
        let question = &answer.question;
        let trees: Vec<_> = answer
            .trees
            .iter()
            .map(|t| json!({"name": t.name, "bytes": t.bytes, "pages": t.pages, "depth_levels": t.depth}))
            .collect();
        let (rate, by_operations) = answer.rate(device.operations_per_s, device.bytes_per_s);
        let mut found = json!({
            "engine": question.engine.name(), "key": question.key.name(),
            "encoding": question.encoding.name(), "layout": question.layout.name(),
            "rows": question.rows, "loaded_rows": question.loaded_rows,
            "payload_bytes": question.payload_bytes, "indexes": question.indexes.len(),
            "rows_per_transaction": question.rows_per_transaction,
            "cache_bytes": question.cache_bytes, "checkpoint_bytes": question.checkpoint_bytes,
            "page_bytes": question.page_bytes, "seed": question.seed,
            "pages_per_simulated_page": answer.sample,
            "bytes_per_insert": number(answer.load_bytes),
            "bytes_per_insert_at_the_end": number(answer.last_bytes),
            "size_bytes": number(answer.size_bytes), "trees": trees,
            "cache_hit_share": number(answer.hit_share),
            "page_reads_per_insert": number(answer.reads),
            "page_writes_per_insert": number(answer.writes),
            "inserts_per_s": number(rate),
            "bound_by": if by_operations { "operations" } else { "bandwidth" },
        });
        if let Some(forecast) = forecast {
            let stage = answer.stage(forecast.rows);
            found["now"] = json!({
                "size_bytes": number(stage.size_bytes),
                "bytes_per_insert": number(stage.insert_bytes),
                "bytes_until_the_end": number(stage.rest_bytes),
            });
        }
        found
    };
    let predictions: Vec<_> = answers.iter().map(one).collect();
    let crossings: Vec<_> = crossings(answers)
        .iter()
        .map(|c| {
            let key = |at: usize| shortest(&answers[at], answers);
            json!({"rows": c.rows, "less": key(c.better), "more": key(c.worse)})
        })
        .collect();
    let mut all = json!({"predictions": predictions, "crossings": crossings});
    if let Some(forecast) = forecast {
        all["table"] = json!({
            "name": forecast.table, "rows": forecast.rows, "notes": forecast.notes,
        });
    }
    Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
}

/// The curves of the predictions as CSV: one line for each number of rows.
pub fn csv(answers: &[Answer]) -> String {
    let mut out = "engine,key,encoding,rows,bytes_per_insert_until_here,bytes_per_insert_here,size_bytes,cache_hit_share\n".to_owned();
    for answer in answers {
        let question = &answer.question;
        for point in &answer.points {
            let size: f64 = point.trees.iter().map(|tree| tree.bytes).sum();
            let _ = writeln!(
                out,
                "{},{},{},{},{:.1},{:.1},{size:.0},{:.4}",
                question.engine.name(),
                question.key.name(),
                question.encoding.name(),
                point.rows,
                point.total.written_bytes() / point.total.rows.max(1.0),
                point.last.written_bytes() / point.last.rows.max(1.0),
                1.0 - point.last.read_pages / point.last.accesses.max(1.0),
            );
        }
    }
    out
}
