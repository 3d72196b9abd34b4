//! The form that Letterboxd imports: <https://letterboxd.com/about/importing-data/>. Many programs write it.

use super::{File, Meaning::*, Rows, Table};

/// The format. Whoever imports such a file at Letterboxd has watched its films, but for one that has no column on the watching.
pub const LETTERBOXD_IMPORT: Table = Table::new(
    "Letterboxd (import)",
    &[
        ("LetterboxdURI", Link),
        ("tmdbID", Tmdb),
        ("imdbID", Imdb),
        ("Title", Title),
        ("Year", Year),
        ("Directors", Directors),
        ("Rating", Rating5),
        ("Rating10", Rating10),
        ("WatchedDate", WatchedOn),
        ("Rewatch", Unread),
        ("Tags", Tags),
        ("Review", Note),
    ],
    &[
        File::new(Rows::ToWatch, &["Title", "LetterboxdURI"]),
        File::new(Rows::ToWatch, &["Title", "tmdbID", "imdbID"]),
        File::new(Rows::Watched, &["Title", "Rating10"]),
        File::new(Rows::Watched, &["Title", "WatchedDate"]),
        File::new(Rows::Watched, &["Title", "Rewatch"]),
        File::new(Rows::Watched, &["Title", "LetterboxdURI", "Rating"]),
        File::new(Rows::Watched, &["Title", "LetterboxdURI", "WatchedDate"]),
        File::new(Rows::Watched, &["Title", "LetterboxdURI", "Rating10"]),
        File::new(Rows::Watched, &["Title", "tmdbID", "imdbID", "WatchedDate"]),
        File::new(Rows::Watched, &["Title", "tmdbID", "imdbID", "Rating"]),
        File::new(Rows::Watched, &["Title", "tmdbID", "imdbID", "Rating10"]),
        File::new(Rows::Watched, &["Title", "tmdbID", "imdbID", "Rewatch"]),
    ],
);
