//! Wall and CPU clocks, and the phases of a load that they are spent on.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// A phase of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Making keys and rows.
    Generate,
    /// Sorting them.
    Sort,
    /// Inserting them.
    Insert,
    /// Committing.
    Commit,
    /// Checkpointing the log.
    Checkpoint,
}

impl Phase {
    /// Every phase, in the order of the work.
    pub const ALL: &[Phase] = &[
        Phase::Generate,
        Phase::Sort,
        Phase::Insert,
        Phase::Commit,
        Phase::Checkpoint,
    ];

    /// The name that samples give it.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Generate => "generate",
            Phase::Sort => "sort",
            Phase::Insert => "insert",
            Phase::Commit => "commit",
            Phase::Checkpoint => "checkpoint",
        }
    }
}

/// Time spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds on the wall.
    pub wall_s: f64,
    /// Seconds of this thread's CPU time, user and system.
    pub cpu_s: f64,
}

/// A stopwatch of the thread that started it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Instant,
    cpu_s: f64,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Clock {
            wall: Instant::now(),
            cpu_s: thread_cpu_s(),
        }
    }

    /// Time since the start or the last lap; the next lap begins.
    pub fn lap(&mut self) -> Spent {
        let now = Clock::start();
        let spent = Spent {
            wall_s: (now.wall - self.wall).as_secs_f64(),
            cpu_s: now.cpu_s - self.cpu_s,
        };
        *self = now;
        spent
    }
}

/// Wall time of a load without the pauses in which it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    paused: Duration,
}

impl Stopwatch {
    /// Starts at this moment.
    pub fn start(now: Instant) -> Self {
        Stopwatch {
            started: now,
            paused: Duration::ZERO,
        }
    }

    /// Seconds until this moment, without the pauses before.
    pub fn seconds(&self, now: Instant) -> f64 {
        (now - self.started)
            .saturating_sub(self.paused)
            .as_secs_f64()
    }

    /// Leaves out the time between two moments.
    pub fn pause(&mut self, from: Instant, to: Instant) {
        self.paused += to - from;
    }
}

fn thread_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Time spent on each phase, summed over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases([Spent; Phase::ALL.len()]);

impl Phases {
    /// Time spent on one phase.
    pub fn of(&self, phase: Phase) -> Spent {
        self.0[phase as usize]
    }

    /// All phases together.
    pub fn total(&self) -> Spent {
        self.0.iter().fold(Spent::default(), |sum, spent| Spent {
            wall_s: sum.wall_s + spent.wall_s,
            cpu_s: sum.cpu_s + spent.cpu_s,
        })
    }

    /// Adds to a phase.
    pub fn add(&mut self, phase: Phase, spent: Spent) {
        let sum = &mut self.0[phase as usize];
        sum.wall_s += spent.wall_s;
        sum.cpu_s += spent.cpu_s;
    }

    /// Adds a lap of the clock to a phase, where there is a clock.
    pub fn lap(&mut self, phase: Phase, clock: Option<&mut Clock>) {
        if let Some(clock) = clock {
            self.add(phase, clock.lap());
        }
    }

    /// Adds `spent`, known exactly, in the proportions of `split`, known from some transactions only.
    /// Without any phase, the whole time counts as inserting.
    pub fn add_split(&mut self, split: &Phases, spent: Spent) {
        let total = split.total();
        for &phase in Phase::ALL {
            let part = split.of(phase);
            let default = f64::from(phase == Phase::Insert);
            let share = |part: f64, total: f64| if total > 0.0 { part / total } else { default };
            self.add(
                phase,
                Spent {
                    wall_s: spent.wall_s * share(part.wall_s, total.wall_s),
                    cpu_s: spent.cpu_s * share(part.cpu_s, total.cpu_s),
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(seconds: f64) -> Spent {
        Spent {
            wall_s: seconds,
            cpu_s: seconds,
        }
    }

    #[test]
    fn pauses_are_left_out() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut watch = Stopwatch::start(at(10));
        assert_eq!(watch.seconds(at(13)), 3.0);
        watch.pause(at(13), at(20));
        assert_eq!(watch.seconds(at(20)), 3.0);
        watch.pause(at(22), at(23));
        assert_eq!(watch.seconds(at(24)), 6.0);
    }

    #[test]
    fn a_split_keeps_the_whole_and_its_proportions() {
        let mut split = Phases::default();
        split.add(Phase::Insert, spent(1.0));
        split.add(Phase::Commit, spent(3.0));
        let mut phases = Phases::default();
        phases.add_split(&split, spent(8.0));
        assert_eq!(phases.of(Phase::Insert), spent(2.0));
        assert_eq!(phases.of(Phase::Commit), spent(6.0));
        phases.add_split(&Phases::default(), spent(1.0));
        assert_eq!(phases.of(Phase::Insert), spent(3.0));
        assert_eq!(phases.total(), spent(9.0));
    }
}
