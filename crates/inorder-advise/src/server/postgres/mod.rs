//! Reading a PostgreSQL database.

mod bloat;
mod catalog;
mod sample;
mod sequences;

use super::model::{Database, Product, Sample, Table, TableKind};
use crate::Error;
use catalog::Relation;
use inorder_engine::remote::{ReadOnly, TextRows};
use serde_json::Value;

/// The oldest release whose catalog is known.
const RELEASE_MIN: u32 = 12;

/// Settings that decide the size of rows and of the log.
const SETTINGS: &[&str] = &[
    "wal_compression",
    "full_page_writes",
    "wal_log_hints",
    "data_checksums",
    "wal_level",
    "default_toast_compression",
    "max_wal_size",
    "checkpoint_timeout",
];

/// Reads the database of a session: its catalog, sizes, and samples of its tables. `step` is told what is read.
///
/// # Errors
/// If the server is too old, refuses to show its catalog, or the connection is lost. A table that can't be read becomes
/// a note.
pub fn read(
    session: &mut ReadOnly,
    version: &str,
    step: &dyn Fn(&str, &str),
) -> Result<Database, Error> {
    step("reading the catalog", "");
    let mut database = facts(session, version)?;
    if database.release.0 < RELEASE_MIN {
        return Err(Error::OldServer {
            version: version.to_owned(),
            oldest: format!("PostgreSQL {RELEASE_MIN}"),
        });
    }
    let mut relations = catalog::read(session)?;
    sequences::read(session, &relations, &mut database)?;
    sizes(session, &mut relations, &mut database)?;
    for relation in &mut relations {
        let name = format!("{}.{}", relation.table.schema, relation.table.name);
        step("reading samples", &name);
        values(session, relation, &name, &mut database)?;
        let table = &mut relation.table;
        table.bloat_bytes = bloat::of_table(table, database.page_bytes);
        for at in 0..table.indexes.len() {
            let index = &table.indexes[at];
            let bloat = bloat::of_index(table, index, &relation.distinct, database.page_bytes);
            table.indexes[at].bloat_bytes = bloat;
        }
    }
    let mut tables: Vec<Table> = relations
        .into_iter()
        .map(|relation| relation.table)
        .collect();
    add_up_partitions(&mut tables);
    database.tables = tables;
    Ok(database)
}

/// Quotes a name.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn facts(session: &mut ReadOnly, version: &str) -> Result<Database, Error> {
    let rows = session.rows(
        "SELECT current_setting('server_version_num'), current_database(), current_setting('block_size'),
         (SELECT coalesce(stats_reset::timestamptz(0)::text, 'the server was made') FROM pg_stat_database WHERE datname = current_database()),
         pg_is_in_recovery()::text",
    )?;
    let row = rows.into_iter().next().unwrap_or_default();
    let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let number: u32 = text(0).parse().unwrap_or(0);
    let mut database = Database {
        product: Product::Postgres,
        version: version.to_owned(),
        release: (number / 10_000, number % 10_000),
        name: text(1),
        page_bytes: text(2).parse().unwrap_or(8192),
        statistics_since: Some(text(3)).filter(|since| !since.is_empty()),
        ..Database::default()
    };
    if text(4) == "true" {
        database.notes.push(
            "The server is a standby: uses of indexes are counted on each server for itself."
                .into(),
        );
    }
    if let Ok(rows) = session.rows("SELECT pg_database_size(current_database())") {
        let bytes = rows
            .into_iter()
            .next()
            .and_then(|row| row.into_iter().next().flatten());
        database.bytes = bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
    }
    let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
    let names = names.join(", ");
    for row in session.rows(&format!(
        "SELECT name, setting FROM pg_settings WHERE name IN ({names}) ORDER BY name"
    ))? {
        if let [Some(name), Some(value)] = &row[..] {
            database.settings.push((name.clone(), value.clone()));
        }
    }
    Ok(database)
}

/// Reads the sizes of tables and indexes, all at once, or one by one where a lock is in the way of some.
fn sizes(
    session: &mut ReadOnly,
    relations: &mut [Relation],
    database: &mut Database,
) -> Result<(), Error> {
    let all: Vec<u64> = relations
        .iter()
        .flat_map(|relation| {
            std::iter::once(relation.oid).chain(relation.index_oids.iter().copied())
        })
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let mut found = std::collections::HashMap::new();
    match sizes_of(session, &all) {
        Ok(rows) => found.extend(rows),
        Err(error) if !session.is_open() => return Err(error),
        Err(_) => {
            for relation in relations.iter() {
                let own: Vec<u64> = std::iter::once(relation.oid)
                    .chain(relation.index_oids.iter().copied())
                    .collect();
                match sizes_of(session, &own) {
                    Ok(rows) => found.extend(rows),
                    Err(error) if !session.is_open() => return Err(error),
                    Err(error) => database.notes.push(format!(
                        "{}.{}: its size can't be read: {error}.",
                        relation.table.schema, relation.table.name
                    )),
                }
            }
        }
    }
    for relation in relations {
        let (bytes, toast) = found.get(&relation.oid).copied().unwrap_or_default();
        let table = &mut relation.table;
        (table.bytes, table.toast_bytes) = (bytes, toast);
        let (rows, pages) = relation.counted;
        let now = bytes / u64::from(database.page_bytes.max(1));
        // As the planner does: rows per page of the last count, times the pages of now.
        table.rows = match (rows, pages) {
            (0.0.., 1..) => (rows / pages as f64 * now as f64).round() as u64,
            (0.0.., 0) if bytes == 0 => 0,
            _ => bytes / GUESSED_ROW_BYTES,
        };
        for (index, oid) in table.indexes.iter_mut().zip(&relation.index_oids) {
            index.bytes = found.get(oid).map_or(0, |(bytes, _)| *bytes);
        }
    }
    Ok(())
}

/// Bytes of a row of a table that was never analyzed, until some of its rows are read.
const GUESSED_ROW_BYTES: u64 = 60;

type Sizes = Vec<(u64, (u64, u64))>;

fn sizes_of(session: &mut ReadOnly, oids: &[u64]) -> Result<Sizes, Error> {
    let ids: Vec<String> = oids.iter().map(u64::to_string).collect();
    let rows = session.rows(&format!(
        "SELECT c.oid::bigint, coalesce(pg_relation_size(c.oid), 0),
         CASE WHEN c.reltoastrelid <> 0 THEN coalesce(pg_total_relation_size(c.reltoastrelid), 0) ELSE 0 END
         FROM pg_class c WHERE c.oid IN ({})",
        ids.join(", ")
    ))?;
    let number = |text: &Option<String>| {
        text.as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    };
    Ok(rows
        .iter()
        .map(|row| (number(&row[0]), (number(&row[1]), number(&row[2]))))
        .collect())
}

/// Reads a table's sample, and checks on all rows whether columns of indexes are NULL everywhere.
fn values(
    session: &mut ReadOnly,
    relation: &mut Relation,
    name: &str,
    database: &mut Database,
) -> Result<(), Error> {
    match relation.table.kind {
        TableKind::Foreign => {
            database.notes.push(format!(
                "{name} is a foreign table: its rows are on another server."
            ));
            return Ok(());
        }
        TableKind::Partitioned => return Ok(()),
        _ => {}
    }
    if !relation.may_read {
        let grant = format!("GRANT SELECT ON {name} TO the user of the URL");
        database.notes.push(format!(
            "{name}: its rows may not be read, so the kinds of its ids are not known ({grant})."
        ));
        return Ok(());
    }
    let pages = relation.table.bytes / u64::from(database.page_bytes.max(1));
    let sample = match sample::read(session, &relation.table, pages) {
        Ok(sample) => sample,
        Err(error) if !session.is_open() => return Err(error),
        Err(error) => {
            database
                .notes
                .push(format!("{name}: its rows can't be read: {error}."));
            return Ok(());
        }
    };
    let table = &mut relation.table;
    if sample.is_whole {
        table.rows = sample.rows.len() as u64;
        table.rows_are_exact = true;
    }
    check_nulls(session, table, &sample)?;
    table.sample = Some(sample);
    Ok(())
}

/// Runs a query that may use indexes, unless its plan has one that nobody used before: the server would count the use, and
/// the index would never again be told as unused. `None` if it isn't run, or the server refuses it.
///
/// # Errors
/// If the connection is lost.
pub fn probe(session: &mut ReadOnly, table: &Table, sql: &str) -> Result<Option<TextRows>, Error> {
    let is_used = |name: &String| {
        let own = table.index(name);
        own.is_some_and(|index| index.scans.is_some_and(|scans| scans > 0))
    };
    let mut run = |sql: &str| match session.rows(sql) {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if !session.is_open() => Err(Error::from(error)),
        Err(_) => Ok(None),
    };
    if !is_counted(&mut run)? {
        return run(sql);
    }
    let Some(lines) = run(&format!("EXPLAIN (FORMAT JSON) {sql}"))? else {
        return Ok(None);
    };
    let plan: String = lines.into_iter().flatten().flatten().collect();
    let Ok(plan) = serde_json::from_str(&plan) else {
        return Ok(None);
    };
    let mut indexes = Vec::new();
    index_names(&plan, &mut indexes);
    match indexes.iter().all(is_used) {
        true => run(sql),
        false => Ok(None),
    }
}

/// Whether the server counts the session's scans.
fn is_counted(run: &mut dyn FnMut(&str) -> Result<Option<TextRows>, Error>) -> Result<bool, Error> {
    let rows = run("SELECT current_setting('track_counts')")?;
    let value = rows.and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
    Ok(value.as_deref() != Some("off"))
}

/// Whether the server counts the scans of a session.
///
/// # Errors
/// If the connection is lost.
pub fn counts_scans(session: &mut ReadOnly) -> Result<bool, Error> {
    is_counted(&mut |sql| match session.rows(sql) {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if !session.is_open() => Err(error.into()),
        Err(_) => Ok(None),
    })
}

/// The names of the indexes of a plan in JSON.
fn index_names(plan: &Value, names: &mut Vec<String>) {
    match plan {
        Value::Array(values) => values.iter().for_each(|value| index_names(value, names)),
        Value::Object(members) => {
            if let Some(name) = members.get("Index Name").and_then(Value::as_str) {
                names.push(name.to_owned());
            }
            members.values().for_each(|value| index_names(value, names));
        }
        _ => {}
    }
}

/// Finds columns that begin an index and are NULL in every row. The index answers without a scan of the table.
fn check_nulls(session: &mut ReadOnly, table: &mut Table, sample: &Sample) -> Result<(), Error> {
    if sample.rows.is_empty() {
        return Ok(());
    }
    let leading: Vec<&str> = table
        .indexes
        .iter()
        .filter(|index| index.is_valid && index.method == "btree" && index.predicate.is_none())
        .filter_map(|index| index.terms.first()?.column.as_deref())
        .collect();
    let mut all_null = Vec::new();
    for (at, column) in sample.columns.iter().enumerate() {
        if !leading.contains(&column.as_str()) || sample.rows.iter().any(|row| row[at].is_some()) {
            continue;
        }
        let is_empty = sample.is_whole || {
            let sql = format!(
                "SELECT 1 FROM ONLY {}.{} WHERE {} IS NOT NULL LIMIT 1",
                quote(&table.schema),
                quote(&table.name),
                quote(column)
            );
            let rows = probe(session, table, &sql)?;
            rows.is_some_and(|rows| rows.is_empty())
        };
        if is_empty {
            all_null.push(column.clone());
        }
    }
    for column in &mut table.columns {
        column.is_all_null = all_null.contains(&column.name);
    }
    Ok(())
}

/// Gives a partitioned table the sizes of its partitions, and the sample of the largest.
fn add_up_partitions(tables: &mut [Table]) {
    for at in 0..tables.len() {
        if tables[at].kind != TableKind::Partitioned {
            continue;
        }
        let own = format!("{}.{}", tables[at].schema, tables[at].name);
        let members = leaves(tables, &own);
        let largest = members
            .iter()
            .copied()
            .max_by_key(|&member| tables[member].bytes);
        let sample = largest.and_then(|member| tables[member].sample.clone());
        tables[at].rows = members.iter().map(|&member| tables[member].rows).sum();
        tables[at].sample = sample.map(|sample| Sample {
            is_whole: false,
            ..sample
        });
        for index in 0..tables[at].indexes.len() {
            let name = format!("{}.{}", tables[at].schema, tables[at].indexes[index].name);
            let bytes = index_bytes(tables, &name);
            tables[at].indexes[index].bytes = bytes;
        }
    }
}

/// The partitions that hold the rows of a partitioned table.
fn leaves(tables: &[Table], name: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        if table.parent.as_deref() == Some(name) {
            match table.kind {
                TableKind::Partitioned => {
                    found.extend(leaves(tables, &format!("{}.{}", table.schema, table.name)))
                }
                _ => found.push(at),
            }
        }
    }
    found
}

/// Bytes of the parts of a partitioned index.
fn index_bytes(tables: &[Table], name: &str) -> u64 {
    let mut bytes = 0;
    for table in tables {
        for index in &table.indexes {
            if index.parent.as_deref() == Some(name) {
                bytes += match table.kind {
                    TableKind::Partitioned => {
                        index_bytes(tables, &format!("{}.{}", table.schema, index.name))
                    }
                    _ => index.bytes,
                };
            }
        }
    }
    bytes
}
