//! Yamtrack's export: films, series, their seasons and episodes, and much that is neither.

use super::{Episodes, File, Meaning::*, Rows, Table};

/// The format. *progress* counts episodes, pages or hours.
pub const YAMTRACK: Table = Table {
    episodes: Episodes::Watched,
    is_utc: true,
    ..Table::new(
        "Yamtrack",
        &[
            ("media_id", Number),
            ("source", NumberOf),
            ("media_type", Kind),
            ("title", Title),
            ("image", Unread),
            ("season_number", Season),
            ("episode_number", Episode),
            ("score", Rating10),
            ("progress", Unread),
            ("status", Status),
            ("repeats", Unread),
            ("start_date", Unread),
            ("end_date", WatchedOn),
            ("watch_date", Unread),
            ("notes", Note),
            ("progress_changed", Unread),
            ("progressed_at", Unread),
            ("created_at", Unread),
        ],
        &[File::new(
            Rows::ToWatch,
            &[
                "media_id",
                "media_type",
                "title",
                "score",
                "status",
                "end_date",
            ],
        )],
    )
};
