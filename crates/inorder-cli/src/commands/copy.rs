//! `inorder copy`: a whole database into another one.

use anyhow::Result;
use console::Term;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_copy::{Error, Job, Observer, Stop, Summary, run as copy};
use serde_json::json;
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
    let job = Job {
        from: arguments.source,
        to: arguments.destination,
        schema: arguments.schema,
        tables: arguments.table,
        excluded: arguments.exclude,
        replaces: arguments.replace_tables,
        is_dry: arguments.dry_run,
    };
    let copied = copy(&job, &watch);
    watch.bar.finish_and_clear();
    let summary = match copied {
        Err(Error::Stopped) => {
            eprintln!("inorder: {}", Error::Stopped);
            return Ok(ExitCode::from(STOPPED));
        }
        copied => copied?,
    };
    match (arguments.json, arguments.quiet) {
        (true, _) => terminal::print(&format!("{}\n", in_json(&summary)?))?,
        (false, true) => {}
        (false, false) => terminal::print(&in_text(&summary, job.is_dry))?,
    }
    Ok(ExitCode::SUCCESS)
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
    for note in &summary.notes {
        text += &format!("note: {note}\n");
    }
    text
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
            })
        })
        .collect();
    Ok(serde_json::to_string_pretty(&json!({
        "tables": tables,
        "notes": summary.notes,
        "statements": summary.statements,
    }))?)
}
