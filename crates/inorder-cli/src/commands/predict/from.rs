//! `inorder predict --from` and `--schema`: the growth of a table of a database, or of DDL.

use super::Arguments;
use crate::interrupt;
use anyhow::{Context as _, Result};
use inorder_bench::{
    Error,
    runner::WorkFolder,
    schema::{Asked, Catalog, Forecast, forecast as questions},
};
use inorder_predict::Engine;
use std::{env, fs, path::Path};

/// The questions about the table that the command line names, if it names one.
pub fn forecast(arguments: &Arguments) -> Result<Option<Forecast>> {
    let engine = arguments.engine().map_err(Error::Usage)?;
    let catalog = match (&arguments.schema, &arguments.from) {
        (Some(path), _) => of_ddl(path, engine.unwrap_or(Engine::Sqlite))?,
        (None, Some(from)) => Catalog::of_database(from)?,
        (None, None) => return Ok(None),
    };
    let asked = Asked {
        table: arguments.table.clone(),
        engine,
        rows: arguments.rows,
        keys: arguments.kinds().map_err(Error::Usage)?,
    };
    let mut forecast = questions(&catalog, &asked)?;
    for question in &mut forecast.questions {
        arguments.set_load(question);
    }
    Ok(Some(forecast))
}

/// The catalog of DDL, as a private database of the engine reports it.
fn of_ddl(path: &Path, engine: Engine) -> Result<Catalog> {
    let shown = path.display();
    let ddl = fs::read_to_string(path).with_context(|| format!("--schema {shown}"))?;
    interrupt::watch(|| ())?;
    let create = || Ok(WorkFolder::create(&env::temp_dir())?);
    let work = interrupt::removes(create, WorkFolder::path)?;
    let folder = work.path().join("schema");
    fs::create_dir_all(&folder)?;
    Ok(Catalog::of_ddl(engine.name(), &ddl, &folder)?)
}
