//! What is asked: a table, its engine and its load.

use crate::arrivals::Order;
use crate::columns::{SecondaryIndex, Values};
use crate::error::Error;
use inorder_key::{Encoding, KeyKind};

/// A database engine whose pages are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// SQLite in WAL mode.
    Sqlite,
    /// PostgreSQL 15, without vacuum.
    Postgres,
    /// MariaDB 10.11 with InnoDB.
    Mariadb,
}

impl Engine {
    /// Every engine, in the order reports list them.
    pub const ALL: &[Engine] = &[Engine::Sqlite, Engine::Postgres, Engine::Mariadb];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
            Engine::Mariadb => "mariadb",
        }
    }

    /// Another name, of its storage engine.
    pub const fn alias(self) -> Option<&'static str> {
        match self {
            Engine::Sqlite | Engine::Postgres => None,
            Engine::Mariadb => Some("innodb"),
        }
    }

    /// Returns the engine with this name or alias, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        let has_name = |engine: &Engine| engine.name() == name || engine.alias() == Some(name);
        Self::ALL.iter().copied().find(has_name)
    }

    /// Whether the engine can store keys of this kind so. MariaDB does not find each ULID again that its type UUID stores.
    pub fn has_encoding(self, kind: KeyKind, encoding: Encoding) -> bool {
        let has_native = match self {
            Engine::Sqlite => false,
            Engine::Postgres => true,
            Engine::Mariadb => kind != KeyKind::Ulid,
        };
        kind.encodings().contains(&encoding) && (encoding != Encoding::Native || has_native)
    }

    /// The encoding that a key kind has if none is asked for, as in `inorder bench`: a type of the engine's own, where it has
    /// one.
    pub fn encoding(self, kind: KeyKind) -> Encoding {
        match self.has_encoding(kind, Encoding::Native) {
            true => Encoding::Native,
            false => kind.encodings()[0],
        }
    }

    /// Bytes of the page cache, unless asked otherwise: the engine's default.
    pub const fn cache_bytes(self) -> u64 {
        match self {
            Engine::Sqlite => 2000 << 10,
            Engine::Postgres | Engine::Mariadb => 128 << 20,
        }
    }

    /// Bytes of log after which a checkpoint is due, unless asked otherwise: the engine's default. In SQLite this is 1,000 pages
    /// of this size. In PostgreSQL it is `max_wal_size`, and a checkpoint is due after about half of it. In MariaDB it is
    /// `innodb_log_file_size`.
    pub const fn checkpoint_bytes(self, page_bytes: u32) -> u64 {
        match self {
            Engine::Sqlite => 1000 * page_bytes as u64,
            Engine::Postgres => 1 << 30,
            Engine::Mariadb => 96 << 20,
        }
    }

    /// Bytes of a page, unless asked otherwise.
    pub const fn page_bytes(self) -> u32 {
        match self {
            Engine::Sqlite => 4096,
            Engine::Postgres => 8192,
            Engine::Mariadb => 16_384,
        }
    }

    /// How tables are stored, unless asked otherwise.
    pub const fn layout(self) -> Layout {
        match self {
            Engine::Sqlite | Engine::Postgres => Layout::Rowid,
            Engine::Mariadb => Layout::WithoutRowid,
        }
    }
}

/// How the table is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// SQLite: a table by rowid and an index on the key. An integer key is the rowid. MariaDB: a table by a hidden row id and
    /// an index on the key. An integer key is the primary key.
    Rowid,
    /// SQLite and MariaDB: the table is a tree by its key.
    WithoutRowid,
    /// A table without an index on its key.
    NoKey,
}

impl Layout {
    /// Every layout.
    pub const ALL: &[Layout] = &[Layout::Rowid, Layout::WithoutRowid, Layout::NoKey];

    /// The name that experiments use.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Rowid => "rowid",
            Layout::WithoutRowid => "without-rowid",
            Layout::NoKey => "no-key",
        }
    }
}

/// What a table has that is not simulated, per row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// Bytes that are added to the size.
    pub bytes: f64,
    /// How far these bytes, and those of what is simulated, may be off.
    pub error_bytes: f64,
}

/// Rows of a bulk load at most, and rows that are inserted after it.
const LOADED_MAX: u64 = 10_000_000_000;
const INSERTED_MAX: u64 = 100_000_000;

/// A table and its load. [`Question::add_random_indexes`] makes it the built-in one of `inorder bench`: a key, a payload of bytes,
/// and indexed random integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The engine.
    pub engine: Engine,
    /// Kind of the key.
    pub key: KeyKind,
    /// Encoding of the key.
    pub encoding: Encoding,
    /// How the table is stored. PostgreSQL stores `rowid` and `without-rowid` alike.
    pub layout: Layout,
    /// Bytes of the payload column; 0: there is none.
    pub payload_bytes: u64,
    /// Columns after the payload.
    pub columns: Vec<Values>,
    /// Secondary indexes, on columns of the row or parts of the payload.
    pub indexes: Vec<SecondaryIndex>,
    /// Percent of a page of the table that inserts fill (PostgreSQL); `None`: its default.
    pub fill_percent: Option<u32>,
    /// The same of the index on the key.
    pub key_fill_percent: Option<u32>,
    /// What entries of the index on the key have besides (PostgreSQL).
    pub key_included: Vec<Values>,
    /// What is not simulated.
    pub beside: Beside,
    /// Rows at the end of the load.
    pub rows: u64,
    /// Rows that a bulk load in key order wrote before.
    pub loaded_rows: u64,
    /// Rows per transaction.
    pub rows_per_transaction: u64,
    /// Bytes of the page cache.
    pub cache_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of log after which a checkpoint is due.
    pub checkpoint_bytes: u64,
    /// Seed of the simulation.
    pub seed: u64,
    /// Rows that a simulated row stands for: a large load is simulated as a smaller one. Numbers of rows are as large as in the
    /// large one.
    pub(crate) rows_per_row: u64,
}

impl Question {
    /// A question with the defaults of `inorder bench`.
    pub fn new(engine: Engine, key: KeyKind, rows: u64) -> Self {
        Question {
            engine,
            key,
            encoding: engine.encoding(key),
            layout: engine.layout(),
            payload_bytes: 64,
            columns: Vec::new(),
            indexes: Vec::new(),
            fill_percent: None,
            key_fill_percent: None,
            key_included: Vec::new(),
            beside: Beside::default(),
            rows,
            loaded_rows: 0,
            rows_per_transaction: 1000,
            cache_bytes: engine.cache_bytes(),
            page_bytes: engine.page_bytes(),
            checkpoint_bytes: engine.checkpoint_bytes(engine.page_bytes()),
            seed: 1,
            rows_per_row: 1,
        }
    }

    /// Adds columns of random 64-bit integers, each with an index.
    pub fn add_random_indexes(&mut self, count: u64) {
        for n in 1..=count {
            self.columns.push(Values::Integer);
            let name = format!("a{n}");
            let index = SecondaryIndex::new(name, vec![Values::Integer], Order::Random);
            self.indexes.push(index);
        }
    }

    /// Bytes of the key as a user counts them.
    pub fn key_bytes(&self) -> u64 {
        match (self.key, self.key.width_bytes(self.encoding)) {
            (KeyKind::Composite, _) => 16,
            (_, bytes) => bytes.unwrap_or(8) as u64,
        }
    }

    /// Checks that the simulation can answer.
    ///
    /// # Errors
    /// [`Error::Unanswerable`] with the reason.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |why: String| Err(Error::Unanswerable(why));
        if self.rows <= self.loaded_rows {
            let (rows, loaded) = (self.rows, self.loaded_rows);
            return refuse(format!(
                "a table of {rows} rows, {loaded} of which were there before: there is nothing to insert"
            ));
        }
        if self.loaded_rows > LOADED_MAX {
            let loaded = self.loaded_rows;
            return refuse(format!(
                "{loaded} rows that were there before (--loaded): at most {LOADED_MAX}"
            ));
        }
        if self.loaded_rows > 0 && self.rows - self.loaded_rows > INSERTED_MAX {
            let inserted = self.rows - self.loaded_rows;
            return refuse(format!(
                "{inserted} rows are inserted after a bulk load (--rows without --loaded): at most {INSERTED_MAX}. A table of any \
                 size is predicted without --loaded"
            ));
        }
        if self.rows_per_transaction == 0 {
            return refuse("0 rows per transaction: at least 1".to_owned());
        }
        if !self.page_bytes.is_power_of_two() || !(512..=65536).contains(&self.page_bytes) {
            let bytes = self.page_bytes;
            return refuse(format!(
                "pages of {bytes} bytes: use a power of two from 512 to 65536"
            ));
        }
        if !self.engine.has_encoding(self.key, self.encoding) {
            let (key, encoding) = (self.key.name(), self.encoding.name());
            let engine = self.engine.name();
            return refuse(format!("{engine} has no {encoding} type for {key}"));
        }
        if self.engine == Engine::Sqlite
            && self.layout == Layout::WithoutRowid
            && self.key == KeyKind::Serial
        {
            return refuse("only a rowid table assigns its keys (serial)".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_its_name_and_that_of_its_storage_engine() {
        for engine in Engine::ALL {
            assert_eq!(Engine::from_name(engine.name()), Some(*engine));
        }
        assert_eq!(Engine::from_name("innodb"), Some(Engine::Mariadb));
        assert_eq!(Engine::from_name("oracle"), None);
    }
}
