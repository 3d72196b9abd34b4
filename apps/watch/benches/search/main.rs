//! Searches films in the ways in which people type, and says how often the film comes first, and what that takes.
//!
//! `cargo bench -p inorder-watch --bench search -- FILMS.jsonl.gz`, or `--films 700000` for made-up ones. `--every N` searches
//! for one film of so many, `--csv FILE` writes the figures, and `--db FILE` keeps the database for the next run.

mod made_up;

use inorder_watch::{
    Result,
    db::{
        Database,
        films::{self, Film},
        find::{self, Query},
    },
    films::{import, source::Source},
};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Searches that went wrong and are printed.
const SHOWN_MAX: usize = 4;

fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn process_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// The measurements of one kind of search.
#[derive(Default)]
struct Outcome {
    first: usize,
    /// Of those that aren't the first, how many are among the results shown.
    shown: usize,
    wrong: Vec<String>,
    cpu: Vec<Duration>,
}

impl Outcome {
    fn look(&mut self, db: &Connection, text: String, is_it: impl Fn(&Film) -> bool) -> Result<()> {
        let query = Query {
            text,
            ..Query::default()
        };
        self.ask(db, &query, is_it)
    }

    /// Looks among films or among series only, as this one is.
    fn look_of_kind(&mut self, db: &Connection, text: String, film: &Film) -> Result<()> {
        let kind = film.facts.kind;
        let query = Query {
            text,
            kind: Some(kind),
            ..Query::default()
        };
        self.ask(db, &query, |other| other.facts.kind == kind)
    }

    fn ask(&mut self, db: &Connection, query: &Query, is_it: impl Fn(&Film) -> bool) -> Result<()> {
        let start = cpu();
        let found = find::find(db, query)?;
        self.cpu.push(cpu().saturating_sub(start));
        let first = found.films.first();
        match first.is_some_and(&is_it) {
            true => self.first += 1,
            false => {
                let first = first.map(|film| (&film.facts.title, film.facts.year));
                self.shown += usize::from(found.films.iter().any(&is_it));
                self.wrong.push(format!("{:?}: {first:?}", query.text));
            }
        }
        Ok(())
    }

    /// Prints the figures, and returns them as a line of CSV.
    fn print(mut self, what: &str) -> String {
        self.cpu.sort();
        let (count, all) = (self.cpu.len(), self.cpu.iter().sum::<Duration>());
        let at = |share: f64| self.cpu[((count - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        let mean = all.as_secs_f64() * 1e3 / count as f64;
        println!(
            "{what}: {} of {count} first ({:.3}%), {} after it; CPU ms per search: mean {mean:.2}, p50 {:.2}, p99 {:.2}, max {:.2}",
            self.first,
            self.first as f64 * 100.0 / count as f64,
            self.shown,
            at(0.5),
            at(0.99),
            at(1.0),
        );
        for wrong in self.wrong.iter().take(SHOWN_MAX) {
            println!("  {wrong}");
        }
        let figures = [mean, at(0.5), at(0.99), at(1.0)].map(|ms| format!("{ms:.2}"));
        let (first, shown) = (self.first, self.first + self.shown);
        format!("{what},{count},{first},{shown},{}", figures.join(","))
    }
}

fn all(db: &Connection) -> Result<Vec<Film>> {
    let sql = format!("SELECT {} FROM film", Film::COLUMNS);
    let mut statement = db.prepare(&sql)?;
    let films = statement.query_map([], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

/// What the command line says.
#[derive(Default)]
struct Options {
    file: Option<String>,
    films: usize,
    every: usize,
    csv: Option<PathBuf>,
    db: Option<PathBuf>,
}

impl Options {
    fn of(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Options {
            every: 1,
            ..Options::default()
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => {}
                "--films" => options.films = arguments.next()?.parse().ok()?,
                "--every" => options.every = arguments.next()?.parse().ok()?,
                "--csv" => options.csv = Some(arguments.next()?.into()),
                "--db" => options.db = Some(arguments.next()?.into()),
                _ => options.file = Some(argument),
            }
        }
        (options.file.is_some() || options.films > 0).then_some(options)
    }
}

fn main() -> Result<()> {
    let Some(options) = Options::of(std::env::args().skip(1)) else {
        eprintln!("name a file with films, as import-films takes it, or --films 700000");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let path = options.db.unwrap_or_else(|| folder.path().join("watch.db"));
    let database = Database::open(&path)?;
    if database.read(films::newest)? == 0 {
        let done = match options.file {
            Some(file) => import::import(&database, Source::open(Path::new(&file))?, |_| ())?,
            None => import::import(&database, made_up::films(options.films), |_| ())?,
        };
        println!(
            "{} films added, {} known, {} skipped; {:.1} s of CPU; {} bytes",
            done.added,
            done.known,
            done.skipped,
            process_cpu().as_secs_f64(),
            path.metadata()?.len(),
        );
    }
    let mut lines = vec![
        "typed,searches_count,first_count,shown_count,mean_ms,median_ms,p99_ms,slowest_ms"
            .to_owned(),
    ];
    database.read(|db| {
        let films: Vec<Film> = all(db)?.into_iter().step_by(options.every).collect();
        for (what, search) in SEARCHES {
            let mut outcome = Outcome::default();
            for film in &films {
                search(&mut outcome, db, film)?;
            }
            lines.push(outcome.print(what));
        }
        Ok(())
    })?;
    if let Some(csv) = options.csv {
        writeln!(File::create(csv)?, "{}", lines.join("\n"))?;
    }
    Ok(())
}

/// A way to look for a film.
type Search = fn(&mut Outcome, &Connection, &Film) -> Result<()>;

/// Each, with what it is called.
const SEARCHES: [(&str, Search); 14] = [
    ("the title", |outcome, db, film| {
        let title = &film.facts.title;
        outcome.look(db, title.clone(), |other| other.facts.title == *title)
    }),
    ("the title in capitals", |outcome, db, film| {
        let capitals = film.facts.title.to_uppercase();
        outcome.look(db, capitals.clone(), |other| {
            other.facts.title.to_uppercase() == capitals
        })
    }),
    ("title and year", |outcome, db, film| {
        let (title, year) = (&film.facts.title, film.facts.year);
        let text = format!("{title} {}", year.unwrap_or_default());
        outcome.look(db, text, |other| {
            other.facts.title == *title && other.facts.year == year
        })
    }),
    // As it is typed: what is found then is no matter, what it takes is.
    ("the first letters", |outcome, db, film| {
        let letters = 1 + film.number as usize % 6;
        outcome.look(db, film.facts.title.chars().take(letters).collect(), |_| {
            true
        })
    }),
    ("a name", |outcome, db, film| {
        let name = film.facts.people.first().cloned();
        outcome.look(db, name.unwrap_or_default(), |_| true)
    }),
    (
        "a name and its title's first letters",
        |outcome, db, film| {
            let name = film.facts.people.first().cloned().unwrap_or_default();
            let letters: String = film.facts.title.chars().take(3).collect();
            outcome.look(db, format!("{name} {letters}"), |_| true)
        },
    ),
    ("the title with a typo", |outcome, db, film| {
        let title = &film.facts.title;
        outcome.look(db, mistyped(title), |other| other.facts.title == *title)
    }),
    ("a name with a typo", |outcome, db, film| {
        let name = film.facts.people.first().cloned().unwrap_or_default();
        outcome.look(db, mistyped(&name), |other| {
            name.is_empty() || other.facts.people.contains(&name)
        })
    }),
    ("a year", |outcome, db, film| {
        let year = film.facts.year.unwrap_or_default();
        outcome.look(db, year.to_string(), |_| true)
    }),
    ("two of its words", |outcome, db, film| {
        let mut words: Vec<&str> = film.facts.title.split(' ').collect();
        words.reverse();
        words.truncate(2);
        outcome.look(db, words.join(" "), |_| true)
    }),
    ("the title within its kind", |outcome, db, film| {
        outcome.look_of_kind(db, film.facts.title.clone(), film)
    }),
    ("the first letters within its kind", |outcome, db, film| {
        let letters = 1 + film.number as usize % 6;
        let letters = film.facts.title.chars().take(letters).collect();
        outcome.look_of_kind(db, letters, film)
    }),
    ("a name with a typo within its kind", |outcome, db, film| {
        let name = film.facts.people.first().cloned().unwrap_or_default();
        outcome.look_of_kind(db, mistyped(&name), film)
    }),
    ("a year within its kind", |outcome, db, film| {
        let year = film.facts.year.unwrap_or_default();
        outcome.look_of_kind(db, year.to_string(), film)
    }),
];

/// The text with two letters of its longest word swapped.
fn mistyped(text: &str) -> String {
    let longest = text
        .split(' ')
        .max_by_key(|word| word.len())
        .unwrap_or_default();
    let mut letters: Vec<char> = longest.chars().collect();
    let middle = letters.len() / 2;
    if middle > 0 {
        letters.swap(middle - 1, middle);
    }
    text.replacen(longest, &letters.into_iter().collect::<String>(), 1)
}
