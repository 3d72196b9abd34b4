//! Types shared by the pages and the API: the app, the user, the query, and the status of errors.

mod app;
mod caller;
mod drawn;
mod me;
mod query;
mod status;

pub use app::{App, Config, IMPORT_BYTES_MAX};
pub use caller::Caller;
pub use drawn::{DrawnFilm, DrawnFilms};
pub use me::Me;
pub(crate) use query::{View, Wanted, is_usual, optional, ticked, with};
pub(crate) use status::{error_status, with_wait};
