//! Documents, their revisions, attachments and changes, kept in one SQLite file a database; no server needed.
//!
//! ```
//! use inorder_couch::store::{Databases, Edit, GetOptions, Settings};
//!
//! let folder = tempfile::tempdir()?;
//! let databases = Databases::open(folder.path(), Settings::default())?;
//! let films = databases.create("films")?;
//! let mut edit = Edit::from_json(r#"{"title":"Alien","year":1979}"#, &films.limits())?;
//! edit.id = Some("alien".to_owned());
//! let written = films.put(edit).wait()??;
//! let film = films.get("alien", &GetOptions::default())?;
//! assert_eq!(film.revision, written.revision);
//! assert_eq!(film.body, r#"{"title":"Alien","year":1979}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Readers never wait for the writer: each reads a snapshot through a connection of its own. Every read is short and
//! bounded, and may be called from an asynchronous task. Writes are handed to the database's one writing thread, which
//! commits together what has gathered; a [`Pending`] is awaited, or waited for with [`Pending::wait`].

mod all_docs;
mod attachment;
mod backup;
mod blobs;
mod bulk;
mod changes;
mod compact;
mod database;
mod databases;
mod document;
mod edit;
mod encoder;
mod error;
mod get;
mod id;
mod info;
mod local;
mod pending;
mod pool;
mod private;
mod purge;
pub(crate) mod row;
mod schema;
mod settings;
mod state;
mod upload;
mod write;

pub use all_docs::{AllDocs, AllDocsPage, AllDocsRow, RowValue};
pub use attachment::{Attachment, AttachmentReader, Content, Encoding, Facts};
pub use backup::backup;
pub use bulk::{Mode, Outcome, Refusal, Written};
pub use changes::{Change, Changes, ChangesPage, Filter, Style};
pub use database::{Database, RevisionsDiff};
pub use databases::{DatabaseEvent, Databases, Event, is_database_name};
pub use document::{Conflicts, Document, RevisionInfo, RevisionStatus};
pub use edit::{Edit, NewAttachment, NewContent};
pub use error::{Error, Missing, Result};
pub use get::{AttachmentOption, Found, GetOptions};
pub use id::make as new_id;
pub use info::Info;
pub use local::LocalDocument;
pub use pending::Pending;
pub use purge::Purged;
pub use settings::{Limits, Settings, Synchronous};
pub use upload::{StoredContent, Upload};
pub use write::{Basis, Consent, Draft, Progress, Proposal};

pub(crate) use bulk::write_edit;
