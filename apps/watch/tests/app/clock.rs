//! Tests the behaviour after the machine's clock is set back.

use crate::client::Site;
use inorder_key::Ulid;
use inorder_watch::{
    Result,
    db::{
        Database,
        entries::{self, Filter, Sort, State},
        friends, links, sessions, undo, users,
    },
    secret::Secret,
};
use rusqlite::Connection;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Turns the clock back, as seen by a server that starts then: all times in the file are later by so much, those in ids too.
/// Which columns hold times is read off the schema.
fn set_back(db: &Connection, by_ms: i64) -> Result<usize> {
    let sql = "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c
               WHERE m.type = 'table' AND m.name NOT LIKE 'film_search%'";
    let mut statement = db.prepare(sql)?;
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let columns: Vec<(String, String, String)> = columns.collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for (table, column, kind) in columns {
        let later = match (column.as_str(), kind.as_str()) {
            // The first six bytes are the time.
            ("id" | "change", "BLOB") => format!(
                "CAST(substr(ulid_at(ulid_timestamp({column}) + ?1), 1, 6) || substr({column}, 7) AS BLOB)"
            ),
            ("expires", "INTEGER") => format!("{column} + ?1 / 1000"),
            (name, "INTEGER") if name.ends_with("_ms") => format!("{column} + ?1"),
            _ => continue,
        };
        changed += db.execute(&format!("UPDATE {table} SET {column} = {later}"), [by_ms])?;
    }
    Ok(changed)
}

fn database() -> (tempfile::TempDir, Database) {
    let site = Site::new(Default::default());
    let db = site.app.db().clone();
    for name in ["Anna", "Ben"] {
        db.write_now(move |db| users::add(db, name, None)).unwrap();
    }
    (site.folder, db)
}

#[test]
fn setting_back_reaches_every_time() {
    let (_folder, db) = database();
    db.write_now(|db| {
        entries::put(db, 1, 1, State::default())?;
        let before: (i64, i64) = db.query_row(
            "SELECT added_ms, ulid_timestamp(change) FROM entry, undo",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        assert!(set_back(db, HOUR_MS)? > 100);
        let after: (i64, i64) = db.query_row(
            "SELECT added_ms, ulid_timestamp(change) FROM entry, undo",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        assert_eq!((after.0 - before.0, after.1 - before.1), (HOUR_MS, HOUR_MS));
        Ok(())
    })
    .unwrap();
}

#[test]
fn friend_requests_reach_people_who_signed_up_before_the_clock_was_set_back() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let (anna, ben) = (users::by_name(db, "Anna")?, users::by_name(db, "Ben")?);
        set_back(db, HOUR_MS)?;
        friends::request(db, &anna, "Ben")?;
        assert_eq!(friends::received(db, &ben)?.len(), 1);
        friends::accept(db, &ben, "Anna")?;
        assert_eq!(friends::all(db, anna.number)?.len(), 1);
        // No request reaches a user who took the name after it was sent.
        friends::request(db, &anna, "Cleo")?;
        set_back(db, -2 * HOUR_MS)?;
        let cleo = users::add(db, "Cleo", None)?;
        assert_eq!(friends::received(db, &cleo)?.len(), 0);
        set_back(db, 4 * HOUR_MS)?;
        assert_eq!(friends::received(db, &cleo)?.len(), 0);
        friends::request(db, &anna, "Cleo")?;
        assert_eq!(friends::received(db, &cleo)?.len(), 1);
        Ok(())
    })
    .unwrap();
}

#[test]
fn undo_is_of_the_last_change_whatever_the_clock_says() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let state = |db, film| entries::state(db, 1, film).map(|state| state.is_some());
        let last = || -> Result<Ulid> {
            let sql = "SELECT change FROM undo ORDER BY sequence DESC LIMIT 1";
            Ok(Ulid::from_bytes(db.query_row(sql, [], |row| row.get(0))?))
        };
        for film in 1..=30 {
            if film % 7 == 0 {
                set_back(db, HOUR_MS)?;
            }
            let change = entries::put(db, 1, film, State::default())?;
            assert_eq!(last()?, change);
        }
        set_back(db, HOUR_MS)?;
        for film in (11..=30).rev() {
            undo::undo(db, 1, last()?)?;
            assert!(!state(db, film)? && state(db, film - 1)?, "{film}");
        }
        assert!(last().is_err(), "only the last 20 are kept");
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_film_that_is_added_later_comes_later() {
    let (_folder, db) = database();
    db.write_now(|db| {
        for film in 1..=12 {
            if film % 3 == 0 {
                set_back(db, HOUR_MS)?;
            }
            entries::put(db, 1, film, State::default())?;
        }
        let order = |sort| {
            let filter = Filter {
                sort,
                ..Filter::default()
            };
            let page = entries::page(db, 1, &filter)?;
            Ok(page
                .entries
                .iter()
                .map(|entry| entry.film.number)
                .collect::<Vec<_>>())
        };
        let order = |sort| -> Result<Vec<i64>> { order(sort) };
        assert_eq!(order(Sort::Priority)?, (1..=12).collect::<Vec<_>>());
        assert_eq!(order(Sort::Added)?, (1..=12).rev().collect::<Vec<_>>());
        let all = entries::all(db, 1)?;
        assert!(all.iter().map(|entry| entry.film.number).eq(1..=12));
        // A clock that was years ahead dates nothing after.
        let now = inorder_watch::date::now_ms();
        set_back(db, 9000 * HOUR_MS)?;
        assert!(entries::next_ms(db, 1)? < now + HOUR_MS);
        Ok(())
    })
    .unwrap();
}

#[test]
fn sessions_and_links_stay_and_none_becomes_endless() {
    let (_folder, db) = database();
    db.write_now(|db| {
        let (session, invitation, reset) = (Secret::new(), Secret::new(), Secret::new());
        sessions::begin(db, 1, session, false)?;
        links::invite(db, 1, invitation)?;
        links::allow_reset(db, 2, reset)?;
        set_back(db, HOUR_MS)?;
        assert!(links::host(db, invitation)?.is_some() && links::reset_user(db, reset)? == 2);
        assert_eq!(links::invitations(db, 1)?.len(), 1);
        let found = sessions::find(db, session)?.expect("a session");
        assert!(
            found.wants_renewal,
            "it would last longer than one that begins now"
        );
        sessions::renew(db, session)?;
        assert!(
            !sessions::find(db, session)?
                .expect("a session")
                .wants_renewal
        );
        Ok(())
    })
    .unwrap();
}

/// Times that a clock says: it began in 1970, or the digits are those of seconds or of a date.
#[test]
fn an_entry_of_any_time_is_changed_removed_and_restored() {
    let (_folder, db) = database();
    for added_ms in [0, 1, 86_400_000, 1_714_521_600, 202_405_011_230, 1 << 48] {
        let done = db.write_now(move |db| {
            let change = undo::Change::begin(db, 1)?;
            entries::put_in(db, change, 1, 1, State::default(), added_ms)?;
            let noted = State {
                note: Some("a".to_owned()),
                ..State::default()
            };
            let noted = entries::put(db, 1, 1, noted)?;
            let removed = entries::remove(db, 1, 1)?;
            for change in [removed, noted, change.id] {
                undo::undo(db, 1, change)?;
            }
            entries::state(db, 1, 1)
        });
        assert_eq!(done.unwrap(), None, "{added_ms}");
    }
}
