//! Makes the changes of a plan in a database and prints the CPU seconds of each phase: `phases DATABASE PLAN [MB]`.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use inorder_advise::{Phase, Plan, Progress, Rekey};

/// Kernel ticks per second, as Linux has them on every architecture that Rust knows.
const TICKS: f64 = 100.0;

/// CPU seconds of this process in its own code and in the kernel.
fn used() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let field = |at: usize| {
        after_name
            .split(' ')
            .nth(at)
            .and_then(|field| field.parse::<f64>().ok())
    };
    [11, 12].map(|at| field(at).unwrap_or_default() / TICKS)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, plan, memory @ ..] = &arguments[..] else {
        return Err("usage: phases DATABASE PLAN [MEMORY_MB]".into());
    };
    let plan: Plan = serde_json::from_str(&std::fs::read_to_string(plan)?)?;
    let rekey = Rekey {
        path: PathBuf::from(database),
        changes: plan.changes,
        memory_bytes: memory
            .first()
            .map_or(Ok(256), |memory| memory.parse::<usize>())?
            << 20,
        wait: Duration::ZERO,
        rebuilds_all: false,
    };
    let progress = Progress::default();
    let (end, ended) = channel::<()>();
    std::thread::scope(|scope| {
        let print = |phase: Phase, from: [f64; 2], to: [f64; 2]| {
            println!(
                "{phase:?}: user {:.2} s, system {:.2} s",
                to[0] - from[0],
                to[1] - from[1]
            );
        };
        let progress = &progress;
        scope.spawn(move || {
            let (mut phase, mut from) = (progress.phase(), used());
            loop {
                let wait = ended.recv_timeout(Duration::from_millis(2));
                let now = progress.phase();
                if now != phase || wait != Err(RecvTimeoutError::Timeout) {
                    let to = used();
                    print(phase, from, to);
                    (phase, from) = (now, to);
                }
                if wait != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        });
        let result = rekey.run(progress);
        drop(end);
        result
    })?;
    let [user, system] = used();
    println!("all: user {user:.2} s, system {system:.2} s");
    Ok(())
}
