//! The server: CouchDB's protocol over a folder of databases.
//!
//! `routes` is the list of everything it answers; a file below `server/`, `database/` or `document/` answers each.

mod accounts;
mod blocking;
mod body;
mod caller;
mod client;
mod common;
mod content;
mod convert;
mod cors;
mod database;
mod design;
mod design_rules;
mod document;
mod error;
mod feed;
mod forwarded;
mod functions;
mod gate;
mod global_changes;
mod headers;
mod incoming;
mod info;
mod inlined;
mod jsonp;
mod later;
mod listen;
mod metrics;
mod pages;
mod params;
mod password_upgrade;
mod path;
mod peruser;
mod replications;
mod reply;
mod request;
mod resend;
mod rights;
mod routes;
mod seq;
mod server;
mod shared;
mod site;
mod target;
mod unauthorized;
mod updates;
mod users_db;
mod uuids;
mod validation;

pub use error::{HttpError, HttpResult};
pub use listen::{serve, serve_also_tls};
pub use routes::within;
pub use shared::{Server, ServerSettings};
pub use users_db::validate as validate_user;
