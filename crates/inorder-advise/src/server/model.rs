//! What a running server holds, as plain data: tables, indexes, keys, sizes and samples of rows.
//!
//! The readers of each engine fill these types, and everything else reads them: rules, prediction, migration and
//! report. Names are spelled as the catalog spells them, without quotes. Types and expressions are spelled as the
//! server prints them, so that they can stand in a statement.

use super::shape::Line;
use serde::{Deserialize, Serialize};

/// A server's SQL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// PostgreSQL.
    #[default]
    Postgres,
    /// MariaDB or MySQL.
    Mariadb,
}

/// A database of a server.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Database {
    /// The server's SQL.
    pub product: Product,
    /// Product and version in words, such as `PostgreSQL 15.17`.
    pub version: String,
    /// Major and minor version.
    pub release: (u32, u32),
    /// The database's name.
    pub name: String,
    /// Bytes per page: `block_size` or `innodb_page_size`.
    pub page_bytes: u32,
    /// Bytes of the database as the server gives them.
    pub bytes: u64,
    /// Settings that decide sizes and log volume, as the server reads them back, such as `wal_compression`, `off`.
    pub settings: Vec<(String, String)>,
    /// Since when the server counts uses of indexes, as it prints times; `None` if it doesn't say.
    pub statistics_since: Option<String>,
    /// Tables in the order of schema and name.
    pub tables: Vec<Table>,
    /// Sequences in the order of schema and name.
    pub sequences: Vec<Sequence>,
    /// What could not be read, and what was skipped, in sentences.
    pub notes: Vec<String>,
    /// MariaDB and MySQL: the column of `information_schema.STATISTICS` that tells whether queries ignore an index.
    #[serde(skip)]
    pub ignored_column: Option<&'static str>,
}

/// What a table is to the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableKind {
    /// A table with rows of its own.
    #[default]
    Ordinary,
    /// A partitioned table: its partitions hold the rows.
    Partitioned,
    /// A partition.
    Partition,
    /// A materialized view.
    MaterializedView,
    /// A table of another server, or of an unknown engine. Only its name is used.
    Foreign,
    /// A table of MyISAM or Aria: its rows are not read, and the catalog alone decides.
    CatalogOnly,
}

/// A table.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Its schema; on MariaDB the database.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TableKind,
    /// MariaDB: the storage engine. PostgreSQL: the access method, such as `heap`.
    pub engine: String,
    /// MariaDB: the row format, such as `Dynamic`. PostgreSQL: empty.
    pub row_format: String,
    /// PostgreSQL: the fill factor, 100 by default.
    pub fill_percent: u32,
    /// Columns in their order, without dropped ones.
    pub columns: Vec<Column>,
    /// Indexes, the primary key first.
    pub indexes: Vec<Index>,
    /// Foreign keys of this table.
    pub foreign_keys: Vec<ForeignKey>,
    /// Foreign keys of other tables that refer to this one.
    pub referenced_by: Vec<ForeignKey>,
    /// Constraints that are neither keys nor foreign keys: CHECK, EXCLUDE.
    pub checks: Vec<Check>,
    /// Triggers that users made.
    pub triggers: Vec<Object>,
    /// Views that use it.
    pub views: Vec<Object>,
    /// MariaDB: the index that `SELECT COUNT(*)` reads, by EXPLAIN; `None` if that is the rows themselves.
    pub counted_by: Option<String>,
    /// Rows, as the server estimates them.
    pub rows: u64,
    /// Whether `rows` was counted.
    pub rows_are_exact: bool,
    /// Bytes of the rows: PostgreSQL's main fork, or InnoDB's clustered index. Without indexes.
    pub bytes: u64,
    /// Bytes of out-of-line values (TOAST with its index). MariaDB: of the tables that the FULLTEXT indexes share.
    pub toast_bytes: u64,
    /// Bytes within `bytes` that hold no rows: an estimate from statistics, or `DATA_FREE`.
    pub bloat_bytes: Option<u64>,
    /// The partitioned table of a partition, as `schema.name`.
    pub parent: Option<String>,
    /// PostgreSQL: what logical replication identifies rows by.
    pub replica_identity: ReplicaIdentity,
    /// The statement that makes it, where the server prints one (MariaDB's SHOW CREATE TABLE); empty otherwise.
    pub definition: String,
    /// Whether row-level security, rules, publications or inheritance concern it, in words; empty otherwise.
    pub particulars: Vec<String>,
    /// What the scripts find it by.
    #[serde(skip)]
    pub shape: Vec<Line>,
    /// The rows that were read; `None` if none could be.
    #[serde(skip)]
    pub sample: Option<Sample>,
}

/// A sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// The schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The type of its numbers, such as `bigint`.
    pub type_name: String,
    /// The first number that it gave.
    pub start: i64,
    /// What it adds; negative if it descends.
    pub increment: i64,
    /// MINVALUE.
    pub minimum: i64,
    /// MAXVALUE.
    pub maximum: i64,
    /// Whether it begins again at its end.
    pub cycles: bool,
    /// The last number that it gave. `None` if it gave none or may not be read.
    pub reached: Option<i64>,
    /// The columns that it counts: those that own it, and those whose defaults name it.
    pub columns: Vec<CountedColumn>,
}

/// A column that a sequence counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CountedColumn {
    /// The schema of its table.
    pub schema: String,
    /// Its table.
    pub table: String,
    /// Its name.
    pub column: String,
}

/// What logical replication identifies rows by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicaIdentity {
    /// The primary key, if there is one.
    #[default]
    Default,
    /// The index with [`Index::is_replica_identity`].
    Index,
    /// All columns.
    Full,
    /// Nothing.
    Nothing,
}

/// A column.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as the server spells it, such as `character varying(36)` or `char(36)`.
    pub type_name: String,
    /// The type that [`Column::type_name`] is of: without length, domain resolved, such as `varchar`, `uuid`, `bytea`.
    pub base_type: String,
    /// PostgreSQL: whether the type is a domain, which has a DEFAULT, NOT NULL and CHECKs of its own.
    pub is_domain: bool,
    /// The declared maximum of characters or bytes, if the type has one.
    pub length: Option<u32>,
    /// Whether it is NOT NULL.
    pub is_not_null: bool,
    /// The default's expression.
    pub default: Option<String>,
    /// Its collation as it stands in `COLLATE …`; `None` for types without one.
    pub collation: Option<String>,
    /// MariaDB: the character set.
    pub character_set: Option<String>,
    /// Whether the server counts it: AUTO_INCREMENT, an identity, or the default of a sequence it owns.
    pub is_serial: bool,
    /// PostgreSQL: the sequences that go when the column is dropped (OWNED BY), as an expression names them.
    pub sequences: Vec<String>,
    /// MariaDB: the number that AUTO_INCREMENT has reached.
    pub counted_to: Option<u64>,
    /// Whether no row has a value, which was checked on all rows.
    pub is_all_null: bool,
    /// What depends on it beside indexes, keys and its own default, in the server's words: views, policies, generated
    /// columns.
    pub dependents: Vec<String>,
    /// The expression of a generated column.
    pub generated: Option<String>,
    /// MariaDB: whether a changed row gets the time in it (ON UPDATE CURRENT_TIMESTAMP).
    pub is_set_on_update: bool,
    /// MariaDB: whether `SELECT *` and an INSERT without names leave it out (INVISIBLE).
    pub is_invisible: bool,
    /// Its comment; empty if there is none.
    pub comment: String,
    /// Mean bytes of a stored value, as statistics have it.
    pub width_bytes: Option<u32>,
    /// Share of NULL by statistics, from 0 to 1.
    pub null_share: Option<f64>,
    /// Correlation with the order of the rows in the table by statistics, from -1 to 1.
    pub correlation: Option<f64>,
}

/// An index.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Index {
    /// Its name. MariaDB's primary key is `PRIMARY`.
    pub name: String,
    /// The access method in lower case: `btree`, `hash`, `gin`, `fulltext`, `spatial`, …
    pub method: String,
    /// What it is ordered by.
    pub terms: Vec<Term>,
    /// Columns of INCLUDE.
    pub include: Vec<String>,
    /// The condition of a partial index.
    pub predicate: Option<String>,
    /// Whether it is UNIQUE.
    pub is_unique: bool,
    /// Whether NULLs are equal to it (NULLS NOT DISTINCT).
    pub nulls_are_equal: bool,
    /// Whether it is the primary key's.
    pub is_primary: bool,
    /// Whether InnoDB stores the rows in it: the primary key or, without one, the first UNIQUE index without NULLs.
    pub is_clustered: bool,
    /// The constraint that it backs, if any.
    pub constraint: Option<Backing>,
    /// Whether it is the replica identity.
    pub is_replica_identity: bool,
    /// Whether the table is clustered by it (`CLUSTER … USING`). InnoDB's own clustered index isn't marked.
    pub is_cluster_order: bool,
    /// Whether the server uses it for queries: false for an invalid index, and for an IGNORED one.
    pub is_valid: bool,
    /// Why it does or does not.
    pub state: IndexState,
    /// The index of the partitioned table that it is part of, as `schema.name`.
    pub parent: Option<String>,
    /// The fill factor or fill by storage parameters; PostgreSQL's B-tree has 90.
    pub fill_percent: Option<u32>,
    /// What decides what an index of another method than B-tree finds, such as `pages_per_range=32` or `parser=ngram`.
    pub options: Vec<String>,
    /// PostgreSQL: whether B-tree deduplication is allowed. True by default.
    pub deduplicates: bool,
    /// Its bytes as the server gives them. 0 for the clustered index, which is [`Table::bytes`].
    pub bytes: u64,
    /// Bytes of `bytes` that a rebuild would free, estimated.
    pub bloat_bytes: Option<u64>,
    /// Entries by statistics, where they may differ from the table's rows: `reltuples` of a partial index.
    pub entries: Option<u64>,
    /// For some rows chosen at random, the number of rows with the same key: what
    /// [`super::predict::rows_per_key`] selects. Empty if that was not read.
    #[serde(skip)]
    pub rows_per_key: Vec<u64>,
    /// How often it was scanned since the statistics began.
    pub scans: Option<u64>,
    /// The statement that makes it, if the server prints one.
    pub definition: String,
    /// PostgreSQL: its comment; empty if there is none.
    pub comment: String,
}

/// Whether an index is whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexState {
    /// Queries use it.
    #[default]
    Valid,
    /// Its build failed, or parts of a partitioned one are missing.
    Invalid,
    /// It is being built.
    Building,
    /// Its drop was interrupted: nothing but a drop is left.
    Dropping,
    /// MariaDB: somebody keeps queries from using it.
    Ignored,
}

/// What an index backs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Backing {
    /// The constraint's name.
    pub name: String,
    /// Its kind.
    pub kind: BackingKind,
    /// Whether it is DEFERRABLE.
    pub is_deferrable: bool,
}

/// The kinds of constraints that indexes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackingKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
    /// EXCLUDE.
    Exclude,
}

/// A term of an index. Two terms are the same if all their fields are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Term {
    /// The column.
    pub column: Option<String>,
    /// The expression as the server prints it, where it isn't a column.
    pub expression: Option<String>,
    /// The collation, if it has one.
    pub collation: Option<String>,
    /// PostgreSQL: the operator class with its schema where that isn't pg_catalog, and its parameters.
    pub operator_class: Option<String>,
    /// Whether `operator_class` is the default of the type.
    pub is_default_class: bool,
    /// Whether it is in descending order.
    pub is_descending: bool,
    /// Whether NULLs come first.
    pub nulls_first: bool,
    /// MariaDB: characters or bytes of a prefix such as `col(10)`.
    pub prefix: Option<u32>,
}

/// A foreign key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// Schema of the table that has it.
    pub child_schema: String,
    /// The table that has it.
    pub child: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Schema of the table it refers to.
    pub parent_schema: String,
    /// The table it refers to.
    pub parent: String,
    /// The columns it refers to.
    pub parent_columns: Vec<String>,
    /// The parent's index that it depends on, where the server says.
    pub parent_index: Option<String>,
    /// What a deleted parent does, such as `CASCADE`.
    pub on_delete: String,
    /// What a changed parent does.
    pub on_update: String,
    /// The constraint as the server prints it, such as `FOREIGN KEY (a) REFERENCES t(id)`.
    pub definition: String,
}

/// A constraint without an index of its own to compare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Its definition as the server prints it.
    pub definition: String,
}

/// A view or trigger.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Its name, a view's with its schema.
    pub name: String,
    /// Its definition as the server prints it; empty if it may not be read.
    pub definition: String,
}

/// Rows of a table.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// The columns that were read, by name; generated ones too.
    pub columns: Vec<String>,
    /// Values as the server prints them: bytes of binary columns as lower-case hexadecimal digits without a prefix,
    /// everything else as its text output, which the same server reads back. `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// Columns whose values are hexadecimal digits of bytes, by name.
    pub binary: Vec<String>,
    /// Whether the sample is the whole table.
    pub is_whole: bool,
    /// Whether the rows are in the order in which the table stores them: by ctid, or by primary key.
    pub is_in_storage_order: bool,
}

/// What to change in one table, for a prediction. Nothing in it is the table as it is, rebuilt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChangeSet {
    /// Columns that get another type or other values.
    pub columns: Vec<ColumnChange>,
    /// Indexes that are dropped, by name.
    pub dropped_indexes: Vec<String>,
    /// Indexes that get the condition `column IS NOT NULL`: name and column.
    pub partial_indexes: Vec<(String, String)>,
}

/// A column and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnChange {
    /// The column.
    pub column: String,
    /// What it becomes.
    pub to: ColumnTo,
}

/// What a column of ids becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnTo {
    /// The same ids in the server's type `uuid`.
    Uuid,
    /// The same ids in 16 bytes: `binary(16)`, or `bytea`.
    Binary16,
    /// The same digests in as many bytes: `binary(n)`, or `bytea`.
    Bytes {
        /// Bytes of a value: half of its hexadecimal digits.
        bytes: u8,
        /// Whether `0x` is before the digits.
        has_prefix: bool,
    },
    /// New rows get UUIDv7; the type stays, and so do the ids that are there.
    OrderedUuid,
    /// Numbers counted from 1 in the order of the rows: `bigint`.
    Bigint,
}

/// What a change set gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Prediction {
    /// The sample rebuilt as it is, scaled to the table's rows, and each tree with the changes.
    pub trees: Vec<TreePrediction>,
    /// Bytes of log per inserted row before and after: WAL, or InnoDB's redo log. `None` if it could not be measured.
    pub log_bytes_per_insert: Option<(f64, f64)>,
    /// Bytes of pages that are written per inserted row besides, before and after, if 10,000 rows are inserted between two
    /// checkpoints into the whole table, rebuilt where they come in order and as full as random order keeps it: full-page
    /// images in PostgreSQL's WAL where `full_page_writes` is on, or InnoDB's page writes without the doublewrite buffer. Computed.
    pub page_bytes_per_insert: Option<(f64, f64)>,
    /// Bytes of the same pages, and of new ones, as they are written besides: PostgreSQL's data files, or InnoDB's doublewrite
    /// buffer where it is on. Computed.
    pub data_bytes_per_insert: Option<(f64, f64)>,
    /// Rows that the inserts of the log figure were measured with.
    pub inserted_rows: u64,
    /// What to know of the figures, in sentences.
    pub notes: Vec<String>,
}

/// The size of a table or index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreePrediction {
    /// The index; `None` is the table itself.
    pub index: Option<String>,
    /// Bytes if it were rebuilt now, without changes.
    pub rebuilt_bytes: u64,
    /// Bytes after the change; 0 if it is dropped.
    pub after_bytes: u64,
}

/// The table's name as reports show it: without the schema that most tables are in.
pub fn shown(table: &Table) -> String {
    match table.schema.as_str() {
        "public" => table.name.clone(),
        schema => format!("{schema}.{}", table.name),
    }
}

impl Database {
    /// Everything but the tables.
    pub fn clone_without_tables(&self) -> Self {
        Database {
            product: self.product,
            version: self.version.clone(),
            release: self.release,
            name: self.name.clone(),
            page_bytes: self.page_bytes,
            bytes: self.bytes,
            settings: self.settings.clone(),
            statistics_since: self.statistics_since.clone(),
            tables: Vec::new(),
            sequences: self.sequences.clone(),
            notes: self.notes.clone(),
            ignored_column: self.ignored_column,
        }
    }

    /// The table of a schema and name.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.schema == schema && table.name == name)
    }

    /// A setting's value.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        settings.find_map(|(own, value)| (own == name).then_some(value.as_str()))
    }
}

impl Table {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The index of this name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The index of the primary key.
    pub fn primary(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.is_primary)
    }

    /// The index that InnoDB stores the rows in. Without one it numbers them by itself.
    pub fn clustered(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.is_clustered)
    }

    /// Bytes of rows, out-of-line values and indexes.
    pub fn total_bytes(&self) -> u64 {
        let indexes: u64 = self.indexes.iter().map(|index| index.bytes).sum();
        self.bytes + self.toast_bytes + indexes
    }
}

impl Index {
    /// The columns of its terms, if each is a whole column.
    pub fn columns(&self) -> Option<Vec<&str>> {
        self.terms
            .iter()
            .map(|term| term.column.as_deref().filter(|_| term.prefix.is_none()))
            .collect()
    }
}

impl ColumnTo {
    /// The type in words.
    pub fn type_name(self) -> &'static str {
        match self {
            ColumnTo::Uuid => "uuid",
            ColumnTo::Binary16 => "16 bytes",
            ColumnTo::Bytes { .. } => "bytes",
            ColumnTo::OrderedUuid => "UUIDv7",
            ColumnTo::Bigint => "bigint",
        }
    }
}

impl Sample {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}
