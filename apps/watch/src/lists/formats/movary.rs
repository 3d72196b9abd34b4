//! Movary's three files. Some versions write the watchlist without the year that its header has.

use super::{File, Meaning::*, Rows, Table};

/// The format.
pub const MOVARY: Table = Table::new(
    "Movary",
    &[
        ("title", Title),
        ("year", Year),
        ("tmdbId", Tmdb),
        ("imdbId", Imdb),
        ("watchedAt", WatchedOn),
        ("comment", Note),
        ("userRating", Rating10),
        ("addedAt", Unread),
    ],
    &[
        File::new(Rows::Watched, &["title", "tmdbId", "imdbId", "watchedAt"]),
        File::new(Rows::Watched, &["title", "tmdbId", "imdbId", "userRating"]),
        File {
            short: &["title", "tmdbId", "imdbId", "addedAt"],
            ..File::new(Rows::ToWatch, &["title", "tmdbId", "imdbId", "addedAt"])
        },
    ],
);
