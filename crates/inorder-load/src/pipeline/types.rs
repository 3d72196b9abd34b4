//! The types of columns from all rows, if the first ones did not decide them.

use crate::Error;
use crate::destination::{AllRows, Create};
use crate::job::{Job, Progress};
use crate::rows::Inputs;
use crate::source::Row;

/// Rows between two looks at the progress.
const ROWS_PER_LOOK: u64 = 1024;

/// Reads all rows of a job that creates its table, and returns the job with the columns and types of all of them.
///
/// # Errors
/// If an input can't be read, or the load is stopped.
pub(super) fn of_all_rows(job: &Job, create: &Create, progress: &Progress) -> Result<Job, Error> {
    let mut inputs = Inputs::new(job, progress.meter());
    let mut all = AllRows::new().map_err(|source| Error::Database {
        path: "SQLite".into(),
        source,
    })?;
    let mut row = Row::default();
    let (mut version, mut places, mut rows) = (None, Vec::new(), 0);
    while inputs.is_open()? {
        match inputs.read(&mut row) {
            Ok(true) => {}
            // The load rejects a bad row.
            Ok(false) | Err(Error::Malformed { .. }) => continue,
            Err(error) => return Err(error),
        }
        if version != Some(inputs.columns_version()) {
            version = Some(inputs.columns_version());
            let header = inputs.header();
            places = all.places(&header.columns, header.typing);
        }
        all.add(&row, &places);
        rows += 1;
        if rows % ROWS_PER_LOOK == 0 {
            progress.set_rows_read(rows);
            progress.check()?;
        }
    }
    Ok(Job {
        create: Some(Create {
            found: all.types().collect(),
            ..create.clone()
        }),
        ..job.clone()
    })
}
