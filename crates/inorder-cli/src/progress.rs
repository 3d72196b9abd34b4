//! The progress of a run, on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_bench::{
    report::format::duration,
    results::{Run, Status, Trial},
    runner::{Observer, time_left},
};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// A bar with what runs now and the time left; plain lines where stderr isn't a terminal.
pub struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    began: Instant,
    seconds: HashMap<u64, f64>,
    experiment: String,
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
        Progress {
            bar,
            is_quiet,
            began: Instant::now(),
            seconds: HashMap::new(),
            experiment: String::new(),
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
}

impl Observer for Progress {
    fn begins(&mut self, run: &Run, trial: &Trial) {
        self.began = Instant::now();
        let Some(cell) = run.cell(trial.cell) else {
            return;
        };
        if cell.experiment != self.experiment {
            self.experiment.clone_from(&cell.experiment);
            let question = run
                .experiment(&cell.experiment)
                .map(|e| e.question.as_str());
            self.say(&format!(
                "{}: {}",
                cell.experiment,
                question.unwrap_or_default()
            ));
        }
        self.label = format!("{}: {}", cell.experiment, cell.label);
        self.rows_wanted = cell
            .levels
            .get("rows")
            .and_then(|rows| rows.parse().ok())
            .unwrap_or(1);
        self.bar.set_message(self.label.clone());
        if let Some(left) = time_left(run, &|id| self.seconds.get(&id).copied()) {
            self.bar.set_prefix(duration(left.as_secs()));
        }
    }

    fn rows(&mut self, rows: u64) {
        self.bar.set_message(format!(
            "{} {}%",
            self.label,
            rows * 100 / self.rows_wanted.max(1)
        ));
    }

    fn ended(&mut self, _run: &Run, trial: &Trial) {
        self.seconds
            .insert(trial.id, self.began.elapsed().as_secs_f64());
        self.bar.inc(1);
        if let Some(reason) = &trial.error {
            self.say(&format!("  failed: {}: {reason}", self.label));
        }
    }
}
