//! A file of unknown form: a zip archive, JSON or CSV.

use super::{
    answers::Answers,
    archive::{Archive, is_archive},
    collect::Collector,
    day::{self, Days},
    group::{Group, Mapped, Question},
    items::{self, Objects},
    row::{ListRow, why},
    sheet::Sheet,
    table,
};
use crate::{
    Error, Result,
    words::{Message, say},
};
use jiff::tz::TimeZone;
use serde_json::Value;

/// What was read from a file.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The films, each once.
    pub rows: Vec<ListRow>,
    /// What the columns of its files became.
    pub mapped: Vec<Mapped>,
    /// What only the sender knows. Until it is answered, nothing may be imported.
    pub questions: Vec<Question>,
    /// The zone in which times became days, if there are times.
    pub zone: Option<String>,
    /// The names of the files that were read, with the number of their rows.
    pub files: Vec<(String, usize)>,
    /// The names of the files of an archive that are not read.
    pub others: Vec<String>,
    /// The number of episodes and other rows that are neither film nor series.
    pub no_films: usize,
    /// The number of rows on what its user won't go on with.
    pub dropped: usize,
    /// What could not be read, by file and line.
    pub problems: Vec<Message>,
    /// The number of problems beyond those.
    pub more_problems: usize,
}

/// Reads the films of a file, as its sender says.
///
/// # Errors
/// [`Error::Invalid`] if the file is nothing that is read, or is too large, or the zone is unknown.
pub fn read(name: &str, bytes: &[u8], answers: &Answers) -> Result<Reading> {
    let name = if name.is_empty() {
        &say::the_file().plain()
    } else {
        name
    };
    let zone = match answers.zone.as_deref().filter(|zone| !zone.is_empty()) {
        Some(name) => day::zone(name).ok_or_else(|| Error::Invalid(say::zone_unknown(name)))?,
        None => TimeZone::UTC,
    };
    let mut reader = Reader {
        answers,
        zone,
        sheets: Vec::new(),
        groups: Vec::new(),
        jsons: Vec::new(),
        objects: Vec::new(),
        files: Vec::new(),
        others: Vec::new(),
        into: Collector::default(),
    };
    if is_archive(bytes) {
        reader.archive(bytes)?;
    } else if is_json(bytes) {
        reader.json(name, bytes.to_vec(), false)?;
    } else {
        reader.sheet(Sheet::open(name, bytes, false)?)?;
    }
    reader.end()
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
    /// Films as JSON, not in a list of the user's own.
    Items,
    /// A list of the user's own at Trakt.
    ItemList,
}

/// The tables of Letterboxd, in the order in which what they say of a film is added.
const TABLES: [&str; 6] = [
    "watched.csv",
    "diary.csv",
    "reviews.csv",
    "ratings.csv",
    "likes/films.csv",
    "watchlist.csv",
];

/// Parts of the names of Trakt's files without films.
const WITHOUT_FILMS: [&str; 6] = [
    "comments",
    "collection",
    "hidden",
    "profile",
    "settings",
    "-lists",
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
        let is_removed = ["deleted", "orphaned", "likes"].contains(&folder);
        if name.ends_with(".csv") {
            return match folder {
                "lists" => Some(Part::List),
                _ if !is_removed && !["profile.csv", "comments.csv"].contains(&file) => {
                    Some(Part::OtherTable)
                }
                _ => None,
            };
        }
        if !name.ends_with(".json") || is_of(&WITHOUT_FILMS) {
            return None;
        }
        let is_list = folder.ends_with("lists") || file.starts_with("lists-");
        match is_list && !is_of(&["watched", "history", "ratings", "watchlist"]) {
            true => Some(Part::ItemList),
            false => Some(Part::Items),
        }
    }
}

/// A file of JSON.
struct Json {
    name: String,
    bytes: Vec<u8>,
    is_list: bool,
}

/// Reads files: first it looks through all of them, then it decides what their columns become, then it reads them so.
struct Reader<'a> {
    answers: &'a Answers,
    zone: TimeZone,
    /// The tables with their groups.
    sheets: Vec<(usize, Sheet)>,
    groups: Vec<Group>,
    jsons: Vec<Json>,
    objects: Vec<Objects>,
    files: Vec<(String, usize)>,
    others: Vec<String>,
    into: Collector,
}

impl Reader<'_> {
    fn archive(&mut self, bytes: &[u8]) -> Result<()> {
        let mut archive = Archive::open(bytes)?;
        let mut files: Vec<(Part, String, usize)> = Vec::new();
        for (at, name) in archive.names() {
            match Part::of(name) {
                Some(part) => files.push((part, name.clone(), *at)),
                None => self.others.push(name.clone()),
            }
        }
        files.sort();
        for (part, name, at) in files {
            let bytes = archive.unpack(at)?;
            let is_list = matches!(part, Part::List | Part::ItemList);
            let done = match part {
                Part::Items | Part::ItemList => self.json(&name, bytes, is_list),
                _ => Sheet::open(&name, &bytes, is_list).and_then(|sheet| self.sheet(sheet)),
            };
            if let Err(error) = done {
                self.into.problem(say::file_bad(name.as_str(), why(error)));
            }
        }
        Ok(())
    }

    fn sheet(&mut self, sheet: Sheet) -> Result<()> {
        let new = Group::of(&sheet, self.answers);
        let known = self.groups.iter().position(|group| group.has(&new));
        let group = known.unwrap_or_else(|| {
            self.groups.push(new);
            self.groups.len() - 1
        });
        let rows = self.groups[group].look(&sheet)?;
        self.files.push((sheet.name.clone(), rows));
        self.sheets.push((group, sheet));
        Ok(())
    }

    fn json(&mut self, name: &str, bytes: Vec<u8>, is_list: bool) -> Result<()> {
        let (mut count, mut others, mut is_known) = (0, Vec::new(), false);
        items::each(&bytes, name, |item| {
            count += 1;
            let Some(format) = items::format_of(&item) else {
                // Whole only where nothing else is: a file of a known format has other objects too.
                if !is_known {
                    others.push(item);
                }
                return Ok(());
            };
            (is_known, others) = (true, Vec::new());
            let own = self
                .objects
                .iter()
                .position(|objects| objects.format.name == format.name);
            let own = own.unwrap_or_else(|| {
                self.objects.push(Objects::new(format));
                self.objects.len() - 1
            });
            let objects = &mut self.objects[own];
            if !objects.mapped.files.iter().any(|file| file == name) {
                objects.mapped.files.push(name.to_owned());
            }
            objects.look(&item);
            Ok(())
        })?;
        if is_known || count == 0 {
            self.files.push((name.to_owned(), count));
            self.jsons.push(Json {
                name: name.to_owned(),
                bytes,
                is_list,
            });
            return Ok(());
        }
        let csv = items::as_csv(&others)?;
        self.sheet(Sheet::open(name, &csv, is_list)?)
    }

    /// Whether a table is one of something else: in an archive, one without a title.
    fn is_other(&self, group: &Group) -> bool {
        let has_films =
            group.format.is_some() || !group.questions(self.answers).contains(&Question::Title);
        !has_films && self.sheets.len() + self.jsons.len() > 1
    }

    fn end(mut self) -> Result<Reading> {
        for number in 0..self.groups.len() {
            self.groups[number].decide(number, self.answers);
        }
        let first = self.groups.len();
        for (at, objects) in self.objects.iter_mut().enumerate() {
            objects.decide(first + at, self.answers);
        }
        let mut questions: Vec<Question> = Vec::new();
        let mut has_times = self.objects.iter().any(|objects| objects.has_times);
        for group in self.groups.iter().filter(|group| !self.is_other(group)) {
            has_times |= group.has_times();
            for question in group.questions(self.answers) {
                if !questions.contains(&question) {
                    questions.push(question);
                }
            }
        }
        self.read_sheets()?;
        self.read_jsons()?;
        let others = self.groups.iter().map(|group| self.is_other(group));
        let others: Vec<bool> = others.collect();
        let mapped = self.groups.into_iter().map(|group| group.mapped);
        let mapped = mapped.chain(self.objects.into_iter().map(|objects| objects.mapped));
        let mut into = self.into;
        let is_empty = self.files.is_empty() && into.problems.is_empty();
        if is_empty {
            return Err(Error::Invalid(say::archive_no_list()));
        }
        for ((group, sheet), _) in self.sheets.iter().zip(&self.files) {
            if others[*group] {
                self.others.push(sheet.name.clone());
            }
        }
        let is_read = |(name, _): &(String, usize)| !self.others.contains(name);
        Ok(Reading {
            rows: into.films(),
            mapped: mapped.collect(),
            questions,
            zone: has_times.then(|| {
                self.answers
                    .zone
                    .clone()
                    .filter(|zone| !zone.is_empty())
                    .unwrap_or_else(|| "UTC".to_owned())
            }),
            files: self
                .files
                .iter()
                .filter(|file| is_read(file))
                .cloned()
                .collect(),
            others: self.others.clone(),
            no_films: into.no_films,
            dropped: into.dropped,
            problems: into.problems,
            more_problems: into.more_problems,
        })
    }

    fn read_sheets(&mut self) -> Result<()> {
        for (group, sheet) in &self.sheets {
            let group = &self.groups[*group];
            if self.is_other(group) || group.questions(self.answers).contains(&Question::Title) {
                continue;
            }
            let days = Days {
                zone: self.zone.clone(),
                is_utc: group.format.is_some_and(|(table, _)| table.is_utc),
                is_day_first: group.is_day_first(self.answers),
            };
            table::read(sheet, group, &days, self.answers, &mut self.into)?;
        }
        Ok(())
    }

    fn read_jsons(&mut self) -> Result<()> {
        let days = Days {
            zone: self.zone.clone(),
            is_utc: true,
            is_day_first: None,
        };
        let (objects, into) = (&self.objects, &mut self.into);
        for Json {
            name,
            bytes,
            is_list,
        } in &self.jsons
        {
            let mut count = 0;
            items::each(bytes, name, |item: Value| {
                count += 1;
                let format = items::format_of(&item).map(|format| format.name);
                let own = objects
                    .iter()
                    .find(|objects| Some(objects.format.name) == format);
                match own {
                    Some(own) => own.read(item, (name, count), &days, *is_list, into),
                    None => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}
