//! Who made something: the process that a name tells of, and whether it is gone.

use rustix::process::{Pid, test_kill_process};
use std::{fs, process};

/// A process: its id, and when it began. Together they name it for as long as the machine is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub pid: u32,
    /// Clock ticks from the machine's start to its own; 0 where that isn't known.
    pub began: u64,
}

impl Owner {
    /// This process.
    pub fn own() -> Self {
        let pid = process::id();
        Owner {
            pid,
            began: began_at(pid).unwrap_or(0),
        }
    }

    /// Whether it has ended.
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

/// Field 22 of proc_pid_stat(5).
fn began_at(pid: u32) -> Option<u64> {
    stat_field(pid, 22)
}

/// The process that started another: field 4.
pub fn parent_of(pid: u32) -> Option<u32> {
    stat_field(pid, 4)?.try_into().ok()
}

/// A field of proc_pid_stat(5), counted from 1; those before the third have names in them.
fn stat_field(pid: u32, field: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(field - 3)?.parse().ok()
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
