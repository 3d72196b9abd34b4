//! The trials that a time budget excluded from a run.

use super::{Meta, Run, Status, Trial};

/// An experiment of which a time budget left out repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The experiment's name.
    pub experiment: String,
    /// Repetitions of which every trial was run.
    pub repetitions_run: u32,
    /// Repetitions that were planned.
    pub repetitions_planned: u32,
    /// The command that runs all of them, but for flags of the command line other than these.
    pub command: String,
}

/// The experiments of which a time budget left out repetitions, in the order of the plan; none where the run ended
/// otherwise.
pub fn of_run(run: &Run) -> Vec<LeftOut> {
    let names = run.experiments.iter().map(|e| e.name.as_str());
    names.filter_map(|name| of_experiment(run, name)).collect()
}

/// The trials that a time budget excluded from an experiment.
pub fn of_experiment(run: &Run, experiment: &str) -> Option<LeftOut> {
    run.meta.budget_s?;
    let cells: Vec<u64> = run.cells_of(experiment).iter().map(|c| c.id).collect();
    let trials = || run.trials.iter().filter(|t| cells.contains(&t.cell));
    let is_planned = |trial: &&Trial| trial.status == Status::Planned;
    let repetitions_run = trials().filter(is_planned).map(|t| t.repetition).min()?;
    let repetitions_planned = trials().map(|trial| trial.repetition + 1).max()?;
    Some(LeftOut {
        experiment: experiment.to_owned(),
        repetitions_run,
        repetitions_planned,
        command: command(&run.meta, experiment, repetitions_planned),
    })
}

fn command(meta: &Meta, experiment: &str, repetitions: u32) -> String {
    let scale = match meta.scale.as_str() {
        "quick" => String::new(),
        other => format!(" --scale {other}"),
    };
    format!("inorder bench {experiment}{scale} --repetitions {repetitions}")
}

impl LeftOut {
    /// Why a verdict is missing, and the command that gives it.
    pub fn reason(&self) -> String {
        format!(
            "{} of {} repetitions run: `{}` completes it",
            self.repetitions_run, self.repetitions_planned, self.command
        )
    }
}

/// Describes the trials that a time budget excluded from a run; `None` if the run ended otherwise.
pub fn in_words(run: &Run) -> Option<String> {
    let left_out = of_run(run);
    let budget_s = run.meta.budget_s.filter(|_| !left_out.is_empty())?;
    let run = repetitions_run(&left_out);
    Some(format!(
        "not all repetitions fit into {budget_s} s; run: {run}"
    ))
}

/// The repetitions that were run, experiments with as many together: `2 of 5 of keys, payload; none of lookups`.
fn repetitions_run(left_out: &[LeftOut]) -> String {
    let mut counts: Vec<(u32, u32)> = left_out
        .iter()
        .map(|left| (left.repetitions_run, left.repetitions_planned))
        .collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.dedup();
    let group = |(run, planned): (u32, u32)| {
        let is_of =
            |left: &&LeftOut| (left.repetitions_run, left.repetitions_planned) == (run, planned);
        let names: Vec<&str> = left_out
            .iter()
            .filter(is_of)
            .map(|left| left.experiment.as_str())
            .collect();
        let names = names.join(", ");
        match run {
            0 => format!("none of {names}"),
            _ => format!("{run} of {planned} of {names}"),
        }
    };
    let groups: Vec<String> = counts.into_iter().map(group).collect();
    groups.join("; ")
}
