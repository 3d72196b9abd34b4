//! A document store on SQLite, and a server for it that speaks CouchDB's protocol.
//!
//! [`store`] keeps documents with all their revisions, attachments and changes, and needs no server. [`revision`] says
//! which revision follows from an edit, and how the histories of two stores become one. [`mango`] finds documents by what
//! is in them. [`config`] has the settings that may change while the server runs. [`http`] is the server and [`replicate`] its
//! way to others; [`auth`] authenticates requests, [`script`] runs the functions of design documents, [`views`] keeps what
//! their map and reduce functions make, [`multipart`] reads and writes documents with their attachments.

pub mod auth;
pub mod config;
pub mod http;
pub mod json;
pub mod mango;
pub mod multipart;
pub mod replicate;
pub mod replicator;
pub mod revision;
pub mod scheduler;
pub mod script;
pub mod status_page;
pub mod store;
pub mod tasks;
pub mod views;
