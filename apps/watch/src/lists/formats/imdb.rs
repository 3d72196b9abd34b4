//! IMDb's exports of ratings, lists and the watchlist. Before 2018 they had other names.

use super::{File, Meaning::*, Rows, Table};

/// The format. *IMDb Rating* is that of all users.
pub const IMDB: Table = Table::new(
    "IMDb",
    &[
        ("Position", Unread),
        ("Const", Imdb),
        ("Created", Unread),
        ("Modified", Unread),
        ("Description", Note),
        ("Title", Title),
        ("Original Title", Original),
        ("URL", Unread),
        ("Title Type", Kind),
        ("IMDb Rating", Unread),
        ("Runtime (mins)", Minutes),
        ("Year", Year),
        ("Genres", Genres),
        ("Num Votes", Unread),
        ("Num. Votes", Unread),
        ("Release Date", Unread),
        ("Release Date (month/day/year)", Unread),
        ("Directors", Directors),
        ("Your Rating", Rating10),
        ("You rated", Rating10),
        ("Date Rated", RatedOn),
    ],
    &[File::new(Rows::ToWatch, &["Const", "Title", "Title Type"])],
);
