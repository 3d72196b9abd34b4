//! Lists as CSV, exported by Letterboxd, IMDb, this site or a spreadsheet.

use super::{
    encoding::{decoded, delimiter},
    guard::unguarded,
    note,
    progress::Progress,
    row::{Collector, ListRow, Said, why},
};
use crate::{
    Error, Result, date,
    db::{
        entries::{NOTE_CHARACTERS_MAX, tags},
        films::{Facts, Kind as FilmKind, MINUTES},
    },
    films::source::imdb_number,
    words::say,
};

/// Properties of all rows of a file, which its columns do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// They are to be watched, unless a rating or a day says that they were.
    #[default]
    ToWatch,
    /// They were watched.
    Watched,
}

impl Kind {
    /// What a file of this name holds, if it is one of Letterboxd's: the columns of its `watched.csv`, `likes/films.csv` and
    /// `watchlist.csv` are the same.
    pub fn of_file(name: &str, bytes: &[u8]) -> Self {
        let header = decoded(
            bytes
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default(),
        );
        if !header.contains("Letterboxd URI") {
            return Kind::ToWatch;
        }
        let name = name
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let stem = name.strip_suffix(".csv").unwrap_or(&name);
        // Browsers number a file that is there already: "watched (1).csv".
        let letters = stem.trim_end_matches(|c: char| !c.is_alphabetic());
        let watched = ["watched", "films", "likes", "diary", "ratings", "reviews"];
        match watched.contains(&letters) {
            true => Kind::Watched,
            false => Kind::ToWatch,
        }
    }
}

/// The positions of the columns. Names are those of Letterboxd (`Name`), IMDb (`Title`) and this application's export.
struct Columns {
    title: usize,
    original: Option<usize>,
    year: Option<usize>,
    imdb: Option<usize>,
    /// The address of the film at Letterboxd. In its diary and reviews it is that of the log.
    address: Option<usize>,
    /// IMDb's type of a title.
    title_type: Option<usize>,
    kind: Option<usize>,
    end_year: Option<usize>,
    seasons: Option<usize>,
    seasons_watched: Option<usize>,
    genres: Option<usize>,
    directors: Option<usize>,
    minutes: Option<usize>,
    rating: Option<usize>,
    /// The highest rating is five stars at Letterboxd and ten at IMDb.
    rating_factor: f64,
    rated_on: Option<usize>,
    watched_on: Option<usize>,
    earlier: Option<usize>,
    watched: Option<usize>,
    priority: Option<usize>,
    public: Option<usize>,
    note: Option<usize>,
    tags: Option<usize>,
}

/// Reads a file into the collector, and returns the number of its rows. A line that can't be read is a problem.
///
/// # Errors
/// [`Error::Invalid`] if the file is no list, or has too many films.
pub fn read(
    bytes: &[u8],
    name: &str,
    kind: Kind,
    is_list: bool,
    into: &mut Collector,
) -> Result<usize> {
    let text = decoded(bytes);
    let is_letterboxd_list = text.starts_with("Letterboxd list export");
    let first = text.lines().next().unwrap_or_default();
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .delimiter(delimiter(first))
        .from_reader(text.as_bytes());
    let (mut columns, mut count, mut before) = (None, 0, None);
    let mut lines = Lines::new(&text);
    for record in reader.records() {
        let record = record.map_err(bad)?;
        let Some(columns) = &columns else {
            // Lines on the list itself come first.
            if !is_letterboxd_list || record.get(0) == Some("Position") {
                columns = Some(Columns::of(&record)?);
            } else {
                before = Some(record);
            }
            continue;
        };
        count += 1;
        let line = lines.of(&record);
        match row(&record, columns, kind, is_list) {
            Ok(Some(Row {
                mut row,
                identity,
                is_cut,
            })) => {
                row.said.tags.extend(list_name(before.as_ref()));
                if into.add(row, identity)? || is_cut {
                    into.problem(say::line_note_cut(name, line, NOTE_CHARACTERS_MAX));
                }
            }
            Ok(None) => into.skip(),
            Err(error) => into.problem(say::line_bad(name, line, why(error))),
        }
    }
    match columns {
        Some(_) => Ok(count),
        None => Err(no_header()),
    }
}

/// The name of a list of Letterboxd, which stands in the line before its films.
fn list_name(line: Option<&csv::StringRecord>) -> Vec<String> {
    let name = line.and_then(|line| line.get(1)).unwrap_or_default();
    tags_of(&name.replace(',', " "))
}

/// Counts lines. The reader's own number is one less where lines end with a carriage return and a line feed.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let (text, at, line) = (text.as_bytes(), 0, 1);
        Lines { text, at, line }
    }

    /// The line at which a record begins, which comes after those before.
    fn of(&mut self, record: &csv::StringRecord) -> usize {
        let start = record
            .position()
            .map_or(0, |position| position.byte() as usize);
        let rest = self.text.get(start..).unwrap_or_default();
        let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let start = start + ends.count();
        let passed = self.text.get(self.at..start).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = start;
        self.line
    }
}

fn bad(error: csv::Error) -> Error {
    Error::Invalid(say::csv_bad(error.to_string()))
}

fn no_header() -> Error {
    Error::Invalid(say::csv_no_header())
}

impl Columns {
    fn of(header: &csv::StringRecord) -> Result<Self> {
        let at = |name: &str| {
            header
                .iter()
                .position(|field| field.trim().eq_ignore_ascii_case(name))
        };
        let is_imdb = at("Const").is_some();
        let is_log = at("Rewatch").is_some();
        Ok(Columns {
            title: at("Name").or(at("Title")).ok_or_else(no_header)?,
            original: at("Original Title"),
            year: at("Year"),
            imdb: at("Const").or(at("imdbID")),
            address: at("Letterboxd URI").or(at("URL")).filter(|_| !is_log),
            title_type: at("Title Type"),
            kind: at("Kind"),
            end_year: at("Last Year"),
            seasons: at("Seasons"),
            seasons_watched: at("Seasons Watched"),
            genres: at("Genres"),
            directors: at("Directors"),
            minutes: at("Runtime (mins)"),
            rating: match is_imdb {
                true => at("Your Rating").or(at("You rated")),
                false => at("Rating"),
            },
            rating_factor: if is_imdb { 1.0 } else { 2.0 },
            rated_on: at("Date Rated"),
            watched_on: at("Watched Date"),
            earlier: at("Watched Before"),
            watched: at("Watched"),
            priority: at("Priority"),
            public: at("Public"),
            note: at("Note").or(at("Review")).or(at("Description")),
            tags: at("Tags"),
        })
    }
}

/// A row with what tells its film from others of the same title and year.
struct Row {
    row: ListRow,
    identity: Option<String>,
    /// Whether its note was too long.
    is_cut: bool,
}

/// The kind of IMDb's type of a title; `None` for episodes and games. Its older exports have names of two words.
fn kind_of(title_type: &str) -> Option<FilmKind> {
    let name = title_type.to_lowercase().replace([' ', '-'], "");
    match name.as_str() {
        "movie" | "featurefilm" | "documentary" | "tvmovie" | "short" | "shortfilm" | "video"
        | "tvspecial" | "tvshort" => Some(FilmKind::Film),
        "tvseries" | "tvminiseries" | "miniseries" => Some(FilmKind::Series),
        _ => None,
    }
}

/// The fields of a row.
#[derive(Clone, Copy)]
struct Fields<'a> {
    record: &'a csv::StringRecord,
    columns: &'a Columns,
}

impl<'a> Fields<'a> {
    /// A field that is not empty.
    fn text(self, column: Option<usize>) -> Option<&'a str> {
        let text = self.record.get(column?)?;
        Some(unguarded(text.trim())).filter(|text| !text.is_empty())
    }

    /// A field with a number.
    fn number<T: std::str::FromStr>(self, column: Option<usize>) -> Result<Option<T>> {
        self.text(column).map(number).transpose()
    }

    /// A field with *yes* or *no*.
    fn yes(self, column: Option<usize>) -> Result<Option<bool>> {
        self.text(column).map(yes).transpose()
    }

    /// Names with commas between them.
    fn names(self, column: Option<usize>) -> Vec<String> {
        let names = self.text(column).unwrap_or_default().split(',');
        names.map(str::to_owned).collect()
    }

    /// Whether it is a film or a series; `None` if it is neither.
    fn kind(self) -> Option<FilmKind> {
        if let Some(title_type) = self.text(self.columns.title_type) {
            return kind_of(title_type);
        }
        let kind = self.text(self.columns.kind).map(str::to_lowercase);
        Some(kind.and_then(|kind| kind.parse().ok()).unwrap_or_default())
    }

    fn facts(self, kind: FilmKind) -> Result<Facts> {
        let columns = self.columns;
        let minutes = self.text(columns.minutes);
        let minutes = minutes.and_then(|minutes| minutes.parse().ok());
        let seasons: Option<u16> = self.number(columns.seasons)?;
        let facts = Facts {
            kind,
            title: self
                .text(Some(columns.title))
                .unwrap_or_default()
                .to_owned(),
            original: self.text(columns.original).map(str::to_owned),
            year: self.number(columns.year)?,
            end_year: self.number(columns.end_year)?,
            seasons: vec![0; seasons.unwrap_or_default().into()],
            people: self.names(columns.directors),
            genres: self.names(columns.genres),
            minutes: minutes.filter(|minutes| MINUTES.contains(minutes)),
            imdb: self.text(columns.imdb).and_then(imdb_number),
        };
        facts.checked()
    }

    /// What the row says of the entry, and whether its note was too long.
    fn said(self, kind: Kind) -> Result<(Said, bool)> {
        let columns = self.columns;
        let rating: Option<f64> = self.number(columns.rating)?;
        let rating = rating.map(|rating| (rating * columns.rating_factor).round() as i64);
        let day = self
            .text(columns.watched_on)
            .or(self.text(columns.rated_on));
        let watched = self.yes(columns.watched)?;
        let has_said = rating.is_some() || day.is_some();
        let seasons: Option<u32> = self.number(columns.seasons_watched)?;
        let progress = match (seasons, watched) {
            // Where it isn't known how many there are, the file says how many were watched.
            (Some(seasons), Some(true)) => Progress::of_all_seasons(seasons),
            (Some(seasons), _) => Progress::of_seasons(seasons),
            (None, _) => Progress::default(),
        };
        let earlier = self.text(columns.earlier).unwrap_or_default();
        let (note, is_cut) = note::cut(self.text(columns.note).unwrap_or_default());
        let said = Said {
            priority: self.number(columns.priority)?,
            public: self.yes(columns.public)?,
            watched: watched.unwrap_or(kind == Kind::Watched) || has_said,
            watched_on: day.map(day_of).transpose()?,
            earlier: earlier
                .split_whitespace()
                .map(day_of)
                .collect::<Result<_>>()?,
            progress,
            rating: rating.filter(|rating| *rating != 0),
            note,
            tags: tags_of(self.text(columns.tags).unwrap_or_default()),
        };
        Ok((said, is_cut))
    }
}

/// Parses a row; `None` if it is neither a film nor a series.
fn row(
    record: &csv::StringRecord,
    columns: &Columns,
    kind: Kind,
    is_list: bool,
) -> Result<Option<Row>> {
    let fields = Fields { record, columns };
    let Some(film_kind) = fields.kind() else {
        return Ok(None);
    };
    let (said, is_cut) = fields.said(kind)?;
    let facts = fields.facts(film_kind)?;
    said.state(&facts)?;
    let address = fields.text(columns.address).map(str::to_owned);
    let identity = facts.imdb.map(|imdb| format!("imdb {imdb}")).or(address);
    let is_listed_only = is_list && !said.watched;
    Ok(Some(Row {
        row: ListRow {
            facts,
            said,
            is_listed_only,
        },
        identity,
        is_cut,
    }))
}

/// The tags of a field, but for those that can't be the name of a list here.
fn tags_of(text: &str) -> Vec<String> {
    let is_fine = |tag: &String| tags::checked(vec![tag.clone()]).is_ok();
    let mut tags = tags::split(text);
    tags.retain(is_fine);
    tags.truncate(tags::TAGS_MAX);
    tags::checked(tags).unwrap_or_default()
}

/// A day as `2026-01-31` or `2026-1-31`, also before a time, or as spreadsheets of some countries write it, `31.1.2026`. Of a
/// text such as `1/5/2026` nobody knows which number is the month.
fn day_of(text: &str) -> Result<String> {
    let date = match text.split_once(['T', ' ']) {
        Some((date, time)) if is_time(time) => date,
        _ => text,
    };
    let by = |separator| date.split(separator).map(str::trim).collect::<Vec<_>>();
    let day = match (&by('-')[..], &by('.')[..]) {
        ([year, month, day], _) | (_, [day, month, year]) => {
            format!("{year}-{month:0>2}-{day:0>2}")
        }
        _ => date.to_owned(),
    };
    match date::is_day(&day) {
        true => Ok(day),
        false => Err(Error::Invalid(say::csv_no_day(text))),
    }
}

/// Whether a text begins as a time of day does: `20:15`.
fn is_time(text: &str) -> bool {
    let mut parts = text.split(':');
    let is_number =
        |part: Option<&str>| part.is_some_and(|part| part.len() <= 2 && part.parse::<u8>().is_ok());
    is_number(parts.next())
        && parts
            .next()
            .is_some_and(|minutes| minutes.starts_with(|c: char| c.is_ascii_digit()))
}

/// A number. Spreadsheets of some countries write a comma before the fraction.
fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    let bad = |_| Error::Invalid(say::csv_no_number(text));
    text.replace(',', ".").parse().map_err(bad)
}

fn yes(text: &str) -> Result<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        _ => Err(Error::Invalid(say::csv_no_yes(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::row::Reading;

    fn reading(text: &[u8], kind: Kind) -> Result<Reading> {
        let mut collector = Collector::default();
        read(text, "list.csv", kind, false, &mut collector)?;
        Ok(collector.end())
    }

    fn rows(text: &[u8], kind: Kind) -> Vec<ListRow> {
        let reading = reading(text, kind).unwrap();
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
        reading.rows
    }

    #[test]
    fn letterboxd_lists_are_read() {
        let text = "\u{feff}Date,Name,Year,Letterboxd URI,Rating\n\
            2024-01-05,Alien,1979,https://boxd.it/1,4.5\n2024-01-06,\"Good, the Bad and the Ugly, The\",1966,https://boxd.it/2,\n";
        let rows = rows(text.as_bytes(), Kind::ToWatch);
        assert_eq!(
            (rows[0].facts.title.as_str(), rows[0].facts.year),
            ("Alien", Some(1979))
        );
        assert_eq!((rows[0].said.rating, rows[0].said.watched), (Some(9), true));
        assert_eq!((rows[1].said.rating, rows[1].said.watched), (None, false));
        let diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n\
            2024-01-06,Alien,1979,https://boxd.it/1,,,,2024-01-05\n";
        let rows = self::rows(diary.as_bytes(), Kind::ToWatch);
        assert_eq!(rows[0].said.watched_on.as_deref(), Some("2024-01-05"));
    }

    #[test]
    fn every_file_of_letterboxds_export_is_what_it_is_called() {
        let plain = "Date,Name,Year,Letterboxd URI\n2024-01-06,Alien,1979,https://boxd.it/1\n";
        let diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n2024-01-06,Alien,1979,u,4,,,2024-01-05\n";
        let reviews = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date\n2024-01-06,Alien,1979,u,4,,\"Good,\n\ngood\",,2024-01-05\n";
        let list = "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-06,For a winter,,u,\n\nPosition,Name,Year,URL,Description\n1,Alien,1979,u,\n";
        for (name, text, watched, watched_on, rating, note) in [
            ("watched.csv", plain, true, None, None, None),
            ("watched (2).csv", plain, true, None, None, None),
            ("likes/films.csv", plain, true, None, None, None),
            ("C:\\likes\\films.csv", plain, true, None, None, None),
            ("watchlist.csv", plain, false, None, None, None),
            ("", plain, false, None, None, None),
            (
                "films.csv",
                "Name,Year\nAlien,1979\n",
                false,
                None,
                None,
                None,
            ),
            (
                "ratings.csv",
                "Date,Name,Year,Letterboxd URI,Rating\n2024-01-06,Alien,1979,u,4\n",
                true,
                None,
                Some(8),
                None,
            ),
            ("diary.csv", diary, true, Some("2024-01-05"), Some(8), None),
            (
                "reviews.csv",
                reviews,
                true,
                Some("2024-01-05"),
                Some(8),
                Some("Good,\n\ngood"),
            ),
            ("for-a-winter.csv", list, false, None, None, None),
        ] {
            let rows = rows(text.as_bytes(), Kind::of_file(name, text.as_bytes()));
            let state = &rows[0].said;
            assert_eq!(
                (rows.len(), rows[0].facts.title.as_str(), rows[0].facts.year),
                (1, "Alien", Some(1979)),
                "{name}"
            );
            assert_eq!(
                (state.watched, state.watched_on.as_deref(), state.rating),
                (watched, watched_on, rating),
                "{name}"
            );
            assert_eq!(state.note.as_deref(), note, "{name}");
        }
    }

    #[test]
    fn imdb_lists_are_read_with_series_and_without_episodes() {
        let text = "Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,\
            Runtime (mins),Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated\n\
            1,tt0078748,2024-01-01,2024-01-01,,Alien,Alien,https://www.imdb.com/title/tt0078748,Movie,8.5,117,1979,\
            \"Horror, Sci-Fi\",1,1979-05-25,Ridley Scott,9,2024-01-05\n\
            2,tt0903747,2024-01-01,2024-01-01,,Breaking Bad,Breaking Bad,u,TV Series,9,1,2008,Drama,1,,,,\n\
            3,tt0959621,2024-01-01,2024-01-01,,Pilot,Pilot,u,TV Episode,9,1,2008,Drama,1,,,,\n\
            4,tt7366338,2024-01-01,2024-01-01,,Chernobyl,Chernobyl,u,TV Mini Series,9,330,2019,Drama,1,,,,\n";
        let rows = rows(text.as_bytes(), Kind::ToWatch);
        let kinds: Vec<FilmKind> = rows.iter().map(|row| row.facts.kind).collect();
        assert_eq!(kinds, [FilmKind::Film, FilmKind::Series, FilmKind::Series]);
        assert_eq!(
            (rows[0].facts.imdb, rows[0].said.rating),
            (Some(78_748), Some(9))
        );
        assert_eq!(rows[0].facts.genres, ["Horror", "Sci-Fi"]);
        assert_eq!(rows[0].said.watched_on.as_deref(), Some("2024-01-05"));
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for text in [
            "",
            "a,b\n1,2\n",
            "Letterboxd list export v7\nDate,Name\n1,2\n",
        ] {
            let error = reading(text.as_bytes(), Kind::ToWatch).unwrap_err();
            assert!(
                error.to_string().contains("neither Name nor Title"),
                "{error}"
            );
        }
        for (text, what) in [
            (
                "Name,Year\nAlien,soon\n",
                "list.csv, line 2: \"soon\" should be a number.",
            ),
            (
                "Name,Year\nJaws,1975\n,1979\n",
                "list.csv, line 3: A film needs a title",
            ),
            (
                "Name,Rating\nAlien,99\n",
                "list.csv, line 2: A rating is between",
            ),
            (
                "Name,Watched Date,Watched Before\nJaws,2024-01-05,2023-1-5 1/5/2022\n",
                "list.csv, line 2: \"1/5/2022\" should be a day, as 2026-01-31.",
            ),
            (
                "Name,Public\nAlien,perhaps\n",
                "list.csv, line 2: \"perhaps\" should be yes or no.",
            ),
            (
                &format!("Name,Note\nAlien,{}\n", "a".repeat(2001)),
                "list.csv, line 2: the note has more than 2,000",
            ),
        ] {
            let problems = reading(text.as_bytes(), Kind::ToWatch).unwrap().problems;
            assert!(
                problems.len() == 1 && problems[0].plain().starts_with(what),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn days_are_read_with_a_time_and_without_zeros_and_others_are_named() {
        for (text, expected) in [
            ("2024-01-05", Some("2024-01-05")),
            ("2024-1-5", Some("2024-01-05")),
            ("2024-01-05T20:15:00Z", Some("2024-01-05")),
            ("2024-01-05 20:15:00", Some("2024-01-05")),
            ("2024-01-05 9:15", Some("2024-01-05")),
            ("05.01.2024", Some("2024-01-05")),
            ("5. 1. 2024", Some("2024-01-05")),
            ("5.1.2024 20:15", Some("2024-01-05")),
            ("1/5/2024", None),
            ("2024/01/05", None),
            ("5.1.24", None),
            ("24-1-5", None),
            ("2024-02-30", None),
            ("2024-01-05 or later", None),
            ("2024-1-", None),
            ("soon", None),
        ] {
            let file = format!("Name,Watched Date\nAlien,{text}\n");
            let reading = reading(file.as_bytes(), Kind::ToWatch).unwrap();
            let day = reading
                .rows
                .first()
                .and_then(|row| row.said.watched_on.as_deref());
            assert_eq!(day, expected, "{text}");
            assert_eq!(
                reading.problems.is_empty(),
                expected.is_some(),
                "{text}: {:?}",
                reading.problems
            );
        }
    }

    #[test]
    fn spreadsheets_of_other_countries_are_read() {
        let text = b"Name;Year;Rating;Watched Date;Note\r\nDas Leben der Anderen;2006;4,5;31.1.2026;sch\xf6n; und lang\r\nLe Fabuleux Destin d'Am\xe9lie Poulain;2001;;;\r\n";
        let rows = rows(text, Kind::ToWatch);
        assert_eq!(rows[0].said.rating, Some(9));
        assert_eq!(rows[0].said.watched_on.as_deref(), Some("2026-01-31"));
        assert_eq!(rows[0].said.note.as_deref(), Some("schön"));
        assert_eq!(rows[1].facts.title, "Le Fabuleux Destin d'Amélie Poulain");
    }

    #[test]
    fn a_film_is_one_row_and_two_films_of_a_title_are_two() {
        let text = "Date,Name,Year,Letterboxd URI\n2024-01-06,Home,2008,u/1\n2024-01-06,Home,2008,u/2\n2024-01-07,Home,2008,u/1\n";
        assert_eq!(rows(text.as_bytes(), Kind::Watched).len(), 2);
        let text = "Name,Year,Note\nHome,2008,\nHome,2008,Good\nHome,2009,\n";
        let rows = rows(text.as_bytes(), Kind::Watched);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].said.note.as_deref(), Some("Good"));
    }

    #[test]
    fn the_description_of_a_list_may_have_an_empty_line() {
        let text = "Letterboxd list export v7\nDate,Name,Tags,URL,Description\n2024-01-06,For a winter,,u,\"Cold.\n\nVery cold.\"\n\n\
            Position,Name,Year,URL,Description\n1,Fargo,1996,u/1,Snow\n";
        let rows = rows(text.as_bytes(), Kind::ToWatch);
        assert_eq!((rows.len(), rows[0].facts.title.as_str()), (1, "Fargo"));
        assert_eq!(rows[0].said.note.as_deref(), Some("Snow"));
    }
}
