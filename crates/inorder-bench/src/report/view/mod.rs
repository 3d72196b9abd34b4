//! The contents of a report as plain data: built once from a run, laid out by every format.

mod migration;
mod summary;

pub use super::ranking::{Ranked, Ranking};
pub use migration::Migration;
pub use summary::{Column, Reading, Row, Summary};

use super::{
    answer::{self, Piece},
    output::Error,
    plots::{self, Plot},
    ranking,
};
use crate::{
    analysis::{self, LayerCheck},
    claims::{
        Claim, Judgement, Post, Verdict,
        published::{self, Replay},
    },
    format,
    metrics::{METRICS, metric_named},
    results::{
        Experiment, Meta, Run, Status, Trial,
        left_out::{self, LeftOut},
    },
    statistics::Ratio,
};
use inorder_engine::Layer;

/// A whole report.
#[derive(Clone, Debug)]
pub struct Report {
    /// The properties of the run: names and values in reading order.
    pub facts: Vec<(&'static str, String)>,
    /// The run's own description.
    pub meta: Meta,
    /// The claims, in the order they were published; none if no experiment of the run answers one.
    pub claims: Vec<ClaimRow>,
    /// The experiments of which a trial was run, in the order they were planned; all of them where no time budget left
    /// any out.
    pub experiments: Vec<ExperimentView>,
    /// The trials that a time budget excluded.
    pub left_out: Vec<LeftOut>,
}

/// A published claim and what the run says about it.
#[derive(Clone, Debug)]
pub struct ClaimRow {
    /// Its id.
    pub id: &'static str,
    /// The post that published it.
    pub post: &'static Post,
    /// The claim.
    pub statement: &'static str,
    /// The post's own figure.
    pub figure: &'static str,
    /// The experiment that answers it.
    pub experiment: &'static str,
    /// The result of the run.
    pub judgement: Judgement,
    /// The judgements on the other engines of the run.
    pub elsewhere: Vec<(String, Judgement)>,
}

/// One experiment.
#[derive(Clone, Debug)]
pub struct ExperimentView {
    /// Its name.
    pub name: String,
    /// Its title; the name where it has none.
    pub title: String,
    /// The question.
    pub question: String,
    /// The expectation before the first run; may be empty.
    pub expect: String,
    /// The answer.
    pub answer: Vec<Piece>,
    /// Key kinds ranked by cost, one ranking for each engine; none where the key does not vary.
    pub rankings: Vec<Ranking>,
    /// Whether the answer is what the rankings recommend.
    pub is_recommended: bool,
    /// Migrations to another key, one for each cell that has one.
    pub migrations: Vec<Migration>,
    /// Ids of the claims it answers.
    pub claims: Vec<String>,
    /// The factors that vary, with their levels.
    pub varied: Vec<(String, Vec<String>)>,
    /// The factors that all cells share.
    pub fixed: Vec<(String, String)>,
    /// Cells against metrics.
    pub summary: Summary,
    /// The plots.
    pub plots: Vec<Plot>,
    /// The reliability of its times.
    pub noise: NoiseView,
    /// The difference between the engines' counts of bytes and the kernel's.
    pub layers: Vec<LayerCheck>,
    /// Its curves beside those of the published rig.
    pub replays: Vec<Replay>,
    /// Trials without a result: failed ones.
    pub failed: Vec<FailedTrial>,
    /// Trials that have not run yet.
    pub missing: usize,
    /// Settings read back from the engine, for each set of cells that share them.
    pub settings: Vec<Shared<Vec<(String, String)>>>,
    /// Texts the trials found, such as query plans.
    pub texts: Vec<Shared<(String, String)>>,
    /// The experiment file as it was run.
    pub toml: String,
}

/// The reliability of an experiment's times.
#[derive(Clone, Debug)]
pub struct NoiseView {
    /// Why its times are withheld; `None` where they are not.
    pub withheld: Option<String>,
    /// The baseline run a second time, against itself: metric's id, its title and the ratio.
    pub floor: Vec<(&'static str, &'static str, Ratio)>,
    /// The longest time of the reference work in a trial over the shortest; `None` where no trial did it.
    pub reference_spread: Option<f64>,
    /// How far the CPU time of the load follows the reference work, from 0 to 1; `None` where no trial did it.
    pub reference_exponent: Option<f64>,
}

impl NoiseView {
    /// What was corrected for the speed of the machine, if it differed.
    pub fn correction(&self) -> Option<String> {
        let differs = |spread: &f64| *spread >= SPREAD_NAMED_MIN;
        let spread = self.reference_spread.filter(differs)?;
        Some(format!(
            "The machine was up to {} times as fast in one trial as in another (reference work): ratios of CPU time and of \
             warm look-ups are corrected, times are not.",
            format::ratio(spread)
        ))
    }
}

/// A trial that failed.
#[derive(Clone, Debug)]
pub struct FailedTrial {
    /// Its cell.
    pub label: String,
    /// Its repetition, from 0.
    pub repetition: u32,
    /// Why.
    pub error: String,
}

/// Something that several cells have in common.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    /// The names of the cells, or `all cells`.
    pub cells: String,
    /// Their common note.
    pub what: T,
}

/// Metrics a report names the noise floor of.
const FLOOR_METRICS: &[&str] = &["cpu_us_per_row", "engine_bytes_per_row", "size_bytes"];

/// From this spread on, a report says how much the machine's speed differed.
const SPREAD_NAMED_MIN: f64 = 1.1;

impl Report {
    /// The report of a run.
    ///
    /// # Errors
    /// If an experiment's answer has a placeholder that cannot be read.
    pub fn new(run: &Run, claims: &[Claim]) -> Result<Self, Error> {
        let left_out = left_out::of_run(run);
        let has_claims = run.experiments.iter().any(|e| !e.claims.is_empty());
        Ok(Report {
            facts: facts(run),
            meta: run.meta.clone(),
            claims: claims
                .iter()
                .filter(|_| has_claims)
                .map(|claim| ClaimRow::new(run, claim))
                .collect(),
            experiments: run
                .experiments
                .iter()
                .filter(|experiment| left_out.is_empty() || was_begun(run, experiment))
                .map(|experiment| ExperimentView::new(run, experiment))
                .collect::<Result<_, _>>()?,
            left_out,
        })
    }
}

fn was_begun(run: &Run, experiment: &Experiment) -> bool {
    let trials = trials_of(run, experiment);
    trials
        .iter()
        .any(|(_, trial)| trial.status != Status::Planned)
}

impl Report {
    /// The posts of its claims, in the order of the claims.
    pub fn posts(&self) -> Vec<&'static Post> {
        let mut posts: Vec<&'static Post> = Vec::new();
        for claim in &self.claims {
            if !posts.contains(&claim.post) {
                posts.push(claim.post);
            }
        }
        posts
    }
}

impl ClaimRow {
    fn new(run: &Run, claim: &Claim) -> Self {
        ClaimRow {
            id: claim.id,
            post: claim.post,
            statement: claim.statement,
            figure: claim.figure,
            experiment: claim.experiment,
            judgement: claim.judgement(run),
            elsewhere: claim.elsewhere(run),
        }
    }

    /// Whether the run has something to say about it.
    pub fn is_judged(&self) -> bool {
        self.judgement.verdict != Verdict::NotRun || !self.elsewhere.is_empty()
    }

    /// The observations on other engines, one per line.
    pub fn elsewhere_lines(&self) -> Vec<String> {
        let line = |(engine, judgement): &(String, Judgement)| {
            let reason = match judgement.reason.is_empty() {
                true => String::new(),
                false => format!(" ({})", judgement.reason),
            };
            let (verdict, seen) = (judgement.verdict_text(), &judgement.seen);
            format!("on {engine}: {verdict}{reason}: {seen}")
        };
        self.elsewhere.iter().map(line).collect()
    }

    /// The observations on the post's engine and on others, one per line.
    pub fn seen_lines(&self) -> String {
        let own = Some(self.judgement.seen.clone()).filter(|seen| !seen.is_empty());
        let lines: Vec<String> = own.into_iter().chain(self.elsewhere_lines()).collect();
        lines.join("\n")
    }
}

impl ExperimentView {
    fn new(run: &Run, experiment: &Experiment) -> Result<Self, Error> {
        let withheld = analysis::is_noisy(run, &experiment.name);
        let answer =
            answer::fill(run, experiment, withheld.is_some()).map_err(|message| Error::Answer {
                experiment: experiment.name.clone(),
                message,
            })?;
        let trials = trials_of(run, experiment);
        let title = match experiment.title.is_empty() {
            true => &experiment.name,
            false => &experiment.title,
        };
        Ok(ExperimentView {
            name: experiment.name.clone(),
            title: title.clone(),
            question: experiment.question.clone(),
            expect: experiment.expect.clone(),
            answer,
            rankings: ranking::rankings(run, experiment, withheld.is_some()),
            is_recommended: experiment.answer.trim().is_empty(),
            migrations: migration::migrations(run, experiment, withheld.is_some()),
            claims: experiment.claims.clone(),
            varied: experiment
                .varied
                .iter()
                .cloned()
                .zip(experiment.levels.iter().cloned())
                .collect(),
            fixed: fixed(run, experiment),
            summary: Summary::new(run, experiment, withheld.is_some()),
            plots: plots::of(run, experiment, withheld.is_some()),
            noise: noise(run, experiment, withheld),
            layers: analysis::layer_checks(run, experiment),
            replays: match experiment.name == published::EXPERIMENT {
                true => published::replays(run),
                false => Vec::new(),
            },
            failed: trials
                .iter()
                .filter(|(_, trial)| trial.status == Status::Failed)
                .map(|(label, trial)| FailedTrial {
                    label: (*label).to_owned(),
                    repetition: trial.repetition,
                    error: trial.error.clone().unwrap_or_else(|| "unknown".into()),
                })
                .collect(),
            missing: trials
                .iter()
                .filter(|(_, trial)| trial.status == Status::Planned)
                .count(),
            settings: shared(
                trials
                    .iter()
                    .filter(|(_, trial)| !trial.settings.is_empty())
                    .map(|(label, trial)| (*label, &trial.settings)),
            ),
            texts: shared(
                trials
                    .iter()
                    .flat_map(|(label, trial)| trial.texts.iter().map(|text| (*label, text))),
            ),
            toml: experiment.toml.clone(),
        })
    }
}

impl ExperimentView {
    /// What stands below a ranking; the answer already has what it recommends, or another template's words.
    pub fn advice(&self, ranking: &Ranking) -> Vec<String> {
        match self.is_recommended {
            true => ranking.advice.clone(),
            false => ranking.all_advice(),
        }
    }

    /// Where the engines' count of bytes and the kernel's part, and why; that they agree, where engines are compared.
    pub fn layer_notes(&self) -> Vec<String> {
        let is_compared = self.varied.iter().any(|(factor, _)| factor == "engine");
        let checks = self.layers.iter();
        checks
            .filter(|check| is_compared || !check.agrees())
            .map(layer_note)
            .collect()
    }

    /// What to know beside the table, a paragraph each: whether times are withheld, the noise floor,
    /// how the two counts of bytes compare, trials without a result.
    pub fn notes(&self) -> Vec<String> {
        let withheld = self.noise.withheld.as_ref().map(|reason| {
            format!(
                "Times are noisy: {reason}. They are shown with that mark, and no verdict rests on them. Bytes and sizes are not \
                 affected."
            )
        });
        let floor: Vec<String> = self
            .noise
            .floor
            .iter()
            .map(|(_, title, ratio)| format!("{title} {}", format::ratio_with_interval(ratio)))
            .collect();
        let floor = (!floor.is_empty()).then(|| {
            format!(
                "Noise floor (the baseline run twice): {}.",
                floor.join(", ")
            )
        });
        let failed = self.failed.iter().map(|trial| {
            let repetition = trial.repetition + 1;
            format!(
                "FAILED {}, repetition {repetition}: {}",
                trial.label, trial.error
            )
        });
        let missing = (self.missing > 0)
            .then(|| format!("{} not run yet.", format::count(self.missing, "trial")));
        withheld
            .into_iter()
            .chain(self.noise.correction())
            .chain(self.summary.rates_not_kept())
            .chain(floor)
            .chain(self.layer_notes())
            .chain(self.replays.iter().map(replay_note))
            .chain(failed)
            .chain(missing)
            .collect()
    }
}

fn replay_note(replay: &Replay) -> String {
    let (engine, layout) = (replay.curve.engine, replay.curve.layout);
    format!(
        "Compared with the published rig, {engine}, {layout}: the share of bytes saved by sequential ids differs by at most {:.2} percentage points, over {}.",
        replay.distance_points(),
        format::count(replay.points.len(), "point")
    )
}

fn layer_note(found: &LayerCheck) -> String {
    let layer = match found.check.layer {
        Layer::WriteCalls => "bytes passed to write calls",
        Layer::Block => "bytes of the block layer",
    };
    let ends = [found.low, found.high].map(|share| format!("{:+.2}%", share * 100.0));
    let apart = match ends[0] == ends[1] {
        true => ends[0].clone(),
        false => format!("{} to {}", ends[0], ends[1]),
    };
    let why = match found.agrees() {
        true => "they agree".to_owned(),
        false => format!("they differ because {}", found.check.gap),
    };
    format!(
        "Byte counters of {}: {layer}, counted by the kernel, against the engine's own count {apart}; {why}.",
        found.engine
    )
}

/// The identity of a run.
fn facts(run: &Run) -> Vec<(&'static str, String)> {
    let meta = &run.meta;
    let took = match meta.finished_unix_s {
        Some(end) => format::duration(end.saturating_sub(meta.started_unix_s)),
        None => "not finished".to_owned(),
    };
    let with = |status: Status| run.trials.iter().filter(|t| t.status == status).count();
    let mut trials = format!("{} finished", format::count(with(Status::Done), "trial"));
    for (status, word) in [(Status::Failed, "failed"), (Status::Planned, "not run")] {
        if with(status) > 0 {
            trials.push_str(&format!(", {} {word}", with(status)));
        }
    }
    let engines: Vec<String> = meta
        .engines
        .iter()
        .map(|engine| format!("{} {}", engine.name, engine.version))
        .collect();
    let mut facts = vec![
        ("started", format::moment(meta.started_unix_s)),
        ("took", took),
        ("engine", engines.join(", ")),
        ("scale", meta.scale.clone()),
        ("trials", trials),
        ("seed", meta.seed.to_string()),
        (
            "inorder",
            format!("{} ({})", meta.inorder_version, meta.revision),
        ),
        ("command", format!("inorder {}", meta.command.join(" "))),
    ];
    facts.extend(left_out::in_words(run).map(|words| {
        let words = format!("{words}. inorder bench --resume RESULT completes the run");
        ("left out", words)
    }));
    facts
}

/// The factors that do not vary. A level that is fixed for one engine names the engine.
fn fixed(run: &Run, experiment: &Experiment) -> Vec<(String, String)> {
    let cells = run.cells_of(&experiment.name);
    let Some(cell) = run.cell(experiment.baseline).or(cells.first().copied()) else {
        return Vec::new();
    };
    let shown = |factor: &String, level: &String| {
        let mut words = vec![level.clone()];
        for other in &cells {
            if let (Some(own), Some(engine)) =
                (other.levels.get(factor), other.levels.get("engine"))
                && own != level
            {
                let word = format!("{own} on {engine}");
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        words.join("; ")
    };
    cell.levels
        .iter()
        .filter(|(factor, _)| !experiment.varied.contains(factor))
        .map(|(factor, level)| (factor.clone(), shown(factor, level)))
        .collect()
}

fn noise(run: &Run, experiment: &Experiment, withheld: Option<String>) -> NoiseView {
    let name = &experiment.name;
    let reference_spread = analysis::reference_spread(run, name);
    let cpu = metric_named("cpu_us_per_row").filter(|_| reference_spread.is_some());
    NoiseView {
        withheld,
        floor: floor(run, experiment),
        reference_spread,
        reference_exponent: cpu.map(|cpu| analysis::reference_exponent(run, name, cpu)),
    }
}

fn floor(run: &Run, experiment: &Experiment) -> Vec<(&'static str, &'static str, Ratio)> {
    METRICS
        .iter()
        .filter(|metric| FLOOR_METRICS.contains(&metric.id))
        .filter_map(|metric| {
            let ratio = analysis::noise_floor(run, &experiment.name, metric)?;
            Some((metric.id, metric.title, ratio))
        })
        .collect()
}

/// The trials of an experiment with the label of their cell, in the order of cells.
fn trials_of<'a>(run: &'a Run, experiment: &Experiment) -> Vec<(&'a str, &'a Trial)> {
    run.cells_of(&experiment.name)
        .into_iter()
        .flat_map(|cell| {
            run.trials
                .iter()
                .filter(|trial| trial.cell == cell.id)
                .map(|trial| (cell.label.as_str(), trial))
        })
        .collect()
}

/// Joins what is equal and names the cells that have it.
fn shared<'a, T: Clone + PartialEq + 'a>(
    items: impl Iterator<Item = (&'a str, &'a T)>,
) -> Vec<Shared<T>> {
    let mut groups: Vec<(&T, Vec<&str>)> = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for (label, what) in items {
        if !labels.contains(&label) {
            labels.push(label);
        }
        match groups.iter_mut().find(|(known, _)| *known == what) {
            Some((_, cells)) if cells.contains(&label) => {}
            Some((_, cells)) => cells.push(label),
            None => groups.push((what, vec![label])),
        }
    }
    groups
        .into_iter()
        .map(|(what, cells)| Shared {
            cells: match cells.len() == labels.len() {
                true => "all cells".to_owned(),
                false => cells.join("; "),
            },
            what: what.clone(),
        })
        .collect()
}
