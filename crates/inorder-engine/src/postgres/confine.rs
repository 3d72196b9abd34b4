//! The role for untrusted SQL. On a private server it has rights on its own tables only. On a running server it is
//! the role of the URL, whose rights are checked first.

use super::session::Address;
use crate::{Error, Settings, remote::Remote, server::Failure};
use postgres::Client;

/// The role of a private server.
pub const ROLE: &str = "trial";
/// The database of a private server.
pub const DATABASE: &str = "postgres";

/// Checks of a role from a URL. Each is a query for a right beyond its own schema (`$1`), and the message for it. The
/// roles that can access files or programs are in <https://www.postgresql.org/docs/15/predefined-roles.html>. The
/// checks include the rights of every role that it is a member of, because SET ROLE gives these rights also to a role
/// without INHERIT.
const TOO_MUCH: &[(&str, &str)] = &[
    (
        "SELECT rolname::text FROM pg_roles WHERE pg_has_role(oid, 'member') AND (rolsuper OR rolcreaterole OR rolreplication OR rolbypassrls) AND $1 <> ''",
        "it is, or is a member of, a role with SUPERUSER, CREATEROLE, REPLICATION or BYPASSRLS",
    ),
    (
        "SELECT rolname::text FROM pg_roles WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files',
             'pg_execute_server_program', 'pg_read_all_data', 'pg_write_all_data', 'pg_signal_backend')
             AND pg_has_role(oid, 'member') AND $1 <> ''",
        "it is a member of",
    ),
    (
        "SELECT nspname::text FROM pg_namespace JOIN pg_roles AS role ON pg_has_role(role.oid, 'member')
             WHERE nspname <> $1 AND nspname !~ '^pg_' AND nspname <> 'information_schema'
             AND (nspowner = role.oid OR has_schema_privilege(role.oid, pg_namespace.oid, 'CREATE'))",
        "it may create in the schema",
    ),
    (
        "SELECT class.oid::regclass::text FROM pg_class AS class
             JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
             JOIN pg_roles AS role ON pg_has_role(role.oid, 'member')
             WHERE nspname <> $1 AND nspname !~ '^pg_' AND nspname <> 'information_schema'
             AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND (relowner = role.oid
             OR has_table_privilege(role.oid, class.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
             OR has_any_column_privilege(role.oid, class.oid, 'SELECT, INSERT, UPDATE'))",
        "it may read or change the table or sequence",
    ),
    // <https://www.postgresql.org/docs/15/sql-createfunction.html>, SECURITY DEFINER.
    (
        "SELECT proc.oid::regprocedure::text FROM pg_proc AS proc
             JOIN pg_namespace AS namespace ON namespace.oid = pronamespace
             JOIN pg_roles AS role ON pg_has_role(role.oid, 'member')
             WHERE prosecdef AND nspname <> $1 AND nspname !~ '^pg_' AND nspname <> 'information_schema'
             AND NOT pg_has_role(proowner, 'member')
             AND has_schema_privilege(role.oid, namespace.oid, 'USAGE')
             AND has_function_privilege(role.oid, proc.oid, 'EXECUTE')",
        "it may call the function, which runs with its owner's rights (SECURITY DEFINER)",
    ),
];

/// Creates the role, and returns the connection options for it. It needs no password, because the server is private. It
/// may create schemas, and the extensions that PostgreSQL trusts to any user with this right.
pub fn of_private(
    client: &mut Client,
    address: &Address,
    settings: &Settings,
) -> Result<Address, postgres::Error> {
    client.batch_execute(&format!(
        "CREATE ROLE {ROLE} LOGIN; GRANT CREATE, USAGE ON SCHEMA public TO {ROLE};
         GRANT CREATE ON DATABASE {DATABASE} TO {ROLE};
         GRANT pg_stat_scan_tables TO {ROLE}"
    ))?;
    if !settings.foreign_keys {
        client.batch_execute(&format!(
            "ALTER ROLE {ROLE} SET session_replication_role = replica"
        ))?;
    }
    // This connection calls only built-in functions, whatever functions the role creates.
    client.batch_execute("SET search_path TO pg_catalog")?;
    let mut target = address.target.clone();
    target.config.user(ROLE);
    Ok(Address {
        target,
        schema: None,
        has_replica_role: !settings.foreign_keys,
    })
}

/// Returns an error for a role from a URL that has rights beyond its own schema.
pub fn of_url(remote: &Remote, client: &mut Client, schema: &str) -> Result<(), Error> {
    for (sql, what) in TOO_MUCH {
        let found = client
            .query_opt(&format!("{sql} LIMIT 1"), &[&schema])
            .map_err(|error| remote.url.error(Failure::from(error).message))?;
        if let Some(row) = found {
            let name: String = row.get(0);
            return Err(remote.url.error(format!(
                "an experiment with its own SQL needs a role without rights elsewhere: {what} ({name}). Create another: \
                 CREATE ROLE bench LOGIN PASSWORD '…'; GRANT CREATE ON DATABASE … TO bench"
            )));
        }
    }
    Ok(())
}

/// Returns the settings that roles and databases apply to new sessions, in words. A statement that changes them would
/// change how later rows are written.
pub fn session_defaults(client: &mut Client) -> Result<Vec<String>, postgres::Error> {
    let sql =
        "SELECT concat_ws(' ', setdatabase, setrole, setconfig) FROM pg_db_role_setting ORDER BY 1";
    client
        .query(sql, &[])?
        .iter()
        .map(|row| row.try_get(0))
        .collect()
}
