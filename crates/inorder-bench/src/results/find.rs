//! Finds experiments, cells, trials and values in a run.

use super::model::{Cell, Experiment, Meta, Run, Status, Trial};
use crate::{
    error::Error,
    experiment::{self, Overrides, Scale},
};

impl Meta {
    /// The scale of the run.
    ///
    /// # Errors
    /// If there is none with this name (a result file of another version).
    pub fn scale(&self) -> Result<Scale, Error> {
        let wrong = || Error::Usage(format!("unknown scale `{}`", self.scale));
        Scale::from_name(&self.scale).ok_or_else(wrong)
    }

    /// An experiment of the run, parsed from the text that the result file has.
    ///
    /// # Errors
    /// If it doesn't parse (a result file of another version).
    pub fn parsed(&self, experiment: &Experiment) -> Result<experiment::Experiment, Error> {
        let overrides = Overrides {
            data: experiment.data.clone(),
            ..self.overrides.clone()
        };
        let file = format!("{}.toml", experiment.name);
        experiment::Experiment::parse(&file, &experiment.toml, self.scale()?, &overrides)
    }
}

impl Trial {
    /// The last value of a probe's part; `None` where it was not observed.
    pub fn last(&self, probe: &str, part: &str) -> Option<f64> {
        self.samples
            .iter()
            .rev()
            .find(|s| s.probe == probe && s.part == part)
            .and_then(|s| s.value)
    }

    /// The samples of a probe's part as the table grew: rows and value, observed ones only.
    pub fn curve(&self, probe: &str, part: &str) -> Vec<(u64, f64)> {
        self.samples
            .iter()
            .filter(|s| s.probe == probe && s.part == part)
            .filter_map(|s| Some((s.rows, s.value?)))
            .collect()
    }

    /// The parts of a probe, in the order they were taken, each once.
    pub fn parts(&self, probe: &str) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for sample in self.samples.iter().filter(|s| s.probe == probe) {
            if !parts.contains(&sample.part.as_str()) {
                parts.push(&sample.part);
            }
        }
        parts
    }
}

impl Run {
    /// The experiment with this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|e| e.name == name)
    }

    /// The cell with this id.
    pub fn cell(&self, id: u64) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.id == id)
    }

    /// The cells of an experiment, the twin last.
    pub fn cells_of(&self, experiment: &str) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = self
            .cells
            .iter()
            .filter(|cell| cell.experiment == experiment)
            .collect();
        cells.sort_by_key(|cell| (cell.is_twin, cell.id));
        cells
    }

    /// The first cell (no twin) of an experiment that has all these levels.
    pub fn find_cell(&self, experiment: &str, levels: &[(&str, &str)]) -> Option<&Cell> {
        self.find_cells(experiment, levels).into_iter().next()
    }

    /// Every cell with these levels, but no twin.
    pub fn find_cells(&self, experiment: &str, levels: &[(&str, &str)]) -> Vec<&Cell> {
        let mut cells = self.cells_of(experiment);
        cells.retain(|cell| {
            let has = |factor: &str, level| cell.levels.get(factor).is_some_and(|l| l == level);
            !cell.is_twin && levels.iter().all(|(factor, level)| has(factor, level))
        });
        cells
    }

    /// The finished trials of a cell, by repetition.
    pub fn trials_of(&self, cell: u64) -> Vec<&Trial> {
        let mut trials: Vec<&Trial> = self
            .trials
            .iter()
            .filter(|trial| trial.cell == cell && trial.status == Status::Done)
            .collect();
        trials.sort_by_key(|trial| trial.repetition);
        trials
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Sample;

    #[test]
    fn unobserved_is_not_a_number() {
        let sample = |value| Sample {
            probe: "wall_s".into(),
            rows: 5,
            value,
            ..Sample::default()
        };
        let trial = Trial {
            samples: vec![sample(Some(2.0)), sample(None)],
            ..Trial::default()
        };
        assert_eq!(trial.last("wall_s", ""), None);
        assert_eq!(trial.curve("wall_s", ""), [(5, 2.0)]);
    }
}
