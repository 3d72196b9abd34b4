//! This site's own export.

use super::{File, Meaning::*, Rows, Table};

/// The format. Earlier versions had fewer columns.
pub const OWN: Table = Table {
    is_exact: true,
    ..Table::new(
        "What to Watch",
        &[
            ("Date", Unread),
            ("Name", Title),
            ("Year", Year),
            ("imdbID", Imdb),
            ("Rating", Rating5),
            ("Watched", Watched),
            ("Watched Date", WatchedOn),
            ("Priority", Priority),
            ("Public", Public),
            ("Note", Note),
            ("Genres", Genres),
            ("Tags", Tags),
            ("Watched Before", WatchedBefore),
            ("Kind", Kind),
            ("Last Year", LastYear),
            ("Seasons", Seasons),
            ("Seasons Watched", SeasonsWatched),
        ],
        &[File::new(
            Rows::ToWatch,
            &[
                "Date",
                "Name",
                "Year",
                "imdbID",
                "Rating",
                "Watched",
                "Watched Date",
                "Priority",
                "Public",
                "Note",
            ],
        )],
    )
};
