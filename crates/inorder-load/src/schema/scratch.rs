//! An empty copy of a table and its indexes in memory, to ask SQLite about.

use rusqlite::{Connection, Row};

use super::Goal;
use crate::sql::quoted;

/// An in-memory database with one table.
pub(crate) struct Scratch {
    pub(crate) connection: Connection,
    /// The table's name.
    pub(crate) table: String,
}

impl Scratch {
    pub(crate) fn new(goal: &Goal<'_>) -> rusqlite::Result<Self> {
        let table = goal.destination.table.clone();
        let statements = match (goal.created, goal.database) {
            (Some(created), _) => vec![created.to_owned()],
            (None, Some(database)) => statements(database, &table)?,
            (None, None) => Vec::new(),
        };
        let connection = inorder_sqlite::open_in_memory()?;
        // The tables that its foreign keys reference do not exist here.
        connection.pragma_update(None, "foreign_keys", false)?;
        let encoding = goal.destination.encoding.name();
        connection.pragma_update(None, "encoding", encoding)?;
        let altered = goal.altered.iter().map(|altered| &altered.sql);
        for statement in statements.iter().chain(altered) {
            connection.execute_batch(statement)?;
        }
        Ok(Scratch { connection, table })
    }

    /// Runs a query whose only parameter is the name of the table.
    pub(crate) fn ask<T>(
        &self,
        query: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.connection.prepare(query)?;
        statement.query_map([&self.table], read)?.collect()
    }

    /// The bytecode of an INSERT that begins with these words (`EXPLAIN`).
    pub(crate) fn insert_program(&self, verb: &str) -> rusqlite::Result<Vec<Operation>> {
        let columns = "SELECT count(*) FROM pragma_table_info(?1)";
        let columns: usize = self.ask(columns, |row| row.get::<_, u32>(0))?[0] as usize;
        let nulls = vec!["NULL"; columns].join(", ");
        let explain = format!(
            "EXPLAIN {verb} INTO {} VALUES({nulls})",
            quoted(&self.table)
        );
        let mut statement = self.connection.prepare(&explain)?;
        let rows = statement.query_map([], |row| {
            Ok(Operation {
                opcode: row.get(1)?,
                operands: [row.get(2)?, row.get(3)?, row.get(4)?],
            })
        })?;
        rows.collect()
    }
}

/// An instruction of SQLite's bytecode.
#[derive(PartialEq)]
pub(crate) struct Operation {
    pub(crate) opcode: String,
    pub(crate) operands: [i64; 3],
}

fn statements(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let list = "SELECT sql FROM main.sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE \
                AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type = 'index', rowid";
    let mut statement = database.prepare(list)?;
    statement.query_map([table], |row| row.get(0))?.collect()
}
