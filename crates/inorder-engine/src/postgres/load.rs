//! Rows loaded into a table that is empty: its keys and indexes are taken away first and made again after, all
//! in the transaction of the load. From rows in their order that costs the server less than keeping them
//! row by row, and an index in another order is sorted once.

use crate::{
    Batch, Error, Load, Writer,
    server::{Connection as _, Failure, ServerWriter},
};
use postgres::{Client, Row};
use std::ops::Range;

/// Indexes of a plain table that say no more than their definition does. Excluded are those that others hold on
/// to by name, and what a definition leaves out: tablespace, comment, statistics.
const INDEXES: &str = "
    SELECT relname::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid), conname::text,
        contype::text, condeferrable, condeferred
    FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = indrelid
    WHERE indrelid = to_regclass(quote_ident($1)) AND indisvalid
        AND NOT indisreplident AND NOT indisclustered AND reltablespace = 0
        AND coalesce(contype IN ('p', 'u'), true)
        AND obj_description(indexrelid, 'pg_class') IS NULL
        AND obj_description(pg_constraint.oid, 'pg_constraint') IS NULL
        AND NOT EXISTS (SELECT FROM pg_attribute
            WHERE attrelid = indexrelid AND coalesce(attstattarget, -1) >= 0)
        AND EXISTS (SELECT FROM pg_class AS own
            WHERE own.oid = indrelid AND own.relkind = 'r' AND NOT own.relispartition)
    ORDER BY indisprimary DESC, indexrelid";

/// How long it is waited for others to leave the table alone.
const LOCK_MAX: &str = "10s";

/// An index, and the constraint that it is of.
struct Index {
    name: String,
    /// With its schema where that is needed.
    quoted: String,
    definition: String,
    constraint: Option<Constraint>,
}

struct Constraint {
    name: String,
    /// `PRIMARY KEY` or `UNIQUE`.
    kind: &'static str,
    /// When it is checked.
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

    /// A constraint takes over an index that is there: what the index has of its own stays so.
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

/// Tries statements that may fail without harm to the transaction. Says why they did.
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

/// Whether the table has no rows, as far as this transaction sees.
fn is_empty(client: &mut Client, table: &str) -> Result<bool, Failure> {
    let any = format!("SELECT NOT EXISTS (SELECT FROM {table})");
    Ok(client.query_one(&any, &[])?.try_get(0)?)
}

/// Takes the table's keys and indexes away, as far as they can be. Returns the statements that make them again.
fn take_away(
    client: &mut Client,
    name: &str,
    told: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    let rows = client.query(INDEXES, &[&name])?;
    let indexes: Result<Vec<Index>, postgres::Error> = rows.iter().map(Index::read).collect();
    let indexes = indexes?;
    if indexes.is_empty() {
        return Ok(Vec::new());
    }
    let table = Client::quoted(name);
    if !is_empty(client, &table)? {
        told.push(format!(
            "{name} has rows: its keys and indexes stay in place"
        ));
        return Ok(Vec::new());
    }
    let lock = format!(
        "SET LOCAL lock_timeout = '{LOCK_MAX}'; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; \
         SET LOCAL lock_timeout TO DEFAULT"
    );
    let mut why_not = attempt(client, &lock)?;
    if why_not.is_none() && !is_empty(client, &table)? {
        why_not = Some("it has rows by now".to_owned());
    }
    if let Some(why_not) = why_not {
        told.push(format!(
            "the keys and indexes of {name} stay in place: {why_not}"
        ));
        return Ok(Vec::new());
    }
    let (mut again, mut names) = (Vec::new(), Vec::new());
    for index in &indexes {
        match attempt(client, &index.drop(&table))? {
            None => {
                again.push(index.make(&table));
                names.push(index.name.clone());
            }
            Some(why_not) => told.push(format!("{} stays in place: {why_not}", index.name)),
        }
    }
    if !names.is_empty() {
        told.push(format!("made after the rows: {}", names.join(", ")));
    }
    Ok(again)
}

/// Writes rows, and makes what was taken away before the commit.
struct Loader {
    writer: ServerWriter<Client>,
    again: Vec<String>,
}

/// Begins a load.
///
/// # Errors
/// When the table can't be asked about.
pub fn begin(
    mut writer: ServerWriter<Client>,
    table: &str,
    has_later_keys: bool,
) -> Result<Load, Error> {
    writer.begin()?;
    let mut told = Vec::new();
    let again = match has_later_keys {
        true => take_away(&mut writer.session().connection, table, &mut told)
            .map_err(|failure| failure.doing(format!("preparing {table}")))?,
        false => Vec::new(),
    };
    Ok(Load {
        writer: Box::new(Loader { writer, again }),
        told,
    })
}

impl Writer for Loader {
    fn begin(&mut self) -> Result<(), Error> {
        self.writer.begin()
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.writer.insert(batch, rows)
    }

    fn complete(&mut self) -> Result<(), Error> {
        for sql in std::mem::take(&mut self.again) {
            self.writer.session().run(&sql)?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.complete()?;
        self.writer.commit()
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.again.clear();
        self.writer.rollback()
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        self.writer.checkpoint_if_due()
    }

    fn retries(&self) -> u64 {
        self.writer.retries()
    }
}
