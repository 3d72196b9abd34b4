//! Decides which replication jobs run, as CouchDB's scheduler does: a state machine without clock, tasks and I/O.
//!
//! Every method takes the time and returns [`Order`]s, which the caller executes.

mod history;

pub use history::{Event, EventKind, History};

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The first back-off of a job that crashed. It doubles with every further crash.
const BACKOFF: Duration = Duration::from_secs(30);

/// The number of times that the back-off doubles: 30 s * 2^10 are about 8.5 hours.
const BACKOFF_DOUBLINGS_MAX: u32 = 10;

/// The limits of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most jobs that run at the same time.
    pub max_jobs: usize,
    /// The most jobs that are stopped per interval in favour of others.
    pub max_churn: usize,
    /// The events kept per job.
    pub max_history: usize,
    /// A run that lasts longer ends the series of consecutive crashes.
    pub health_threshold: Duration,
}

/// What the caller has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Run a job. Its end is reported with [`Scheduler::ended`] and this number.
    Start {
        /// The job's id.
        id: String,
        /// The number of the run.
        run: u64,
    },
    /// Stop a run. Its end need not be reported.
    Stop {
        /// The job's id.
        id: String,
        /// The number of the run.
        run: u64,
    },
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It waits for its turn.
    Pending,
    /// It crashed and waits before the next attempt.
    Crashing,
}

/// A job.
#[derive(Debug, Clone)]
pub struct Job<T> {
    /// What the job does.
    pub content: T,
    /// Whether it never ends by itself.
    pub is_continuous: bool,
    /// Whether it is tried again after a crash.
    pub is_retried: bool,
    history: History,
    /// The number of the present run.
    run: Option<u64>,
}

impl<T> Job<T> {
    /// The events, the latest first.
    pub fn history(&self) -> impl Iterator<Item = &Event> {
        self.history.events()
    }

    /// The number of the present run.
    pub fn run(&self) -> Option<u64> {
        self.run
    }

    /// The state, with the number of consecutive crashes.
    pub fn state(&self, limits: &Limits) -> (State, u32) {
        let crashes = self.history.consecutive_crashes(limits.health_threshold);
        let state = match self.run {
            Some(_) => State::Running,
            None if crashes > 0 || self.history.last_is_crash() => State::Crashing,
            None => State::Pending,
        };
        (state, crashes)
    }

    /// Whether the job may start now.
    fn is_ready(&self, limits: &Limits, now: SystemTime) -> bool {
        let Some(crashed) = self.history.last_crash() else {
            return true;
        };
        if !self.history.last_is_crash() {
            return true;
        }
        let crashes = self.history.consecutive_crashes(limits.health_threshold);
        now.duration_since(crashed)
            .is_ok_and(|since| since >= backoff(crashes))
    }
}

/// The pause after a number of consecutive crashes. After a long run there is none.
fn backoff(crashes: u32) -> Duration {
    let doublings = crashes.checked_sub(1);
    doublings.map_or(Duration::ZERO, |doublings| {
        BACKOFF * (1 << doublings.min(BACKOFF_DOUBLINGS_MAX))
    })
}

/// The jobs of a server.
#[derive(Debug)]
pub struct Scheduler<T> {
    jobs: BTreeMap<String, Job<T>>,
    last_run: u64,
}

impl<T> Default for Scheduler<T> {
    fn default() -> Self {
        Scheduler {
            jobs: BTreeMap::new(),
            last_run: 0,
        }
    }
}

impl<T> Scheduler<T> {
    /// The jobs in the order of their ids.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &Job<T>)> {
        self.jobs.iter().map(|(id, job)| (id.as_str(), job))
    }

    /// The job with this id.
    pub fn job(&self, id: &str) -> Option<&Job<T>> {
        self.jobs.get(id)
    }

    /// Adds a job, which replaces one with the same id. It starts at once if there is room.
    pub fn add(
        &mut self,
        id: &str,
        content: T,
        (is_continuous, is_retried): (bool, bool),
        limits: &Limits,
        now: SystemTime,
    ) -> Vec<Order> {
        let mut orders = self.remove(id);
        let job = Job {
            content,
            is_continuous,
            is_retried,
            history: History::new(now),
            run: None,
        };
        self.jobs.insert(id.to_owned(), job);
        if self.running() < limits.max_jobs {
            orders.extend(self.start(id, limits, now));
        }
        orders
    }

    /// Removes a job.
    pub fn remove(&mut self, id: &str) -> Vec<Order> {
        let run = self.jobs.remove(id).and_then(|job| job.run);
        let stop = |run| Order::Stop {
            id: id.to_owned(),
            run,
        };
        run.map(stop).into_iter().collect()
    }

    /// Notes the end of a run: with a reason if it crashed. Other jobs may start in its place. Nothing happens if the run was
    /// stopped before.
    pub fn ended(
        &mut self,
        id: &str,
        run: u64,
        crash: Option<String>,
        limits: &Limits,
        now: SystemTime,
    ) -> Vec<Order> {
        let Some(job) = self.jobs.get_mut(id).filter(|job| job.run == Some(run)) else {
            return Vec::new();
        };
        job.run = None;
        match crash {
            Some(reason) if job.is_retried => {
                let kind = EventKind::Crashed(reason);
                job.history.push(kind, now, limits.max_history);
            }
            _ => {
                self.jobs.remove(id);
            }
        }
        self.start_ready(limits, now)
    }

    /// Lets waiting jobs run: to be called after each interval of the scheduler. Continuous jobs that have run longest make
    /// room for them.
    pub fn reschedule(&mut self, limits: &Limits, now: SystemTime) -> Vec<Order> {
        let mut orders = Vec::new();
        let excess = self.running().saturating_sub(limits.max_jobs);
        self.stop_some(excess, true, limits, now, &mut orders);
        let left = excess.saturating_sub(orders.len());
        self.stop_some(left, false, limits, now, &mut orders);
        let running = self.running();
        if let Some(slots) = limits.max_jobs.checked_sub(running) {
            let waiting = (self.jobs.len() - running).saturating_sub(slots);
            let churn = limits.max_churn.saturating_sub(excess);
            self.stop_some(waiting.min(churn), true, limits, now, &mut orders);
        }
        orders.extend(self.start_ready(limits, now));
        orders
    }

    fn running(&self) -> usize {
        self.jobs.values().filter(|job| job.run.is_some()).count()
    }

    fn start(&mut self, id: &str, limits: &Limits, now: SystemTime) -> Option<Order> {
        self.last_run += 1;
        let run = self.last_run;
        let job = self.jobs.get_mut(id)?;
        job.run = Some(run);
        job.history
            .push(EventKind::Started, now, limits.max_history);
        Some(Order::Start {
            id: id.to_owned(),
            run,
        })
    }

    /// Starts jobs as long as there is room, those first that have not run for longest.
    fn start_ready(&mut self, limits: &Limits, now: SystemTime) -> Vec<Order> {
        let room = limits.max_jobs.saturating_sub(self.running());
        let mut ready: Vec<_> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.run.is_none() && job.is_ready(limits, now))
            .map(|(id, job)| (job.history.last_start(), id.clone()))
            .collect();
        ready.sort_unstable();
        let ready = ready.into_iter().take(room);
        ready
            .filter_map(|(_, id)| self.start(&id, limits, now))
            .collect()
    }

    /// Stops some jobs, those first that have run for longest.
    fn stop_some(
        &mut self,
        count: usize,
        is_continuous: bool,
        limits: &Limits,
        now: SystemTime,
        orders: &mut Vec<Order>,
    ) {
        let mut running: Vec<_> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.is_continuous == is_continuous)
            .filter_map(|(id, job)| Some((job.history.last_start(), id.clone(), job.run?)))
            .collect();
        running.sort_unstable();
        for (_, id, run) in running.into_iter().take(count) {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.run = None;
                job.history
                    .push(EventKind::Stopped, now, limits.max_history);
                orders.push(Order::Stop { id, run });
            }
        }
    }
}

#[cfg(test)]
mod tests;
