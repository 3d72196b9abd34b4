//! One open database: its control connection.

use super::{
    SCHEMA, counters,
    session::{MariaReader, MariaWriter, Session, connect},
    settings, structure,
};
use crate::{
    ColumnInfo, Database, Error, Io, PageFill, Reader, Retry, Settings, Tree, Write, Writer,
    server::{Server, sql},
};
use mysql::{Conn, prelude::Queryable as _};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long all changed pages may take to be written.
const FLUSH_MAX: Duration = Duration::from_secs(600);

/// An open database.
pub struct MariaDatabase {
    control: Mutex<Session>,
    server: Arc<Server>,
    enforces_foreign_keys: bool,
    write: Write,
}

/// The crate's error for something a connection did.
pub fn failure(doing: &str, error: &mysql::Error) -> Error {
    let message = match error {
        mysql::Error::MySqlError(told) => told.message.clone(),
        other => other.to_string(),
    };
    Error::Database {
        doing: doing.to_owned(),
        message,
    }
}

/// A name as SQL takes it, whatever is in it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

impl MariaDatabase {
    /// Waits until the server answers.
    pub fn open(server: Server, settings: &Settings) -> Result<Self, Error> {
        let mut conn = server.wait_for(|| connect(&server, "").map_err(|e| e.to_string()))?;
        let mut prepare = || {
            conn.query_drop(format!("CREATE DATABASE {SCHEMA}"))?;
            structure::make_statistics_tables(&mut conn)?;
            conn.select_db(SCHEMA)
        };
        prepare().map_err(|error| failure("preparing the new server", &error))?;
        let server = Arc::new(server);
        Ok(MariaDatabase {
            control: Mutex::new(Session {
                conn,
                _server: Arc::clone(&server),
            }),
            server,
            enforces_foreign_keys: settings.foreign_keys,
            write: settings.write,
        })
    }

    fn session(&self) -> Result<Session, Error> {
        Session::open(&self.server, self.enforces_foreign_keys)
    }

    /// Does something on the control connection.
    fn control<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&mut Conn) -> Result<T, mysql::Error>,
    ) -> Result<T, Error> {
        let mut session = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut session.conn).map_err(|error| failure(doing, &error))
    }
}

/// Runs statements to the end of the last: an error of a later one is seen when its turn comes.
fn run_all(conn: &mut Conn, sql: &str) -> Result<(), mysql::Error> {
    let mut results = conn.query_iter(sql)?;
    while let Some(rows) = results.iter() {
        for row in rows {
            row?;
        }
    }
    Ok(())
}

/// Writes every changed page, by asking for a share of 0 of them.
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

impl Database for MariaDatabase {
    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.control(sql, |conn| run_all(conn, sql))
    }

    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        const SQL: &str = "SELECT c.column_name, column_type,
                 is_nullable = 'YES' OR column_default IS NOT NULL OR extra <> '' AS is_optional,
                 coalesce(seq_in_index, 0) AS place
             FROM information_schema.columns AS c
             LEFT JOIN information_schema.statistics AS s
                 ON s.table_schema = c.table_schema AND s.table_name = c.table_name
                 AND s.column_name = c.column_name AND index_name = 'PRIMARY'
             WHERE c.table_schema = database() AND c.table_name = ?
             ORDER BY ordinal_position";
        let rows: Vec<(String, String, bool, u32)> = self
            .control(&format!("listing the columns of {table}"), |conn| {
                conn.exec(SQL, (table,))
            })?;
        let columns = rows
            .into_iter()
            .map(|(name, declared_type, is_optional, place)| ColumnInfo {
                name,
                declared_type,
                is_optional,
                primary_key: place,
            });
        Ok(columns.collect())
    }

    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        let mut all: Vec<(String, String)> = Vec::new();
        self.control("reading the settings back", |conn| {
            for name in settings::REPORTED {
                // A version may not have it any more.
                let row: Option<(String, String)> =
                    conn.exec_first("SHOW VARIABLES WHERE variable_name = ?", (name,))?;
                all.extend(row);
            }
            Ok(())
        })?;
        let not_applicable = settings::NOT_APPLICABLE.iter();
        all.extend(not_applicable.map(|name| ((*name).to_owned(), "n/a".to_owned())));
        all.extend(self.server.home.told());
        Ok(all)
    }

    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        _retry: Retry,
    ) -> Result<Box<dyn Writer>, Error> {
        let writer = MariaWriter::open(self.session()?, table, columns, self.write)?;
        Ok(Box::new(writer))
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
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
        self.server.processes()
    }

    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(MariaReader::open(self.session()?, sql)?))
    }

    fn io(&self) -> Io {
        self.control("reading the counters", counters::io)
            .unwrap_or_default()
    }

    fn quiesce(&self) -> Result<(), Error> {
        self.control("writing all changed pages", flush)
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        let sql = format!("SELECT count(*) FROM {}", quoted(table));
        let count: Option<u64> = self.control(&sql, |conn| conn.query_first(&sql))?;
        Ok(count.unwrap_or(0))
    }

    fn size_bytes(&self) -> Result<u64, Error> {
        self.control("measuring the files", structure::size_bytes)
    }

    /// Brings the planner's statistics up to date first: the sizes of indexes are among them.
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
        self.control("OPTIMIZE TABLE", |conn| {
            for table in structure::tables(conn)? {
                run_all(conn, &format!("OPTIMIZE TABLE {}", quoted(&table)))?;
            }
            Ok(())
        })
    }

    /// Its own cache is filled from the start: only a restart empties it.
    fn forget_cached_pages(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// One line a table: type of access, index, estimated rows. Parameters are NULL.
    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.control(sql, |conn| {
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
