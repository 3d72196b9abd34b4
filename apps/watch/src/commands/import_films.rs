//! `inorder-watch import-films`: bring films in.

use crate::{
    db::Database,
    films::{import, source::Source},
};
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

/// Import films, also while the server runs. Known films are not added again
///
/// Reads JSON lines ({"title": "Alien", "year": 1979, "people": ["Sigourney Weaver"], "genres": ["Horror"]}) and IMDb's
/// title.basics.tsv, plain or gzipped.
#[derive(Args)]
pub struct ImportFilms {
    /// The file of films
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

impl ImportFilms {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let source = Source::open(&self.file)?;
        let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
        let bar = progress(source.bytes);
        let read = source.bytes_read();
        let done = import::import(&database, source, |done| {
            bar.set_position(read.load(Ordering::Relaxed));
            bar.set_message(format!("{} films added", done.added));
        });
        bar.finish_and_clear();
        let done = done?;
        if self.json {
            println!("{}", serde_json::json!(done));
        } else {
            eprintln!(
                "{} films added; {} were there{}{}",
                done.added,
                done.known + done.matched + done.completed,
                got(done.matched, "number at IMDb"),
                got(done.completed, "running time")
            );
            if let Some(first) = done.first_skipped {
                eprintln!(
                    "{} lines are no film and were left out; the first: {first}",
                    done.skipped
                );
            }
        }
        Ok(())
    }
}

/// The words for films that got something they lacked.
fn got(count: u64, what: &str) -> String {
    match count {
        0 => String::new(),
        count => format!(", {count} of them got their {what}"),
    }
}

/// A bar over the bytes of a file; only on a terminal.
fn progress(bytes: u64) -> ProgressBar {
    let bar = ProgressBar::new(bytes);
    let style = ProgressStyle::with_template("{bar:30} {percent}% {msg} ({eta} left)");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
