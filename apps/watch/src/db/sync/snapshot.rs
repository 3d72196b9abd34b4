//! A list with the versions of its fields, as a device keeps it.

use super::{
    merge::Field,
    record::{Record, Version},
};
use crate::{
    Result,
    db::{film::Film, undo, user::User},
};
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The table of the entries and of those taken off, with the columns `said` and `listed`.
fn records() -> String {
    format!(
        "(SELECT film AS number, json_array({}) AS said, 1 AS listed FROM entry WHERE user = ?1
          UNION ALL SELECT film, before, 0 FROM gone WHERE user = ?1) record
         CROSS JOIN film USING (number)",
        undo::COLUMNS
    )
}

/// Returns a user's list with all versions, and the films taken off of late, in the order of the list.
///
/// # Errors
/// SQLite's error.
pub fn snapshot(db: &Connection, user: &User) -> Result<Value> {
    let mut versions: HashMap<i64, Vec<Version>> = HashMap::new();
    let sql = "SELECT film, field, id, value FROM version WHERE user = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user.number])?;
    while let Some(row) = rows.next()? {
        let version = (row.get(1)?, row.get(2)?, row.get(3)?);
        versions.entry(row.get(0)?).or_default().push(version);
    }
    let sql = format!(
        "SELECT {}, said, listed FROM {} ORDER BY said ->> 0 DESC, coalesce(said ->> 4, said ->> 3), number",
        Film::COLUMNS,
        records()
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([user.number])?;
    let mut films = Vec::new();
    while let Some(row) = rows.next()? {
        let film = Film::of(row)?;
        let said: String = row.get(Film::COLUMN_COUNT)?;
        let is_listed = row.get(Film::COLUMN_COUNT + 1)?;
        let versions = versions.remove(&film.number).unwrap_or_default();
        let record = Record::of(&said, is_listed, versions)?;
        films.push(as_json(&film, &record));
    }
    Ok(json!({"user": user.id.to_string(), "films": films}))
}

fn as_json(film: &Film, record: &Record) -> Value {
    let mut value = film.as_json();
    let (mut fields, mut versions, mut conflicts) = (Map::new(), Map::new(), Vec::new());
    for field in Field::ALL {
        let register = record.register(field);
        fields.insert(field.name().to_owned(), record.value(field));
        versions.insert(field.name().to_owned(), json!(register.versions()));
        for (other, versions) in register.lost() {
            conflicts.push(json!({"field": field, "value": other, "versions": versions}));
        }
    }
    value["fields"] = fields.into();
    value["versions"] = versions.into();
    value["conflicts"] = conflicts.into();
    value["added_ms"] = record.added_ms().into();
    value
}

/// Returns what is kept of films that a user took off, for the export: title, note and tags.
///
/// # Errors
/// SQLite's error.
pub fn taken_off(db: &Connection, user: i64) -> Result<Vec<Value>> {
    let sql = format!(
        "SELECT film.title, film.year, said ->> 7, said ->> 8 FROM {} WHERE NOT listed ORDER BY number",
        records()
    );
    let mut statement = db.prepare_cached(&sql)?;
    let film = |row: &Row<'_>| {
        let (title, year): (String, Option<i64>) = (row.get(0)?, row.get(1)?);
        let note: Option<String> = row.get(2)?;
        let tags: Value = serde_json::from_str(row.get_ref(3)?.as_str()?).unwrap_or_default();
        Ok(json!({"title": title, "year": year, "note": note, "tags": tags}))
    };
    let films = statement.query_map([user], film)?;
    Ok(films.collect::<rusqlite::Result<_>>()?)
}
