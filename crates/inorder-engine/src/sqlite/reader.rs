//! A connection that runs one query.

use super::{
    failure::Patience,
    link::{Home, Link, Role},
    session::{Session, StatementId},
};
use crate::{Batch, Error, Reader, Retry};
use std::sync::Arc;

/// Runs one query repeatedly.
pub struct SqliteReader {
    session: Session,
    query: StatementId,
    sql: String,
    patience: Patience,
}

impl SqliteReader {
    /// Connects and prepares.
    pub fn open(home: &Arc<Home>, sql: &str) -> Result<Self, Error> {
        let mut session = Session::new(Link::open(home, Role::Read)?);
        let mut patience = Patience::new(Retry::default());
        let query = patience
            .wait_for(|| session.prepare(sql))
            .map_err(|failure| session.error(sql, failure))?;
        Ok(SqliteReader {
            session,
            query,
            sql: sql.into(),
            patience,
        })
    }
}

impl Reader for SqliteReader {
    /// Retries the query, because a commit with a rollback journal may lock the file for a moment.
    fn query(&mut self, batch: &Batch, row: usize) -> Result<u64, Error> {
        self.patience
            .wait_for(|| self.session.query(self.query, batch, row))
            .map_err(|failure| self.session.error(&self.sql, failure))
    }
}
