//! A table of a running PostgreSQL whose hash partitions are foreign tables of `postgres_fdw`. A load routes its rows
//! directly to the servers of the partitions.

use super::{
    route::{KeyType, Rule},
    routed,
};
use crate::{
    Database as _, DatabaseTable, Error, Load, LoadShape, LoadTable, Partition, Settings,
    TableChange,
    database::no_changes,
    postgres::{
        PROTOCOL,
        database::PostgresDatabase,
        remote::{address, visited},
    },
    remote::{Remote, ServerUrl, guest},
    server::Connection as _,
};
use postgres::{Client, Row};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Query for a table's partitioning: the column, its type, whether the operator class is the default and the collation
/// is deterministic, and whether the table has triggers.
const RULE: &str = "
    SELECT partstrat::text, partnatts::int4, attname::text, format_type(atttypid, atttypmod),
        (SELECT opcdefault FROM pg_opclass WHERE oid = partclass[0])
            AND coalesce((SELECT collisdeterministic FROM pg_collation WHERE oid = partcollation[0]), true),
        EXISTS (SELECT FROM pg_trigger WHERE tgrelid = partrelid AND NOT tgisinternal)
    FROM pg_partitioned_table
    LEFT JOIN pg_attribute ON attrelid = partrelid AND attnum = partattrs[0]
    WHERE partrelid = to_regclass(quote_ident($1))";

/// Query for the partitions and their locations.
const PARTITIONS: &str = "
    SELECT c.relname::text, pg_get_expr(c.relpartbound, c.oid), fdwname::text, srvname::text,
        srvoptions, ftoptions, (SELECT umoptions FROM pg_user_mappings
            WHERE srvid = s.oid AND umuser IN (0, (SELECT oid FROM pg_roles WHERE rolname = current_user))
            ORDER BY umuser = 0 LIMIT 1),
        EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attfdwoptions IS NOT NULL)
    FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
    LEFT JOIN pg_foreign_table ON ftrelid = c.oid
    LEFT JOIN pg_foreign_server AS s ON s.oid = ftserver
    LEFT JOIN pg_foreign_data_wrapper AS w ON w.oid = srvfdw
    WHERE inhparent = to_regclass(quote_ident($1)) ORDER BY c.oid";

/// Query for the columns with a default that the coordinator computes.
const FILLED: &str = "
    SELECT attname::text FROM pg_attribute
    WHERE attrelid = to_regclass(quote_ident($1)) AND (atthasdef OR attidentity <> '')
        AND NOT attisdropped";

/// Options by name.
type Options = BTreeMap<String, String>;

/// One partition.
struct Part {
    name: String,
    /// Bound in SQL syntax.
    bound: String,
    /// Foreign data wrapper and server name; `None` for a partition on the coordinator.
    server: Option<(String, String)>,
    of_server: Options,
    of_table: Options,
    of_user: Options,
    has_renamed_columns: bool,
}

fn options(row: &Row, column: usize) -> Result<Options, postgres::Error> {
    let all: Option<Vec<String>> = row.try_get(column)?;
    let pair = |option: String| {
        let (name, value) = option.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    Ok(all
        .unwrap_or_default()
        .into_iter()
        .filter_map(pair)
        .collect())
}

impl Part {
    fn read(row: &Row) -> Result<Self, postgres::Error> {
        let wrapper: Option<String> = row.try_get(2)?;
        let server: Option<String> = row.try_get(3)?;
        Ok(Part {
            name: row.try_get(0)?,
            bound: row.try_get(1)?,
            server: wrapper.zip(server),
            of_server: options(row, 4)?,
            of_table: options(row, 5)?,
            of_user: options(row, 6)?,
            has_renamed_columns: row.try_get(7)?,
        })
    }

    /// Modulus and remainder.
    fn place(&self) -> Option<(usize, usize)> {
        let numbers = self.bound.split(|char: char| !char.is_ascii_digit());
        let numbers: Vec<usize> = numbers.filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [modulus, remainder] => Some((modulus, remainder)),
            _ => None,
        }
    }

    /// Returns the address of the server from the coordinator's options.
    fn url(&self) -> Result<ServerUrl, Error> {
        let user = match self.of_user.get("user") {
            Some(user) => {
                let password = self.of_user.get("password");
                let password = password.map_or(String::new(), |word| format!(":{}", escaped(word)));
                format!("{}{password}@", escaped(user))
            }
            None => String::new(),
        };
        let of = |name: &str| self.of_server.get(name).map(String::as_str);
        let host = escaped(of("hostaddr").or(of("host")).unwrap_or("localhost"));
        let port = of("port").map_or(String::new(), |port| format!(":{port}"));
        let database = escaped(of("dbname").unwrap_or_default());
        let ssl = of("sslmode").map_or(String::new(), |mode| format!("?sslmode={mode}"));
        ServerUrl::parse(&format!("postgres://{user}{host}{port}/{database}{ssl}"))
    }

    /// Returns table name and schema on that server.
    fn remote_table(&self) -> (&str, Option<&String>) {
        let name = self.of_table.get("table_name").unwrap_or(&self.name);
        (name, self.of_table.get("schema_name"))
    }
}

/// Encodes a part of a URL.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The partitions of a table with their servers, if rows can be routed to all of them.
struct Spread {
    rule: Rule,
    /// Partitions in the order of their remainders.
    parts: Vec<Part>,
}

/// Returns the distribution of the table, or `None` if it is on the coordinator only.
///
/// # Errors
/// The reason why this process cannot route rows, for messages.
fn spread(client: &mut Client, table: &str) -> Result<Option<Spread>, String> {
    let failed = |error: postgres::Error| error.to_string();
    let Some(row) = client.query_opt(RULE, &[&table]).map_err(failed)? else {
        return Ok(None);
    };
    let parts = client.query(PARTITIONS, &[&table]).map_err(failed)?;
    let parts: Result<Vec<Part>, postgres::Error> = parts.iter().map(Part::read).collect();
    let mut parts = parts.map_err(failed)?;
    if parts.iter().all(|part| part.server.is_none()) {
        return Ok(None);
    }
    let strategy: String = row.get(0);
    let columns: i32 = row.get(1);
    let (column, type_name): (Option<String>, Option<String>) = (row.get(2), row.get(3));
    // A type with a length may truncate a value, which changes its hash.
    let key = type_name.as_deref().filter(|name| !name.contains('('));
    let key = key.and_then(KeyType::named);
    let (is_plain, has_triggers): (Option<bool>, bool) = (row.get(4), row.get(5));
    let (Some(column), Some(key), "h", 1, Some(true)) =
        (column, key, strategy.as_str(), columns, is_plain)
    else {
        return Err("it isn't hash-partitioned by one column with a supported type".to_owned());
    };
    if has_triggers {
        return Err("it has triggers, which run on the coordinator".to_owned());
    }
    for part in &parts {
        part.check()?;
    }
    parts.sort_by_key(Part::place);
    let shards = parts.len();
    let places = parts.iter().map(|part| part.place());
    if !places.eq((0..shards).map(|remainder| Some((shards, remainder)))) {
        return Err("its partitions don't have one remainder each of the same modulus".to_owned());
    }
    Ok(Some(Spread {
        rule: Rule {
            column,
            key,
            partition: Partition::Hash,
            bounds: Vec::new(),
            shards,
        },
        parts,
    }))
}

impl Part {
    /// Checks that rows can be sent without the coordinator, and returns the reason if not.
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        match &self.server {
            None => return Err(format!("its partition {name} is on the coordinator")),
            Some((wrapper, server)) if wrapper != "postgres_fdw" => {
                return Err(format!("{server} uses the foreign-data wrapper {wrapper}"));
            }
            Some((_, server)) if self.of_server.contains_key("service") => {
                return Err(format!(
                    "{server} is defined in the coordinator's connection service file"
                ));
            }
            Some(_) => {}
        }
        match self.has_renamed_columns {
            true => Err(format!(
                "the columns of its partition {name} have other names on the foreign server"
            )),
            false => Ok(()),
        }
    }

    /// Opens the table on its server.
    fn open(
        &self,
        coordinator: &PostgresDatabase,
        settings: &Settings,
    ) -> Result<DatabaseTable, String> {
        let (_, server) = self.server.as_ref().expect("it was checked");
        let words = |error: Error| format!("{server}, as the coordinator reaches it: {error}");
        let remote = self.url().and_then(|url| Remote::speaking(&PROTOCOL, &url));
        let remote = remote.map_err(words)?;
        let (table, schema) = self.remote_table();
        let mut address = address(&remote.url).map_err(words)?;
        address.schema = schema.map(|schema| Client::quoted(schema));
        let database = visited(&remote, address, settings).map_err(words)?;
        if !is_the_same(coordinator, server, &database).map_err(words)? {
            return Err(format!(
                "{} answers, but it is not the server that the coordinator connects to as {server}",
                remote.url
            ));
        }
        Ok(DatabaseTable::new(Arc::new(database), table))
    }
}

/// Checks that a connection of this process reaches the same server as the coordinator's foreign server. The
/// coordinator must see a session with a unique name there.
fn is_the_same(
    coordinator: &PostgresDatabase,
    server: &str,
    database: &PostgresDatabase,
) -> Result<bool, Error> {
    let session = guest::new_name();
    database.execute(&format!("SET application_name = '{session}'"))?;
    let server = coordinator.quoted(server);
    coordinator.control("identifying a foreign server", |client| {
        let mut transaction = client.transaction()?;
        transaction.batch_execute(&format!(
            "CREATE FOREIGN TABLE {session}(application_name text) SERVER {server}
                 OPTIONS (schema_name 'pg_catalog', table_name 'pg_stat_activity')"
        ))?;
        let find = format!("SELECT FROM {session} WHERE application_name = $1");
        let found = transaction.query(&find, &[&session])?;
        transaction.rollback()?;
        Ok(!found.is_empty())
    })
}

/// A table with routed rows.
struct RoutedTable {
    name: String,
    coordinator: Arc<PostgresDatabase>,
    shards: Vec<DatabaseTable>,
    rule: Rule,
    filled: Vec<String>,
}

/// A table that is loaded through the coordinator, and the reason.
struct ThroughCoordinator {
    table: DatabaseTable,
    why_not: String,
}

/// Returns the table of this name in the database of a URL, routed if possible.
///
/// # Errors
/// If the server refuses.
pub fn table(
    remote: &Remote,
    settings: &Settings,
    name: &str,
) -> Result<Box<dyn LoadTable>, Error> {
    let coordinator = Arc::new(visited(remote, address(&remote.url)?, settings)?);
    let whole = DatabaseTable::new(Arc::clone(&coordinator) as _, name);
    let spread = coordinator.control("asking for the table's partitions", |client| {
        let filled = client.query(FILLED, &[&name])?;
        let filled: Vec<String> = filled.iter().map(|row| row.get(0)).collect();
        Ok((spread(client, name), filled))
    })?;
    let opened = match spread {
        (Ok(None), _) => return Ok(Box::new(whole)),
        (Ok(Some(Spread { rule, parts })), filled) => {
            let shards = parts.iter().map(|part| part.open(&coordinator, settings));
            shards.collect::<Result<_, _>>().map(|shards| RoutedTable {
                name: name.to_owned(),
                coordinator,
                shards,
                rule,
                filled,
            })
        }
        (Err(why_not), _) => Err(why_not),
    };
    Ok(match opened {
        Ok(routed) => Box::new(routed),
        Err(why_not) => Box::new(ThroughCoordinator {
            table: whole,
            why_not,
        }),
    })
}

impl LoadTable for ThroughCoordinator {
    fn shape(&self) -> Result<LoadShape, Error> {
        self.table.shape()
    }

    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        let mut load = self.table.load(columns, survives_refusals)?;
        load.told.push(format!(
            "rows go through the coordinator, one at a time: {}",
            self.why_not
        ));
        Ok(load)
    }

    fn has_rows(&self, lock_max: Duration) -> Result<Option<bool>, Error> {
        self.table.has_rows(lock_max)
    }

    fn changed(self: Box<Self>, change: TableChange) -> Result<Box<dyn LoadTable>, Error> {
        Box::new(self.table).changed(change)
    }
}

impl LoadTable for RoutedTable {
    /// Returns the coordinator's columns. The shards have the keys.
    fn shape(&self) -> Result<LoadShape, Error> {
        let shape = self.coordinator.load_shape(&self.name)?;
        Ok(routed::with_keys_of(shape, &self.shards[0].shape()?))
    }

    fn load(&self, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        let is_filled = |name: &&String| !columns.contains(&name.as_str());
        let is_routable = columns.contains(&self.rule.column.as_str());
        if let Some(name) = self.filled.iter().find(is_filled) {
            let why_not = format!("it computes {name}");
            return self.through_coordinator(columns, survives_refusals, &why_not);
        }
        if !is_routable {
            let why_not = format!("the input has no partition column {}", self.rule.column);
            return self.through_coordinator(columns, survives_refusals, &why_not);
        }
        routed::load(&self.shards, &self.name, columns, &self.rule)
    }

    fn has_rows(&self, lock_max: Duration) -> Result<Option<bool>, Error> {
        self.coordinator.has_rows(&self.name, lock_max)
    }

    fn changed(self: Box<Self>, _change: TableChange) -> Result<Box<dyn LoadTable>, Error> {
        Err(no_changes(&self.name))
    }
}

impl RoutedTable {
    fn through_coordinator(
        &self,
        columns: &[&str],
        survives_refusals: bool,
        why_not: &str,
    ) -> Result<Load, Error> {
        let mut load = self
            .coordinator
            .load(&self.name, columns, survives_refusals)?;
        load.told
            .push(format!("rows go through the coordinator: {why_not}"));
        Ok(load)
    }
}
