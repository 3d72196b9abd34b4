//! What a load costs a server: rows as they come, the key in place, beside what the loader does.
//!
//! `cargo bench -p inorder-load --bench servers -- postgres 5000000`
//! `cargo bench -p inorder-load --bench servers -- mariadb 1000000`
//! `cargo bench -p inorder-load --bench servers -- postgres-sharded 1000000`
//!
//! Both read the same CSV (a UUID in no order, a payload of 64 hex digits, and a number that the third column is
//! indexed by where `indexed` is added) and send it by COPY or LOAD DATA LOCAL to a private server of the
//! workbench. CPU is that of the server's processes up to the commit, bytes are those it writes until all of it is
//! in its tables: asking a server every moment whether it is would take CPU of its own.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use inorder_engine::{
    ColumnInfo, Database, DatabaseTable, Load, LoadTable, Retry, Settings, Write, cpu_s, engine,
};
use inorder_load::load::{Job, OnDuplicate, Order, Progress, memory_bytes_default, run_into};
use inorder_load::source::{self, Location};
use inorder_load::target::{ServerTarget, Target, WriterChoice};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An engine, its page cache in KiB, its type of ids, and how rows go that nobody routes.
const SUBJECTS: [(&str, u64, &str); 3] = [
    ("postgres", 128 << 10, "uuid"),
    ("mariadb", 32 << 10, "BINARY(16)"),
    ("postgres-sharded", 64 << 10, "uuid"),
];

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let is_given = |word: &str| given.iter().any(|other| other == word);
    let rows = given
        .iter()
        .find_map(|word| word.parse().ok())
        .unwrap_or(200_000);
    for (name, cache_kib, id) in SUBJECTS {
        if given.iter().all(|word| engine(word).is_none()) || is_given(name) {
            compare(name, cache_kib, id, rows, is_given("indexed"))?;
        }
    }
    Ok(())
}

fn compare(name: &str, cache_kib: u64, id: &str, rows: u64, is_indexed: bool) -> Result<()> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let csv = folder.path().join("rows.csv");
    make(&csv, rows)?;
    println!("{name}, {rows} rows, cache of {} MiB", cache_kib >> 10);
    let mut first = None;
    for is_own in [false, true] {
        let (cpu_seconds, megabytes, seconds) =
            measure(name, cache_kib, id, &csv, is_own, is_indexed)?;
        let way = if is_own { "the loader" } else { "as they come" };
        let (cpu_before, bytes_before) = *first.get_or_insert((cpu_seconds, megabytes));
        println!(
            "  {way:<12} {cpu_seconds:8.1} s CPU ({:4.1}), {megabytes:8.0} MB ({:4.1}), {seconds:6.1} s in all",
            cpu_before / cpu_seconds,
            bytes_before / megabytes
        );
    }
    Ok(())
}

/// CPU seconds of the server, megabytes it wrote, seconds in all.
fn measure(
    name: &str,
    cache_kib: u64,
    id: &str,
    csv: &Path,
    is_own: bool,
    is_indexed: bool,
) -> Result<(f64, f64, f64)> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let is_spread = name == "postgres-sharded";
    let settings = Settings {
        write: if is_own && is_spread {
            Write::Routed
        } else {
            Write::Bulk
        },
        shards: 3,
        cache_kib,
        checkpoint_pages: 1 << 17,
        ..Settings::default()
    };
    let server = engine(name)
        .ok_or("no such engine")?
        .create(folder.path(), &settings)?;
    let database: Arc<dyn Database> = Arc::from(server);
    let index = if is_indexed { ", UNIQUE (n)" } else { "" };
    database.execute(&format!(
        "CREATE TABLE t(id {id} PRIMARY KEY, payload VARCHAR(64), n BIGINT{index})"
    ))?;
    let (cpu_before, io_before) = (cpu_s(&database.processes()), database.io());
    let began = Instant::now();
    let job = job(csv, if is_own { Order::Full } else { Order::Input });
    run_into(&job, &Progress::default(), |wanted| {
        let table: Box<dyn LoadTable> = match is_own {
            true => Box::new(DatabaseTable::new(Arc::clone(&database), wanted.table)),
            false => Box::new(AsItIs(Arc::clone(&database))),
        };
        Ok(Box::new(ServerTarget::new(table, wanted.table)?) as Box<dyn Target>)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let cpu = cpu_s(&database.processes()).zip(cpu_before);
    database.quiesce()?;
    let (after, before) = cpu.ok_or("the server's CPU time can't be read")?;
    let written = (database.io() - io_before).total().written_bytes;
    let written = written.ok_or("the server doesn't count its bytes")?;
    Ok((after - before, written as f64 / 1e6, seconds))
}

/// The table `t`, whose keys and indexes stay in place.
struct AsItIs(Arc<dyn Database>);

impl LoadTable for AsItIs {
    fn columns(&self) -> std::result::Result<Vec<ColumnInfo>, inorder_engine::Error> {
        self.0.columns("t")
    }

    fn load(&self, columns: &[&str]) -> std::result::Result<Load, inorder_engine::Error> {
        let mut writer = self.0.writer("t", columns, Retry::default())?;
        writer.begin()?;
        Ok(Load {
            writer,
            told: Vec::new(),
        })
    }
}

fn job(csv: &Path, order: Order) -> Job {
    Job {
        inputs: vec![Location {
            path: csv.to_owned(),
            table: None,
        }],
        settings: source::Settings::default(),
        columns: None,
        skips_unknown: false,
        to: String::new(),
        table: "t".to_owned(),
        create: None,
        decode: Vec::new(),
        order,
        memory_bytes: memory_bytes_default(),
        spill_folder: csv.parent().map(PathBuf::from),
        on_duplicate: OnDuplicate::Error,
        rejects: None,
        errors_max: 0,
        fill_percent: None,
        writer: WriterChoice::Auto,
        is_dry: false,
    }
}

/// Marsaglia's xorshift.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn make(path: &Path, rows: u64) -> Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,payload,n")?;
    for _ in 0..rows {
        let mut word = || random(&mut state);
        let id = inorder_key::Uuid::from_u128(u128::from(word()) << 64 | u128::from(word()));
        let n = word() >> 1;
        let (a, b, c, d) = (word(), word(), word(), word());
        writeln!(file, "{id},{a:016x}{b:016x}{c:016x}{d:016x},{n}")?;
    }
    Ok(file.flush()?)
}
