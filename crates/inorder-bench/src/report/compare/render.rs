//! A comparison for a terminal, as Markdown, as a page and as JSON.
//!
//! JSON: `format` is `inorder-comparison`, `format_version` 1; `warnings[]`, `only_a[]`, `only_b[]`;
//! `experiments[]` with `name`, `withheld` and `cells[]`: `label` and `metrics`, each metric's id →
//! `{a, b, ratio, change, p}`, the change one of `same`, `higher`, `lower`, `withheld`.

use super::comparison::{Change, Compared, ComparedExperiment, Comparison};
use crate::{
    format,
    report::{
        markdown,
        output::{Error, Format, Options},
        sheet::{Sheet, head},
    },
};
use comfy_table::{Cell, CellAlignment, Color};
use minijinja::{Environment, UndefinedBehavior, value::Serde};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Version of the names in the JSON.
const FORMAT_VERSION: u32 = 1;

/// Writes a comparison down.
///
/// # Errors
/// If the format is `csv`, or the JSON or the page cannot be written.
pub fn render(comparison: &Comparison, format: Format, options: &Options) -> Result<String, Error> {
    match format {
        Format::Term => Ok(term(comparison, options)),
        Format::Md => Ok(as_markdown(comparison)),
        Format::Json => as_json(comparison),
        Format::Html => as_page(comparison),
        Format::Csv => Err(Error::NoComparison {
            format: format.name(),
        }),
    }
}

/// The table of an experiment: one row for each cell and metric worth a line.
const HEADINGS: [&str; 6] = ["cell", "", "first", "second", "ratio", ""];

/// Columns of words before the numbers.
const WORDS: usize = 2;

/// Metrics that are listed whether they changed or not.
const ALWAYS: &[&str] = &["cpu_us_per_row", "engine_bytes_per_row", "size_bytes"];

fn rows(experiment: &ComparedExperiment) -> Vec<(Change, Vec<String>)> {
    let mut rows = Vec::new();
    for cell in &experiment.cells {
        let mut label = cell.label.clone();
        let is_listed = |m: &&Compared| m.change != Change::Same || ALWAYS.contains(&m.metric.id);
        for compared in cell.metrics.iter().filter(is_listed) {
            let unit = compared.metric.unit;
            rows.push((
                compared.change,
                vec![
                    std::mem::take(&mut label),
                    compared.metric.title.to_owned(),
                    format::quantity(compared.a, unit),
                    format::quantity(compared.b, unit),
                    format::ratio_with_interval(&compared.ratio),
                    compared.change.name().to_owned(),
                ],
            ));
        }
    }
    rows
}

/// The text besides the tables, in paragraphs.
fn notes(comparison: &Comparison) -> Vec<String> {
    let changes = comparison
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.cells)
        .flat_map(|cell| &cell.metrics);
    let count = |change: Change| changes.clone().filter(|m| m.change == change).count();
    let mut notes = vec![format!(
        "The second run against the first, beyond the noise floor and significant among {} tests (Holm, 5% for all together): {} higher, {} lower, {} withheld.",
        format::integer(changes.clone().count() as u64),
        count(Change::Higher),
        count(Change::Lower),
        count(Change::Withheld)
    )];
    notes.extend(comparison.warnings.iter().map(|w| format!("Warning: {w}.")));
    for (which, cells) in [
        ("first", &comparison.only_a),
        ("second", &comparison.only_b),
    ] {
        if !cells.is_empty() {
            notes.push(format!("Only in the {which} run: {}.", cells.join("; ")));
        }
    }
    notes
}

/// Why an experiment's times do not count.
fn withheld(experiment: &ComparedExperiment) -> Option<String> {
    let reason = experiment.withheld.as_ref()?;
    Some(format!(
        "Times are noisy: {reason}. They are shown, and no difference of times is called a change."
    ))
}

fn term(comparison: &Comparison, options: &Options) -> String {
    let mut sheet = Sheet::new(*options);
    sheet.heading("inorder: two runs compared");
    for note in notes(comparison) {
        sheet.paragraph(&note, 2);
    }
    for experiment in &comparison.experiments {
        sheet.blank();
        sheet.heading(&experiment.name);
        let mut table = sheet.table();
        table.set_header(HEADINGS.map(head));
        for (change, row) in rows(experiment) {
            let color = match change {
                Change::Same => Color::Reset,
                Change::Higher => Color::Red,
                Change::Lower => Color::Green,
                Change::Withheld => Color::DarkGrey,
            };
            table.add_row(row.into_iter().enumerate().map(|(at, text)| {
                let cell = Cell::new(text);
                match at {
                    0 | 1 => cell,
                    5 => cell.fg(color),
                    _ => cell.set_alignment(CellAlignment::Right),
                }
            }));
        }
        sheet.push_table(&table);
        if let Some(text) = withheld(experiment) {
            sheet.paragraph(&text, 2);
        }
    }
    sheet.into_text()
}

fn as_markdown(comparison: &Comparison) -> String {
    let mut out = String::from("# inorder: two runs compared\n\n");
    for note in notes(comparison) {
        out.push_str(&format!("- {note}\n"));
    }
    for experiment in &comparison.experiments {
        out.push_str(&format!("\n## {}\n\n", experiment.name));
        let rows: Vec<Vec<String>> = rows(experiment).into_iter().map(|row| row.1).collect();
        out.push_str(&markdown::table(&HEADINGS.map(String::from), &rows, WORDS));
        if let Some(text) = withheld(experiment) {
            out.push_str(&format!("\n{text}\n"));
        }
    }
    out
}

/// The variables of the page's template.
#[derive(Serialize)]
struct Page {
    style: &'static str,
    headings: [&'static str; 6],
    notes: Vec<String>,
    experiments: Vec<PageExperiment>,
}

#[derive(Serialize)]
struct PageExperiment {
    name: String,
    rows: Vec<PageRow>,
    withheld: Option<String>,
}

#[derive(Serialize)]
struct PageRow {
    /// The class that colours the row.
    change: &'static str,
    texts: Vec<String>,
}

/// One self-contained page, which loads nothing.
fn as_page(comparison: &Comparison) -> Result<String, Error> {
    let experiments = comparison
        .experiments
        .iter()
        .map(|experiment| PageExperiment {
            name: experiment.name.clone(),
            rows: (rows(experiment).into_iter())
                .map(|(change, texts)| PageRow {
                    change: change.name(),
                    texts,
                })
                .collect(),
            withheld: withheld(experiment),
        });
    let page = Page {
        style: include_str!("page.css"),
        headings: HEADINGS,
        notes: notes(comparison),
        experiments: experiments.collect(),
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("page.html", include_str!("page.html"))?;
    Ok(environment
        .get_template("page.html")?
        .render(Serde(&page))?)
}

fn as_json(comparison: &Comparison) -> Result<String, Error> {
    let metric = |m: &Compared| {
        let value = json!({
            "a": m.a,
            "b": m.b,
            "ratio": m.ratio,
            "change": m.change.name(),
            "p": m.p,
        });
        (m.metric.id.to_owned(), value)
    };
    let experiments: Vec<Value> = comparison
        .experiments
        .iter()
        .map(|experiment| {
            let cells = experiment.cells.iter().map(|cell| {
                let metrics: Map<String, Value> = cell.metrics.iter().map(metric).collect();
                json!({ "label": cell.label, "metrics": metrics })
            });
            json!({
                "name": experiment.name,
                "withheld": experiment.withheld,
                "cells": cells.collect::<Vec<_>>(),
            })
        })
        .collect();
    let all = json!({
        "format": "inorder-comparison",
        "format_version": FORMAT_VERSION,
        "warnings": comparison.warnings,
        "experiments": experiments,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
