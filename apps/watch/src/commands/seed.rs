//! `inorder-watch seed`: many people with long lists, and how fast they were written.

mod baseline;
mod draw;

use crate::{
    db::{
        Database,
        entries::{self, ENTRIES_MAX},
        overview::{self, Account},
        sessions, tokens, users,
    },
    films::import,
    secret::Secret,
};
use anyhow::{Context, ensure};
use clap::Args;
use draw::{Draw, LIST_FILMS_MAX, User};
use inorder_key::Ulid;
use inorder_serve::private;
use std::{
    fmt::Write as _,
    fs,
    io::{self, Write as _, stdout},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Fill a new file with generated users and lists, and print the time
///
/// Several threads hand the lists to the write queue, as the pages do. The films are those of the file, or generated ones
/// if it has none.
#[derive(Args)]
pub struct Seed {
    /// Users
    #[arg(long, default_value_t = 1000, value_name = "N")]
    users: usize,
    /// Films per list, on average
    #[arg(long, default_value_t = 100, value_name = "N")]
    movies: usize,
    /// Threads that write lists
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    writers: u8,
    /// Films to generate if the file has none
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    films: usize,
    /// Also write the lists into FILE as a first version of the app would, and print the ratio: one transaction per user,
    /// ids made by the program, a separate key and two indexes
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Use PRAGMA synchronous=NORMAL for both
    #[arg(long)]
    no_sync: bool,
    /// Write a session, an API token and a film per user into FILE, for load tests
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// The cost of a writing method.
struct Took {
    rows: usize,
    wall: Duration,
    /// CPU time of all threads, user and system.
    cpu: Duration,
    bytes: u64,
}

impl Seed {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
        ensure!(
            database.read(users::are_none)?,
            "{} has users: name a new file with --db",
            db.display()
        );
        ensure!(
            self.movies <= LIST_FILMS_MAX,
            "--movies {}: a list has at most {ENTRIES_MAX} films, so on average at most {LIST_FILMS_MAX}",
            self.movies
        );
        if database.read(crate::db::films::count)? == 0 {
            import::import(&database, draw::films(self.films), |_| ())?;
        }
        let films = database.read(numbers)?;
        self.check_films(db, films.len())?;
        let draw = Draw::new(films, self.movies);
        let synchronous = if self.no_sync { "normal" } else { "full" };
        database
            .write_alone(move |db| Ok(db.pragma_update(None, "synchronous", synchronous)?))?;
        let took = self.measured(db, || self.write(&database, &draw))?;
        self.print("the app", &took)?;
        if let Some(file) = &self.baseline {
            let baseline =
                baseline::Baseline::prepare(file, &database, &draw, self.users, synchronous)?;
            let writers = usize::from(self.writers);
            let slow = self.measured(file, || baseline.write(&draw, self.users, writers))?;
            self.print("the baseline", &slow)?;
            let times = |of: fn(&Took) -> Duration| {
                of(&slow).as_secs_f64() / of(&took).as_secs_f64().max(f64::MIN_POSITIVE)
            };
            let (faster, cheaper) = (times(|t| t.wall), times(|t| t.cpu));
            let line = match self.json {
                true => serde_json::json!({"times_faster": faster, "times_less_cpu": cheaper})
                    .to_string(),
                false => format!(
                    "the app is {faster:.1} times faster, and takes {cheaper:.1} times less CPU"
                ),
            };
            writeln!(stdout(), "{line}")?;
        }
        match &self.credentials {
            Some(file) => credentials(&database, file),
            None => Ok(()),
        }
    }

    /// Checks that there are films for what is to be written, and says so if there are fewer than a list would have.
    fn check_films(&self, db: &Path, films: usize) -> anyhow::Result<()> {
        let are_wanted = self.users > 0 && (self.movies > 0 || self.credentials.is_some());
        ensure!(
            films > 0 || !are_wanted,
            "there are no films in {}: generate some with --films, or import them first",
            db.display()
        );
        if films < self.movies {
            let films = match films {
                1 => "1 film".to_owned(),
                films => format!("{films} films"),
            };
            eprintln!("lists have at most the {films} there are");
        }
        Ok(())
    }

    fn print(&self, what: &str, took: &Took) -> io::Result<()> {
        let (seconds, cpu_seconds) = (took.wall.as_secs_f64(), took.cpu.as_secs_f64());
        let rate = (took.rows as f64 / seconds).round();
        let (rows, bytes) = (took.rows, took.bytes);
        let line = if self.json {
            let line = serde_json::json!({
                "what": what, "rows": rows, "seconds": seconds, "cpu_seconds": cpu_seconds,
                "rows_per_second": rate, "file_bytes": bytes,
            });
            line.to_string()
        } else {
            let megabytes = bytes as f64 / 1e6;
            format!(
                "{what}: {rows} films on lists in {seconds:.3} s ({cpu_seconds:.3} s of CPU), {rate} rows/s; the file has {megabytes:.1} MB"
            )
        };
        writeln!(stdout(), "{line}")
    }

    /// The time a way of writing took, the last commit included, and the size of its file.
    fn measured(
        &self,
        file: &Path,
        write: impl FnOnce() -> anyhow::Result<usize>,
    ) -> anyhow::Result<Took> {
        let (start, cpu_start) = (Instant::now(), cpu()?);
        let rows = write()?;
        let (wall, cpu) = (start.elapsed(), cpu()?.saturating_sub(cpu_start));
        let db = rusqlite::Connection::open(file)?;
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(Took {
            rows,
            wall,
            cpu,
            bytes: fs::metadata(file)?.len(),
        })
    }

    /// Hands in the lists of all users from several threads. Gives how many films are on them.
    fn write(&self, database: &Database, draw: &Draw) -> anyhow::Result<usize> {
        let (next, rows) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let writer = || -> crate::Result<()> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.users {
                    return Ok(());
                }
                let User { name, list } = draw.user(number);
                rows.fetch_add(list.len(), Ordering::Relaxed);
                database.write_now(move |db| {
                    let user = users::add(db, &name, None)?;
                    entries::fill(db, user.number, &list)
                })?;
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.writers).map(|_| scope.spawn(writer)).collect();
            threads.into_iter().try_for_each(|thread| {
                let panicked = |_| Err(io::Error::other("a thread panicked").into());
                thread.join().unwrap_or_else(panicked)
            })
        })?;
        Ok(rows.into_inner())
    }
}

/// CPU time of this process.
fn cpu() -> anyhow::Result<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::try_from(now)?)
}

fn numbers(db: &rusqlite::Connection) -> crate::Result<Vec<i64>> {
    let mut statement = db.prepare("SELECT number FROM film ORDER BY number")?;
    let numbers = statement.query_map([], |row| row.get(0))?;
    Ok(numbers.collect::<rusqlite::Result<_>>()?)
}

/// Writes `NAME SESSION TOKEN FILM`, a line each. The films are the first of all; if there are fewer than users, they are repeated.
fn credentials(database: &Database, file: &Path) -> anyhow::Result<()> {
    let lines = database.write_now(|db| {
        let mut lines = String::new();
        let users = overview::all(db)?;
        let mut films = db.prepare("SELECT id FROM film ORDER BY number LIMIT ?1")?;
        let films = films.query_map([users.len() as i64], |row| row.get(0))?;
        let films = films.collect::<rusqlite::Result<Vec<[u8; 16]>>>()?;
        for (Account { user, .. }, film) in users.into_iter().zip(films.into_iter().cycle()) {
            let film = Ulid::from_bytes(film);
            let (session, token) = (Secret::new(), Secret::new());
            sessions::begin(db, user.number, session, false)?;
            tokens::add(db, user.number, "load test", token)?;
            let _ = writeln!(lines, "{} {session} {token} {film}", user.name);
        }
        Ok(lines)
    })?;
    private::create(file)
        .and_then(|()| fs::write(file, lines))
        .with_context(|| format!("{}", file.display()))
}
