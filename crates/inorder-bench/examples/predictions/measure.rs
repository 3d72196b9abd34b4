//! Runs cells as trials.

use crate::{Fallible, Measured, Predicted, appender, cell::Cell, loaded, read};
use inorder_bench::{
    engines::Engines,
    experiment::{Overrides, Scale},
    results::Sample,
    trial::{self, TrialSpec},
};

/// The experiment of all cells. Their levels say the rest.
const EXPERIMENT: &str = r#"
title = "Cells of predictions"
question = "Do runs write what was predicted?"
expect = "Yes."
trial_seconds_max = 3600

[factors]
key = ["uuid4"]
"#;

/// Runs each cell of a file of predictions that the other file does not have yet, and appends what it measured.
pub fn measure(predictions: &str, file: &str) -> Fallible<()> {
    let done: Vec<(Cell, Measured)> = match std::path::Path::new(file).exists() {
        true => read(file)?,
        false => Vec::new(),
    };
    let mut out = appender(file)?;
    for (cell, _) in read::<Predicted>(predictions)? {
        if done.iter().any(|(run, _)| *run == cell) {
            continue;
        }
        match run(&cell) {
            Ok(measured) => out.serialize((&cell, measured))?,
            Err(error) => eprintln!("{cell:?}: {error}"),
        }
        out.flush()?;
    }
    Ok(())
}

fn run(cell: &Cell) -> Fallible<Measured> {
    let folder = tempfile::tempdir()?;
    if cell.loaded_rows > 0 {
        return loaded::run(cell, folder.path());
    }
    let spec = TrialSpec {
        file: "predict.toml".to_owned(),
        text: EXPERIMENT.to_owned(),
        scale: Scale::Full,
        overrides: Overrides::default(),
        levels: cell.levels(),
        // Only the first repetition measures VACUUM.
        repetition: 1,
        seed: cell.seed,
        folder: folder.path().to_owned(),
        is_rehearsal: false,
    };
    let outcome = trial::run(&spec, &Engines::default(), &mut |_| {})?;
    let last = |probe: &str, part: &str| {
        let is_it = |sample: &&Sample| sample.probe == probe && sample.part == part;
        let found = outcome.samples.iter().rev().find(is_it);
        found
            .and_then(|sample| sample.value)
            .ok_or(format!("{probe}: not observed"))
    };
    // The parts of a size are the trees, and free pages.
    let trees = outcome.samples.iter().filter(|sample| {
        sample.probe == "size_bytes" && !["", "free"].contains(&sample.part.as_str())
    });
    let rows = cell.rows as f64;
    Ok(Measured {
        measured_bytes_per_row: last("engine_written_bytes", "")? / rows,
        measured_log_bytes_per_row: last("engine_written_bytes", "wal")? / rows,
        measured_size_bytes: trees.filter_map(|sample| sample.value).sum(),
    })
}
