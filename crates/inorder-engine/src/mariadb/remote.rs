//! A running server that speaks the protocol of MariaDB and MySQL.

use super::{MariaDb, PACKET_BYTES_MAX, confine, database::MariaDatabase, ddl};
use crate::{
    Database, DatabaseTable, Error, LoadTable, Settings,
    remote::{
        Protocol, Remote, ServerUrl,
        dialect::Facts,
        guest::{self, Guest, Standing},
    },
    server::Failure,
};
use mysql::{Conn, Opts, OptsBuilder, prelude::Queryable as _};
use std::{sync::Arc, time::Duration};

/// Maximum time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Maximum time for an answer of the server outside of trials.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// The protocol for connections by URL.
pub const PROTOCOL: Protocol = Protocol {
    engine: &MariaDb,
    facts,
    open,
    table,
    clean_up,
    key_made: ddl::key_made,
};

const NO_TLS: &str = "connections have no TLS: omit require_ssl, and use a tunnel \
     (ssh -L 3306:localhost:3306 HOST) where the network isn't trusted";

/// Returns the connection options for a database of the server, or for the server only.
fn options(url: &ServerUrl, schema: Option<&str>) -> Result<OptsBuilder, Error> {
    if url
        .parameter("require_ssl")
        .is_some_and(|value| value != "false")
    {
        return Err(url.error(NO_TLS));
    }
    let options = Opts::from_url(&url.with_scheme("mysql"))
        // The parser's message may repeat a part of the URL.
        .map_err(|_| {
            url.error("this is not a MySQL URL: mysql://user:password@host:port/?socket=/path")
        })?;
    let is_set = options.get_tcp_connect_timeout().is_some();
    let options = OptsBuilder::from_opts(options)
        .db_name(schema)
        // Connect only in the requested way.
        .prefer_socket(url.parameter("socket").is_some())
        .max_allowed_packet(Some(PACKET_BYTES_MAX));
    Ok(match is_set {
        true => options,
        false => options.tcp_connect_timeout(Some(CONNECT_MAX)),
    })
}

fn connect(url: &ServerUrl) -> Result<Conn, Error> {
    // A MySQL server sends the first packet. The timeout detects servers of other protocols.
    let options = options(url, None)?.read_timeout(Some(ANSWER_MAX));
    Conn::new(options).map_err(|error| {
        let code = match &error {
            mysql::Error::MySqlError(told) => told.code,
            _ => 0,
        };
        let advice = match code {
            1044 | 1045 | 1698 => "check the user and the password of the URL",
            3159 => NO_TLS,
            _ => "check the host and the port of the URL, and that the server runs",
        };
        let Failure { message, .. } = error.into();
        url.error(format!("connecting: {message}; {advice}"))
    })
}

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
    let schema = guest::new_name();
    conn.query_drop(format!("CREATE DATABASE {schema}"))
        .map_err(|error| {
            let Failure { message, .. } = error.into();
            url.error(format!(
                "creating the database {schema}: {message}; to grant the missing right: \
                 GRANT ALL ON `inorder\\_%`.* TO the user of the URL"
            ))
        })?;
    let (of_guest, name) = (url.clone(), schema.clone());
    let keeper = Guest {
        remove: move || _ = connect(&of_guest).map(|mut conn| drop_schema(&mut conn, &name)),
    };
    if settings.is_confined {
        confine::of_url(remote, &mut conn)?;
    }
    let address = options(&url, Some(&schema))?.into();
    let database = MariaDatabase::open_remote(remote, address, settings, Arc::new(keeper))?;
    Ok(Box::new(database))
}

fn table(remote: &Remote, settings: &Settings, name: &str) -> Result<Box<dyn LoadTable>, Error> {
    let url = &remote.url;
    let named = Opts::from_url(&url.with_scheme("mysql")).ok();
    let named = named.as_ref().and_then(Opts::get_db_name);
    let schema =
        named.ok_or_else(|| url.error("the URL names no database: mysql://host/database"))?;
    let address = options(url, Some(schema))?.into();
    let database = MariaDatabase::open_remote(remote, address, settings, Arc::new(()))?;
    Ok(Box::new(DatabaseTable::new(Arc::new(database), name)))
}

/// Drops a database of `inorder`. The next start retries if that fails.
fn drop_schema(conn: &mut Conn, schema: &str) {
    // A killed session may still hold its locks.
    let _ = conn.query_drop("SET SESSION lock_wait_timeout = 10");
    let _ = conn.query_drop(format!("DROP DATABASE IF EXISTS {schema}"));
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
            Standing::Abandoned => drop_schema(&mut conn, &schema),
            Standing::InUse => in_use.push(schema),
        }
    }
    Ok(in_use)
}
