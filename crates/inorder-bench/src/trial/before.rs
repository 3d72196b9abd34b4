//! Fills the measured tables before the measurement starts.

use super::{group::Group, insert};
use crate::{error::Error, experiment::factors::Setup};
use inorder_engine::Database;

/// Rows of the first table that are made and committed together.
const ROWS_TOGETHER: u64 = 10_000;

/// Inserts the rows that are there before, with the makers of the measured rows by turns, and ends with a checkpoint.
///
/// # Errors
/// If a row violates a constraint or the database fails.
pub fn fill(
    database: &dyn Database,
    table: &str,
    setup: &Setup,
    makers: &mut [Group],
    on_progress: &mut (dyn FnMut(u64) + Send),
) -> Result<(), Error> {
    if setup.rows_before == 0 {
        return Ok(());
    }
    let mut writer = makers[0].writer(database, table)?;
    let mut made = 0;
    let count = makers.len();
    for maker in (0..count).cycle() {
        let rows = (setup.rows_before - made).min(ROWS_TOGETHER);
        if rows == 0 {
            break;
        }
        let maker = &mut makers[maker];
        let mut together = maker.make(rows as usize);
        maker.make_members(&mut together);
        writer.begin()?;
        together
            .insert(writer.as_mut(), 0..rows as usize)
            .map_err(|error| insert::explain_together(error.into(), maker, &together, made))?;
        writer.commit()?;
        writer.checkpoint_if_due()?;
        made += rows;
        on_progress(0);
    }
    drop(writer);
    database.quiesce()?;
    Ok(())
}
