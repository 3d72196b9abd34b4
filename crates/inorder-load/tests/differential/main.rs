//! Loads against SQLite's own INSERT of the same rows in the order of the input: schemas, rows and options at
//! random, each determined by its seed.
//!
//! `INORDER_FUZZ_CASES=5000` says how many cases, `INORDER_FUZZ_SEED=1` the first seed; a difference is printed as
//! its seed and a smaller case that differs too.

mod case;
mod coverage;
mod dice;
mod loaded;
mod oracle;
mod rows;
mod schema;
mod state;
#[path = "../common/types.rs"]
mod types;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use case::Case;
use coverage::Coverage;
use loaded::{Loaded, loaded};
use oracle::{First, Outcome, expected};

/// The default number of cases: some seconds on a busy machine.
const CASES: u64 = 200;

/// The time limit for reducing a failed case.
const SHRINK_SECONDS: u64 = 30;

/// Differences that are printed.
const SHOWN_MAX: usize = 10;

fn number(variable: &str, usual: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(usual, |given| given.parse().expect("a number"))
}

#[test]
fn loads_equal_inserts_in_the_order_of_the_input() {
    let first = number("INORDER_FUZZ_SEED", 1);
    let cases = number("INORDER_FUZZ_CASES", CASES);
    // A panic of a load is reported with its case.
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with(|said| *said.borrow_mut() = panic.to_string());
    }));
    let (next, coverage) = (AtomicU64::new(first), Mutex::new(Coverage::default()));
    let found: Mutex<Vec<u64>> = Mutex::default();
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases {
                        return;
                    }
                    let case = Case::new(seed);
                    match judged(&case) {
                        Verdict::NoSchema => coverage.lock().expect("a lock").add_none(),
                        Verdict::Same(same) => {
                            coverage
                                .lock()
                                .expect("a lock")
                                .add(&case, &same.0, &same.1);
                        }
                        Verdict::Differs(what) => {
                            let what: String = what.chars().take(200).collect();
                            eprintln!("seed {seed} differs: {what}");
                            let is_shown = {
                                let mut found = found.lock().expect("a lock");
                                found.push(seed);
                                found.len() <= SHOWN_MAX
                            };
                            if is_shown {
                                eprintln!("{}\n", shrunk(case));
                            }
                        }
                    }
                }
            });
        }
    });
    drop(std::panic::take_hook());
    let found = found.into_inner().expect("a lock");
    let coverage = coverage.into_inner().expect("a lock");
    println!("{coverage}");
    assert!(found.is_empty(), "{} of {cases} cases differ", found.len());
    coverage.check(cases);
}

thread_local! {
    /// The last panic of this thread.
    static PANIC: RefCell<String> = RefCell::default();
}

enum Verdict {
    /// SQLite doesn't take the schema.
    NoSchema,
    Same(Box<(Outcome, Loaded)>),
    Differs(String),
}

fn judged(case: &Case) -> Verdict {
    let verdict = catch_unwind(AssertUnwindSafe(|| {
        let Some(mut wanted) = expected(case, First::Key) else {
            return Verdict::NoSchema;
        };
        let loaded = loaded(case);
        let mut found = difference(case, &wanted, &loaded);
        if found.is_some() {
            // A row that is both wrong and a duplicate may be reported as either.
            wanted = expected(case, First::Type).expect("a schema");
            found = found.filter(|_| difference(case, &wanted, &loaded).is_some());
        }
        match found {
            None => Verdict::Same(Box::new((wanted, loaded))),
            Some(what) => Verdict::Differs(what),
        }
    }));
    verdict.unwrap_or_else(|_| Verdict::Differs(PANIC.with(|said| said.borrow().clone())))
}

fn difference(case: &Case, expected: &Outcome, loaded: &Loaded) -> Option<String> {
    let found = &loaded.outcome;
    // SQLite 3.53.2 finds fault with some tables of its own writing: STRICT, a REAL column beside a VIRTUAL one.
    if found.integrity != "ok" && found.integrity != expected.integrity {
        return Some(format!("integrity_check: {}", found.integrity));
    }
    if !loaded.litter.is_empty() {
        return Some(format!("left behind: {:?}", loaded.litter));
    }
    if loaded.is_not_direct {
        let before = expected_untouched(case);
        return (found.state != before).then(|| "not direct, and the database changed".to_owned());
    }
    match (&expected.failure, &found.failure) {
        (None, Some(failure)) => return Some(format!("it fails: {failure}")),
        (Some(failure), None) => return Some(format!("it should fail: {failure}")),
        _ => {}
    }
    for (table, rows) in &expected.state {
        let there = found.state.get(table);
        if there != Some(rows) {
            return Some(format!("{table} should be {rows:#?} and is {there:#?}"));
        }
    }
    if expected.failure.is_some() {
        return None;
    }
    if expected.counts != found.counts {
        return Some(format!(
            "expected {:?}, summary {:?}",
            expected.counts, found.counts
        ));
    }
    (expected.named != found.named).then(|| {
        format!(
            "rejects should name {:?} and name {:?}",
            expected.named, found.named
        )
    })
}

/// The database of a case before anything is loaded.
fn expected_untouched(case: &Case) -> state::State {
    let db = rusqlite::Connection::open_in_memory().expect("SQLite");
    assert!(oracle::made(&db, case));
    state::state(&db)
}

/// Describes the smallest differing case found.
fn shrunk(mut case: Case) -> String {
    let Verdict::Differs(mut what) = judged(&case) else {
        return format!("seed {}: it differed once, and no more", case.seed);
    };
    let started = Instant::now();
    'smaller: loop {
        for smaller in case.smaller() {
            if started.elapsed().as_secs() > SHRINK_SECONDS {
                break 'smaller;
            }
            if let Verdict::Differs(other) = judged(&smaller) {
                (case, what) = (smaller, other);
                continue 'smaller;
            }
        }
        break;
    }
    format!("{}=> {what}", case.shown())
}
