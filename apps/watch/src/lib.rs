//! What to Watch: a watch list for friends, in one SQLite file.
//!
//! | part | does |
//! | --- | --- |
//! | [`db`] | the file: its schema, one queue of writes, a pool of readers, and the queries, a file a subject |
//! | [`title`] | titles, compared as people write them |
//! | [`films`] | where films come from |
//! | [`lists`] | lists as CSV, in and out |
//! | [`mail`] | sends mails |
//! | [`posters`] | fetches posters and synopses |
//! | [`updates`] | looks for a newer version of the program |
//! | [`request`] | what the pages and the API have in common |
//! | [`web`] | the pages, and the server of both them and the API |
//! | [`api`] | the JSON API and its description |
//! | [`words`] | what users read, in their language |
//! | [`commands`] | the command `inorder-watch` |

pub mod api;
pub mod commands;
pub mod date;
pub mod db;
mod error;
pub mod films;
pub mod limits;
pub mod lists;
pub mod mail;
mod outgoing;
pub mod passkeys;
pub mod password;
pub mod posters;
pub mod request;
pub mod secret;
mod text;
pub mod title;
pub mod updates;
pub mod web;
pub mod words;

pub use error::{Error, Result};
