//! Lists as files: in the forms of the sites in `formats` and in any other, as the user maps its columns, and out as CSV.
//!
//! [`read`] looks through a file, decides what each column becomes and reads it so. The preview shows what it decided, and the import
//! reads the file once more in the same way.

mod answers;
mod apply;
mod archive;
mod collect;
mod day;
mod encoding;
mod export;
mod formats;
mod group;
mod guard;
mod items;
mod meaning;
mod merge;
mod note;
mod plan;
mod progress;
mod read;
mod row;
mod sheet;
mod status;
mod table;

pub use answers::{Answers, Kind, Sent};
pub use apply::{Imported, Missing, apply};
pub use export::{csv, letterboxd};
pub use group::{Column, Mapped, Question};
pub use meaning::Meaning;
pub use merge::Difference;
pub use plan::{Choice, Choices, Found, Outcome, Planned, addable, plan};
pub use read::{Reading, read};
pub use row::{ListRow, Said};

use crate::{
    db::{
        entries::{ENTRIES_MAX, tags},
        films::ADDED_MAX,
    },
    words::{Message, say},
};

/// What is said where there is no room for so many films.
pub fn no_room(count: usize) -> Message {
    say::import_no_room(count, ENTRIES_MAX, ADDED_MAX)
}

/// Whether this is the name of a time zone, or an offset from UTC.
pub fn is_zone(name: &str) -> bool {
    day::zone(name).is_some()
}

/// The tags of a field, but for those that can't be the name of a list here.
fn tags_of(text: &str) -> Vec<String> {
    let is_fine = |tag: &String| tags::checked(vec![tag.clone()]).is_ok();
    let mut tags = tags::split(text);
    tags.retain(is_fine);
    tags.truncate(tags::TAGS_MAX);
    tags::checked(tags).unwrap_or_default()
}
