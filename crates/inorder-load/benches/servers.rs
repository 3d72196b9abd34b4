//! Compares the cost of a load for a server: rows in input order with the key in place, and rows loaded by the loader.
//!
//! `cargo bench -p inorder-load --bench servers -- postgres 5000000`
//! `cargo bench -p inorder-load --bench servers -- mariadb 1000000 200`
//! `cargo bench -p inorder-load --bench servers -- postgres-sharded 1000000`
//!
//! `--csv FILE` appends every figure to a file. The numbers are rows and letters of a payload, 64 where they aren't given. Both ways read the same CSV (a UUID in no
//! order, the payload, a random integer; `indexed` adds a unique index of that) and send it by COPY or LOAD DATA LOCAL
//! to a private server of the workbench. CPU is that of the server's processes up to the commit, bytes are those it
//! writes until all of it is in its tables: asking a server every moment whether it is would take CPU of its own.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use inorder_engine::{
    Database, DatabaseTable, Load, LoadShape, LoadTable, Retry, Settings, TableChange, Write,
    cpu_s, engine,
};
use inorder_load::source::Location;
use inorder_load::{Job, Progress, RowOrder, run_into};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server; its log is as long as it is by default: 1 GiB of 8 KiB pages, 96 MiB of 16 KiB.
#[derive(Clone, Copy)]
struct Subject {
    engine: &'static str,
    cache_mib: u64,
    log_pages: u32,
    /// The type of ids.
    id: &'static str,
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        engine: "postgres",
        cache_mib: 128,
        log_pages: 1 << 17,
        id: "uuid",
    },
    Subject {
        engine: "mariadb",
        cache_mib: 32,
        log_pages: 6 << 10,
        id: "BINARY(16)",
    },
    Subject {
        engine: "postgres-sharded",
        cache_mib: 64,
        log_pages: 1 << 17,
        id: "uuid",
    },
];

/// Bytes of a page where a server lets one choose: its default.
const PAGE_BYTES: u32 = 16_384;

/// The input and the target of a load.
struct Case {
    subject: Subject,
    csv: PathBuf,
    is_indexed: bool,
}

/// The cost of a load.
struct Cost {
    cpu_seconds: f64,
    megabytes: f64,
    seconds: f64,
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let is_given = |word: &str| given.iter().any(|other| other == word);
    let csv = given.iter().skip_while(|word| *word != "--csv").nth(1);
    let mut numbers = given.iter().filter_map(|word| word.parse().ok());
    let rows = numbers.next().unwrap_or(200_000);
    let payload_bytes = numbers.next().unwrap_or(64);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let rows_file = folder.path().join("rows.csv");
    make(&rows_file, rows, payload_bytes)?;
    for subject in SUBJECTS {
        if given.iter().all(|word| engine(word).is_none()) || is_given(subject.engine) {
            println!(
                "{}, cache of {} MiB, {rows} rows, payload of {payload_bytes}",
                subject.engine, subject.cache_mib
            );
            let case = Case {
                subject,
                csv: rows_file.clone(),
                is_indexed: is_given("indexed"),
            };
            let costs = compare(&case)?;
            if let Some(file) = csv {
                append(Path::new(file), &subject, rows, &costs)?;
            }
        }
    }
    Ok(())
}

/// Adds the figures of a server to a CSV, with the headings if it is new.
fn append(file: &Path, subject: &Subject, rows: u64, costs: &[(&str, Cost)]) -> Result<()> {
    let is_new = !file.exists();
    let mut csv = File::options().create(true).append(true).open(file)?;
    if is_new {
        writeln!(csv, "server,rows,cache_bytes,load,cpu_s,written_bytes")?;
    }
    let (engine, cache_bytes) = (subject.engine, subject.cache_mib << 20);
    for (way, cost) in costs {
        let (cpu, bytes) = (cost.cpu_seconds, cost.megabytes * 1e6);
        writeln!(
            csv,
            "{engine},{rows},{cache_bytes},{way},{cpu:.3},{bytes:.0}"
        )?;
    }
    Ok(())
}

/// Rows in the order of the file, then as the loader sends them.
fn compare(case: &Case) -> Result<[(&'static str, Cost); 2]> {
    let costs = [
        ("input order", case.measure(false)?),
        ("inorder load", case.measure(true)?),
    ];
    let before = &costs[0].1;
    for (way, cost) in &costs {
        println!(
            "  {way:<12} {:8.1} s CPU ({:4.1}), {:8.0} MB ({:4.1}), {:6.1} s in all",
            cost.cpu_seconds,
            before.cpu_seconds / cost.cpu_seconds,
            cost.megabytes,
            before.megabytes / cost.megabytes,
            cost.seconds
        );
    }
    Ok(costs)
}

impl Case {
    /// A server, and in it the table `t`.
    fn database(&self, folder: &Path, write: Write) -> Result<Arc<dyn Database>> {
        let settings = Settings {
            write,
            shards: 3,
            page_size_bytes: PAGE_BYTES,
            cache_kib: self.subject.cache_mib << 10,
            checkpoint_pages: self.subject.log_pages,
            ..Settings::default()
        };
        let engine = engine(self.subject.engine).ok_or("no such engine")?;
        let database: Arc<dyn Database> = Arc::from(engine.create(folder, &settings)?);
        let index = if self.is_indexed { ", UNIQUE (n)" } else { "" };
        database.execute(&format!(
            "CREATE TABLE t(id {} PRIMARY KEY, payload VARCHAR(1000), n BIGINT{index})",
            self.subject.id
        ))?;
        Ok(database)
    }

    /// Loads as the loader does, or rows as they come with keys in place.
    fn measure(&self, is_own: bool) -> Result<Cost> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let is_routed = is_own && self.subject.engine == "postgres-sharded";
        let write = if is_routed {
            Write::Routed
        } else {
            Write::Bulk
        };
        let database = self.database(folder.path(), write)?;
        let (cpu_before, io_before) = (cpu_s(&database.processes()), database.io());
        let began = Instant::now();
        let job = job(
            &self.csv,
            if is_own {
                RowOrder::Full
            } else {
                RowOrder::Input
            },
        );
        let table: Box<dyn LoadTable> = match is_own {
            true => Box::new(DatabaseTable::new(Arc::clone(&database), &job.table)),
            false => Box::new(AsItIs(Arc::clone(&database))),
        };
        run_into(&job, &Progress::default(), table)?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu = cpu_s(&database.processes()).zip(cpu_before);
        let (after, before) = cpu.ok_or("the server's CPU time can't be read")?;
        database.quiesce()?;
        let written = (database.io() - io_before).total().written_bytes;
        let written = written.ok_or("the server doesn't count its bytes")?;
        Ok(Cost {
            cpu_seconds: after - before,
            megabytes: written as f64 / 1e6,
            seconds,
        })
    }
}

/// The table `t`, whose keys and indexes stay in place.
struct AsItIs(Arc<dyn Database>);

impl LoadTable for AsItIs {
    fn shape(&self) -> std::result::Result<LoadShape, inorder_engine::Error> {
        self.0.load_shape("t")
    }

    fn load(
        &self,
        columns: &[&str],
        _survives_refusals: bool,
    ) -> std::result::Result<Load, inorder_engine::Error> {
        let mut writer = self.0.writer("t", columns, Retry::default())?;
        writer.begin()?;
        Ok(Load {
            writer,
            told: Vec::new(),
            survives_refusals: false,
            is_one_statement: false,
        })
    }

    fn has_rows(
        &self,
        lock_max: Duration,
    ) -> std::result::Result<Option<bool>, inorder_engine::Error> {
        self.0.has_rows("t", lock_max)
    }

    fn changed(
        self: Box<Self>,
        _change: TableChange,
    ) -> std::result::Result<Box<dyn LoadTable>, inorder_engine::Error> {
        Ok(self)
    }
}

fn job(csv: &Path, order: RowOrder) -> Job {
    let source = Location {
        path: csv.to_owned(),
        table: None,
    };
    Job {
        order,
        spill_folder: csv.parent().map(PathBuf::from),
        ..Job::new(vec![source], String::new(), "t".to_owned())
    }
}

fn make(path: &Path, rows: u64, payload_bytes: u64) -> Result<()> {
    let mut random = inorder_key::bulk::SplitMix64::new(0);
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,payload,n")?;
    for _ in 0..rows {
        let mut word = || random.bits();
        let id = inorder_key::Uuid::from_u128(u128::from(word()) << 64 | u128::from(word()));
        write!(file, "{id},")?;
        for _ in 0..payload_bytes {
            file.write_all(&[b'a' + (word() % 26) as u8])?;
        }
        writeln!(file, ",{}", word() >> 1)?;
    }
    Ok(file.flush()?)
}
