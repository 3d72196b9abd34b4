//! Bytes that the server wrote and read, from its own statistics.
//!
//! | counted | where | manual |
//! | --- | --- | --- |
//! | pages of tables and indexes, from version 16 on | `pg_stat_io` | <https://www.postgresql.org/docs/18/monitoring-stats.html#MONITORING-PG-STAT-IO-VIEW> |
//! | pages written, before | `pg_stat_bgwriter`: by checkpoints, the background writer and sessions | <https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-BGWRITER-VIEW> |
//! | pages read, before | `pg_stat_database` | <https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-DATABASE-VIEW> |
//! | the log | growth of its insert position, `pg_wal_lsn_diff` | <https://www.postgresql.org/docs/15/functions-admin.html#FUNCTIONS-ADMIN-BACKUP> |
//! | full-page images | `pg_stat_wal` | <https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-WAL-VIEW> |
//! | checkpoints, from version 17 on | `pg_stat_checkpointer` | <https://www.postgresql.org/docs/17/monitoring-stats.html#MONITORING-PG-STAT-CHECKPOINTER-VIEW> |
//!
//! The statistics of running sessions reach the views with a delay of up to one second. The page writes of a session
//! reach them at the next checkpoint. After [`crate::Database::quiesce`] the views are complete.

use crate::{FileIo, Io};
use postgres::{Client, Error};
use std::{
    thread,
    time::{Duration, Instant},
};

/// Maximum delay of the views after the end of a checkpoint.
const REPORT_MAX: Duration = Duration::from_secs(2);

/// The first versions with `pg_stat_wal` and `pg_stat_io`, and those that moved counters to other
/// views.
const STAT_WAL: i32 = 140_000;
const STAT_IO: i32 = 160_000;
const CHECKPOINTER: i32 = 170_000;
const IO_BYTES: i32 = 180_000;

/// The server's version, such as 150018.
fn version(client: &mut Client) -> Result<i32, Error> {
    client
        .query_one("SELECT current_setting('server_version_num')::int", &[])?
        .try_get(0)
}

/// Returns the SQL expressions of bytes and calls of page writes, then bytes and calls of page reads.
fn pages(version: i32) -> String {
    match version {
        IO_BYTES.. => pages_by_stat_io("write_bytes", "extend_bytes", "read_bytes"),
        STAT_IO.. => pages_by_stat_io(
            "writes * op_bytes",
            "extends * op_bytes",
            "reads * op_bytes",
        ),
        _ => "(SELECT (buffers_checkpoint + buffers_clean + buffers_backend)
                 * current_setting('block_size')::bigint FROM pg_stat_bgwriter),
             (SELECT buffers_checkpoint + buffers_clean + buffers_backend
                 FROM pg_stat_bgwriter),
             (SELECT sum(blks_read)::bigint * current_setting('block_size')::bigint
                 FROM pg_stat_database),
             (SELECT sum(blks_read)::bigint FROM pg_stat_database)"
            .to_owned(),
    }
}

/// Returns the SQL expression of the full-page images in the WAL.
fn full_page_images(version: i32) -> &'static str {
    match version {
        STAT_WAL.. => "(SELECT wal_fpi FROM pg_stat_wal)::bigint",
        _ => "NULL::bigint",
    }
}

/// Returns the SQL expression of the number of completed checkpoints.
fn checkpoints(version: i32) -> &'static str {
    match version {
        CHECKPOINTER.. => "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)::bigint",
        _ => "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)::bigint",
    }
}

/// The SQL expressions of the autovacuums of tables, and of the rows that no transaction sees and no vacuum has removed yet.
const VACUUMS: &str = "(SELECT sum(autovacuum_count)::bigint FROM pg_stat_user_tables),
     (SELECT sum(n_dead_tup)::bigint FROM pg_stat_user_tables)";

/// Runs a checkpoint, and waits until the views include its writes, which takes a moment.
pub fn checkpoint(client: &mut Client) -> Result<(), Error> {
    let sql = format!("SELECT {}", checkpoints(version(client)?));
    let before: i64 = client.query_one(&sql, &[])?.try_get(0)?;
    client.batch_execute("CHECKPOINT")?;
    let began = Instant::now();
    loop {
        let now: i64 = client.query_one(&sql, &[])?.try_get(0)?;
        if now > before || began.elapsed() > REPORT_MAX {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the current counters.
pub fn io(client: &mut Client) -> Result<Io, Error> {
    let version = version(client)?;
    client
        .batch_execute("SELECT pg_stat_force_next_flush()")
        .ok();
    let query = format!(
        "SELECT {}, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, {}, {}, {VACUUMS}",
        pages(version),
        full_page_images(version),
        checkpoints(version)
    );
    let row = client.query_one(&query, &[])?;
    let number = |at: usize| -> Result<Option<u64>, Error> {
        let number: Option<i64> = row.try_get(at)?;
        Ok(number.map(i64::unsigned_abs))
    };
    let main = FileIo {
        written_bytes: number(0)?,
        writes: number(1)?,
        read_bytes: number(2)?,
        reads: number(3)?,
        syncs: None,
    };
    let wal = FileIo {
        written_bytes: number(4)?,
        // Read during recovery only.
        read_bytes: Some(0),
        reads: Some(0),
        ..FileIo::default()
    };
    let causes = [
        ("full_page_images", number(5)?),
        ("checkpoints", number(6)?),
        ("autovacuums", number(7)?),
        ("dead_rows", number(8)?),
    ];
    Ok(Io {
        files: vec![("main", main), ("wal", wal)],
        causes: causes
            .into_iter()
            .filter_map(|(name, count)| Some((name, count?)))
            .collect(),
    })
}

/// Bytes written, calls that wrote, bytes read, calls that read.
fn pages_by_stat_io(written: &str, extended: &str, read: &str) -> String {
    format!(
        "(SELECT sum(coalesce({written}, 0) + coalesce({extended}, 0))::bigint
             FROM pg_stat_io WHERE object <> 'wal'),
         (SELECT sum(coalesce(writes, 0) + coalesce(extends, 0))::bigint
             FROM pg_stat_io WHERE object <> 'wal'),
         (SELECT sum(coalesce({read}, 0))::bigint FROM pg_stat_io WHERE object <> 'wal'),
         (SELECT sum(coalesce(reads, 0))::bigint FROM pg_stat_io WHERE object <> 'wal')"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_asked_where_it_counts() {
        let has = |version, wanted: &[&str], unwanted: &[&str]| {
            let sql = [
                &pages(version),
                full_page_images(version),
                checkpoints(version),
            ]
            .map(str::to_owned)
            .join(", ");
            assert!(
                wanted.iter().all(|name| sql.contains(name)),
                "{version}: {sql}"
            );
            assert!(
                !unwanted.iter().any(|name| sql.contains(name)),
                "{version}: {sql}"
            );
        };
        let (io, wal) = ("pg_stat_io", "pg_stat_wal");
        let (bgwriter, checkpointer) = ("pg_stat_bgwriter", "pg_stat_checkpointer");
        has(130_022, &[bgwriter], &[io, wal, checkpointer]);
        has(150_018, &[bgwriter, wal], &[io, checkpointer]);
        has(
            160_014,
            &[io, "op_bytes", wal, bgwriter],
            &[checkpointer, "write_bytes"],
        );
        has(170_010, &[io, "op_bytes", checkpointer], &[bgwriter]);
        has(
            180_004,
            &[io, "write_bytes", checkpointer],
            &[bgwriter, "op_bytes"],
        );
    }
}
