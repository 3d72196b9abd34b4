//! A running server that speaks the protocol of PostgreSQL.

use super::{
    Postgres, confine,
    connect::{connect, target},
    database::PostgresDatabase,
    ddl, read_only,
    session::Address,
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
use postgres::Client;
use std::sync::Arc;

/// The protocol for connections by URL.
pub const PROTOCOL: Protocol = Protocol {
    engine: &Postgres,
    facts,
    open,
    table,
    read: read_only::open,
    clean_up,
    key_made: ddl::key_made,
};

fn facts(url: &ServerUrl) -> Result<Facts, Error> {
    let mut client = connect(url)?;
    let mut ask = || -> Result<Facts, postgres::Error> {
        let rows = client.query(
            "SELECT 'extension ' || extname::text FROM pg_extension
             UNION SELECT 'function ' || proname::text FROM pg_proc WHERE proname = 'aurora_version'",
            &[],
        )?;
        Ok(Facts {
            version: client.query_one("SELECT version()", &[])?.try_get(0)?,
            has: rows
                .iter()
                .map(|row| row.try_get(0))
                .collect::<Result<_, _>>()?,
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
    let mut client = connect(&url)?;
    let keeper = Guest::create(
        &url,
        |schema| {
            let created = client.batch_execute(&format!("CREATE SCHEMA {schema}"));
            created.map_err(|error| {
                let Failure { message, .. } = error.into();
                url.error(format!("creating the schema {schema}: {message}; to grant the missing right: GRANT CREATE ON DATABASE … TO the user of the URL"))
            })
        },
        remove,
    )?;
    let schema = keeper.name();
    if settings.is_confined {
        confine::of_url(remote, &mut client, schema)?;
    }
    let mut address = address(&url)?;
    // By this name its sessions are ended.
    address.target.config.application_name(schema);
    address.schema = Some(schema.to_owned());
    let database = PostgresDatabase::open_remote(remote, address, settings, Arc::new(keeper))?;
    Ok(Box::new(database))
}

/// Returns the connection options for the database of a URL.
pub fn address(url: &ServerUrl) -> Result<Address, Error> {
    Ok(Address {
        target: target(url)?,
        schema: None,
        has_replica_role: false,
    })
}

/// Opens the database of the URL as it is, or one of its schemas.
pub fn visited(
    remote: &Remote,
    address: Address,
    settings: &Settings,
) -> Result<PostgresDatabase, Error> {
    connect(&remote.url)?;
    PostgresDatabase::open_remote(remote, address, settings, Arc::new(()))
}

fn table(remote: &Remote, settings: &Settings, name: &str) -> Result<Box<dyn LoadTable>, Error> {
    let database = visited(remote, address(&remote.url)?, settings)?;
    Ok(Box::new(DatabaseTable::new(Arc::new(database), name)))
}

/// Removes a schema of this process.
fn remove(url: &ServerUrl, schema: &str, sessions: Sessions) -> bool {
    let Ok(mut client) = connect(url) else {
        return false;
    };
    if sessions == Sessions::End {
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
        let _ = client.execute(end, &[&schema]);
    }
    drop_schema(&mut client, schema)
}

/// Drops a schema of `inorder`. Returns whether it is gone; the next start retries if it is not.
fn drop_schema(client: &mut Client, schema: &str) -> bool {
    // A killed session may still hold its locks.
    let _ = client.batch_execute("SET client_min_messages = warning; SET lock_timeout = '10s'");
    let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
    client.batch_execute(&drop).is_ok()
}

fn clean_up(url: &ServerUrl) -> Result<Vec<String>, Error> {
    let mut client = connect(url)?;
    let rows = client
        .query("SELECT nspname::text FROM pg_namespace", &[])
        .map_err(|error| url.error(Failure::from(error).message))?;
    let mut in_use = Vec::new();
    for row in &rows {
        let schema: String = row.get(0);
        match guest::standing(&schema) {
            Standing::Foreign => {}
            Standing::Abandoned => _ = drop_schema(&mut client, &schema),
            Standing::InUse => in_use.push(schema),
        }
    }
    Ok(in_use)
}
