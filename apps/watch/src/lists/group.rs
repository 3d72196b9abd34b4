//! Files with the same columns, and what each column becomes. The preview shows it, and the import reads nothing else.

use super::{
    answers::{Answers, Kind},
    day,
    formats::{self, File, Rows, Table},
    meaning::Meaning,
    sheet::{Sheet, field},
};
use crate::{
    Result,
    words::{Message, say},
};
use csv::StringRecord;
use std::collections::{BTreeSet, HashSet};

/// Rows that are shown as samples.
pub const SAMPLES: usize = 3;

/// Characters of a sample.
const SAMPLE_CHARACTERS: usize = 80;

/// People of one account.
const PROFILES_MAX: usize = 20;

/// A column, and what it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What it becomes.
    pub meaning: Meaning,
    /// What it becomes if its sender doesn't say otherwise.
    pub usual: Meaning,
    /// Its fields in the first rows.
    pub samples: Vec<String>,
    /// Whether a value of the column proved the scale of its ratings.
    pub is_proved: bool,
}

/// Files with the same columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The site whose format it is; `None` for an unknown one.
    pub format: Option<&'static str>,
    /// The names of the files.
    pub files: Vec<String>,
    /// What rows are, where no column says so.
    pub rows: Kind,
    /// The columns.
    pub columns: Vec<Column>,
    /// Whether columns can only be read as they are, or not.
    pub is_fixed: bool,
}

/// Something that only the sender knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which column has the title.
    Title,
    /// Of how many a column's ratings are.
    Scale(String),
    /// Whether the day comes first, with a day of the file.
    DayFirst(String),
    /// Whose rows are meant, of these.
    Profile(Vec<String>),
}

impl Question {
    /// The question in words.
    pub fn words(&self) -> Message {
        match self {
            Question::Title => say::ask_title(),
            Question::Scale(column) => say::ask_scale(column.as_str()),
            Question::DayFirst(day) => say::ask_day_first(day.as_str()),
            Question::Profile(_) => say::ask_profile(),
        }
    }
}

/// What is seen in the fields of a column.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    max: f64,
    /// A day such as `5/1/2024`.
    slashed: Option<String>,
    is_day_first: bool,
    is_month_first: bool,
    /// Whether times have a zone, or are in that of the file.
    pub has_times: bool,
    values: BTreeSet<String>,
}

impl Seen {
    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Ok(number) = text.replace(',', ".").parse::<f64>() {
            self.max = self.max.max(number);
        }
        if let Some((first, second)) = day::slashed(text) {
            self.slashed.get_or_insert_with(|| text.to_owned());
            self.is_day_first |= first > 12;
            self.is_month_first |= second > 12;
        }
        self.has_times |= text.contains(':');
        if self.values.len() <= PROFILES_MAX {
            self.values.insert(text.to_owned());
        }
    }

    /// The scale of ratings with this greatest value: a value above five proves that it isn't five.
    fn scale(&self, meaning: Meaning) -> Meaning {
        let mut scales = Meaning::RATINGS.iter().filter(|(_, max)| self.max <= *max);
        match meaning {
            Meaning::Rating if self.max <= 5.0 => Meaning::Rating,
            Meaning::Rating | Meaning::Rating5 => {
                scales.next().map_or(meaning, |(scale, _)| *scale)
            }
            other => other,
        }
    }
}

/// Files with the same header and the same rows, before they are read.
pub struct Group {
    /// The format with its file.
    pub format: Option<(&'static Table, &'static File)>,
    /// What is said of it.
    pub mapped: Mapped,
    /// The series of which titles are episodes.
    pub shows: HashSet<String>,
    seen: Vec<Seen>,
    is_list: bool,
}

impl Group {
    /// The group of a file.
    pub fn of(sheet: &Sheet, answers: &Answers) -> Self {
        let format = formats::of_header(&sheet.header);
        let meanings = match format {
            Some((table, file)) => {
                let meaning = |name: &String| table.meaning(file, name).unwrap_or(Meaning::Unread);
                sheet.header.iter().map(meaning).collect()
            }
            None => formats::suggested(&sheet.header),
        };
        let column = |(name, meaning): (&String, Meaning)| Column {
            name: name.clone(),
            meaning,
            usual: meaning,
            samples: Vec::new(),
            is_proved: false,
        };
        Group {
            mapped: Mapped {
                format: format.map(|(table, _)| table.name),
                files: Vec::new(),
                rows: answers
                    .rows
                    .unwrap_or_else(|| rows_of(format.map(|(_, file)| file.rows), &sheet.name)),
                columns: sheet.header.iter().zip(meanings).map(column).collect(),
                is_fixed: false,
            },
            format,
            shows: HashSet::new(),
            seen: vec![Seen::default(); sheet.header.len()],
            is_list: sheet.is_list,
        }
    }

    /// Whether a file has the same columns and rows.
    pub fn has(&self, other: &Group) -> bool {
        let names = |group: &Group| {
            group
                .mapped
                .columns
                .iter()
                .map(|column| column.name.clone())
                .collect::<Vec<_>>()
        };
        self.is_list == other.is_list
            && self.mapped.rows == other.mapped.rows
            && names(self) == names(other)
    }

    /// Looks through a file, before it is decided what its columns become. Returns the number of its rows.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if it is no CSV.
    pub fn look(&mut self, sheet: &Sheet) -> Result<usize> {
        self.mapped.files.push(sheet.name.clone());
        let has_episode_titles = self
            .format
            .is_some_and(|(table, _)| table.has_episode_titles);
        sheet.rows(|_, record| {
            let places = self.places(record);
            for (at, place) in places.into_iter().enumerate() {
                let text = place.map_or("", |place| field(record, place));
                self.seen[at].add(text);
                let column = &mut self.mapped.columns[at];
                if column.samples.len() < SAMPLES {
                    column.samples.push(sample(text));
                }
                if has_episode_titles && column.meaning == Meaning::Title {
                    self.shows.extend(formats::show_of(text).map(str::to_owned));
                }
            }
            Ok(())
        })
    }

    /// The place of each column in a row, which may be a short one.
    pub fn places(&self, record: &StringRecord) -> Vec<Option<usize>> {
        let columns = &self.mapped.columns;
        let short = self.format.map_or(&[][..], |(_, file)| file.short);
        if short.is_empty() || record.len() != short.len() || record.len() >= columns.len() {
            return (0..columns.len()).map(Some).collect();
        }
        let place = |column: &Column| {
            short
                .iter()
                .position(|name| name.eq_ignore_ascii_case(&column.name))
        };
        columns.iter().map(place).collect()
    }

    /// Decides what the columns become. Of several columns with one meaning the first one is read.
    pub fn decide(&mut self, number: usize, answers: &Answers) {
        let mut taken = HashSet::new();
        for (at, (column, seen)) in self.mapped.columns.iter_mut().zip(&self.seen).enumerate() {
            let chosen = answers.meaning(number, at, &column.name);
            let meaning = seen.scale(chosen.unwrap_or(column.meaning));
            column.is_proved = meaning != chosen.unwrap_or(column.meaning);
            column.meaning = meaning;
            if meaning != Meaning::Unread && !taken.insert(meaning) {
                column.meaning = Meaning::Unread;
            }
        }
    }

    /// What only the sender knows.
    pub fn questions(&self, answers: &Answers) -> Vec<Question> {
        let columns = || self.mapped.columns.iter().zip(&self.seen);
        let mut questions = Vec::new();
        if !columns().any(|(column, _)| column.meaning == Meaning::Title) {
            questions.push(Question::Title);
        }
        let scales =
            columns().filter(|(column, seen)| column.meaning == Meaning::Rating && seen.max > 0.0);
        questions.extend(scales.map(|(column, _)| Question::Scale(column.name.clone())));
        if self.is_day_first(answers).is_none() {
            let day = self.days().find_map(|seen| seen.slashed.clone());
            questions.extend(day.map(Question::DayFirst));
        }
        let profiles = columns().find(|(column, _)| column.meaning == Meaning::Profile);
        if let Some((_, seen)) = profiles
            && seen.values.len() > 1
            && !answers
                .profile
                .as_ref()
                .is_some_and(|name| seen.values.contains(name))
        {
            questions.push(Question::Profile(seen.values.iter().cloned().collect()));
        }
        questions
    }

    fn days(&self) -> impl Iterator<Item = &Seen> {
        let columns = self.mapped.columns.iter().zip(&self.seen);
        columns
            .filter(|(column, _)| column.meaning.is_day())
            .map(|(_, seen)| seen)
    }

    /// Whether the day comes before the month: a number above twelve proves it.
    pub fn is_day_first(&self, answers: &Answers) -> Option<bool> {
        let is_day_first = self.days().any(|seen| seen.is_day_first);
        let is_month_first = self.days().any(|seen| seen.is_month_first);
        match (is_day_first, is_month_first) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => answers.is_day_first,
        }
    }

    /// Whether a column that is read has times.
    pub fn has_times(&self) -> bool {
        self.days().any(|seen| seen.has_times)
    }
}

/// What the rows of a file are. The names are those of Letterboxd's export.
fn rows_of(rows: Option<Rows>, name: &str) -> Kind {
    match rows {
        Some(Rows::Watched) => return Kind::Watched,
        Some(Rows::ByName) => {}
        _ => return Kind::ToWatch,
    }
    let name = name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let stem = name.strip_suffix(".csv").unwrap_or(&name);
    // Browsers number a file that is there already: "watched (1).csv".
    let letters = stem.trim_end_matches(|c: char| !c.is_alphabetic());
    match ["watched", "films", "likes", "ratings"].contains(&letters) {
        true => Kind::Watched,
        false => Kind::ToWatch,
    }
}

/// The beginning of a field, on one line.
pub fn sample(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SAMPLE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
