//! Lists as files: in the forms that Letterboxd, Trakt and IMDb export, and out as CSV in Letterboxd's.

mod apply;
mod archive;
mod encoding;
mod export;
mod guard;
mod merge;
mod note;
mod plan;
mod progress;
mod read;
mod row;
mod table;
mod trakt;

pub use apply::{Imported, Missing, apply};
pub use export::csv;
pub use merge::Difference;
pub use plan::{Choice, Choices, Found, Outcome, Planned, plan};
pub use read::read;
pub use row::{ListRow, Reading, Said};
pub use table::Kind;
