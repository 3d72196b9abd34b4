//! Lists with names: the tags of the films of a list.

use crate::{Error, Result, db::undo::Change, text, words::say};
use inorder_key::Ulid;
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde_json::json;

/// The maximum length of a tag in characters.
pub const TAG_CHARACTERS_MAX: usize = 60;

/// The maximum number of tags of a film on a list.
pub const TAGS_MAX: usize = 20;

/// Validates and normalises tags: trims blanks, removes repeated ones, and sorts them.
///
/// # Errors
/// [`Error::Invalid`] for one that is too long, has a comma or is invisible, and for too many.
pub fn checked(tags: Vec<String>) -> Result<Vec<String>> {
    let mut tags: Vec<String> = tags.iter().map(|tag| text::line(tag)).collect();
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    tags.dedup();
    let is_fine = |tag: &String| {
        text::has_visible(tag) && !tag.contains(',') && tag.chars().count() <= TAG_CHARACTERS_MAX
    };
    if !tags.iter().all(is_fine) {
        return Err(Error::Invalid(say::tag_wrong(TAG_CHARACTERS_MAX)));
    }
    if tags.len() > TAGS_MAX {
        return Err(Error::Invalid(say::tags_max(TAGS_MAX)));
    }
    Ok(tags)
}

/// Splits the text of a form or of a file at its commas.
pub fn split(text: &str) -> Vec<String> {
    let names = text.split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// A list with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tag {
    /// The name.
    pub name: String,
    /// The number of its films.
    pub films: i64,
    /// Whether friends see it.
    pub shared: bool,
}

/// Returns the tags of a user's list, by name.
///
/// # Errors
/// SQLite's error.
pub fn all(db: &Connection, user: i64) -> Result<Vec<Tag>> {
    of(db, user, false)
}

/// Returns the tags that a user shows to friends, with the numbers of films that friends see, by name.
///
/// # Errors
/// SQLite's error.
pub fn shared(db: &Connection, user: i64) -> Result<Vec<Tag>> {
    let mut tags = of(db, user, true)?;
    tags.retain(|tag| tag.shared);
    Ok(tags)
}

fn of(db: &Connection, user: i64, public_only: bool) -> Result<Vec<Tag>> {
    let sql = "SELECT tag.value, count(*), EXISTS (SELECT 1 FROM shared_tag WHERE user = ?1 AND tag = tag.value)
               FROM entry INDEXED BY entry_tagged, json_each(entry.tags) tag
               WHERE entry.user = ?1 AND entry.tags <> '[]' AND entry.public >= ?2
               GROUP BY tag.value ORDER BY tag.value COLLATE NOCASE, tag.value";
    let mut statement = db.prepare_cached(sql)?;
    let tag = |row: &Row<'_>| {
        Ok(Tag {
            name: row.get(0)?,
            films: row.get(1)?,
            shared: row.get(2)?,
        })
    };
    let tags = statement.query_map((user, public_only), tag)?;
    Ok(tags.collect::<rusqlite::Result<_>>()?)
}

/// Shows a list to friends, or no longer.
///
/// # Errors
/// [`Error::NotFound`] if no film has the tag.
pub fn share(db: &Connection, user: i64, tag: &str, is_shared: bool) -> Result<()> {
    if !all(db, user)?.iter().any(|known| known.name == tag) {
        return Err(Error::NotFound("tag"));
    }
    let sql = match is_shared {
        true => "INSERT OR IGNORE INTO shared_tag(user, tag) VALUES (?1, ?2)",
        false => "DELETE FROM shared_tag WHERE user = ?1 AND tag = ?2",
    };
    db.prepare_cached(sql)?.execute((user, tag))?;
    Ok(())
}

/// Replaces a tag on all films of a list, or without a new name removes it. Returns the change, for undo.
///
/// # Errors
/// [`Error::NotFound`] if no film has the tag, and those of [`checked`].
pub fn rename(db: &Connection, user: i64, tag: &str, to: &str) -> Result<Ulid> {
    let sql = "SELECT film, tags FROM entry WHERE user = ?1 AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?2)";
    let mut statement = db.prepare_cached(sql)?;
    let films = statement.query_map((user, tag), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let films = films.collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
    if films.is_empty() {
        return Err(Error::NotFound("tag"));
    }
    let name = checked(vec![to.to_owned()])?.concat();
    let known = all(db, user)?;
    let is_shared = |name: &str| {
        let known = known.iter().find(|known| known.name == name);
        known.map(|known| known.shared)
    };
    // The films of a list that only its user sees are not shown by another name.
    let stays = is_shared(tag) == Some(true) && is_shared(&name) != Some(false);
    let change = Change::begin(db, user)?;
    let mut update =
        db.prepare_cached("UPDATE entry SET tags = ?3 WHERE user = ?1 AND film = ?2")?;
    for (film, tags) in films {
        let mut tags: Vec<String> = serde_json::from_str(&tags).unwrap_or_default();
        tags.retain(|other| other != tag);
        tags.push(name.clone());
        let tags = json!(checked(tags)?).to_string();
        change.record(db, user, film, || Ok(update.execute((user, film, tags))?))?;
    }
    if !stays {
        let sql = "DELETE FROM shared_tag WHERE user = ?1 AND tag IN (?2, ?3)";
        db.prepare_cached(sql)?.execute((user, tag, &name))?;
    } else if !name.is_empty() {
        // The former name is kept until the next change begins: undo shows that list again.
        share(db, user, &name, true)?;
    }
    Ok(change.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_trimmed_sorted_and_each_there_once() {
        let tags = checked(split(" With  the kids, Halloween ,, Halloween"));
        assert_eq!(tags.unwrap(), ["Halloween", "With the kids"]);
        for wrong in ["a,b", "\u{200b}", "x".repeat(61).as_str()] {
            assert!(checked(vec![wrong.to_owned()]).is_err(), "{wrong:?}");
        }
        assert!(checked((0..21).map(|n| n.to_string()).collect()).is_err());
    }
}
