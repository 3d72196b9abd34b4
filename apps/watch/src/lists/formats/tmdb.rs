//! TMDB's exports of ratings, the watchlist and favourites, which have the same columns.

use super::{File, Meaning::*, Rows, Table};

/// The format. *Rating* is that of all users; in a watchlist *Date Rated* is the day on which the film was added.
pub const TMDB: Table = Table {
    is_utc: true,
    ..Table::new(
        "TMDB",
        &[
            ("TMDb ID", Tmdb),
            ("IMDb ID", Imdb),
            ("Type", Kind),
            ("Name", Title),
            ("Release Date", Released),
            ("Season Number", Season),
            ("Episode Number", Episode),
            ("Rating", Unread),
            ("Your Rating", Rating10),
            ("Date Rated", RatedOn),
        ],
        &[File::new(
            Rows::ToWatch,
            &[
                "TMDb ID",
                "Type",
                "Name",
                "Rating",
                "Your Rating",
                "Date Rated",
            ],
        )],
    )
};
