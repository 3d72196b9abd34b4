//! Many ids, from many threads and processes, under bad clocks: none twice, none out of order.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use inorder_key::{
    Clock, Factory, Generator, Method, Overflow, Reading, TimeId, Tsid, Ulid, UnixTime, Uuid,
};

const THREADS: usize = 8;
/// Ten million in all, or fewer where code is slow.
const IDS: usize = if cfg!(debug_assertions) {
    20_000
} else {
    1_250_000
};

/// Each thread's ids, in the order they were made.
fn crowd<I: TimeId + Send>(make: impl Fn(&mut Vec<I>) + Sync) -> Vec<Vec<I>> {
    std::thread::scope(|scope| {
        let fill = || {
            let mut ids = Vec::with_capacity(IDS);
            make(&mut ids);
            ids
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(fill)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn assert_in_order_and_unique<I: TimeId + Send>(threads: Vec<Vec<I>>) {
    assert!(threads.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)));
    let mut all = threads.concat();
    all.sort_unstable();
    assert_eq!(all.len(), THREADS * IDS);
    assert!(all.is_sorted_by(|a, b| a < b), "an id was made twice");
}

#[test]
fn ten_million_ids_of_eight_threads() {
    assert_in_order_and_unique(crowd(|ids| ids.extend((0..IDS).map(|_| Ulid::now()))));
    assert_in_order_and_unique(crowd(|ids| ids.extend((0..IDS).map(|_| Uuid::now_v7()))));
}

#[test]
fn ten_million_ids_of_eight_threads_in_batches() {
    assert_in_order_and_unique(crowd(|ids| {
        ids.resize(IDS, Uuid::NIL);
        ids.chunks_mut(700)
            .for_each(|part| Factory::process().fill(part));
    }));
}

#[test]
fn ten_million_ids_under_a_frozen_clock() {
    let factory = Factory::new();
    let now = UnixTime::from_ms(1_700_000_000_000);
    assert_in_order_and_unique(crowd::<Ulid>(|ids| {
        ids.extend((0..IDS).map(|_| factory.next_at::<Ulid>(now)));
    }));
}

#[test]
fn ten_million_ids_while_the_clock_steps_back_an_hour() {
    const HOUR_MS: u64 = 3_600_000;
    let factory = Factory::new();
    let made = AtomicU64::new(0);
    let clock = || {
        let made = made.fetch_add(1, Relaxed);
        let steps_back = made / (THREADS * IDS / 10) as u64;
        UnixTime::from_ms(1_700_000_000_000 + made / 1000 - steps_back * HOUR_MS)
    };
    assert_in_order_and_unique(crowd::<Uuid>(|ids| {
        ids.extend((0..IDS).map(|_| factory.next_at::<Uuid>(clock())));
    }));
}

/// A clock that loses an hour every thousand ids and stands still in between.
struct Backward(u64);

impl Clock for Backward {
    fn read(&mut self, wanted: usize) -> Reading {
        self.0 -= 3_600_000;
        Reading {
            time: UnixTime::from_ms(self.0),
            ids: wanted.min(1000),
        }
    }
}

#[test]
fn generators_under_a_clock_that_runs_backward() {
    for method in [
        Method::Counter { bits: 12 },
        Method::ULID_SPEC,
        Method::default(),
        Method::Fraction { bits: 12 },
    ] {
        let clock = Backward(1_700_000_000_000);
        let mut ids = Generator::<Ulid, _>::with_clock(method, Overflow::RunAhead, clock).unwrap();
        let mut made = vec![Ulid::NIL; 100_000];
        ids.fill(&mut made).unwrap();
        assert!(made.is_sorted_by(|a, b| a < b), "{method:?}");
    }
}

/// Forks are tested in a separate process, whose only thread is the one that forks.
#[cfg(unix)]
mod forks {
    use super::*;
    use std::process::{Command, Stdio};

    const CHILDREN: usize = 100;
    const IDS: usize = 1000;

    /// Set in the process that forks.
    const ROLE: &str = "INORDER_KEY_TEST_FORKS";

    /// Prints the node of TSIDs, and the ids made by the parent and the children: ids of the process, and of inherited generators.
    fn print_ids(generators: &mut [Generator<Ulid>]) {
        let mut text = format!("\nnode {}\n", Tsid::now().node());
        for _ in 0..IDS {
            for id in [Ulid::now(), Ulid::now_v7(), Ulid::from(Uuid::new_v4())] {
                text += &format!("id {id}\n");
            }
            for own in &mut *generators {
                text += &format!("id {}\n", own.next().unwrap());
            }
        }
        let mut batch = [Ulid::NIL; IDS];
        Factory::process().fill(&mut batch);
        text.extend(batch.iter().map(|id| format!("id {id}\n")));
        use std::io::Write;
        std::io::stdout().write_all(text.as_bytes()).unwrap();
    }

    /// The main function of the forking process. It does nothing unless [`ROLE`] is set.
    #[test]
    #[allow(unsafe_code)]
    fn forking_process() {
        if std::env::var_os(ROLE).is_none() {
            return;
        }
        let own = |method| Generator::new(method, Overflow::RunAhead).unwrap();
        let mut generators = [own(Method::ULID_SPEC), own(Method::default())];
        // Before the forks: keys, counters and last ids exist, and children inherit them.
        print_ids(&mut generators);
        for _ in 0..CHILDREN {
            // SAFETY: the child calls nothing that another thread of the parent could have left locked: the test harness
            // waits, and allocation is safe after the C library's fork.
            match unsafe { libc::fork() } {
                -1 => panic!("{}", std::io::Error::last_os_error()),
                0 => {
                    print_ids(&mut generators);
                    // SAFETY: ends the child at once, without the parent's exit handlers.
                    unsafe { libc::_exit(0) }
                }
                // SAFETY: waits for the child just made.
                child => unsafe {
                    libc::waitpid(child, std::ptr::null_mut(), 0);
                },
            }
        }
        print_ids(&mut generators);
    }

    #[test]
    fn no_id_of_a_hundred_children_is_made_twice() {
        let forking = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "forks::forking_process",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ROLE, "1")
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(forking.status.success());
        let text = String::from_utf8(forking.stdout).unwrap();
        let ids: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("id "))
            .collect();
        assert_eq!(ids.len(), (CHILDREN + 2) * 6 * IDS);
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        // Each child draws its node: of a hundred draws from 1,024, few are equal.
        let nodes = text.lines().filter(|line| line.starts_with("node "));
        assert!(nodes.collect::<HashSet<_>>().len() > CHILDREN / 2);
    }
}
