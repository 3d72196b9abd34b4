//! The tables whose foreign keys refer to a table.

use rusqlite::Connection;

/// A foreign key of another table.
pub(crate) struct Child {
    /// The other table.
    pub(crate) table: String,
    /// What a DELETE does to its rows, as SQLite names it: `NO ACTION`, `CASCADE` and so on.
    pub(crate) on_delete: String,
}

impl Child {
    /// Whether its rows change when those that they refer to are deleted.
    pub(crate) fn is_changed(&self) -> bool {
        !matches!(&*self.on_delete, "NO ACTION" | "RESTRICT")
    }
}

/// The foreign keys of other tables that refer to this one.
pub(crate) fn children(database: &Connection, table: &str) -> rusqlite::Result<Vec<Child>> {
    let list = "SELECT child.name, key.on_delete FROM main.sqlite_schema AS child, \
                pragma_foreign_key_list(child.name, 'main') AS key \
                WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE \
                AND child.name <> ?1 COLLATE NOCASE ORDER BY child.name, key.id";
    let mut statement = database.prepare(list)?;
    let children = statement.query_map([table], |row| {
        Ok(Child {
            table: row.get(0)?,
            on_delete: row.get(1)?,
        })
    })?;
    children.collect()
}
