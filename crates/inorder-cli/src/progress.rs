//! The progress of a run, on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_bench::{
    analysis::is_noisy,
    budget::Outlook,
    format::duration,
    report::answer,
    results::{Run, Status, Trial},
    runner::Observer,
};
use std::{collections::BTreeSet, time::Duration};

/// A bar with what runs now and the time left; plain lines where stderr isn't a terminal. Each experiment's question is
/// said when its first trial begins, and its answer when each of its cells has run once.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    asked: BTreeSet<String>,
    answered: BTreeSet<String>,
    label: String,
    rows_wanted: u64,
}

impl Progress {
    /// The progress of a run.
    pub fn new(run: &Run, is_quiet: bool) -> Self {
        let done = run.trials.iter().filter(|t| t.status == Status::Done);
        let bar = ProgressBar::new(run.trials.len() as u64).with_position(done.count() as u64);
        bar.set_draw_target(if is_quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        });
        let style = ProgressStyle::with_template(
            "{bar:24.cyan/dim} {pos}/{len} trials, {prefix} left  {wide_msg}",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.set_prefix("?");
        bar.enable_steady_tick(Duration::from_millis(250));
        let names = run.experiments.iter().map(|e| e.name.clone());
        Progress {
            bar,
            is_quiet,
            asked: BTreeSet::new(),
            answered: names.filter(|name| has_run_once(run, name)).collect(),
            label: String::new(),
            rows_wanted: 1,
        }
    }

    fn say(&self, line: &str) {
        if self.is_quiet {
            return;
        }
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.println(line);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints the answer of an experiment when its first repetition is complete.
    fn answer(&mut self, run: &Run, name: &str) {
        if self.answered.contains(name) || !has_run_once(run, name) {
            return;
        }
        self.answered.insert(name.to_owned());
        let Some(experiment) = run.experiment(name) else {
            return;
        };
        // A template that can't be read is an error of the report, which says so.
        let is_noisy = is_noisy(run, name).is_some();
        if let Ok(pieces) = answer::fill(run, experiment, is_noisy) {
            self.say(&format!("  > {}", answer::text(&pieces)));
        }
    }
}

/// Whether each cell of an experiment has run once, well or not.
fn has_run_once(run: &Run, experiment: &str) -> bool {
    let was_run = |cell: u64| {
        let mut trials = run.trials.iter();
        trials.any(|trial| trial.cell == cell && trial.status != Status::Planned)
    };
    run.cells_of(experiment).iter().all(|cell| was_run(cell.id))
}

impl Observer for Progress {
    fn begins(&mut self, run: &Run, trial: &Trial, outlook: Outlook) {
        let Some(cell) = run.cell(trial.cell) else {
            return;
        };
        if self.asked.insert(cell.experiment.clone()) {
            let experiment = run.experiment(&cell.experiment);
            let question = experiment.map_or("", |e| e.question.as_str());
            self.say(&format!("{}: {question}", cell.experiment));
        }
        self.label = format!("{}: {}", cell.experiment, cell.label);
        let rows = cell.levels.get("rows").and_then(|rows| rows.parse().ok());
        self.rows_wanted = rows.unwrap_or(1);
        self.bar.set_message(self.label.clone());
        self.bar
            .set_length(self.bar.position() + outlook.trials as u64);
        self.bar.set_prefix(duration(outlook.left.as_secs()));
    }

    fn rows(&mut self, rows: u64) {
        self.bar.set_message(format!(
            "{} {}%",
            self.label,
            rows * 100 / self.rows_wanted.max(1)
        ));
    }

    fn ended(&mut self, run: &Run, trial: &Trial) {
        self.bar.inc(1);
        if let Some(reason) = &trial.error {
            self.say(&format!("  failed: {}: {reason}", self.label));
        }
        if let Some(cell) = run.cell(trial.cell) {
            self.answer(run, &cell.experiment);
        }
    }
}
