//! Loads that are too large to simulate. A smaller load takes their place, with a cache, a log between checkpoints and
//! transactions that are smaller by the same factor: it costs the same per row.

use crate::counters::Counters;
use crate::model::TreeSize;
use crate::question::{Engine, Question};

/// The largest transaction, in rows, that is simulated.
const TRANSACTION_MAX: u64 = 1_000_000;
/// Transactions of so many rows and more may be made smaller. In smaller ones the last page of ordered keys is a large part.
const TRANSACTION_MIN: u64 = 5000;
/// The doublings of a smaller load, the last ones, whose costs are used: before, the least cache would be a large part of it.
const DOUBLINGS: u32 = 4;

/// A point of the load.
#[derive(Clone, Debug)]
pub struct Point {
    /// Rows of the table.
    pub rows: u64,
    /// The counters since the begin of the load.
    pub total: Counters,
    /// The counters of some rows before this point.
    pub last: Counters,
    /// The size of each tree.
    pub trees: Vec<TreeSize>,
}

/// A simulated load.
#[derive(Clone, Debug)]
pub struct Course {
    /// Points in the order of rows, the end of the load last.
    pub points: Vec<Point>,
    /// One of so many pages of a tree with random keys was simulated in the end.
    pub sample: u32,
}

/// Rows of the largest load that is simulated in its own size.
pub(crate) const ROWS_MAX: u64 = 100_000_000;

/// The bytes of cache and of log to which a smaller load is not reduced. Engines keep some pages and bytes free, whatever the size,
/// and the pages of one row and of its transaction have to fit.
fn bytes_min(engine: Engine, page_bytes: u32) -> (u64, u64) {
    let page = u64::from(page_bytes);
    match engine {
        Engine::Sqlite => (1000 * page, 1000 * page),
        Engine::Postgres => (2000 * page, 64 << 20),
        Engine::Mariadb => (8192 * page, 4 << 20),
    }
}

/// How many times smaller the load is that takes the place of this one, where at most `rows` are simulated.
pub(crate) fn factor(question: &Question, rows: u64) -> u64 {
    match question.loaded_rows {
        0 => {
            let transaction = question.rows_per_transaction.min(question.rows);
            let by_rows = question.rows.div_ceil(rows);
            by_rows.max(transaction.div_ceil(TRANSACTION_MAX))
        }
        _ => 1,
    }
}

/// The rows from which on the load is that of a smaller one.
pub(crate) fn first_rows(question: &Question, rows: u64) -> u64 {
    match question.rows_per_transaction > TRANSACTION_MAX {
        true => 0,
        false => rows,
    }
}

/// The load that takes the place of one.
pub(crate) fn smaller(question: &Question, factor: u64) -> Question {
    let (cache_min, log_min) = bytes_min(question.engine, question.page_bytes);
    let divided = |bytes: u64, least: u64| (bytes / factor).max(bytes.min(least));
    let transaction = question.rows_per_transaction;
    Question {
        rows: question.rows / factor,
        rows_per_row: factor,
        rows_per_transaction: divided(transaction, TRANSACTION_MIN),
        cache_bytes: divided(question.cache_bytes, cache_min),
        checkpoint_bytes: divided(question.checkpoint_bytes, log_min),
        ..question.clone()
    }
}

/// Continues a course, which may be empty, by that of a smaller load.
pub(crate) fn extend(course: &mut Course, small: Course, question: &Question, factor: u64) {
    let begin = course.points.last().map_or(0, |point| point.rows);
    let first = match begin {
        0 => 0,
        _ => question.rows >> DOUBLINGS,
    };
    let times = factor as f64;
    let count = small.points.len();
    for (number, point) in small.points.into_iter().enumerate() {
        let rows = match number + 1 == count {
            true => question.rows,
            false => point.rows * factor,
        };
        if rows <= begin || rows < first {
            continue;
        }
        let last = point.last.times(times);
        let total = match course.points.last() {
            Some(before) => before.total_after(last, rows - before.rows),
            None => point.total.times(times),
        };
        let trees = point.trees.iter().map(|tree| tree.times(times)).collect();
        course.points.push(Point {
            rows,
            total,
            last,
            trees,
        });
    }
    course.sample = u64::from(small.sample)
        .saturating_mul(factor)
        .min(u64::from(u32::MAX)) as u32;
}

impl Point {
    /// The counters so many rows later, the cost of a row being between that at this point and that at the end.
    pub(crate) fn total_after(&self, last: Counters, rows: u64) -> Counters {
        let mean = |of: fn(&Counters) -> f64| {
            let begin = of(&self.last) / self.last.rows.max(1.0);
            let end = of(&last) / last.rows.max(1.0);
            of(&self.total) + rows as f64 * (begin + end) / 2.0
        };
        Counters {
            rows: self.total.rows + rows as f64,
            log_bytes: mean(|c| c.log_bytes),
            page_bytes: mean(|c| c.page_bytes),
            page_writes: mean(|c| c.page_writes),
            read_pages: mean(|c| c.read_pages),
            accesses: mean(|c| c.accesses),
            checkpoints: mean(|c| c.checkpoints),
        }
    }
}
