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
mod base64;
mod blobs;
mod bulk;
mod changes;
mod compact;
mod database;
mod databases;
mod derived;
mod design;
mod document;
mod download;
mod edit;
mod encoder;
mod error;
mod events;
mod explain;
mod find;
mod gaps;
mod get;
mod id;
mod indexes;
mod indexing;
mod info;
mod local;
mod options;
mod outcome;
mod partition;
mod pending;
mod purge;
mod row;
mod schema;
mod security;
mod security_slot;
mod settings;
mod shared;
mod state;
mod upload;
mod write;

pub use all_docs::{AllDocs, AllDocsPage, AllDocsRow, RowValue};
pub(crate) use attachment::DEFAULT_CONTENT_TYPE;
pub use attachment::{Attachment, Content, Encoding, Facts};
pub use backup::backup;
pub use base64::Base64Decoder;
pub use changes::{Change, Changes, ChangesPage, Filter, Style};
pub use compact::Compaction;
pub use database::{Database, RevisionsDiff};
pub use databases::{Databases, is_database_name};
pub use document::{Conflicts, Document, RevisionInfo, RevisionStatus};
pub use download::AttachmentReader;
pub use edit::{Edit, GivenData, NewAttachment, NewContent};
pub use error::{Error, Missing, Result};
pub use events::{DatabaseEvent, Event};
pub use explain::Explanation;
pub use find::FindPage;
pub use gaps::{Segment, has_gaps, segments};
pub use get::Found;
pub use id::make as new_id;
pub use indexing::{IndexPage, Indexed, Indexing, Sequences};
pub use info::Info;
pub use local::LocalDocument;
pub use options::{AttachmentOption, GetOptions};
pub use outcome::{Mode, Outcome, Refusal, Written};
pub use partition::PartitionInfo;
pub use pending::Pending;
pub use purge::Purged;
pub use settings::{Limits, Settings, Synchronous};
pub use upload::{StoredContent, Upload};
pub use write::{Basis, Consent, Draft, Progress, Proposal};
