//! A sample of the different values of a column by their hashes, and which keys have them.

use std::collections::{HashMap, HashSet};

/// Hashes that are kept.
const KEPT_MAX: usize = 4096;
/// A smaller share of values in a key is chance or a mistake of the rows.
const SHARE_MIN: f64 = 0.01;
/// All values are in a key from this share: rows whose parents are gone occur where no foreign key is declared.
const ALL_MIN: f64 = 0.9;

/// A random sample of the different values, the same for the same values.
#[derive(Debug, Clone)]
pub struct Sketch {
    hashes: HashSet<u64>,
    limit: u64,
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch {
            hashes: HashSet::new(),
            limit: u64::MAX,
        }
    }
}

impl Sketch {
    /// Adds the hash of a value.
    pub(crate) fn add(&mut self, hash: u64) {
        if hash > self.limit {
            return;
        }
        self.hashes.insert(hash);
        while self.hashes.len() > KEPT_MAX {
            self.limit /= 2;
            let limit = self.limit;
            self.hashes.retain(|&hash| hash <= limit);
        }
    }

    /// Tells whether two columns share values.
    pub(crate) fn shares_with(&self, other: &Sketch) -> bool {
        let limit = self.limit.min(other.limit);
        let mut hashes = self.hashes.iter().filter(|&&hash| hash <= limit);
        hashes.any(|hash| other.hashes.contains(hash))
    }

    /// The different values, estimated from those that are kept; exact where they are few.
    pub(crate) fn different(&self) -> u64 {
        (self.hashes.len() as f64 * (u64::MAX as f64 / self.limit as f64)).round() as u64
    }

    /// Whether all different values are kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.limit == u64::MAX
    }

    fn below(&self, limit: u64) -> usize {
        self.hashes.iter().filter(|&&hash| hash <= limit).count()
    }
}

/// A column with its values.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    /// The values, or those of a sample.
    pub values: &'a Sketch,
    /// Share of the table's rows that were read.
    pub coverage: f64,
    /// Whether it is a key: no value occurs twice.
    pub is_unique: bool,
}

/// A key that has values of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Contained {
    /// The number of the key's column.
    pub at: usize,
    /// The key's table and column.
    pub key: String,
    /// The share of the column's values that the key has, measured or estimated from samples.
    pub share: f64,
    /// Whether both have the same values.
    pub is_mutual: bool,
    /// Whether the key's name is that of an id of its own table.
    pub is_own: bool,
}

impl Contained {
    /// What was measured.
    pub fn in_words(&self) -> String {
        match self.share >= ALL_MIN {
            true => format!("its values are in {}", self.key),
            false => format!(
                "{:.0} % of its values are in {}",
                100.0 * self.share,
                self.key
            ),
        }
    }
}

/// For each column the keys that have its values, those with the most first. Names are left empty.
pub fn find_contained(columns: &[Holder<'_>]) -> Vec<Vec<Contained>> {
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, column) in columns.iter().enumerate().filter(|(_, own)| own.is_unique) {
        for &hash in &column.values.hashes {
            holders.entry(hash).or_default().push(at);
        }
    }
    let of_column = |(at, column): (usize, &Holder<'_>)| {
        let mut shared: HashMap<usize, u64> = HashMap::new();
        for hash in &column.values.hashes {
            let others = holders.get(hash).into_iter().flatten();
            for &other in others.filter(|&&other| other != at) {
                *shared.entry(other).or_default() += 1;
            }
        }
        let mut found: Vec<Contained> = shared
            .into_iter()
            .filter_map(|(other, shared)| contained(column, &columns[other], other, shared))
            .collect();
        found.sort_by(|one, other| {
            other
                .share
                .total_cmp(&one.share)
                .then(one.at.cmp(&other.at))
        });
        found
    };
    columns.iter().enumerate().map(of_column).collect()
}

fn contained(column: &Holder<'_>, key: &Holder<'_>, at: usize, shared: u64) -> Option<Contained> {
    let limit = column.values.limit.min(key.values.limit);
    let share = |of: &Sketch, coverage: f64| {
        let expected = of.below(limit) as f64 * coverage;
        (shared as f64 / expected.max(1.0)).min(1.0)
    };
    let of_column = share(column.values, key.coverage);
    let of_key = share(key.values, column.coverage);
    (of_column >= SHARE_MIN).then(|| Contained {
        at,
        key: String::new(),
        share: of_column,
        is_mutual: of_column.min(of_key) >= ALL_MIN,
        is_own: false,
    })
}
