//! Proof of an edit: SQLite makes the table of the edited text, and reports what it should.

use rusqlite::{Connection, OpenFlags};

use super::catalog::Catalog;

/// A table's statement and those of its indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statements {
    pub(crate) name: String,
    pub(crate) table: String,
    pub(crate) indexes: Vec<String>,
}

impl Statements {
    /// Makes the table in an empty database in memory and reads it back.
    ///
    /// # Errors
    /// SQLite's, such as that a collation or a function of the application is missing.
    pub(crate) fn catalog(&self) -> rusqlite::Result<Catalog> {
        self.catalog_of(inorder_sqlite::open_in_memory()?)
    }

    /// Whether SQLite can make the table, with the functions of this project or without.
    pub(crate) fn can_be_made(&self, has_functions: bool) -> bool {
        let memory = match has_functions {
            true => inorder_sqlite::open_in_memory(),
            false => inorder_sqlite::open_plain(":memory:", OpenFlags::default()),
        };
        memory.and_then(|memory| self.catalog_of(memory)).is_ok()
    }

    fn catalog_of(&self, memory: Connection) -> rusqlite::Result<Catalog> {
        memory.execute_batch("PRAGMA foreign_keys = OFF")?;
        memory.execute(&self.table, ())?;
        for index in &self.indexes {
            memory.execute(index, ())?;
        }
        Catalog::read(&memory, &self.name)
    }
}

/// Proves that `new` is `old` with the change that `expect` makes.
///
/// # Errors
/// Why it isn't, or can't be proven.
pub(crate) fn prove(
    old: &Statements,
    new: &Statements,
    expect: impl FnOnce(&mut Catalog),
) -> Result<(), String> {
    let read = |statements: &Statements| {
        let failed = |error| format!("SQLite cannot make the table {}: {error}", statements.name);
        statements.catalog().map_err(failed)
    };
    let mut expected = read(old)?;
    expect(&mut expected);
    let (expected, found) = (expected.comparable(), read(new)?.comparable());
    if expected == found {
        return Ok(());
    }
    Err(format!(
        "the edited definition of {} cannot be proven: {}",
        new.name,
        difference(&expected, &found)
    ))
}

fn difference(expected: &Catalog, found: &Catalog) -> String {
    let pairs = [
        ("columns", expected.columns != found.columns),
        ("indexes", expected.indexes != found.indexes),
        ("foreign keys", expected.foreign_keys != found.foreign_keys),
    ];
    let differ = pairs.iter().find(|(_, differs)| *differs);
    let what = differ.map_or("layout", |(what, _)| what);
    format!("SQLite reports other {what} than the change makes")
}
