//! A file of unknown form: a zip archive, JSON or CSV.

use super::{
    archive::{Archive, is_archive},
    row::{Collector, Reading, why},
    table::{self, Kind},
    trakt,
};
use crate::{Error, Result, words::say};

/// Reads the films of a file. The kind chosen by the user precedes the one that the name of a CSV file tells.
///
/// # Errors
/// [`Error::Invalid`] if the file is nothing that is read, or is too large.
pub fn read(name: &str, bytes: &[u8], chosen: Option<Kind>) -> Result<Reading> {
    let name = if name.is_empty() {
        &say::the_file().plain()
    } else {
        name
    };
    let mut into = Collector::default();
    if is_archive(bytes) {
        read_archive(bytes, &mut into)?;
    } else if is_json(bytes) {
        let count = trakt::read(bytes, name, false, &mut into)?;
        into.file(name, count);
    } else {
        let kind = chosen.unwrap_or_else(|| Kind::of_file(name, bytes));
        let count = table::read(bytes, name, kind, false, &mut into)?;
        into.file(name, count);
    }
    let reading = into.end();
    let is_empty = reading.rows.is_empty() && reading.problems.is_empty();
    match is_empty && reading.files.is_empty() {
        true => Err(Error::Invalid(say::archive_no_list())),
        false => Ok(reading),
    }
}

fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'[' | b'{'))
}

/// What a file of an archive holds, by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A table of Letterboxd, by its place in [`TABLES`].
    Table(usize),
    /// A list that the user made.
    List,
    /// Another table.
    OtherTable,
    /// Films at Trakt, not in a list of the user's own.
    Items,
    /// A list of the user's own at Trakt.
    ItemList,
}

/// The tables of Letterboxd, in the order in which what they say of a film is added. A rating is of the time of the export
/// in the last of those that have one, and of the day in the others.
const TABLES: [&str; 6] = [
    "watched.csv",
    "diary.csv",
    "reviews.csv",
    "ratings.csv",
    "likes/films.csv",
    "watchlist.csv",
];

impl Part {
    /// The content of a file; `None` for one that has no films, or deleted ones.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        if let Some(at) = TABLES.iter().position(|table| *table == name) {
            return Some(Part::Table(at));
        }
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", &name));
        let is_of = |words: &[&str]| words.iter().any(|word| file.contains(word));
        if name.ends_with(".csv") {
            return match folder {
                "lists" => Some(Part::List),
                "" if !["profile.csv", "comments.csv"].contains(&file) => Some(Part::OtherTable),
                _ => None,
            };
        }
        if !name.ends_with(".json")
            || is_of(&[
                "comments",
                "collection",
                "hidden",
                "profile",
                "settings",
                "-lists",
            ])
        {
            return None;
        }
        if is_of(&["watched", "history", "ratings", "watchlist"]) {
            return Some(Part::Items);
        }
        (folder.ends_with("lists") || file.starts_with("lists-")).then_some(Part::ItemList)
    }
}

fn read_archive(bytes: &[u8], into: &mut Collector) -> Result<()> {
    let mut archive = Archive::open(bytes)?;
    let mut files: Vec<(Part, String, usize)> = Vec::new();
    for (at, name) in archive.names() {
        match Part::of(name) {
            Some(part) => files.push((part, name.clone(), *at)),
            None => into.other(name),
        }
    }
    files.sort();
    for (part, name, at) in files {
        let bytes = archive.unpack(at)?;
        let count = match part {
            Part::Table(_) | Part::List => {
                let kind = Kind::of_file(&name, &bytes);
                table::read(&bytes, &name, kind, part == Part::List, into)
            }
            Part::OtherTable => {
                match table::read(&bytes, &name, Kind::of_file(&name, &bytes), false, into) {
                    // A table of something else.
                    Err(Error::Invalid(_)) if !into.is_full() => {
                        into.other(&name);
                        continue;
                    }
                    count => count,
                }
            }
            Part::Items | Part::ItemList => {
                trakt::read(&bytes, &name, part == Part::ItemList, into)
            }
        };
        match count {
            Ok(count) => into.file(&name, count),
            Err(error) if into.is_full() => return Err(error),
            Err(error) => into.problem(say::file_bad(name, why(error))),
        }
    }
    Ok(())
}
