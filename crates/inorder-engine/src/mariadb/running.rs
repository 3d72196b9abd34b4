//! Detection of a running MariaDB or MySQL server's properties.

use crate::remote::{Remote, host::Running};
use mysql::{Conn, prelude::Queryable as _};
use std::fs;

/// Queries the properties of the server.
pub fn ask(remote: &Remote, conn: &mut Conn) -> Running {
    Running {
        remote: remote.clone(),
        process: process(conn),
        may_flush: may_flush(conn).unwrap_or(false),
    }
}

/// Returns whether the user may flush the tables of all databases.
fn may_flush(conn: &mut Conn) -> Result<bool, mysql::Error> {
    let grants: Vec<String> = conn.query("SHOW GRANTS")?;
    let rights = ["ALL PRIVILEGES", "RELOAD", "FLUSH_TABLES"];
    let has_right = |grant: &String| rights.iter().any(|right| grant.contains(right));
    Ok(grants
        .iter()
        .any(|grant| grant.contains(" ON *.*") && has_right(grant)))
}

/// Returns the server's process if it runs on this machine: the host name must match, and its pid file must name a
/// process with the name of the server's program.
fn process(conn: &mut Conn) -> Option<u32> {
    let sql = "SELECT @@hostname, @@pid_file, @@datadir";
    let (host, file, folder): (String, String, String) = conn.query_first(sql).ok()??;
    let own = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    if host != own.trim() {
        return None;
    }
    let file = std::path::Path::new(&folder).join(file);
    let pid: u32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let program = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    ["mariadbd", "mysqld"]
        .contains(&program.trim())
        .then_some(pid)
}
