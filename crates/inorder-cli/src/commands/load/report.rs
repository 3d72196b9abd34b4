//! Formats the summary of a load.

use std::fmt::Write as _;

use indicatif::{HumanBytes, HumanCount};
use inorder_load::{Error, Job, Note, Summary};

/// The summary as text.
pub fn text(summary: &Summary, database: &str) -> String {
    let mut text = String::new();
    if summary.is_skipped {
        let table = &summary.table;
        return format!("loaded nothing: the table {table} exists (--if-not-exists)\n");
    }
    if summary.is_database_new {
        _ = writeln!(text, "new database {database}");
    }
    if let Some(created) = &summary.created {
        _ = writeln!(text, "{created};\n");
    }
    let verb = match summary.is_dry {
        true => "would load",
        false => "loaded",
    };
    _ = writeln!(
        text,
        "{verb} {} of {} rows into {}",
        HumanCount(summary.rows_written),
        HumanCount(summary.rows_read),
        summary.table
    );
    for (name, value) in rows_left_out(summary)
        .into_iter()
        .chain(way(summary))
        .chain(costs(summary))
    {
        _ = writeln!(text, "  {name:<10} {value}");
    }
    let written = summary.notes.iter().filter(|note| !note.kind.is_decision());
    text + &notes(written)
}

/// What the loader decided by itself and may surprise, for stderr.
pub fn decisions(summary: &Summary) -> String {
    notes(summary.notes.iter().filter(|note| note.kind.is_decision()))
}

fn notes<'a>(notes: impl Iterator<Item = &'a Note>) -> String {
    notes.fold(String::new(), |mut text, note| {
        _ = writeln!(text, "  {:<10} {note}", "note");
        text
    })
}

/// What is loaded, and what is not, after an error in one of several tables.
pub fn incomplete(jobs: &[Job], loaded: usize) -> String {
    let names = |jobs: &[Job]| {
        let names: Vec<&str> = jobs.iter().map(|job| job.table.as_str()).collect();
        match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        }
    };
    let (done, left) = jobs.split_at(loaded);
    format!(
        "loaded tables: {}; not loaded: {}\n",
        names(done),
        names(left)
    )
}

/// What a load into these tables says that was stopped in the one after those that are loaded.
pub fn stopped(jobs: &[Job], loaded: usize) -> String {
    match loaded {
        0 => Error::Stopped.to_string(),
        _ => format!("stopped; {}", incomplete(jobs, loaded).trim_end()),
    }
}

type Line = (&'static str, String);

fn rows_left_out(summary: &Summary) -> Vec<Line> {
    let mut lines = Vec::new();
    if summary.rows_updated > 0 {
        let updated = HumanCount(summary.rows_updated);
        lines.push(("updated", format!("{updated} had their key already")));
    }
    if summary.rows_duplicate > 0 {
        let duplicates = HumanCount(summary.rows_duplicate);
        lines.push(("duplicates", format!("{duplicates} left out")));
    }
    if summary.rows_ignored > 0 {
        let ignored = HumanCount(summary.rows_ignored);
        let why =
            "by the table itself (ON CONFLICT IGNORE or RAISE(IGNORE)); --rejects FILE names them";
        lines.push(("ignored", format!("{ignored} left out {why}")));
    }
    if summary.rows_refused > 0 {
        lines.push(("refused", format!("{}:", HumanCount(summary.rows_refused))));
        let because = summary.refused_because.iter().cloned();
        lines.extend(because.map(|because| ("", because)));
    }
    lines
}

/// Formats the writing method.
fn way(summary: &Summary) -> Vec<Line> {
    let order = match summary.sorted_by.is_empty() {
        true => "as read".to_owned(),
        false => format!("by {}", summary.sorted_by.join(", ")),
    };
    let mut lines = vec![("order", order)];
    if let Some(why_not) = &summary.why_not_sorted {
        lines.push(("", format!("in the order of the input: {why_not}")));
    }
    if !summary.writer.is_empty() {
        lines.push(("writer", summary.writer.clone()));
    }
    if let Some(why_not) = &summary.why_not_direct {
        lines.push(("", format!("not direct: {why_not}")));
    }
    lines
}

fn costs(summary: &Summary) -> Vec<Line> {
    let seconds = summary.seconds;
    let seconds = format!(
        "{:.2} read, {:.2} sort, {:.2} write; {:.2} of CPU",
        seconds.read, seconds.sort, seconds.write, summary.cpu_seconds
    );
    let mut lines = vec![
        ("seconds", seconds),
        ("read", HumanBytes(summary.bytes_read).to_string()),
    ];
    if summary.bytes_spilled > 0 {
        lines.push(("spilled", HumanBytes(summary.bytes_spilled).to_string()));
    }
    if let Some(written) = summary.bytes_written.filter(|_| !summary.is_dry) {
        let a_row = written as f64 / summary.rows_written.max(1) as f64;
        let bytes = HumanBytes(written);
        lines.push(("written", format!("{bytes}, {a_row:.0} bytes per row")));
        let naive = summary.bytes_naive.filter(|naive| *naive > written);
        let naive = naive.map(|naive| {
            let bytes = HumanBytes(naive);
            format!("in input order, about {bytes} (a model, see METHODOLOGY.md)")
        });
        lines.extend(naive.map(|naive| ("", naive)));
    }
    lines
}
