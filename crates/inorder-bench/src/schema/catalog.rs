//! The tables of a schema, as an engine's catalog reports them, with a sample of the rows.

use super::{
    apply::apply,
    class::{Class, class},
};
use crate::error::Error;
use inorder_copy::{model, source};
use inorder_engine::{Settings, remote::ServerUrl};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

/// Rows of each table that are sampled.
const SAMPLED_ROWS: u64 = 2000;
/// The schema of PostgreSQL that is read.
const SCHEMA: &str = "public";

/// The values of a sampled row; `None` is NULL.
pub type SampledRow = Vec<Option<Vec<u8>>>;

/// What a database has besides what is read, or not as it is measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Its text.
    pub text: String,
    /// The table that it is about, if it is about one.
    pub table: Option<String>,
}

impl Note {
    /// A note on the whole database.
    pub fn new(text: String) -> Self {
        Note { text, table: None }
    }

    /// A note on a table.
    pub fn on(table: &str, text: String) -> Self {
        let table = Some(table.to_owned());
        Note { text, table }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.table {
            Some(table) => write!(f, "{} (table {table})", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Tables and rows of a database.
pub struct Catalog {
    /// The engine whose catalog it is.
    pub engine: &'static str,
    /// The tables, in the order of their names.
    pub tables: Vec<model::Table>,
    /// Rows by the name of their table; none where there are no data.
    pub samples: BTreeMap<String, Vec<SampledRow>>,
    /// How tables and their indexes are stored, by the name of the table.
    pub storage: BTreeMap<String, model::TableStorage>,
    /// Tables that can't be read, and why.
    pub left_out: BTreeMap<String, String>,
    /// What the tables have besides what is read.
    pub notes: BTreeSet<Note>,
}

impl Catalog {
    /// Applies DDL to a new private database of an engine in an empty folder, and reads its catalog. The DDL runs with
    /// rights on that database only.
    ///
    /// # Errors
    /// If the engine refuses a statement that defines a table. The message names it. Others are left out with a note.
    pub fn of_ddl(engine: &str, ddl: &str, folder: &Path) -> Result<Self, Error> {
        let engine = inorder_engine::engine(engine)
            .ok_or_else(|| Error::Usage(format!("no engine `{engine}`")))?;
        let settings = Settings {
            page_size_bytes: page_bytes(engine.name()),
            is_confined: true,
            ..Settings::default()
        };
        let database = engine.create(folder, &settings)?;
        let notes = apply(database.as_ref(), engine.name(), ddl)?;
        let location = database.location().ok_or_else(|| {
            Error::Usage(format!(
                "{} can't describe a schema: use sqlite, postgres or mariadb",
                engine.name()
            ))
        })?;
        let mut catalog = Self::of_database(&location)?;
        catalog.notes.extend(notes.into_iter().map(Note::new));
        Ok(catalog)
    }

    /// Reads the catalog of the database with this path or URL, and samples its rows. Nothing is written.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn of_database(location: &str) -> Result<Self, Error> {
        let failed = |error: inorder_copy::Error| Error::Usage(error.to_string());
        let engine = engine_of(location)?;
        let mut source = source::open(location, SCHEMA).map_err(failed)?;
        let mut schema = source.schema().map_err(failed)?;
        let mut samples = BTreeMap::new();
        let mut storage = BTreeMap::new();
        let mut notes = BTreeSet::new();
        let is_unreadable = |table: &mut model::Table| !table.obstacles.is_empty();
        let left_out = schema.tables.extract_if(.., is_unreadable);
        let left_out = left_out.map(|table| (table.name, table.obstacles.join("; ")));
        let left_out = left_out.collect();
        for table in &mut schema.tables {
            // Rows are made for columns, and a draft's indexes are of them.
            let is_special =
                |index: &mut model::Index| index.columns.is_empty() || index.definition.is_some();
            let left_out = table.indexes.extract_if(.., is_special);
            notes.extend(left_out.map(|index| {
                let name = index.name;
                let text = format!(
                    "not copied: the index {name}, which is partial, has expressions or includes columns"
                );
                Note::on(&table.name, text)
            }));
            let is_of_beginnings = |index: &mut model::Index| index.is_unique && index.has_prefix;
            let left_out = table.indexes.extract_if(.., is_of_beginnings);
            notes.extend(left_out.map(|index| {
                let name = index.name;
                let text = format!("not copied: the unique index {name} of beginnings of values");
                Note::on(&table.name, text)
            }));
        }
        for table in &schema.tables {
            match source.storage(table) {
                Ok(found) => _ = storage.insert(table.name.clone(), found),
                // Servers that speak the protocol may lack parts of the catalog.
                Err(error) => {
                    let text = format!("how it is stored can't be read: {error}");
                    notes.insert(Note::on(&table.name, text));
                }
            }
            let mut rows: Vec<SampledRow> = Vec::new();
            source
                .rows(table, Some(SAMPLED_ROWS), &mut |row| {
                    let values = table.columns.iter().zip(row);
                    rows.push(
                        values
                            .map(|(column, value)| value.map(|value| column.kind.stored(value)))
                            .collect(),
                    );
                    true
                })
                .map_err(failed)?;
            samples.insert(table.name.clone(), rows);
            let of_table = table
                .notes
                .iter()
                .filter(|note| note.starts_with("not copied"));
            notes.extend(of_table.map(|note| Note::on(&table.name, note.clone())));
            notes.extend(of_integer_key(engine, table));
        }
        Ok(Catalog {
            engine,
            tables: schema.tables,
            samples,
            storage,
            left_out,
            notes,
        })
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&model::Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The note on a table that can't be read.
    pub fn note_on(&self, table: &str) -> Option<String> {
        let why = self.left_out.get(table)?;
        Some(format!("left out: table {table}: {why}"))
    }

    /// The sampled values of a column, NULL as `None`.
    pub fn values(&self, table: &str, column: &str) -> Vec<Option<&[u8]>> {
        let columns = self.table(table).map(|table| &table.columns[..]);
        let at = columns.and_then(|columns| columns.iter().position(|c| c.name == column));
        let rows = self.samples.get(table);
        match (at, rows) {
            (Some(at), Some(rows)) => rows.iter().map(|row| row[at].as_deref()).collect(),
            _ => Vec::new(),
        }
    }
}

/// A note on a key of integers that SQLite stores in an index, because it is not the rowid. The key in question is measured as the
/// rowid.
fn of_integer_key(engine: &str, table: &model::Table) -> Option<Note> {
    let [key] = &table.key[..] else { return None };
    let column = table.columns.iter().find(|column| column.name == *key)?;
    let is_integer = matches!(class(engine, column), Class::Integer(_));
    // Only SQLite's rowid counts on.
    let is_rowid = column.next.is_some() || table.is_without_rowid;
    (engine == "sqlite" && is_integer && !is_rowid).then(|| {
        let declared = &column.declared;
        Note::on(
            &table.name,
            format!(
                "not as it is: SQLite stores the key {key} {declared} in an index beside the table; INTEGER PRIMARY KEY is the rowid and has none"
            ),
        )
    })
}

/// The name of the engine at a path or URL.
fn engine_of(location: &str) -> Result<&'static str, Error> {
    match location.contains("://") {
        true => Ok(ServerUrl::parse(location)?.engine()),
        false => Ok("sqlite"),
    }
}

/// Bytes per page of a private database for a schema. InnoDB limits the columns of an index by its page, and schemas
/// count on its default.
pub fn page_bytes(engine: &str) -> u32 {
    match engine {
        "mariadb" => 16_384,
        _ => Settings::default().page_size_bytes,
    }
}
