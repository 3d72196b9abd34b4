//! The rows of a list exported by Letterboxd, IMDb or this site.

use super::guard::unguarded;
use crate::{
    Error, Result, date,
    db::{entries::State, films::Facts},
    films::source::imdb_number,
    text,
};

/// Rows of a file.
const ROWS_MAX: usize = 20_000;

/// A row: which film, and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// The facts of the film.
    pub facts: Facts,
    /// The state of the entry.
    pub state: State,
}

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
    pub fn of_file(name: &str, text: &[u8]) -> Self {
        let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        if !String::from_utf8_lossy(header).contains("Letterboxd URI") {
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
    year: Option<usize>,
    imdb: Option<usize>,
    kind: Option<usize>,
    genres: Option<usize>,
    rating: Option<usize>,
    /// The highest rating is five stars at Letterboxd and ten at IMDb.
    rating_factor: f64,
    rated_on: Option<usize>,
    watched_on: Option<usize>,
    watched: Option<usize>,
    priority: Option<usize>,
    public: Option<usize>,
    note: Option<usize>,
}

/// The rows of a file.
///
/// # Errors
/// [`Error::Invalid`], naming the line.
pub fn rows(text: &[u8], kind: Kind) -> Result<Vec<ListRow>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let (text, lines_before) = after_preamble(text);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let columns = columns(reader.headers().map_err(bad)?)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(bad)?;
        let line = record.position().map_or(0, csv::Position::line) + lines_before;
        let named = |error| Error::Invalid(format!("Line {line}: {error}"));
        rows.extend(row(&record, &columns, kind).map_err(named)?);
        if rows.len() > ROWS_MAX {
            return Err(Error::Invalid(format!(
                "The file has more than {ROWS_MAX} films."
            )));
        }
    }
    Ok(rows)
}

/// The table of a list that Letterboxd exports, which comes after some lines on the list itself and an empty one; and how
/// many those are.
fn after_preamble(text: &[u8]) -> (&[u8], u64) {
    let ends = [&b"\n\n"[..], b"\r\n\r\n"];
    let end = ends.iter().filter_map(|end| {
        let at = text.windows(end.len()).position(|window| window == *end)?;
        Some(at + end.len())
    });
    match end.min() {
        Some(end) if text.starts_with(b"Letterboxd list export") => {
            let lines = text[..end].iter().filter(|byte| **byte == b'\n').count();
            (&text[end..], lines as u64)
        }
        _ => (text, 0),
    }
}

fn bad(error: csv::Error) -> Error {
    Error::Invalid(format!("This is no list as CSV: {error}."))
}

fn columns(header: &csv::StringRecord) -> Result<Columns> {
    let at = |name: &str| {
        header
            .iter()
            .position(|field| field.trim().eq_ignore_ascii_case(name))
    };
    let is_imdb = at("Const").is_some();
    let Some(title) = at("Name").or(at("Title")) else {
        return Err(Error::invalid(
            "This is no list as Letterboxd, IMDb or this site export it: the first line has neither Name nor Title.",
        ));
    };
    Ok(Columns {
        title,
        year: at("Year"),
        imdb: at("Const").or(at("imdbID")),
        kind: at("Title Type"),
        genres: at("Genres"),
        rating: if is_imdb {
            at("Your Rating")
        } else {
            at("Rating")
        },
        rating_factor: if is_imdb { 1.0 } else { 2.0 },
        rated_on: at("Date Rated"),
        watched_on: at("Watched Date"),
        watched: at("Watched"),
        priority: at("Priority"),
        public: at("Public"),
        note: at("Note").or(at("Review")),
    })
}

/// Parses a row; `None` if it is not a film.
fn row(record: &csv::StringRecord, columns: &Columns, kind: Kind) -> Result<Option<ListRow>> {
    let field = |column: Option<usize>| {
        column
            .and_then(|i| record.get(i))
            .map(|text| unguarded(text.trim()))
            .filter(|text| !text.is_empty())
    };
    let is_film = |kind: &str| {
        let kind = kind.to_lowercase().replace(' ', "");
        matches!(
            kind.as_str(),
            "movie" | "tvmovie" | "short" | "video" | "tvspecial" | "tvshort"
        )
    };
    if field(columns.kind).is_some_and(|kind| !is_film(kind)) {
        return Ok(None);
    }
    let title = field(Some(columns.title)).unwrap_or_default().to_owned();
    let year = field(columns.year).map(number::<i64>).transpose()?;
    let genres = field(columns.genres).unwrap_or_default().split(',');
    let rating = field(columns.rating).map(number::<f64>).transpose()?;
    let rating = rating.map(|rating| (rating * columns.rating_factor).round() as i64);
    let day = field(columns.watched_on).or(field(columns.rated_on));
    let is_watched = field(columns.watched)
        .map(yes)
        .transpose()?
        .unwrap_or(kind == Kind::Watched);
    let priority = field(columns.priority).map(number::<i64>).transpose()?;
    let state = State {
        priority: priority.unwrap_or(State::default().priority),
        public: field(columns.public).map(yes).transpose()?.unwrap_or(true),
        watched: is_watched || rating.is_some() || day.is_some(),
        watched_on: day.filter(|day| date::is_day(day)).map(str::to_owned),
        rating: rating.filter(|rating| *rating != 0),
        note: field(columns.note).map(str::to_owned),
    };
    let facts = Facts {
        title,
        year,
        people: Vec::new(),
        genres: genres.map(str::to_owned).collect(),
        minutes: None,
        imdb: field(columns.imdb).and_then(imdb_number),
    };
    Ok(Some(ListRow {
        facts: facts.checked()?,
        state: state.checked()?,
    }))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T> {
    let bad = |_| Error::Invalid(format!("\"{}\" should be a number.", text::isolated(text)));
    text.parse().map_err(bad)
}

fn yes(text: &str) -> Result<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        _ => Err(Error::Invalid(format!(
            "\"{}\" should be yes or no.",
            text::isolated(text)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letterboxd_lists_are_read() {
        let text = "\u{feff}Date,Name,Year,Letterboxd URI,Rating\n\
            2024-01-05,Alien,1979,https://boxd.it/1,4.5\n2024-01-06,\"Good, the Bad and the Ugly, The\",1966,https://boxd.it/2,\n";
        let rows = rows(text.as_bytes(), Kind::ToWatch).unwrap();
        assert_eq!(
            (rows[0].facts.title.as_str(), rows[0].facts.year),
            ("Alien", Some(1979))
        );
        assert_eq!(
            (rows[0].state.rating, rows[0].state.watched),
            (Some(9), true)
        );
        assert_eq!((rows[1].state.rating, rows[1].state.watched), (None, false));
        let diary = "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date\n\
            2024-01-06,Alien,1979,https://boxd.it/1,,,,2024-01-05\n";
        let rows = self::rows(diary.as_bytes(), Kind::ToWatch).unwrap();
        assert_eq!(rows[0].state.watched_on.as_deref(), Some("2024-01-05"));
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
            let rows = rows(text.as_bytes(), Kind::of_file(name, text.as_bytes())).unwrap();
            let state = &rows[0].state;
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
    fn imdb_lists_are_read_without_series() {
        let text = "Position,Const,Created,Modified,Description,Title,Original Title,URL,Title Type,IMDb Rating,\
            Runtime (mins),Year,Genres,Num Votes,Release Date,Directors,Your Rating,Date Rated\n\
            1,tt0078748,2024-01-01,2024-01-01,,Alien,Alien,https://www.imdb.com/title/tt0078748,Movie,8.5,117,1979,\
            \"Horror, Sci-Fi\",1,1979-05-25,Ridley Scott,9,2024-01-05\n\
            2,tt0903747,2024-01-01,2024-01-01,,Breaking Bad,Breaking Bad,u,TV Series,9,1,2008,Drama,1,,,,\n";
        let rows = rows(text.as_bytes(), Kind::ToWatch).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].facts.imdb, rows[0].state.rating),
            (Some(78_748), Some(9))
        );
        assert_eq!(rows[0].facts.genres, ["Horror", "Sci-Fi"]);
        assert_eq!(rows[0].state.watched_on.as_deref(), Some("2024-01-05"));
    }

    #[test]
    fn bad_files_are_named_by_line() {
        for (text, what) in [
            ("", "neither Name nor Title"),
            ("a,b\n1,2\n", "neither Name nor Title"),
            (
                "Name,Year\nAlien,soon\n",
                "Line 2: \"soon\" should be a number",
            ),
            ("Name,Year\n,1979\n", "Line 2: A film needs a title"),
            ("Name,Rating\nAlien,99\n", "Line 2: A rating is between"),
            (
                "Name,Public\nAlien,perhaps\n",
                "Line 2: \"perhaps\" should be yes or no",
            ),
        ] {
            let error = rows(text.as_bytes(), Kind::ToWatch)
                .unwrap_err()
                .to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(
            rows(b"Name\n\xff\n", Kind::ToWatch)
                .unwrap_err()
                .to_string()
                .contains("no list as CSV")
        );
    }
}
