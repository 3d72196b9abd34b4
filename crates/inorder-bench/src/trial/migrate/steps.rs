//! What a migration consists of: phases, and the statements of each.

use crate::{error::Error, trial::group::Keyed};
use inorder_copy::{
    model::{ForeignKey, Table},
    source,
};
use inorder_engine::Database;

/// The schema of PostgreSQL that has the tables.
const SCHEMA: &str = "public";

/// What is particular to an engine.
pub struct Particulars {
    /// The name of the engine.
    pub engine: &'static str,
    /// The phases of its way. Fails if the catalog can't be read.
    pub phases: fn(&Way<'_>) -> Result<Vec<Phase>, Error>,
    /// A statement that bounds the wait of a session for the locks of a table, unless connections have a bound of their own.
    pub lock_wait: Option<&'static str>,
    /// Whether each statement needs a transaction that is begun. A server begins one, and refuses some statements in others.
    pub begins_each: bool,
    /// Whether every table is stored by its primary key.
    pub is_stored_by_key: bool,
}

/// A part of the way from one key to another, measured alone.
pub struct Phase {
    /// Its name in samples.
    pub name: &'static str,
    /// Its steps in order.
    pub steps: Vec<Step>,
}

/// A step of a phase.
pub enum Step {
    /// Runs statements, each in a transaction of its own.
    Each(Vec<String>),
    /// Runs statements in one transaction.
    Together(Vec<String>),
    /// Fills the new column of all rows, in batches.
    Backfill,
    /// The application writes both keys from here on.
    WriteBoth,
    /// The application writes and reads by the new key from here on.
    WriteNew,
}

/// A table on its way.
pub struct Moved {
    /// Its catalog before.
    pub table: Table,
    /// The column of the old key and that of the new one.
    pub old: String,
    /// The column of the new key.
    pub next: String,
}

/// The tables on their way, and the types of both keys.
pub struct Way<'a> {
    /// The database.
    pub database: &'a dyn Database,
    /// All tables of the database.
    pub all: Vec<Table>,
    /// The tables that have the key, the first one first, then in the order in which an application writes to them.
    pub moved: Vec<Moved>,
    /// The type of the old key.
    pub old_type: &'static str,
    /// The type of the new key.
    pub new_type: &'static str,
}

/// An index with the new column in place of the old one.
pub struct Successor {
    /// Its name.
    pub name: String,
    /// The index that it replaces; none for the primary key.
    pub replaces: Option<String>,
    /// Whether no two rows have the same values.
    pub is_unique: bool,
    /// Its columns.
    pub columns: Vec<String>,
}

impl<'a> Way<'a> {
    /// Reads the catalog of the tables.
    ///
    /// # Errors
    /// If the database can't be read, or a table refers to the first one by more than a column of one table.
    pub fn read(
        database: &'a dyn Database,
        keyed: &[Keyed],
        (old_type, new_type): (&'static str, &'static str),
    ) -> Result<Self, Error> {
        let location = database.location().ok_or_else(|| {
            Error::Usage("a migration needs a private server, without --url".to_owned())
        })?;
        let failed = |error: inorder_copy::Error| Error::Trial(error.to_string());
        let mut source = source::open(&location, SCHEMA).map_err(failed)?;
        let all = source.schema().map_err(failed)?.tables;
        let mut moved = Vec::new();
        for keyed in keyed {
            let table = all.iter().find(|table| table.name == keyed.table);
            let table = table.ok_or_else(|| {
                Error::Trial(format!("the catalog has no table `{}`", keyed.table))
            })?;
            moved.push(Moved {
                table: table.clone(),
                old: keyed.column.clone(),
                next: keyed.next(),
            });
        }
        Ok(Way {
            database,
            all,
            moved,
            old_type,
            new_type,
        })
    }

    /// A name as the engine writes it.
    pub fn quoted(&self, name: &str) -> String {
        self.database.quoted(name)
    }

    /// Names in a list.
    pub fn list(&self, names: &[String]) -> String {
        let names: Vec<String> = names.iter().map(|name| self.quoted(name)).collect();
        names.join(", ")
    }

    /// The table whose key it is.
    pub fn root(&self) -> &Moved {
        &self.moved[0]
    }

    /// The other tables that have it.
    pub fn children(&self) -> &[Moved] {
        &self.moved[1..]
    }

    /// The foreign keys by which a child refers to a table that has the key, each with the name that its successor gets.
    pub fn links<'b>(
        &'b self,
        child: &'b Moved,
    ) -> impl Iterator<Item = (&'b ForeignKey, &'b Moved)> + 'b {
        let of = |key: &'b ForeignKey| {
            let is_link = key.columns == [child.old.clone()];
            let parent = self.moved.iter().find(|m| m.table.name == key.parent);
            Some((key, parent.filter(|_| is_link)?))
        };
        child.table.foreign_keys.iter().filter_map(of)
    }

    /// The foreign key of the new column, after `ADD CONSTRAINT`.
    pub fn new_link(&self, child: &Moved, (key, parent): (&ForeignKey, &Moved)) -> String {
        let on = |event: &str, action: &str| match action {
            "" | "NO ACTION" | "RESTRICT" => String::new(),
            action => format!(" ON {event} {action}"),
        };
        format!(
            "{} FOREIGN KEY ({}) REFERENCES {} ({}){}{}",
            self.quoted(&format!("{}_next", key.name)),
            self.quoted(&child.next),
            self.quoted(&parent.table.name),
            self.quoted(&parent.next),
            on("DELETE", &key.on_delete),
            on("UPDATE", &key.on_update),
        )
    }
}

impl Moved {
    /// Whether the old key is part of the primary key.
    pub fn is_in_key(&self) -> bool {
        self.table.key.contains(&self.old)
    }

    /// Columns with the new key in place of the old one.
    pub fn renewed(&self, columns: &[String]) -> Vec<String> {
        let renewed = |column: &String| match *column == self.old {
            true => self.next.clone(),
            false => column.clone(),
        };
        columns.iter().map(renewed).collect()
    }

    /// Whether the old column refuses NULL.
    pub fn is_not_null(&self) -> bool {
        let column = self.table.columns.iter().find(|c| c.name == self.old);
        self.is_in_key() || column.is_some_and(|column| column.is_not_null)
    }

    /// The successor of the primary key, if that has the old key.
    pub fn new_key(&self) -> Option<Successor> {
        self.is_in_key().then(|| Successor {
            name: format!("{}_next_key", self.table.name),
            replaces: None,
            is_unique: true,
            columns: self.renewed(&self.table.key),
        })
    }

    /// The successors of the other indexes that have the old key.
    pub fn new_indexes(&self) -> Vec<Successor> {
        let own = self.table.indexes.iter();
        let own = own.filter(|index| index.columns.contains(&self.old));
        own.map(|index| Successor {
            name: format!("{}_next", index.name),
            replaces: Some(index.name.clone()),
            is_unique: index.is_unique,
            columns: self.renewed(&index.columns),
        })
        .collect()
    }
}
