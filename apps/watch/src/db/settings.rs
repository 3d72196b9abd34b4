//! What the owner decides.

use crate::Result;
use rusqlite::{Connection, OptionalExtension};

/// Who may sign up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignUp {
    /// Visitors with an invitation of a user.
    #[default]
    Invitation,
    /// Anybody.
    Open,
}

impl SignUp {
    /// As it is stored and sent.
    pub fn name(self) -> &'static str {
        match self {
            SignUp::Invitation => "invitation",
            SignUp::Open => "open",
        }
    }
}

/// Who may sign up.
///
/// # Errors
/// What SQLite says.
pub fn sign_up(db: &Connection) -> Result<SignUp> {
    let mut statement = db.prepare_cached("SELECT value FROM setting WHERE name = 'sign_up'")?;
    let value: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(match value.as_deref() {
        Some("open") => SignUp::Open,
        _ => SignUp::Invitation,
    })
}

/// Sets who may sign up.
///
/// # Errors
/// What SQLite says.
pub fn set_sign_up(db: &Connection, sign_up: SignUp) -> Result<()> {
    let sql = "INSERT INTO setting VALUES ('sign_up', ?1) ON CONFLICT DO UPDATE SET value = excluded.value";
    db.prepare_cached(sql)?.execute([sign_up.name()])?;
    Ok(())
}
