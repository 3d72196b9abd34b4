//! What gives a request access to an account. It may end while the request waits.

use super::user::User;
use crate::{Error, Result};
use rusqlite::Connection;

/// The session or the API token by which a request came, as the hash of its secret.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// A session.
    Session([u8; 32]),
    /// An API token.
    Token([u8; 32]),
}

impl Access {
    /// Checks that it still gives access to this user. After a restore, another user may have the user's number.
    ///
    /// # Errors
    /// [`Error::SignedOut`].
    pub fn check(self, db: &Connection, user: &User) -> Result<()> {
        let (sql, hash) = match self {
            Access::Session(hash) => (
                "SELECT EXISTS (SELECT 1 FROM session JOIN user ON user.number = session.user
                 WHERE session.hash = ?1 AND session.user = ?2 AND user.id = ?3 AND NOT user.is_suspended)",
                hash,
            ),
            Access::Token(hash) => (
                "SELECT EXISTS (SELECT 1 FROM api_token JOIN user ON user.number = api_token.user
                 WHERE api_token.hash = ?1 AND api_token.user = ?2 AND user.id = ?3 AND NOT user.is_suspended)",
                hash,
            ),
        };
        let bound = (hash, user.number, user.id.to_bytes());
        match db.prepare_cached(sql)?.query_row(bound, |row| row.get(0))? {
            true => Ok(()),
            false => Err(Error::SignedOut),
        }
    }
}
