//! The words that users read, in their language.
//!
//! A message is an entry of the catalogue `en.ftl`, and of the catalogue of every other language. Each has a function in `say`
//! with its arguments: `film-added = Added { $film }.` is `say::film_added(title)`. A page writes `(say::film_added(title))`, which
//! isolates what a user wrote in a `<bdi>`. Attributes and other plain text take `.plain()`. An error has its message too.
//!
//! The language is that of the request, or English where there is none: in the API, on the command line and in the log.

mod bundle;
mod kept;
mod language;
mod message;
mod scripts;
#[cfg(test)]
mod tests;

/// A function for each message. `build.rs` writes them.
#[allow(clippy::missing_docs_in_private_items)]
pub(crate) mod say {
    include!(concat!(env!("OUT_DIR"), "/say.rs"));
}

pub use language::{EachLanguage, Language, current, set, within, within_now};
pub use message::{Arg, Message};
pub use scripts::{catalogues, script};
