//! A connection that inserts.

use super::{
    failure::Patience,
    link::{Home, Link, Role},
    quoted,
    session::{Session, StatementId},
};
use crate::{Batch, Error, Retry, Writer};
use std::{ops::Range, sync::Arc};

/// Inserts into a table and those that were added.
pub struct SqliteWriter {
    session: Session,
    begin: StatementId,
    commit: StatementId,
    rollback: StatementId,
    /// The statement and the name of each table.
    inserts: Vec<(StatementId, String)>,
    /// Statements beside the inserts, each with its text.
    others: Vec<(StatementId, String)>,
    patience: Patience,
}

impl SqliteWriter {
    /// Connects and prepares.
    pub fn open(
        home: &Arc<Home>,
        table: &str,
        columns: &[&str],
        retry: Retry,
    ) -> Result<Self, Error> {
        let mut session = Session::new(Link::open(home, Role::Write)?);
        let mut patience = Patience::new(retry);
        // Preparing reads the schema, which another writer's commit may lock for a moment.
        let mut prepare = |sql: &str| {
            patience
                .wait_for(|| session.prepare(sql))
                .map_err(|failure| session.error(sql, failure))
        };
        Ok(SqliteWriter {
            // Taking the lock at once: waiting later, with pages read, could not be retried.
            begin: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            inserts: vec![(prepare(&insert_sql(table, columns))?, table.into())],
            others: Vec::new(),
            session,
            patience: Patience::new(retry),
        })
    }
}

/// Returns the statement that inserts one row.
fn insert_sql(table: &str, columns: &[&str]) -> String {
    let table = quoted(table);
    if columns.is_empty() {
        return format!("INSERT INTO {table} DEFAULT VALUES");
    }
    let names: Vec<_> = columns.iter().map(|column| quoted(column)).collect();
    let places = vec!["?"; columns.len()];
    format!(
        "INSERT INTO {table}({}) VALUES({})",
        names.join(","),
        places.join(",")
    )
}

impl Writer for SqliteWriter {
    fn begin(&mut self) -> Result<(), Error> {
        self.patience
            .wait_for(|| self.session.run(self.begin))
            .map_err(|failure| self.session.error("BEGIN IMMEDIATE", failure))
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.insert_into(0, batch, rows)
    }

    fn add_table(&mut self, table: &str, columns: &[&str]) -> Result<(), Error> {
        let sql = insert_sql(table, columns);
        let (session, patience) = (&mut self.session, &mut self.patience);
        let insert = patience
            .wait_for(|| session.prepare(&sql))
            .map_err(|failure| session.error(&sql, failure))?;
        self.inserts.push((insert, table.into()));
        Ok(())
    }

    fn insert_into(
        &mut self,
        table: usize,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        let (insert, table) = &self.inserts[table];
        self.session
            .insert(*insert, batch, rows)
            .map_err(|(row, failure)| {
                if failure.is_of_the_row() {
                    return Error::Row {
                        table: table.clone(),
                        row,
                        message: failure.message,
                    };
                }
                let doing = format!("inserting row {row} into {table}");
                self.session.error(&doing, failure)
            })
    }

    fn prepare(&mut self, sql: &str) -> Result<usize, Error> {
        let (session, patience) = (&mut self.session, &mut self.patience);
        let statement = patience
            .wait_for(|| session.prepare(sql))
            .map_err(|failure| session.error(sql, failure))?;
        self.others.push((statement, sql.to_owned()));
        Ok(self.others.len() - 1)
    }

    fn run(&mut self, statement: usize, batch: &Batch, row: usize) -> Result<u64, Error> {
        let (statement, sql) = &self.others[statement];
        let rows = self.session.query(*statement, batch, row);
        rows.map_err(|failure| self.session.error(sql, failure))
    }

    /// Retries the commit like a begin, because readers may block it with a rollback journal.
    fn commit(&mut self) -> Result<(), Error> {
        self.patience
            .wait_for(|| self.session.run(self.commit))
            .map_err(|failure| self.session.error("COMMIT", failure))
    }

    /// Some errors, such as a full disk, make SQLite roll back by itself.
    fn rollback(&mut self) -> Result<(), Error> {
        if !self.session.is_in_transaction() {
            return Ok(());
        }
        self.session
            .run(self.rollback)
            .map_err(|failure| self.session.error("ROLLBACK", failure))
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        let pages = self.session.home().settings.checkpoint_pages;
        self.session
            .checkpoint_if_due(pages)
            .map_err(|failure| self.session.error("running a checkpoint", failure))
    }

    fn retries(&self) -> u64 {
        self.patience.retries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Settings};

    #[test]
    fn a_full_disk_is_told_and_leaves_a_usable_writer() {
        let folder = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::create(folder.path(), &Settings::default()).unwrap());
        let control = Link::open(&home, Role::Create).unwrap().connection;
        control.execute_batch("CREATE TABLE t(x)").unwrap();
        let mut writer = SqliteWriter::open(&home, "t", &["x"], Retry::default()).unwrap();
        let limit = writer
            .session
            .prepare("PRAGMA max_page_count = 10")
            .unwrap();
        writer.session.run(limit).unwrap();
        let batch = Batch {
            columns: vec![Column::Integers((0..100_000).collect())],
        };
        writer.begin().unwrap();
        let error = writer.insert(&batch, 0..100_000).unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
        writer.rollback().unwrap();
        writer.begin().unwrap();
        writer.insert(&batch, 0..100).unwrap();
        writer.commit().unwrap();
        let count = control.query_row("SELECT count(*) FROM t", (), |row| row.get(0));
        assert_eq!(count, Ok(100));
    }

    #[test]
    fn the_statement_quotes_names_and_counts_places() {
        assert_eq!(insert_sql("t", &[]), r#"INSERT INTO "t" DEFAULT VALUES"#);
        assert_eq!(
            insert_sql("a\"b", &["order", "x"]),
            r#"INSERT INTO "a""b"("order","x") VALUES(?,?)"#
        );
    }
}
