//! The table of a SQLite database that a load writes to: one that exists, or one that it creates.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};

use super::Wanted;
use crate::Error;
use crate::database::failed;
use crate::destination::{Create, Destination, describe, dropped_full_text};
use crate::job::{Existing, OnDuplicate};
use crate::schema::{Altered, children};
use crate::sql::quoted;

/// A table, and what the load does before its first row.
pub(super) struct Table {
    pub(super) destination: Destination,
    /// The statements that create it; `None` if it exists and stays.
    pub(super) created: Option<String>,
    /// The statements after the rows of a table that the load creates: those of its full-text index.
    pub(super) completed: Option<String>,
    /// Whether the load deletes its rows.
    pub(super) is_truncated: bool,
    /// The columns that the load adds.
    pub(super) altered: Vec<Altered>,
}

/// Finds the table, or the statement that creates it. `None` if it exists and the load then does nothing.
///
/// # Errors
/// If the table doesn't exist and isn't to be created, or exists and the job doesn't allow that.
pub(super) fn open(
    connection: &Connection,
    path: &Path,
    wanted: &Wanted<'_>,
) -> Result<Option<Table>, Error> {
    let name = existing(connection, wanted.table).map_err(failed(path))?;
    let existing = match (&name, wanted.create) {
        (Some(_), _) => wanted.existing,
        (None, Some(_)) => return created(connection, path, wanted, None).map(Some),
        // Describing it names the nearest table.
        (None, None) => Existing::Append,
    };
    match existing {
        Existing::Skip => return Ok(None),
        Existing::Refuse => return Err(wanted.refused(&place(path), "exists")),
        Existing::Replace => {
            // A view is no table.
            describe(connection, path, wanted.table)?;
            check_children(connection, path, wanted.table)?;
            return created(connection, path, wanted, name.as_deref()).map(Some);
        }
        Existing::Truncate => check_children(connection, path, wanted.table)?,
        Existing::Append | Existing::FillEmpty => {}
    }
    if name.is_some()
        && wanted
            .create
            .is_some_and(|create| create.full_text.is_some())
    {
        return Err(Error::Create {
            what: format!(
                "--fts: the table {} exists, and only a table that the load creates gets a full-text index; leave --fts \
                 out, or create the table again (--replace-table)",
                wanted.table
            ),
        });
    }
    let destination = describe(connection, path, wanted.table)?;
    let has_rule = wanted.on_duplicate != OnDuplicate::Error && destination.is_key_unique;
    if existing == Existing::FillEmpty
        && !has_rule
        && has_rows(connection, &destination.table).map_err(failed(path))?
    {
        return Err(wanted.refused(&place(path), "has rows already"));
    }
    let (destination, altered) = match wanted.alters {
        true => altered(connection, path, wanted, destination)?,
        false => (destination, Vec::new()),
    };
    Ok(Some(Table {
        destination,
        created: None,
        completed: None,
        is_truncated: existing == Existing::Truncate,
        altered,
    }))
}

/// The name of the table, view or virtual table with this name, as it was declared.
fn existing(connection: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let named =
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE";
    connection
        .query_row(named, [table], |row| row.get(0))
        .optional()
}

fn has_rows(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let any = format!("SELECT EXISTS (SELECT 1 FROM main.{})", quoted(table));
    connection.query_row(&any, [], |row| row.get(0))
}

/// The beginning of a message about the database.
fn place(path: &Path) -> String {
    format!("{}: ", path.display())
}

/// Adds the columns of the first rows that the table doesn't have, and describes it with them.
fn altered(
    connection: &Connection,
    path: &Path,
    wanted: &Wanted<'_>,
    destination: Destination,
) -> Result<(Destination, Vec<Altered>), Error> {
    let mut altered = Vec::new();
    for (name, place) in wanted.sample.named() {
        if destination.column(name).is_some() {
            continue;
        }
        let given = wanted.create.and_then(|create| create.type_of(name));
        let declared_type = match given {
            Some(declared_type) => declared_type.to_owned(),
            None => {
                let derived = wanted.sample.derived(*place);
                derived.map_err(failed(path))?.declared_type.to_owned()
            }
        };
        let table = quoted(&destination.table);
        let sql = format!(
            "ALTER TABLE main.{table} ADD COLUMN {} {declared_type}",
            quoted(name)
        );
        altered.push(Altered {
            column: name.clone(),
            sql: sql.trim_end().to_owned(),
        });
    }
    if altered.is_empty() {
        return Ok((destination, altered));
    }
    let all: Vec<&str> = altered.iter().map(|altered| altered.sql.as_str()).collect();
    let mut destination = tried(connection, path, wanted.table, &all.join(";\n"))?;
    for column in &mut destination.columns {
        let is_added = altered.iter().any(|altered| altered.column == column.name);
        let is_any = |is: fn(&Create, &str) -> bool| {
            is_added && wanted.create.is_none_or(|create| is(create, &column.name))
        };
        column.is_guessed |= is_any(Create::is_guessed);
        column.is_derived |= is_any(Create::is_derived);
    }
    Ok((destination, altered))
}

/// Checks that no row of another table is deleted or changed with those of this one.
fn check_children(connection: &Connection, path: &Path, table: &str) -> Result<(), Error> {
    let children = children(connection, table).map_err(failed(path))?;
    match children.iter().find(|child| child.is_changed()) {
        None => Ok(()),
        Some(child) => Err(Error::Refused {
            what: format!(
                "{}: to delete the rows of {table} would change those of {} (ON DELETE {}); delete the rows yourself, and \
                 load with --append",
                path.display(),
                child.table,
                child.on_delete
            ),
        }),
    }
}

/// The table that the load creates, in place of the one with the name `replaced`, if any.
fn created(
    connection: &Connection,
    path: &Path,
    wanted: &Wanted<'_>,
    replaced: Option<&str>,
) -> Result<Table, Error> {
    let Some(create) = wanted.create else {
        return Err(Error::Refused {
            what: "a table is replaced only by one that the job creates".to_owned(),
        });
    };
    for key in &create.foreign_keys {
        if existing(connection, &key.parent)
            .map_err(failed(path))?
            .is_none()
        {
            return Err(Error::Create {
                what: format!(
                    "--foreign-key: {} has no table `{}`; load it first",
                    path.display(),
                    key.parent
                ),
            });
        }
    }
    let mut sql = create.sql(wanted.table, wanted.sample)?;
    let alike = match replaced {
        Some(_) => Some(alike(connection).map_err(failed(path))?),
        None => None,
    };
    let trial = alike.as_ref().unwrap_or(connection);
    let mut destination = tried(trial, path, wanted.table, &sql)?;
    let completed = completed(connection, wanted.table, create, &destination)?;
    if let Some(completed) = &completed {
        tried(trial, path, wanted.table, &format!("{sql};\n{completed}"))?;
    }
    if let Some(name) = replaced {
        let index = dropped_full_text(connection, name).map_err(failed(path))?;
        let drop = format!("DROP TABLE IF EXISTS {}", quoted(name));
        let all: Vec<String> = index.into_iter().chain([drop, sql]).collect();
        sql = all.join(";\n");
    }
    for column in &mut destination.columns {
        column.is_guessed = create.is_guessed(&column.name);
        column.is_derived = create.is_derived(&column.name);
        column.is_undecided = column.is_guessed && wanted.sample.is_undecided(&column.name);
    }
    Ok(Table {
        destination,
        created: Some(sql),
        completed,
        is_truncated: false,
        altered: Vec::new(),
    })
}

/// The statements after the rows of a table that is created.
fn completed(
    connection: &Connection,
    table: &str,
    create: &Create,
    destination: &Destination,
) -> Result<Option<String>, Error> {
    let Some(index) = &create.full_text else {
        return Ok(None);
    };
    // VACUUM may give rows another rowid that no column has.
    let Some(rowid) = destination.rowid else {
        return Err(Error::Create {
            what: "--fts: the index finds rows by an INTEGER PRIMARY KEY; name a column of integers (--key COLUMN), or make one \
                   (--key id=serial)"
                .to_owned(),
        });
    };
    index.check(connection, table)?;
    Ok(Some(index.sql(table, &destination.columns[rowid].name)))
}

/// An empty database with the encoding and the page size of another.
fn alike(connection: &Connection) -> rusqlite::Result<Connection> {
    let encoding: String = connection.query_row("PRAGMA main.encoding", [], |row| row.get(0))?;
    let page_bytes: u32 = connection.query_row("PRAGMA main.page_size", [], |row| row.get(0))?;
    let alike = inorder_sqlite::open_in_memory()?;
    alike.pragma_update(None, "page_size", page_bytes)?;
    alike.pragma_update(None, "encoding", encoding)?;
    Ok(alike)
}

/// Describes the table that statements would create.
pub(super) fn tried(
    connection: &Connection,
    path: &Path,
    table: &str,
    sql: &str,
) -> Result<Destination, Error> {
    let failed = failed(path);
    connection.execute_batch("BEGIN").map_err(&failed)?;
    let made = connection
        .execute_batch(sql)
        .map_err(&failed)
        .and_then(|()| describe(connection, path, table));
    connection.execute_batch("ROLLBACK").map_err(&failed)?;
    made
}
