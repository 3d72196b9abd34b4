//! Sorts any number of records by their key ([`Sorter`]): in memory, or as an external merge sort.
//!
//! The sort moves pairs of 16 bytes: the first 8 bytes of a key as a number, and the row's place. It compares the rest
//! of a key only where the first 8 bytes are equal. The rows themselves move once, at the end.

mod ahead;
mod apart;
mod arena;
mod in_memory;
mod large_pages;
mod merge;
mod places;
mod portion;
mod sorter;
mod spill;

pub use arena::{Origin, Records};
pub use places::{PLACE_BYTES, PlaceSorter, SortedPlaces};
pub use portion::Portion;
pub use sorter::{Memory, SortLimits, Sorted, Sorter};

#[cfg(test)]
mod sorter_tests;
