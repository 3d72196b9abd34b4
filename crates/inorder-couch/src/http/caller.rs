//! Who asks, and what they write.

use super::{HttpError, HttpResult, Server};
use crate::auth::User;
use crate::store::{Database, Edit, Validate, Written};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::sync::Arc;

/// The user behind a request to a server.
#[derive(Debug)]
pub struct Caller {
    /// The server.
    pub server: Arc<Server>,
    /// The user.
    pub user: User,
}

impl FromRequestParts<Arc<Server>> for Caller {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let user = parts.extensions.get::<User>().cloned();
        let missing = || HttpError::Internal("nobody asked who this is".to_owned());
        Ok(Caller {
            server: Arc::clone(server),
            user: user.ok_or_else(missing)?,
        })
    }
}

impl Caller {
    /// What asks a database's functions whether this user may write something; none when it has no functions.
    ///
    /// # Errors
    /// When a function can't be compiled, or the design documents not read.
    pub async fn validate(&self, db: &Database) -> HttpResult<Option<Validate>> {
        let validations = &self.server.validations;
        validations.validate(&self.server, db, &self.user).await
    }

    /// Writes an edit once the database's functions have allowed it.
    ///
    /// # Errors
    /// When they don't, or it is refused.
    pub async fn write(&self, db: &Database, edit: Edit) -> HttpResult<Written> {
        let validate = self.validate(db).await?;
        Ok(db.put_validated(edit, validate).await??)
    }

    /// The same for a revision that was made elsewhere.
    ///
    /// # Errors
    /// As [`Caller::write`].
    pub async fn write_replicated(&self, db: &Database, edit: Edit) -> HttpResult<Written> {
        let validate = self.validate(db).await?;
        let outcomes = db.bulk_replicated(vec![edit], validate).await?;
        let outcome = outcomes.into_iter().next();
        Ok(outcome.ok_or_else(|| HttpError::Internal("an edit has no outcome".to_owned()))??)
    }
}
