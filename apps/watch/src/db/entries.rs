//! Watch lists: the films that users want to watch or have watched.

mod entry;
mod filter;
mod order;
pub mod tags;

pub use entry::{
    DAYS_MAX, Entry, Listed, NOTE_CHARACTERS_MAX, PRIORITY, RATINGS, State, all, check_room, fill,
    is_watched_day, next_ms, put, put_in, remove, room, state, tidy_note, watch_season,
};
pub use filter::{Filter, PAGE_ENTRIES, Page, Sort, counts, page, page_of_states};
pub use order::{Direction, PRIORITIES, shift, take_place};

pub use super::film::ENTRIES_MAX;
