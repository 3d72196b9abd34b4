//! What a database is: its schema, its B-trees, its values.

mod catalog;
mod classes;
mod counters;
mod form;
mod ids;
mod program;
mod scan;
mod stand_ins;
mod values;

pub use counters::Reached;
pub use form::{Case, Form};
pub(crate) use ids::{
    HASH_OF_128_BITS, ORDERED_MIN, digest_bytes, digest_in_words, has_time, refusal_of_order,
};
pub use ids::{Ids, KindShare, integer_kind};
pub use program::{PROGRAMS, Program, Reliance};
pub use values::Values;
pub(crate) use values::now_ms;

use crate::{
    Error,
    apply::{Schema, Uses},
    classify::{IdClass, Settled},
    counter::Counter,
    ddl::{self, Catalog, Clause, mentions},
};
use inorder_engine::{Tree, sqlite::structure};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    time::Duration,
};

/// Pages cached per connection.
const CACHE_KB: i64 = 32 * 1024;

/// A database that was read.
#[derive(Debug, Clone, Default)]
pub struct Database {
    /// Bytes per page.
    pub page_bytes: u32,
    /// Pages of the file.
    pub pages: u64,
    /// `PRAGMA application_id`.
    pub application_id: i32,
    /// The text encoding, such as `UTF-8`.
    pub encoding: String,
    /// The tables in the order of the schema.
    pub tables: Vec<Table>,
    /// Views and triggers.
    pub objects: Vec<Object>,
    /// The B-tree of the schema itself.
    pub schema_tree: Tree,
    /// The program whose format this is, if it is a known one.
    pub program: Option<&'static Program>,
    /// By table in lower case: what of the schema uses its rowids.
    pub(crate) rowid_users: BTreeMap<String, String>,
    /// The schema as changes are made to it.
    pub(crate) schema: Schema,
    /// What its views and triggers read.
    pub(crate) uses: Uses,
    /// Collations and functions that the schema names and this SQLite doesn't have.
    pub missing: Vec<String>,
    /// How far rowids and AUTOINCREMENT had come in the file, before VACUUM gave rows without a key new numbers.
    pub reached: Vec<Reached>,
    /// The counters, those that are nearest to their end first.
    pub counters: Vec<Counter>,
    /// What could not be read, in sentences.
    pub problems: Vec<String>,
}

/// How a table is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableKind {
    /// By rowid.
    #[default]
    Rowid,
    /// By its primary key.
    WithoutRowid,
    /// By a module.
    Virtual,
    /// For a module.
    Shadow,
    /// For SQLite itself.
    Internal,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its CREATE statement.
    pub sql: String,
    /// How it is stored.
    pub kind: TableKind,
    /// Whether it is STRICT.
    pub is_strict: bool,
    /// Its columns, generated ones too.
    pub columns: Vec<Column>,
    /// The columns of the primary key in its order, by number.
    pub key: Vec<usize>,
    /// The column that is the rowid.
    pub rowid_alias: Option<usize>,
    /// Whether the key is AUTOINCREMENT.
    pub is_autoincrement: bool,
    /// The keys with an ON CONFLICT clause other than ABORT.
    pub(crate) clauses: Vec<Clause>,
    /// Its indexes in the order they were made.
    pub indexes: Vec<Index>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its rows.
    pub rows: u64,
    /// Its B-tree. A virtual table has none.
    pub tree: Option<Tree>,
    /// The collation or function that is missing for its statements.
    pub missing: Option<String>,
}

/// A column.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The declared type.
    pub declared: String,
    /// Whether it is NOT NULL.
    pub is_not_null: bool,
    /// The default's expression.
    pub default: Option<String>,
    /// Its place in the primary key from 1, or 0.
    pub key_position: u32,
    /// As `table_xinfo` reports it: 2 and 3 are generated columns.
    pub hidden: u32,
    /// Its values.
    pub values: Values,
    /// What its ids are, if it has some.
    pub class: Option<IdClass>,
}

/// Who made an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// CREATE INDEX.
    #[default]
    Created,
    /// A UNIQUE constraint.
    Unique,
    /// The primary key.
    Key,
}

/// An index.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Who made it.
    pub origin: Origin,
    /// Whether it is UNIQUE.
    pub is_unique: bool,
    /// What it is ordered by.
    pub terms: Vec<Term>,
    /// The condition of a partial index, in one spelling.
    pub condition: Option<String>,
    /// Its CREATE statement; empty if a constraint made it.
    pub sql: String,
    /// Its B-tree. The key of a WITHOUT ROWID table has none of its own.
    pub tree: Option<Tree>,
}

/// A term of an index. Two terms are the same if all their fields are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Term {
    /// The column by number.
    pub column: Option<usize>,
    /// Whether it is the rowid.
    pub is_rowid: bool,
    /// The expression in one spelling.
    pub expression: Option<String>,
    /// The collation in upper case.
    pub collation: String,
    /// Whether it is in descending order.
    pub is_descending: bool,
}

/// A foreign key.
#[derive(Debug, Clone, Default)]
pub struct ForeignKey {
    /// The table referred to, as it is written.
    pub parent: String,
    /// The columns.
    pub columns: Vec<String>,
    /// The columns referred to; none are its primary key.
    pub parent_columns: Vec<String>,
    /// What a deleted parent does.
    pub on_delete: String,
    /// What a changed parent does.
    pub on_update: String,
}

/// A view or trigger.
#[derive(Debug, Clone)]
pub struct Object {
    /// Whether it is a trigger.
    pub is_trigger: bool,
    /// Its name.
    pub name: String,
    /// The table of a trigger.
    pub table: String,
    /// Its CREATE statement.
    pub sql: String,
}

impl Database {
    /// Reads the schema and the B-trees, not the values.
    ///
    /// # Errors
    /// Those of SQLite where not even the schema can be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let missing = stand_ins::missing(&inorder_sqlite::open(path, OpenFlags::default())?)?;
        let connection = open(path)?;
        let number =
            |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let mut database = Database {
            page_bytes: u32::try_from(number("page_size")?).unwrap_or(0),
            pages: number("page_count")?.unsigned_abs(),
            application_id: i32::try_from(number("application_id")?).unwrap_or(0),
            encoding: connection.pragma_query_value(None, "encoding", |row| row.get(0))?,
            missing,
            ..Database::default()
        };
        (database.tables, database.objects) = catalog::read(&connection)?;
        database.schema = Schema::read(&connection)?;
        database.uses = Uses::of(&database.schema)?;
        database.rowid_users = rowid_users(&connection, &database.schema, &database.uses);
        database.program = program::of(database.application_id, |name| database.has(name));
        match structure(&connection) {
            Ok(trees) => database.add_trees(trees),
            Err(error) => database.problems.push(format!(
                "The B-trees can't be walked ({error}): sizes of tables and indexes are not known."
            )),
        }
        for table in &mut database.tables {
            let names = |statement: &str| {
                database
                    .missing
                    .iter()
                    .find(|name| mentions(statement, name))
                    .cloned()
            };
            let statements =
                std::iter::once(&table.sql).chain(table.indexes.iter().map(|index| &index.sql));
            table.missing = statements.filter_map(|statement| names(statement)).next();
        }
        Ok(database)
    }

    fn add_trees(&mut self, trees: Vec<Tree>) {
        let mut trees: HashMap<String, Tree> = trees
            .into_iter()
            .map(|tree| (tree.name.clone(), tree))
            .collect();
        self.schema_tree = trees
            .remove("sqlite_schema")
            .or_else(|| trees.remove("sqlite_master"))
            .unwrap_or_default();
        for table in &mut self.tables {
            table.tree = trees.remove(&table.name);
            for index in &mut table.indexes {
                index.tree = trees.remove(&index.name);
            }
        }
    }

    /// Reads the values of every table on `threads` threads.
    ///
    /// # Errors
    /// None: a table that can't be read becomes a problem.
    pub fn scan(&mut self, path: &Path, threads: usize, progress: &(dyn Fn(&str) + Sync)) {
        scan::all(self, path, threads, progress);
        self.classify(&Settled::default());
    }

    /// Whether there is a table or view of this name, in any case.
    fn has(&self, name: &str) -> bool {
        let is_view =
            |object: &Object| !object.is_trigger && object.name.eq_ignore_ascii_case(name);
        self.objects.iter().any(is_view) || self.table(name).is_some()
    }

    /// The table of this name, without regard to case.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.pages * u64::from(self.page_bytes)
    }

    /// The foreign keys that refer to a table, each with the table it is declared in.
    pub fn references<'d>(
        &'d self,
        parent: &'d Table,
    ) -> impl Iterator<Item = (&'d Table, &'d ForeignKey)> {
        self.tables.iter().flat_map(move |child| {
            let keys = child.foreign_keys.iter();
            keys.filter(|key| key.parent.eq_ignore_ascii_case(&parent.name))
                .map(move |key| (child, key))
        })
    }

    /// The columns of the parent that a foreign key refers to.
    pub fn parent_columns(&self, key: &ForeignKey) -> Vec<String> {
        match (key.parent_columns.is_empty(), self.table(&key.parent)) {
            (true, Some(parent)) => parent
                .key
                .iter()
                .map(|&at| parent.columns[at].name.clone())
                .collect(),
            _ => key.parent_columns.clone(),
        }
    }
}

impl Table {
    /// Tells whether advice may change it: it is neither SQLite's nor a module's.
    pub fn is_ordinary(&self) -> bool {
        matches!(self.kind, TableKind::Rowid | TableKind::WithoutRowid)
    }

    /// The number of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The names of columns.
    pub fn names(&self, columns: &[usize]) -> Vec<String> {
        columns
            .iter()
            .map(|&at| self.columns[at].name.clone())
            .collect()
    }

    /// Pages of the table and its indexes.
    pub fn pages(&self) -> u64 {
        let trees = self.indexes.iter().filter_map(|index| index.tree.as_ref());
        trees.chain(&self.tree).map(|tree| tree.pages).sum()
    }

    /// Whether INSERT could do something else without a unique key whose rows another one keeps apart, for what an
    /// ON CONFLICT clause says.
    pub(crate) fn inserts_differ_without(&self, key: &[Term], cover: &[Term]) -> bool {
        let names = |terms: &[Term]| -> Vec<&str> {
            let columns = terms.iter().filter_map(|term| term.column);
            columns.map(|at| &*self.columns[at].name).collect()
        };
        let rowid = self.rowid_alias.map(|at| &*self.columns[at].name);
        ddl::changes_without(&self.clauses, &names(key), &names(cover), rowid)
    }

    /// Whether INSERT could do something else in another layout, for what an ON CONFLICT clause says.
    pub(crate) fn inserts_differ_in_another_layout(&self) -> bool {
        let keys = self.indexes.iter().filter(|index| index.is_unique).count();
        ddl::changes_in_other_order(&self.clauses, keys)
    }

    /// The index of the primary key.
    pub fn key_index(&self) -> Option<&Index> {
        self.indexes
            .iter()
            .find(|index| index.origin == Origin::Key)
    }
}

impl Column {
    /// Whether the declared type has NUMERIC, INTEGER or REAL affinity
    /// (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
    pub fn is_numeric(&self) -> bool {
        let declared = self.declared.to_ascii_uppercase();
        let has = |part| declared.contains(part);
        if has("INT") {
            return true;
        }
        !(has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB") || declared.is_empty())
    }

    /// Whether it is generated.
    pub fn is_generated(&self) -> bool {
        matches!(self.hidden, 2 | 3)
    }
}

impl Index {
    /// The columns of its terms, if each is one.
    pub fn columns(&self) -> Option<Vec<usize>> {
        self.terms.iter().map(|term| term.column).collect()
    }

    /// Pages of its B-tree.
    pub fn pages(&self) -> u64 {
        self.tree.as_ref().map_or(0, |tree| tree.pages)
    }
}

/// What of a schema uses the rowids of tables that have no name for them, by table in lower case.
fn rowid_users(connection: &Connection, schema: &Schema, uses: &Uses) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for table in schema.tables() {
        let Ok(catalog) = Catalog::read(connection, &table.name) else {
            continue;
        };
        if catalog.is_without_rowid || catalog.alias().is_some() {
            continue;
        }
        if let Some(object) = uses.users_of_rowid(schema, &catalog).first() {
            let user = match object.is_virtual() {
                true => format!("the virtual table {} has its rowids", object.name),
                false => format!("the {} {} uses its rowid", object.kind, object.name),
            };
            found.insert(table.name.to_ascii_lowercase(), user);
        }
    }
    found
}

/// The names of collations and functions that a schema has and this SQLite doesn't.
///
/// # Errors
/// Those of SQLite.
pub(crate) fn missing(connection: &Connection) -> Result<Vec<String>, Error> {
    Ok(stand_ins::missing(connection)?)
}

/// Registers functions of these names that return NULL.
///
/// # Errors
/// Those of SQLite.
pub(crate) fn stand_in(connection: &Connection, names: &[String]) -> Result<(), Error> {
    Ok(stand_ins::for_functions(connection, names)?)
}

/// Opens a copy for reading, with stand-ins for what the schema lacks.
///
/// # Errors
/// Those of SQLite.
pub(crate) fn open(path: &Path) -> Result<Connection, Error> {
    let connection = inorder_sqlite::open(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    prepare(&connection)?;
    Ok(connection)
}

/// Sets a connection to a copy: nothing is synced, no constraint acts, no code of the schema is trusted.
pub(crate) fn prepare(connection: &Connection) -> Result<(), Error> {
    connection.busy_timeout(Duration::from_secs(10))?;
    for (pragma, value) in [
        ("foreign_keys", 0),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
        ("synchronous", 0),
        ("cache_size", -CACHE_KB),
    ] {
        connection.pragma_update(None, pragma, value)?;
    }
    stand_ins::register(connection)?;
    Ok(())
}
