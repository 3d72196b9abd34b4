//! Holds a server back to a share of one core, as a machine with less to give would: its processes are
//! stopped (`SIGSTOP`) while they have had more CPU time than their share, and go on when they have not.
//!
//! The CPU time is the kernel's own count for each process, so the share is kept over time whatever else
//! runs, to within what the processes use between two looks. Only processes that the server itself has
//! started are ever signalled, by a handle that can't come to mean another.

use crate::{Database as _, postgres::database::PostgresDatabase};
use rustix::{
    fd::OwnedFd,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// CPU time that may be saved up while there is nothing to do.
const SAVED_NS_MAX: f64 = 5e6;

/// Holds a server back until it is dropped.
pub struct CpuLimit {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Whether this system can.
///
/// # Errors
/// Why it can't.
pub fn is_possible() -> Result<(), String> {
    match cpu_ns(std::process::id()) {
        Some(_) => Ok(()),
        None => Err(
            "limit a shard's CPU time: this system doesn't tell it (/proc/PID/schedstat)"
                .to_owned(),
        ),
    }
}

impl CpuLimit {
    /// Begins to hold the server back to so many percent of a core.
    pub fn start(server: Arc<PostgresDatabase>, percent: u32) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut held = Held::default();
            let mut balance_ns = 0.0;
            let mut looked = Instant::now();
            while !told.load(Ordering::Relaxed) {
                thread::park_timeout(LOOK_EVERY);
                let earned_ns = looked.elapsed().as_nanos() as f64 * f64::from(percent) / 100.0;
                looked = Instant::now();
                let used_ns = held.used_ns(&server.processes());
                balance_ns = (balance_ns + earned_ns - used_ns as f64).min(SAVED_NS_MAX);
                held.stop(balance_ns < 0.0);
            }
        });
        CpuLimit {
            is_over,
            thread: Some(thread),
        }
    }
}

impl Drop for CpuLimit {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // What it held goes on even if it panicked: that is dropped with it.
            let _ = thread.join();
        }
    }
}

/// The processes that are looked after, by their ids; they go on when dropped.
#[derive(Default)]
struct Held {
    processes: HashMap<u32, Process>,
    is_stopped: bool,
}

struct Process {
    handle: OwnedFd,
    cpu_ns: u64,
}

impl Held {
    /// CPU time of these processes since they were last looked at.
    fn used_ns(&mut self, now: &[u32]) -> u64 {
        self.processes.retain(|pid, _| now.contains(pid));
        let mut used_ns = 0;
        for &pid in now {
            let Some(cpu_ns) = cpu_ns(pid) else { continue };
            if let Some(process) = self.processes.get_mut(&pid) {
                used_ns += cpu_ns.saturating_sub(process.cpu_ns);
                process.cpu_ns = cpu_ns;
            } else if let Some(handle) = Pid::from_raw(pid.cast_signed())
                .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
            {
                self.processes.insert(pid, Process { handle, cpu_ns });
            }
        }
        used_ns
    }

    /// Stops them, or lets them go on.
    fn stop(&mut self, is_stopped: bool) {
        if self.is_stopped != is_stopped {
            self.is_stopped = is_stopped;
            let signal = if is_stopped {
                Signal::STOP
            } else {
                Signal::CONT
            };
            for process in self.processes.values() {
                let _ = pidfd_send_signal(&process.handle, signal);
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.stop(false);
    }
}

/// CPU time of a process with one thread, in nanoseconds
/// (<https://docs.kernel.org/scheduler/sched-stats.html>).
fn cpu_ns(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    stat.split_whitespace().next()?.parse().ok()
}
