//! A running server that speaks the protocol of MariaDB and MySQL.

use super::{
    MariaDb, confine,
    connect::{connect, database, target},
    database::MariaDatabase,
    ddl, read_only,
};
use crate::{
    Database, DatabaseTable, Error, LoadTable, Settings,
    remote::{
        Protocol, Remote, ServerUrl,
        dialect::Facts,
        guest::{self, Guest, Sessions, Standing},
    },
    server::Failure,
};
use mysql::{Conn, prelude::Queryable as _};
use std::sync::Arc;

/// The protocol for connections by URL.
pub const PROTOCOL: Protocol = Protocol {
    engine: &MariaDb,
    facts,
    open,
    table,
    read: read_only::open,
    clean_up,
    key_made: ddl::key_made,
};

/// Variables that identify products or show their features.
const TOLD: &str = "SHOW VARIABLES WHERE Variable_name IN ('wsrep_on', 'local_infile')";

fn facts(url: &ServerUrl) -> Result<Facts, Error> {
    let mut conn = connect(url)?;
    let mut ask = || -> Result<Facts, mysql::Error> {
        let version: Option<String> = conn.query_first("SELECT version()")?;
        let variables: Vec<(String, String)> = conn.query(TOLD)?;
        let mut has: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let aurora: Result<Option<String>, _> = conn.query_first("SELECT aurora_version()");
        has.extend(aurora.ok().map(|_| "function aurora_version".to_owned()));
        Ok(Facts {
            version: version.unwrap_or_default(),
            has,
        })
    };
    ask().map_err(|error| {
        url.error(format!(
            "asking for the product and version: {}",
            Failure::from(error).message
        ))
    })
}

fn open(remote: &Remote, settings: &Settings) -> Result<Box<dyn Database>, Error> {
    let url = remote.url.clone();
    let mut conn = connect(&url)?;
    let keeper = Guest::create(
        &url,
        |schema| {
            let created = conn.query_drop(format!("CREATE DATABASE {schema}"));
            created.map_err(|error| {
                let Failure { message, .. } = error.into();
                url.error(format!(
                    "creating the database {schema}: {message}; to grant the missing right: \
                     GRANT ALL ON `inorder\\_%`.* TO the user of the URL"
                ))
            })
        },
        remove,
    )?;
    if settings.is_confined {
        confine::of_url(remote, &mut conn)?;
    }
    let address = target(&url, Some(keeper.name()))?;
    let database = MariaDatabase::open_remote(remote, address, settings, Arc::new(keeper))?;
    Ok(Box::new(database))
}

fn table(remote: &Remote, settings: &Settings, name: &str) -> Result<Box<dyn LoadTable>, Error> {
    let url = &remote.url;
    let named = database(url);
    let named = named.as_deref();
    let (schema, name) = match own_schema(url, named, name)? {
        Some(parts) => parts,
        None => {
            let schema = named.ok_or_else(|| {
                url.error(
                    "the URL names no database: mysql://host/database, or --table DATABASE.TABLE",
                )
            })?;
            (schema.to_owned(), name)
        }
    };
    let address = target(url, Some(&schema))?;
    let database = MariaDatabase::open_remote(remote, address, settings, Arc::new(()))?;
    Ok(Box::new(DatabaseTable::new(Arc::new(database), name)))
}

/// Splits a name with a database. A point is a part of the name if the URL's database has that table, or if there is no
/// such database.
fn own_schema<'a>(
    url: &ServerUrl,
    named: Option<&str>,
    name: &'a str,
) -> Result<Option<(String, &'a str)>, Error> {
    let Some((schema, table)) = name.split_once('.') else {
        return Ok(None);
    };
    let found: Result<Option<bool>, mysql::Error> = connect(url)?.exec_first(
        "SELECT EXISTS (SELECT 1 FROM information_schema.schemata WHERE schema_name = ?)
             AND NOT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = ?)",
        (schema, named, name),
    );
    let found = found.map_err(|error| url.error(Failure::from(error).message))?;
    Ok((found == Some(true)).then(|| (schema.to_owned(), table)))
}

/// Removes a database of this process.
fn remove(url: &ServerUrl, schema: &str, sessions: Sessions) -> bool {
    let Ok(mut conn) = connect(url) else {
        return false;
    };
    if sessions == Sessions::End {
        let own = "SELECT id FROM information_schema.processlist WHERE db = ?";
        let own: Result<Vec<u64>, _> = conn.exec(own, (schema,));
        for id in own.unwrap_or_default() {
            let _ = conn.query_drop(format!("KILL CONNECTION {id}"));
        }
    }
    drop_schema(&mut conn, schema)
}

/// Drops a database of `inorder`. Returns whether it is gone; the next start retries if it is not.
fn drop_schema(conn: &mut Conn, schema: &str) -> bool {
    // A killed session may still hold its locks.
    let _ = conn.query_drop("SET SESSION lock_wait_timeout = 10");
    let drop = format!("DROP DATABASE IF EXISTS {schema}");
    conn.query_drop(drop).is_ok()
}

fn clean_up(url: &ServerUrl) -> Result<Vec<String>, Error> {
    let mut conn = connect(url)?;
    let schemas: Vec<String> = conn
        .query("SHOW DATABASES")
        .map_err(|error| url.error(Failure::from(error).message))?;
    let mut in_use = Vec::new();
    for schema in schemas {
        match guest::standing(&schema) {
            Standing::Foreign => {}
            Standing::Abandoned => _ = drop_schema(&mut conn, &schema),
            Standing::InUse => in_use.push(schema),
        }
    }
    Ok(in_use)
}
