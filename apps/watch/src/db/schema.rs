//! The schema versions and the migrations between them.

use crate::{Error, Result};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;

/// The migrations; the first one applies to an empty file. A released migration is never changed.
pub const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
    include_str!("schema/11.sql"),
    include_str!("schema/12.sql"),
    include_str!("schema/13.sql"),
    include_str!("schema/14.sql"),
    include_str!("schema/15.sql"),
    include_str!("schema/16.sql"),
    include_str!("schema/17.sql"),
    include_str!("schema/18.sql"),
    include_str!("schema/19.sql"),
    include_str!("schema/20.sql"),
    include_str!("schema/21.sql"),
    include_str!("schema/22.sql"),
];

/// The application id in the file's header: "wtch".
const APPLICATION_ID: i32 = 0x7774_6368;

/// Checks that the file is empty, or was created by this application in a known version.
pub fn check(connection: &Connection, path: &Path) -> Result<()> {
    let foreign = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::Foreign(path.to_owned()),
        _ => error.into(),
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(foreign)?;
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != APPLICATION_ID && (id != 0 || tables > 0) {
        return Err(Error::Foreign(path.to_owned()));
    }
    let found = version(connection)?;
    let known = newest(MIGRATIONS);
    if found > known {
        let path = path.to_owned();
        return Err(Error::Newer { path, found, known });
    }
    Ok(())
}

/// Applies all missing migrations in one transaction.
///
/// # Errors
/// SQLite's error; the file is unchanged then.
pub fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    for migration in migrations.iter().skip(found as usize) {
        transaction.execute_batch(migration)?;
    }
    if found < newest(migrations) {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", newest(migrations))?;
    }
    transaction.commit()?;
    Ok(())
}

fn newest(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

fn version(connection: &Connection) -> Result<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(db: &Connection) -> Vec<String> {
        let mut statement = db.prepare("SELECT name FROM sqlite_schema").unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    }

    #[test]
    fn only_missing_migrations_are_applied() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &["CREATE TABLE a(x)"]).unwrap();
        migrate(&mut db, &["CREATE TABLE a(x)", "CREATE TABLE b(x)"]).unwrap();
        migrate(&mut db, &["CREATE TABLE a(x)", "CREATE TABLE b(x)"]).unwrap();
        assert_eq!(tables(&db), ["a", "b"]);
        assert_eq!(version(&db).unwrap(), 2);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &["CREATE TABLE a(x)"]).unwrap();
        let migrations = ["CREATE TABLE a(x)", "CREATE TABLE b(x)", "CREATE nonsense"];
        assert!(migrate(&mut db, &migrations).is_err());
        assert_eq!(
            (tables(&db), version(&db).unwrap()),
            (vec!["a".to_owned()], 1)
        );
    }

    #[test]
    fn foreign_and_newer_files_are_refused() {
        let db = Connection::open_in_memory().unwrap();
        check(&db, Path::new("empty.db")).unwrap();
        db.execute_batch("CREATE TABLE a(x)").unwrap();
        assert!(matches!(
            check(&db, Path::new("a.db")),
            Err(Error::Foreign(_))
        ));
        db.pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        db.pragma_update(None, "user_version", newest(MIGRATIONS) + 1)
            .unwrap();
        let error = check(&db, Path::new("a.db")).unwrap_err().to_string();
        let known = newest(MIGRATIONS);
        let told = format!(
            "a.db has schema {}, and this program knows up to {known}",
            known + 1
        );
        assert!(error.starts_with(&told), "{error}");
    }
}
