//! Samples and texts that are taken after the load.

use crate::{error::Error, results::Sample};
use inorder_engine::{Database, Tree};

/// Texts that a trial found: name and lines.
pub type Texts = Vec<(String, String)>;

/// Turns an unsupported operation into an unobservable value.
pub fn observable<T>(result: Result<T, inorder_engine::Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(inorder_engine::Error::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether all the engine does is done by this process.
pub fn is_alone(database: &dyn Database) -> bool {
    database.is_in_sight() && database.processes().is_empty()
}

/// Samples of the state after the load.
pub struct Probes<'a> {
    rows: u64,
    samples: &'a mut Vec<Sample>,
}

impl<'a> Probes<'a> {
    /// Samples of a table of so many rows.
    pub fn new(rows: u64, samples: &'a mut Vec<Sample>) -> Self {
        Probes { rows, samples }
    }

    /// One value; `None` is unobservable.
    pub fn push(&mut self, probe: &str, part: &str, value: Option<f64>) {
        self.samples.push(Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows: self.rows,
            value,
        });
    }

    /// Sizes: the whole, each tree, and what belongs to none (free pages, the log).
    pub fn push_size(
        &mut self,
        probe: &str,
        trees: Option<&[Tree]>,
        database: &dyn Database,
    ) -> Result<(), Error> {
        let size_bytes = observable(database.size_bytes())?;
        self.push(probe, "", size_bytes.map(|bytes| bytes as f64));
        let (Some(trees), Some(size_bytes)) = (trees, size_bytes) else {
            return Ok(());
        };
        let in_trees: u64 = trees.iter().map(|tree| tree.size_bytes).sum();
        for tree in trees {
            self.push(probe, &part(tree), Some(tree.size_bytes as f64));
        }
        let free = size_bytes.saturating_sub(in_trees);
        self.push(probe, "free", Some(free as f64));
        Ok(())
    }

    /// Page structure of each tree; the fill of the whole is weighted by pages.
    pub fn push_shape(&mut self, trees: &[Tree]) {
        let pages: u64 = trees.iter().map(|tree| tree.pages).sum();
        let filled: Option<f64> = trees
            .iter()
            .filter(|tree| tree.pages > 0)
            .map(|tree| Some(tree.fill? * tree.pages as f64))
            .sum();
        let whole = filled.filter(|_| pages > 0);
        self.push("fill_share", "", whole.map(|filled| filled / pages as f64));
        for tree in trees {
            let part = part(tree);
            self.push("pages", &part, Some(tree.pages as f64));
            self.push(
                "overflow_pages",
                &part,
                tree.overflow_pages.map(|n| n as f64),
            );
            self.push("depth_levels", &part, tree.depth.map(f64::from));
            self.push("fanout_children", &part, tree.fanout);
            self.push("fill_share", &part, tree.fill);
        }
    }
}

fn part(tree: &Tree) -> String {
    let kind = if tree.is_index { "index" } else { "table" };
    format!("{kind}:{}", tree.name)
}
