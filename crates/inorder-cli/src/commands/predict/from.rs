//! `inorder predict --from`: the growth of a table of a database.

use super::Arguments;
use anyhow::Result;
use inorder_bench::{
    Error,
    schema::{Asked, Catalog, Forecast, forecast as questions},
};

/// The questions about the table that the command line names.
pub fn forecast(arguments: &Arguments, from: &str) -> Result<Forecast> {
    let asked = Asked {
        table: arguments.table.clone(),
        engine: arguments.engine().map_err(Error::Usage)?,
        rows: arguments.rows,
        keys: arguments.kinds().map_err(Error::Usage)?,
    };
    let mut forecast = questions(&Catalog::of_database(from)?, &asked)?;
    for question in &mut forecast.questions {
        arguments.set_load(question);
    }
    Ok(forecast)
}
