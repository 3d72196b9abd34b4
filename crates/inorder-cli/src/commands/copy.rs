//! `inorder copy`: a whole database into another one.

use anyhow::{Context as _, Result};
use console::Term;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_copy::{Compared, Error, Job, Observer, Stop, Summary, Touched, plan_of, run as copy};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::terminal;

/// The exit code of an interrupted copy: 128 and the number of SIGINT.
const STOPPED: u8 = 130;

/// Copies a database: tables, rows, keys, indexes and foreign keys.
///
/// The rows are read from one snapshot. Each table is read back and kept only if the rows and their contents are those of
/// the source. A copy that was stopped continues with the tables that are missing.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder copy mysql://me:secret@localhost/shop postgres://me:secret@localhost/shop
  inorder copy shop.db postgres://me:secret@localhost/shop --exclude log
  inorder copy postgres://me:secret@localhost/shop shop.db --table customer --table orders
  inorder copy mysql://me:secret@localhost/shop postgres://me:secret@localhost/shop --dry-run")]
pub struct Arguments {
    /// The database to copy: the URL of a server (mysql://…, postgres://…), or an SQLite file
    source: String,
    /// The database to write: the URL of a PostgreSQL database, or an SQLite file
    destination: String,
    /// Copy only this table; may be repeated
    #[arg(long, short, value_name = "NAME")]
    table: Vec<String>,
    /// Leave this table out; may be repeated
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
    /// The schema of a PostgreSQL source
    #[arg(long, value_name = "NAME", default_value = "public")]
    schema: String,
    /// Drop tables that the destination has, and copy them again
    #[arg(long)]
    replace_tables: bool,
    /// Write this plan and end, if there is no such file; otherwise copy by it. A plan has the types, and rules for values that
    /// the copy can't have
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Write the statements of what is not copied to this file, to edit and run
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Print the statements and the number of rows, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// The progress, on stderr.
struct Watch {
    bar: ProgressBar,
    rows: AtomicU64,
    stop: Stop,
}

impl Observer for Watch {
    fn table(&self, name: &str, rows_estimated: u64) {
        self.bar.set_length(rows_estimated.max(1));
        self.bar.set_position(0);
        self.bar.set_message(name.to_owned());
    }

    fn rows(&self, rows: u64) {
        self.bar.inc(rows);
        let all = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        self.bar.set_prefix(HumanCount(all).to_string());
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let stop = Stop::default();
    let on_interrupt = stop.clone();
    ctrlc::set_handler(move || match on_interrupt.is_stopped() {
        false => on_interrupt.stop(),
        // Whoever asks twice does not wait: what is not committed is not there.
        true => std::process::exit(STOPPED.into()),
    })?;
    let bar = ProgressBar::new(1);
    bar.set_draw_target(match arguments.quiet || !Term::stderr().is_term() {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    });
    let style = ProgressStyle::with_template(
        "{bar:24.cyan/dim} {msg}, {prefix} rows, {per_sec}, {eta} left",
    );
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let watch = Watch {
        bar,
        rows: AtomicU64::new(0),
        stop,
    };
    let mut job = Job {
        from: arguments.source,
        to: arguments.destination,
        schema: arguments.schema,
        tables: arguments.table,
        excluded: arguments.exclude,
        replaces: arguments.replace_tables,
        plan: None,
        is_dry: arguments.dry_run,
    };
    if let Some(path) = &arguments.plan {
        job.plan = planned(path, &job)?;
        if job.plan.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let copied = copy(&job, &watch);
    watch.bar.finish_and_clear();
    let summary = match copied {
        Err(Error::Stopped) => {
            eprintln!("inorder: {}", Error::Stopped);
            return Ok(ExitCode::from(STOPPED));
        }
        copied => copied?,
    };
    if let Some(path) = &arguments.script {
        let text = script(&summary, job.to.contains("://"));
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    if !arguments.quiet {
        for note in &summary.notes {
            eprintln!("note: {note}");
        }
    }
    match (arguments.json, arguments.quiet) {
        (true, _) => terminal::print(&format!("{}\n", in_json(&summary)?))?,
        (false, true) => {}
        (false, false) => terminal::print(&in_text(&summary, job.is_dry))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a plan, or writes it if there is none.
fn planned(path: &Path, job: &Job) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => return Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
    }
    fs::write(path, plan_of(job)?).with_context(|| format!("writing {}", path.display()))?;
    eprintln!(
        "wrote {}; nothing was copied: edit the plan and run the same command again",
        path.display()
    );
    Ok(None)
}

fn in_text(summary: &Summary, is_dry: bool) -> String {
    let mut text = String::new();
    for sql in &summary.statements {
        text += &format!("{sql};\n");
    }
    let width = summary
        .tables
        .iter()
        .map(|table| table.name.chars().count());
    let width = width.max().unwrap_or_default();
    for table in &summary.tables {
        let (name, rows) = (&table.name, HumanCount(table.rows));
        let hash = table.content.split(' ').nth(1).unwrap_or_default();
        let end = match (is_dry, table.was_finished) {
            (true, _) => "rows, as the source estimates".to_owned(),
            (false, true) => format!("rows, copied before, {hash}"),
            (false, false) => format!("rows, {hash}"),
        };
        text += &format!("{name:width$}  {rows:>12} {end}\n");
    }
    text
}

/// A script that stops at its first error and then changes nothing.
fn script(summary: &Summary, is_postgres: bool) -> String {
    let stop = match is_postgres {
        true => "\\set ON_ERROR_STOP on",
        false => ".bail on",
    };
    let statements = summary.script.join("\n");
    format!(
        "-- What `inorder copy` did not copy, in the SQL of the source. Edit each statement.\n{stop}\nBEGIN;\n\n{statements}\nCOMMIT;\n"
    )
}

/// A rule of a plan, and the number of values that it changed.
fn touched(touched: &Touched) -> Value {
    json!({
        "column": touched.column,
        "rule": touched.rule,
        "action": touched.action,
        "values": touched.values,
    })
}

/// What both databases say of a column.
fn compared(column: &Compared) -> Value {
    let says = |(name, source, copy): &(&str, String, String)| {
        (
            (*name).to_owned(),
            json!({ "source": source, "copy": copy }),
        )
    };
    json!({
        "column": column.column,
        "source_type": column.declared,
        "type": column.copied,
        "compared": column.measures.iter().map(says).collect::<Map<_, _>>(),
        "not_compared": column.why_not,
    })
}

fn in_json(summary: &Summary) -> Result<String> {
    let tables: Vec<_> = summary
        .tables
        .iter()
        .map(|table| {
            json!({
                "table": table.name,
                "rows": table.rows,
                "content": table.content,
                "was_finished": table.was_finished,
                "rules": table.touched.iter().map(touched).collect::<Vec<_>>(),
                "columns": table.compared.iter().map(compared).collect::<Vec<_>>(),
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&json!({
        "tables": tables,
        "notes": summary.notes,
        "statements": summary.statements,
        "script": summary.script,
    }))?)
}
