//! One pass over each table and all its columns.

use super::{Database, Table, Values, open};
use crate::{Error, ddl::quoted, sql::quoted_list};
use rusqlite::Connection;
use std::{
    path::Path,
    sync::Mutex,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

/// Fills in the values of every ordinary table, the largest first.
pub(super) fn all(
    database: &mut Database,
    path: &Path,
    threads: usize,
    progress: &(dyn Fn(&str) + Sync),
) {
    let mut tables: Vec<&mut Table> = database
        .tables
        .iter_mut()
        .filter(|table| table.is_ordinary())
        .collect();
    tables.sort_by_key(|table| table.pages());
    let queue = Mutex::new(tables);
    let problems = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let connection = open(path);
                loop {
                    let Some(table) = queue.lock().ok().and_then(|mut queue| queue.pop()) else {
                        return;
                    };
                    progress(&table.name);
                    let read = match &connection {
                        Ok(connection) => scan(connection, table),
                        Err(error) => Err(Error::NotADatabase {
                            path: path.into(),
                            found: error.to_string(),
                        }),
                    };
                    if let Err(error) = read
                        && let Ok(mut problems) = problems.lock()
                    {
                        problems.push(format!(
                            "{}: reading ended after {} rows: {error}.",
                            table.name, table.rows
                        ));
                        table
                            .missing
                            .get_or_insert_with(|| "a readable table".into());
                    }
                }
            });
        }
    });
    let mut problems = problems.into_inner().unwrap_or_default();
    problems.sort();
    database.problems.extend(problems);
}

/// Reads every row in the order of its key. Virtual generated columns are expressions and are not read.
fn scan(connection: &Connection, table: &mut Table) -> Result<(), Error> {
    let now_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_millis() as u64);
    let read: Vec<usize> = (0..table.columns.len())
        .filter(|&at| table.columns[at].hidden != 2)
        .collect();
    let names = quoted_list(read.iter().map(|&at| table.columns[at].name.as_str()));
    let sql = format!("SELECT {names} FROM {} NOT INDEXED", quoted(&table.name));
    let mut values: Vec<Values> = read
        .iter()
        .map(|&at| Values::of_column(table.columns[at].is_numeric()))
        .collect();
    let mut count = 0;
    let result = (|| {
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            for (at, values) in values.iter_mut().enumerate() {
                values.add(row.get_ref(at)?, now_ms);
            }
            count += 1;
        }
        Ok(())
    })();
    table.rows = count;
    for (at, values) in read.into_iter().zip(values) {
        table.columns[at].values = values;
    }
    result
}
