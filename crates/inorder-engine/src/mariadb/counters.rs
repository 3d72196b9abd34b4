//! Bytes that InnoDB wrote and read, from its own counters:
//! <https://mariadb.com/kb/en/innodb-status-variables/>.
//!
//! `Innodb_data_written` has the pages and the doublewrite buffer and, up to 10.11 at least, not the
//! log, which is `Innodb_os_log_written`.

use crate::{FileIo, Io};
use mysql::{Conn, Error, prelude::Queryable as _};
use std::collections::HashMap;

/// InnoDB's counters by name.
pub struct Status(HashMap<String, String>);

impl Status {
    /// Reads one counter; `None` if this version does not have it.
    pub fn of(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }
}

/// Reads all counters.
pub fn status(conn: &mut Conn) -> Result<Status, Error> {
    let rows: Vec<(String, String)> = conn.query("SHOW GLOBAL STATUS LIKE 'Innodb%'")?;
    Ok(Status(rows.into_iter().collect()))
}

/// Returns the current counters.
pub fn io(conn: &mut Conn) -> Result<Io, Error> {
    let status = status(conn)?;
    let page_bytes = status.of("Innodb_page_size");
    let doubled = status.of("Innodb_dblwr_pages_written");
    let doubled_bytes = doubled.zip(page_bytes).map(|(pages, bytes)| pages * bytes);
    let besides = |all: Option<u64>, part: Option<u64>| Some(all?.saturating_sub(part?));
    let main = FileIo {
        written_bytes: besides(status.of("Innodb_data_written"), doubled_bytes),
        writes: besides(
            status.of("Innodb_data_writes"),
            status.of("Innodb_dblwr_writes"),
        ),
        read_bytes: status.of("Innodb_data_read"),
        reads: status.of("Innodb_data_reads"),
        syncs: status.of("Innodb_data_fsyncs"),
    };
    let none = FileIo {
        read_bytes: Some(0),
        reads: Some(0),
        ..FileIo::default()
    };
    let wal = FileIo {
        written_bytes: status.of("Innodb_os_log_written"),
        ..none
    };
    let doublewrite = FileIo {
        written_bytes: doubled_bytes,
        writes: status.of("Innodb_dblwr_writes"),
        ..none
    };
    let causes = [
        (
            "pages_flushed",
            status.of("Innodb_buffer_pool_pages_flushed"),
        ),
        // Transactions whose old versions are kept, until purge removes them.
        ("history_list", status.of("Innodb_history_list_length")),
    ];
    Ok(Io {
        files: vec![("main", main), ("wal", wal), ("doublewrite", doublewrite)],
        causes: causes
            .into_iter()
            .filter_map(|(name, count)| Some((name, count?)))
            .collect(),
    })
}
