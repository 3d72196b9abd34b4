//! Documents that are not replicated: their revisions are only counted.

use super::state::number;
use super::{Error, Missing, Result, Written};
use crate::json;
use crate::revision::{Revision, RevisionHash};
use rusqlite::{Connection, OptionalExtension, Row};

/// A local document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalDocument {
    /// Its id, with `_local/`.
    pub id: String,
    /// The number of writes, which is the hash part of `_rev`: `0-N`.
    pub writes: u64,
    /// The body: a JSON object without members that begin with an underscore.
    pub body: String,
}

impl LocalDocument {
    /// The document as CouchDB writes it.
    pub fn to_json(&self) -> String {
        let mut out = b"{\"_id\":".to_vec();
        json::write_string(&mut out, &self.id);
        out.extend_from_slice(format!(",\"_rev\":\"0-{}\"", self.writes).as_bytes());
        if self.body.len() > 2 {
            out.push(b',');
        }
        out.extend_from_slice(self.body.get(1..).unwrap_or("}").as_bytes());
        // Only text was written.
        String::from_utf8(out).unwrap_or_default()
    }

    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(LocalDocument {
            id: row.get(0)?,
            writes: number(row, 1)?,
            body: row.get(2)?,
        })
    }
}

pub fn get(connection: &Connection, id: &str) -> Result<LocalDocument> {
    let mut statement =
        connection.prepare_cached("SELECT id, writes, body FROM local WHERE id = ?1")?;
    let found = statement
        .query_row([id], LocalDocument::from_row)
        .optional()?;
    found.ok_or(Error::NotFound(Missing::Missing))
}

/// The documents from `start` on, at most so many.
pub fn list(connection: &Connection, start: &str, limit: usize) -> Result<Vec<LocalDocument>> {
    let mut statement = connection
        .prepare_cached("SELECT id, writes, body FROM local WHERE id >= ?1 ORDER BY id LIMIT ?2")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((start, limit), LocalDocument::from_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Writes or deletes a document without a check of its revision. A deletion has the revision `0-0`.
pub fn write(connection: &Connection, id: &str, body: &str, deleted: bool) -> Result<Written> {
    let writes = if deleted {
        delete(connection, id)?;
        0
    } else {
        let mut statement = connection.prepare_cached(
            "INSERT INTO local(id, writes, body) VALUES (?1, 1, ?2)
             ON CONFLICT(id) DO UPDATE SET writes = writes + 1, body = excluded.body RETURNING writes",
        )?;
        statement.query_row((id, body), |row| number(row, 0))?
    };
    Ok(Written {
        id: id.to_owned(),
        revision: revision(writes)?,
    })
}

/// Deletes a document; whether there was one.
pub fn delete(connection: &Connection, id: &str) -> Result<bool> {
    let mut statement = connection.prepare_cached("DELETE FROM local WHERE id = ?1")?;
    Ok(statement.execute([id])? > 0)
}

fn revision(writes: u64) -> Result<Revision> {
    let hash = RevisionHash::from_bytes(writes.to_string().as_bytes());
    let revision = hash.and_then(|hash| Revision::new(0, hash));
    revision.ok_or_else(|| Error::Failed("a revision has no name".to_owned()))
}
