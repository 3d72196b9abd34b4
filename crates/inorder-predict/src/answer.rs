//! Answers with their errors, and where one key overtakes another.

use crate::error::Error;
use crate::mariadb;
use crate::model::TreeSize;
use crate::postgres;
use crate::question::{Engine, Question};
use crate::simulate::{Course, Point, simulate, simulate_roughly};

/// Simulations with different seeds.
const SEEDS: u64 = 3;
/// Student's 97.5% quantile with `SEEDS` - 1 degrees of freedom.
const STUDENT: f64 = 4.303;

/// A number with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Half of the 95% interval.
    pub error: f64,
}

impl Estimate {
    /// The mean of numbers, with the error of the model as a share of it.
    fn of(values: &[f64], model_error: f64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let seeds = match values.len() {
            0 | 1 => 0.0,
            _ => STUDENT * (squares / (count - 1.0) / count).sqrt(),
        };
        Estimate {
            value: mean,
            error: seeds.hypot(mean * model_error),
        }
    }
}

/// What a table has beside what is simulated, as shares of that.
struct Share {
    /// All of it.
    whole: f64,
    /// Its error.
    error: f64,
}

impl Share {
    /// The share of a question, where what is simulated has this size.
    fn of(question: &Question, size: Estimate) -> Self {
        let rows = question.rows as f64;
        let bytes = size.value.max(1.0);
        Share {
            whole: 1.0 + rows * question.beside.bytes / bytes,
            error: rows * question.beside.error_bytes / bytes,
        }
    }

    /// Adds it to what was simulated. Its error is a bound and not random, so it is added to the other one.
    fn add(&self, simulated: Estimate) -> Estimate {
        Estimate {
            value: simulated.value * self.whole,
            error: simulated.error * self.whole + simulated.value * self.error,
        }
    }
}

/// Errors of an engine's predictions against runs, as shares: 95% of them are within.
struct Tolerance {
    bytes: f64,
    size: f64,
}

fn tolerance(engine: Engine) -> Tolerance {
    match engine {
        Engine::Sqlite => Tolerance {
            bytes: 0.02,
            size: 0.01,
        },
        Engine::Postgres | Engine::Mariadb => Tolerance {
            bytes: 0.10,
            size: 0.02,
        },
    }
}

/// A load when the table has some of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Bytes written per insert.
    pub insert_bytes: Estimate,
    /// Bytes of all tables and indexes.
    pub size_bytes: Estimate,
    /// Bytes written by the inserts that follow.
    pub rest_bytes: Estimate,
}

/// What a load costs.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// Bytes written per insert, over the whole load.
    pub load_bytes: Estimate,
    /// Bytes written per insert at the end of the load.
    pub last_bytes: Estimate,
    /// Bytes of all tables and indexes.
    pub size_bytes: Estimate,
    /// The share of page accesses that the cache answers, at the end of the load.
    pub hit_share: Estimate,
    /// Page reads from outside the cache per insert, at the end of the load.
    pub reads: Estimate,
    /// Page writes to tables and indexes per insert, at the end of the load.
    pub writes: Estimate,
    /// The tables and indexes.
    pub trees: Vec<TreeSize>,
    /// One of so many pages of trees with random keys was simulated.
    pub sample: u32,
    /// The points of the load.
    pub points: Vec<Point>,
}

impl Answer {
    /// The load when the table has so many rows, between the points that are next to it.
    pub fn stage(&self, rows: u64) -> Stage {
        let estimate = |value: f64, like: Estimate| Estimate {
            value,
            error: value * like.error / like.value.max(f64::MIN_POSITIVE),
        };
        let curve = |of: fn(&Point) -> f64| -> Vec<(f64, f64)> {
            let points = self.points.iter();
            points.map(|point| (point.rows as f64, of(point))).collect()
        };
        let from_0 = |of: fn(&Point) -> f64| {
            let mut curve = curve(of);
            curve.insert(0, (self.question.loaded_rows as f64, 0.0));
            curve
        };
        let at = |curve: &[(f64, f64)]| between(curve, rows as f64);
        let written = from_0(|point| point.total.written_bytes());
        let all = written.last().map_or(0.0, |(_, bytes)| *bytes);
        let insert = curve(|point| point.last.written_bytes() / point.last.rows.max(1.0));
        let size = from_0(|point| point.trees.iter().map(|tree| tree.bytes).sum());
        let simulated = size.last().map_or(0.0, |(_, bytes)| *bytes);
        let whole = Share::of(
            &self.question,
            Estimate {
                value: simulated,
                error: 0.0,
            },
        )
        .whole;
        Stage {
            insert_bytes: estimate(at(&insert) * whole, self.last_bytes),
            size_bytes: estimate(at(&size) * whole, self.size_bytes),
            rest_bytes: estimate((all - at(&written)) * whole, self.load_bytes),
        }
    }

    /// Inserts per second that a device can take at the end of the load, and whether the operations bound it, and not
    /// the bytes. Reads and page writes are operations; the log is written in order.
    pub fn rate(&self, operations_per_s: f64, bytes_per_s: f64) -> (Estimate, bool) {
        let page = f64::from(self.question.page_bytes);
        let operations = self.reads.value + self.writes.value;
        let bytes = self.last_bytes.value + self.reads.value * page;
        let by_operations = operations_per_s / operations.max(f64::MIN_POSITIVE);
        let by_bytes = bytes_per_s / bytes.max(f64::MIN_POSITIVE);
        let value = by_operations.min(by_bytes);
        let error = match by_operations < by_bytes {
            true => (self.reads.error + self.writes.error) / operations,
            false => (self.last_bytes.error + self.reads.error * page) / bytes,
        };
        let estimate = Estimate {
            value,
            error: value * error,
        };
        (estimate, by_operations < by_bytes)
    }
}

/// Predicts a load, from simulations with several seeds.
///
/// # Errors
/// [`Error::Unanswerable`] if the question has no answer.
pub fn predict(question: &Question) -> Result<Answer, Error> {
    check(question)?;
    let courses: Vec<Course> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..SEEDS)
            .map(|number| {
                let mut question = question.clone();
                question.seed ^= number << 48;
                scope.spawn(move || simulate(&question))
            })
            .collect();
        runs.into_iter()
            .map(|run| run.join().expect("a simulation does not panic"))
            .collect()
    });
    Ok(answer(question, courses))
}

/// What a load writes in all, and what it leaves on the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// Bytes written.
    pub written_bytes: f64,
    /// Bytes of all tables and indexes.
    pub size_bytes: f64,
}

/// Predicts what a load writes and its size from one simulation of few rows. It takes a tenth of the time of [`predict`], and
/// bytes written may be wrong by a third.
///
/// # Errors
/// [`Error::Unanswerable`] if the question has no answer.
pub fn predict_volume(question: &Question) -> Result<Volume, Error> {
    check(question)?;
    let course = simulate_roughly(question);
    let last = course.points.last();
    Ok(Volume {
        written_bytes: last.map_or(0.0, |point| point.total.written_bytes()),
        size_bytes: last.map_or(0.0, |point| point.trees.iter().map(|tree| tree.bytes).sum()),
    })
}

/// Checks that the simulation of the engine can answer.
fn check(question: &Question) -> Result<(), Error> {
    question.check()?;
    match question.engine {
        Engine::Sqlite => Ok(()),
        Engine::Postgres => postgres::check(question),
        Engine::Mariadb => mariadb::check(question),
    }
}

fn answer(question: &Question, mut courses: Vec<Course>) -> Answer {
    let tolerance = tolerance(question.engine);
    let estimate = |model_error: f64, of: &dyn Fn(&Point) -> f64| {
        let values: Vec<f64> = courses
            .iter()
            .filter_map(|course| course.points.last())
            .map(of)
            .collect();
        Estimate::of(&values, model_error)
    };
    let bytes = tolerance.bytes;
    let per_row = |value: f64, rows: f64| value / rows.max(1.0);
    let load_bytes = estimate(bytes, &|p| per_row(p.total.written_bytes(), p.total.rows));
    let last_bytes = estimate(bytes, &|p| per_row(p.last.written_bytes(), p.last.rows));
    let reads = estimate(bytes, &|p| per_row(p.last.read_pages, p.last.rows));
    let writes = estimate(bytes, &|p| per_row(p.last.page_writes, p.last.rows));
    let hit_share = estimate(0.0, &|p| 1.0 - p.last.read_pages / p.last.accesses.max(1.0));
    let size_bytes = estimate(tolerance.size, &|p| {
        p.trees.iter().map(|tree| tree.bytes).sum()
    });
    // One page decides whether the engine allocates another extent: a bound, and not random.
    let last = courses.iter().filter_map(|course| course.points.last());
    let steps = last.map(|point| {
        let trees = point.trees.iter();
        trees.map(|tree| tree.step_bytes.powi(2)).sum::<f64>()
    });
    let size_bytes = Estimate {
        error: size_bytes.error + steps.fold(0.0, f64::max).sqrt(),
        ..size_bytes
    };
    let beside = Share::of(question, size_bytes);
    let [load_bytes, last_bytes, reads, writes, size_bytes] =
        [load_bytes, last_bytes, reads, writes, size_bytes].map(|estimate| beside.add(estimate));
    let first = courses.swap_remove(0);
    let trees = first.points.last().map(|point| point.trees.clone());
    Answer {
        question: question.clone(),
        load_bytes,
        last_bytes,
        size_bytes,
        hit_share,
        reads,
        writes,
        trees: trees.unwrap_or_default(),
        sample: first.sample,
        points: first.points,
    }
}

/// The height of a curve at a place: between two points on the line through them, beside all points that of the next one.
fn between(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.partition_point(|(other, _)| *other < x);
    match (after.checked_sub(1).map(|at| curve[at]), curve.get(after)) {
        (Some((left, low)), Some(&(right, high))) => {
            low + (high - low) * (x - left) / (right - left)
        }
        (Some((_, y)), None) | (None, Some(&(_, y))) => y,
        (None, None) => 0.0,
    }
}

/// A number of rows at which the cost of two keys changes places.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// Rows of the table.
    pub rows: f64,
    /// The position of the key that costs less above that.
    pub better: usize,
    /// The position of the other one.
    pub worse: usize,
}

/// The share by which one key's cost is above another's when it counts as overtaking.
const CROSSING_SHARE: f64 = 0.05;

/// The numbers of rows at which one of the answers' bytes per insert rise above those of another by more than 5%,
/// having been within 5% or below.
pub fn crossings(answers: &[Answer]) -> Vec<Crossing> {
    let mut all = Vec::new();
    for better in 0..answers.len() {
        for worse in 0..answers.len() {
            if better != worse {
                all.extend(crossing(answers, better, worse));
            }
        }
    }
    all.sort_by(|a, b| a.rows.total_cmp(&b.rows));
    all
}

fn crossing(answers: &[Answer], better: usize, worse: usize) -> Option<Crossing> {
    let cost = |point: &Point| point.last.written_bytes() / point.last.rows.max(1.0);
    let pairs = answers[better].points.iter().zip(&answers[worse].points);
    let excess: Vec<(f64, f64)> = pairs
        // Between two checkpoints of a small table nothing may be written.
        .filter(|(a, b)| a.rows == b.rows && cost(a) > 0.0)
        .map(|(a, b)| (a.rows as f64, cost(b) / cost(a) - 1.0 - CROSSING_SHARE))
        .collect();
    let rows = last_rise(&excess)?;
    Some(Crossing {
        rows,
        better,
        worse,
    })
}

/// Where a curve rises above 0 to stay there.
fn last_rise(curve: &[(f64, f64)]) -> Option<f64> {
    let below = curve.iter().rposition(|(_, y)| *y <= 0.0)?;
    let ((x, y), (next_x, next_y)) = (curve[below], *curve.get(below + 1)?);
    Some(x + y / (y - next_y) * (next_x - x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_is_about_that_of_a_prediction() {
        for (engine, key) in [
            (Engine::Sqlite, inorder_key::KeyKind::Uuid4),
            (Engine::Postgres, inorder_key::KeyKind::Uuid4),
            (Engine::Mariadb, inorder_key::KeyKind::Uuid7),
        ] {
            let question = Question::new(engine, key, 600_000);
            let course = simulate(&question);
            let point = &course.points[course.points.len() - 1];
            let size: f64 = point.trees.iter().map(|tree| tree.bytes).sum();
            let volume = predict_volume(&question).expect("a volume");
            let written = volume.written_bytes / point.total.written_bytes();
            let what = format!("{engine:?}: {volume:?}, {written}");
            assert!((volume.size_bytes / size - 1.0).abs() < 0.05, "{what}");
            assert!((0.7..1.4).contains(&written), "{what}");
        }
    }

    #[test]
    fn a_stage_and_the_rest_are_the_whole_load() {
        let question = Question::new(Engine::Sqlite, inorder_key::KeyKind::Uuid4, 40_000);
        let answer = predict(&question).expect("an answer");
        let (begin, middle, end) = (answer.stage(0), answer.stage(20_000), answer.stage(40_000));
        let total = answer.points[answer.points.len() - 1].total;
        assert_eq!(begin.rest_bytes.value, total.written_bytes());
        assert_eq!((begin.size_bytes.value, end.rest_bytes.value), (0.0, 0.0));
        // One seed of three.
        assert!((end.size_bytes.value / answer.size_bytes.value - 1.0).abs() < 0.01);
        assert!((middle.size_bytes.value / end.size_bytes.value - 0.5).abs() < 0.1);
        // Inserts cost more in the second half, when the tree is larger than the cache.
        let first = begin.rest_bytes.value - middle.rest_bytes.value;
        assert!(middle.rest_bytes.value > first, "{middle:?} after {first}");
        assert_eq!(between(&[(1.0, 2.0), (3.0, 4.0)], 2.0), 3.0);
        assert_eq!(between(&[(1.0, 2.0), (3.0, 4.0)], 0.0), 2.0);
    }

    #[test]
    fn a_step_that_writes_nothing_is_no_crossing() {
        let answer = |kind| {
            let mut question = Question::new(Engine::Sqlite, kind, 4000);
            question.rows_per_transaction = 1000;
            predict(&question).expect("an answer")
        };
        let answers = [inorder_key::KeyKind::Uuid7, inorder_key::KeyKind::Uuid4].map(answer);
        assert!(
            answers[0]
                .points
                .iter()
                .any(|p| p.last.written_bytes() == 0.0)
        );
        let found = crossings(&answers);
        assert!(found.iter().all(|c| c.rows.is_finite()), "{found:?}");
    }

    #[test]
    fn a_key_that_is_overtaken_again_did_not_overtake() {
        let curve = |ys: &[f64]| -> Vec<(f64, f64)> {
            let points = ys.iter().enumerate();
            points.map(|(x, y)| (x as f64, *y)).collect()
        };
        assert_eq!(last_rise(&curve(&[-1.0, 1.0, -1.0, -1.0, 3.0])), Some(3.25));
        assert_eq!(last_rise(&curve(&[-1.0, 1.0, -1.0])), None);
        assert_eq!(last_rise(&curve(&[1.0, 2.0])), None);
    }
}
