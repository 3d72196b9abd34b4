//! Reading a database of MariaDB or MySQL.

mod catalog;
mod counters;
mod full_text;
mod sample;
mod uses;

use super::model::{Database, Product, Table, TableKind};
use crate::Error;
use inorder_engine::remote::ReadOnly;

/// The oldest releases whose catalog is known.
const MARIADB_MIN: (u32, u32) = (10, 3);
const MYSQL_MIN: (u32, u32) = (5, 7);

/// Settings that decide the size of rows and of the log.
const SETTINGS: &[&str] = &[
    "innodb_page_size",
    "innodb_default_row_format",
    "innodb_file_per_table",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_log_file_size",
    "innodb_fill_factor",
    "innodb_checksum_algorithm",
    "log_bin",
    "binlog_format",
    "binlog_row_image",
];

/// What a server of this protocol is.
pub struct Flavour {
    is_mysql: bool,
    release: (u32, u32),
    /// The database of the URL.
    schema: Option<String>,
}

impl Flavour {
    /// The condition of the databases that are read.
    fn schemas(&self) -> String {
        match &self.schema {
            Some(schema) => format!(
                "TABLE_SCHEMA = '{}'",
                schema.replace('\\', "\\\\").replace('\'', "''")
            ),
            None => {
                "TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')"
                    .to_owned()
            }
        }
    }
}

/// Quotes a name.
pub fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The qualified name of a table.
pub fn name(table: &Table) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

/// Reads the database of a session, or all databases if its URL names none. `step` is told what is read.
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
    let (mut database, flavour) = facts(session, version)?;
    let oldest = if flavour.is_mysql {
        MYSQL_MIN
    } else {
        MARIADB_MIN
    };
    if flavour.release < oldest {
        let name = if flavour.is_mysql { "MySQL" } else { "MariaDB" };
        return Err(Error::OldServer {
            version: version.to_owned(),
            oldest: format!("{name} {}.{}", oldest.0, oldest.1),
        });
    }
    catalog::read(session, &flavour, &mut database)?;
    counters::read(session, &flavour, &mut database)?;
    uses::read(session, &flavour, &mut database)?;
    full_text::read(session, &flavour, &mut database)?;
    counted_by(session, &flavour, &mut database)?;
    for at in 0..database.tables.len() {
        let table = &database.tables[at];
        if matches!(table.kind, TableKind::Foreign | TableKind::CatalogOnly) {
            continue;
        }
        let shown = format!("{}.{}", table.schema, table.name);
        step("reading samples", &shown);
        match sample::read(session, table) {
            Ok(sample) => {
                let table = &mut database.tables[at];
                if sample.is_whole {
                    table.rows = sample.rows.len() as u64;
                    table.rows_are_exact = true;
                }
                if table.clustered().is_none() && !sample.is_whole {
                    database
                        .notes
                        .push(format!("{shown} has no key: its first rows were read."));
                }
                database.tables[at].sample = Some(sample);
            }
            Err(error) if !session.is_open() => return Err(error),
            Err(error) => database
                .notes
                .push(format!("{shown}: its rows can't be read: {error}.")),
        }
    }
    database.bytes = database.tables.iter().map(Table::total_bytes).sum();
    Ok(database)
}

/// Asks which index COUNT(*) reads. EXPLAIN reads no rows.
fn counted_by(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    // MySQL has a column of partitions before it.
    let place = if flavour.is_mysql { 6 } else { 5 };
    for table in &mut database.tables {
        if table.kind != TableKind::Ordinary || table.indexes.len() < 2 {
            continue;
        }
        match session.rows(&format!("EXPLAIN SELECT COUNT(*) FROM {}", name(table))) {
            Ok(rows) => {
                let key = rows
                    .into_iter()
                    .next()
                    .and_then(|row| row.get(place).cloned().flatten());
                let is_secondary =
                    |key: &String| table.index(key).is_some_and(|own| !own.is_clustered);
                table.counted_by = key.filter(is_secondary);
            }
            Err(error) if !session.is_open() => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(())
}

fn facts(session: &mut ReadOnly, version: &str) -> Result<(Database, Flavour), Error> {
    let rows = session.rows("SELECT version(), database(), @@innodb_page_size")?;
    let row = rows.into_iter().next().unwrap_or_default();
    let some = |at: usize| row.get(at).cloned().flatten();
    let text = some(0).unwrap_or_default();
    // Some servers put the version of a MySQL that they claim to be before their own.
    let number = text.strip_prefix("5.5.5-").unwrap_or(&text);
    let mut parts = number
        .split(|letter: char| !letter.is_ascii_digit())
        .map(|part| part.parse().unwrap_or(0));
    let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let schema = some(1);
    let mut database = Database {
        product: Product::Mariadb,
        version: version.to_owned(),
        release,
        name: schema.clone().unwrap_or_else(|| "all databases".into()),
        page_bytes: some(2)
            .and_then(|bytes| bytes.parse().ok())
            .unwrap_or(16384),
        ..Database::default()
    };
    let names: Vec<String> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
    for row in session.rows(&format!(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
        names.join(", ")
    ))? {
        if let [Some(name), Some(value)] = &row[..] {
            database.settings.push((name.clone(), value.clone()));
        }
    }
    let flavour = Flavour {
        is_mysql: !text.contains("MariaDB"),
        release,
        schema,
    };
    Ok((database, flavour))
}
