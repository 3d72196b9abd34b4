//! How the ids of an experiment were stored.

use crate::{
    experiment::factors::Setup,
    plan::setup_of,
    results::{Cell, Experiment, Run, Status},
};

/// The sentence that names the column types of ids, where their kinds can be stored in several: `Ids are stored as UUID.`
/// `None` where they can't, or no trial has finished.
pub(super) fn sentence(run: &Run, experiment: &Experiment) -> Option<String> {
    let is_done = |cell: &&Cell| {
        let mut trials = run.trials.iter();
        trials.any(|trial| trial.cell == cell.id && trial.status == Status::Done)
    };
    let cells = run.cells_of(&experiment.name);
    let mut engines: Vec<(String, Vec<&'static str>)> = Vec::new();
    for cell in cells.into_iter().filter(is_done) {
        let setup = setup_of(&cell.levels).ok()?;
        let Some(name) = column_type(&setup) else {
            continue;
        };
        let at = engines
            .iter()
            .position(|(engine, _)| *engine == setup.engine);
        let at = at.unwrap_or_else(|| {
            engines.push((setup.engine.clone(), Vec::new()));
            engines.len() - 1
        });
        if !engines[at].1.contains(&name) {
            engines[at].1.push(name);
        }
    }
    let is_one = engines.len() == 1;
    let of_engine = |(engine, types): &(String, Vec<&str>)| match is_one {
        true => types.join(" or "),
        false => format!("{} on {engine}", types.join(" or ")),
    };
    let all: Vec<String> = engines.iter().map(of_engine).collect();
    (!all.is_empty()).then(|| format!(" Ids are stored as {}.", all.join(", ")))
}

/// The column type of a setup's ids, where the kind can be stored in several.
fn column_type(setup: &Setup) -> Option<&'static str> {
    if setup.key.encodings().len() < 2 {
        return None;
    }
    let name = inorder_engine::engine(&setup.engine)?.key_type(setup.key, setup.encoding())?;
    // Without the collation.
    Some(name.split(" CHARACTER").next().unwrap_or(name))
}
