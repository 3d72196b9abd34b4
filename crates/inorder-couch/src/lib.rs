//! A document store on SQLite, and a server for it that speaks CouchDB's protocol.
//!
//! [`store`] keeps documents with all their revisions, attachments and changes, and needs no server. [`revision`] says
//! which revision follows from an edit, and how the histories of two stores become one. [`mango`] finds documents by what
//! is in them.

pub mod json;
pub mod mango;
pub mod revision;
pub mod store;
