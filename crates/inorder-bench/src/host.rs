//! The machine: what it is, and what the process did on it. Read from Linux's `/proc`; what can't be read is unobservable, not zero.

pub use inorder_engine::cpu_s;
use std::{fs, io::Write as _, path::Path, time::Instant};

/// Bytes that processes wrote so far (proc_pid_io(5)).
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessIo {
    /// Bytes passed to write calls: `wchar`.
    pub written_bytes: Option<u64>,
    /// Bytes made dirty for a block device: `write_bytes`; 0 on tmpfs.
    pub block_written_bytes: Option<u64>,
}

/// Reads the counters of processes and adds them up. A server's that ended meanwhile are in its
/// parent's; one that can't be read makes the sum unobservable.
pub fn process_io(processes: &[u32]) -> ProcessIo {
    let texts: Option<Vec<String>> = processes
        .iter()
        .filter(|pid| is_there(**pid))
        .map(|pid| fs::read_to_string(format!("/proc/{pid}/io")).ok())
        .collect();
    let sum = |name: &str| {
        let fields = texts.as_ref()?.iter().map(|text| field(text, name));
        fields.sum::<Option<u64>>()
    };
    ProcessIo {
        written_bytes: sum("wchar:"),
        block_written_bytes: sum("write_bytes:"),
    }
}

fn is_there(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Peak resident memory of the process in bytes: `VmHWM` of proc_pid_status(5).
pub fn peak_memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    field(&text, "VmHWM:").map(|kib| kib * 1024)
}

/// The first number after a name.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Describes the machine in reading order: name and value.
pub fn describe(folder: &Path) -> Vec<(String, String)> {
    let unknown = || "unknown".to_owned();
    let first_after = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(
            line.split_once([':', '='])?
                .1
                .trim()
                .trim_matches('"')
                .to_owned(),
        )
    };
    let read = |file: &str| fs::read_to_string(file).map(|text| text.trim().to_owned());
    let mut facts = vec![
        (
            "CPU",
            first_after("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
        ),
        ("cores", cores().to_string()),
        (
            "memory",
            first_after("/proc/meminfo", "MemTotal").unwrap_or_else(unknown),
        ),
        (
            "system",
            first_after("/etc/os-release", "PRETTY_NAME").unwrap_or_else(unknown),
        ),
        (
            "kernel",
            read("/proc/sys/kernel/osrelease").unwrap_or_else(|_| unknown()),
        ),
        ("architecture", std::env::consts::ARCH.to_owned()),
        ("filesystem", filesystem(folder).unwrap_or_else(unknown)),
    ];
    facts.push((
        "fsync of 4 KiB, median",
        fsync_us(folder).map_or_else(unknown, |us| format!("{us:.0} us")),
    ));
    facts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Type of the filesystem that holds a folder: of the mount point that is its longest prefix.
fn filesystem(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(point, _)| folder.starts_with(point))
        .max_by_key(|(point, _)| point.len())
        .map(|(_, kind)| kind.to_owned())
}

/// Median time to make 4 KiB durable in a folder.
fn fsync_us(folder: &Path) -> Option<f64> {
    let path = folder.join("fsync-probe");
    let mut file = fs::File::create(&path).ok()?;
    let times = (0..21).filter_map(|_| {
        let began = Instant::now();
        file.write_all(&[0x55; 4096]).ok()?;
        file.sync_data().ok()?;
        Some(began.elapsed().as_secs_f64() * 1e6)
    });
    let median = crate::statistics::median(times);
    let _ = fs::remove_file(&path);
    median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        assert_eq!(field("rchar: 1\nwchar: 42\n", "wchar:"), Some(42));
        assert_eq!(field("VmHWM:\t  17 kB\n", "VmHWM:"), Some(17));
        assert_eq!(field("rchar: 1\n", "wchar:"), None);
    }
}
