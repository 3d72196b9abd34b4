//! Changes of a table in the transaction of a load. DDL is transactional, so a load that fails changes nothing.

use super::{ddl, table::Table};
use crate::{
    ColumnKind, Error, NewColumn, NewTable, Start, TableChange,
    server::{Connection as _, Failure, session::Session},
    table_change::Spelling,
};
use inorder_key::Encoding;
use postgres::Client;

/// Name of the temporary table whose rows update others.
const UPDATES: &str = "pg_temp.inorder_updates";

/// A table after its change.
pub struct Changed {
    /// Its name, as [`Table::find`] takes it.
    pub name: String,
    /// The statements that created it.
    pub created: Option<String>,
}

/// Changes a table in the open transaction.
pub fn apply(
    session: &mut Session<Client>,
    table: &str,
    change: &TableChange,
) -> Result<Changed, Error> {
    let wait = change.lock_max.as_millis();
    session.run(&format!("SET LOCAL lock_timeout = {wait}"))?;
    let doing = |error: postgres::Error| Failure::from(error).doing(format!("finding {table}"));
    let client = &mut session.connection;
    let found = Table::find(client, table).map_err(doing)?;
    let (mut name, mut created) = (table.to_owned(), None);
    let mut statements = Vec::new();
    match (&change.start, &found) {
        (Start::Emptied, Some(found)) => statements.push(format!("TRUNCATE {}", found.quoted)),
        (Start::Replaced(_), Some(found)) => {
            statements.push(format!("DROP TABLE {}", found.quoted));
        }
        _ => {}
    }
    if let Some(new) = change.created() {
        let target = target(client, table).map_err(doing)?;
        statements.extend(create(new, &target));
        created = Some(statements.join(";\n"));
        name = target.quoted();
    }
    if let Some(found) = &found {
        let adds = change.added.iter().map(|column| {
            let (name, ty) = (Client::quoted(&column.name), type_of(column));
            format!("ALTER TABLE {} ADD COLUMN {name} {ty}", found.quoted)
        });
        statements.extend(adds);
    }
    for sql in statements {
        session.run(&sql)?;
    }
    Ok(Changed { name, created })
}

/// Name of a table to create.
struct Target {
    schema: Option<String>,
    table: String,
}

impl Target {
    fn quoted(&self) -> String {
        let table = Client::quoted(&self.table);
        match &self.schema {
            Some(schema) => format!("{}.{table}", Client::quoted(schema)),
            None => table,
        }
    }
}

/// Splits a name with a schema. A point is a part of the name if there is no such schema.
fn target(client: &mut Client, name: &str) -> Result<Target, postgres::Error> {
    let schemas = client.query("SELECT nspname::text FROM pg_namespace", &[])?;
    let schemas: Result<Vec<String>, postgres::Error> =
        schemas.iter().map(|row| row.try_get(0)).collect();
    let parts = name.split_once('.');
    let named = parts.filter(|(schema, _)| {
        schemas
            .as_ref()
            .is_ok_and(|all| all.iter().any(|s| s == schema))
    });
    schemas?;
    Ok(match named {
        Some((schema, table)) => Target {
            schema: Some(schema.to_owned()),
            table: table.to_owned(),
        },
        None => Target {
            schema: None,
            table: name.to_owned(),
        },
    })
}

/// Returns the statements that create a table.
fn create(new: &NewTable, target: &Target) -> Vec<String> {
    let parent = |name: &str| match name.split_once('.') {
        Some((schema, table)) => format!("{}.{}", Client::quoted(schema), Client::quoted(table)),
        None => Client::quoted(name),
    };
    let body = new.body(&Spelling {
        quoted: &|name| Client::quoted(name),
        table: &parent,
        type_of: &|column, _| type_of(column),
    });
    let table = target.quoted();
    let mut statements = vec![format!("CREATE TABLE {table} {body}")];
    for columns in &new.indexes {
        let name = Client::quoted(&format!("{}_{}", target.table, columns.join("_")));
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let columns = Table::list(&columns);
        statements.push(format!("CREATE INDEX {name} ON {table}({columns})"));
    }
    statements
}

fn type_of(column: &NewColumn) -> String {
    let name = match &column.kind {
        ColumnKind::Integer => "bigint",
        ColumnKind::Real => "double precision",
        ColumnKind::Decimal { .. } => "numeric",
        ColumnKind::Text => "text",
        ColumnKind::Bytes => "bytea",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Uuid => "uuid",
        ColumnKind::Date => "date",
        ColumnKind::DateTime => "timestamp",
        ColumnKind::Instant | ColumnKind::Utc => "timestamptz",
        ColumnKind::Json => "jsonb",
        ColumnKind::Id(kind, encoding) => {
            // Bytes that are a UUID get the type of that name.
            let native = ddl::key_type(*kind, Encoding::Native);
            let native = native.filter(|_| *encoding == Encoding::Blob);
            let own = native.or_else(|| ddl::key_type(*kind, *encoding));
            return own.unwrap_or("text").to_ascii_lowercase();
        }
        ColumnKind::Declared(name) => return name.clone(),
    };
    name.to_owned()
}

/// Rows that update others: they go to a temporary table first.
pub struct Updates {
    /// The temporary table, quoted.
    pub into: &'static str,
    /// The statement that stores its rows in the table.
    pub merge: String,
}

/// Creates the temporary table for rows that update a table.
pub fn updates(
    session: &mut Session<Client>,
    table: &Table,
    columns: &[&str],
) -> Result<Updates, Error> {
    let list = Table::list(columns);
    let key = table.key();
    let is_key = |name: &&&str| key.contains(*name);
    let sets: Vec<String> = columns
        .iter()
        .filter(|name| !is_key(name))
        .map(|name| format!("{0} = EXCLUDED.{0}", Client::quoted(name)))
        .collect();
    let action = match sets.is_empty() {
        true => "NOTHING".to_owned(),
        false => format!("UPDATE SET {}", sets.join(", ")),
    };
    session.run(&format!(
        "CREATE TEMP TABLE {} ON COMMIT DROP AS SELECT {list} FROM {} WITH NO DATA",
        UPDATES.trim_start_matches("pg_temp."),
        table.quoted
    ))?;
    Ok(Updates {
        into: UPDATES,
        merge: format!(
            "INSERT INTO {}({list}) SELECT {list} FROM {UPDATES} ON CONFLICT ({}) DO {action}",
            table.quoted,
            Table::list(&key)
        ),
    })
}
