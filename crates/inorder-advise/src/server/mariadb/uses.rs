//! How often indexes were used: MariaDB counts that with `userstat`, and both servers in the performance schema.

use super::{Flavour, catalog::fields};
use crate::{
    Error,
    server::model::{Database, TableKind},
};
use inorder_engine::remote::ReadOnly;

/// Reads the counts, before anything else reads by an index. Where nothing is counted, nothing is told.
pub(super) fn read(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    let which = flavour.schemas();
    let of_statistics = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, ROWS_READ FROM information_schema.INDEX_STATISTICS WHERE {which}"
    );
    let of_schema = format!(
        "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_READ FROM performance_schema.table_io_waits_summary_by_index_usage
         WHERE INDEX_NAME IS NOT NULL AND {}",
        which.replace("TABLE_SCHEMA", "OBJECT_SCHEMA")
    );
    let is_on = |session: &mut ReadOnly, variable: &str| {
        let rows = session
            .rows(&format!("SELECT @@{variable}"))
            .unwrap_or_default();
        rows == [[Some("1".to_owned())]]
    };
    let sql = match () {
        () if !flavour.is_mysql && is_on(session, "userstat") => of_statistics,
        () if is_on(session, "performance_schema") => of_schema,
        () => return Ok(()),
    };
    let rows = match session.rows(&sql) {
        Ok(rows) => rows,
        Err(error) if !session.is_open() => return Err(error.into()),
        Err(_) => return Ok(()),
    };
    for table in &mut database.tables {
        if table.kind == TableKind::Ordinary {
            table
                .indexes
                .iter_mut()
                .for_each(|index| index.scans = Some(0));
        }
    }
    for row in fields(rows) {
        let (schema, name, index) = (row.text(0), row.text(1), row.text(2));
        let mut tables = database.tables.iter_mut();
        let table = tables.find(|own| own.schema == schema && own.name == name);
        let own = table.and_then(|own| own.indexes.iter_mut().find(|own| own.name == index));
        if let Some(own) = own.filter(|own| own.scans.is_some()) {
            own.scans = Some(row.number(3));
        }
    }
    let since = session.rows(
        "SELECT NOW() - INTERVAL VARIABLE_VALUE SECOND FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'",
    );
    let since = since
        .ok()
        .and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    database.statistics_since = Some(match since {
        Some(time) => format!("the server's start ({time}) or the last FLUSH"),
        None => "the server's start or the last FLUSH".into(),
    });
    Ok(())
}
