//! One open database: its control connection.

use super::{
    NAME, SUPERUSER, bulk_load, change, confine,
    connect::Target,
    counters, running,
    session::Address,
    settings, structure,
    table::{COLUMN_INFO, PRIMARY_KEY, Table, column_info},
};
use crate::{
    ColumnInfo, Database, Error, Io, Load, LoadShape, PageFill, Reader, Retry, Settings,
    TableChange, Tree, Writer,
    remote::{Remote, dialect::Feature, host::Host},
    server::{Connection, Failure, Server, Sessions, session::Keeper, sql},
};
use postgres::{Client, Config, SimpleQueryMessage, types::ToSql};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// An open database.
pub struct PostgresDatabase {
    sessions: Sessions<Client>,
    host: Host,
    /// Connection with the rights of the confined role on a private server, for all statements on its tables, and the
    /// settings of new sessions.
    guest: Option<Guest>,
    /// Schema of the extension pgstattuple, which reads the structure of pages.
    looker: Option<String>,
}

/// Connection and session settings of the confined role on a private server.
struct Guest {
    client: Mutex<Client>,
    session_defaults: Vec<String>,
}

impl PostgresDatabase {
    /// Waits until a private server answers.
    pub fn open(server: Server, settings: &Settings) -> Result<Self, Error> {
        let address = address(&server);
        let connect = || address.target.connect().map_err(|error| error.to_string());
        let mut client = server.wait_for(connect)?;
        // Without the extension, page statistics are unobservable.
        let _ = client.batch_execute("CREATE EXTENSION pgstattuple");
        let looker = structure::page_looker(&mut client);
        let (guest, address) = match settings.is_confined {
            true => Guest::new(&mut client, &address, settings)
                .map_err(|error| Failure::from(error).doing("creating a role without rights"))?,
            false => (None, address),
        };
        let server = Arc::new(server);
        Ok(PostgresDatabase {
            looker,
            guest,
            sessions: Sessions::new(client, address, settings, Arc::clone(&server) as _),
            host: Host::Private(server),
        })
    }

    /// Opens a schema of a running server. The keeper lives as long as any connection.
    pub fn open_remote(
        remote: &Remote,
        address: Address,
        settings: &Settings,
        keeper: Keeper,
    ) -> Result<Self, Error> {
        let opened = <Client as Connection>::open(&address, settings.foreign_keys);
        let mut client = opened.map_err(|failure| remote.url.error(failure.message))?;
        let running = running::ask(remote, &mut client);
        Ok(PostgresDatabase {
            looker: structure::page_looker(&mut client),
            guest: None,
            sessions: Sessions::new(client, address, settings, keeper),
            host: Host::Running(running),
        })
    }

    /// Runs a function on the control connection.
    pub fn control<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, Error> {
        self.sessions.control(doing, work)
    }

    /// Runs statements of `inorder` itself, which are not confined.
    pub fn administer(&self, sql: &str) -> Result<(), Error> {
        self.control(sql, |client| client.batch_execute(sql))
    }

    /// Runs a function that accesses tables, with the rights of the role that created them.
    fn on_tables<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, Error> {
        let Some(guest) = &self.guest else {
            return self.control(doing, work);
        };
        let mut client = guest.client.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut client).map_err(|error| Failure::from(error).doing(doing))
    }

    /// Returns the number that a query selects; NULL is 0.
    fn number(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let number: Option<i64> =
            self.on_tables(sql, |client| client.query_one(sql, values)?.try_get(0))?;
        Ok(number.unwrap_or(0).unsigned_abs())
    }
}

/// Returns the connection options of a private server: its socket.
fn address(server: &Server) -> Address {
    let mut config = Config::new();
    config
        .host_path(&server.home.run)
        .user(SUPERUSER)
        .dbname(confine::DATABASE)
        .application_name(NAME);
    Address {
        target: Target::plain(config),
        schema: None,
        has_replica_role: false,
    }
}

impl Guest {
    /// Creates the confined role, and returns its connection options.
    fn new(
        control: &mut Client,
        address: &Address,
        settings: &Settings,
    ) -> Result<(Option<Self>, Address), postgres::Error> {
        let address = confine::of_private(control, address, settings)?;
        let guest = Guest {
            client: Mutex::new(address.target.connect()?),
            session_defaults: confine::session_defaults(control)?,
        };
        Ok((Some(guest), address))
    }
}

impl Database for PostgresDatabase {
    /// Runs confined statements in a session of their own, so that their settings end with it.
    fn execute(&self, sql: &str) -> Result<(), Error> {
        let Some(guest) = &self.guest else {
            return self.control(sql, |client| client.batch_execute(sql));
        };
        self.sessions.open()?.run(sql)?;
        let now = self.control("reading sessions' defaults", confine::session_defaults)?;
        match now == guest.session_defaults {
            true => Ok(()),
            false => Err(Error::Database {
                doing: sql.to_owned(),
                message: "ALTER ROLE … SET isn't allowed: settings are the experiment's factors"
                    .to_owned(),
            }),
        }
    }

    fn select(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        let messages = self.on_tables(sql, |client| client.simple_query(sql))?;
        let row = |message: SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => {
                let value = |at| row.get(at).map(str::to_owned);
                Some((0..row.len()).map(value).collect())
            }
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    }

    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        let sql = format!(
            "SELECT {COLUMN_INFO} FROM pg_attribute {PRIMARY_KEY}
             WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped
             ORDER BY attnum"
        );
        self.on_tables(&format!("listing the columns of {table}"), |client| {
            client
                .query(&sql, &[&table])?
                .iter()
                .map(column_info)
                .collect()
        })
    }

    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        let mut all = self.control("reading the settings back", settings::read_back)?;
        all.extend(self.host.told());
        Ok(all)
    }

    fn location(&self) -> Option<String> {
        let folder = self.host.run_folder()?;
        Some(format!("postgres://{SUPERUSER}@{folder}/postgres"))
    }

    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        _retry: Retry,
    ) -> Result<Box<dyn Writer>, Error> {
        self.sessions.writer(table, columns)
    }

    fn load_shape(&self, table: &str) -> Result<LoadShape, Error> {
        let found = self.control(&format!("listing the columns of {table}"), |client| {
            Table::find(client, table)
        })?;
        Ok(found.map(Table::shape).unwrap_or_default())
    }

    fn load(&self, table: &str, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        let wanted = bulk_load::Wanted {
            table,
            columns,
            has_later_keys: self.host.has(Feature::LaterKeys),
            survives_refusals,
            change: None,
        };
        bulk_load::begin(self.sessions.open()?, &wanted)
    }

    fn has_rows(&self, table: &str, lock_max: Duration) -> Result<Option<bool>, Error> {
        self.control(&format!("looking for rows of {table}"), |client| {
            let Some(found) = Table::find(client, table)? else {
                return Ok(None);
            };
            let wait = lock_max.as_millis();
            client.batch_execute(&format!("SET lock_timeout = {wait}"))?;
            let any = format!("SELECT EXISTS (SELECT FROM {})", found.quoted);
            let row = client.query_one(&any, &[]);
            client.batch_execute("RESET lock_timeout")?;
            Ok(Some(row?.try_get(0)?))
        })
    }

    fn shape_after(&self, table: &str, change: &TableChange) -> Result<LoadShape, Error> {
        let mut session = self.sessions.open()?;
        session.run("BEGIN")?;
        let changed = change::apply(&mut session, table, change)?;
        let found = Table::find(&mut session.connection, &changed.name);
        let found =
            found.map_err(|error| Failure::from(error).doing(format!("describing {table}")))?;
        session.run("ROLLBACK")?;
        let shape = found.map(Table::shape).unwrap_or_default();
        Ok(LoadShape {
            created: changed.created,
            ..shape
        })
    }

    fn load_after(
        &self,
        table: &str,
        columns: &[&str],
        survives_refusals: bool,
        change: &TableChange,
    ) -> Result<Load, Error> {
        let wanted = bulk_load::Wanted {
            table,
            columns,
            has_later_keys: self.host.has(Feature::LaterKeys),
            survives_refusals,
            change: Some(change),
        };
        bulk_load::begin(self.sessions.open()?, &wanted)
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
        // <https://www.postgresql.org/docs/15/catalog-pg-index.html>
        const SQL: &str = "SELECT array_agg(attname::text ORDER BY place)
             FROM pg_index
             CROSS JOIN unnest(indkey::int2[]) WITH ORDINALITY AS key(attnum, place)
             JOIN pg_attribute USING (attnum)
             WHERE indrelid = to_regclass(quote_ident($1)) AND attrelid = indrelid
             GROUP BY indexrelid";
        let indexes = self.on_tables(&format!("listing the indexes of {table}"), |client| {
            let rows = client.query(SQL, &[&table])?;
            rows.iter()
                .map(|row| row.try_get(0))
                .collect::<Result<Vec<Vec<String>>, _>>()
        })?;
        Ok(sql::serves(&indexes, columns))
    }

    fn processes(&self) -> Vec<u32> {
        self.host.processes()
    }

    fn is_in_sight(&self) -> bool {
        self.host.is_in_sight()
    }

    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        self.sessions.reader(sql)
    }

    fn io(&self) -> Io {
        if !self.host.has(Feature::Counters) {
            return Io::default();
        }
        self.control("reading the counters", counters::io)
            .unwrap_or_default()
    }

    fn quiesce(&self) -> Result<(), Error> {
        match self.host.may_flush() {
            true => self.control("CHECKPOINT", counters::checkpoint),
            false => Ok(()),
        }
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        self.number(&format!("SELECT count(*) FROM {}", self.quoted(table)), &[])
    }

    fn size_bytes(&self) -> Result<u64, Error> {
        self.host.needs(Feature::Sizes)?;
        self.number(structure::SIZE, &[])
    }

    /// Updates the planner's statistics first.
    fn structure(&self) -> Result<Vec<Tree>, Error> {
        self.host.needs(Feature::Sizes)?;
        self.on_tables("measuring tables and indexes", |client| {
            structure::on_every_table(client, "ANALYZE")?;
            structure::trees(client, self.looker.as_deref())
        })
    }

    fn page_fill(&self, tree: &str) -> Result<PageFill, Error> {
        self.number("SELECT quote_ident($1)::regclass::oid::bigint", &[&tree])?;
        Ok(PageFill {
            name: tree.to_owned(),
            leaves: Vec::new(),
        })
    }

    fn vacuum(&self) -> Result<(), Error> {
        self.host.needs(Feature::Vacuum)?;
        self.on_tables("VACUUM FULL", |client| {
            structure::on_every_table(client, "VACUUM FULL")
        })
    }

    /// Returns the generic plan, for any values of the parameters.
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.on_tables(sql, |client| {
            let parameters = client.prepare(&sql::numbered(sql))?.params().len();
            let values = match parameters {
                0 => String::new(),
                _ => format!("({})", vec!["NULL"; parameters].join(",")),
            };
            client.batch_execute(&format!(
                "SET plan_cache_mode = force_generic_plan; PREPARE {NAME}_plan AS {}",
                sql::numbered(sql)
            ))?;
            let plan = client.query(&format!("EXPLAIN EXECUTE {NAME}_plan{values}"), &[]);
            client.batch_execute(&format!("DEALLOCATE {NAME}_plan; RESET plan_cache_mode"))?;
            plan?.iter().map(|row| row.try_get(0)).collect()
        })
    }
}
