//! Owners: the process in a name, and whether it has ended.

use crate::processes::stat_field;
use rustix::process::{Pid, test_kill_process};
use std::process;

/// A process: its id and start time. Both identify it until the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot; 0 if unknown.
    pub began: u64,
}

impl Owner {
    /// Returns this process.
    pub fn own() -> Self {
        let pid = process::id();
        Owner {
            pid,
            began: began_at(pid).unwrap_or(0),
        }
    }

    /// Returns whether it has ended.
    pub fn is_gone(self) -> bool {
        if self.pid == process::id() {
            return false;
        }
        match began_at(self.pid) {
            Some(began) => began != self.began,
            None => {
                let exists = Pid::from_raw(self.pid.cast_signed()).map(test_kill_process);
                !matches!(exists, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
            }
        }
    }
}

/// Reads the start time: field 22 of proc_pid_stat(5).
fn began_at(pid: u32) -> Option<u64> {
    stat_field(pid, 22)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_gone_when_its_id_is_nobodys_or_anothers() {
        assert!(!Owner::own().is_gone());
        // Process 1 always runs.
        let began = began_at(1).unwrap_or(0);
        assert!(!Owner { pid: 1, began }.is_gone());
        assert!(
            Owner {
                pid: 1,
                began: u64::MAX
            }
            .is_gone()
        );
        assert!(
            Owner {
                pid: 999_999_999,
                began: 5
            }
            .is_gone()
        );
    }
}
