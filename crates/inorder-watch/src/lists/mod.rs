//! Lists as CSV: in the forms that Letterboxd and IMDb export, and out in Letterboxd's.

mod export;
mod import;
mod rows;

pub use export::csv;
pub use import::{Imported, Plan, apply, plan};
