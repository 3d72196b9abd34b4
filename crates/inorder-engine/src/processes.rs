//! Processes, their descendants and their CPU time, from Linux's `/proc`. Values that cannot be read are unobservable, not
//! zero.

use std::{collections::BTreeSet, fs, path::Path};

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

/// Returns a process and all its descendants, the process first.
pub fn process_tree(root: u32) -> Vec<u32> {
    let mut tree = vec![root];
    let mut known = BTreeSet::from([root]);
    let mut next = 0;
    while let Some(&parent) = tree.get(next) {
        next += 1;
        let children = children_by_task(parent).unwrap_or_else(|| children_by_stat(parent));
        tree.extend(children.into_iter().filter(|child| known.insert(*child)));
    }
    tree
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

/// Reads the parent of a process: field 4.
pub fn parent_of(pid: u32) -> Option<u32> {
    stat_field(pid, 4)?.try_into().ok()
}

/// Reads a field of proc_pid_stat(5), counted from 1. The fields before the third may contain names.
pub fn stat_field(pid: u32, field: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(field - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_tree_has_children_of_children_whichever_way_they_are_found() {
        // Two commands: a shell that only runs one would become it.
        let mut shell = Command::new("/bin/sh")
            .args(["-c", "/bin/sh -c 'sleep 30; true'; true"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let tree = loop {
            let tree = process_tree(shell.id());
            if tree.len() >= 3 {
                break tree;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        assert_eq!(parent_of(tree[1]), Some(tree[0]));
        assert_eq!(parent_of(tree[2]), Some(tree[1]));
        assert_eq!(children_by_stat(tree[0]), [tree[1]]);
        assert!(process_tree(std::process::id()).contains(&tree[2]));
        for pid in tree.iter().rev() {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        shell.wait().unwrap();
    }
}
