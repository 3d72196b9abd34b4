//! Searches every film of a file for itself: by its title, and by title and year; and says how often it comes first, and what
//! that takes.
//!
//! `cargo bench -p inorder-watch --bench search -- FILMS.jsonl.gz`; a number behind it takes one film of so many.

use inorder_watch::{
    Result,
    db::{
        Database,
        films::Film,
        find::{self, Query},
    },
    films::{import, source::Source},
};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use std::{path::Path, time::Duration};

/// Searches that went wrong and are printed.
const SHOWN_MAX: usize = 40;

fn cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The measurements of one kind of search.
#[derive(Default)]
struct Outcome {
    first: usize,
    wrong: Vec<String>,
    cpu: Vec<Duration>,
}

impl Outcome {
    fn look(&mut self, db: &Connection, text: String, is_it: impl Fn(&Film) -> bool) -> Result<()> {
        let query = Query {
            text,
            ..Query::default()
        };
        let start = cpu();
        let found = find::find(db, &query)?;
        self.cpu.push(cpu().saturating_sub(start));
        let first = found.films.first();
        match first.is_some_and(is_it) {
            true => self.first += 1,
            false => {
                let first = first.map(|film| (&film.facts.title, film.facts.year));
                self.wrong.push(format!("{:?}: {first:?}", query.text));
            }
        }
        Ok(())
    }

    fn print(mut self, what: &str) {
        self.cpu.sort();
        let (count, all) = (self.cpu.len(), self.cpu.iter().sum::<Duration>());
        let at = |share: f64| self.cpu[((count - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        println!(
            "{what}: {} of {count} first ({:.3}%); CPU ms a search: mean {:.2}, p50 {:.2}, p99 {:.2}, max {:.2}",
            self.first,
            self.first as f64 * 100.0 / count as f64,
            all.as_secs_f64() * 1e3 / count as f64,
            at(0.5),
            at(0.99),
            at(1.0),
        );
        for wrong in self.wrong.iter().take(SHOWN_MAX) {
            println!("  {wrong}");
        }
    }
}

fn all(db: &Connection) -> Result<Vec<Film>> {
    let sql = format!("SELECT {} FROM film", Film::COLUMNS);
    let mut statement = db.prepare(&sql)?;
    let films = statement.query_map([], Film::of)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let Some(file) = arguments.next() else {
        eprintln!("name a file with films, as import-films takes it");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let database = Database::open(&folder.path().join("watch.db"))?;
    let done = import::import(&database, Source::open(Path::new(&file))?, |_| ())?;
    println!(
        "{} films added, {} known, {} skipped",
        done.added, done.known, done.skipped
    );
    let every = arguments
        .next()
        .and_then(|every| every.parse().ok())
        .unwrap_or(1);
    database.read(|db| {
        let films: Vec<Film> = all(db)?.into_iter().step_by(every).collect();
        for (what, search) in SEARCHES {
            let mut outcome = Outcome::default();
            for film in &films {
                search(&mut outcome, db, film)?;
            }
            outcome.print(what);
        }
        Ok(())
    })
}

/// A way to look for a film.
type Search = fn(&mut Outcome, &Connection, &Film) -> Result<()>;

/// Each, with what it is called.
const SEARCHES: [(&str, Search); 5] = [
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
];
