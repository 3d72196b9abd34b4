//! The reliability of a run's times: the noise floor and the noise gate.

use super::pairs::{ratio, ratio_as_measured};
use crate::{
    core_time,
    metrics::Metric,
    results::{Cell, Noise, Run, Status, Trial},
    statistics::Ratio,
};

/// A disturbance the gate looks at: what it is called, how it is read, from where it is too much.
struct Disturbance {
    name: &'static str,
    limit: f64,
    of: fn(&Noise) -> Option<f64>,
    /// Shown as a percentage; otherwise as a plain number.
    is_share: bool,
}

/// Limits beyond which a trial counts as disturbed. Bytes and sizes don't depend on them, times do. The limits are
/// this project's own (METHODOLOGY.md, "Limits of the noise gate"); what is read is cited in `host.rs`.
const DISTURBANCES: &[Disturbance] = &[
    // A task waited for a CPU in a tenth of the time: with nothing else running it is near 0.
    Disturbance {
        name: "CPU pressure",
        limit: 0.10,
        of: |noise| noise.cpu_pressure,
        is_share: true,
    },
    // The hypervisor took the CPU away: 2% already moves a median of short trials.
    Disturbance {
        name: "CPU time stolen by the hypervisor",
        limit: 0.02,
        of: |noise| noise.steal,
        is_share: true,
    },
    // The trial itself was ready to run and did not.
    Disturbance {
        name: "waiting for a CPU",
        limit: 0.10,
        of: |noise| noise.wait_share,
        is_share: true,
    },
    // Other processes took a tenth of the CPU time while it ran.
    Disturbance {
        name: "CPU time of other processes",
        limit: 0.10,
        of: |noise| noise.others_share,
        is_share: true,
    },
    // They took a quarter of the CPU time in some half seconds: the slowest hundredth of the transactions is theirs.
    Disturbance {
        name: "time with bursts of other processes",
        limit: 0.02,
        of: |noise| noise.bursts_share,
        is_share: true,
    },
    // Half of the cores were busy with something else when it began: files of versions before 0.2 have only that.
    Disturbance {
        name: "load per core",
        limit: 0.5,
        of: |noise| noise.load_per_core,
        is_share: false,
    },
];

/// Share of an experiment's finished trials that may be disturbed before its times are withheld.
const DISTURBED_SHARE_MAX: f64 = 0.5;

/// Trials of a cell up to which a single disturbed one moves the cell's median.
const FEW_TRIALS: usize = 2;

/// The baseline's twin against the baseline: what this machine calls different where nothing is.
///
/// `None` where the experiment has no twin or the metric was not observed in both.
pub fn noise_floor(run: &Run, experiment: &str, metric: &Metric) -> Option<Ratio> {
    let (twin, baseline) = twins(run, experiment)?;
    ratio(run, twin, baseline, metric)
}

/// The noise floor of times as measured, without the correction by the reference work.
pub fn noise_floor_as_measured(run: &Run, experiment: &str, metric: &Metric) -> Option<Ratio> {
    let (twin, baseline) = twins(run, experiment)?;
    ratio_as_measured(run, twin, baseline, metric)
}

/// The baseline's twin and the baseline.
fn twins(run: &Run, experiment: &str) -> Option<(u64, u64)> {
    let baseline = run.experiment(experiment)?.baseline;
    let twin = run.cells_of(experiment).into_iter().find(|c| c.is_twin)?;
    Some((twin.id, baseline))
}

/// The longest time of the reference work in a trial of an experiment over the shortest. `None` where no trial did it.
pub fn reference_spread(run: &Run, experiment: &str) -> Option<f64> {
    let trials = run.cells_of(experiment).into_iter();
    let times: Vec<f64> = trials
        .flat_map(|cell| run.trials_of(cell.id))
        .filter_map(core_time::of_load)
        .collect();
    let longest = times.iter().copied().max_by(f64::total_cmp)?;
    let shortest = times.into_iter().min_by(f64::total_cmp)?;
    Some(longest / shortest)
}

/// Returns the reason why the times of an experiment are unreliable; `None` if they are reliable.
pub fn is_noisy(run: &Run, experiment: &str) -> Option<String> {
    let cells: Vec<u64> = run
        .cells_of(experiment)
        .into_iter()
        .map(|cell: &Cell| cell.id)
        .collect();
    let finished: Vec<&Trial> = run
        .trials
        .iter()
        .filter(|trial| trial.status == Status::Done && cells.contains(&trial.cell))
        .collect();
    let disturbed: Vec<&Trial> = finished
        .iter()
        .copied()
        .filter(|trial| DISTURBANCES.iter().any(|d| exceeds(d, &trial.noise)))
        .collect();
    let is_moved = cells
        .iter()
        .any(|cell| is_moved(*cell, &finished, &disturbed));
    let disturbed = disturbed.len();
    let unobserved = finished.iter().filter(|t| !is_observed(&t.noise)).count();
    let is_most = |trials: usize| trials as f64 > DISTURBED_SHARE_MAX * finished.len() as f64;
    let all = finished.len();
    if !is_most(disturbed) && !is_moved {
        return is_most(unobserved + disturbed).then(|| {
            format!("the load of the machine could not be observed in {unobserved} of {all} trials")
        });
    }
    let causes: Vec<String> = DISTURBANCES
        .iter()
        .filter_map(|disturbance| cause(disturbance, &finished))
        .collect();
    Some(format!(
        "{disturbed} of {all} trials ran on a busy machine: {}",
        causes.join(", ")
    ))
}

/// Whether the median of a cell is that of disturbed trials: most of them, or one of few.
fn is_moved(cell: u64, finished: &[&Trial], disturbed: &[&Trial]) -> bool {
    let of_cell = |trials: &[&Trial]| trials.iter().filter(|trial| trial.cell == cell).count();
    let (all, disturbed) = (of_cell(finished), of_cell(disturbed));
    match all <= FEW_TRIALS {
        true => disturbed > 0,
        false => disturbed as f64 > DISTURBED_SHARE_MAX * all as f64,
    }
}

/// Whether enough is known to call a trial quiet: the load of others, and one of what it was kept waiting by.
fn is_observed(noise: &Noise) -> bool {
    let waits = [noise.cpu_pressure, noise.wait_share, noise.steal];
    (noise.others_share.or(noise.load_per_core)).is_some() && waits.iter().any(Option::is_some)
}

fn exceeds(disturbance: &Disturbance, noise: &Noise) -> bool {
    (disturbance.of)(noise).is_some_and(|value| value > disturbance.limit)
}

/// Formats a disturbance with its worst value, if any trial exceeds its limit.
fn cause(disturbance: &Disturbance, trials: &[&Trial]) -> Option<String> {
    let worst = trials
        .iter()
        .filter_map(|trial| (disturbance.of)(&trial.noise))
        .filter(|value| *value > disturbance.limit)
        .max_by(f64::total_cmp)?;
    let show = |value: f64| {
        if disturbance.is_share {
            format!("{:.0}%", value * 100.0)
        } else {
            format!("{value:.1}")
        }
    };
    Some(format!(
        "{} up to {} (limit {})",
        disturbance.name,
        show(worst),
        show(disturbance.limit)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Experiment, Sample};

    fn trial(cell: u64, repetition: u32, value: f64) -> Trial {
        Trial {
            cell,
            repetition,
            status: Status::Done,
            noise: Noise {
                steal: Some(0.0),
                others_share: Some(0.0),
                ..Noise::default()
            },
            samples: vec![Sample {
                probe: "size_bytes".into(),
                value: Some(value),
                ..Sample::default()
            }],
            ..Trial::default()
        }
    }

    fn run(trials: Vec<Trial>) -> Run {
        let cell = |id, is_twin| Cell {
            id,
            experiment: "x".into(),
            is_twin,
            ..Cell::default()
        };
        Run {
            experiments: vec![Experiment {
                name: "x".into(),
                baseline: 1,
                ..Experiment::default()
            }],
            cells: vec![cell(1, false), cell(2, false), cell(3, true)],
            trials,
            ..Run::default()
        }
    }

    fn size() -> &'static Metric {
        crate::metrics::metric_named("size_bytes").unwrap()
    }

    #[test]
    fn pairs_are_joined_by_repetition() {
        let run = run(vec![
            trial(1, 0, 10.0),
            trial(1, 1, 100.0),
            trial(2, 1, 50.0),
            trial(2, 2, 7.0),
        ]);
        let ratio = ratio(&run, 2, 1, size()).unwrap();
        assert_eq!((ratio.ratio, ratio.pairs), (0.5, 1));
    }

    #[test]
    fn failed_trials_are_no_pairs() {
        let mut failed = trial(2, 0, 5.0);
        failed.status = Status::Failed;
        let run = run(vec![trial(1, 0, 10.0), failed]);
        assert_eq!(ratio(&run, 2, 1, size()), None);
    }

    #[test]
    fn the_floor_is_the_twin_against_the_baseline() {
        let run = run(vec![trial(1, 0, 10.0), trial(3, 0, 11.0)]);
        assert_eq!(noise_floor(&run, "x", size()).unwrap().ratio, 1.1);
        assert_eq!(noise_floor(&run, "y", size()), None);
    }

    #[test]
    fn the_gate_opens_at_half_and_closes_above() {
        let disturbed = |repetition| {
            let mut trial = trial(1, repetition, 1.0);
            trial.noise.cpu_pressure = Some(0.34);
            trial
        };
        let half = [
            disturbed(0),
            disturbed(1),
            trial(1, 2, 1.0),
            trial(1, 3, 1.0),
        ];
        assert_eq!(is_noisy(&run(half.to_vec()), "x"), None);
        let more = run(vec![disturbed(0), disturbed(1), trial(1, 2, 1.0)]);
        assert_eq!(
            is_noisy(&more, "x").unwrap(),
            "2 of 3 trials ran on a busy machine: CPU pressure up to 34% (limit 10%)"
        );
    }

    #[test]
    fn one_of_two_trials_or_one_of_one_moves_a_cell() {
        let busy = |cell, repetition| {
            let mut trial = trial(cell, repetition, 1.0);
            trial.noise.others_share = Some(0.62);
            trial
        };
        let quiet = |cell, repetition| trial(cell, repetition, 1.0);
        let one_each = [busy(2, 0), quiet(1, 0), quiet(3, 0)];
        let reason = "1 of 3 trials ran on a busy machine: CPU time of other processes up to 62% (limit 10%)";
        assert_eq!(is_noisy(&run(one_each.to_vec()), "x").unwrap(), reason);
        let two_each = [quiet(1, 0), busy(1, 1), quiet(2, 0), quiet(2, 1)];
        assert!(is_noisy(&run(two_each.to_vec()), "x").is_some());
        // Of three, the middle one is quiet.
        let three = [quiet(1, 0), busy(1, 1), quiet(1, 2)];
        assert_eq!(is_noisy(&run(three.to_vec()), "x"), None);
        let most = [busy(1, 0), busy(1, 1), quiet(1, 2)].into_iter();
        let most = most.chain((0..9).map(|n| quiet(2, n)));
        assert!(is_noisy(&run(most.collect()), "x").is_some());
    }

    #[test]
    fn each_disturbance_closes_the_gate_alone() {
        for disturbance in DISTURBANCES {
            let fields: [fn(&mut Noise, f64); 6] = [
                |noise, value| noise.cpu_pressure = Some(value),
                |noise, value| noise.steal = Some(value),
                |noise, value| noise.load_per_core = Some(value),
                |noise, value| noise.wait_share = Some(value),
                |noise, value| noise.others_share = Some(value),
                |noise, value| noise.bursts_share = Some(value),
            ];
            let closing = fields.iter().filter(|set| {
                let mut trial = trial(1, 0, 1.0);
                set(&mut trial.noise, disturbance.limit * 1.01);
                is_noisy(&run(vec![trial]), "x").is_some_and(|why| why.contains(disturbance.name))
            });
            assert_eq!(closing.count(), 1, "{}", disturbance.name);
        }
    }

    #[test]
    fn noise_that_cannot_be_observed_is_not_quiet() {
        let unknown = |repetition| {
            let mut trial = trial(1, repetition, 1.0);
            trial.noise.others_share = None;
            trial
        };
        let half = run(vec![unknown(0), trial(1, 1, 1.0)]);
        assert_eq!(is_noisy(&half, "x"), None);
        let all = run(vec![unknown(0), unknown(1)]);
        assert_eq!(
            is_noisy(&all, "x").unwrap(),
            "the load of the machine could not be observed in 2 of 2 trials"
        );
    }

    #[test]
    fn limits_themselves_are_quiet() {
        let mut at_limit = trial(1, 0, 1.0);
        at_limit.noise = Noise {
            cpu_pressure: Some(0.10),
            steal: Some(0.02),
            load_per_core: Some(0.5),
            wait_share: None,
            others_share: Some(0.10),
            bursts_share: Some(0.02),
        };
        assert_eq!(is_noisy(&run(vec![at_limit]), "x"), None);
        assert_eq!(is_noisy(&run(vec![]), "x"), None);
    }
}
