//! The app: without a socket where that will do, and as a program where a process has to die or to end.

mod api;
mod authenticator;
mod client;
mod clock;
#[path = "../common/mod.rs"]
mod common;
mod films;
mod forms;
mod friends;
mod imports;
mod killed_restore;
mod labels;
mod languages;
mod lists;
mod mail;
mod mail_tls;
mod passkeys;
mod posters;
mod program;
mod restore;
mod saves;
mod schema;
mod search;
mod security;
mod series;
mod series_lists;
mod shared_films;
mod signing_in;
mod sync;
mod tags;
mod takeover;
mod undo;
mod unicode;
mod updates;
mod users;
