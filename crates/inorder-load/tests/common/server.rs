//! Loads into servers.

use std::sync::Arc;

use inorder_engine::{Database, DatabaseTable};
use inorder_load::{Error, Job, Progress, Summary, run_into};

/// Loads into the job's table of a server.
pub fn load(database: &Arc<dyn Database>, job: &Job) -> Result<Summary, Error> {
    let table = DatabaseTable::new(Arc::clone(database), &job.table);
    run_into(job, &Progress::default(), Box::new(table))
}
