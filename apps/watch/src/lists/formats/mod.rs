//! The formats of the sites from which lists come. A format is one file and one line in [`TABLES`] or [`ITEMS`].

mod imdb;
mod letterboxd;
mod letterboxd_import;
mod movary;
mod netflix;
mod own;
mod ryot;
mod simkl;
mod simkl_json;
mod tmdb;
mod trakt;
mod unknown;
mod watcharr;
mod yamtrack;

use super::{day::Days, meaning::Meaning, row::Found};
use crate::Result;
use serde_json::Value;

pub use netflix::{is_episode, show_of};
pub use unknown::suggested;

/// The formats of tables.
pub const TABLES: [&Table; 9] = [
    &own::OWN,
    &letterboxd::LETTERBOXD,
    &letterboxd_import::LETTERBOXD_IMPORT,
    &imdb::IMDB,
    &tmdb::TMDB,
    &movary::MOVARY,
    &yamtrack::YAMTRACK,
    &simkl::SIMKL,
    &netflix::NETFLIX,
];

/// The formats of JSON.
pub const ITEMS: [&Items; 4] = [
    &simkl_json::SIMKL,
    &trakt::TRAKT,
    &ryot::RYOT,
    &watcharr::WATCHARR,
];

/// What the rows of a file are, where no column says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Watched.
    Watched,
    /// To be watched.
    ToWatch,
    /// What the name of the file says: the columns of several files are the same.
    ByName,
}

/// What a row on an episode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episodes {
    /// Nothing that is kept, such as a rating of the episode.
    LeftOut,
    /// That the episode was watched.
    Watched,
}

/// A format of tables, which is recognised by the whole header: each column is one of the format's, and those of one of its files
/// are all there.
pub struct Table {
    /// The name of the site.
    pub name: &'static str,
    /// The columns of all its files and versions.
    pub columns: &'static [(&'static str, Meaning)],
    /// Its files.
    pub files: &'static [File],
    /// Whether times without a zone are in UTC.
    pub is_utc: bool,
    /// What rows on episodes say.
    pub episodes: Episodes,
    /// Whether an episode is only told by its title.
    pub has_episode_titles: bool,
    /// Whether titles that differ by their case are those of different films.
    pub is_exact: bool,
}

/// A file of a format.
pub struct File {
    /// The columns that it has in every version.
    pub needs: &'static [&'static str],
    /// What its rows are.
    pub rows: Rows,
    /// Columns with another meaning than in the other files.
    pub others: &'static [(&'static str, Meaning)],
    /// The columns of rows that have as many fields as these, fewer than the header.
    pub short: &'static [&'static str],
}

impl File {
    const fn new(rows: Rows, needs: &'static [&'static str]) -> Self {
        File {
            needs,
            rows,
            others: &[],
            short: &[],
        }
    }
}

impl Table {
    /// A format whose times are days or have zones, and whose rows on episodes are left out.
    const fn new(
        name: &'static str,
        columns: &'static [(&'static str, Meaning)],
        files: &'static [File],
    ) -> Self {
        Table {
            name,
            columns,
            files,
            is_utc: false,
            episodes: Episodes::LeftOut,
            has_episode_titles: false,
            is_exact: false,
        }
    }

    /// What a column becomes.
    pub fn meaning(&self, file: &File, column: &str) -> Option<Meaning> {
        let mut all = file.others.iter().chain(self.columns);
        let own = all.find(|(name, _)| name.eq_ignore_ascii_case(column.trim()));
        own.map(|(_, meaning)| *meaning)
    }
}

/// The format of a header and its file, of those with this header the one that needs most of it.
pub fn of_header(header: &[String]) -> Option<(&'static Table, &'static File)> {
    let has = |name: &str| {
        let fields = header.iter().map(|field| field.trim());
        fields
            .filter(|field| field.eq_ignore_ascii_case(name))
            .count()
            == 1
    };
    let files = TABLES
        .iter()
        .flat_map(|table| table.files.iter().map(move |file| (*table, file)));
    let is_whole = |(table, file): &(&Table, &File)| {
        let is_known =
            |column: &String| table.meaning(file, column).is_some() && has(column.trim());
        file.needs.iter().all(|name| has(name)) && header.iter().all(is_known)
    };
    files
        .filter(is_whole)
        .max_by_key(|(_, file)| file.needs.len())
}

/// A format of JSON: objects in arrays, each on a film.
pub struct Items {
    /// The name of the site.
    pub name: &'static str,
    /// The fields that are read, by their paths. Others never reach [`Items::read`].
    pub fields: &'static [(&'static str, Meaning)],
    /// Whether an object is of this format.
    pub is: fn(&Value) -> bool,
    /// Reads an object of which only the fields that are read are left.
    pub read: fn(&Value, &Context<'_>) -> Result<Found>,
}

/// What the objects of a file have in common.
pub struct Context<'a> {
    /// How days are read.
    pub days: &'a Days,
    /// Whether it is a list of the user's own, whose films are neither watched nor to be.
    pub is_list: bool,
}

/// The text of a field.
fn text<'a>(item: &'a Value, path: &str) -> Option<&'a str> {
    let text = item.pointer(path)?.as_str()?.trim();
    Some(text).filter(|text| !text.is_empty())
}

/// The number of a field, which may be written as a text.
fn number(item: &Value, path: &str) -> Option<f64> {
    let value = item.pointer(path)?;
    value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok())
}

/// The whole number of a field.
fn whole(item: &Value, path: &str) -> Option<i64> {
    number(item, path).map(|number| number as i64)
}

/// The objects of an array.
fn each<'a>(item: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    item.pointer(path)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// A number that the sites share, for [`Row::ids`](super::row::Row).
fn id(site: &str, kind: crate::db::films::Kind, number: impl std::fmt::Display) -> String {
    format!("{site} {} {number}", kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn formats_are_recognised_by_the_whole_header() {
        for (text, name) in [
            ("Date,Name,Year,Letterboxd URI", "Letterboxd"),
            (
                "Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date",
                "Letterboxd",
            ),
            ("Position,Name,Year,URL,Description", "Letterboxd"),
            ("Title,Year,Rating10,WatchedDate", "Letterboxd (import)"),
            (
                "tmdbID,imdbID,Title,Year,Directors,Rating,WatchedDate,Rewatch,Tags,Review",
                "Letterboxd (import)",
            ),
            (
                "TMDb ID,IMDb ID,Type,Name,Release Date,Season Number,Episode Number,Rating,Your Rating,Date Rated",
                "TMDB",
            ),
            ("title,year,tmdbId,imdbId,watchedAt,comment", "Movary"),
            ("title,year,tmdbId,imdbId,userRating", "Movary"),
            ("title,year,tmdbId,imdbId,addedAt", "Movary"),
            ("Title,Date", "Netflix"),
            (
                "SIMKL_ID,Title,Type,Year,Watchlist,LastEpWatched,WatchedDate,Rating,Memo,TVDB,TMDB,IMDB",
                "Simkl",
            ),
            // One column more, one less, or one twice.
            ("Date,Name,Year,Letterboxd URI,Mood", ""),
            ("TMDb ID,IMDb ID,Type,Name,Release Date,Rating", ""),
            ("title,title,year,tmdbId,imdbId,userRating", ""),
            ("Name,Year", ""),
            ("Name,Year,Rating", ""),
            ("imdbID,Title,Year,Rating", ""),
        ] {
            let found = of_header(&header(text)).map_or("", |(table, _)| table.name);
            assert_eq!(found, name, "{text}");
        }
    }

    #[test]
    fn each_file_of_each_format_is_its_own() {
        for table in TABLES {
            for file in table.files {
                let header: Vec<String> =
                    file.needs.iter().map(|name| (*name).to_owned()).collect();
                let found = of_header(&header);
                assert_eq!(
                    found.map(|(found, _)| found.name),
                    Some(table.name),
                    "{header:?}"
                );
                let read = header.iter().filter_map(|name| table.meaning(file, name));
                assert!(
                    read.clone().any(|meaning| meaning == Meaning::Title),
                    "{header:?}"
                );
                assert!(
                    !read.clone().any(|meaning| meaning == Meaning::Rating),
                    "{header:?}"
                );
            }
        }
    }
}
