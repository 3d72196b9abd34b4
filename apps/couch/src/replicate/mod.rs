//! Replication between two databases by CouchDB's protocol.
//!
//! Source and target are URLs of any CouchDB, or names of local databases. Both are accessed through the same protocol;
//! requests to a local database use no connection. A checkpoint in `_local/` of both sides records the progress. An
//! interrupted replication continues at its checkpoint.

mod allowed_hosts;
mod checkpoint;
mod client;
mod encoded;
mod endpoint;
mod error;
mod filter;
mod id;
mod peer;
mod request;
mod revisions;
mod run;
mod session;
mod settings;
mod statistics;

pub use allowed_hosts::AllowedHosts;
pub use client::shared as shared_client;
pub use encoded::encoded;
pub use endpoint::{Credentials, Endpoint, Remote};
pub use error::ReplicateError;
pub use filter::{Function, FunctionPath, Selection};
pub use id::{checkpoint_id, job_id};
pub use peer::{Ask, Peer};
pub use request::{DocRef, Principal, Replication, Request};
pub use run::{Plan, Progress, Run, function};
pub use settings::{Settings, Tuning};
