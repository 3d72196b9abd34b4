//! The fields of a film for a user, as they are stored: on the list, or among those taken off.

use super::{
    merge::{Field, Register, Write},
    operation::{Operation, Watched, default_of, fields_of},
};
use crate::{
    Error, Result,
    date::now_ms,
    db::{entries::State, undo},
};
use inorder_key::{TimeId, Ulid};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, io};

/// A row of the table of versions: field, id, and the value where it lost.
pub type Version = (String, [u8; 16], Option<String>);

/// What an entry says, as [`undo::COLUMNS`] of the entry or of one that was taken off.
pub type Said = (
    i64,
    i64,
    i64,
    i64,
    Option<f64>,
    Option<String>,
    Option<i64>,
    Option<String>,
    String,
    String,
    u32,
);

/// All fields of a film for a user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    registers: BTreeMap<Field, Register>,
    added_ms: Option<i64>,
}

fn unreadable(error: serde_json::Error) -> Error {
    io::Error::other(error).into()
}

impl Record {
    /// Reads the fields of a film.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(db: &Connection, user: i64, film: i64) -> Result<Self> {
        let columns = undo::COLUMNS;
        let sql = format!(
            "SELECT json_array({columns}), 1 FROM entry WHERE user = ?1 AND film = ?2
             UNION ALL SELECT before, 0 FROM gone WHERE user = ?1 AND film = ?2"
        );
        let said: Option<(String, bool)> = db
            .prepare_cached(&sql)?
            .query_row((user, film), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let sql = "SELECT field, id, value FROM version WHERE user = ?1 AND film = ?2";
        let mut statement = db.prepare_cached(sql)?;
        let version = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let versions = statement.query_map((user, film), version)?;
        let versions = versions.collect::<rusqlite::Result<Vec<Version>>>()?;
        match said {
            Some((said, is_listed)) => Record::of(&said, is_listed, versions),
            None => Ok(Record::default()),
        }
    }

    /// Makes the record of what is stored.
    pub fn of(said: &str, is_listed: bool, versions: Vec<Version>) -> Result<Self> {
        let said: Said = serde_json::from_str(said).map_err(unreadable)?;
        let added_ms = said.3;
        let shown = values(said, is_listed).map_err(unreadable)?;
        let mut registers: BTreeMap<Field, Register> = BTreeMap::new();
        let mut write = |field, id, value| {
            let register = registers.entry(field).or_default();
            register.write(field, Write { id, value }, &[]);
        };
        if versions.is_empty() {
            let id = Ulid::first_at(added_ms.unsigned_abs()).unwrap_or(Ulid::NIL);
            for (field, value) in shown {
                write(field, id, value);
            }
        } else {
            for (name, id, lost) in versions {
                let field = Field::ALL.into_iter().find(|field| field.name() == name);
                let (Some(field), id) = (field, Ulid::from_bytes(id)) else {
                    continue;
                };
                let lost = lost.map(|text| serde_json::from_str(&text)).transpose();
                let value = lost.map_err(unreadable)?;
                if id != Ulid::NIL {
                    write(field, id, value.unwrap_or_else(|| shown[&field].clone()));
                }
            }
        }
        Ok(Record {
            registers,
            // Zero where a film that was never added has a place.
            added_ms: Some(added_ms).filter(|ms| is_listed || *ms > 0),
        })
    }

    /// Merges an operation.
    pub fn merge(&mut self, operation: &Operation) {
        let ms = i64::try_from(operation.id.ms()).map_or(0, |ms| ms.min(now_ms()));
        // A device that knew nothing of the film added it as well.
        let is_add =
            operation.set.contains_key(&Field::Listed) && operation.base(Field::Listed).is_empty();
        self.added_ms = match self.added_ms {
            Some(added_ms) if is_add => Some(added_ms.min(ms)),
            // What says nothing of the list, such as a place, adds no film.
            other if operation.set.contains_key(&Field::Listed) => other.or(Some(ms)),
            other => other,
        };
        for (field, value) in &operation.set {
            let write = Write {
                id: operation.id,
                value: value.clone(),
            };
            let register = self.registers.entry(*field).or_default();
            register.write(*field, write, operation.base(*field));
        }
    }

    /// The writes of a field.
    pub fn register(&self, field: Field) -> Register {
        self.registers.get(&field).cloned().unwrap_or_default()
    }

    /// The value of a field.
    pub fn value(&self, field: Field) -> Value {
        let value = self.registers.get(&field).and_then(Register::value);
        value.cloned().unwrap_or_else(|| default_of(field))
    }

    /// Whether the film is on the list.
    pub fn is_listed(&self) -> bool {
        self.value(Field::Listed) == true
    }

    /// The time at which the film was added, in milliseconds since 1970.
    pub fn added_ms(&self) -> i64 {
        self.added_ms.unwrap_or_default()
    }

    /// The greatest version of all fields.
    pub fn newest(&self) -> Ulid {
        let writes = self.registers.values().flat_map(Register::writes);
        writes.map(|write| write.id).max().unwrap_or(Ulid::NIL)
    }

    /// Makes the values that are shown writes of this id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn sign(&mut self, db: &Connection, user: i64, film: i64, id: Ulid) -> Result<()> {
        for field in Field::ALL {
            let register = self.registers.entry(field).or_default();
            let (value, base) = (register.value().cloned(), register.versions());
            if let Some(value) = value {
                register.write(field, Write { id, value }, &base);
            }
        }
        self.store_versions(db, user, film)
    }

    /// Writes the record in place of what is stored.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn store(&self, db: &Connection, user: i64, film: i64) -> Result<()> {
        let value = |field| self.value(field);
        let seen = Watched::deserialize(value(Field::Watched)).map_err(unreadable)?;
        let said: Said = (
            value(Field::Priority).as_i64().unwrap_or_default(),
            i64::from(value(Field::Public) == true),
            i64::from(seen.watched),
            self.added_ms(),
            value(Field::Place).as_f64(),
            seen.watched_on,
            seen.rating,
            value(Field::Note).as_str().map(str::to_owned),
            value(Field::Tags).to_string(),
            json!(seen.earlier).to_string(),
            seen.seasons_watched,
        );
        let said = json!(said).to_string();
        undo::write_entry(db, user, film, self.is_listed().then_some(&said[..]))?;
        if !self.is_listed() {
            let sql = "INSERT INTO gone(user, film, before) VALUES (?1, ?2, ?3)
                       ON CONFLICT DO UPDATE SET before = excluded.before";
            db.prepare_cached(sql)?.execute((user, film, said))?;
        }
        self.store_versions(db, user, film)
    }

    /// Writes the versions in place of those that triggers made.
    fn store_versions(&self, db: &Connection, user: i64, film: i64) -> Result<()> {
        db.prepare_cached("DELETE FROM version WHERE user = ?1 AND film = ?2")?
            .execute((user, film))?;
        let sql = "INSERT INTO version(user, film, field, id, value) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = db.prepare_cached(sql)?;
        for field in Field::ALL {
            let register = self.register(field);
            for write in register.writes() {
                let is_shown = register.value() == Some(&write.value);
                let lost = (!is_shown).then(|| write.value.to_string());
                insert.execute((user, film, field.name(), write.id.to_bytes(), lost))?;
            }
            if register.writes().is_empty() {
                let nobody = Ulid::NIL.to_bytes();
                insert.execute((user, film, field.name(), nobody, None::<String>))?;
            }
        }
        Ok(())
    }
}

/// The value of each field.
fn values(said: Said, is_listed: bool) -> serde_json::Result<BTreeMap<Field, Value>> {
    let (priority, public, is_watched, _, place, watched_on, rating, note, tags, earlier, seasons) =
        said;
    let mut values = fields_of(&State {
        priority,
        public: public != 0,
        watched: is_watched != 0,
        watched_on,
        rating,
        note,
        tags: serde_json::from_str(&tags)?,
        earlier: serde_json::from_str(&earlier)?,
        seasons_watched: seasons,
    });
    values.insert(Field::Listed, is_listed.into());
    values.insert(Field::Place, place.into());
    Ok(values)
}
