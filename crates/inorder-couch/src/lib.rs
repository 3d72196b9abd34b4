//! A document store on SQLite, and a server for it that speaks CouchDB's protocol.

pub mod auth;
pub mod multipart;
pub mod script;
