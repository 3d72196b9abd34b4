//! A full-text index (FTS5) of a table that a load creates in SQLite.

use rusqlite::{Connection, OptionalExtension as _};

use crate::Error;
use crate::sql::quoted;

/// A full-text index whose content is the table. Source: <https://www.sqlite.org/fts5.html#external_content_tables>.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullText {
    /// The columns that are searched.
    pub columns: Vec<String>,
    /// The tokenizer and its arguments, such as `porter unicode61`; `None` is SQLite's default.
    pub tokenizer: Option<String>,
}

impl FullText {
    /// The statements that create the index of a table with rows, fill it, and keep it current. `rowid` is the
    /// INTEGER PRIMARY KEY.
    pub(crate) fn sql(&self, table: &str, rowid: &str) -> String {
        let index = quoted(&name(table));
        let on = quoted(table);
        let own: Vec<String> = self.columns.iter().map(|column| quoted(column)).collect();
        let mut arguments = own.clone();
        arguments.push(format!("content={}", literal(table)));
        arguments.push(format!("content_rowid={}", literal(rowid)));
        let tokenizer = self.tokenizer.as_deref().map(literal);
        arguments.extend(tokenizer.map(|tokenizer| format!("tokenize={tokenizer}")));
        let names = own.join(", ");
        let values = |row: &str| {
            let columns = std::iter::once(quoted(rowid)).chain(own.iter().cloned());
            let columns: Vec<String> = columns.map(|column| format!("{row}.{column}")).collect();
            columns.join(", ")
        };
        let adds = format!(
            "INSERT INTO {index}(rowid, {names}) VALUES ({});",
            values("new")
        );
        let removes = format!(
            "INSERT INTO {index}({index}, rowid, {names}) VALUES ('delete', {});",
            values("old")
        );
        let trigger = |event: &str, body: &str| {
            let name = quoted(&trigger(table, event));
            format!(
                "CREATE TRIGGER {name} AFTER {} ON {on} BEGIN\n  {body}\nEND",
                event.to_ascii_uppercase()
            )
        };
        [
            format!(
                "CREATE VIRTUAL TABLE {index} USING fts5({})",
                arguments.join(", ")
            ),
            format!("INSERT INTO {index}({index}) VALUES ('rebuild')"),
            trigger("insert", &adds),
            trigger(DELETE, &removes),
            trigger("update", &format!("{removes}\n  {adds}")),
        ]
        .join(";\n")
    }

    /// Checks the names of the columns, and that the database has no other table of the index's name.
    ///
    /// # Errors
    /// [`Error::Create`].
    pub(crate) fn check(&self, database: &Connection, table: &str) -> Result<(), Error> {
        let index = name(table);
        // FTS5 has a column of that name.
        let mut names = vec![index.as_str()];
        for column in &self.columns {
            if names.iter().any(|name| name.eq_ignore_ascii_case(column)) {
                return Err(Error::Create {
                    what: format!("--fts: the index can have only one column `{column}`"),
                });
            }
            names.push(column);
        }
        let find = "SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE";
        let found = database.query_row(find, [&index], |_| Ok(())).optional();
        match found {
            Ok(None) => Ok(()),
            Ok(Some(())) if has_index(database, table).unwrap_or(false) => Ok(()),
            Ok(Some(())) => Err(Error::Create {
                what: format!("--fts: the database has a table {index} already; drop or rename it"),
            }),
            Err(error) => Err(Error::Create {
                what: format!("--fts: {error}"),
            }),
        }
    }
}

/// The event of the trigger that removes the entries of a row.
const DELETE: &str = "delete";

/// The name of the index of a table.
fn name(table: &str) -> String {
    format!("{table}_fts")
}

fn trigger(table: &str, event: &str) -> String {
    format!("{}_{event}", name(table))
}

/// Text as a literal of SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether a table has a full-text index that a load created with it.
pub(crate) fn has_index(database: &Connection, table: &str) -> rusqlite::Result<bool> {
    let find = "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' \
                AND name = ?2 COLLATE NOCASE AND tbl_name = ?1 COLLATE NOCASE) \
                AND EXISTS (SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual' \
                AND name = ?3 COLLATE NOCASE)";
    let parameters = (table, trigger(table, DELETE), name(table));
    database.query_row(find, parameters, |row| row.get(0))
}

/// The statement that drops the index with its table, if there is one.
pub(crate) fn dropped(database: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let has_index = has_index(database, table)?;
    Ok(has_index.then(|| format!("DROP TABLE IF EXISTS {}", quoted(&name(table)))))
}
