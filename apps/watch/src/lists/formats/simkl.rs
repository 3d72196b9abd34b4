//! Simkl's CSV: its backup, and the form that it imports.

use super::{File, Meaning::*, Rows, Table};

/// The format. *LastEpWatched* is the last episode: those before were watched too.
pub const SIMKL: Table = Table {
    is_utc: true,
    ..Table::new(
        "Simkl",
        &[
            ("SIMKL_ID", Number),
            ("Title", Title),
            ("Type", Kind),
            ("Year", Year),
            ("Watchlist", Status),
            ("LastEpWatched", LastEpisode),
            ("WatchedDate", WatchedOn),
            ("Rating", Rating10),
            ("Memo", Note),
            ("TVDB", Unread),
            ("TVDB_ID", Unread),
            ("TMDB", Tmdb),
            ("IMDB", Imdb),
            ("IMDB_ID", Imdb),
            ("MAL", Unread),
            ("MAL_ID", Unread),
        ],
        &[File::new(
            Rows::ToWatch,
            &["Title", "Type", "Watchlist", "LastEpWatched"],
        )],
    )
};
