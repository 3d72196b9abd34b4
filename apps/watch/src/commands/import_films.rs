//! `inorder-watch import-films`: bring films and series in.

use crate::{
    db::{Database, films::Kind},
    films::{
        episodes::{Counted, Episodes},
        import::{self, Imported},
        source::Source,
    },
};
use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

/// Import films and series, also while the server runs. Known ones are not added again
///
/// Reads JSON lines ({"title": "Alien", "year": 1979, "people": ["Sigourney Weaver"], "genres": ["Horror"]}) and IMDb's
/// title.basics.tsv, plain or gzipped. A series is {"kind": "series", "title": "Dark", "year": 2017, "end_year": 2020, "seasons": 3}.
///
/// Of IMDb's file it takes the types movie, tvMovie, tvSeries and tvMiniSeries. The seasons of series are in IMDb's
/// title.episode.tsv.
#[derive(Args)]
pub struct ImportFilms {
    /// The file of films and series
    #[arg(value_name = "FILE", required_unless_present = "episodes")]
    file: Option<PathBuf>,
    /// IMDb's title.episode.tsv, plain or gzipped: the seasons of the series, and the numbers of their episodes. A series that
    /// somebody has watched whole is to be watched again if it has a new season
    #[arg(long, value_name = "FILE")]
    episodes: Option<PathBuf>,
    /// Leave out the others
    #[arg(long, value_name = "KIND")]
    only: Option<Only>,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Only {
    Films,
    Series,
}

impl From<Only> for Kind {
    fn from(only: Only) -> Self {
        match only {
            Only::Films => Kind::Film,
            Only::Series => Kind::Series,
        }
    }
}

impl ImportFilms {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        // Both are opened before one is imported.
        let source = self.file.as_deref().map(Source::open).transpose()?;
        let episodes = self.episodes.as_deref().map(Episodes::open).transpose()?;
        let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
        let mut counts = serde_json::Map::new();
        if let Some(source) = source {
            let done = import_titles(&database, source.only(self.only.map(Kind::from)))?;
            match serde_json::json!(done) {
                serde_json::Value::Object(done) if self.json => counts.extend(done),
                _ => tell(&done),
            }
        }
        if let Some(episodes) = episodes {
            let done = import_episodes(&database, episodes)?;
            match self.json {
                true => drop(counts.insert("seasons".to_owned(), serde_json::json!(done))),
                false => tell_seasons(&done),
            }
        }
        if self.json {
            writeln!(std::io::stdout(), "{}", serde_json::Value::Object(counts))?;
        }
        Ok(())
    }
}

fn import_titles(database: &Database, source: Source) -> anyhow::Result<Imported> {
    let bar = progress(source.bytes());
    let read = source.bytes_read();
    let done = import::import(database, source, |done| {
        bar.set_position(read.load(Ordering::Relaxed));
        bar.set_message(format!("{} added", done.added));
    });
    bar.finish_and_clear();
    Ok(done?)
}

fn import_episodes(database: &Database, episodes: Episodes) -> anyhow::Result<Counted> {
    let bar = progress(episodes.bytes());
    let read = episodes.bytes_read();
    bar.set_message("seasons");
    let done = episodes.import(database, || bar.set_position(read.load(Ordering::Relaxed)));
    bar.finish_and_clear();
    Ok(done?)
}

fn tell(done: &Imported) {
    eprintln!(
        "{} films and series added; {} were there{}{}{}",
        done.added,
        done.known + done.matched + done.completed + done.continued,
        got(done.matched, "number at IMDb"),
        got(done.completed, "running time"),
        got(done.continued, "further seasons or last year")
    );
    skipped(done.skipped, "film", done.first_skipped.as_deref());
}

fn tell_seasons(done: &Counted) {
    eprintln!(
        "{} series got their seasons, {} had them; {} episodes",
        done.changed, done.known, done.episodes
    );
    skipped(done.skipped, "episode", done.first_skipped.as_deref());
}

/// Names the lines that were left out.
fn skipped(count: u64, what: &str, first: Option<&str>) {
    if let Some(first) = first {
        eprintln!("{count} lines are no {what} and were left out; the first: {first}");
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
