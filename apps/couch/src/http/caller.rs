//! The user of a request, and writes in that user's name.

use super::{HttpError, HttpResult, Server, client, validation};
use crate::auth::User;
use crate::store::{Database, Edit, Mode, Outcome, Refusal, Written};
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
    /// The scheme and the host by which the client reached the server, such as `http://localhost:5984`.
    pub origin: String,
}

impl FromRequestParts<Arc<Server>> for Caller {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> HttpResult<Self> {
        let user = parts.extensions.get::<User>().cloned();
        let missing = || HttpError::Internal("the request was not authenticated".to_owned());
        Ok(Caller {
            server: Arc::clone(server),
            user: user.ok_or_else(missing)?,
            origin: server.origin(&parts.headers, client::is_tls(&parts.extensions)),
        })
    }
}

impl Caller {
    /// Writes the edits that the validation functions allow. Returns the outcomes in the order of the edits.
    ///
    /// # Errors
    /// If they cannot be written.
    pub async fn write_all(
        &self,
        db: &Database,
        edits: Vec<Edit>,
        mode: Mode,
    ) -> HttpResult<Vec<Outcome>> {
        self.write_some(db, edits, mode, &mut None).await
    }

    /// Writes some of the edits of a request. If a validation function was stopped, `stopped` is set, and further edits of the
    /// request are refused.
    ///
    /// # Errors
    /// If they cannot be written.
    pub async fn write_some(
        &self,
        db: &Database,
        mut edits: Vec<Edit>,
        mode: Mode,
        stopped: &mut Option<Refusal>,
    ) -> HttpResult<Vec<Outcome>> {
        for edit in edits.iter_mut().filter(|edit| edit.id.is_none()) {
            edit.id = Some(self.new_id());
        }
        validation::write(&self.server, &self.user, db, edits, mode, stopped).await
    }

    /// Returns an id for a document that has none.
    pub fn new_id(&self) -> String {
        self.server.uuids.next(&self.server.config)
    }

    /// Writes an edit if the validation functions allow it.
    ///
    /// # Errors
    /// If they do not, or the edit is refused.
    pub async fn write(&self, db: &Database, edit: Edit, mode: Mode) -> HttpResult<Written> {
        let outcomes = self.write_all(db, vec![edit], mode).await?;
        let outcome = outcomes.into_iter().next();
        Ok(outcome.ok_or_else(|| HttpError::Internal("an edit has no outcome".to_owned()))??)
    }
}
