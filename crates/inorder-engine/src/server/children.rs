//! A server and its child processes.

use crate::processes::process_tree;
use rustix::process::{Pid, Signal, kill_process};

/// Continues a stopped server and its child processes.
pub fn go_on(server: u32) {
    for pid in process_tree(server) {
        if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}
