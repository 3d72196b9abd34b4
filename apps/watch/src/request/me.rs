//! The user of a request.

use super::App;
use crate::{
    Result,
    db::users::User,
    lists::{self, ListRow},
};
use axum::body::Bytes;
use inorder_key::Ulid;
use rusqlite::Connection;
use std::sync::Arc;

/// Rows of a list that are looked for before others have their turn.
const ROWS_AT_ONCE: usize = 100;

/// A user who is signed in, or whose API token was sent.
pub struct Me {
    /// The server.
    pub app: App,
    /// The user.
    pub user: User,
    /// The number of requests and of friends with new films.
    pub news: u32,
}

impl Me {
    /// Reads in the user's name.
    ///
    /// # Errors
    /// The error of `work`.
    pub fn read<T>(&self, work: impl FnOnce(&Connection, &User) -> Result<T>) -> Result<T> {
        self.app.db().read(|db| work(db, &self.user))
    }

    /// Like [`Me::read`], for what may look at many rows.
    ///
    /// # Errors
    /// The error of `work`.
    pub async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &User) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let user = self.user.clone();
        self.app.db().read_long(move |db| work(db, &user)).await
    }

    /// Writes in the user's name. Returns when it is committed.
    ///
    /// # Errors
    /// The error of `work`; nothing is written then.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &User) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let user = self.user.clone();
        self.app.db().write(move |db| work(db, &user)).await
    }

    /// Adds the films of a file to the user's list, as one change.
    ///
    /// # Errors
    /// Those of [`lists::rows`] and [`lists::apply`].
    pub async fn import(
        &self,
        text: Bytes,
        kind: lists::Kind,
        add_missing: bool,
    ) -> Result<(Ulid, lists::Imported)> {
        let rows = self.read_long(move |_, _| lists::rows(&text, kind));
        let rows: Arc<[ListRow]> = rows.await?.into();
        let mut plan = lists::Plan::default();
        for first in (0..rows.len()).step_by(ROWS_AT_ONCE) {
            let rows = Arc::clone(&rows);
            let find = move |db: &Connection, _: &User| {
                let last = rows.len().min(first + ROWS_AT_ONCE);
                plan.find(db, &rows[first..last])?;
                Ok(plan)
            };
            plan = self.read_long(find).await?;
        }
        self.write(move |db, user| lists::apply(db, user, plan, add_missing))
            .await
    }
}
