//! A running server that speaks the protocol of PostgreSQL.

use super::{Postgres, confine, database::PostgresDatabase, ddl, session::Address};
use crate::{
    Database, DatabaseTable, Error, LoadTable, Settings,
    remote::{
        Protocol, Remote, ServerUrl,
        dialect::Facts,
        guest::{self, Guest, Standing},
    },
    server::Failure,
};
use postgres::{Client, Config, NoTls, config::SslMode};
use std::{str::FromStr as _, sync::Arc, time::Duration};

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The protocol for connections by URL.
pub const PROTOCOL: Protocol = Protocol {
    engine: &Postgres,
    facts,
    open,
    table,
    clean_up,
    key_made: ddl::key_made,
};

fn config(url: &ServerUrl) -> Result<Config, Error> {
    let mut config = Config::from_str(url.reveal())
        // The parser's message may repeat a part of the URL.
        .map_err(|_| url.error("this is not a PostgreSQL URL: postgres://user:password@host:port/database?connect_timeout=10"))?;
    if matches!(config.get_ssl_mode(), SslMode::Require) {
        return Err(url.error(NO_TLS));
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_MAX);
    }
    config.application_name("inorder");
    Ok(config)
}

const NO_TLS: &str = "connections have no TLS: omit sslmode, and use a tunnel \
     (ssh -L 5432:localhost:5432 HOST) where the network isn't trusted";

fn connect(url: &ServerUrl) -> Result<Client, Error> {
    config(url)?.connect(NoTls).map_err(|error| {
        let is_refused = error
            .as_db_error()
            .is_some_and(|told| told.code().code().starts_with("28"));
        let is_no_database = error
            .as_db_error()
            .is_some_and(|told| told.code().code() == "3D000");
        let Failure { message, .. } = error.into();
        let advice = match (is_refused, is_no_database) {
            (true, _) if message.contains("no encryption") => NO_TLS,
            (true, _) => "check the user and the password of the URL",
            (_, true) => "name an existing database: the trial creates a schema in it",
            _ => "check the host and the port of the URL, and that the server runs",
        };
        url.error(format!("connecting: {message}; {advice}"))
    })
}

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
    let schema = guest::new_name();
    client
        .batch_execute(&format!("CREATE SCHEMA {schema}"))
        .map_err(|error| {
            let Failure { message, .. } = error.into();
            url.error(format!("creating the schema {schema}: {message}; to grant the missing right: GRANT CREATE ON DATABASE … TO the user of the URL"))
        })?;
    let (of_guest, name) = (url.clone(), schema.clone());
    let keeper = Guest {
        remove: move || _ = connect(&of_guest).map(|mut client| drop_schema(&mut client, &name)),
    };
    if settings.is_confined {
        confine::of_url(remote, &mut client, &schema)?;
    }
    let address = Address {
        schema: Some(schema),
        ..address(&url)?
    };
    let database = PostgresDatabase::open_remote(remote, address, settings, Arc::new(keeper))?;
    Ok(Box::new(database))
}

/// Returns the connection options for the database of a URL.
pub fn address(url: &ServerUrl) -> Result<Address, Error> {
    Ok(Address {
        config: config(url)?,
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

/// Drops a schema of `inorder`. The next start retries if that fails.
fn drop_schema(client: &mut Client, schema: &str) {
    // A killed session may still hold its locks.
    let _ = client.batch_execute("SET client_min_messages = warning; SET lock_timeout = '10s'");
    let _ = client.batch_execute(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
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
            Standing::Abandoned => drop_schema(&mut client, &schema),
            Standing::InUse => in_use.push(schema),
        }
    }
    Ok(in_use)
}
