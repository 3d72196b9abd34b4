//! The mail addresses of users, and the mails that wait to be sent.

use super::{friends, links, news, overview, users, users::User};
use crate::{Error, Result, date::now_ms, secret::Secret, words::say};
use inorder_key::Ulid;
use rusqlite::{
    Connection, OptionalExtension, Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};

/// The time between two mails with links for new passwords of a user.
const RESET_MS: i64 = 10 * 60 * 1000;

/// The time between two mails with films that friends have added. A request is told at once.
const NEWS_MS: i64 = 24 * 60 * 60 * 1000;

/// The time after which a mail is sent again that could not be sent. It doubles with each try.
const AGAIN_MS: i64 = 60 * 1000;

/// Tries to send a mail.
const TRIES_MAX: i64 = 10;

/// Mails that are sent in one round.
const ROUND_MAX: i64 = 20;

/// A kind of mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link that confirms the address.
    Confirm,
    /// A link for a new password.
    Reset,
    /// Requests, and films that friends have added.
    News,
    /// The end of an address, told there.
    Notice,
}

impl Kind {
    const ALL: [(Kind, &str); 4] = [
        (Kind::Notice, "notice"),
        (Kind::Confirm, "confirm"),
        (Kind::Reset, "reset"),
        (Kind::News, "news"),
    ];
}

impl ToSql for Kind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let found = Kind::ALL.iter().find(|(kind, _)| kind == self);
        Ok(found.map_or("", |(_, name)| name).into())
    }
}

impl FromSql for Kind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        let found = Kind::ALL.iter().find(|(_, other)| *other == name);
        found
            .map(|(kind, _)| *kind)
            .ok_or(FromSqlError::InvalidType)
    }
}

/// The address of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub address: String,
    /// Whether its user has opened the link that was sent there.
    pub is_confirmed: bool,
    /// Whether requests and additions are sent there.
    pub wants_news: bool,
}

/// Returns the address of a user.
///
/// # Errors
/// SQLite's error.
pub fn of(db: &Connection, user: i64) -> Result<Option<Address>> {
    let sql = "SELECT address, is_confirmed, wants_news FROM mail WHERE user = ?1";
    let address = |row: &Row<'_>| {
        Ok(Address {
            address: row.get(0)?,
            is_confirmed: row.get(1)?,
            wants_news: row.get(2)?,
        })
    };
    Ok(db
        .prepare_cached(sql)?
        .query_row([user], address)
        .optional()?)
}

/// Sets the address of a user, or removes it. A mail with a link goes to a new one, and a mail that says so to a confirmed one that ends.
/// Returns whether there is a mail with a link.
///
/// # Errors
/// [`Error::Invalid`] if the address changes and the user has not confirmed who they are.
pub fn set(
    db: &Connection,
    user: i64,
    address: Option<&str>,
    wants_news: bool,
    is_confirmed: bool,
) -> Result<bool> {
    let before = of(db, user)?;
    let is_other = before.as_ref().map(|before| before.address.as_str()) != address;
    if is_other && !is_confirmed {
        return Err(Error::Invalid(say::password_wrong()));
    }
    if let Some(before) = before.filter(|before| is_other && before.is_confirmed) {
        enqueue(db, user, Kind::Notice, &before.address)?;
    }
    let Some(address) = address else {
        db.prepare_cached("DELETE FROM mail WHERE user = ?1")?
            .execute([user])?;
        db.prepare_cached("DELETE FROM outgoing WHERE user = ?1 AND kind <> ?2")?
            .execute((user, Kind::Notice))?;
        return Ok(false);
    };
    let sql =
        "INSERT INTO mail(user, address, wants_news) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET
                 address = excluded.address, wants_news = excluded.wants_news,
                 is_confirmed = is_confirmed AND address = excluded.address
               RETURNING is_confirmed";
    let mut statement = db.prepare_cached(sql)?;
    let is_confirmed: bool = statement.query_row((user, address, wants_news), |row| row.get(0))?;
    if !is_confirmed {
        // Another address is not kept waiting by the tries for an earlier one.
        db.prepare_cached("DELETE FROM outgoing WHERE user = ?1 AND kind = ?2")?
            .execute((user, Kind::Confirm))?;
        enqueue(db, user, Kind::Confirm, "")?;
    }
    Ok(!is_confirmed)
}

/// Confirms the address to which this secret was sent.
///
/// # Errors
/// [`Error::NotFound`] if the user has taken another address since.
pub fn confirm(db: &Connection, secret: Secret) -> Result<()> {
    let sql = "UPDATE mail SET is_confirmed = 1, hash = NULL WHERE hash = ?1";
    match db.prepare_cached(sql)?.execute([secret.hash()])? {
        0 => Err(Error::NotFound("link")),
        _ => Ok(()),
    }
}

/// Puts a mail into the queue, to this address or, if it is empty, to the user's own.
fn enqueue(db: &Connection, user: i64, kind: Kind, address: &str) -> Result<()> {
    let sql = "INSERT OR IGNORE INTO outgoing(user, kind, address, due_ms) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)?
        .execute((user, kind, address, now_ms()))?;
    Ok(())
}

/// Has a link for a new password sent to the user with this name, if there is one with a confirmed address, and none was sent
/// in the last ten minutes.
///
/// # Errors
/// SQLite's error.
pub fn ask_reset(db: &Connection, name: &str) -> Result<()> {
    let sql = "SELECT number FROM user JOIN mail ON mail.user = user.number
               WHERE folded = ?1 AND NOT is_suspended AND is_confirmed AND reset_ms <= ?2";
    let bound = (users::fold(name), now_ms() - RESET_MS);
    let user = db.prepare_cached(sql)?.query_row(bound, |row| row.get(0));
    match user.optional()? {
        Some(user) => enqueue(db, user, Kind::Reset, ""),
        None => Ok(()),
    }
}

/// Has news sent to the users who want it and have some.
///
/// # Errors
/// SQLite's error.
pub fn collect_news(db: &Connection, now_ms: i64) -> Result<()> {
    let sql = "INSERT OR IGNORE INTO outgoing(user, kind, due_ms) SELECT mail.user, 'news', ?1 FROM mail
               JOIN user me ON me.number = mail.user AND NOT me.is_suspended
               WHERE mail.is_confirmed AND mail.wants_news AND (
                 EXISTS (SELECT 1 FROM friend_request WHERE reaches = mail.user AND NOT declined AND id > mail.told_request)
                 OR mail.news_ms <= ?2 AND EXISTS (SELECT 1 FROM friend JOIN user other ON other.number = friend.friend
                   WHERE friend.user = mail.user AND other.added_ms > max(me.seen_ms, mail.told_ms)))";
    db.prepare_cached(sql)?
        .execute((now_ms, now_ms - NEWS_MS))?;
    Ok(())
}

/// A mail in the queue.
#[derive(Clone, Debug)]
pub struct Due {
    /// The id of its user.
    pub user: Ulid,
    /// The kind.
    pub kind: Kind,
    /// The address, if it is not the user's own; otherwise empty.
    pub address: String,
}

impl Due {
    /// The condition on its row in the queue.
    const ROW: &str =
        "user = (SELECT number FROM user WHERE id = ?1) AND kind = ?2 AND address = ?3";

    /// Takes it out of the queue.
    fn remove(&self, db: &Connection) -> Result<()> {
        let sql = format!("DELETE FROM outgoing WHERE {}", Due::ROW);
        let bound = (self.user.to_bytes(), self.kind, &self.address);
        db.prepare_cached(&sql)?.execute(bound)?;
        Ok(())
    }
}

/// Returns the mails that are to be sent now.
///
/// # Errors
/// SQLite's error.
pub fn due(db: &Connection, now_ms: i64) -> Result<Vec<Due>> {
    let sql = "SELECT user.id, kind, address FROM outgoing JOIN user ON user.number = outgoing.user
               WHERE due_ms <= ?1 ORDER BY due_ms LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let due = statement.query_map((now_ms, ROUND_MAX), |row| {
        Ok(Due {
            user: Ulid::from_bytes(row.get(0)?),
            kind: row.get(1)?,
            address: row.get(2)?,
        })
    })?;
    Ok(due.collect::<rusqlite::Result<_>>()?)
}

/// What a mail says.
#[derive(Clone, Debug)]
pub enum Content {
    /// The secret that confirms the address.
    Confirm(Secret),
    /// The secret for a new password.
    Reset(Secret),
    /// Requests and additions.
    News(News),
    /// The end of the address.
    Notice,
}

/// What no earlier mail has told a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The names of those who ask.
    pub asking: Vec<String>,
    /// The names of friends with the number of their new films.
    pub films: Vec<(String, i64)>,
    /// What this mail tells, so that a later one tells what comes after it.
    pub told: Told,
}

/// Up to where news was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The time of the last film that friends had added, in milliseconds since 1970.
    ms: i64,
    /// The last request, as its id.
    request: [u8; 16],
}

/// Collects what no earlier mail has told a user, and the user has not seen.
fn news_of(db: &Connection, member: &User) -> Result<News> {
    let sql = "SELECT told_ms, told_request FROM mail WHERE user = ?1";
    let told = |row: &Row<'_>| {
        Ok(Told {
            ms: row.get(0)?,
            request: row.get(1)?,
        })
    };
    let mut told = db.prepare_cached(sql)?.query_row([member.number], told)?;
    let mut news = News::default();
    for (friend, count) in news::of_friends(db, member.number, told.ms)? {
        let name = users::by_number(db, friend)?.name;
        news.films.push((name, count));
    }
    told.ms = told.ms.max(news::last_ms(db, member.number)?);
    for request in friends::received(db, member)? {
        if request.id.to_bytes() > told.request {
            told.request = request.id.to_bytes();
            news.asking.push(request.name);
        }
    }
    news.told = told;
    Ok(news)
}

/// Makes what a mail says, with new secrets. `None` if there is nothing to say any more.
///
/// # Errors
/// [`Error::NotFound`] if the user was deleted, or the mail is not to be sent any more, such as after a restore.
pub fn content(db: &Connection, due: &Due) -> Result<Option<(User, String, Content)>> {
    let member = overview::by_id(db, due.user)?.user;
    let (user, kind) = (member.number, due.kind);
    let sql = format!("SELECT EXISTS (SELECT 1 FROM outgoing WHERE {})", Due::ROW);
    let mut statement = db.prepare_cached(&sql)?;
    let bound = (due.user.to_bytes(), kind, &due.address);
    if !statement.query_row(bound, |row| row.get(0))? {
        return Err(Error::NotFound("link"));
    }
    if kind == Kind::Notice {
        return Ok(Some((member, due.address.clone(), Content::Notice)));
    }
    let address = of(db, user)?;
    let is_wanted = |address: &Address| match kind {
        Kind::Confirm => !address.is_confirmed,
        Kind::Reset => address.is_confirmed,
        Kind::News => address.is_confirmed && address.wants_news,
        Kind::Notice => false,
    };
    let Some(address) = address.filter(is_wanted) else {
        return Ok(None);
    };
    let secret = Secret::new();
    let content = match kind {
        Kind::Confirm => {
            db.prepare_cached("UPDATE mail SET hash = ?2 WHERE user = ?1")?
                .execute((user, secret.hash()))?;
            Content::Confirm(secret)
        }
        Kind::Reset => {
            links::allow_reset(db, user, secret)?;
            Content::Reset(secret)
        }
        Kind::News => {
            let news = news_of(db, &member)?;
            if news.asking.is_empty() && news.films.is_empty() {
                return Ok(None);
            }
            Content::News(news)
        }
        Kind::Notice => return Ok(None),
    };
    Ok(Some((member, address.address, content)))
}

/// Notes that a mail was sent, or that there was nothing to say: `None`.
///
/// # Errors
/// SQLite's error.
pub fn sent(db: &Connection, due: &Due, content: Option<&Content>, now_ms: i64) -> Result<()> {
    let user = due.user.to_bytes();
    due.remove(db)?;
    let column = match due.kind {
        Kind::Confirm | Kind::Notice => return Ok(()),
        Kind::Reset => "reset_ms",
        Kind::News => "news_ms",
    };
    let sql = format!(
        "UPDATE mail SET {column} = ?2 WHERE user = (SELECT number FROM user WHERE id = ?1)"
    );
    db.prepare_cached(&sql)?.execute((user, now_ms))?;
    if let Some(Content::News(News { told, .. })) = content {
        let sql = "UPDATE mail SET told_ms = ?2, told_request = ?3 WHERE user = (SELECT number FROM user WHERE id = ?1)";
        db.prepare_cached(sql)?
            .execute((user, told.ms, told.request))?;
    }
    Ok(())
}

/// Notes that a mail could not be sent. It is tried again later, ten times in all. Returns whether it is.
///
/// # Errors
/// SQLite's error.
pub fn failed(db: &Connection, due: &Due, now_ms: i64) -> Result<bool> {
    let user = due.user.to_bytes();
    let sql = format!(
        "UPDATE outgoing SET tries = tries + 1, due_ms = ?4 + ?5 * (1 << tries) WHERE {} RETURNING tries",
        Due::ROW
    );
    let bound = (user, due.kind, &due.address, now_ms, AGAIN_MS);
    let tries: Option<i64> = db
        .prepare_cached(&sql)?
        .query_row(bound, |row| row.get(0))
        .optional()?;
    let is_tried_again = tries.is_some_and(|tries| tries < TRIES_MAX);
    if !is_tried_again {
        due.remove(db)?;
    }
    Ok(is_tried_again)
}
