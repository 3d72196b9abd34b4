//! Loads into PostgreSQL beside what psql's `\copy` makes of the same files, on a private server; where there is none it
//! prints SKIPPED.

#[path = "../common/mod.rs"]
mod common;
mod generated;
#[path = "../common/tables.rs"]
mod generated_tables;
mod server;
mod sources;
mod tables;
mod types;
mod values;
