//! Requests to the server as a whole.

mod cluster_setup;
mod config;
mod databases;
mod node;
mod replicate;
mod scheduler;
mod session;
mod updates;
mod welcome;

pub use cluster_setup::{cluster_state, set_up_cluster};
pub use config::{
    config, config_section, config_value, delete_config_value, reload_config, set_config_value,
};
pub use databases::{all_dbs, dbs_info, dbs_info_of};
pub use node::{active_tasks, membership, node, prometheus, some_stats, stats, system, versions};
pub use replicate::replicate;
pub use scheduler::{scheduler_docs, scheduler_docs_of, scheduler_job, scheduler_jobs};
pub use session::{login, logout, session};
pub use updates::db_updates;
pub use welcome::{up, uuids, welcome};
