//! The schema as SQLite reports it.
//!
//! Which column is the rowid's alias, which indexes constraints made, their terms, collations and directions come from
//! pragmas (<https://www.sqlite.org/pragma.html>), never from the text alone.

use super::{Column, ForeignKey, Index, Object, Origin, Table, TableKind, Term};
use crate::{
    ddl::{self, Token, tokens},
    sql::{depth_of, normalized},
};
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;

/// What `sqlite_schema` has of one object.
struct Entry {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

/// Reads all tables, and the views and triggers.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<(Vec<Table>, Vec<Object>)> {
    let entries = entries(connection)?;
    let kinds = kinds(connection)?;
    // SQLite knows the shadow tables of the modules that it has; those of others are told by their names.
    let modules: Vec<String> = entries
        .iter()
        .filter(|entry| {
            kinds
                .get(&entry.name)
                .is_some_and(|(kind, _)| *kind == TableKind::Virtual)
        })
        .map(|entry| format!("{}_", entry.name.to_ascii_lowercase()))
        .collect();
    let is_shadow = |name: &str| {
        modules
            .iter()
            .any(|prefix| name.to_ascii_lowercase().starts_with(prefix))
    };
    let mut tables = Vec::new();
    let mut objects = Vec::new();
    for entry in &entries {
        match entry.kind.as_str() {
            "table" if is_shadow(&entry.name) => tables.push(Table {
                name: entry.name.clone(),
                sql: entry.sql.clone(),
                kind: TableKind::Shadow,
                ..Table::default()
            }),
            "table" => tables.push(table(connection, entry, &kinds, &entries)?),
            "view" | "trigger" => objects.push(Object {
                is_trigger: entry.kind == "trigger",
                name: entry.name.clone(),
                table: entry.table.clone(),
                sql: entry.sql.clone(),
            }),
            _ => {}
        }
    }
    Ok((tables, objects))
}

fn entries(connection: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let entry = |row: &Row<'_>| {
        Ok(Entry {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
        })
    };
    connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")?
        .query_map((), entry)?
        .collect()
}

/// The kind of each table, and whether it is STRICT.
fn kinds(connection: &Connection) -> rusqlite::Result<HashMap<String, (TableKind, bool)>> {
    let kind = |row: &Row<'_>| {
        let (kind, is_without_rowid): (String, bool) = (row.get(1)?, row.get(2)?);
        let kind = match kind.as_str() {
            "virtual" => TableKind::Virtual,
            "shadow" => TableKind::Shadow,
            _ if is_without_rowid => TableKind::WithoutRowid,
            _ => TableKind::Rowid,
        };
        Ok((row.get(0)?, (kind, row.get(3)?)))
    };
    connection
        .prepare("SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'")?
        .query_map((), kind)?
        .collect()
}

fn table(
    connection: &Connection,
    entry: &Entry,
    kinds: &HashMap<String, (TableKind, bool)>,
    entries: &[Entry],
) -> rusqlite::Result<Table> {
    let (kind, is_strict) = match kinds.get(&entry.name) {
        Some(&found) => found,
        None => (TableKind::Rowid, false),
    };
    let mut table = Table {
        name: entry.name.clone(),
        sql: entry.sql.clone(),
        kind,
        is_strict,
        ..Table::default()
    };
    // SQLite's own tables and those of modules are sizes and nothing else.
    if entry.name.to_ascii_lowercase().starts_with("sqlite_") {
        table.kind = TableKind::Internal;
        return Ok(table);
    }
    if matches!(kind, TableKind::Virtual | TableKind::Shadow) {
        return Ok(table);
    }
    table.columns = columns(connection, &entry.name)?;
    let mut key: Vec<(u32, usize)> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.key_position > 0)
        .map(|(at, column)| (column.key_position, at))
        .collect();
    key.sort_unstable();
    table.key = key.into_iter().map(|(_, at)| at).collect();
    table.indexes = indexes(connection, &table, entries)?;
    let has_key_index = table
        .indexes
        .iter()
        .any(|index| index.origin == Origin::Key);
    if let [at] = table.key[..]
        && kind == TableKind::Rowid
        && !has_key_index
    {
        table.rowid_alias = Some(at);
    }
    table.foreign_keys = foreign_keys(connection, &entry.name)?;
    let words = tokens(&entry.sql);
    table.is_autoincrement = words.iter().any(|word| word.is("AUTOINCREMENT"));
    table.clauses = ddl::clauses(&entry.sql);
    Ok(table)
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let column = |row: &Row<'_>| {
        Ok(Column {
            name: row.get(0)?,
            declared: row.get(1)?,
            is_not_null: row.get(2)?,
            default: row.get(3)?,
            key_position: row.get(4)?,
            hidden: row.get(5)?,
            ..Column::default()
        })
    };
    connection
        .prepare(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)",
        )?
        .query_map([table], column)?
        .collect()
}

fn indexes(
    connection: &Connection,
    table: &Table,
    entries: &[Entry],
) -> rusqlite::Result<Vec<Index>> {
    let index = |row: &Row<'_>| {
        let origin: String = row.get(2)?;
        Ok(Index {
            name: row.get(0)?,
            is_unique: row.get(1)?,
            origin: match origin.as_str() {
                "c" => Origin::Created,
                "u" => Origin::Unique,
                _ => Origin::Key,
            },
            ..Index::default()
        })
    };
    let mut indexes: Vec<Index> = connection
        .prepare("SELECT name, \"unique\", origin FROM pragma_index_list(?1) ORDER BY seq DESC")?
        .query_map([&table.name], index)?
        .collect::<rusqlite::Result<_>>()?;
    for index in &mut indexes {
        let entry = entries
            .iter()
            .find(|entry| entry.kind == "index" && entry.name == index.name);
        index.sql = entry.map_or(String::new(), |entry| entry.sql.clone());
        let words = tokens(&index.sql);
        let (terms, condition) = parts(&words);
        index.condition = condition.map(normalized);
        index.terms = index_terms(connection, &index.name, table, &terms)?;
    }
    Ok(indexes)
}

/// The terms of an index before those that SQLite appends.
fn index_terms(
    connection: &Connection,
    index: &str,
    table: &Table,
    written: &[&[Token<'_>]],
) -> rusqlite::Result<Vec<Term>> {
    let term = |row: &Row<'_>| {
        let (at, number): (usize, i64) = (row.get(0)?, row.get(1)?);
        let column = usize::try_from(number).ok();
        let expression = (number == -2).then(|| {
            written
                .get(at)
                .map_or_else(String::new, |words| normalized(bare(words)))
        });
        Ok(Term {
            column: if number == -1 {
                table.rowid_alias
            } else {
                column
            },
            is_rowid: number == -1,
            expression,
            is_descending: row.get(2)?,
            collation: row
                .get::<_, Option<String>>(3)?
                .unwrap_or_default()
                .to_uppercase(),
        })
    };
    connection
        .prepare("SELECT seqno, cid, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")?
        .query_map(params![index], term)?
        .collect()
}

/// The terms of CREATE INDEX, and its condition.
fn parts<'t, 's>(words: &'t [Token<'s>]) -> (Vec<&'t [Token<'s>]>, Option<&'t [Token<'s>]>) {
    let Some(open) = words.iter().position(|word| word.is_symbol("(")) else {
        return (Vec::new(), None);
    };
    let (mut terms, mut depth, mut from) = (Vec::new(), 0, open + 1);
    for (at, word) in words.iter().enumerate().skip(open) {
        depth += depth_of(word);
        if depth == 0 || (depth == 1 && word.is_symbol(",")) {
            terms.push(&words[from..at]);
            from = at + 1;
        }
        if depth == 0 {
            let rest = &words[at + 1..];
            let condition = rest.first().is_some_and(|word| word.is("WHERE"));
            return (terms, condition.then(|| &rest[1..]));
        }
    }
    (terms, None)
}

/// A term without its direction and its collation, which SQLite reports.
fn bare<'t, 's>(words: &'t [Token<'s>]) -> &'t [Token<'s>] {
    let mut words = words;
    if let [rest @ .., last] = words
        && (last.is("ASC") || last.is("DESC"))
    {
        words = rest;
    }
    match words {
        [rest @ .., collate, _] if collate.is("COLLATE") => rest,
        _ => words,
    }
}

fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    let mut statement = connection.prepare(
        "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
    )?;
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if keys.last().is_none_or(|(last, _)| *last != id) {
            keys.push((
                id,
                ForeignKey {
                    parent: row.get(1)?,
                    on_delete: row.get(4)?,
                    on_update: row.get(5)?,
                    ..ForeignKey::default()
                },
            ));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(row.get(2)?);
            key.parent_columns.extend(row.get::<_, Option<String>>(3)?);
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}
