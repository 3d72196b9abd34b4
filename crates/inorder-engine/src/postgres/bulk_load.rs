//! Deferred index build for an empty table. Keys and indexes are dropped before the load and created after it, in the
//! same transaction. Creating them from sorted rows costs the server less than maintaining them row by row, and sorts
//! an index in another order only once.

use super::{change, copy::Copy, stream::Stream, table::Table};
use crate::{
    Batch, Error, Load, TableChange, Writer,
    server::{Connection as _, Failure, session::Session},
};
use postgres::{Client, Row, types::Type};
use std::ops::Range;

/// Indexes of a plain table that their definition describes completely. Indexes that other objects refer to by name
/// are excluded, and so are those with properties outside the definition: tablespace, comment, statistics, membership
/// in an extension.
const INDEXES: &str = "
    SELECT relname::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid), conname::text,
        contype::text, condeferrable, condeferred
    FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = indrelid
    WHERE indrelid = $1 AND indisvalid
        AND NOT indisreplident AND NOT indisclustered AND reltablespace = 0
        AND coalesce(contype IN ('p', 'u'), true)
        AND obj_description(indexrelid, 'pg_class') IS NULL
        AND obj_description(pg_constraint.oid, 'pg_constraint') IS NULL
        AND NOT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = indexrelid AND coalesce(attstattarget, -1) >= 0)
        AND NOT EXISTS (SELECT FROM pg_depend
            WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND deptype = 'x')
        AND EXISTS (SELECT FROM pg_class AS own
            WHERE own.oid = indrelid AND own.relkind = 'r' AND NOT own.relispartition)
    ORDER BY indisprimary DESC, indexrelid";

/// Maximum wait for the lock on the table.
const LOCK_MAX: &str = "10s";

/// An index, and its constraint if it has one.
struct Index {
    name: String,
    /// Name, with its schema if necessary.
    quoted: String,
    definition: String,
    constraint: Option<Constraint>,
}

struct Constraint {
    name: String,
    /// `PRIMARY KEY` or `UNIQUE`.
    kind: &'static str,
    /// When the constraint is checked.
    when: &'static str,
}

impl Index {
    fn read(row: &Row) -> Result<Self, postgres::Error> {
        let name: Option<String> = row.try_get(3)?;
        let constraint = name.map(|name| -> Result<Constraint, postgres::Error> {
            Ok(Constraint {
                name,
                kind: match row.try_get(4)? {
                    "p" => "PRIMARY KEY",
                    _ => "UNIQUE",
                },
                when: match (row.try_get(5)?, row.try_get(6)?) {
                    (false, _) => "",
                    (true, false) => " DEFERRABLE",
                    (true, true) => " DEFERRABLE INITIALLY DEFERRED",
                },
            })
        });
        Ok(Index {
            name: row.try_get(0)?,
            quoted: row.try_get(1)?,
            definition: row.try_get(2)?,
            constraint: constraint.transpose()?,
        })
    }

    fn drop(&self, table: &str) -> String {
        match &self.constraint {
            Some(constraint) => {
                let name = Client::quoted(&constraint.name);
                format!("ALTER TABLE {table} DROP CONSTRAINT {name}")
            }
            None => format!("DROP INDEX {}", self.quoted),
        }
    }

    /// A constraint takes over an existing index, which keeps its own properties.
    fn make(&self, table: &str) -> String {
        let Some(constraint) = &self.constraint else {
            return self.definition.clone();
        };
        let (name, index) = (Client::quoted(&constraint.name), Client::quoted(&self.name));
        format!(
            "{}; ALTER TABLE {table} ADD CONSTRAINT {name} {} USING INDEX {index}{}",
            self.definition, constraint.kind, constraint.when,
        )
    }
}

/// Runs statements that may fail, in a savepoint. Returns the reason of a failure.
fn attempt(client: &mut Client, sql: &str) -> Result<Option<String>, Failure> {
    client.run("SAVEPOINT inorder_load")?;
    match client.run(sql) {
        Ok(()) => {
            client.run("RELEASE SAVEPOINT inorder_load")?;
            Ok(None)
        }
        Err(failure) => {
            client.run("ROLLBACK TO SAVEPOINT inorder_load")?;
            Ok(Some(failure.message))
        }
    }
}

/// Returns whether the table has no rows that are visible to this transaction.
fn is_empty(client: &mut Client, table: &str) -> Result<bool, Failure> {
    let any = format!("SELECT NOT EXISTS (SELECT FROM {table})");
    Ok(client.query_one(&any, &[])?.try_get(0)?)
}

/// Drops the table's keys and indexes where possible. Returns the statements that create them again.
fn take_away(
    client: &mut Client,
    table: &Table,
    told: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    let rows = client.query(INDEXES, &[&table.oid])?;
    let indexes: Result<Vec<Index>, postgres::Error> = rows.iter().map(Index::read).collect();
    let indexes = indexes?;
    if indexes.is_empty() {
        return Ok(Vec::new());
    }
    let Table {
        name,
        quoted: table,
        ..
    } = table;
    if !is_empty(client, table)? {
        told.push(format!("{name} has rows: its keys and indexes are kept"));
        return Ok(Vec::new());
    }
    let lock = format!(
        "SET LOCAL lock_timeout = '{LOCK_MAX}'; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; \
         SET LOCAL lock_timeout TO DEFAULT"
    );
    let mut why_not = attempt(client, &lock)?;
    if why_not.is_none() && !is_empty(client, table)? {
        why_not = Some("it has rows now".to_owned());
    }
    if let Some(why_not) = why_not {
        told.push(format!(
            "the keys and indexes of {name} are kept: {why_not}"
        ));
        return Ok(Vec::new());
    }
    let (mut again, mut names) = (Vec::new(), Vec::new());
    for index in &indexes {
        match attempt(client, &index.drop(table))? {
            None => {
                again.push(index.make(table));
                names.push(index.name.clone());
            }
            Some(why_not) => told.push(format!("{} is kept: {why_not}", index.name)),
        }
    }
    if !names.is_empty() {
        told.push(format!("built after the load: {}", names.join(", ")));
    }
    Ok(again)
}

/// Statements around each COPY of a load that continues after refused rows.
const MARK: [&str; 3] = [
    "SAVEPOINT inorder_rows",
    "RELEASE SAVEPOINT inorder_rows",
    "ROLLBACK TO SAVEPOINT inorder_rows; RELEASE SAVEPOINT inorder_rows",
];

/// Path of the rows.
enum Way {
    /// One COPY per batch.
    Batches(Box<Session<Client>>),
    /// One COPY for all batches.
    Stream(Stream),
    /// None, because an operation failed.
    Lost,
}

/// Writes rows, and creates the dropped keys and indexes before the commit.
struct Loader {
    way: Way,
    copy: Copy,
    again: Vec<String>,
    /// The statement that stores the rows of a temporary table in the table.
    merge: Option<String>,
    survives_refusals: bool,
    stored: u64,
    is_open: bool,
}

/// A load to begin.
pub struct Wanted<'a> {
    pub table: &'a str,
    pub columns: &'a [&'a str],
    /// Whether keys and indexes may be built after the rows.
    pub has_later_keys: bool,
    pub survives_refusals: bool,
    pub change: Option<&'a TableChange>,
}

/// Begins a load.
///
/// # Errors
/// If the table or a column is missing, or its properties cannot be read.
pub fn begin(mut session: Session<Client>, wanted: &Wanted<'_>) -> Result<Load, Error> {
    let Wanted { columns, .. } = *wanted;
    let mut name = wanted.table.to_owned();
    session.run("BEGIN")?;
    if let Some(change) = wanted.change {
        name = change::apply(&mut session, &name, change)?.name;
    }
    let doing = |failure: Failure| failure.doing(format!("preparing {name}"));
    let table = Table::find(&mut session.connection, &name).map_err(|error| doing(error.into()))?;
    let table = table.ok_or_else(|| Table::missing(&name))?;
    let mut copy = copy(&table, columns);
    let mut merge = None;
    if wanted.change.is_some_and(|change| change.updates) {
        let updates = change::updates(&mut session, &table, columns)?;
        copy.statement = format!("COPY {}({}) FROM STDIN", updates.into, Table::list(columns));
        copy.table = updates
            .into
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .to_owned();
        merge = Some(updates.merge);
    }
    let mut told = Vec::new();
    // Concurrent writers may rely on the indexes, or see a part of the rows.
    let again = match wanted.has_later_keys && !table.has_triggers && merge.is_none() {
        true => take_away(&mut session.connection, &table, &mut told).map_err(doing)?,
        false => Vec::new(),
    };
    // Statement triggers run once, and foreign keys to the table itself are checked at the end.
    let is_one = merge.is_none() && (table.has_triggers || table.leads_to_itself);
    let way = match is_one {
        true => Way::Stream(Stream::start(session, &copy)),
        false => Way::Batches(Box::new(session)),
    };
    let survives_refusals = wanted.survives_refusals && !is_one;
    Ok(Load {
        writer: Box::new(Loader {
            way,
            copy,
            again,
            merge,
            survives_refusals,
            stored: 0,
            is_open: true,
        }),
        told,
        survives_refusals,
        is_one_statement: is_one,
    })
}

/// Returns the COPY of rows into these columns.
fn copy(table: &Table, columns: &[&str]) -> Copy {
    let own = |name: &&str| {
        table
            .column(name)
            .map_or(Type::UNKNOWN, |column| column.ty.clone())
    };
    Copy {
        statement: format!("COPY {}({}) FROM STDIN", table.quoted, Table::list(columns)),
        table: table.name.clone(),
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        types: columns.iter().map(own).collect(),
    }
}

impl Loader {
    /// Returns the session, after a COPY for all batches has ended.
    fn session(&mut self) -> Result<&mut Session<Client>, Error> {
        if let Way::Stream(_) = self.way {
            self.end(true)?;
        }
        match &mut self.way {
            Way::Batches(session) => Ok(session),
            _ => Err(Error::Database {
                doing: self.copy.statement.clone(),
                message: "the load already failed".to_owned(),
            }),
        }
    }

    /// Ends a COPY for all batches.
    fn end(&mut self, is_complete: bool) -> Result<(), Error> {
        let stream = match std::mem::replace(&mut self.way, Way::Lost) {
            Way::Stream(stream) => stream,
            other => {
                self.way = other;
                return Ok(());
            }
        };
        let (session, sent) = stream.end(is_complete);
        self.way = Way::Batches(Box::new(session));
        match sent {
            Ok(rows) => self.stored += rows,
            Err(error) if is_complete => return Err(self.copy.refused(error, 0)),
            Err(_) => {}
        }
        Ok(())
    }
}

impl Writer for Loader {
    fn begin(&mut self) -> Result<(), Error> {
        self.session()?.run("BEGIN")?;
        self.is_open = true;
        Ok(())
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        match &mut self.way {
            Way::Stream(stream) => stream.send(&self.copy, batch, rows),
            Way::Batches(session) if self.survives_refusals => {
                let [set, release, back] = MARK;
                session.run(set)?;
                let sent = self.copy.send(&mut session.connection, batch, rows);
                session.run(if sent.is_ok() { release } else { back })?;
                self.stored += sent?;
            }
            Way::Batches(session) => {
                self.stored += self.copy.send(&mut session.connection, batch, rows)?;
            }
            Way::Lost => _ = self.session()?,
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), Error> {
        let again = std::mem::take(&mut self.again);
        if let Some(merge) = self.merge.take() {
            let stored = self.session()?.connection.execute(&merge, &[]);
            self.stored = stored.map_err(|error| self.copy.refused(error, 0))?;
        }
        let session = self.session()?;
        // Indexes can't be built while a deferred constraint is pending.
        session.run("SET CONSTRAINTS ALL IMMEDIATE")?;
        for sql in again {
            session.run(&sql)?;
        }
        Ok(())
    }

    fn stored(&self) -> Option<u64> {
        Some(self.stored)
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.complete()?;
        self.session()?.run("COMMIT")?;
        self.is_open = false;
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.again.clear();
        self.end(false)?;
        if std::mem::take(&mut self.is_open) {
            self.session()?.run("ROLLBACK")?;
        }
        Ok(())
    }

    /// The server runs checkpoints itself.
    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn retries(&self) -> u64 {
        0
    }
}
