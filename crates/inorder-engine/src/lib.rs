//! Database engines behind one trait: starts an engine with the settings of an experiment, writes batches of rows
//! into it, and counts the cost.
//!
//! This crate contains the database drivers, and no code for experiments, statistics or reports. The hot path
//! ([`Writer::insert`]) is one virtual call per transaction, not per row.

mod batch;
mod bulk_load;
mod counters;
mod database;
mod engine;
mod error;
pub mod galera;
mod gather;
mod layout;
mod list;
pub mod mariadb;
mod names;
pub mod postgres;
mod processes;
pub mod remote;
mod server;
mod settings;
pub mod sharded;
pub mod sqlite;
mod structure;
mod table_change;
mod writer;

pub use batch::{Batch, Column, Value};
pub use bulk_load::{Given, Intake, Load, LoadColumn, LoadShape, LoadTable, Taken};
pub use counters::{FileIo, Io, KernelCheck, Layer};
pub use database::{Database, DatabaseTable, Shard};
pub use engine::{Engine, EngineInfo, Found};
pub use error::Error;
pub use layout::{LAYOUTS, TableShape};
pub use list::{ENGINES, engine};
pub use names::{nearest, similar};
pub use processes::{cpu_s, process_tree};
pub use server::home::TEMPLATES;
pub use settings::{AutoVacuum, Journal, Partition, Profile, Settings, Synchronous, Write};
pub use structure::{ColumnInfo, PageFill, Tree};
pub use table_change::{ColumnKind, NewColumn, NewForeignKey, NewTable, Start, TableChange};
pub use writer::{Reader, Retry, Writer};
