//! Settings of the owner.

use crate::Result;
use rusqlite::{Connection, OptionalExtension};

/// The users who may sign up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignUp {
    /// Only visitors with an invitation.
    #[default]
    Invitation,
    /// All visitors.
    Open,
}

impl SignUp {
    /// The stored and transmitted form.
    pub fn name(self) -> &'static str {
        match self {
            SignUp::Invitation => "invitation",
            SignUp::Open => "open",
        }
    }
}

/// Returns who may sign up.
///
/// # Errors
/// SQLite's error.
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
/// SQLite's error.
pub fn set_sign_up(db: &Connection, sign_up: SignUp) -> Result<()> {
    let sql = "INSERT INTO setting VALUES ('sign_up', ?1) ON CONFLICT DO UPDATE SET value = excluded.value";
    db.prepare_cached(sql)?.execute([sign_up.name()])?;
    Ok(())
}
