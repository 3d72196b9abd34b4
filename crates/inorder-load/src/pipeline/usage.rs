//! The resources that a load used.

use crate::job::Summary;

/// The CPU time of this process so far, and the bytes it handed to the system to write.
pub(super) struct Usage {
    cpu_seconds: f64,
    /// `None` if the system doesn't count them.
    bytes_written: Option<u64>,
}

impl Usage {
    pub(super) fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Usage {
            cpu_seconds: time.tv_sec as f64 + time.tv_nsec as f64 / 1e9,
            bytes_written: bytes_written(),
        }
    }

    /// Adds what was used since then. Spilled bytes are not counted as written.
    pub(super) fn add_to(&self, summary: &mut Summary) {
        let now = Usage::now();
        summary.cpu_seconds = now.cpu_seconds - self.cpu_seconds;
        summary.bytes_written = now
            .bytes_written
            .zip(self.bytes_written)
            .map(|(after, before)| (after - before).saturating_sub(summary.bytes_spilled));
    }
}

/// Source: `proc(5)`, `/proc/[pid]/io`.
fn bytes_written() -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "))?;
    line.trim().parse().ok()
}
