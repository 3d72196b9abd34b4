//! Predictions as text, JSON and CSV.

use super::Device;
use anyhow::Result;
use inorder_bench::format;
use inorder_predict::{Answer, Estimate, crossings};
use serde_json::json;
use std::fmt::Write as _;

/// A line of the table of predictions: its heading, and its content for an answer.
type Line = (&'static str, fn(&Answer, &Device) -> String);

const LINES: &[Line] = &[
    ("bytes written per insert, whole load", |a, _| {
        with_error(a.load_bytes, "bytes")
    }),
    ("bytes written per insert, at the end", |a, _| {
        with_error(a.last_bytes, "bytes")
    }),
    ("size of table and indexes", |a, _| {
        with_error(a.size_bytes, "bytes")
    }),
    ("depth", |a, _| {
        let depths = a
            .trees
            .iter()
            .map(|tree| format!("{} {}", tree.name, tree.depth));
        depths.collect::<Vec<_>>().join(", ")
    }),
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

/// A number with its error: `1.2 KiB ± 2%`.
fn with_error(estimate: Estimate, unit: &str) -> String {
    let value = format::quantity(estimate.value, unit);
    match (unit, estimate.value) {
        ("share", _) => format!("{value} ± {}", format::percent(estimate.error)),
        (_, 0.0) => value,
        (_, all) => format!("{value} ± {}", format::percent(estimate.error / all)),
    }
}

/// The predictions as a table, one column for each key.
pub fn text(answers: &[Answer], device: &Device) -> String {
    let Some(first) = answers.first() else {
        return String::new();
    };
    let mut out = heading(first);
    let mut columns = vec![LINES.iter().map(|(name, _)| (*name).to_owned()).collect()];
    for answer in answers {
        let cells = LINES.iter().map(|(_, line)| line(answer, device));
        columns.push(cells.collect::<Vec<_>>());
    }
    let mut names = vec![String::new()];
    names.extend(answers.iter().map(name));
    for (column, name) in columns.iter_mut().zip(names) {
        column.insert(0, name);
    }
    let width = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for row in 0..=LINES.len() {
        let cells = columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| format!("{:width$}", column[row]));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
    out += &overtaking(answers);
    let _ = writeln!(
        out,
        "The device: {} operations/s, {}/s. ± is a 95% interval. A simulation, not a measurement.",
        format::integer(device.operations_per_s as u64),
        format::quantity(device.bytes_per_s, "bytes")
    );
    out
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
    let _ = writeln!(
        out,
        "cache {}, checkpoint after {} of log, pages of {}\n",
        format::quantity(question.cache_bytes as f64, "bytes"),
        format::quantity(question.checkpoint_bytes as f64, "bytes"),
        format::quantity(f64::from(question.page_bytes), "bytes"),
    );
    out
}

fn name(answer: &Answer) -> String {
    let question = &answer.question;
    format!("{} ({})", question.key.name(), question.encoding.name())
}

/// Where keys overtake each other.
fn overtaking(answers: &[Answer]) -> String {
    let mut out = String::new();
    for crossing in crossings(answers) {
        let _ = writeln!(
            out,
            "From about {} rows on, an insert with {} writes over 5% less than with {}.",
            format::short(crossing.rows),
            answers[crossing.better].question.key.name(),
            answers[crossing.worse].question.key.name(),
        );
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// The predictions as JSON.
pub fn json(answers: &[Answer], device: &Device) -> Result<String> {
    let number = |e: Estimate| json!({"value": e.value, "error": e.error});
    let one = |answer: &Answer| {
        let question = &answer.question;
        let trees: Vec<_> = answer
            .trees
            .iter()
            .map(|t| json!({"name": t.name, "bytes": t.bytes, "pages": t.pages, "depth_levels": t.depth}))
            .collect();
        let (rate, by_operations) = answer.rate(device.operations_per_s, device.bytes_per_s);
        json!({
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
        })
    };
    let predictions: Vec<_> = answers.iter().map(one).collect();
    let crossings: Vec<_> = crossings(answers)
        .iter()
        .map(|c| {
            let key = |at: usize| answers[at].question.key.name();
            json!({"rows": c.rows, "less": key(c.better), "more": key(c.worse)})
        })
        .collect();
    let all = json!({"predictions": predictions, "crossings": crossings});
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
