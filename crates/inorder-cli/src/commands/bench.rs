//! `inorder bench`: runs experiments and reports.

mod schema;

use crate::{interrupt, progress::Progress, terminal};
use anyhow::{Context as _, Result};
use inorder_bench::{
    Error,
    budget::Budget,
    engines::{Engines, remove_own, without_passwords},
    experiment::{Experiment, Migrate, Overrides, Scale},
    experiments,
    footprint::{Footprint, check_room, footprint},
    format, nearest,
    plan::Plan,
    report::{self, Format},
    results::{Run, Status, Store, left_out},
    run::{Request, rehearse},
    runner::{Bounds, End, Processes, WorkFolder, run_trials},
    schema::Draft,
};
use serde_json::json;
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

/// Longest time until an interrupted command ends, whether its servers answer or not.
const LEAVING_MAX: Duration = Duration::from_secs(30);
/// The built-in experiment of `--migrate`.
const MIGRATE: &str = "migrate";

/// The result file options, shared by every command that runs trials.
#[derive(clap::Args)]
pub struct Where {
    /// Folder for result files, reports and the databases under test
    #[arg(
        long,
        value_name = "FOLDER",
        env = "INORDER_DIR",
        hide_env_values = true,
        default_value = "inorder-results"
    )]
    dir: PathBuf,
    /// Use a running server instead of a private one: postgres://user:password@host:port/database or
    /// mysql://…; each trial creates and removes its own schema or database. INORDER_URL keeps the
    /// password out of the process list
    #[arg(
        long,
        value_name = "URL",
        env = "INORDER_URL",
        hide_env_values = true,
        value_delimiter = ' '
    )]
    url: Vec<String>,
    /// Print the whole report as JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Run also if the disk is expected to be too small
    #[arg(long)]
    force: bool,
}

impl Where {
    /// The servers that run already.
    pub fn engines(&self) -> Result<Engines> {
        Ok(Engines::at(&self.url)?)
    }
}

/// Runs experiments: the built-in ones, or your own TOML files. Without arguments, the built-in
/// experiments at the quick scale, for 85 seconds.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  inorder bench                                  the built-in experiments, for 85 seconds
  inorder bench --budget 5m                      for five minutes: more repetitions
  inorder bench presort --scale full             one of them, as large as it was published
  inorder bench W6 P3                            those that answer these claims
  inorder bench my.toml --data films.jsonl.gz    an experiment of your own
  inorder bench keys --set key=ulid,uuid4 --set rows=1000000
  inorder bench disk-io --engine sqlite,postgres,mariadb
  inorder bench keys --url postgres://me@localhost/test
  inorder bench --schema schema.sql --engine postgres --table orders
  inorder bench --migrate uuid4:uuid7            the way to another key
  inorder bench --from app.db                    an experiment about the tables of a database
  inorder bench --list                           what there is; --dry-run: what would run")]
pub struct Arguments {
    /// Built-in experiments by name or by a claim they answer, or TOML files
    #[arg(value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// List the experiments (all built-in ones, or those named) and the claims they answer
    #[arg(long)]
    list: bool,
    /// Show the plan as a table and run nothing: how long it takes, what it writes, and whether the disk can hold it
    #[arg(long)]
    dry_run: bool,
    /// Time for the whole run, in seconds or as 90s, 5m, 1h. The most informative trials run first; the report names
    /// the rest. Default: 85 s if no experiment is named, the scale is quick and --repetitions is absent; else none
    #[arg(
        long,
        value_name = "TIME",
        env = "INORDER_BUDGET",
        hide_env_values = true
    )]
    budget: Option<Budget>,
    /// Size of the experiments: quick (smaller than published, with smaller caches) or full (the published sizes)
    #[arg(
        long,
        value_name = "SCALE",
        default_value = "quick",
        env = "INORDER_SCALE",
        hide_env_values = true
    )]
    scale: String,
    /// Run only cells with one of these levels, and their baseline; with several factors, only cells that
    /// match all of them
    #[arg(long, value_name = "FACTOR=LEVEL,…", value_parser = levels)]
    only: Vec<(String, Vec<String>)>,
    /// Levels of a factor, instead of those of the experiment (see `inorder explain factors`)
    #[arg(long, value_name = "FACTOR=LEVEL,…", value_parser = levels)]
    set: Vec<(String, Vec<String>)>,
    /// Move the loaded tables to another key while they are in use, and measure each phase, the waits of a writer and a reader,
    /// sizes, and inserts before and after. A key is a kind, an encoding or both: uuid4:uuid7, text:native,
    /// uuid4/text:uuid7,bigint. Without an experiment or a schema, the built-in experiment `migrate`
    #[arg(long, value_name = "FROM:TO,…", value_parser = Migrate::parse)]
    migrate: Option<Migrate>,
    /// Engines to run on, instead of those of the experiment; same as --set engine=… (see
    /// `inorder engines`)
    #[arg(long, value_name = "ENGINE,…", value_delimiter = ',')]
    engine: Vec<String>,
    /// Number of servers of the engine postgres-sharded; same as --set shards=…
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    shards: Vec<String>,
    /// Data file for experiments that read one: JSONL, CSV, TSV or IMDb's title.basics.tsv, plain or .gz
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Trials per cell
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Seed of keys, rows and the order of trials; the same seed writes the same bytes
    #[arg(long, default_value_t = 1, env = "INORDER_SEED", hide_env_values = true, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Continue a stopped run with its scale and seed: this result file, or the newest unfinished one
    /// of the folder
    #[arg(long, value_name = "RESULT", num_args = 0..=1, conflicts_with_all = ["experiments", "list", "dry_run", "engine", "shards", "set", "only", "data", "repetitions", "schema", "from", "migrate"])]
    resume: Option<Option<PathBuf>>,
    #[command(flatten)]
    schema: schema::SchemaArguments,
    #[command(flatten)]
    place: Where,
}

/// `factor=level,level`.
fn levels(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, levels) = text
        .split_once('=')
        .filter(|(name, levels)| !name.is_empty() && !levels.is_empty())
        .ok_or("write FACTOR=LEVEL or FACTOR=LEVEL,LEVEL, such as key=ulid,uuid4")?;
    Ok((
        name.to_owned(),
        levels.split(',').map(str::to_owned).collect(),
    ))
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    interrupt::watch(leave_servers)?;
    let engines = arguments.place.engines()?;
    if let Some(path) = &arguments.resume {
        let timer = Timer::start(arguments.budget.and_then(|budget| budget.0));
        return resume(path.as_deref(), &arguments.place, &engines, timer);
    }
    let drafted = arguments
        .schema
        .draft(&arguments.engine, &arguments.place.dir)?;
    if let Some(draft) = drafted.as_ref().filter(|_| arguments.schema.is_print()) {
        terminal::print(&draft.text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let request = request(&arguments, drafted, engines)?;
    if arguments.list {
        return list(&request.experiments, arguments.place.json);
    }
    let budget = budget_of(&arguments, &request);
    let mut plan = match budget {
        Some(_) => request.plan_for_budget()?,
        None => request.plan()?,
    };
    plan.only(&arguments.only)?;
    if arguments.dry_run {
        return show_plan(&request, plan, budget, &arguments.place);
    }
    start(request, plan, &arguments.place, Timer::start(budget))
}

/// Removes what a rehearsal, which works in this process, has on servers that run already.
pub fn leave_servers() {
    if !remove_own(LEAVING_MAX) {
        // Stderr is closed if the terminal is.
        let _ = writeln!(
            std::io::stderr(),
            "what is left on the server is removed at the next start"
        );
    }
}

/// The time that a run may take: as the command line says, and the default where it asks for nothing in particular.
fn budget_of(arguments: &Arguments, request: &Request) -> Option<Duration> {
    let is_open = arguments.experiments.is_empty()
        && !arguments.schema.is_given()
        && arguments.migrate.is_none()
        && arguments.repetitions.is_none()
        && request.scale == Scale::Quick;
    let default = Budget(is_open.then_some(Budget::DEFAULT));
    arguments.budget.unwrap_or(default).0
}

/// The time since a run began, and the time that it may take.
#[derive(Clone, Copy)]
pub struct Timer {
    began: Instant,
    budget: Option<Duration>,
}

impl Timer {
    /// Starts now.
    pub fn start(budget: Option<Duration>) -> Self {
        Timer {
            began: Instant::now(),
            budget,
        }
    }

    /// The remaining budget as a flag for the command that continues.
    fn flag_for_rest(&self) -> String {
        let left = self
            .budget
            .map(|all| all.saturating_sub(self.began.elapsed()));
        left.map_or_else(String::new, |left| {
            format!(" --budget {}s", left.as_secs().max(1))
        })
    }
}

/// The requested experiments, parsed.
fn request(arguments: &Arguments, drafted: Option<Draft>, engines: Engines) -> Result<Request> {
    let scale = Scale::from_name(&arguments.scale).ok_or_else(|| {
        let wanted = &arguments.scale;
        let nearest = nearest(wanted, Scale::ALL.iter().map(|scale| scale.name()));
        Error::Usage(format!("unknown scale `{wanted}`: {nearest}"))
    })?;
    let data = match &arguments.data {
        Some(path) => Some(existing(path).context("--data")?),
        None => None,
    };
    let mut set = arguments.set.clone();
    let names = engine_names(arguments, &engines)?;
    if !names.is_empty() {
        set.push(("engine".to_owned(), names));
    }
    if !arguments.shards.is_empty() {
        set.push(("shards".to_owned(), arguments.shards.clone()));
    }
    let overrides = Overrides {
        set,
        data,
        repetitions: arguments.repetitions,
    };
    let (chosen, overrides) = chosen(arguments, drafted, scale, overrides)?;
    Ok(Request {
        experiments: chosen,
        engines,
        scale,
        overrides,
        seed: arguments.seed,
        command: command_line(),
    })
}

/// The experiments, parsed, and what the command line changes in them.
fn chosen(
    arguments: &Arguments,
    drafted: Option<Draft>,
    scale: Scale,
    mut overrides: Overrides,
) -> Result<(Vec<Experiment>, Overrides)> {
    let (files, mut names): (Vec<String>, Vec<String>) = (arguments.experiments.iter().cloned())
        .partition(|name| name.ends_with(".toml") || Path::new(name).is_file());
    let is_alone = drafted.is_none() && files.is_empty() && names.is_empty();
    let of_draft = |draft: &Draft, overrides: &Overrides| {
        Experiment::parse(
            &format!("{}.toml", draft.name),
            &draft.text,
            scale,
            overrides,
        )
    };
    if let Some(migrate) = &arguments.migrate {
        let unchanged = Overrides::default();
        let own = match (&drafted, &files[..]) {
            (Some(draft), _) => Some(of_draft(draft, &unchanged)?.own_key()),
            (None, [file]) => Some(from_file(Path::new(file), scale, &unchanged)?.own_key()),
            _ => None,
        };
        let own = own.as_ref();
        let own = own.map(|(kind, encoding)| (kind.as_str(), encoding.as_str()));
        overrides.set.splice(0..0, migrate.levels(own));
        if is_alone {
            names.push(MIGRATE.to_owned());
        }
    }
    let mut chosen = Vec::new();
    if let Some(draft) = &drafted {
        chosen.push(of_draft(draft, &overrides)?);
    } else if !names.is_empty() || files.is_empty() {
        let names: Vec<String> = match arguments.list && names.is_empty() {
            true => experiments::names(),
            false => names,
        };
        chosen = experiments::built_in(&names, scale, &overrides)?;
    }
    for file in &files {
        chosen.push(from_file(Path::new(file), scale, &overrides)?);
    }
    Ok((chosen, overrides))
}

/// The command line as results keep it.
pub fn command_line() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    without_passwords(words.map(|word| word.to_string_lossy().into_owned()))
}

/// The engines to run on, where the command line says: those named, else those of the URLs.
fn engine_names(arguments: &Arguments, engines: &Engines) -> Result<Vec<String>> {
    let at_urls = engines.shown();
    if arguments.engine.is_empty() {
        return Ok(at_urls.into_iter().map(|(name, _)| name).collect());
    }
    match at_urls
        .iter()
        .find(|(name, _)| !arguments.engine.contains(name))
    {
        Some((name, url)) => {
            Err(Error::Usage(format!("{url} is a {name} server, which --engine excludes")).into())
        }
        None => Ok(arguments.engine.clone()),
    }
}

/// The absolute path of a file that must be there.
fn existing(path: &Path) -> Result<String> {
    let path = path.canonicalize().map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    Ok(path.to_string_lossy().into_owned())
}

/// An experiment of the user's own. Its data file is looked for beside it.
fn from_file(path: &Path, scale: Scale, overrides: &Overrides) -> Result<Experiment> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    let mut experiment = Experiment::parse(&path.to_string_lossy(), &text, scale, overrides)?;
    if overrides.data.is_none()
        && let Some(data) = &experiment.data
    {
        let beside = path.parent().unwrap_or(Path::new("")).join(data);
        let named = || format!("`data` of {}", path.display());
        experiment.data = Some(existing(&beside).with_context(named)?);
    }
    Ok(experiment)
}

/// Runs a new plan.
pub fn start(request: Request, plan: Plan, place: &Where, timer: Timer) -> Result<ExitCode> {
    if !place.force {
        check_room(&request.experiments, &plan, &remote(&request), &place.dir)?;
    }
    let work = work_folder(&place.dir)?;
    for experiment in &request.experiments {
        if timer.budget.is_none() || !is_tested(&request, experiment) {
            // One that does not end goes on until this process does.
            rehearse(&request, experiment, &plan, work.path()).inspect_err(|_| leave_servers())?;
        }
    }
    for (experiment, label, reason) in &plan.impossible {
        if !place.quiet {
            eprintln!("left out: {experiment}: {label}: {reason}");
        }
    }
    let engines = request.engines.clone();
    let mut run = request.into_run(plan, &place.dir)?;
    let (path, store) = new_store(&run, &place.dir)?;
    execute(&store, &mut run, &path, &work, (place, &engines, timer))
}

/// Whether an experiment is a built-in one as it is, on SQLite: the tests of this program rehearse it, and a time budget
/// has a better use for the seconds.
fn is_tested(request: &Request, experiment: &Experiment) -> bool {
    experiments::is_built_in(&experiment.text)
        && request.overrides.set.is_empty()
        && request.overrides.data.is_none()
        && experiment.all_levels("engine") == ["sqlite"]
}

/// The folder that trials work in. Says so where another run will disturb this one.
fn work_folder(results: &Path) -> Result<WorkFolder> {
    let create = || {
        WorkFolder::create(results).with_context(|| {
            let folder = results.display();
            format!("can't write to the folder {folder}: choose another with --dir or INORDER_DIR")
        })
    };
    let work = interrupt::removes(create, WorkFolder::path)?;
    for process in work.others() {
        eprintln!(
            "process {process} also runs trials in this folder: times will be noisy, bytes are not affected"
        );
    }
    Ok(work)
}

/// A new result file name: date, time and scale, and a number if that name exists.
fn new_store(run: &Run, folder: &Path) -> Result<(PathBuf, Store)> {
    let stamp = format::stamp(run.meta.started_unix_s);
    let mut number = 1;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            // Sorted by name, it comes after the file without a number: results stay in order.
            format!("_{number}")
        };
        let path = folder.join(format!("{stamp}-{}{suffix}.db", run.meta.scale));
        match Store::create(&path, run) {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {
                number += 1;
            }
            created => return Ok((path, created?)),
        }
    }
}

/// Resumes an interrupted run.
fn resume(path: Option<&Path>, place: &Where, engines: &Engines, timer: Timer) -> Result<ExitCode> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => newest_unfinished(&place.dir)?,
    };
    let store = Store::open(&path)?;
    let mut run = store.run()?;
    if run.meta.urls != engines.shown() {
        let urls: Vec<&str> = run.meta.urls.iter().map(|(_, url)| url.as_str()).collect();
        let wanted = match urls.is_empty() {
            true => "without --url".to_owned(),
            false => format!("with --url {}, and the password", urls.join(" --url ")),
        };
        let path = path.display();
        return Err(Error::Usage(format!("{path}: resume it {wanted}, as at its start")).into());
    }
    let left = run.trials.iter().filter(|t| t.status != Status::Done);
    let (left, all) = (left.count(), run.trials.len());
    if left == 0 {
        return Err(Error::Usage(format!(
            "{0}: all {all} trials are done; see inorder report {0}",
            path.display()
        ))
        .into());
    }
    eprintln!("{}: {left} of {all} trials left", path.display());
    let work = work_folder(match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    })?;
    execute(&store, &mut run, &path, &work, (place, engines, timer))
}

/// The result files of a folder, oldest first.
fn result_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    paths.sort();
    paths
}

/// The newest result file in a folder that has trials left.
fn newest_unfinished(folder: &Path) -> Result<PathBuf> {
    let paths = result_files(folder);
    let has_trials_left =
        |run: Run| run.meta.finished_unix_s.is_none() || run.meta.budget_s.is_some();
    let is_unfinished = |path: &PathBuf| Store::read(path).is_ok_and(has_trials_left);
    paths.into_iter().rev().find(is_unfinished).ok_or_else(|| {
        let folder = folder.display();
        Error::Usage(format!(
            "no unfinished run in {folder}: name its result file, or its folder with --dir"
        ))
        .into()
    })
}

/// Runs what is left, and reports what there is, however it ended.
fn execute(
    store: &Store,
    run: &mut Run,
    path: &Path,
    work: &WorkFolder,
    (place, engines, timer): (&Where, &Engines, Timer),
) -> Result<ExitCode> {
    let stop = interrupt::stops();
    let mut executor = Processes {
        command: (std::env::current_exe()?, vec!["trial".to_owned()]),
        urls: engines.secret_urls(),
        stop: Arc::clone(&stop),
    };
    let mut progress = Progress::new(run, place.quiet);
    let bounds = Bounds {
        stop: &stop,
        budget: timer.budget,
        clock: &|| timer.began.elapsed(),
    };
    let ended = run_trials(
        store,
        run,
        work.path(),
        &mut executor,
        &mut progress,
        &bounds,
    );
    progress.finish();
    if let Err(error) = engines.clean_up() {
        eprintln!("the remains of killed trials are removed at the next start: {error}");
    }
    if run.trials.iter().any(|trial| trial.status == Status::Done) {
        show(run, path, place)?;
    }
    let go_on = format!("inorder bench --resume {}", path.display());
    let told = |_: &Error| {
        eprintln!("finished trials are kept; after correcting the error, resume with: {go_on}")
    };
    let ended = ended.inspect_err(told)?;
    if ended == End::Stopped {
        let rest = timer.flag_for_rest();
        eprintln!("stopped; finished trials are kept. Resume with: {go_on}{rest}");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    if !place.quiet {
        eprintln!("done in {} s", timer.began.elapsed().as_secs());
    }
    if let Some(words) = left_out::in_words(run) {
        eprintln!("{words}\ncomplete it with: {go_on}");
    }
    let failed = run.trials.iter().filter(|t| t.status == Status::Failed);
    let failed = failed.count();
    if failed > 0 {
        eprintln!("{failed} trials failed; run them again with: {go_on}");
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// Writes the page beside the result file and prints the report.
fn show(run: &Run, path: &Path, place: &Where) -> Result<()> {
    let format = if place.json {
        Format::Json
    } else {
        Format::Term
    };
    let options = terminal::options();
    let page = path.with_extension("html");
    // Writes the files first: the reader of stdout may close it before its end.
    terminal::write_file(&page, &report::render(run, Format::Html, &options)?)?;
    let names = format!(
        "\nresults  {}\nreport   {}\n",
        path.display(),
        page.display()
    );
    let mut text = report::render(run, format, &options)?;
    if place.json {
        eprint!("{names}");
    } else {
        text += &names;
    }
    terminal::print(&text)
}

/// `--list`.
fn list(experiments: &[Experiment], as_json: bool) -> Result<ExitCode> {
    if as_json {
        let rows: Vec<_> = experiments
            .iter()
            .map(|e| {
                json!({"name": e.name, "title": e.title, "question": e.question,
                       "expect": e.expect, "claims": e.claims})
            })
            .collect();
        terminal::print(&format!("{}\n", serde_json::to_string_pretty(&rows)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for experiment in experiments {
        text += &format!("{}\n    {}\n", experiment.name, experiment.question);
        if !experiment.claims.is_empty() {
            text += &format!("    claims {}\n", experiment.claims.join(", "));
        }
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// `--dry-run`: the plan, with a budget only the trials that are expected to fit into it.
fn show_plan(
    request: &Request,
    mut plan: Plan,
    budget: Option<Duration>,
    place: &Where,
) -> Result<ExitCode> {
    let mut words = None;
    if let Some(budget) = budget {
        let expected = request.forecast(&plan, budget)?;
        let is_done = |id| {
            expected
                .trials
                .iter()
                .any(|t| t.id == id && t.status == Status::Done)
        };
        plan.trials.retain(|trial| is_done(trial.id));
        words = left_out::in_words(&expected);
    }
    let expected = footprint_of(request, &plan, place)?;
    let text = if place.json {
        let value = json!({
            "expected": {
                "seconds": expected.seconds, "calibrated_by_trials": expected.calibrated_by,
                "written_bytes": expected.written_bytes,
                "disk_bytes": expected.largest.as_ref().map(|(bytes, _)| bytes),
            },
            "experiments": plan.experiments, "cells": plan.cells, "impossible": plan.impossible,
            "trials": plan.trials.iter().map(|t| json!({"id": t.id, "cell": t.cell,
                "repetition": t.repetition, "seed": t.seed})).collect::<Vec<_>>(),
            "budget_s": budget.map(|budget| budget.as_secs()),
        });
        format!("{}\n", serde_json::to_string_pretty(&value)?)
    } else {
        let table = report::plan::table(&plan, request.scale, request.seed, &terminal::options());
        let words = words.map(|words| format!("expected here: {words}\n"));
        table + &words.unwrap_or_default() + &expected.in_words() + "\n"
    };
    terminal::print(&text)?;
    if !place.force {
        expected.fits(&place.dir)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Names of the engines whose servers run already: their tables are not stored here.
fn remote(request: &Request) -> Vec<String> {
    let servers = request.engines.shown().into_iter();
    servers.map(|(name, _)| name).collect()
}

/// What a plan is expected to take here, at the speed of the newest run of the folder.
fn footprint_of(request: &Request, plan: &Plan, place: &Where) -> Result<Footprint> {
    let earlier = result_files(&place.dir).into_iter().rev();
    let newest = earlier.filter_map(|path| Store::read(&path).ok()).next();
    let earlier: Vec<Run> = newest.into_iter().collect();
    let remote = remote(request);
    let found = footprint(&request.experiments, plan, &remote, &earlier);
    // A result file of another version has no speed.
    found
        .or_else(|_| footprint(&request.experiments, plan, &remote, &[]))
        .map_err(Into::into)
}
