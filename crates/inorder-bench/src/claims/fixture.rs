//! Runs of built-in experiments for tests of claims: planned, and finished with samples that a test makes.

use crate::{
    engines::Engines,
    experiment::{Experiment, Overrides, Scale},
    experiments::BUILT_IN,
    plan::plan,
    results::{Cell, Noise, Run, Sample, Status, Trial},
};

/// A planned run of an experiment; `None` where its levels can't be.
pub(super) fn planned(experiment: &str, scale: Scale, overrides: Overrides) -> Option<Run> {
    let mut built_in = BUILT_IN.iter();
    let (file, text) = built_in.find(|(file, _)| file.strip_suffix(".toml") == Some(experiment))?;
    let parsed = Experiment::parse(file, text, scale, &overrides).ok()?;
    let planned = plan(&[parsed], 1, &Engines::default()).ok()?;
    let mut run = Run {
        experiments: planned.experiments,
        cells: planned.cells,
        trials: planned.trials,
        ..Run::default()
    };
    run.meta.scale = scale.name().to_owned();
    run.meta.overrides = overrides;
    Some(run)
}

/// `--set` of one factor.
pub(super) fn set(factor: &str, levels: &[&str]) -> Overrides {
    let levels = levels.iter().map(|level| (*level).to_owned()).collect();
    Overrides {
        set: vec![(factor.to_owned(), levels)],
        ..Overrides::default()
    }
}

/// So many repetitions.
pub(super) fn repeated(repetitions: u32) -> Overrides {
    Overrides {
        repetitions: Some(repetitions),
        ..Overrides::default()
    }
}

/// Finishes every trial on an idle machine with these samples.
pub(super) fn finish(run: &mut Run, samples: impl Fn(&Cell, &Trial) -> Vec<Sample>) {
    for trial in &mut run.trials {
        let of_trial = |cell: &&Cell| cell.id == trial.cell;
        let cell = run.cells.iter().find(of_trial).expect("its cell");
        trial.samples = samples(cell, trial);
        trial.status = Status::Done;
        trial.noise = Noise {
            cpu_pressure: Some(0.0),
            steal: Some(0.0),
            load_per_core: None,
            wait_share: Some(0.0),
            others_share: Some(0.0),
            bursts_share: Some(0.0),
        };
    }
}

/// A sample after so many rows.
pub(super) fn sample(probe: &str, rows: u64, value: f64) -> Sample {
    Sample {
        probe: probe.to_owned(),
        rows,
        value: Some(value),
        ..Sample::default()
    }
}
