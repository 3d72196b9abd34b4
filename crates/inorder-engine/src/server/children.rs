//! A process and its child processes.

use super::owner::stat_field;
use rustix::process::{Pid, Signal, kill_process};
use std::{fs, iter};

/// Reads the parent of a process: field 4.
pub fn parent_of(pid: u32) -> Option<u32> {
    stat_field(pid, 4)?.try_into().ok()
}

/// Continues a stopped server and its child processes.
pub fn go_on(server: u32) {
    for pid in with_children(server) {
        if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

/// Returns a process and all its descendants.
pub fn with_children(parent: u32) -> Vec<u32> {
    let children = children_by_task(parent).unwrap_or_else(|| children_by_stat(parent));
    iter::once(parent).chain(children).collect()
}

/// Reads the kernel's list of children, if it has one (proc_pid_task(5), `children`).
fn children_by_task(parent: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{parent}/task")).ok()? {
        let list = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        let pids = list.split_whitespace();
        all.extend(pids.filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(all)
}

/// Searches all processes for children.
fn children_by_stat(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| parent_of(*pid) == Some(parent))
        .collect()
}
