//! `inorder rekey`: the changes of an advice, made in the database itself.

use crate::{interrupt, terminal};
use anyhow::{Context as _, Result, bail};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_advise::{Change, Error, Phase, Plan, Progress, Rekey, report::plain};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
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
    /// Writes the script that takes these changes back, for the sqlite3 shell, before it makes them
    #[arg(long, value_name = "FILE")]
    undo: Option<PathBuf>,
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
    let progress = match arguments.quiet {
        true => Progress::default(),
        false => Progress::default().on_room(tell_room),
    };
    let progress = Arc::new(progress);
    let stop = Arc::clone(&progress);
    ctrlc::set_handler(move || stop.stop()).context("can't watch for Ctrl-C")?;
    let rekey = Rekey {
        path: arguments.file.clone(),
        changes,
        memory_bytes: (arguments.memory as usize).saturating_mul(1 << 20),
        wait: Duration::from_secs(arguments.wait),
        rebuilds_all: arguments.compact,
    };
    if let Some(script) = &arguments.undo {
        write_undo(&rekey, script)?;
    }
    let done = with_progress(&rekey, &progress, arguments.quiet);
    if let (Err(_), Some(script)) = (&done, &arguments.undo) {
        // Nothing was changed.
        _ = std::fs::remove_file(script);
    }
    match done {
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
                     or the disk had no room for the journal of that, so free pages are left in it; VACUUM returns them"
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

/// Writes the undo script of a rekey into a new file.
fn write_undo(rekey: &Rekey, script: &Path) -> Result<()> {
    let folder = inorder_advise::snapshot::private_folder()?;
    let name = rekey.path.file_name().unwrap_or_default().to_string_lossy();
    let text = inorder_advise::undo(&rekey.path, folder.path(), &name, &rekey.changes)
        .context("can't write an undo script, and nothing was changed")?;
    let file = std::fs::File::create_new(script);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("can't write {}; nothing was changed", script.display()))
}

/// Less room than this is not worth a line.
const ROOM_MIN: u64 = 1 << 20;

/// Says what the work needs on the disk, before it begins.
fn tell_room(bytes: u64) {
    if bytes >= ROOM_MIN {
        eprintln!(
            "inorder: this needs up to {} on the disk of the database while it runs",
            HumanBytes(bytes)
        );
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
