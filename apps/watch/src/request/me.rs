//! The user of a request.

use super::App;
use crate::{
    Error, Result,
    db::{
        Access, imports, sessions,
        undo::{self, Undone},
        users::User,
    },
    lists::{self, ListRow, Reading, Sent},
};
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
    /// The session or the token. Each read and write checks that it still gives access to the user.
    pub access: Access,
    /// The number of requests and of friends with new films.
    pub news: u32,
}

impl Me {
    /// Reads in the user's name.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::SignedOut`].
    pub fn read<T>(&self, work: impl FnOnce(&Connection, &User) -> Result<T>) -> Result<T> {
        self.app.db().read(|db| {
            self.access.check(db, &self.user)?;
            work(db, &self.user)
        })
    }

    /// Like [`Me::read`], for what may look at many rows.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::SignedOut`].
    pub async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &User) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (user, access) = (self.user.clone(), self.access);
        let read = move |db: &Connection| {
            access.check(db, &user)?;
            work(db, &user)
        };
        self.app.db().read_long(read).await
    }

    /// Returns whether the session was begun with a passkey some minutes ago, which replaces the password.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn is_confirmed(&self) -> Result<bool> {
        match self.access {
            Access::Session(hash) => self.app.db().read(|db| sessions::is_confirmed(db, hash)),
            Access::Token(_) => Ok(false),
        }
    }

    /// Checks that the user is there: by the password, or a sign-in with a passkey some minutes ago.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a wrong password, [`Error::TooMany`] after many of them.
    pub async fn confirm(&self, password: String) -> Result<()> {
        if password.is_empty() && self.is_confirmed()? {
            return Ok(());
        }
        self.app.check_password(&self.user, password).await
    }

    /// Writes in the user's name. Returns when it is committed.
    ///
    /// # Errors
    /// The error of `work`, or [`Error::SignedOut`]; nothing is written then.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &User) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (user, access) = (self.user.clone(), self.access);
        let write = move |db: &Connection| {
            access.check(db, &user)?;
            work(db, &user)
        };
        self.app.db().write(write).await
    }

    /// Undoes a change of the user's list, some films at a time, so that the writes of others wait for these only. It goes on when
    /// the client disconnects. If the server ends before, the films that are left can be undone later.
    ///
    /// # Errors
    /// Those of [`undo::undo`], or [`Error::SignedOut`].
    pub async fn undo(&self, change: Ulid) -> Result<Undone> {
        let (db, user, access) = (self.app.db().clone(), self.user.clone(), self.access);
        let all = tokio::spawn(async move {
            let (mut undone, mut parts) = (Undone::default(), 0);
            loop {
                let user = user.clone();
                let part = db.write(move |db| {
                    access.check(db, &user)?;
                    undo::undo_some(db, user.number, change)
                });
                match part.await {
                    Ok((some, is_all)) => {
                        undone += some;
                        parts += 1;
                        if is_all {
                            return Ok(undone);
                        }
                    }
                    // Another request for the same has undone the rest.
                    Err(Error::NotFound(_)) if parts > 0 => return Ok(undone),
                    Err(error) => return Err(error),
                }
            }
        });
        all.await.map_err(std::io::Error::other)?
    }

    /// Reads a file with a list, as its sender says.
    ///
    /// # Errors
    /// Those of [`lists::read`].
    pub async fn read_file(&self, sent: Arc<Sent>) -> Result<Reading> {
        self.read_long(move |_, _| lists::read(&sent.name, &sent.bytes, &sent.answers))
            .await
    }

    /// Finds the films that the rows of a file may mean.
    ///
    /// # Errors
    /// SQLite's error.
    pub async fn find_films(&self, rows: Vec<ListRow>) -> Result<lists::Found> {
        let rows: Arc<[ListRow]> = rows.into();
        let mut found = lists::Found::default();
        for first in (0..rows.len()).step_by(ROWS_AT_ONCE) {
            let rows = Arc::clone(&rows);
            let find = move |db: &Connection, _: &User| {
                let last = rows.len().min(first + ROWS_AT_ONCE);
                found.find(db, &rows[first..last])?;
                Ok(found)
            };
            found = self.read_long(find).await?;
        }
        Ok(found)
    }

    /// Keeps a file until the user confirms its import.
    ///
    /// # Errors
    /// SQLite's error.
    pub async fn keep_import(&self, sent: &Sent) -> Result<Ulid> {
        let text = serde_json::to_string(sent).map_err(std::io::Error::other)?;
        self.write(move |db, user| imports::keep(db, user.number, &text))
            .await
    }

    /// Keeps a file with other answers of its sender.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it waits no longer.
    pub async fn answer_import(&self, id: Ulid, sent: &Sent) -> Result<()> {
        let text = serde_json::to_string(sent).map_err(std::io::Error::other)?;
        self.write(move |db, user| imports::change(db, user.number, id, &text))
            .await
    }

    /// Returns a file that waits for the user's confirmation.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it waits no longer.
    pub async fn kept_import(&self, id: Ulid) -> Result<Arc<Sent>> {
        let read = move |db: &Connection, user: &User| {
            let text = imports::reading(db, user.number, id)?;
            // An earlier version of this program may have kept something else.
            serde_json::from_str(&text).map_err(|_| Error::NotFound("import"))
        };
        Ok(Arc::new(self.read_long(read).await?))
    }
}
