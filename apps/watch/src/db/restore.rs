//! Replaces the content of the database by that of a backup.

use super::{BUSY_TIMEOUT, Database, MIGRATIONS, backup, migrate, schema, set_up};
use crate::{Error, Result, date, words::say};
use inorder_key::Ulid;
use inorder_serve::{copy_database, private};
use rusqlite::{Connection, OpenFlags, OptionalExtension, backup::Backup};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use tokio::task::spawn_blocking;

/// How the names of files with arriving backups continue that of the database.
const ARRIVING: &str = "-restore-";

/// How the names of files with what the database had before begin after its own, and end.
const BEFORE: (&str, &str) = ("-before-", ".db");

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The file with what the database had before.
    pub before: PathBuf,
    /// Whether the session of the owner goes on.
    pub is_signed_in: bool,
}

/// The session that goes on, if the backup has its user as the owner.
#[derive(Clone, Copy, Debug)]
pub struct Going {
    /// The user.
    pub user: Ulid,
    /// The hash of the session.
    pub session: [u8; 32],
}

/// A backup that arrives, in a file of its own beside the database. Dropping it removes the file.
pub struct Arriving {
    path: PathBuf,
}

impl Arriving {
    /// An empty file beside the database of this path, which need not be there.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(db: &Path) -> Result<(Self, fs::File)> {
        let path = private::beside(db, &format!("{ARRIVING}{}", Ulid::now()));
        let file = private::create_new(&path)?;
        Ok((Arriving { path }, file))
    }

    /// Checks the backup and brings it to the newest schema.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the file is no intact backup.
    pub fn check(self, going: Option<Going>) -> Result<Checked> {
        let is_signed_in = prepare(&self.path, going)?;
        Ok(Checked {
            backup: self,
            is_signed_in,
        })
    }
}

/// A backup that can take the place of a database.
pub struct Checked {
    backup: Arriving,
    is_signed_in: bool,
}

impl Checked {
    /// Replaces the content of the database, like [`restore`]. Blocks this thread.
    ///
    /// # Errors
    /// SQLite's error, or the system's.
    pub fn replace(self, db: &Database) -> Result<Restored> {
        let before = replace(db, &self.backup.path)?;
        Ok(Restored {
            before,
            is_signed_in: self.is_signed_in,
        })
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        for ending in ["", "-journal", "-wal", "-shm"] {
            // It may not be there; the next start of the server tries once more.
            let _ = fs::remove_file(private::beside(&self.path, ending));
        }
    }
}

/// Removes what a killed process left: backups that were arriving, and copies that were not complete.
///
/// # Errors
/// The system's error.
pub fn remove_left(db: &Database) -> Result<()> {
    let mut left = beside(db, ARRIVING)?;
    left.extend(beside(db, backup::DOWNLOAD)?);
    left.extend(
        beside(db, BEFORE.0)?
            .into_iter()
            .filter(|path| !is_complete(path)),
    );
    for path in left {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Whether the file with what the database had before was written to its end.
fn is_complete(before: &Path) -> bool {
    let name = before.as_os_str().as_encoded_bytes();
    name.ends_with(BEFORE.1.as_bytes())
}

/// The files beside the database whose names continue its own in this way.
fn beside(db: &Database, ending: &str) -> io::Result<Vec<PathBuf>> {
    let start = private::beside(db.path(), ending);
    let folder = match start.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let start = start.file_name().unwrap_or_default().as_encoded_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(start) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The files with what the database had before it was restored, with their sizes in bytes, the oldest first.
///
/// # Errors
/// The system's error.
pub fn kept(db: &Database) -> Result<Vec<(PathBuf, u64)>> {
    let mut kept = Vec::new();
    for path in beside(db, BEFORE.0)? {
        // A copy is being made, or was when a process was killed.
        if !is_complete(&path) {
            continue;
        }
        let bytes = fs::metadata(&path)?.len();
        kept.push((path, bytes));
    }
    Ok(kept)
}

/// Replaces the content of the database by that of this backup.
///
/// The file is checked and migrated first. Then the content before is copied into a file beside the database, and replaced in one
/// transaction: a server that is killed has the old content or the new one. Writes wait meanwhile.
///
/// # Errors
/// [`Error::Invalid`] if the file is no intact backup; nothing is changed then.
pub async fn restore(db: &Database, backup: Arriving, going: Going) -> Result<Restored> {
    let db = db.clone();
    let work = move || backup.check(Some(going))?.replace(&db);
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// Checks a backup, brings it to the newest schema, and ends in it what gives access. Returns whether the session goes on.
fn prepare(file: &Path, going: Option<Going>) -> Result<bool> {
    let damaged = |error: rusqlite::Error| Error::Invalid(say::restore_damaged(error.to_string()));
    let mut db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    match schema::check(&db, file) {
        Err(Error::Newer { found, known, .. }) => {
            return Err(Error::Invalid(say::restore_newer(found, known)));
        }
        Err(Error::Foreign(_)) => return Err(Error::Invalid(say::restore_foreign())),
        Err(Error::Sqlite(error)) => {
            return Err(Error::Invalid(say::restore_damaged(error.to_string())));
        }
        other => other?,
    }
    set_up(&db)?;
    db.pragma_update(None, "cell_size_check", true)?;
    let version: u32 = db
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(damaged)?;
    if version == 0 {
        return Err(Error::Invalid(say::restore_foreign()));
    }
    let state: String = db
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(damaged)?;
    if state != "ok" {
        return Err(Error::Invalid(say::restore_damaged(state)));
    }
    // Before anything of its schema runs, such as a trigger.
    if shape(&db).map_err(damaged)? != shape(&model(version)?)? {
        return Err(Error::Invalid(say::restore_schema()));
    }
    db.pragma_update(None, "journal_mode", "delete")?;
    migrate(&mut db, MIGRATIONS)?;
    if db.prepare("PRAGMA foreign_key_check")?.exists([])? {
        return Err(Error::Invalid(say::restore_references()));
    }
    let size = |db: &Connection| db.pragma_query_value(None, "page_size", |row| row.get(0));
    let (own, usual): (i64, i64) = (size(&db)?, size(&model(0)?)?);
    if own != usual {
        db.pragma_update(None, "page_size", usual)?;
        db.execute_batch("VACUUM")?;
    }
    end_access(&mut db, going)
}

/// A new database of a version.
fn model(version: u32) -> Result<Connection> {
    let mut model = Connection::open_in_memory()?;
    set_up(&model)?;
    migrate(&mut model, &MIGRATIONS[..version as usize])?;
    Ok(model)
}

/// The schema of a database. What was renamed is quoted or not, depending on the version of SQLite.
fn shape(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || replace(coalesce(sql, ''), '\"', '') FROM sqlite_schema
               WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY 1";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// Ends all that gives access: what was revoked since the backup would be good again. Only the owner stays signed in.
fn end_access(db: &mut Connection, going: Option<Going>) -> Result<bool> {
    let transaction = db.transaction()?;
    let owner: Option<(i64, [u8; 16])> = transaction
        .query_row("SELECT number, id FROM user WHERE is_owner", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((owner, id)) = owner else {
        return Err(Error::Invalid(say::restore_no_owner()));
    };
    for table in [
        "session",
        "device",
        "api_token",
        "passkey",
        "invitation",
        "reset",
        "feed",
        "outgoing",
        "recovery",
    ] {
        transaction.execute(&format!("DELETE FROM {table}"), [])?;
    }
    let going = going.filter(|going| id == going.user.to_bytes());
    if let Some(going) = going {
        let expires = date::now_ms() / 1000 + super::sessions::SECONDS_MAX;
        transaction.execute(
            "INSERT INTO session(hash, user, expires) VALUES (?1, ?2, ?3)",
            (going.session, owner, expires),
        )?;
    }
    transaction.commit()?;
    Ok(going.is_some())
}

/// Replaces the content, and returns the file with what there was.
fn replace(db: &Database, file: &Path) -> Result<PathBuf> {
    let time = date::time(date::now_ms().unsigned_abs()).replace([':', '.'], "-");
    let before = private::beside(db.path(), &format!("{}{time}{}", BEFORE.0, BEFORE.1));
    let (path, file) = (db.path().to_owned(), file.to_owned());
    db.write_alone(move |writer| {
        copy_database(writer, &before)?;
        let source = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut target = Connection::open(&path)?;
        set_up(&target)?;
        target.busy_timeout(BUSY_TIMEOUT)?;
        // One step is one transaction: the content is there when it returns.
        let copied = Backup::new(&source, &mut target)?.step(-1)?;
        match copied {
            rusqlite::backup::StepResult::Done => Ok(before),
            other => Err(io::Error::other(format!("the copy ended with {other:?}")).into()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn films(path: &Path) -> i64 {
        let db = Connection::open(path).unwrap();
        let state: String = db
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(state, "ok");
        db.query_row("SELECT count(*) FROM film", [], |row| row.get(0))
            .unwrap()
    }

    /// The files of a database as a server leaves them that is killed now.
    fn killed(path: &Path, to: &Path) {
        for ending in ["", "-wal"] {
            fs::copy(private::beside(path, ending), private::beside(to, ending)).unwrap();
        }
    }

    #[test]
    fn a_server_that_is_killed_has_the_old_content_until_the_last_page_and_then_the_new() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
        let open = [&old, &new].map(|path| Database::open(path).unwrap());
        crate::films::demo::add_to_empty(&open[1]).unwrap();
        let (source, mut target) = (
            Connection::open(&new).unwrap(),
            Connection::open(&old).unwrap(),
        );
        set_up(&target).unwrap();
        let backup = Backup::new(&source, &mut target).unwrap();
        let at = folder.path().join("killed.db");
        let mut steps = 0;
        while backup.step(20).unwrap() == rusqlite::backup::StepResult::More {
            killed(&old, &at);
            assert_eq!(films(&at), 0);
            steps += 1;
        }
        assert!(steps > 2, "{steps}");
        killed(&old, &at);
        assert_eq!(films(&at), 120);
        assert_eq!(
            open[0]
                .read(|db| Ok(
                    db.query_row("SELECT count(*) FROM film", [], |row| row.get::<_, i64>(0))?
                ))
                .unwrap(),
            120
        );
    }
}
