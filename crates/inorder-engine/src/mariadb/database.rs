//! One open database: its control connection.

use super::{
    PACKET_BYTES_MAX, SCHEMA, SOCKET, bulk_load, change, confine,
    connect::Target,
    counters, running,
    session::quoted,
    settings, structure,
    table::{Table, columns},
};
use crate::{
    ColumnInfo, Database, Error, Io, Load, LoadShape, PageFill, Reader, Retry, Settings,
    TableChange, Tree, Write, Writer,
    remote::{Remote, dialect::Feature, host::Host},
    server::{Connection, Failure, Server, Sessions, session::Keeper, sql},
};
use mysql::{Conn, OptsBuilder, prelude::Queryable as _};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Maximum time for writing all dirty pages.
const FLUSH_MAX: Duration = Duration::from_secs(600);

/// An open database.
pub struct MariaDatabase {
    sessions: Sessions<Conn>,
    /// Connection of the confined user on a private server, for all statements on its tables.
    guest: Option<Mutex<Conn>>,
    host: Host,
}

impl MariaDatabase {
    /// Waits until the server answers.
    pub fn open(server: Server, settings: &Settings) -> Result<Self, Error> {
        let without_schema = address(&server);
        let connect = || Conn::new(without_schema.clone()).map_err(|error| error.to_string());
        let mut conn = server.wait_for(connect)?;
        let mut prepare = || -> Result<(), mysql::Error> {
            conn.query_drop(format!("CREATE DATABASE IF NOT EXISTS {SCHEMA}"))?;
            structure::make_statistics_tables(&mut conn)?;
            conn.select_db(SCHEMA)
        };
        prepare().map_err(|error| Failure::from(error).doing("preparing the new server"))?;
        let mut address = without_schema.db_name(Some(SCHEMA));
        let mut guest = None;
        if settings.is_confined {
            let made = confine::of_private(&mut conn, SCHEMA).and_then(|()| {
                address = address.clone().user(Some(confine::USER));
                Conn::new(address.clone())
            });
            let made =
                made.map_err(|error| Failure::from(error).doing("creating a user without rights"))?;
            guest = Some(Mutex::new(made));
        }
        let server = Arc::new(server);
        Ok(MariaDatabase {
            guest,
            sessions: Sessions::new(
                conn,
                Target::plain(address),
                settings,
                Arc::clone(&server) as _,
            ),
            host: Host::Private(server),
        })
    }

    /// Opens a database of a running server. The keeper lives as long as any connection.
    pub fn open_remote(
        remote: &Remote,
        address: Target,
        settings: &Settings,
        keeper: Keeper,
    ) -> Result<Self, Error> {
        let opened = <Conn as Connection>::open(&address, settings.foreign_keys);
        let mut conn = opened.map_err(|failure| remote.url.error(failure.message))?;
        // MySQL caches sizes for one day otherwise; other servers lack the variable.
        let _ = conn.query_drop("SET SESSION information_schema_stats_expiry = 0");
        let running = running::ask(remote, &mut conn);
        Ok(MariaDatabase {
            guest: None,
            sessions: Sessions::new(conn, address, settings, keeper),
            host: Host::Running(running),
        })
    }

    /// Runs a function on the control connection.
    pub fn control<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, mysql::Error>,
    ) -> Result<T, Error> {
        self.sessions.control(doing, work)
    }

    /// Runs statements of `inorder` itself, which are not confined.
    pub fn administer(&self, sql: &str) -> Result<(), Error> {
        self.control(sql, |conn| run_all(conn, sql))
    }

    /// Runs a function that accesses tables, with the rights of the user who created them.
    fn on_tables<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, mysql::Error>,
    ) -> Result<T, Error> {
        let Some(guest) = &self.guest else {
            return self.control(doing, work);
        };
        let mut conn = guest.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut conn).map_err(|error| Failure::from(error).doing(doing))
    }
}

/// Returns the connection options of a private server: its socket.
pub fn address(server: &Server) -> OptsBuilder {
    let socket = server.home.run.join(SOCKET);
    OptsBuilder::new()
        .socket(Some(socket.to_string_lossy()))
        .user(Some("root"))
        .max_allowed_packet(Some(PACKET_BYTES_MAX))
}

/// Runs all statements. The error of a later statement is only reported when its result is read.
fn run_all(conn: &mut Conn, sql: &str) -> Result<(), mysql::Error> {
    let mut results = conn.query_iter(sql)?;
    while let Some(rows) = results.iter() {
        for row in rows {
            row?;
        }
    }
    Ok(())
}

/// Writes every dirty page, by setting the maximum share of dirty pages to 0.
fn flush(conn: &mut Conn) -> Result<(), mysql::Error> {
    let before: Option<f64> = conn.query_first("SELECT @@GLOBAL.innodb_max_dirty_pages_pct")?;
    conn.query_drop("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
    let began = Instant::now();
    while counters::status(conn)?.of("Innodb_buffer_pool_pages_dirty") != Some(0) {
        if began.elapsed() > FLUSH_MAX {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    let before = before.unwrap_or(90.0);
    conn.query_drop(format!("SET GLOBAL innodb_max_dirty_pages_pct = {before}"))
}

impl MariaDatabase {
    fn begin_load(
        &self,
        table: &str,
        columns: &[&str],
        change: Option<&TableChange>,
    ) -> Result<Load, Error> {
        let wanted = bulk_load::Wanted {
            table,
            columns,
            has_later_keys: self.host.has(Feature::LaterKeys),
            goes_by_file: self.sessions.write() == Write::Bulk,
            change,
        };
        bulk_load::begin(self.sessions.open()?, &wanted)
    }
}

impl Database for MariaDatabase {
    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    /// Runs confined statements in a session of their own, so that their settings end with it.
    fn execute(&self, sql: &str) -> Result<(), Error> {
        if self.guest.is_none() {
            return self.administer(sql);
        }
        let mut session = self.sessions.open()?;
        let ran = run_all(&mut session.connection, sql);
        ran.map_err(|error| Failure::from(error).doing(sql))
    }

    fn select(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        let value = |value: mysql::Value| match value {
            mysql::Value::NULL => None,
            mysql::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            other => Some(other.as_sql(true).trim_matches('\'').to_owned()),
        };
        let rows: Vec<mysql::Row> =
            self.on_tables(sql, |conn| mysql::prelude::Queryable::query(conn, sql))?;
        let values = |row: mysql::Row| row.unwrap().into_iter().map(value).collect();
        Ok(rows.into_iter().map(values).collect())
    }

    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        let doing = format!("listing the columns of {table}");
        let found = self.on_tables(&doing, |conn| columns(conn, table))?;
        Ok(found.into_iter().map(|(info, _)| info).collect())
    }

    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        let mut all: Vec<(String, String)> = Vec::new();
        self.control("reading the settings back", |conn| {
            for name in settings::REPORTED {
                // Newer versions may lack the variable.
                let row: Option<(String, String)> =
                    conn.exec_first("SHOW VARIABLES WHERE variable_name = ?", (name,))?;
                all.extend(row);
            }
            Ok(())
        })?;
        let not_applicable = settings::NOT_APPLICABLE.iter();
        all.extend(not_applicable.map(|name| ((*name).to_owned(), "n/a".to_owned())));
        all.extend(self.host.told());
        Ok(all)
    }

    fn location(&self) -> Option<String> {
        let folder = self.host.run_folder()?;
        Some(format!(
            "mysql://root@localhost/{SCHEMA}?socket={folder}%2F{SOCKET}"
        ))
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
        // A new session has the same defaults and `init_connect` as the session of the load.
        let mut session = self.sessions.open()?;
        let found = Table::find(&mut session.connection, table);
        let found =
            found.map_err(|error| Failure::from(error).doing(format!("describing {table}")))?;
        Ok(found.map(Table::shape).unwrap_or_default())
    }

    fn load(&self, table: &str, columns: &[&str], _survives_refusals: bool) -> Result<Load, Error> {
        self.begin_load(table, columns, None)
    }

    fn has_rows(&self, table: &str, lock_max: Duration) -> Result<Option<bool>, Error> {
        // A session of its own: its limits end with it.
        let mut session = self.sessions.open()?;
        let change = TableChange {
            lock_max,
            ..TableChange::default()
        };
        let conn = &mut session.connection;
        let found =
            change::limit_locks(conn, &change).and_then(|()| bulk_load::has_rows(conn, table));
        found.map_err(|error| Failure::from(error).doing(format!("looking for rows of {table}")))
    }

    fn shape_after(&self, table: &str, change: &TableChange) -> Result<LoadShape, Error> {
        let mut session = self.sessions.open()?;
        let shape = bulk_load::shape_after(&mut session.connection, table, change);
        shape.map_err(|failure| failure.doing(format!("preparing {table}")))
    }

    fn load_after(
        &self,
        table: &str,
        columns: &[&str],
        _survives_refusals: bool,
        change: &TableChange,
    ) -> Result<Load, Error> {
        self.begin_load(table, columns, Some(change))
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
        // <https://mariadb.com/kb/en/information-schema-statistics-table/>
        const SQL: &str = "SELECT index_name, column_name FROM information_schema.statistics
             WHERE table_schema = database() AND table_name = ?
             ORDER BY index_name, seq_in_index";
        let rows: Vec<(String, String)> = self
            .control(&format!("listing the indexes of {table}"), |conn| {
                conn.exec(SQL, (table,))
            })?;
        let indexes: Vec<Vec<String>> = rows
            .chunk_by(|(index, _), (next, _)| index == next)
            .map(|rows| rows.iter().map(|(_, column)| column.clone()).collect())
            .collect();
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
        match self.host {
            Host::Private(_) => self.control("writing all changed pages", flush),
            // The global settings of a shared server are not changed.
            Host::Running(_) if self.host.may_flush() => {
                self.control("writing the tables' changed pages", structure::flush_tables)
            }
            Host::Running(_) => Ok(()),
        }
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        let sql = format!("SELECT count(*) FROM {}", quoted(table));
        let count: Option<u64> = self.on_tables(&sql, |conn| conn.query_first(&sql))?;
        Ok(count.unwrap_or(0))
    }

    fn size_bytes(&self) -> Result<u64, Error> {
        match self.host {
            Host::Private(_) => self.control("measuring the files", structure::file_bytes),
            Host::Running(_) => self.control("measuring tables", structure::data_and_index_bytes),
        }
    }

    /// Updates the planner's statistics first, because they include the sizes of indexes.
    fn structure(&self) -> Result<Vec<Tree>, Error> {
        self.control("measuring tables and indexes", structure::trees)
    }

    fn page_fill(&self, tree: &str) -> Result<PageFill, Error> {
        if !self.structure()?.iter().any(|known| known.name == tree) {
            return Err(Error::Database {
                doing: format!("measuring the pages of {tree}"),
                message: "there is no such table or index".to_owned(),
            });
        }
        Ok(PageFill {
            name: tree.to_owned(),
            leaves: Vec::new(),
        })
    }

    fn vacuum(&self) -> Result<(), Error> {
        self.host.needs(Feature::Vacuum)?;
        self.control("OPTIMIZE TABLE", |conn| {
            for table in structure::tables(conn)? {
                run_all(conn, &format!("OPTIMIZE TABLE {}", quoted(&table)))?;
            }
            Ok(())
        })
    }

    /// Returns one line per table: type of access, index, estimated rows. Parameters are NULL.
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.on_tables(sql, |conn| {
            let places = usize::from(conn.prep(sql)?.num_params());
            let values = mysql::Params::Positional(vec![mysql::Value::NULL; places]);
            let values = match places {
                0 => mysql::Params::Empty,
                _ => values,
            };
            let rows: Vec<mysql::Row> = conn.exec(format!("EXPLAIN {sql}"), values)?;
            let shown = |row: &mysql::Row| -> String {
                let columns = row.columns();
                let fields = columns.iter().zip(0..).filter_map(|(column, at)| {
                    let value: Option<String> = row.get_opt(at)?.ok()?;
                    Some(format!("{}={}", column.name_str(), value?))
                });
                fields.collect::<Vec<_>>().join(" ")
            };
            Ok(rows.iter().map(shown).collect())
        })
    }
}
