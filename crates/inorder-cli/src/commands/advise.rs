//! `inorder advise`: what a database's keys, layouts and indexes cost, and what to change.

mod server;

use crate::{interrupt, terminal};
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_advise::{
    Error,
    advice::{Advice, Observer, Options, advise},
    classify::{self, Settled},
    counter::Readings,
    migrate,
    report::{FORMATS, Look},
    snapshot::private_folder,
    trial::{Queries, statements},
};
use inorder_bench::Error as Wrong;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

/// Ids were lost when they were stored.
const LOST: u8 = 3;
/// The file is damaged.
const DAMAGED: u8 = 4;
/// A query returns other rows with the changes, or doesn't compile.
const BROKEN: u8 = 5;

#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite database; it is only read
    file: Option<PathBuf>,
    /// In place of a file, a database of a running server, postgres://… or mysql://…, which is only
    /// read; INORDER_URL keeps the password out of the process list
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// How the advice is written: text, json, md or html
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: String,
    /// Writes the advice to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes the migration, its undo and the plan into a folder, proven on a second copy; of a
    /// server the steps, which are not run
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Takes minor changes into the plan too
    #[arg(long)]
    minor: bool,
    /// Takes a sample of so many MB (64) instead of a copy: every figure is an estimate
    #[arg(
        long,
        value_name = "MB",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "64",
        value_parser = clap::value_parser!(u64).range(1..1_000_000),
        conflicts_with = "write"
    )]
    sample: Option<u64>,
    /// Statements of the application: compares their plans, results and times before and after
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// An earlier report in JSON of the same database: tells for how many days each counter lasts
    #[arg(long, value_name = "REPORT")]
    since: Option<PathBuf>,
    /// Says what columns of ids are; by default advise.toml beside the file, or of a server in the
    /// current folder, if there is one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Shows no progress
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    if let Some(url) = server::url(&arguments)? {
        return server::run(&arguments, &url);
    }
    let file = arguments.file.as_deref().unwrap_or(Path::new(""));
    let names = FORMATS.iter().map(|format| format.name);
    let format = &FORMATS[format_named(names, &arguments.format)?];
    let since = readings(&arguments)?;
    let config = arguments.config.as_deref();
    let inputs = [
        Some(file),
        arguments.queries.as_deref(),
        arguments.since.as_deref(),
        config,
    ];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
    terminal::refuse_input(arguments.output.as_deref(), &inputs)?;
    interrupt::watch(|| ())?;
    let folder = interrupt::removes(|| Ok(private_folder()?), |folder| folder.path())?;
    let queries = match &arguments.queries {
        Some(path) => {
            let text = fs::read_to_string(path)
                .with_context(|| format!("can't read {}", path.display()))?;
            statements(&text)
        }
        None => Vec::new(),
    };
    if let Some(target) = &arguments.write {
        make_folder(target)?;
    }
    let options = Options {
        settled: settled(config, file.parent())?,
        queries,
        takes_minor: arguments.minor,
        keeps_copy: arguments.write.is_some(),
        sample_bytes: arguments.sample.map(|mb| mb * 1_000_000),
        since,
        ..Options::default()
    };
    let progress = Progress::new(arguments.quiet);
    let advice = advise(file, folder.path(), &options, &progress).map_err(refused)?;
    if let Some(target) = &arguments.write {
        let places = (folder.path(), target.as_path());
        write_migration(&advice, file, places, &options.queries, &progress)?;
    }
    progress.bar.finish_and_clear();
    let terminal = terminal::options();
    let is_file = arguments.output.is_some();
    let look = Look {
        color: terminal.color && !is_file,
        width: terminal.width,
    };
    let text = (format.write)(&advice, look);
    match &arguments.output {
        Some(path) => terminal::write_file(path, &text)?,
        None => terminal::print(&text)?,
    }
    Ok(exit_code(&advice))
}

/// The counters of the earlier report.
fn readings(arguments: &Arguments) -> Result<Option<Readings>> {
    let Some(path) = &arguments.since else {
        return Ok(None);
    };
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("can't read {shown}"))?;
    let readings = Readings::parse(&text).with_context(|| format!("--since {shown}"))?;
    Ok(Some(readings))
}

/// What the user says of columns: in the file of `--config`, or in one of the usual name in a folder.
fn settled(config: Option<&Path>, folder: Option<&Path>) -> Result<Option<Settled>> {
    let usual = || folder.unwrap_or(Path::new("")).join(classify::FILE);
    let path = config.map_or_else(usual, Path::to_owned);
    let found = Settled::read(&path).map_err(refused)?;
    if found.is_none() && config.is_some() {
        return Err(Wrong::Usage(format!("{}: there is no such file", path.display())).into());
    }
    Ok(found)
}

/// A file of the user's that says something wrong is no fault of the work.
fn refused(error: Error) -> anyhow::Error {
    match error {
        Error::Settled { .. } => Wrong::Usage(error.to_string()).into(),
        error => error.into(),
    }
}

/// The place of a format in a list of names.
fn format_named(names: impl Iterator<Item = &'static str>, wanted: &str) -> Result<usize, Wrong> {
    let names: Vec<&str> = names.collect();
    let place = names.iter().position(|name| *name == wanted);
    place.ok_or_else(|| {
        Wrong::Usage(format!(
            "there is no format `{wanted}`: take one of {}",
            names.join(", ")
        ))
    })
}

/// Makes the folder of `--write`, before the work: a folder that can't be made is told first.
fn make_folder(target: &Path) -> Result<()> {
    fs::create_dir_all(target).with_context(|| format!("can't make {}", target.display()))
}

/// Writes what carries out the plan of a file, if it can be proven in a folder, to a second one.
fn write_migration(
    advice: &Advice,
    file: &Path,
    (folder, target): (&Path, &Path),
    queries: &[String],
    progress: &Progress,
) -> Result<()> {
    let Some(together) = &advice.together else {
        progress.say("nothing is written: there is no plan");
        return Ok(());
    };
    progress.step("proving the migration");
    let name = &advice.file.name;
    let plan = serde_json::to_string_pretty(&together.plan)? + "\n";
    let mut files = vec![("advise.json", plan)];
    match migrate(&advice.copy, folder, name, &together.plan.changes, queries) {
        Ok(migration) => {
            files.insert(0, ("advise.sql", migration.script));
            files.insert(1, ("undo.sql", migration.undo));
        }
        Err(error @ Error::NotByScript { .. }) => {
            progress.say(&format!("no migration is written: {error}"));
        }
        Err(Error::Refused { change, why }) => {
            progress.say(&format!(
                "no migration is written, because it could not be proven: {change}: {why}"
            ));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    for (end, text) in &files {
        // The name may be no UTF-8.
        let mut name = file.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{end}"));
        let path = target.join(name);
        terminal::write_file(&path, text)?;
        progress.say(&format!("written: {}", path.display()));
    }
    Ok(())
}

fn exit_code(advice: &Advice) -> ExitCode {
    let is_broken = advice.queries.as_ref().is_some_and(Queries::is_broken);
    match (advice.lost.is_empty(), advice.is_damaged) {
        (false, _) => ExitCode::from(LOST),
        (_, true) => ExitCode::from(DAMAGED),
        _ if is_broken => ExitCode::from(BROKEN),
        _ => ExitCode::SUCCESS,
    }
}

/// A line on stderr that says what is being done.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(is_quiet: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        if is_quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {elapsed} {prefix}  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress { bar }
    }
}

impl Progress {
    fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }
}

impl Observer for Progress {
    fn step(&self, name: &str) {
        self.bar.set_prefix(name.to_owned());
        self.bar.set_message("");
    }

    fn object(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }
}
