//! The course of a load: whole up to some million rows, then in windows, and above the largest number of rows as a smaller load.

use crate::mariadb::Mariadb;
use crate::model::{LEAVES_MAX, Model};
use crate::postgres::Postgres;
use crate::question::{Engine, Question};
use crate::scale;
pub use crate::scale::{Course, Point};
use crate::sqlite::Sqlite;

/// What is simulated whole.
#[derive(Clone, Copy)]
struct Limits {
    /// A load of more rows is simulated as a smaller one.
    rows: u64,
    /// A load of at most so many rows.
    whole_rows: u64,
    /// The first rows of a longer load.
    first_rows: u64,
    /// Leaf pages of the largest sampled tree above which half of its keys are dropped.
    leaves: u64,
    /// Rows of a window at least.
    window_rows: u64,
}

const LIMITS: Limits = Limits {
    rows: scale::ROWS_MAX,
    whole_rows: 1_000_000,
    first_rows: 300_000,
    leaves: LEAVES_MAX,
    window_rows: 200_000,
};
/// Limits of a simulation that takes a tenth of the time.
const ROUGH: Limits = Limits {
    rows: scale::ROWS_MAX,
    whole_rows: 60_000,
    first_rows: 40_000,
    leaves: 1024,
    window_rows: 20_000,
};
/// Inserts into each sampled tree in a window.
const WINDOW_INSERTS: u64 = 1500;
/// Steps between points of the curve while all rows are simulated.
const STEPS: u64 = 40;
/// Inserts into each sampled tree in a step.
const STEP_INSERTS: u64 = 500;

/// Simulates the load of a question that was checked.
pub fn simulate(question: &Question) -> Course {
    simulate_within(question, LIMITS)
}

/// Simulates the load of a question that was checked, with fewer rows.
pub fn simulate_roughly(question: &Question) -> Course {
    simulate_within(question, ROUGH)
}

fn simulate_within(question: &Question, limits: Limits) -> Course {
    let rows = limits.rows;
    let factor = scale::factor(question, rows);
    if factor == 1 {
        return simulate_rows(question, limits);
    }
    // The first rows find a larger share of their pages in the cache than those of the smaller load do.
    let first = Question {
        rows: scale::first_rows(question, rows),
        ..question.clone()
    };
    let mut course = match first.rows {
        0 => Course {
            points: Vec::new(),
            sample: 1,
        },
        _ => simulate_rows(&first, limits),
    };
    let small = simulate_rows(&scale::smaller(question, factor), limits);
    scale::extend(&mut course, small, question, factor);
    course
}

/// Simulates a load in its own size.
fn simulate_rows(question: &Question, limits: Limits) -> Course {
    let model: Box<dyn Model> = match question.engine {
        Engine::Sqlite => Box::new(Sqlite::new(question)),
        Engine::Postgres => Box::new(Postgres::new(question)),
        Engine::Mariadb => Box::new(Mariadb::new(question)),
    };
    let mut run = Run {
        model,
        question,
        limits,
        rows: question.loaded_rows,
        open: 0,
        points: Vec::new(),
    };
    run.whole();
    while run.rows < question.rows {
        run.window();
    }
    Course {
        sample: run.model.sample(),
        points: run.points,
    }
}

struct Run<'q> {
    model: Box<dyn Model>,
    question: &'q Question,
    limits: Limits,
    rows: u64,
    /// Rows of the open transaction.
    open: u64,
    points: Vec<Point>,
}

impl Run<'_> {
    /// Inserts rows in transactions, up to a number of rows in the table.
    fn insert_until(&mut self, rows: u64) {
        while self.rows < rows {
            self.rows += 1;
            self.model.insert(self.rows);
            self.open += 1;
            if self.open == self.question.rows_per_transaction {
                self.commit();
            }
        }
    }

    fn commit(&mut self) {
        if self.open > 0 {
            self.model.commit();
            self.open = 0;
        }
    }

    /// Simulates every row of the first part of the load.
    fn whole(&mut self) {
        let first = self.rows;
        let rows = self.question.rows - first;
        let end = match rows <= self.limits.whole_rows {
            true => self.question.rows,
            false => first + self.limits.first_rows,
        };
        let sampled = match self.model.sample() {
            1 => 1,
            sample => STEP_INSERTS * u64::from(sample),
        };
        let step = (end - first).div_ceil(STEPS).max(sampled);
        let mut before = self.model.counters();
        let mut middle = before;
        if end < self.question.rows {
            self.model.expect_gaps();
        }
        self.model.begin_window();
        while self.rows < end {
            self.insert_until((self.rows + step).min(end));
            let is_end = self.rows == self.question.rows;
            if is_end {
                self.commit();
            }
            if self.rows > first + (end - first) / 2
                && self.rows - step <= first + (end - first) / 2
            {
                self.model.begin_window();
                middle = self.model.counters();
            }
            let now = self.model.counters();
            // What follows is taken from the second half of a first part.
            let last = match self.rows == end && !is_end {
                true => now - middle,
                false => now - before,
            };
            before = now;
            if is_end {
                self.model.finish();
            }
            self.points.push(Point {
                rows: self.rows,
                total: self.model.counters(),
                last,
                trees: self.model.sizes(),
            });
        }
        self.commit();
        self.model.end_window();
    }

    /// Rows of a window: several transactions and checkpoints.
    fn window_rows(&self) -> u64 {
        let sampled = WINDOW_INSERTS * u64::from(self.model.sample());
        let transactions = 3 * self.question.rows_per_transaction;
        sampled.max(transactions).max(self.limits.window_rows)
    }

    /// Grows the table to about twice its size, and simulates the last rows of that.
    fn window(&mut self) {
        while self.model.sampled_leaves() > self.limits.leaves {
            self.model.halve();
        }
        let target = self.question.rows.min(self.rows * 2);
        let window = self.window_rows().min(target - self.rows);
        let grown = target - self.rows - window;
        self.model.grow(self.rows + 1, grown);
        let before = self.rows;
        self.rows += grown;
        self.model.begin_window();
        // The cache and the log get into their usual state.
        self.insert_until(self.rows + window / 4);
        let start = self.model.counters();
        self.insert_until(target);
        self.commit();
        let last = self.model.counters() - start;
        self.model.end_window();
        let total = match self.points.last() {
            Some(point) => point.total_after(last, target - before),
            None => last,
        };
        self.points.push(Point {
            rows: target,
            total,
            last,
            trees: self.model.sizes(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_key::KeyKind;

    /// The limits, with two million rows that are simulated whole.
    const WHOLE: Limits = Limits {
        whole_rows: 2_000_000,
        ..LIMITS
    };

    fn end(question: &Question, limits: Limits) -> (f64, f64, f64) {
        let course = simulate_within(question, limits);
        let Some(point) = course.points.last() else {
            panic!("a load has an end");
        };
        let size = point.trees.iter().map(|tree| tree.bytes).sum();
        let rows = point.last.rows;
        (
            point.last.written_bytes() / rows,
            size,
            point.last.read_pages / rows,
        )
    }

    /// A sampled tree costs as much per row as a whole one. The cache is a quarter of the leaf pages.
    #[test]
    fn a_sample_costs_what_the_whole_costs() {
        for (engine, kind, rows_per_transaction) in [
            (Engine::Sqlite, KeyKind::Uuid4, 1),
            (Engine::Sqlite, KeyKind::Uuid4, 1000),
            (Engine::Sqlite, KeyKind::Uuid7, 1000),
            (Engine::Postgres, KeyKind::Uuid4, 1000),
            (Engine::Postgres, KeyKind::Uuid7, 1000),
            // With ordered keys, the page cleaner writes after more rows than a step has.
            (Engine::Mariadb, KeyKind::Uuid4, 1000),
        ] {
            let mut question = Question::new(engine, kind, 1_600_000);
            question.rows_per_transaction = rows_per_transaction;
            question.cache_bytes = 20 << 20;
            question.page_bytes = question.page_bytes.min(8192);
            question.checkpoint_bytes = question.checkpoint_bytes.min(256 << 20);
            let whole = end(&question, WHOLE);
            let limits = Limits {
                whole_rows: 0,
                first_rows: 200_000,
                leaves: 1500,
                ..LIMITS
            };
            let sampled = end(&question, limits);
            let is_near = |a: f64, b: f64, bound: f64| (a / b - 1.0).abs() < bound;
            let what =
                format!("{engine:?} {kind:?} by {rows_per_transaction}: {sampled:?} for {whole:?}");
            assert!(is_near(sampled.0, whole.0, 0.05), "{what}");
            assert!(is_near(sampled.1, whole.1, 0.02), "{what}");
            assert!(
                whole.2 == 0.0 || is_near(sampled.2, whole.2, 0.10),
                "{what}"
            );
        }
    }

    /// A load that is simulated as a smaller one costs as much per row, and its tables are as large.
    #[test]
    fn a_smaller_load_costs_what_a_large_one_costs() {
        for (engine, kind, indexes) in [
            (Engine::Sqlite, KeyKind::Uuid4, 1),
            (Engine::Sqlite, KeyKind::Composite, 1),
            (Engine::Postgres, KeyKind::Uuid4, 1),
            (Engine::Mariadb, KeyKind::Uuid4, 0),
        ] {
            let mut question = Question::new(engine, kind, 32_000_000);
            question.add_random_indexes(indexes);
            question.cache_bytes = 256 << 20;
            let large = simulate_rows(&question, LIMITS);
            let limits = Limits {
                rows: 8_000_000,
                ..LIMITS
            };
            let small = simulate_within(&question, limits);
            let of = |course: &Course| {
                let point = course.points.last().expect("a load has an end");
                let size: f64 = point.trees.iter().map(|tree| tree.bytes).sum();
                let depths: Vec<u32> = point.trees.iter().map(|tree| tree.depth).collect();
                let last = point.last.written_bytes() / point.last.rows;
                let total = point.total.written_bytes() / point.total.rows;
                (
                    point.rows,
                    depths,
                    [(last, 0.04), (total, 0.04), (size, 0.01)],
                )
            };
            let (large, small) = (of(&large), of(&small));
            let what = format!("{engine:?} {kind:?}: {small:?} for {large:?}");
            assert_eq!((large.0, &large.1), (small.0, &small.1), "{what}");
            for ((large, bound), (small, _)) in large.2.into_iter().zip(small.2) {
                assert!((small / large - 1.0).abs() < bound, "{what}");
            }
        }
    }

    /// The time of a simulation does not depend on the rows above the largest number that is simulated.
    #[test]
    fn a_load_of_any_size_has_an_end() {
        for engine in Engine::ALL {
            let limits = Limits {
                rows: 4_000_000,
                ..ROUGH
            };
            let mut cost = Vec::new();
            for rows in [1_000_000_000_000, 1_000_000_000_000_000] {
                let course = simulate_within(&Question::new(*engine, KeyKind::Uuid4, rows), limits);
                let point = course.points.last().expect("a load has an end");
                assert_eq!(point.rows, rows);
                cost.push(point.last.written_bytes() / point.last.rows);
            }
            assert!(
                (cost[1] / cost[0] - 1.0).abs() < 0.05,
                "{engine:?}: {cost:?}"
            );
        }
    }

    /// Pages that ordered keys fill are written once, also by a load that is simulated in windows.
    #[test]
    fn ordered_keys_cost_as_much_in_windows() {
        for engine in [Engine::Postgres, Engine::Mariadb] {
            let cost = |rows| {
                let question = Question::new(engine, KeyKind::Uuid7, rows);
                let course = simulate_within(&question, WHOLE);
                let total = course.points[course.points.len() - 1].total;
                (total.page_bytes / total.rows, total.log_bytes / total.rows)
            };
            let (whole, windows) = (cost(2_000_000), cost(8_000_000));
            let what = format!("{engine:?}: {windows:?} for {whole:?}");
            assert!((windows.0 / whole.0 - 1.0).abs() < 0.05, "{what}");
            assert!((windows.1 / whole.1 - 1.0).abs() < 0.02, "{what}");
        }
    }
}
