//! Detection of a running PostgreSQL server's properties.

use super::NAME;
use crate::{
    processes::parent_of,
    remote::{Remote, host::Running},
};
use postgres::Client;
use std::fs;

/// Queries the properties of the server.
pub fn ask(remote: &Remote, client: &mut Client) -> Running {
    let may_flush = client.query_one(
        "SELECT current_setting('is_superuser') = 'on' OR EXISTS(SELECT FROM pg_roles
             WHERE rolname = 'pg_checkpoint' AND pg_has_role(oid, 'usage'))",
        &[],
    );
    Running {
        remote: remote.clone(),
        process: postmaster(client),
        may_flush: may_flush.and_then(|row| row.try_get(0)).unwrap_or(false),
    }
}

/// Returns the server's first process (postmaster), the parent of this session's process, if it runs on this machine
/// and is visible. The process id could be one of another machine, so the title of the process must name this
/// session.
fn postmaster(client: &mut Client) -> Option<u32> {
    let sql = "SELECT pg_backend_pid(), coalesce(inet_client_port(), -1), current_user::text";
    let row = client.query_one(sql, &[]).ok()?;
    let (pid, port, user): (i32, i32, String) = (
        row.try_get(0).ok()?,
        row.try_get(1).ok()?,
        row.try_get(2).ok()?,
    );
    let came = match port {
        -1 => "[local]".to_owned(),
        _ => format!("({port})"),
    };
    let title = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let title = String::from_utf8_lossy(&title);
    let is_own = [NAME, &user, &came].iter().all(|word| title.contains(word));
    parent_of(pid.unsigned_abs()).filter(|_| is_own)
}
