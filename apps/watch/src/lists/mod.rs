//! Lists as CSV: in the forms that Letterboxd and IMDb export, and out in Letterboxd's.

mod export;
mod guard;
mod import;
mod rows;

pub use export::csv;
pub use import::{Imported, Missing, Plan, apply};
pub use rows::{Kind, ListRow, rows};
