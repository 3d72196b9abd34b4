//! Writers and readers of a server.

use super::{
    session::{Connection, Session},
    sql,
};
use crate::{Batch, Error, Reader, Write, Writer};
use std::ops::Range;

/// Inserts into a table and those that were added.
pub struct ServerWriter<C: Connection> {
    session: Session<C>,
    tables: Vec<Target<C>>,
    /// Statements beside the inserts, each with its text.
    others: Vec<(C::Statement, String)>,
    write: Write,
    is_open: bool,
}

/// The statements that insert into one table.
struct Target<C: Connection> {
    insert: C::Statement,
    /// Statement for many rows and their number; `None` if rows are sent one by one.
    many: Option<(C::Statement, usize)>,
    /// Statement for all rows at once, if they are sent in that way.
    bulk: Option<String>,
    columns: usize,
    table: String,
}

impl<C: Connection> Target<C> {
    fn prepare(
        session: &mut Session<C>,
        table: &str,
        columns: &[&str],
        write: Write,
    ) -> Result<Self, Error> {
        let into = C::quoted(table);
        let names: Vec<String> = columns.iter().map(|name| C::quoted(name)).collect();
        let together = sql::rows_together(columns.len());
        // Rows without any column are inserted one at a time.
        let write = if columns.is_empty() {
            Write::Insert
        } else {
            write
        };
        let one = match columns {
            [] => C::insert_of_defaults(&into),
            _ => sql::insert_into(&into, &names, 1),
        };
        Ok(Target {
            insert: session.prepare(&one)?,
            many: match write {
                Write::Multi => {
                    let many = session.prepare(&sql::insert_into(&into, &names, together))?;
                    Some((many, together))
                }
                _ => None,
            },
            bulk: (write == Write::Bulk).then(|| C::bulk_statement(&into, &names.join(","))),
            columns: columns.len(),
            table: table.to_owned(),
        })
    }

    fn insert(
        &self,
        connection: &mut C,
        batch: &Batch,
        mut rows: Range<usize>,
    ) -> Result<(), Error> {
        let doing = || format!("inserting into {}", self.table);
        sql::fits(self.columns, batch, rows.end).map_err(|message| Error::Database {
            doing: doing(),
            message,
        })?;
        if let Some(bulk) = &self.bulk {
            let sent = connection.bulk(bulk, &self.insert, batch, rows);
            return sent.map_err(|failure| failure.doing(bulk));
        }
        if let Some((many, together)) = &self.many {
            while rows.len() >= *together {
                let next = rows.start..rows.start + together;
                rows.start = next.end;
                let inserted = connection.execute(many, batch, next);
                inserted.map_err(|failure| failure.doing(doing()))?;
            }
        }
        for row in rows {
            let inserted = connection.execute(&self.insert, batch, row..row + 1);
            inserted.map_err(|failure| match failure.is_of_the_row {
                true => Error::Row {
                    table: self.table.clone(),
                    row,
                    message: failure.message,
                },
                false => failure.doing(doing()),
            })?;
        }
        Ok(())
    }
}

impl<C: Connection> ServerWriter<C> {
    /// Prepares the INSERT. Writers only wait for locks of rows, so there is nothing to retry.
    pub fn open(
        mut session: Session<C>,
        table: &str,
        columns: &[&str],
        write: Write,
    ) -> Result<Self, Error> {
        Ok(ServerWriter {
            tables: vec![Target::prepare(&mut session, table, columns, write)?],
            others: Vec::new(),
            session,
            write,
            is_open: false,
        })
    }
}

impl<C: Connection> Writer for ServerWriter<C> {
    fn begin(&mut self) -> Result<(), Error> {
        self.session.run("BEGIN")?;
        self.is_open = true;
        Ok(())
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.insert_into(0, batch, rows)
    }

    fn add_table(&mut self, table: &str, columns: &[&str]) -> Result<(), Error> {
        let added = Target::prepare(&mut self.session, table, columns, self.write)?;
        self.tables.push(added);
        Ok(())
    }

    fn insert_into(
        &mut self,
        table: usize,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        self.tables[table].insert(&mut self.session.connection, batch, rows)
    }

    fn prepare(&mut self, sql: &str) -> Result<usize, Error> {
        let statement = self.session.prepare(sql)?;
        self.others.push((statement, sql.to_owned()));
        Ok(self.others.len() - 1)
    }

    fn run(&mut self, statement: usize, batch: &Batch, row: usize) -> Result<u64, Error> {
        let (statement, sql) = &self.others[statement];
        query(&mut self.session.connection, statement, sql, batch, row)
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.session.run("COMMIT")?;
        self.is_open = false;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_open) {
            self.session.run("ROLLBACK")?;
        }
        Ok(())
    }

    /// The server runs checkpoints itself.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn retries(&self) -> u64 {
        0
    }
}

/// Runs one query repeatedly.
pub struct ServerReader<C: Connection> {
    session: Session<C>,
    query: C::Statement,
    sql: String,
}

impl<C: Connection> ServerReader<C> {
    /// Prepares the query.
    pub fn open(mut session: Session<C>, sql: &str) -> Result<Self, Error> {
        Ok(ServerReader {
            query: session.prepare(sql)?,
            session,
            sql: sql.to_owned(),
        })
    }
}

impl<C: Connection> Reader for ServerReader<C> {
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error> {
        let connection = &mut self.session.connection;
        query(connection, &self.query, &self.sql, batch, row)
    }
}

/// Runs a statement with the values of a row.
fn query<C: Connection>(
    connection: &mut C,
    statement: &C::Statement,
    sql: &str,
    batch: &Batch,
    row: usize,
) -> Result<u64, Error> {
    let places = C::parameters(statement);
    sql::fits(places, batch, row + usize::from(places > 0)).map_err(|message| Error::Database {
        doing: sql.to_owned(),
        message,
    })?;
    let rows = connection.query(statement, batch, row);
    rows.map_err(|failure| failure.doing(sql))
}
