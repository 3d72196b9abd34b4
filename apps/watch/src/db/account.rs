//! Export and deletion of accounts.

use super::{
    blocks, devices, entries, films, friends, imports, links, mail, news, passkeys, sessions, sync,
    tokens, users::User,
};
use crate::{Error, Result, date, words::say};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Exports all data of a user, except for secrets, which are stored as hashes only.
///
/// # Errors
/// SQLite's error.
pub fn export(db: &Connection, user: &User) -> Result<Value> {
    let day = |id: inorder_key::Ulid| date::day(id.ms());
    let list: Vec<Value> = entries::all(db, user.number)?.iter().map(entry).collect();
    let names = |users: Vec<User>| -> Vec<String> { users.into_iter().map(|u| u.name).collect() };
    let friends = names(friends::all(db, user.number)?);
    let tokens: Vec<Value> = tokens::all(db, user.number)?
        .iter()
        .map(|token| json!({"name": token.name, "made": day(token.id)}))
        .collect();
    let passkeys: Vec<Value> = passkeys::all(db, user.number)?
        .iter()
        .map(|key| json!({"name": key.name, "made": day(key.id), "last_used": key.used_ms.map(|ms| date::day(ms.unsigned_abs()))}))
        .collect();
    let invitations: Vec<String> = links::invitations(db, user.number)?
        .into_iter()
        .map(day)
        .collect();
    let blocked = names(blocks::all(db, user.number)?);
    Ok(json!({
        "name": user.name,
        "signed_up": day(user.id),
        "list": list,
        "tags": entries::tags::all(db, user.number)?,
        "taken_off": sync::taken_off(db, user.number)?,
        "conflicts": conflicts(db, user.number)?,
        "friends": friends,
        "blocked": blocked,
        "requests_sent": requests(&friends::sent(db, user.number)?),
        "requests_received": requests(&friends::received(db, user)?),
        "import_waits": imports::waits(db, user.number)?,
        "has_feed": news::has_feed(db, user.number)?,
        "mail": mail::of(db, user.number)?.map(|mail| mail.address),
        "tokens": tokens,
        "passkeys": passkeys,
        "invitations_made": invitations,
        "sessions": sessions::count(db, user.number)?,
        "devices": devices::count(db, user.number)?,
    }))
}

/// Values of other devices that were not chosen yet.
fn conflicts(db: &Connection, user: i64) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for (film, title) in sync::in_conflict(db, user)? {
        let found = sync::conflicts(db, user, films::number(db, film)?)?.into_iter();
        all.extend(found.map(|c| json!({"title": title, "field": c.field, "value": c.other})));
    }
    Ok(all)
}

/// Friend requests in the format of the API and the export.
pub fn requests(requests: &[friends::Request]) -> Value {
    let request = |r: &friends::Request| json!({"name": r.name, "sent": date::day(r.id.ms())});
    requests.iter().map(request).collect()
}

/// An entry in the format of the API and the export.
pub fn entry(entry: &entries::Entry) -> Value {
    let mut value = entry.film.as_json();
    if let (Some(value), Value::Object(state)) = (value.as_object_mut(), json!(entry.state)) {
        value.extend(state);
        value.insert("added".to_owned(), date::day(entry.added_ms).into());
    }
    value
}

/// Deletes a user and all their data. Films they added stay, without their name.
///
/// # Errors
/// [`Error::Invalid`] for the owner while there are other users.
pub fn delete(db: &Connection, user: &User) -> Result<()> {
    let others: bool = db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM user WHERE number <> ?1)")?
        .query_row([user.number], |row| row.get(0))?;
    if user.is_owner && others {
        return Err(Error::Invalid(say::owner_stays()));
    }
    // Requests to the user reach nobody afterwards. Their senders see no difference.
    db.prepare_cached("DELETE FROM user WHERE number = ?1")?
        .execute([user.number])?;
    Ok(())
}
