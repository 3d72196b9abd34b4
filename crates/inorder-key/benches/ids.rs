//! Compares the cost of an id with other libraries: `cargo bench -p inorder-key --bench ids`.
//!
//! `-- --csv FILE` writes the time of every round.
//!
//! Contenders take turns, round after round, so that a noisy machine disturbs all of them; the median round counts, and
//! ratios are to the first line of each group. Every line says whether its ids are in order among all threads, and
//! whether a child process made by `fork` gets ids of its own.

use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex};
use std::time::{Instant, SystemTime};

use ferroid::generator::LockMonoUlidGenerator;
use ferroid::id::ULID;
use ferroid::rand::ThreadRandom;
use ferroid::time::MonotonicClock;
use inorder_key::{Factory, Generator, Method, Overflow, Ulid, UnixTime, Uuid};

const IDS: usize = 20_000;
const ROUNDS: usize = 61;
/// The least share of a round in which all threads are at work: where one has to wait for a processor, nothing is contended.
const TOGETHER_MIN: f64 = 0.9;
const BATCH: usize = 1000;

/// Makes so many ids.
type Work = fn(usize);

/// Name, properties, work.
type Contender = (&'static str, &'static str, Work);

fn repeat<T>(ids: usize, mut make: impl FnMut() -> T) {
    for _ in 0..ids {
        black_box(make());
    }
}

fn batches<T: Copy>(ids: usize, nil: T, mut fill: impl FnMut(&mut [T])) {
    let mut out = [nil; BATCH];
    for _ in 0..ids / BATCH {
        fill(&mut out);
        black_box(&out);
    }
}

fn rusty_shared() -> rusty_ulid::Ulid {
    static LAST: LazyLock<Mutex<rusty_ulid::Ulid>> = LazyLock::new(|| Mutex::new(0.into()));
    let mut last = LAST.lock().unwrap();
    *last = rusty_ulid::Ulid::next_monotonic(*last);
    *last
}

fn ulid_shared() -> ulid::Ulid {
    static SHARED: LazyLock<Mutex<ulid::Generator>> = LazyLock::new(Default::default);
    SHARED.lock().unwrap().generate().unwrap()
}

fn ferroid_shared() -> ULID {
    type Shared = LockMonoUlidGenerator<ULID, MonotonicClock, ThreadRandom>;
    static SHARED: LazyLock<Shared> =
        LazyLock::new(|| Shared::new(MonotonicClock::default(), ThreadRandom));
    SHARED.try_next_id(|_| std::thread::yield_now()).unwrap()
}

fn own<I: inorder_key::TimeId>(ids: usize, method: Method) {
    let mut generator = Generator::<I>::new(method, Overflow::RunAhead).unwrap();
    repeat(ids, || generator.next().unwrap());
}

const ULIDS: &[Contender] = &[
    ("Ulid::now", "shared order, fork", |n| repeat(n, Ulid::now)),
    ("ferroid LockMono", "shared order", |n| {
        repeat(n, ferroid_shared)
    }),
    ("mr-ulid", "shared order", |n| repeat(n, mr_ulid::Ulid::new)),
    ("ulid in a Mutex", "shared order", |n| {
        repeat(n, ulid_shared)
    }),
    ("rusty_ulid in a Mutex", "shared order", |n| {
        repeat(n, rusty_shared)
    }),
    ("ulid Ulid::generate", "", |n| {
        repeat(n, ulid::Ulid::generate)
    }),
    ("Generator, spec", "own order, fork", |n| {
        own::<Ulid>(n, Method::ULID_SPEC)
    }),
    ("Generator, step", "own order, fork", |n| {
        own::<Ulid>(n, Method::default())
    }),
    ("the clock alone", "", |n| repeat(n, SystemTime::now)),
];

const UUID7S: &[Contender] = &[
    ("Uuid::now_v7", "shared order, fork", |n| {
        repeat(n, Uuid::now_v7)
    }),
    ("uuid now_v7, fast-rng", "shared order", |n| {
        repeat(n, uuid::Uuid::now_v7)
    }),
    ("Generator, counter", "own order, fork", |n| {
        own::<Uuid>(n, Method::Counter { bits: 26 })
    }),
    ("Generator, step", "own order, fork", |n| {
        own::<Uuid>(n, Method::default())
    }),
    ("Generator, fraction", "own order, fork", |n| {
        own::<Uuid>(n, Method::Fraction { bits: 12 })
    }),
];

const UUID4S: &[Contender] = &[
    ("Uuid::new_v4", "fork", |n| repeat(n, Uuid::new_v4)),
    ("uuid new_v4, fast-rng", "", |n| {
        repeat(n, uuid::Uuid::new_v4)
    }),
];

const BATCHES: &[Contender] = &[
    ("Factory::fill ULID", "shared order, fork", |n| {
        batches(n, Ulid::NIL, |out| Factory::process().fill(out))
    }),
    ("Factory::fill UUIDv7", "shared order, fork", |n| {
        batches(n, Uuid::NIL, |out| Factory::process().fill(out))
    }),
    ("Uuid::fill_v4", "fork", |n| {
        batches(n, Uuid::NIL, Uuid::fill_v4)
    }),
    ("Generator::fill spec", "own order, fork", |n| {
        let mut own = Generator::<Ulid>::new(Method::ULID_SPEC, Overflow::RunAhead).unwrap();
        batches(n, Ulid::NIL, |out| own.fill(out).unwrap());
    }),
    ("Generator::fill step", "own order, fork", |n| {
        let mut own = Generator::<Uuid>::new(Method::default(), Overflow::RunAhead).unwrap();
        batches(n, Uuid::NIL, |out| own.fill(out).unwrap());
    }),
];

const A_ULID: u128 = 0x0156_3E3A_B5D3_D676_4C61_EFB9_9302_BD5B;
const A_UUID: u128 = 0x017F_22E2_79B0_7CC3_98C4_DC0C_0C07_398F;

/// Counts through ids, so that no text is the same twice.
fn texts(ids: usize, first: u128, mut write: impl FnMut(u128)) {
    (0..ids).for_each(|i| write(black_box(first + i as u128)));
}

const FORMATS: &[Contender] = &[
    ("ULID text", "", |n| {
        texts(n, A_ULID, |id| {
            black_box(Ulid::from_u128(id).to_text());
        });
    }),
    ("ulid text", "", |n| {
        let mut out = [0; 26];
        texts(n, A_ULID, |id| {
            black_box(ulid::Ulid(id).array_to_str(&mut out));
        });
    }),
    ("UUID text", "", |n| {
        texts(n, A_UUID, |id| {
            black_box(Uuid::from_u128(id).to_text());
        });
    }),
    ("uuid text", "", |n| {
        let mut out = [0; 36];
        texts(n, A_UUID, |id| {
            let id = uuid::Uuid::from_u128(id).hyphenated();
            black_box(id.encode_lower(&mut out));
        });
    }),
];

const PARSES: &[Contender] = &[
    ("ULID parse", "", |n| {
        repeat(n, || Ulid::parse(black_box(b"01ARYZ6S41TSV4RRFFQ69G5FAV")))
    }),
    ("ulid parse", "", |n| {
        repeat(n, || {
            ulid::Ulid::from_string(black_box("01ARYZ6S41TSV4RRFFQ69G5FAV"))
        })
    }),
    ("UUID parse", "", |n| {
        repeat(n, || {
            Uuid::parse(black_box(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
        })
    }),
    ("uuid parse", "", |n| {
        repeat(n, || {
            uuid::Uuid::try_parse_ascii(black_box(b"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
        })
    }),
];

/// Returns nanoseconds per id and thread of one round; `None` if its threads did not run at the same time.
///
/// The threads spin until all have started: a woken thread would start after the others are done.
fn round(work: Work, threads: usize) -> Option<f64> {
    let waiting = AtomicUsize::new(threads);
    let timed = || {
        work(BATCH);
        waiting.fetch_sub(1, SeqCst);
        while waiting.load(SeqCst) > 0 {
            spin_loop();
        }
        let start = Instant::now();
        work(IDS);
        (start, Instant::now())
    };
    let times = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(timed)).collect();
        let mut times = vec![timed()];
        times.extend(others.into_iter().map(|other| other.join().unwrap()));
        times
    });
    let slowest = times.iter().map(|(start, end)| *end - *start).max()?;
    let last_start = times.iter().map(|(start, _)| *start).max()?;
    let first_end = times.iter().map(|(_, end)| *end).min()?;
    let together = first_end.saturating_duration_since(last_start);
    (together >= slowest.mul_f64(TOGETHER_MIN)).then(|| slowest.as_nanos() as f64 / IDS as f64)
}

fn compare(csv: &mut Option<File>, title: &str, contenders: &[Contender], threads: usize) {
    println!("\n{title}, {threads} thread(s)");
    let mut rounds = vec![Vec::with_capacity(ROUNDS); contenders.len()];
    for _ in 0..ROUNDS {
        for (times, (.., work)) in rounds.iter_mut().zip(contenders) {
            times.extend(round(*work, threads));
        }
    }
    let mut first = None;
    for (times, (name, properties, _)) in rounds.iter_mut().zip(contenders) {
        for id_ns in times.iter() {
            if let Some(csv) = csv {
                writeln!(
                    csv,
                    "{title},{threads},\"{name}\",\"{properties}\",{id_ns:.2}"
                )
                .unwrap();
            }
        }
        times.sort_by(f64::total_cmp);
        let count = times.len();
        let median = times.get(count / 2).copied().unwrap_or(f64::NAN);
        let ratio = median / *first.get_or_insert(median);
        println!("{name:24} {median:7.1} ns per id  {ratio:6.2} x  {count:3} rounds  {properties}");
    }
}

/// Returns how far ids are ahead of the clock after this many: one method counts to 61,440 per millisecond, then
/// carries.
fn ahead(ids: usize) {
    repeat(ids, Ulid::now);
    let ahead_ms = Ulid::now().ms() as i64 - UnixTime::from(SystemTime::now()).ms as i64;
    println!("\n{ids} Ulid::now in a row end {ahead_ms} ms ahead of the clock");
}

/// The file that `--csv` names, with its headings.
fn csv() -> Option<File> {
    let file = std::env::args().skip_while(|word| word != "--csv").nth(1)?;
    let mut csv = File::create(file).unwrap();
    writeln!(csv, "group,threads,name,properties,id_ns").unwrap();
    Some(csv)
}

fn main() {
    let csv = &mut csv();
    ahead(10_000_000);
    std::thread::sleep(std::time::Duration::from_secs(1));
    for threads in [1, 2] {
        compare(csv, "ULID", ULIDS, threads);
        compare(csv, "UUIDv7", UUID7S, threads);
        compare(csv, "UUIDv4", UUID4S, threads);
        compare(csv, "Batches of 1000", BATCHES, threads);
    }
    compare(csv, "Text", FORMATS, 1);
    compare(csv, "Parse", PARSES, 1);
}
