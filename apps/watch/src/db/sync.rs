//! Changes that devices make without a connection, and the merge of them. `docs/features.md` has the rule.

mod merge;
mod operation;
mod record;
mod snapshot;

use super::{
    entries::{self, State},
    films,
    undo::{self, Change},
};
use crate::{Error, Result, date::now_ms, words::say};
use inorder_key::{TimeId, Ulid};
use operation::{checked, columns_of, fields_of};
use record::Record;
use rusqlite::Connection;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

pub use merge::{Field, Register, Write};
pub use operation::{Operation, Watched};
pub use snapshot::{snapshot, taken_off};

/// The maximum number of operations per transmission.
pub const OPERATIONS_MAX: usize = 200;

/// The time for which is kept what a film said that was taken off, in milliseconds.
const GONE_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// The result of a transmission.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The change, for undo, unless all operations were known or refused.
    pub change: Option<Ulid>,
    /// Per operation: `None` if it is merged, or why it is refused.
    pub refused: Vec<(Ulid, Option<Arc<Error>>)>,
}

/// Merges operations of a device into a list, as one change. Known operations are skipped.
///
/// # Errors
/// [`Error::Invalid`] for more than [`OPERATIONS_MAX`]. What is wrong with a single operation is a part of the result.
pub fn merge(db: &Connection, user: i64, operations: Vec<Operation>) -> Result<Merged> {
    if operations.len() > OPERATIONS_MAX {
        return Err(Error::Invalid(say::operations_max(OPERATIONS_MAX)));
    }
    forget(db, user)?;
    let (mut change, mut refused) = (None::<Change>, Vec::new());
    for operation in operations {
        let id = operation.id;
        let reason = match merge_one(db, user, change, operation) {
            Ok(begun) => {
                change = begun;
                None
            }
            Err(error @ (Error::Invalid(_) | Error::NotFound(_))) => Some(Arc::new(error)),
            Err(error) => return Err(error),
        };
        refused.push((id, reason));
    }
    Ok(Merged {
        change: change.map(|change| change.id),
        refused,
    })
}

/// Merges an operation of a device as a part of a change, which is returned. A known operation is skipped.
fn merge_one(
    db: &Connection,
    user: i64,
    change: Option<Change>,
    operation: Operation,
) -> Result<Option<Change>> {
    let sql = "SELECT EXISTS (SELECT 1 FROM operation WHERE user = ?1 AND id = ?2)";
    let bound = (user, operation.id.to_bytes());
    if db.prepare_cached(sql)?.query_row(bound, |row| row.get(0))? {
        return Ok(change);
    }
    let change = apply(db, user, change, operation)?;
    db.prepare_cached("INSERT INTO operation(user, id) VALUES (?1, ?2)")?
        .execute(bound)?;
    Ok(Some(change))
}

/// Applies an operation as a part of a change, which is returned. Nothing is written if it is refused.
fn apply(
    db: &Connection,
    user: i64,
    change: Option<Change>,
    operation: Operation,
) -> Result<Change> {
    let film = films::number(db, operation.film)?;
    let operation = operation.checked(films::series(db, film)?)?;
    let mut record = Record::load(db, user, film)?;
    let was_listed = record.is_listed();
    record.merge(&operation);
    if record.is_listed() && !was_listed {
        entries::check_room(db, user)?;
    }
    let change = match change {
        Some(begun) => begun,
        None => Change::begin(db, user)?,
    };
    change.record(db, user, film, || record.store(db, user, film))?;
    Ok(change)
}

/// A new id for a write over this record. Those of one page, which has an id too, are alike but for their times.
fn new_id(record: &Record, page: Option<Ulid>) -> Ulid {
    let after = Ulid::first_at(record.newest().ms() + 1).unwrap_or(Ulid::MAX);
    let id = Ulid::now().max(after);
    let Some(page) = page else { return id };
    let time = Ulid::first_at(id.ms()).unwrap_or(Ulid::MAX);
    Ulid::from_u128(time.to_u128() | (page.to_u128() & RANDOM))
}

/// The bits of an id that are not its time.
const RANDOM: u128 = (1 << 80) - 1;

/// Whether a page made this version.
fn is_of(version: Ulid, page: Option<Ulid>) -> bool {
    page.is_some_and(|page| (version.to_u128() ^ page.to_u128()) & RANDOM == 0)
}

/// Writes fields of a film with this record now, over these versions. Returns the change, for undo.
fn write(
    db: &Connection,
    user: i64,
    (film, record, page): (i64, &Record, Option<Ulid>),
    set: BTreeMap<Field, Value>,
    base: BTreeMap<Field, Vec<Ulid>>,
) -> Result<Ulid> {
    let operation = Operation {
        id: new_id(record, page),
        film: films::by_number(db, film)?.id,
        set,
        base,
    };
    Ok(apply(db, user, None, operation)?.id)
}

/// Saves the fields of a form that its user changed: those in which the state differs from the one that the form was made from, `None` if
/// the film was not on the list. A field that was changed elsewhere meanwhile is in conflict then. What the same page saved before is
/// replaced. Returns the change, for undo; that of the save before if it is sent once more. `None` if no field was changed.
///
/// # Errors
/// Those of [`entries::put`].
pub fn save(
    db: &Connection,
    user: i64,
    film: i64,
    (page, before): (Option<Ulid>, Option<State>),
    state: State,
) -> Result<Option<Ulid>> {
    let mut record = Record::load(db, user, film)?;
    let is_new = before.is_none();
    if is_new && !record.is_listed() {
        let change = entries::put(db, user, film, state)?;
        if page.is_some() {
            record = Record::load(db, user, film)?;
            let id = new_id(&record, page);
            record.sign(db, user, film, id)?;
        }
        return Ok(Some(change));
    }
    let series = films::series(db, film)?;
    let mut known = fields_of(&before.unwrap_or_default().checked(series)?);
    let mut set = fields_of(&state.checked(series)?);
    let own = own_fields(&record, page);
    set.retain(|field, value| {
        // What this page has saved, and now takes back.
        let is_back = own.contains(field) && record.value(*field) != *value;
        known.get(field) != Some(value) || is_back
    });
    if let Some(change) = sent_before(db, (user, film), (&record, &own[..]), &set, is_new)? {
        return Ok(Some(change));
    }
    if set.is_empty() {
        return Ok(None);
    }
    // A place is one within its priority.
    if set.contains_key(&Field::Priority) {
        set.insert(Field::Place, Value::Null);
    }
    known.insert(Field::Listed, true.into());
    // What the form shows is known, also where it was written anew since.
    known.retain(|field, value| {
        checked(*field, record.value(*field), series).is_ok_and(|now| now == *value)
    });
    let mut base = BTreeMap::new();
    for field in Field::ALL {
        let register = record.register(field);
        let is_known = |write: &&Write| {
            let is_shown = known.contains_key(&field) && register.value() == Some(&write.value);
            is_shown || is_of(write.id, page)
        };
        let writes = register.writes().iter().filter(is_known);
        base.insert(field, writes.map(|write| write.id).collect());
    }
    write(db, user, (film, &record, page), set, base).map(Some)
}

/// The fields that show what this page has saved.
fn own_fields(record: &Record, page: Option<Ulid>) -> Vec<Field> {
    let is_own = |field: &Field| {
        let versions = record.register(*field).versions();
        versions.iter().any(|id| is_of(*id, page))
    };
    Field::ALL.into_iter().filter(is_own).collect()
}

/// Returns the change in which a page saved these values before, or put the film on the list, if it was the user's last one.
/// `own` are the fields that show what the page has saved.
fn sent_before(
    db: &Connection,
    (user, film): (i64, i64),
    (record, own): (&Record, &[Field]),
    set: &BTreeMap<Field, Value>,
    is_new: bool,
) -> Result<Option<Ulid>> {
    let listed = is_new.then_some(Field::Listed);
    let fields: Vec<Field> = set.keys().copied().chain(listed).collect();
    let is_same = |field, value: &Value| record.value(field) == *value;
    let is_saved = |field: &Field| {
        own.contains(field) && set.get(field).is_none_or(|value| is_same(*field, value))
    };
    if fields.is_empty() || !fields.iter().all(is_saved) {
        return Ok(None);
    }
    let columns: Vec<usize> = fields
        .iter()
        .flat_map(|f| columns_of(*f))
        .copied()
        .collect();
    undo::last(db, user, film, &columns)
}

/// Removes what films said that were taken off long ago.
fn forget(db: &Connection, user: i64) -> Result<()> {
    let since = u64::try_from(now_ms() - GONE_MS).unwrap_or_default();
    let since = Ulid::first_at(since).unwrap_or(Ulid::NIL).to_bytes();
    let sql = "DELETE FROM version WHERE user = ?1
               AND film IN (SELECT film FROM gone WHERE user = ?1 AND id < ?2)";
    db.prepare_cached(sql)?.execute((user, since))?;
    db.prepare_cached("DELETE FROM gone WHERE user = ?1 AND id < ?2")?
        .execute((user, since))?;
    Ok(())
}

/// A value that another device wrote at the same time, and that is not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The field.
    pub field: Field,
    /// One of its versions, by which [`resolve`] finds it.
    pub version: Ulid,
    /// The value that is shown.
    pub shown: Value,
    /// The other value.
    pub other: Value,
}

/// Returns the conflicts of a film on a list.
///
/// # Errors
/// SQLite's error.
pub fn conflicts(db: &Connection, user: i64, film: i64) -> Result<Vec<Conflict>> {
    let record = Record::load(db, user, film)?;
    let mut conflicts = Vec::new();
    for field in Field::ALL.into_iter().filter(|_| record.is_listed()) {
        for (other, versions) in record.register(field).lost() {
            conflicts.extend(versions.first().map(|version| Conflict {
                field,
                version: *version,
                shown: record.value(field),
                other: other.clone(),
            }));
        }
    }
    Ok(conflicts)
}

/// Ends a conflict: takes the other value, or keeps the one that is shown. Returns the change, for undo.
///
/// # Errors
/// [`Error::NotFound`] if the conflict was ended already.
pub fn resolve(
    db: &Connection,
    user: i64,
    film: i64,
    (field, version): (Field, Ulid),
    takes_other: bool,
) -> Result<Ulid> {
    let record = Record::load(db, user, film)?;
    let register = record.register(field);
    let lost = register.lost().into_iter();
    let (other, versions) = lost
        .into_iter()
        .find(|(_, versions)| versions.contains(&version))
        .ok_or(Error::NotFound("conflict"))?;
    let value = if takes_other {
        other.clone()
    } else {
        record.value(field)
    };
    let mut base = BTreeMap::from([(field, [register.versions(), versions].concat())]);
    base.entry(Field::Listed)
        .or_insert_with(|| record.register(Field::Listed).versions());
    let set = BTreeMap::from([(field, value)]);
    write(db, user, (film, &record, None), set, base)
}

/// Returns the films with a conflict on a list, by title.
///
/// # Errors
/// SQLite's error.
pub fn in_conflict(db: &Connection, user: i64) -> Result<Vec<(Ulid, String)>> {
    // Most lists have none: that is told by an index.
    let sql = "SELECT EXISTS (SELECT 1 FROM version WHERE user = ?1 AND value IS NOT NULL)";
    let are_some: bool = db
        .prepare_cached(sql)?
        .query_row([user], |row| row.get(0))?;
    if !are_some {
        return Ok(Vec::new());
    }
    let sql = "SELECT film.number, film.id, film.title FROM film WHERE number IN
                 (SELECT film FROM version WHERE user = ?1 AND value IS NOT NULL) ORDER BY film.title";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user])?;
    let mut films = Vec::new();
    while let Some(row) = rows.next()? {
        if !conflicts(db, user, row.get(0)?)?.is_empty() {
            films.push((Ulid::from_bytes(row.get(1)?), row.get(2)?));
        }
    }
    Ok(films)
}
