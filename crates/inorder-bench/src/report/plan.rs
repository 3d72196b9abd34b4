//! A plan as a table, for `--dry-run`.

use super::Options;
use crate::{experiment::Scale, plan::Plan};
use comfy_table::{ContentArrangement, Table};

/// The cells of every experiment, how often each runs, and what can't be.
pub fn table(plan: &Plan, scale: Scale, seed: u64, options: &Options) -> String {
    let mut text = String::new();
    for experiment in &plan.experiments {
        text += &format!("{}\n{}\n", experiment.name, experiment.question);
        let mut table = Table::new();
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(options.width.min(usize::from(u16::MAX)) as u16)
            .set_header(["cell", "levels", "rows", "rows a transaction", "trials"]);
        for cell in plan
            .cells
            .iter()
            .filter(|c| c.experiment == experiment.name)
        {
            let trials = plan.trials.iter().filter(|t| t.cell == cell.id).count();
            let level = |name: &str| cell.levels.get(name).cloned().unwrap_or_default();
            let is_baseline = cell.id == experiment.baseline;
            table.add_row([
                cell.id.to_string(),
                format!(
                    "{}{}",
                    cell.label,
                    if is_baseline { " (baseline)" } else { "" }
                ),
                level("rows"),
                level("rows_per_transaction"),
                trials.to_string(),
            ]);
        }
        text += &format!("{table}\n");
        for (_, label, reason) in plan
            .impossible
            .iter()
            .filter(|(name, ..)| *name == experiment.name)
        {
            text += &format!("left out: {label}: {reason}\n");
        }
        text.push('\n');
    }
    text += &format!(
        "{} experiments, {} cells, {} trials at the {} scale, seed {seed}\n",
        plan.experiments.len(),
        plan.cells.len(),
        plan.trials.len(),
        scale.name()
    );
    text
}
