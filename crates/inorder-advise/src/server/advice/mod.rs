//! What to do with a server's database: CHANGE, MINOR, APP or LEAVE.

mod judge;
mod measure;
mod session;
mod stale;

pub use judge::{Item, Part};
pub use measure::{Measure, Method, Sizes};
pub use session::{Options, Reader};

use super::{
    migrate::Steps,
    model::{Database, TableKind},
};
use crate::{advice::IdLine, counter::Counter};
use serde::Serialize;

/// The advice on a server's database.
#[derive(Debug)]
pub struct Advice {
    /// The server's URL, without a password.
    pub url: String,
    /// What was read.
    pub database: Database,
    /// The kinds of ids found.
    pub ids: Vec<IdLine>,
    /// The counters, those that are nearest to their end first.
    pub counters: Vec<Counter>,
    /// When the counters were read, in seconds since 1970.
    pub read_at_s: u64,
    /// What to do, the largest first.
    pub items: Vec<Item>,
    /// How each change would be made.
    pub plans: Vec<Plan>,
    /// Why sizes are not predicted; empty if they are, or if nothing is to be predicted.
    pub unpredicted: String,
    /// Rows that were read.
    pub rows_read: u64,
    /// Whether the server's sizes are older than the rows: then shares of them mean nothing.
    pub sizes_are_stale: bool,
}

/// How a change would be made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The change in words.
    pub title: String,
    /// Whether the application must change with it.
    pub needs_application: bool,
    /// The steps, or why there are none.
    pub steps: Result<Steps, String>,
}

impl Advice {
    /// Bytes that percentages refer to: all tables and indexes that were read.
    pub fn base_bytes(&self) -> u64 {
        base_bytes(&self.database)
    }

    /// A share of all tables and indexes in percent, unless their sizes are stale.
    pub fn percent(&self, bytes: i64) -> Option<f64> {
        let share = 100.0 * bytes as f64 / self.base_bytes().max(1) as f64;
        (!self.sizes_are_stale).then_some(share)
    }

    /// Bytes that the changes which are safe save together.
    pub fn saved_bytes(&self) -> i64 {
        let items = self
            .items
            .iter()
            .filter(|item| item.verdict == crate::advice::Verdict::Change);
        items.filter_map(|item| item.saved_bytes).sum()
    }
}

fn base_bytes(database: &Database) -> u64 {
    // A partitioned table has the sizes of its partitions.
    let tables = database
        .tables
        .iter()
        .filter(|table| table.kind != TableKind::Partitioned);
    tables.map(|table| table.total_bytes()).sum()
}
