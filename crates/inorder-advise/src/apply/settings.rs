//! What belongs to a database beside its schema and rows.

use inorder_btree::{AutoVacuum, TextEncoding};
use rusqlite::Connection;

use super::draft::Draft;

/// Settings that a new file takes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) page_bytes: u32,
    pub(crate) auto_vacuum: AutoVacuum,
    pub(crate) encoding: TextEncoding,
    pub(crate) user_version: i32,
    pub(crate) application_id: i32,
    /// The schema cookie.
    pub(crate) schema_version: u32,
    /// Whether it is in WAL mode.
    pub(crate) is_wal: bool,
}

impl Settings {
    /// Reads the settings of a database.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |pragma: &str| {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0))
        };
        let text = |pragma: &str| {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| {
                row.get::<_, String>(0)
            })
        };
        Ok(Settings {
            page_bytes: number("page_size")? as u32,
            auto_vacuum: match number("auto_vacuum")? {
                0 => AutoVacuum::None,
                1 => AutoVacuum::Full,
                _ => AutoVacuum::Incremental,
            },
            encoding: match &*text("encoding")? {
                "UTF-16le" => TextEncoding::Utf16Le,
                "UTF-16be" => TextEncoding::Utf16Be,
                _ => TextEncoding::Utf8,
            },
            user_version: number("user_version")? as i32,
            application_id: number("application_id")? as i32,
            schema_version: number("schema_version")? as u32,
            is_wal: text("journal_mode")? == "wal",
        })
    }

    /// The settings after the changes. The schema cookie counts on, so that open connections read the schema anew.
    pub(crate) fn changed(mut self, draft: &Draft) -> Self {
        self.page_bytes = draft.page_bytes.unwrap_or(self.page_bytes);
        self.schema_version = self.schema_version.wrapping_add(1);
        self
    }
}
