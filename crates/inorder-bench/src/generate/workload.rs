//! The operations on a table after its load, and the rows that they choose.

use inorder_key::bulk::SplitMix64;

/// What is done with the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    /// Nothing.
    None,
    /// A row is read.
    Read,
    /// A column without an index is changed.
    Update,
    /// A row is read or changed, in a given proportion.
    Mixed,
    /// A row is inserted, or changed if its key is there: half of the keys are.
    Upsert,
    /// A row is deleted.
    Delete,
    /// A row is deleted and a new one inserted.
    Churn,
}

impl Workload {
    /// All workloads.
    pub const ALL: &[Workload] = &[
        Workload::None,
        Workload::Read,
        Workload::Update,
        Workload::Mixed,
        Workload::Upsert,
        Workload::Delete,
        Workload::Churn,
    ];

    /// The name in experiments.
    pub const fn name(self) -> &'static str {
        match self {
            Workload::None => "none",
            Workload::Read => "read",
            Workload::Update => "update",
            Workload::Mixed => "mixed",
            Workload::Upsert => "upsert",
            Workload::Delete => "delete",
            Workload::Churn => "churn",
        }
    }
}

/// Which rows are chosen more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skew {
    /// All alike.
    Uniform,
    /// A few, which are spread over the table.
    Zipfian,
    /// Those inserted last.
    Latest,
}

impl Skew {
    /// All distributions.
    pub const ALL: &[Skew] = &[Skew::Uniform, Skew::Zipfian, Skew::Latest];

    /// The name in experiments.
    pub const fn name(self) -> &'static str {
        match self {
            Skew::Uniform => "uniform",
            Skew::Zipfian => "zipfian",
            Skew::Latest => "latest",
        }
    }
}

/// Exponent of the distribution, that of YCSB (B. Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010).
const EXPONENT: f64 = 0.99;

/// Chooses rows by their position in the order of insertion.
#[derive(Clone, Debug)]
pub struct Chooser {
    skew: Skew,
    random: SplitMix64,
    /// Rows, and the sum of `1 / rank^EXPONENT` over as many ranks.
    rows: u64,
    zeta: f64,
}

impl Chooser {
    /// A chooser among no rows.
    pub fn new(skew: Skew, seed: u64) -> Self {
        Chooser {
            skew,
            random: SplitMix64::new(SplitMix64::mix(seed)),
            rows: 0,
            zeta: 0.0,
        }
    }

    /// Adds rows.
    pub fn add(&mut self, rows: u64) {
        if self.skew != Skew::Uniform {
            let ranks = self.rows + 1..=self.rows + rows;
            self.zeta += ranks.map(|rank| (rank as f64).powf(-EXPONENT)).sum::<f64>();
        }
        self.rows += rows;
    }

    /// A position below the number of rows, which is at least 1.
    pub fn choose(&mut self) -> u64 {
        match self.skew {
            Skew::Uniform => self.random.below(self.rows),
            Skew::Zipfian => SplitMix64::mix(self.rank()) % self.rows,
            Skew::Latest => self.rows - 1 - self.rank(),
        }
    }

    /// Whether an event happens that has a probability of so many percent.
    pub fn happens(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    /// A rank from 0, by the method of J. Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994,
    /// section 3.2: the first two ranks are exact, the others are those of the continuous distribution.
    fn rank(&mut self) -> u64 {
        let rows = self.rows as f64;
        // 53 random bits below 1.
        let u = (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let scaled = u * self.zeta;
        let two = 1.0 + 0.5f64.powf(EXPONENT);
        let rank = match scaled {
            scaled if scaled < 1.0 => 0,
            scaled if scaled < two => 1,
            _ => {
                let alpha = 1.0 / (1.0 - EXPONENT);
                let eta = (1.0 - (2.0 / rows).powf(1.0 - EXPONENT)) / (1.0 - two / self.zeta);
                (rows * (eta * u - eta + 1.0).powf(alpha)) as u64
            }
        };
        rank.min(self.rows - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(skew: Skew, rows: u64) -> Vec<f64> {
        let mut chooser = Chooser::new(skew, 7);
        chooser.add(rows / 2);
        chooser.add(rows - rows / 2);
        let mut counts = vec![0.0; rows as usize];
        for _ in 0..200_000 {
            counts[chooser.choose() as usize] += 1.0 / 200_000.0;
        }
        counts
    }

    #[test]
    fn ranks_are_chosen_as_often_as_the_distribution_says() {
        let latest = counts(Skew::Latest, 1000);
        let zeta: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-EXPONENT)).sum();
        for (rank, bound) in [(1usize, 0.03), (2, 0.03)] {
            let wanted = (rank as f64).powf(-EXPONENT) / zeta;
            let share = latest[1000 - rank];
            assert!(
                (share / wanted - 1.0).abs() < bound,
                "{rank}: {share}, {wanted}"
            );
        }
        // The share of the first ranks together. From the third on the method approximates.
        for first in [10, 100, 500] {
            let wanted: f64 = (1..=first)
                .map(|rank| (rank as f64).powf(-EXPONENT) / zeta)
                .sum();
            let share: f64 = latest[1000 - first..].iter().sum();
            assert!(
                (share / wanted - 1.0).abs() < 0.06,
                "{first}: {share}, {wanted}"
            );
        }
    }

    #[test]
    fn zipfian_rows_are_spread_and_uniform_ones_are_alike() {
        let zipfian = counts(Skew::Zipfian, 1000);
        let mut sorted = zipfian.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        assert!(sorted[0] > 0.1, "{}", sorted[0]);
        // The most frequent rows are not the first or the last ones.
        let halves: f64 = zipfian[..500].iter().sum();
        assert!((0.2..0.8).contains(&halves), "{halves}");
        let uniform = counts(Skew::Uniform, 1000);
        assert!(uniform.iter().all(|share| (0.0005..0.0015).contains(share)));
        let mut one = Chooser::new(Skew::Latest, 1);
        one.add(1);
        assert_eq!(one.choose(), 0);
    }
}
