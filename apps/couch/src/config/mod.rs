//! The configuration: sections of keys and values, as CouchDB has them, in an ini file of the data folder.
//!
//! A key that has an effect is a line of [`keys`]. Every other key is stored and shown, as CouchDB does with keys that it
//! does not know. A change is effective at once: readers take [`Config::values`] per request, or keep a [`Derived`] value.
//!
//! | from the first to the last | |
//! | --- | --- |
//! | [`Config::set`] over HTTP | until the restart also over an option of the command line |
//! | [`Config::fix`]: the command line and its variables | never written to the file |
//! | the file | |
//! | [`keys::SHOWN`] and the defaults of [`keys`] | |

mod current;
mod derived;
mod error;
mod ini;
mod key;
pub mod keys;
mod values;

pub use current::{Config, Lifetime};
pub use derived::Derived;
pub use error::ConfigError;
pub use key::{Flag, Key, Kind, Limit, List, Number, Text};
pub use values::Values;
