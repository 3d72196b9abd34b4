//! `inorder rekey`: the changes of an advice, made in the database itself.

use crate::{interrupt, terminal};
use anyhow::{Context as _, Result, bail};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_advise::{Change, Error, Phase, Plan, Progress, Rekey, report::plain};
use std::{
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

/// Work that takes less shows nothing.
const SILENT: Duration = Duration::from_millis(800);

const TICK: Duration = Duration::from_millis(200);

/// Makes the changes of a plan in an SQLite database: all of them or none, also after a kill.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite database
    file: PathBuf,
    /// The changes, as `inorder advise --write` writes them
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// Makes only these changes of the plan, by their numbers from 1
    #[arg(long, value_name = "N", value_delimiter = ',')]
    only: Vec<usize>,
    /// Memory for sorting, in MB
    #[arg(
        long,
        value_name = "MB",
        default_value_t = 256,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    memory: u32,
    /// Seconds to wait for other processes that use the database
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    wait: u64,
    /// Builds all tables and indexes anew as VACUUM does, not only those that change
    #[arg(long)]
    compact: bool,
    /// Lists the changes of the plan with their numbers, and makes none
    #[arg(long)]
    list: bool,
    /// Shows no progress
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let changes = changes(&arguments)?;
    if arguments.list {
        let line = |(change, number): (&Change, usize)| {
            format!("{number}  {}\n", plain(&change.to_string()))
        };
        terminal::print(&changes.iter().zip(1..).map(line).collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let progress = Arc::new(Progress::default());
    let stop = Arc::clone(&progress);
    ctrlc::set_handler(move || stop.stop()).context("can't watch for Ctrl-C")?;
    let rekey = Rekey {
        path: arguments.file.clone(),
        changes,
        memory_bytes: (arguments.memory as usize).saturating_mul(1 << 20),
        wait: Duration::from_secs(arguments.wait),
        rebuilds_all: arguments.compact,
    };
    match with_progress(&rekey, &progress, arguments.quiet) {
        Ok(rekeyed) => {
            let percent =
                100.0 * (rekeyed.bytes_after as f64 / rekeyed.bytes_before.max(1) as f64 - 1.0);
            terminal::print(&format!(
                "{}: {} → {}, {percent:+.1} %\n",
                arguments.file.display(),
                HumanBytes(rekeyed.bytes_before),
                HumanBytes(rekeyed.bytes_after)
            ))?;
            if rekeyed.has_free_pages {
                eprintln!(
                    "inorder: the changes are made. Another process used the database when its file was to be shortened, \
                     so free pages are left in it; VACUUM returns them"
                );
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Error::Stopped) => {
            eprintln!("inorder: {}", Error::Stopped);
            Ok(ExitCode::from(interrupt::EXIT_CODE))
        }
        Err(error) => Err(error.into()),
    }
}

/// The requested changes.
fn changes(arguments: &Arguments) -> Result<Vec<Change>> {
    let path = arguments.plan.display();
    let text = std::fs::read(&arguments.plan).with_context(|| format!("can't read {path}"))?;
    let plan: Plan = serde_json::from_slice(&text).with_context(|| {
        format!("{path} is not a plan; `inorder advise --write FOLDER` writes one")
    })?;
    if plan.changes.is_empty() {
        bail!("{path} has no changes");
    }
    if arguments.only.is_empty() {
        return Ok(plan.changes);
    }
    let chosen = arguments.only.iter().map(|number| {
        let change = number.checked_sub(1).and_then(|at| plan.changes.get(at));
        change.cloned().ok_or_else(|| {
            inorder_bench::Error::Usage(format!(
                "{path} has no change {number}: take 1 to {}",
                plan.changes.len()
            ))
        })
    });
    Ok(chosen.collect::<Result<_, _>>()?)
}

/// Runs it and says on stderr what is being done.
fn with_progress(
    rekey: &Rekey,
    progress: &Progress,
    is_quiet: bool,
) -> Result<inorder_advise::Rekeyed, Error> {
    if is_quiet {
        return rekey.run(progress);
    }
    let (end, ended) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let bar = ProgressBar::new_spinner();
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            let began = Instant::now();
            while ended.recv_timeout(TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                if began.elapsed() > SILENT {
                    bar.set_message(message(progress.phase()));
                    bar.tick();
                }
            }
            bar.finish_and_clear();
        });
        let result = rekey.run(progress);
        drop(end);
        result
    })
}

fn message(phase: Phase) -> &'static str {
    match phase {
        Phase::Check => "checking the changes",
        Phase::Build => "building the new file",
        Phase::Compare => "comparing the new file with the old one",
        Phase::Journal => "writing the journal of the old pages",
        Phase::Swap => "writing the new pages; the database is locked",
        Phase::Shrink => "moving the last pages; nobody else can write",
    }
}
