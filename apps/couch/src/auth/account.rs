//! Accounts: what is known of a user that may log in.

use super::password::{BadHash, PasswordHash};
use super::user::{ADMIN_ROLE, METRICS_ROLE};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The prefix of the ids of user documents.
pub const ID_PREFIX: &str = "org.couchdb.user:";

/// A user that may log in.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The roles.
    pub roles: Arc<[String]>,
    /// The password; `None` if nobody can log in with one.
    pub password: Result<Option<PasswordHash>, BadHash>,
    /// Whether the document has conflicts, so that nobody knows which password counts.
    pub has_conflicts: bool,
    /// Whether the account is a document, and no server admin.
    pub is_document: bool,
    /// The settings of one-time passwords, where the user has them.
    pub totp: Option<Map<String, Value>>,
}

/// Where accounts come from.
pub trait Directory: Send + Sync {
    /// The account of a document of the database of users.
    ///
    /// # Errors
    /// Why the document could not be read.
    fn account(&self, database: &str, name: &str) -> Result<Option<Arc<Account>>, String>;
}

/// A directory without accounts.
impl Directory for () {
    fn account(&self, _: &str, _: &str) -> Result<Option<Arc<Account>>, String> {
        Ok(None)
    }
}

impl Account {
    /// From a user document with `_conflicts`.
    ///
    /// Roles that a document can't give, such as `_admin`, are left out. No document can be written with them.
    pub fn of_document(document: &Map<String, Value>) -> Self {
        let roles = document.get("roles").and_then(Value::as_array);
        let roles = roles.into_iter().flatten().filter_map(Value::as_str);
        let roles = roles.filter(|role| !role.starts_with('_') || *role == METRICS_ROLE);
        let totp = document.get("totp").and_then(Value::as_object);
        Account {
            roles: roles.map(str::to_owned).collect(),
            password: PasswordHash::in_document(document),
            has_conflicts: document.contains_key("_conflicts"),
            is_document: true,
            totp: totp.cloned(),
        }
    }

    /// A server admin.
    pub fn of_admin(password: PasswordHash) -> Self {
        Account {
            roles: [ADMIN_ROLE.to_owned()].into(),
            password: Ok(Some(password)),
            has_conflicts: false,
            is_document: false,
            totp: None,
        }
    }

    /// The same account with more roles.
    pub fn with_roles(&self, more: &[String]) -> Self {
        let roles = self.roles.iter().chain(more);
        Account {
            roles: roles.cloned().collect(),
            ..self.clone()
        }
    }

    /// The salt, which a session's signature covers.
    pub fn salt(&self) -> &str {
        match &self.password {
            Ok(Some(password)) => password.salt(),
            _ => "",
        }
    }
}
