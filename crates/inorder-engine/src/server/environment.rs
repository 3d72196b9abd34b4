//! The environment of server programs.
//!
//! Servers and the client libraries inside of them read variables that people set for their own servers: `PGPORT` decides
//! the name of a socket, `PGOPTIONS` reaches the connections of postgres_fdw, `MYSQL_UNIX_PORT` and `UMASK` change MariaDB's
//! files. A program gets only what every program needs.

use std::{env, process::Command};

/// Variables that a program gets, and beginnings of names of such variables: where programs, libraries and temporary files
/// are, the time zone, and settings of the C library and of tools that watch a process.
const KEPT: &[&str] = &["HOME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];
const KEPT_BEGINNINGS: &[&str] = &["ASAN_", "DYLD_", "LD_", "LLVM_PROFILE_", "MALLOC_"];

/// Gives a command a clean environment, and untranslated messages.
pub fn clean(command: &mut Command) {
    let is_kept = |name: &str| {
        KEPT.contains(&name) || KEPT_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    };
    let kept = env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept));
    command.env_clear().envs(kept).env("LC_ALL", "C");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables of libpq (its manual, "Environment Variables"), of PostgreSQL's server and initdb, of the MySQL and MariaDB
    /// client and server, and of Galera's scripts.
    const OF_SERVERS: &[&str] = &[
        "PGHOST",
        "PGSSLNEGOTIATION",
        "PGHOSTADDR",
        "PGPORT",
        "PGDATABASE",
        "PGUSER",
        "PGPASSWORD",
        "PGPASSFILE",
        "PGREQUIREAUTH",
        "PGCHANNELBINDING",
        "PGSERVICE",
        "PGSERVICEFILE",
        "PGOPTIONS",
        "PGAPPNAME",
        "PGSSLMODE",
        "PGREQUIRESSL",
        "PGSSLCOMPRESSION",
        "PGSSLCERT",
        "PGSSLKEY",
        "PGSSLCERTMODE",
        "PGSSLROOTCERT",
        "PGSSLCRL",
        "PGSSLCRLDIR",
        "PGSSLSNI",
        "PGREQUIREPEER",
        "PGSSLMINPROTOCOLVERSION",
        "PGSSLMAXPROTOCOLVERSION",
        "PGMINPROTOCOLVERSION",
        "PGMAXPROTOCOLVERSION",
        "PGGSSENCMODE",
        "PGKRBSRVNAME",
        "PGGSSLIB",
        "PGGSSDELEGATION",
        "PGCONNECT_TIMEOUT",
        "PGCLIENTENCODING",
        "PGTARGETSESSIONATTRS",
        "PGLOADBALANCEHOSTS",
        "PGDATESTYLE",
        "PGTZ",
        "PGGEQO",
        "PGSYSCONFDIR",
        "PGLOCALEDIR",
        "PGDATA",
        "PGCTLTIMEOUT",
        "PG_COLOR",
        "PG_COLORS",
        "PG_OOM_ADJUST_FILE",
        "MYSQL_HOST",
        "MYSQL_TCP_PORT",
        "MYSQL_UNIX_PORT",
        "MYSQL_PWD",
        "MYSQL_HOME",
        "MARIADB_HOME",
        "MYSQL_GROUP_SUFFIX",
        "MYSQL_PS1",
        "MYSQL_HISTFILE",
        "MYSQL_DEBUG",
        "MYSQL_TEST_LOGIN_FILE",
        "LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN",
        "LIBMYSQL_PLUGINS",
        "LIBMYSQL_PLUGIN_DIR",
        "MYSQLD_OPTS",
        "MARIADB_TLS_DISABLE_PEER_VERIFICATION",
        "UMASK",
        "UMASK_DIR",
        "WSREP_SST_OPT_PORT",
        "WSREP_START_POSITION",
        "LANG",
        "LC_MESSAGES",
        "LC_COLLATE",
        "LANGUAGE",
    ];

    #[test]
    fn no_variable_of_a_server_reaches_a_private_one() {
        let mut command = Command::new("/usr/bin/env");
        command.envs(OF_SERVERS.iter().map(|name| (name, "99")));
        clean(&mut command);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
            .collect();
        assert!(
            names.contains(&"PATH") && text.contains("LC_ALL=C\n"),
            "{text}"
        );
        for name in OF_SERVERS {
            assert!(!names.contains(name), "{name} in:\n{text}");
        }
    }
}
