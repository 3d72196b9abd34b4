//! The catalog of MariaDB and MySQL: `information_schema`, and the sizes that InnoDB keeps.

use super::Flavour;
use crate::{
    Error,
    server::{
        model::{
            Backing, BackingKind, Check, Column, Database, ForeignKey, Index, IndexState, Object,
            Table, TableKind, Term,
        },
        shape::{self, Line},
    },
};
use inorder_engine::remote::{ReadOnly, TextRows};
use std::collections::HashMap;

/// A row's texts; NULL is empty.
pub(super) struct Fields(Vec<Option<String>>);

impl Fields {
    pub(super) fn text(&self, at: usize) -> String {
        self.0.get(at).cloned().flatten().unwrap_or_default()
    }

    pub(super) fn some(&self, at: usize) -> Option<String> {
        self.0.get(at).cloned().flatten()
    }

    pub(super) fn number(&self, at: usize) -> u64 {
        self.text(at).parse().unwrap_or(0)
    }
}

pub(super) fn fields(rows: TextRows) -> impl Iterator<Item = Fields> {
    rows.into_iter().map(Fields)
}

type Places = HashMap<(String, String), usize>;

/// Reads tables, columns, indexes and what belongs to them.
///
/// # Errors
/// If the server refuses to show its catalog.
pub fn read(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    let which = flavour.schemas();
    tables(session, &which, database)?;
    let places: Places = database
        .tables
        .iter()
        .enumerate()
        .map(|(at, table)| ((table.schema.clone(), table.name.clone()), at))
        .collect();
    columns(session, flavour, &which, &places, database)?;
    indexes(session, flavour, &which, &places, database)?;
    foreign_keys(session, &which, database)?;
    objects(session, flavour, &which, &places, database)?;
    definitions(session, database)?;
    shapes(session, flavour, &which, &places, database)?;
    sizes(session, &which, &places, database)?;
    spatial(database);
    Ok(())
}

fn tables(session: &mut ReadOnly, which: &str, database: &mut Database) -> Result<(), Error> {
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, DATA_FREE, INDEX_LENGTH, CREATE_OPTIONS
         FROM information_schema.TABLES WHERE {which} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1, 2"
    ))?;
    for row in fields(rows) {
        let engine = row.text(3);
        let bytes = row.number(6);
        let total = bytes + row.number(8);
        let mut particulars = Vec::new();
        if row.text(2) == "SYSTEM VERSIONED" {
            particulars.push("is system-versioned".to_owned());
        }
        if row.text(9).contains("partitioned") {
            particulars.push("is partitioned".to_owned());
        }
        let kind = match engine.to_ascii_lowercase().as_str() {
            "innodb" => TableKind::Ordinary,
            "myisam" | "aria" => TableKind::CatalogOnly,
            _ => TableKind::Foreign,
        };
        let full = format!("{}.{}", row.text(0), row.text(1));
        match kind {
            TableKind::CatalogOnly => database.notes.push(format!(
                "{full} is stored by {engine}: its rows were skipped. The catalog tells equal indexes and counters; sizes of single indexes are shares by the width of their columns."
            )),
            TableKind::Foreign => database.notes.push(format!(
                "Skipped: {full} is stored by {}: only tables of InnoDB, and the catalog of MyISAM and Aria, are advised on.",
                if engine.is_empty() { "no engine that is loaded" } else { &engine }
            )),
            _ => {}
        }
        database.tables.push(Table {
            schema: row.text(0),
            name: row.text(1),
            kind,
            engine,
            row_format: row.text(4),
            fill_percent: 100,
            rows: row.number(5),
            bytes,
            // Tables that share a tablespace each report all of its free space.
            bloat_bytes: Some(row.number(7)).filter(|&free| free <= total),
            particulars,
            ..Table::default()
        });
    }
    Ok(())
}

fn columns(
    session: &mut ReadOnly,
    flavour: &Flavour,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE, COLUMN_DEFAULT,
         COLLATION_NAME, CHARACTER_SET_NAME, EXTRA, GENERATION_EXPRESSION, COLUMN_COMMENT
         FROM information_schema.COLUMNS WHERE {which} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
    ))?;
    for row in fields(rows) {
        let Some(&at) = places.get(&(row.text(0), row.text(1))) else {
            continue;
        };
        let extra = row.text(10).to_lowercase();
        let default = row
            .some(7)
            .filter(|default| flavour.is_mysql || default != "NULL");
        let default =
            default.map(
                |default| match flavour.is_mysql && !extra.contains("default_generated") {
                    true => format!("'{}'", default.replace('\\', "\\\\").replace('\'', "''")),
                    false => default,
                },
            );
        database.tables[at].columns.push(Column {
            name: row.text(2),
            type_name: row.text(3),
            base_type: row.text(4).to_lowercase(),
            length: row.some(5).and_then(|length| length.parse().ok()),
            is_not_null: row.text(6) == "NO",
            default,
            collation: row.some(8),
            character_set: row.some(9),
            is_serial: extra.contains("auto_increment"),
            is_set_on_update: extra.contains("on update"),
            is_invisible: extra.contains("invisible"),
            generated: row.some(11).filter(|expression| !expression.is_empty()),
            comment: row.text(12),
            ..Column::default()
        });
    }
    Ok(())
}

fn indexes(
    session: &mut ReadOnly,
    flavour: &Flavour,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    let ignored = match (flavour.is_mysql, flavour.release) {
        (true, (8.., _)) => "IS_VISIBLE = 'NO', EXPRESSION",
        (false, release) if release >= (10, 6) => "IGNORED = 'YES', NULL",
        _ => "0, NULL",
    };
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, NON_UNIQUE, INDEX_TYPE, COLUMN_NAME, COLLATION, SUB_PART, {ignored}
         FROM information_schema.STATISTICS WHERE {which}
         ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX"
    ))?;
    for row in fields(rows) {
        let Some(&at) = places.get(&(row.text(0), row.text(1))) else {
            continue;
        };
        let table = &mut database.tables[at];
        let name = row.text(2);
        if table.indexes.last().is_none_or(|last| last.name != name) {
            let is_primary = name == "PRIMARY";
            table.indexes.push(Index {
                method: row.text(4).to_lowercase(),
                is_unique: row.text(3) == "0",
                is_primary,
                constraint: is_primary.then(|| Backing {
                    name: name.clone(),
                    kind: BackingKind::Primary,
                    is_deferrable: false,
                }),
                is_valid: row.text(8) != "1",
                state: match row.text(8) == "1" {
                    true => IndexState::Ignored,
                    false => IndexState::Valid,
                },
                deduplicates: false,
                name,
                ..Index::default()
            });
        }
        let is_descending = row.text(6) == "D";
        let column = row.some(5);
        let collation = column.as_ref().and_then(|name| {
            table
                .columns
                .iter()
                .find(|own| own.name == *name)?
                .collation
                .clone()
        });
        if let Some(index) = table.indexes.last_mut() {
            index.terms.push(Term {
                expression: row.some(9),
                column,
                collation,
                is_default_class: true,
                is_descending,
                nulls_first: !is_descending,
                prefix: row.some(7).and_then(|prefix| prefix.parse().ok()),
                ..Term::default()
            });
        }
    }
    Ok(())
}

fn foreign_keys(session: &mut ReadOnly, which: &str, database: &mut Database) -> Result<(), Error> {
    let of_child = which.replace("TABLE_SCHEMA", "k.TABLE_SCHEMA");
    let rows = session.rows(&format!(
        "SELECT k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME,
         k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE
         FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
         ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
         WHERE {of_child} AND k.REFERENCED_TABLE_NAME IS NOT NULL
         ORDER BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION"
    ))?;
    let mut keys: Vec<ForeignKey> = Vec::new();
    for row in fields(rows) {
        let is_next = keys.last().is_none_or(|key| {
            (&key.child_schema, &key.child, &key.name) != (&row.text(0), &row.text(1), &row.text(2))
        });
        if is_next {
            keys.push(ForeignKey {
                child_schema: row.text(0),
                child: row.text(1),
                name: row.text(2),
                parent_schema: row.text(4),
                parent: row.text(5),
                on_delete: row.text(7),
                on_update: row.text(8),
                ..ForeignKey::default()
            });
        }
        if let Some(key) = keys.last_mut() {
            key.columns.push(row.text(3));
            key.parent_columns.push(row.text(6));
        }
    }
    for key in keys {
        for table in &mut database.tables {
            if (&table.schema, &table.name) == (&key.parent_schema, &key.parent) {
                table.referenced_by.push(key.clone());
            }
            if (&table.schema, &table.name) == (&key.child_schema, &key.child) {
                table.foreign_keys.push(key.clone());
            }
        }
    }
    Ok(())
}

/// CHECK constraints, triggers and views.
fn objects(
    session: &mut ReadOnly,
    flavour: &Flavour,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    let checks = match flavour.is_mysql {
        true => format!(
            "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c
             JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
             WHERE t.{which}"
        ),
        false => format!(
            "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE {}",
            which.replace("TABLE_SCHEMA", "CONSTRAINT_SCHEMA")
        ),
    };
    // Servers before MySQL 8.0.16 have no such view, and no such constraints.
    for row in fields(session.rows(&checks).unwrap_or_default()) {
        if let Some(&at) = places.get(&(row.text(0), row.text(1))) {
            database.tables[at].checks.push(Check {
                name: row.text(2),
                definition: row.text(3),
            });
        }
    }
    let rows = session.rows(&format!(
        "SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE {}",
        which.replace("TABLE_SCHEMA", "EVENT_OBJECT_SCHEMA")
    ))?;
    for row in fields(rows) {
        if let Some(&at) = places.get(&(row.text(0), row.text(1))) {
            database.tables[at].triggers.push(Object {
                name: row.text(2),
                definition: row.text(3),
            });
        }
    }
    let rows = session.rows(&format!("SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE {which}"))?;
    let views: Vec<Object> = fields(rows)
        .map(|row| Object {
            name: format!("{}.{}", row.text(0), row.text(1)),
            definition: row.text(2),
        })
        .collect();
    for table in &mut database.tables {
        let name = super::quote(&table.name);
        // A view whose text may not be read may use any table.
        let uses = |view: &&Object| view.definition.is_empty() || view.definition.contains(&name);
        table.views = views.iter().filter(uses).cloned().collect();
    }
    Ok(())
}

/// The statements of tables and the lines of their indexes.
fn definitions(session: &mut ReadOnly, database: &mut Database) -> Result<(), Error> {
    for table in &mut database.tables {
        if table.kind == TableKind::Foreign {
            continue;
        }
        let rows = match session.rows(&format!("SHOW CREATE TABLE {}", super::name(table))) {
            Ok(rows) => rows,
            Err(error) if !session.is_open() => return Err(error.into()),
            Err(_) => {
                mark_clustered(table);
                continue;
            }
        };
        table.definition = fields(rows).next().map_or(String::new(), |row| row.text(1));
        for index in &mut table.indexes {
            let begin = format!("KEY {} ", super::quote(&index.name));
            let mut lines = table
                .definition
                .lines()
                .map(|line| line.trim().trim_end_matches(','));
            let line = lines.find(|line| line.contains(&begin) && !line.contains("FOREIGN KEY"));
            index.definition = line.unwrap_or_default().to_owned();
            let parser = index.definition.split_once("WITH PARSER `");
            let parser = parser.and_then(|(_, rest)| rest.split('`').next());
            index.options = parser
                .map(|name| format!("parser={name}"))
                .into_iter()
                .collect();
        }
        mark_clustered(table);
    }
    Ok(())
}

/// Marks the index that InnoDB stores the rows in. The statement has the indexes in the order in which InnoDB takes them.
fn mark_clustered(table: &mut Table) {
    if table.kind != TableKind::Ordinary {
        return;
    }
    let columns = &table.columns;
    let place = |index: &Index| table.definition.find(&format!("\n  {}", index.definition));
    let is_never_null = |term: &Term| {
        let mut columns = columns.iter();
        let own = columns.find(|own| Some(&own.name) == term.column.as_ref());
        term.prefix.is_none() && own.is_some_and(|own| own.is_not_null)
    };
    let is_key = |index: &&Index| {
        index.is_primary || (index.is_unique && index.terms.iter().all(is_never_null))
    };
    let keys = table.indexes.iter().filter(is_key);
    let first = keys.min_by_key(|index| (!index.is_primary, place(index)));
    let name = first.map(|index| index.name.clone());
    for index in &mut table.indexes {
        index.is_clustered = Some(&index.name) == name.as_ref();
    }
}

/// Estimates the SPATIAL indexes of InnoDB's tables, of which it keeps no statistics.
fn spatial(database: &mut Database) {
    /// Bytes of an entry: its rectangle, its header and a key.
    const ENTRY_BYTES: u64 = 32 + 5 + 8;
    /// The share of a page that entries fill, in percent.
    const FILL_PERCENT: u64 = 65;
    let (page_bytes, mut names) = (u64::from(database.page_bytes.max(1)), Vec::new());
    let tables = database.tables.iter_mut();
    for table in tables.filter(|table| table.kind == TableKind::Ordinary) {
        for index in &mut table.indexes {
            if index.method == "spatial" && index.bytes == 0 {
                let bytes = table.rows * ENTRY_BYTES * 100 / FILL_PERCENT;
                index.bytes = bytes.div_ceil(page_bytes).max(1) * page_bytes;
                names.push(index.name.clone());
            }
        }
    }
    if !names.is_empty() {
        database.notes.push(format!(
            "Sizes of SPATIAL indexes are estimated from their rows, because InnoDB keeps none: {}.",
            names.join(", ")
        ));
    }
}

/// Divides the bytes of all indexes of MyISAM's and Aria's tables by the width of their columns: equal indexes have equal
/// shares.
fn shares(
    session: &mut ReadOnly,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    let is_any = |table: &Table| table.kind == TableKind::CatalogOnly;
    if !database.tables.iter().any(is_any) {
        return Ok(());
    }
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_LENGTH FROM information_schema.TABLES WHERE {which} AND ENGINE IN ('MyISAM', 'Aria')"
    ))?;
    for row in fields(rows) {
        let Some(&at) = places.get(&(row.text(0), row.text(1))) else {
            continue;
        };
        let table = &mut database.tables[at];
        let columns = &table.columns;
        let width = |term: &Term| {
            let own = columns
                .iter()
                .find(|own| Some(&own.name) == term.column.as_ref());
            own.map_or(0, |own| {
                u64::from(term.prefix.or(own.length).unwrap_or(NUMBER_BYTES))
            })
        };
        let widths: Vec<u64> = table
            .indexes
            .iter()
            .map(|index| POINTER_BYTES + index.terms.iter().map(width).sum::<u64>())
            .collect();
        let all: u64 = widths.iter().sum();
        for (index, width) in table.indexes.iter_mut().zip(&widths) {
            index.bytes = (row.number(2) as f64 * *width as f64 / all.max(1) as f64) as u64;
        }
    }
    Ok(())
}

/// What the scripts find each table by.
fn shapes(
    session: &mut ReadOnly,
    flavour: &Flavour,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    database.ignored_column = match (flavour.is_mysql, flavour.release) {
        (true, (8.., _)) => Some("IS_VISIBLE"),
        (false, release) if release >= (10, 6) => Some("IGNORED"),
        _ => None,
    };
    let sql = shape::mariadb(which, database.ignored_column);
    for row in fields(session.rows(&sql)?) {
        if let Some(&at) = places.get(&(row.text(0), row.text(1))) {
            database.tables[at].shape.push(Line {
                key: row.text(2),
                text: row.text(3),
            });
        }
    }
    Ok(())
}

/// Bytes of a column without a declared length, and of the place of a row in an entry.
const NUMBER_BYTES: u32 = 6;
const POINTER_BYTES: u64 = 6;

/// Sizes of indexes from InnoDB's statistics, or an even share of the total where these may not be read.
fn sizes(
    session: &mut ReadOnly,
    which: &str,
    places: &Places,
    database: &mut Database,
) -> Result<(), Error> {
    shares(session, which, places, database)?;
    let rows = session.rows(&format!(
        "SELECT database_name, SUBSTRING_INDEX(table_name, '#', 1), index_name, SUM(stat_value) FROM mysql.innodb_index_stats
         WHERE {} AND stat_name = 'size' GROUP BY 1, 2, 3",
        which.replace("TABLE_SCHEMA", "database_name")
    ));
    match rows {
        Ok(rows) => {
            for row in fields(rows) {
                let Some(&at) = places.get(&(row.text(0), row.text(1))) else {
                    continue;
                };
                let mut indexes = database.tables[at].indexes.iter_mut();
                if let Some(index) =
                    indexes.find(|index| index.name == row.text(2) && !index.is_clustered)
                {
                    index.bytes = row.number(3) * u64::from(database.page_bytes);
                }
            }
            Ok(())
        }
        Err(error) if !session.is_open() => Err(error.into()),
        Err(_) => {
            database.notes.push(
                "Sizes of single indexes are even shares: the user of the URL may not read them (GRANT SELECT ON mysql.innodb_index_stats).".into(),
            );
            let rows = session.rows(&format!("SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_LENGTH FROM information_schema.TABLES WHERE {which}"))?;
            for row in fields(rows) {
                let Some(&at) = places.get(&(row.text(0), row.text(1))) else {
                    continue;
                };
                let indexes = || {
                    database.tables[at]
                        .indexes
                        .iter()
                        .filter(|index| !index.is_clustered)
                        .count() as u64
                };
                let share = row.number(2) / indexes().max(1);
                for index in database.tables[at]
                    .indexes
                    .iter_mut()
                    .filter(|index| !index.is_clustered)
                {
                    index.bytes = share;
                }
            }
            Ok(())
        }
    }
}
