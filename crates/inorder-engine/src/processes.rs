//! CPU time of processes from Linux's `/proc`. Values that cannot be read are unobservable, not zero.

use std::{fs, path::Path};

/// Returns the CPU seconds of processes so far, user and system, including their ended children (proc_pid_stat(5),
/// fields 14 to 17), in clock ticks. The time of an ended server process is included in that of its parent.
pub fn cpu_s(processes: &[u32]) -> Option<f64> {
    let mut ticks = 0;
    let is_there = |pid: &&u32| Path::new("/proc").join(pid.to_string()).exists();
    for pid in processes.iter().filter(is_there) {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields = stat.rsplit_once(')')?.1.split_whitespace();
        ticks += fields
            .skip(11)
            .take(4)
            .map(|field| field.parse::<u64>().ok())
            .sum::<Option<u64>>()?;
    }
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}
