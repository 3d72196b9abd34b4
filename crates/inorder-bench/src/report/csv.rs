//! Every sample of every finished trial as CSV.
//!
//! One line per sample: `experiment,cell,repetition,probe,part,rows,value,unit`. Repetitions count
//! from 0. A value that could not be observed is empty. The baseline's second run has `(twin)` after
//! its name.

use super::output::Error;
use crate::{probes, results::Run};

const HEADINGS: [&str; 8] = [
    "experiment",
    "cell",
    "repetition",
    "probe",
    "part",
    "rows",
    "value",
    "unit",
];

/// Writes a run's samples down.
///
/// # Errors
/// If they cannot be written as CSV.
pub fn render(run: &Run) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for experiment in &run.experiments {
        for cell in run.cells_of(&experiment.name) {
            let twin = if cell.is_twin { " (twin)" } else { "" };
            let label = format!("{}{twin}", cell.label);
            for trial in run.trials_of(cell.id) {
                let repetition = trial.repetition.to_string();
                for sample in &trial.samples {
                    writer.write_record([
                        experiment.name.as_str(),
                        &label,
                        &repetition,
                        &sample.probe,
                        &sample.part,
                        &sample.rows.to_string(),
                        &sample.value.map_or_else(String::new, |v| v.to_string()),
                        probes::probe(&sample.probe).map_or("", |probe| probe.unit),
                    ])?;
                }
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
