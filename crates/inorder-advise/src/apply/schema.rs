//! The objects of a schema, and whether they compile.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::ddl::{Statements, has_text, mentions, quoted, tokens};

/// A row of `sqlite_schema`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) table: String,
    pub(crate) root: u32,
    pub(crate) sql: Option<String>,
}

impl Object {
    pub(crate) fn is(&self, kind: &str, name: &str) -> bool {
        self.kind == kind && self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it is a virtual table.
    pub(crate) fn is_virtual(&self) -> bool {
        let sql = self.sql.as_deref().unwrap_or_default();
        self.kind == "table"
            && has_text(sql, "VIRTUAL")
            && tokens(sql).get(1).is_some_and(|token| token.is("VIRTUAL"))
    }

    /// Whether a virtual table is over the rows of a table: external content goes by the rowid wherever no other name
    /// is given, and modules that aren't known may take any name.
    pub(super) fn is_over(&self, table: &str) -> bool {
        let words = tokens(self.sql.as_deref().unwrap_or_default());
        let is_full_text = words.iter().any(|word| {
            let modules = ["fts3", "fts4", "fts5"];
            modules.iter().any(|module| word.is(module))
        });
        let is_content = || {
            words.windows(3).any(|words| {
                words[0].is_name("content") && words[1].is_symbol("=") && words[2].is_name(table)
            })
        };
        match is_full_text {
            true => is_content(),
            false => self.mentions(table),
        }
    }

    pub(crate) fn is_on(&self, table: &str) -> bool {
        self.table.eq_ignore_ascii_case(table)
    }

    /// Whether its text has this name.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.sql.as_deref().is_some_and(|sql| mentions(sql, name))
    }
}

/// All objects of a schema, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) objects: Vec<Object>,
}

impl Schema {
    /// Reads the schema of the database `main`.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let all = "SELECT type, name, tbl_name, coalesce(rootpage, 0), sql FROM main.sqlite_schema ORDER BY rowid";
        let mut statement = connection.prepare(all)?;
        let objects = statement.query_map([], |row| {
            Ok(Object {
                kind: row.get(0)?,
                name: row.get(1)?,
                table: row.get(2)?,
                root: row.get(3)?,
                sql: row.get(4)?,
            })
        })?;
        Ok(Schema {
            objects: objects.collect::<rusqlite::Result<_>>()?,
        })
    }

    pub(crate) fn find(&self, kind: &str, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.is(kind, name))
    }

    /// The indexes of a table that CREATE INDEX made.
    pub(crate) fn indexes_on(&self, table: &str) -> impl Iterator<Item = &Object> {
        let is_made = |object: &&Object| object.kind == "index" && object.sql.is_some();
        self.objects
            .iter()
            .filter(is_made)
            .filter(move |object| object.is_on(table))
    }

    /// The statements of a table and its indexes; `None` where there is no such table, or it is virtual.
    pub(crate) fn statements(&self, table: &str) -> Option<Statements> {
        let object = self
            .find("table", table)
            .filter(|object| !object.is_virtual())?;
        Some(Statements {
            name: object.name.clone(),
            table: object.sql.clone()?,
            indexes: self
                .indexes_on(table)
                .filter_map(|index| index.sql.clone())
                .collect(),
        })
    }

    /// Tables with rows of their own, shadow tables among them.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Object> {
        let is_table = |object: &&Object| object.kind == "table" && !object.is_virtual();
        self.objects.iter().filter(is_table)
    }

    /// Replaces a table's statement.
    pub(crate) fn replace(&mut self, kind: &str, name: &str, sql: String) {
        let mut objects = self.objects.iter_mut();
        if let Some(object) = objects.find(|object| object.is(kind, name)) {
            object.sql = Some(sql);
        }
    }

    /// Makes the schema in memory and compiles what reads and writes each of its tables and views, with their
    /// triggers and foreign keys. Returns SQLite's error, or none, by statement.
    ///
    /// Text in double quotes is a name here, so that SQLite can't take a column that is gone for text. Objects that are not
    /// wanted are not made: with each object, SQLite reads all that were made before.
    pub(crate) fn compile(
        &self,
        is_wanted: impl Fn(&Object) -> bool,
    ) -> rusqlite::Result<BTreeMap<String, Option<String>>> {
        let memory = inorder_sqlite::open_in_memory()?;
        memory.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        memory.execute_batch("PRAGMA foreign_keys = ON")?;
        let mut found = self.make(&memory, is_wanted)?;
        for object in self.readable() {
            for statement in uses(&memory, &object.name)? {
                let error = memory.prepare(&statement).err();
                found.insert(statement, error.map(|error| error.to_string()));
            }
        }
        Ok(found)
    }

    /// Makes the schema in an empty database. Returns SQLite's error, or none, by object.
    pub(crate) fn make(
        &self,
        memory: &Connection,
        is_wanted: impl Fn(&Object) -> bool,
    ) -> rusqlite::Result<BTreeMap<String, Option<String>>> {
        let mut found = BTreeMap::new();
        let wanted = self.objects.iter().filter(|object| is_wanted(object));
        let (first, rest): (Vec<&Object>, Vec<&Object>) =
            wanted.partition(|object| object.is_virtual());
        for object in first.iter().chain(&rest) {
            // By a virtual table, or by AUTOINCREMENT.
            let may_be_made = !first.is_empty() || object.name.starts_with("sqlite_");
            let is_made = may_be_made && memory.table_exists(None, &*object.name)?;
            let Some(sql) = object.sql.as_deref().filter(|_| !is_made) else {
                continue;
            };
            // One statement: SQLite reads no further in a schema, and nothing else of a file may run.
            let error = memory.execute(sql, ()).err();
            found.insert(
                format!("{} {}", object.kind, object.name),
                error.map(|error| error.to_string()),
            );
        }
        Ok(found)
    }

    /// Tables and views.
    pub(super) fn readable(&self) -> impl Iterator<Item = &Object> {
        let is_readable = |object: &&Object| matches!(&*object.kind, "table" | "view");
        self.objects.iter().filter(is_readable)
    }
}

/// Statements that read and write every column of a table or view.
pub(super) fn uses(memory: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    let columns = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0";
    let mut statement = memory.prepare(columns)?;
    // The columns of a view that doesn't compile can't be told.
    let columns = statement.query_map([name], |row| row.get::<_, String>(0))?;
    let columns: Vec<String> = columns.flatten().collect();
    let set: Vec<String> = columns
        .iter()
        .map(|column| format!("{0} = {0}", quoted(column)))
        .collect();
    let name = quoted(name);
    let mut statements = vec![
        format!("SELECT * FROM {name}"),
        format!("DELETE FROM {name}"),
        format!("INSERT INTO {name} DEFAULT VALUES"),
    ];
    if !set.is_empty() {
        statements.push(format!("UPDATE {name} SET {}", set.join(", ")));
    }
    Ok(statements)
}
