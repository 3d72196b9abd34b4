//! Merging of sorted runs by a tree of losers: one comparison a level and row, no key is copied.
//!
//! Source: D. E. Knuth, The Art of Computer Programming, volume 3, section 5.4.1.

use std::cmp::Ordering;
use std::io;

use inorder_btree::KeyOrder;

use super::arena::Origin;
use super::spill::RunReader;

/// The rows of several runs in one order; equal ones in the order of their runs.
pub(super) struct Merge {
    order: KeyOrder,
    runs: Vec<RunReader>,
    /// The prefix of each run's row; `None` where the run is at its end.
    prefixes: Vec<Option<u64>>,
    /// The run that lost at each inner node; at 0 the winner of all.
    losers: Vec<usize>,
    is_begun: bool,
    /// The prefix of the row before.
    last_prefix: Option<u64>,
}

impl Merge {
    /// Begins with the first row of each run.
    pub(super) fn new(order: KeyOrder, mut runs: Vec<RunReader>) -> io::Result<Self> {
        let mut prefixes = Vec::with_capacity(runs.len());
        for run in &mut runs {
            prefixes.push(match run.advance()? {
                true => Some(order.prefix(run.row().0)),
                false => None,
            });
        }
        let mut merge = Merge {
            losers: vec![0; runs.len()],
            order,
            runs,
            prefixes,
            is_begun: false,
            last_prefix: None,
        };
        if !merge.runs.is_empty() {
            merge.losers[0] = merge.play(1);
        }
        Ok(merge)
    }

    /// The winner of the matches below a node, the losers noted. Leaves are the nodes from `runs` on.
    fn play(&mut self, node: usize) -> usize {
        let count = self.runs.len();
        if node >= count {
            return node - count;
        }
        let (left, right) = (self.play(2 * node), self.play(2 * node + 1));
        let (winner, loser) = match self.is_first(left, right) {
            true => (left, right),
            false => (right, left),
        };
        self.losers[node] = loser;
        winner
    }

    /// Whether the row of run `a` comes before that of run `b`.
    #[inline]
    fn is_first(&self, a: usize, b: usize) -> bool {
        match (self.prefixes[a], self.prefixes[b]) {
            (Some(x), Some(y)) => {
                x.cmp(&y)
                    .then_with(|| {
                        self.order
                            .compare(self.runs[a].row().0, self.runs[b].row().0)
                    })
                    .then_with(|| a.cmp(&b))
                    == Ordering::Less
            }
            (x, y) => x.is_some() && y.is_none(),
        }
    }

    /// Advances to the next row. Returns false if there is none.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        if self.runs.is_empty() {
            return Ok(false);
        }
        if std::mem::replace(&mut self.is_begun, true) {
            self.last_prefix = self.prefixes[self.losers[0]];
            self.replay()?;
        }
        Ok(self.prefixes[self.losers[0]].is_some())
    }

    /// The row that was advanced to.
    #[inline]
    pub(super) fn row(&self) -> (&[u8], Origin) {
        self.runs[self.losers[0]].row()
    }

    /// Whether it has the prefix of the row before.
    pub(super) fn is_tied(&self) -> bool {
        self.last_prefix.is_some() && self.last_prefix == self.prefixes[self.losers[0]]
    }

    /// Takes the winner's next row up the tree.
    fn replay(&mut self) -> io::Result<()> {
        let mut winner = self.losers[0];
        let run = &mut self.runs[winner];
        self.prefixes[winner] = match run.advance()? {
            true => Some(self.order.prefix(run.row().0)),
            false => None,
        };
        let mut node = (winner + self.runs.len()) / 2;
        while node > 0 {
            if self.is_first(self.losers[node], winner) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.losers[0] = winner;
        Ok(())
    }
}
