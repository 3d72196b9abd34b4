//! Limits a server to a share of one core, to simulate a slower machine. The processes of the server are stopped
//! (`SIGSTOP`) while they have used more CPU time than their share, and continued afterwards.
//!
//! The kernel counts the CPU time of each process, so other load does not change the share. The error is the CPU time
//! that the processes use between two checks. Only processes that the server has started are signalled, through a
//! handle that cannot refer to another process.

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

/// Interval between checks.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Maximum unused CPU time that an idle server can save.
const SAVED_NS_MAX: f64 = 5e6;

/// Limits a server until it is dropped.
pub struct CpuLimit {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Checks that this system supports the limit.
///
/// # Errors
/// Why it does not.
pub fn is_possible() -> Result<(), String> {
    match cpu_ns(std::process::id()) {
        Some(_) => Ok(()),
        None => Err(
            "limit a shard's CPU time: this system doesn't report it (/proc/PID/schedstat)"
                .to_owned(),
        ),
    }
}

impl CpuLimit {
    /// Starts to limit the server to this percentage of a core.
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
            // A panic is ignored: the thread's `Held` is dropped with it, which continues the stopped processes.
            let _ = thread.join();
        }
    }
}

/// The limited processes by their ids. Dropping it continues them.
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
    /// Returns the CPU time of these processes since the last check.
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

    /// Stops or continues the processes.
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

/// Returns the CPU time of a process with one thread, in nanoseconds
/// (<https://docs.kernel.org/scheduler/sched-stats.html>).
fn cpu_ns(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    stat.split_whitespace().next()?.parse().ok()
}
