//! Database engines behind one trait: start one with the settings an experiment asks for, write
//! batches of rows into it, and count what that cost.
//!
//! This crate knows database drivers and nothing of experiments, statistics or reports. The hot path
//! ([`Writer::insert`]) is one virtual call a transaction, never one a row.

mod batch;
mod counters;
mod engine;
mod error;
pub mod galera;
mod gather;
mod layout;
mod load;

pub mod mariadb;
pub mod postgres;
mod processes;
pub mod remote;
mod server;
mod settings;
pub mod sharded;
pub mod sqlite;
mod structure;

pub use batch::{Batch, Column, Value};
pub use counters::{FileIo, Io, KernelCheck, Layer};
pub use engine::{
    ColumnInfo, Database, ENGINES, Engine, EngineInfo, Found, Reader, Retry, Shard, Writer, engine,
};
pub use error::Error;
pub use layout::{LAYOUTS, TableShape};
pub use load::{
    AsGiven, DatabaseTable, Given, Intake, Load, LoadColumn, LoadShape, LoadTable, Taken,
};
pub use processes::cpu_s;
pub use server::template::TEMPLATES;
pub use settings::{AutoVacuum, Journal, Partition, Settings, Synchronous, Write};
pub use structure::{PageFill, Tree};
