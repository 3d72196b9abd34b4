//! Nanoseconds of CPU a row to build a table WITHOUT ROWID from sorted records: `cargo bench -p inorder-btree`.
//!
//! Beside it, in the same run, what cannot be had for less: the rows copied in memory, and as many bytes written,
//! both by turns and synced to the disk. `INORDER_BENCH_ROWS` sets how many rows, `INORDER_BENCH_ROUNDS` how many turns
//! (3), `TMPDIR` where the files go. The ratio is of the least times, since nothing but other work makes one longer.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use inorder_btree::{Builder, KeyColumn, KeyOrder, Options, SchemaEntry, Value, record};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::time::{ClockId, clock_gettime};

const PAYLOAD_BYTES: usize = 64;

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// CPU and wall time.
#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    wall: Duration,
}

impl Cost {
    /// The least of each.
    fn least(self, other: Cost) -> Cost {
        Cost {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
        }
    }
}

/// Runs a closure and prints its CPU and wall time per row.
fn measured<T>(what: &str, rows: u64, run: impl FnOnce() -> T) -> (Cost, T) {
    let (cpu_before, wall_before) = (cpu(), Instant::now());
    let result = run();
    let cost = Cost {
        cpu: cpu() - cpu_before,
        wall: wall_before.elapsed(),
    };
    let each = |time: Duration| time.as_nanos() as f64 / rows as f64;
    println!(
        "{what:<44} {:>8.1} ns CPU a row {:>8.1} ns wall",
        each(cost.cpu),
        each(cost.wall)
    );
    (cost, result)
}

/// Records of a key of 40 hexadecimal digits and a payload, in order, one after another.
fn records(rows: u64) -> (Vec<u8>, usize) {
    let (mut all, payload) = (Vec::new(), [b'p'; PAYLOAD_BYTES]);
    let step = u64::MAX / rows;
    for row in 0..rows {
        let tail = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let key = format!("{:016x}{tail:016x}{:08x}", row * step, tail as u32);
        record::encode(
            &[Value::Text(key.as_bytes()), Value::Text(&payload)],
            &mut all,
        );
    }
    let bytes = all.len() / rows as usize;
    (all, bytes)
}

fn build(file: File, records: &[u8], record_bytes: usize, bypasses_page_cache: bool) -> File {
    let options = Options {
        bypasses_page_cache,
        ..Options::default()
    };
    let order = KeyOrder::new(vec![KeyColumn::ascending(0)], options.encoding);
    let builder = Builder::create(file, options).expect("builder");
    let mut index = builder.index(order, None).expect("tree");
    for record in records.chunks_exact(record_bytes) {
        index.push(record).expect("row");
    }
    let (builder, root) = index.finish().expect("tree");
    let schema = SchemaEntry {
        kind: "table".into(),
        name: "t".into(),
        table_name: "t".into(),
        root,
        sql: Some("CREATE TABLE t(id TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID".into()),
    };
    let file = builder.finish(&[schema]).expect("file");
    file.sync_all().expect("synced");
    file
}

/// Writes as many bytes as there are, in blocks, and nothing else.
fn write_plainly(mut file: File, bytes: usize, bypasses_page_cache: bool) -> File {
    const BLOCK_BYTES: usize = 1 << 20;
    let memory = vec![b'p'; BLOCK_BYTES + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let flags = fcntl_getfl(&file).expect("flags");
    if bypasses_page_cache {
        fcntl_setfl(&file, flags | OFlags::DIRECT).expect("a file system with O_DIRECT");
    }
    for _ in 0..bytes / BLOCK_BYTES {
        let block = &memory[start..][..BLOCK_BYTES];
        file.write_all(block).expect("written");
    }
    file.sync_all().expect("synced");
    file
}

fn setting(name: &str, usual: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|value| value.parse().ok()).unwrap_or(usual)
}

fn main() {
    let rows = setting("INORDER_BENCH_ROWS", 1_000_000);
    let rounds = setting("INORDER_BENCH_ROUNDS", 3);
    let (records, record_bytes) = records(rows);
    let file = || tempfile::tempfile().expect("temporary file");
    println!("{rows} rows of {record_bytes} bytes");

    let mut copy = vec![1; records.len()];
    measured("copied in memory", rows, || {
        copy.copy_from_slice(&records);
        black_box(&copy);
    });
    drop(copy);
    // The first to fill the page cache pays for its memory.
    write_plainly(file(), records.len(), false);
    for (name, bypasses_page_cache) in [("page cache", false), ("O_DIRECT", true)] {
        let mut least: Option<[Cost; 2]> = None;
        let mut bytes = 0;
        for _ in 0..rounds {
            let (built, built_file) = measured(&format!("built, {name}"), rows, || {
                build(file(), &records, record_bytes, bypasses_page_cache)
            });
            bytes = built_file.metadata().expect("size").len();
            drop(built_file);
            let (written, _) = measured(&format!("as many bytes written, {name}"), rows, || {
                write_plainly(file(), bytes as usize, bypasses_page_cache)
            });
            least = Some(match least {
                None => [built, written],
                Some([b, w]) => [b.least(built), w.least(written)],
            });
        }
        let Some([built, written]) = least else {
            continue;
        };
        println!(
            "    {bytes} bytes, {:.1} million rows a CPU second; {:.2} times the wall time of the plain write",
            rows as f64 / built.cpu.as_secs_f64() / 1e6,
            built.wall.as_secs_f64() / written.wall.as_secs_f64()
        );
    }
}
