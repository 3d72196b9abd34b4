//! Letterboxd's data export: Settings, Data, Export your data.

use super::{File, Meaning::*, Rows, Table};

/// The format. In the diary and the reviews the address is that of one viewing. The date is that of the entry.
pub const LETTERBOXD: Table = Table::new(
    "Letterboxd",
    &[
        ("Date", Unread),
        ("Position", Unread),
        ("Name", Title),
        ("Year", Year),
        ("Letterboxd URI", Link),
        ("URL", Link),
        ("Description", Note),
        ("Rating", Rating5),
        ("Rewatch", Unread),
        ("Review", Note),
        ("Tags", Tags),
        ("Watched Date", WatchedOn),
    ],
    &[
        File::new(Rows::ByName, &["Date", "Name", "Year", "Letterboxd URI"]),
        File::new(
            Rows::ByName,
            &["Date", "Name", "Year", "Letterboxd URI", "Rating"],
        ),
        File {
            others: &[("Letterboxd URI", Log)],
            ..File::new(
                Rows::Watched,
                &[
                    "Date",
                    "Name",
                    "Year",
                    "Letterboxd URI",
                    "Rating",
                    "Rewatch",
                    "Tags",
                    "Watched Date",
                ],
            )
        },
        File::new(
            Rows::ToWatch,
            &["Position", "Name", "Year", "URL", "Description"],
        ),
    ],
);
