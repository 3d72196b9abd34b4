//! The server as clients see it, over real connections.

mod access;
mod answers;
mod attachment_routes;
mod bad_input;
mod changes;
mod client;
mod cluster_setup;
mod config;
mod couchdb;
mod designs;
mod documents;
mod early_errors;
mod forms;
mod front;
mod full_disk;
mod functions;
mod incoming;
mod inlined;
mod large_documents;
mod lists;
mod multipart;
mod partitions;
#[path = "../common/proxy.rs"]
mod proxy;
mod ranges;
mod replication;
mod replication_peers;
mod replicator;
mod rights;
mod settings;
mod stop;
mod suites;
mod tls;
mod users;
mod views;
