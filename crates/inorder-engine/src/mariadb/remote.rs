//! A MariaDB or MySQL that runs already, and what speaks their protocol.

use super::{MariaDb, NAME, PACKET_BYTES_MAX, confine, database::MariaDatabase, ddl};
use crate::{
    Database, DatabaseTable, Error, LoadTable, Settings,
    remote::{
        Protocol, Remote, ServerUrl,
        dialect::Facts,
        guest::{self, Guest, Standing},
        host::Running,
    },
    server::Failure,
};
use mysql::{Conn, Opts, OptsBuilder, prelude::Queryable as _};
use std::{fs, sync::Arc, time::Duration};

/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long the server may take for an answer outside of trials.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How it is reached by URL.
pub static PROTOCOL: Protocol = Protocol {
    schemes: &["mysql", NAME],
    engine: &MariaDb,
    facts,
    open,
    table,
    clean_up,
    key_made: ddl::key_made,
};

const NO_TLS: &str = "connections are made without TLS: leave out require_ssl, and go through a tunnel \
     (ssh -L 3306:localhost:3306 HOST) where the network isn't trusted";

/// The way to a database of the server, without one to the server alone.
fn options(url: &ServerUrl, schema: Option<&str>) -> Result<OptsBuilder, Error> {
    if url
        .parameter("require_ssl")
        .is_some_and(|value| value != "false")
    {
        return Err(url.error(NO_TLS));
    }
    let options = Opts::from_url(&url.with_scheme("mysql"))
        // Its own message may repeat a part of the URL.
        .map_err(|_| {
            url.error("this isn't a URL of MySQL's: mysql://user:password@host:port/?socket=/path")
        })?;
    let is_set = options.get_tcp_connect_timeout().is_some();
    let options = OptsBuilder::from_opts(options)
        .db_name(schema)
        // The way that was asked for, and no other.
        .prefer_socket(url.parameter("socket").is_some())
        .max_allowed_packet(Some(PACKET_BYTES_MAX));
    Ok(match is_set {
        true => options,
        false => options.tcp_connect_timeout(Some(CONNECT_MAX)),
    })
}

fn connect(url: &ServerUrl) -> Result<Conn, Error> {
    // A server begins to speak by itself: one of another protocol never would.
    let options = options(url, None)?.read_timeout(Some(ANSWER_MAX));
    Conn::new(options).map_err(|error| {
        let code = match &error {
            mysql::Error::MySqlError(told) => told.code,
            _ => 0,
        };
        let advice = match code {
            1044 | 1045 | 1698 => "see the user and the password of the URL",
            3159 => NO_TLS,
            _ => "see the host and the port of the URL, and that the server runs",
        };
        let Failure { message, .. } = error.into();
        url.error(format!("connecting: {message}; {advice}"))
    })
}

/// Variables that tell products apart, or what they take.
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
            "asking what it is: {}",
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
                "making the database {schema}: {message}; where the right is missing: \
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
    let schema = named.ok_or_else(|| url.error("it names no database: mysql://host/database"))?;
    let address = options(url, Some(schema))?.into();
    let database = MariaDatabase::open_remote(remote, address, settings, Arc::new(()))?;
    Ok(Box::new(DatabaseTable::new(Arc::new(database), name)))
}

/// Removes a database of inorder's. One that can't be is left to the next start.
fn drop_schema(conn: &mut Conn, schema: &str) {
    // A session that was killed may hold its locks yet.
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

/// What a session finds out of the server.
pub fn ask(remote: &Remote, conn: &mut Conn) -> Running {
    Running {
        remote: remote.clone(),
        process: process(conn),
        may_flush: may_flush(conn).unwrap_or(false),
    }
}

/// Whether the user may flush tables: of all databases or none.
fn may_flush(conn: &mut Conn) -> Result<bool, mysql::Error> {
    let grants: Vec<String> = conn.query("SHOW GRANTS")?;
    let rights = ["ALL PRIVILEGES", "RELOAD", "FLUSH_TABLES"];
    let has_right = |grant: &String| rights.iter().any(|right| grant.contains(right));
    Ok(grants
        .iter()
        .any(|grant| grant.contains(" ON *.*") && has_right(grant)))
}

/// The server's process, where it runs on this machine: it has this machine's name, and its file of
/// the process id names one of this program's name.
fn process(conn: &mut Conn) -> Option<u32> {
    let sql = "SELECT @@hostname, @@pid_file, @@datadir";
    let (host, file, folder): (String, String, String) = conn.query_first(sql).ok()??;
    let own = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    if host != own.trim() {
        return None;
    }
    let file = std::path::Path::new(&folder).join(file);
    let pid: u32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let program = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    ["mariadbd", "mysqld"]
        .contains(&program.trim())
        .then_some(pid)
}
