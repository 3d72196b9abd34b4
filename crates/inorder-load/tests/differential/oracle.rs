//! SQLite's result for the rows, inserted one at a time in input order.

use std::collections::{BTreeMap, BTreeSet};

use inorder_load::OnDuplicate;
use rusqlite::types::Value;
use rusqlite::{Connection, ffi};

use crate::case::{Case, MANY};
use crate::rows::Field;
use crate::state::{State, identities, identity, integrity, quoted, state};

/// The expected result of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why nothing is stored, where nothing is.
    pub failure: Option<String>,
    pub counts: Counts,
    /// The rows that are named in the file of rejects.
    pub named: BTreeSet<usize>,
    pub state: State,
    /// The expected result of `PRAGMA integrity_check`.
    pub integrity: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub read: u64,
    /// Rows of the load that the table has in the end.
    pub written: u64,
    /// Rows that an error kept out.
    pub refused: u64,
    /// Rows left out because another has their key, or taken out by it.
    pub duplicates: u64,
    /// Rows that a constraint or a trigger left out without an error.
    pub ignored: u64,
}

/// Makes the database; false where SQLite doesn't take the schema.
pub fn made(db: &Connection, case: &Case) -> bool {
    inorder_sqlite::register(db).expect("functions");
    case.schema
        .statements()
        .iter()
        .all(|(sql, may_fail)| db.execute_batch(sql).is_ok() || *may_fail)
}

/// What a row that is of a wrong type and has another's key too is refused for: SQLite looks at the types of STRICT
/// tables last.
#[derive(Clone, Copy, PartialEq)]
pub enum First {
    Key,
    Type,
}

/// Inserts the rows; nothing where the schema is none.
pub fn expected(case: &Case, first: First) -> Option<Outcome> {
    let db = Connection::open_in_memory().expect("SQLite");
    if !made(&db, case) {
        return None;
    }
    // Triggers may speak of tables that aren't there, foreign keys of columns that aren't unique.
    db.execute_batch("PRAGMA foreign_keys = ON")
        .expect("a setting");
    let verb = match case.options.on_duplicate {
        OnDuplicate::Replace => "INSERT OR REPLACE",
        _ => "INSERT",
    };
    db.prepare(&format!("{verb} INTO t DEFAULT VALUES")).ok()?;
    let before = state(&db);
    db.execute_batch("PRAGMA foreign_keys = ON; BEGIN; PRAGMA defer_foreign_keys = ON")
        .expect("a transaction");
    let (identity, has_rowid) = identity(&db);
    let mut oracle = Oracle {
        identity,
        shape: shape(case),
        has_rowid,
        first,
        is_followed: case.rows.len() <= MANY && may_lose_rows(case),
        db: &db,
        case,
        counts: Counts::default(),
        named: BTreeSet::new(),
        stored: BTreeMap::new(),
    };
    oracle.stored = oracle.there().into_iter().map(|key| (key, false)).collect();
    let mut failure = oracle.insert_all().err();
    if failure.is_none()
        && let Err(error) = db.execute_batch("COMMIT")
    {
        failure = Some(error.to_string());
    }
    let Oracle { counts, named, .. } = oracle;
    if failure.is_some() && !db.is_autocommit() {
        db.execute_batch("ROLLBACK").expect("a transaction");
    }
    let after = state(&db);
    if failure.is_some() {
        assert_eq!(after, before, "SQLite's own transaction");
    }
    Some(Outcome {
        failure,
        counts,
        named,
        state: after,
        integrity: integrity(&db),
    })
}

/// Whether a row may take the place of another, or take others with it.
fn may_lose_rows(case: &Case) -> bool {
    let is_replaced = |(sql, _): &(String, bool)| {
        ["REPLACE", "CASCADE", "SET NULL"]
            .iter()
            .any(|word| sql.contains(word))
    };
    case.options.on_duplicate == OnDuplicate::Replace
        || case.schema.statements().iter().any(is_replaced)
}

fn shape(case: &Case) -> Connection {
    let shape = Connection::open_in_memory().expect("SQLite");
    let make = format!(
        "{}; PRAGMA foreign_keys = OFF; {}",
        case.schema.settings.first().map_or("", String::as_str),
        case.schema.table()
    );
    shape.execute_batch(&make).expect("the table");
    shape
}

struct Oracle<'a> {
    db: &'a Connection,
    case: &'a Case,
    identity: Vec<String>,
    /// A table of the same shape, empty.
    shape: Connection,
    has_rowid: bool,
    first: First,
    /// Whether it is followed which rows are of the load.
    is_followed: bool,
    counts: Counts,
    named: BTreeSet<usize>,
    /// The identity of rows, and whether the load stored them.
    stored: BTreeMap<String, bool>,
}

/// The result of one insert.
enum Insert {
    Done,
    LeftOut,
    Refused(String),
    Duplicate(String),
}

impl Oracle<'_> {
    fn there(&self) -> Vec<String> {
        identities(self.db, &self.identity)
    }

    fn insert_all(&mut self) -> Result<(), String> {
        let on_duplicate = self.case.options.on_duplicate;
        for (number, row) in self.case.rows.iter().enumerate() {
            self.counts.read += 1;
            if row.contains(&Field::Invalid) {
                self.refuse(number, "not UTF-8".to_owned())?;
                continue;
            }
            if let (First::Type, Some(what)) = (self.first, self.wrong_type(row)) {
                self.refuse(number, what)?;
                continue;
            }
            let is_duplicate = matches!(on_duplicate, OnDuplicate::Ignore | OnDuplicate::Report)
                && self.is_duplicate(row)?;
            match self.insert(verbs(on_duplicate), row, true)? {
                Insert::Done => self.note(row),
                Insert::Refused(what) => self.refuse(number, what)?,
                Insert::Duplicate(what) => return Err(what),
                Insert::LeftOut => match on_duplicate {
                    _ if is_duplicate => {
                        self.counts.duplicates += 1;
                        if on_duplicate == OnDuplicate::Report {
                            self.named.insert(number);
                        }
                    }
                    _ => {
                        self.counts.ignored += 1;
                        self.named.insert(number);
                    }
                },
            }
        }
        self.counts.written = match self.is_followed {
            true => self.stored.values().filter(|is_loaded| **is_loaded).count() as u64,
            false => self.inserted(),
        };
        self.counts.duplicates += self.inserted() - self.counts.written;
        Ok(())
    }

    /// The number of inserted rows, including those replaced later.
    fn inserted(&self) -> u64 {
        let Counts {
            read,
            refused,
            duplicates,
            ignored,
            ..
        } = self.counts;
        read - refused - duplicates - ignored
    }

    /// Follows which rows are of the load, after one was inserted.
    fn note(&mut self, row: &[Field]) {
        if !self.is_followed {
            return;
        }
        let inserted = match self.has_rowid {
            true => format!("Integer({})", self.db.last_insert_rowid()),
            false => self.key(row),
        };
        let mut now = BTreeMap::new();
        for key in self.there() {
            let was_loaded = self.stored.get(&key).copied();
            let is_loaded = key == inserted || was_loaded.unwrap_or(false);
            now.insert(key, is_loaded);
        }
        self.stored = now;
    }

    /// The key that a row gets, alone in a table of the same shape.
    fn key(&self, row: &[Field]) -> String {
        let shape = &self.shape;
        let (sql, values) = self.statement("INSERT OR REPLACE", "", row);
        let inserted = shape.execute(&sql, rusqlite::params_from_iter(values));
        inserted.expect("a row that was inserted before");
        let key = identities(shape, &self.identity).remove(0);
        shape.execute_batch("DELETE FROM t").expect("one row less");
        key
    }

    /// The error of a row on its own, if a value's type causes it.
    fn wrong_type(&self, row: &[Field]) -> Option<String> {
        let (sql, values) = self.statement("INSERT OR REPLACE", "", row);
        let inserted = self.shape.execute(&sql, rusqlite::params_from_iter(values));
        self.shape
            .execute_batch("DELETE FROM t")
            .expect("one row less");
        let error = inserted.err()?;
        let code = error.sqlite_error()?.extended_code;
        matches!(code, ffi::SQLITE_CONSTRAINT_DATATYPE | ffi::SQLITE_MISMATCH)
            .then(|| error.to_string())
    }

    fn refuse(&mut self, number: usize, what: String) -> Result<(), String> {
        self.counts.refused += 1;
        self.named.insert(number);
        match self.counts.refused > self.case.options.errors_max {
            true => Err(what),
            false => Ok(()),
        }
    }

    /// Whether it is another's key that a row is left out for: then it is an error where it isn't left out.
    fn is_duplicate(&self, row: &[Field]) -> Result<bool, String> {
        let tried = self.insert(("INSERT OR ABORT", ""), row, false)?;
        Ok(matches!(tried, Insert::Duplicate(_)))
    }

    /// Inserts a row completely or not at all; `Err` if SQLite ends the transaction.
    fn insert(
        &self,
        (verb, clause): (&str, &str),
        row: &[Field],
        is_kept: bool,
    ) -> Result<Insert, String> {
        let run = |sql: &str| self.db.execute_batch(sql).expect("a savepoint");
        let (sql, values) = self.statement(verb, clause, row);
        run("SAVEPOINT one");
        let result = self
            .db
            .prepare(&sql)
            .expect("an insert")
            .execute(rusqlite::params_from_iter(values));
        if self.db.is_autocommit() {
            return Err(result.expect_err("a rollback").to_string());
        }
        run(match result.is_ok() && is_kept {
            true => "RELEASE one",
            false => "ROLLBACK TO one; RELEASE one",
        });
        Ok(match result {
            Ok(0) => Insert::LeftOut,
            Ok(_) => Insert::Done,
            Err(error) if is_duplicate(&error) => Insert::Duplicate(error.to_string()),
            Err(error) => Insert::Refused(error.to_string()),
        })
    }
}

impl Oracle<'_> {
    fn statement(&self, verb: &str, clause: &str, row: &[Field]) -> (String, Vec<Value>) {
        let mut values = Vec::new();
        let places: Vec<String> = self
            .case
            .given
            .iter()
            .zip(row)
            .map(|(column, field)| place(field, self.case.schema.is_text(*column), &mut values))
            .collect();
        let names: Vec<String> = self.case.names().iter().map(|name| quoted(name)).collect();
        let sql = format!(
            "{verb} INTO t({}) VALUES ({}){clause}",
            names.join(", "),
            places.join(", ")
        );
        (sql, values)
    }
}

fn verbs(on_duplicate: OnDuplicate) -> (&'static str, &'static str) {
    match on_duplicate {
        // tests/update.rs has the cases of updates.
        OnDuplicate::Error | OnDuplicate::Update => ("INSERT", ""),
        OnDuplicate::Ignore | OnDuplicate::Report => ("INSERT", " ON CONFLICT DO NOTHING"),
        OnDuplicate::Replace => ("INSERT OR REPLACE", ""),
    }
}

/// Whether a key of `t` is what a row is refused for.
fn is_duplicate(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    let is_unique = matches!(
        code,
        Some(
            ffi::SQLITE_CONSTRAINT_UNIQUE
                | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                | ffi::SQLITE_CONSTRAINT_ROWID
        )
    );
    let text = error.to_string();
    is_unique && (text.contains("failed: t.") || text.contains("failed: index 'i"))
}

/// A field in an insert: a parameter, or a number as SQL writes it.
fn place(field: &Field, is_text: bool, values: &mut Vec<Value>) -> String {
    let value = match field {
        Field::Missing | Field::Null | Field::Invalid => Value::Null,
        Field::Number(digits) if !is_text => return digits.clone(),
        Field::Number(text) | Field::Text(text) => Value::Text(text.clone()),
        Field::Bool(value) => Value::Integer(i64::from(*value)),
        Field::Integer(integer) => Value::Integer(*integer),
        Field::Real(real) => Value::Real(*real),
        Field::Blob(blob) => Value::Blob(blob.clone()),
    };
    values.push(value);
    "?".to_owned()
}
