//! Two counts of the same bytes: the engine's own, and that of the kernel's layer which sees them too.

use crate::{
    results::{Experiment, Run, Trial},
    statistics::median,
};
use inorder_engine::{KernelCheck, Layer};

/// From this share of difference on the two counts part.
pub const APART_FROM: f64 = 0.01;

/// The difference between the kernel's and an engine's count of bytes written, over the finished trials of an
/// experiment.
#[derive(Clone, Debug)]
pub struct LayerCheck {
    /// The engine.
    pub engine: String,
    /// The layer, and what only one of the two counts.
    pub check: KernelCheck,
    /// The kernel's count over the engine's, less 1: the lowest median of a cell.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

impl LayerCheck {
    /// Whether they agree everywhere.
    pub fn agrees(&self) -> bool {
        self.low.abs().max(self.high.abs()) <= APART_FROM
    }
}

/// The checks of an experiment, one an engine that has been checked, in the order of its cells.
pub fn layer_checks(run: &Run, experiment: &Experiment) -> Vec<LayerCheck> {
    let mut checks: Vec<LayerCheck> = Vec::new();
    for cell in run.cells_of(&experiment.name) {
        let Some(name) = cell.levels.get("engine") else {
            continue;
        };
        let Some(engine) = inorder_engine::engine(name) else {
            continue;
        };
        let check = engine.kernel_check();
        let trials = run.trials_of(cell.id).into_iter();
        let Some(apart) = median(trials.filter_map(|trial| apart(trial, check.layer))) else {
            continue;
        };
        match checks.iter_mut().find(|known| known.engine == *name) {
            Some(known) => {
                known.low = known.low.min(apart);
                known.high = known.high.max(apart);
            }
            None => checks.push(LayerCheck {
                engine: name.clone(),
                check,
                low: apart,
                high: apart,
            }),
        }
    }
    checks
}

/// The kernel's count of a trial over the engine's, less 1. Nothing where the kernel's is 0, as on a file system in memory.
fn apart(trial: &Trial, layer: Layer) -> Option<f64> {
    let probe = match layer {
        Layer::WriteCalls => "process_written_bytes",
        Layer::Block => "block_written_bytes",
    };
    let seen = |probe| trial.last(probe, "").filter(|bytes| *bytes > 0.0);
    Some(seen(probe)? / seen("engine_written_bytes")? - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Cell, Sample, Status};

    /// A run of one cell an engine, with these counts by probe.
    fn run(cells: &[(&str, &[(&str, f64)])]) -> Run {
        let mut run = Run::default();
        run.experiments.push(Experiment {
            name: "e".into(),
            ..Experiment::default()
        });
        for (id, (engine, counts)) in (1..).zip(cells) {
            run.cells.push(Cell {
                id,
                experiment: "e".into(),
                levels: [("engine".to_owned(), (*engine).to_owned())].into(),
                ..Cell::default()
            });
            let sample = |(probe, bytes): &(&str, f64)| Sample {
                probe: (*probe).to_owned(),
                value: Some(*bytes),
                ..Sample::default()
            };
            run.trials.push(Trial {
                cell: id,
                status: Status::Done,
                samples: counts.iter().map(sample).collect(),
                ..Trial::default()
            });
        }
        run
    }

    fn checks(cells: &[(&str, &[(&str, f64)])]) -> Vec<LayerCheck> {
        let run = run(cells);
        layer_checks(&run, &run.experiments[0])
    }

    const WRITTEN: (&str, f64) = ("engine_written_bytes", 1000.0);

    #[test]
    fn each_engine_is_checked_against_its_own_layer() {
        let counts = [
            WRITTEN,
            ("process_written_bytes", 1005.0),
            ("block_written_bytes", 1100.0),
        ];
        let found = checks(&[("postgres", &counts), ("mariadb", &counts)]);
        assert!(found[0].agrees() && (found[0].high - 0.005).abs() < 1e-9);
        assert!(!found[1].agrees() && (found[1].high - 0.1).abs() < 1e-9);
    }

    #[test]
    fn the_widest_gap_of_an_engine_counts() {
        let less = [WRITTEN, ("process_written_bytes", 900.0)];
        let same = [WRITTEN, ("process_written_bytes", 1000.0)];
        let found = checks(&[("sqlite", &same), ("sqlite", &less)]);
        assert_eq!((found.len(), found[0].agrees()), (1, false));
        assert!((found[0].low + 0.1).abs() < 1e-9 && found[0].high == 0.0);
    }

    #[test]
    fn what_cannot_be_seen_is_not_checked() {
        let in_memory = [WRITTEN, ("block_written_bytes", 0.0)];
        assert!(checks(&[("mariadb", &in_memory), ("sqlite", &[WRITTEN])]).is_empty());
    }
}
