//! The measurements of the published rig, for comparison with a replay.
//!
//! Source: [`POST`]; the figures are derived from the data files in `results/` of its repository [`DATA_URL`]
//! (revision 9207b8c): the share of bytes written that sequential ids save, in percent, after each 100,000 rows.

use super::deviation;
pub use super::disk_io::POST;
use crate::{
    results::{Run, Trial},
    statistics::median,
};

/// The repository with the rig and what it measured.
pub const DATA_URL: &str = "https://github.com/vdorot/primary_key_io";

/// Rows between two points of a curve.
pub const STEP_ROWS: u64 = 100_000;

/// The experiment that replays the rig.
pub const EXPERIMENT: &str = "disk-io";

/// A curve of the rig.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// The engine.
    pub engine: &'static str,
    /// The layout, by the experiment's name for it.
    pub layout: &'static str,
    /// The bytes that sequential ids saved, in percent, after each [`STEP_ROWS`] rows.
    pub saved_percent: [f64; 10],
}

/// Every curve of the rig with integer ids.
pub const CURVES: &[Curve] = &[
    Curve {
        engine: "sqlite",
        layout: "clustered",
        saved_percent: [
            95.61, 96.37, 96.76, 96.88, 97.02, 97.07, 97.14, 97.16, 97.21, 97.22,
        ],
    },
    Curve {
        engine: "sqlite",
        layout: "not-clustered",
        saved_percent: [
            42.03, 62.24, 72.31, 78.01, 81.62, 84.14, 86.08, 87.48, 88.53, 89.34,
        ],
    },
    Curve {
        engine: "mariadb",
        layout: "clustered",
        saved_percent: [
            97.29, 97.6, 97.73, 97.79, 97.84, 97.85, 97.89, 97.91, 97.91, 97.93,
        ],
    },
    Curve {
        engine: "postgres",
        layout: "not-clustered",
        saved_percent: [
            21.29, 25.46, 28.52, 26.18, 31.45, 37.24, 35.29, 37.42, 39.25, 39.67,
        ],
    },
];

/// A curve of the rig and the same of a run.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The rig's curve.
    pub curve: &'static Curve,
    /// Rows, percent saved in the run (the median of its repetitions), percent saved in the rig.
    pub points: Vec<(u64, f64, f64)>,
}

impl Replay {
    /// The largest distance of the two curves, in points of a hundred.
    pub fn distance_points(&self) -> f64 {
        let apart = |(_, here, there): &(u64, f64, f64)| (here - there).abs();
        self.points.iter().map(apart).fold(0.0, f64::max)
    }
}

/// The curves of the rig that a run has points of, where it is a replay: with the experiment's own settings.
pub fn replays(run: &Run) -> Vec<Replay> {
    let is_same = |replay: &Replay| {
        let engine = replay.curve.engine;
        deviation::difference(run, EXPERIMENT, engine).is_none()
    };
    let mut all = beside(run);
    all.retain(is_same);
    all
}

/// The curves of the rig that a run has points of, with any settings.
pub fn beside(run: &Run) -> Vec<Replay> {
    let replay = |curve: &'static Curve| {
        let points: Vec<_> = (STEP_ROWS..)
            .step_by(STEP_ROWS as usize)
            .zip(curve.saved_percent)
            .filter_map(|(rows, there)| Some((rows, saved_percent(run, curve, rows)?, there)))
            .collect();
        Replay { curve, points }
    };
    let all = CURVES.iter().map(replay);
    all.filter(|replay| !replay.points.is_empty()).collect()
}

/// Percent of bytes that sequential ids saved after this number of rows, in pairs by repetition.
fn saved_percent(run: &Run, curve: &Curve, rows: u64) -> Option<f64> {
    let trials = |key| {
        let levels = [
            ("layout", curve.layout),
            ("key", key),
            ("engine", curve.engine),
        ];
        let cell = run.find_cell(EXPERIMENT, &levels)?;
        Some(run.trials_of(cell.id))
    };
    let (random, sequential) = (trials("int-random")?, trials("int-seq")?);
    let saved = random.iter().filter_map(|trial| {
        let is_pair = |other: &&&Trial| other.repetition == trial.repetition;
        let pair = sequential.iter().find(is_pair)?;
        Some(100.0 * (1.0 - written(pair, rows)? / written(trial, rows)?))
    });
    median(saved)
}

/// Bytes written when the table had exactly so many rows.
fn written(trial: &Trial, rows: u64) -> Option<f64> {
    let curve = trial.curve("engine_written_bytes", "");
    // The last sample includes the final checkpoint; the rig measured before that.
    let first = curve.iter().find(|(at, _)| *at == rows);
    first.map(|(_, bytes)| *bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        claims::fixture::{finish, planned, sample, set},
        experiment::{Overrides, Scale},
    };

    /// A run at the rig's scale with a point of each of its curves for SQLite.
    fn run_with(overrides: Overrides) -> Run {
        let mut run = planned(EXPERIMENT, Scale::Full, overrides).unwrap();
        finish(&mut run, |_, _| {
            vec![sample("engine_written_bytes", STEP_ROWS, 1e6)]
        });
        run
    }

    #[test]
    fn only_the_rigs_own_settings_are_laid_beside_it() {
        assert_eq!(replays(&run_with(Overrides::default())).len(), 2);
        for (factor, level) in [
            ("cache_kib", "777"),
            ("rows", "500000"),
            ("payload_bytes", "64"),
            ("synchronous", "off"),
        ] {
            let run = run_with(set(factor, &[level]));
            assert_eq!(beside(&run).len(), 2, "{factor}");
            assert!(replays(&run).is_empty(), "{factor}");
        }
        let mut elsewhere = run_with(Overrides::default());
        let url = ("sqlite".to_owned(), "sqlite://elsewhere".to_owned());
        elsewhere.meta.urls.push(url);
        assert!(replays(&elsewhere).is_empty());
    }

    #[test]
    fn the_ends_of_the_curves_are_the_rigs() {
        let ends = |at: usize| {
            let curve = &CURVES[at].saved_percent;
            (curve[0], curve[9])
        };
        assert_eq!(ends(0), (95.61, 97.22));
        assert_eq!(ends(1), (42.03, 89.34));
        assert_eq!((ends(2).1, ends(3).1), (97.93, 39.67));
    }
}
