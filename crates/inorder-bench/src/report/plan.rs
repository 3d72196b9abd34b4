//! A plan as a table, for `--dry-run`.

use super::{
    output::Options,
    sheet::{Sheet, head},
};
use crate::{experiment::Scale, format::count, plan::Plan, results::Experiment};

/// The cells of every experiment, how often each runs, and what can't be.
pub fn table(plan: &Plan, scale: Scale, seed: u64, options: &Options) -> String {
    let mut sheet = Sheet::new(*options);
    for experiment in &plan.experiments {
        sheet.heading(&format!("{}: {}", experiment.name, experiment.title));
        sheet.paragraph(&experiment.question, 0);
        push_cells(&mut sheet, plan, experiment);
        let is_own = |name: &String| *name == experiment.name;
        for (_, label, reason) in plan.impossible.iter().filter(|(name, ..)| is_own(name)) {
            sheet.paragraph(&format!("left out: {label}: {reason}"), 2);
        }
        sheet.blank();
    }
    sheet.line(&format!(
        "{}, {}, {} at the {} scale, seed {seed}",
        count(plan.experiments.len(), "experiment"),
        count(plan.cells.len(), "cell"),
        count(plan.trials.len(), "trial"),
        scale.name()
    ));
    sheet.into_text()
}

fn push_cells(sheet: &mut Sheet, plan: &Plan, experiment: &Experiment) {
    let mut table = sheet.table();
    table.set_header(["cell", "levels", "rows", "rows per transaction", "trials"].map(head));
    let is_own = |name: &str| name == experiment.name;
    for cell in plan.cells.iter().filter(|cell| is_own(&cell.experiment)) {
        let trials = plan.trials.iter().filter(|t| t.cell == cell.id).count();
        let level = |name: &str| cell.levels.get(name).cloned().unwrap_or_default();
        let mark = match cell.id == experiment.baseline {
            true => " (baseline)",
            false => "",
        };
        table.add_row([
            cell.id.to_string(),
            format!("{}{mark}", cell.label),
            level("rows"),
            level("rows_per_transaction"),
            trials.to_string(),
        ]);
    }
    sheet.push_table(&table);
}
