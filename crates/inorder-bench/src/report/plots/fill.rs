//! The map of page fill: leaf pages in key order.

use super::{
    data::{Data, Plot, Strip},
    source::Source,
};
use crate::results::{Cell, Trial};

const PROBE: &str = "page_fill_share";

/// One strip for each tree of each cell, from its first finished trial: pages of different
/// repetitions cannot be averaged.
pub(super) fn map(source: &Source) -> Vec<Plot> {
    let strips: Vec<Strip> = source
        .cells
        .iter()
        .filter_map(|cell| {
            let trials = source.run.trials_of(cell.id);
            Some((cell, *trials.first()?))
        })
        .flat_map(|(cell, trial)| strips(cell, trial))
        .collect();
    if strips.is_empty() {
        return Vec::new();
    }
    vec![Plot {
        id: "fill".into(),
        title: "How full the leaf pages are, in key order".into(),
        note:
            "Each square is a leaf page (or the mean of a few neighbours), from the smallest key \
               at the top left to the largest at the bottom right, after the first repetition's \
               load."
                .into(),
        is_withheld: false,
        metric: None,
        data: Data::Strips(strips),
    }]
}

/// The trees of a trial: parts are `tree/position`, or only a position.
fn strips(cell: &Cell, trial: &Trial) -> Vec<Strip> {
    let mut trees: Vec<(&str, Vec<(&str, f64)>)> = Vec::new();
    for sample in trial.samples.iter().filter(|sample| sample.probe == PROBE) {
        let Some(fill) = sample.value else {
            continue;
        };
        let (tree, position) = sample.part.rsplit_once('/').unwrap_or(("", &sample.part));
        match trees.iter_mut().find(|(name, _)| *name == tree) {
            Some((_, leaves)) => leaves.push((position, fill)),
            None => trees.push((tree, vec![(position, fill)])),
        }
    }
    trees
        .into_iter()
        .map(|(tree, mut leaves)| {
            leaves.sort_by_key(|(position, _)| *position);
            Strip {
                // The table's own tree goes without saying; SQLite's name of the key's index is long.
                label: match tree.starts_with("sqlite_autoindex") {
                    true => format!("{} \u{2013} key index", cell.label),
                    false => cell.label.clone(),
                },
                fills: leaves.into_iter().map(|(_, fill)| fill).collect(),
            }
        })
        .collect()
}

impl Strip {
    /// Mean fill of its leaves.
    pub fn mean(&self) -> f64 {
        self.fills.iter().sum::<f64>() / self.fills.len() as f64
    }
}
