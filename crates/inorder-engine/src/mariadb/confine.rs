//! The database user for untrusted SQL. On a private server it has rights on the trial's database only. On a running
//! server it is the user of the URL, whose rights are checked first.

use crate::{
    Error,
    remote::{
        Remote,
        guest::{self, Standing},
    },
    server::Failure,
};
use mysql::{Conn, Error as Refusal, prelude::Queryable as _};

/// The user of a private server.
pub const USER: &str = "trial";

/// Columns that identify the user in every grant table.
const WHO: &str = "Host CHAR(255) NOT NULL DEFAULT '', Db CHAR(64) NOT NULL DEFAULT '',
    User CHAR(128) NOT NULL DEFAULT ''";

/// The rights on a database, in the order of the columns of `mysql.db`
/// (<https://mariadb.com/kb/en/mysqldb-table/>).
const RIGHTS: &[&str] = &[
    "Select",
    "Insert",
    "Update",
    "Delete",
    "Create",
    "Drop",
    "Grant",
    "References",
    "Index",
    "Alter",
    "Create_tmp_table",
    "Lock_tables",
    "Create_view",
    "Show_view",
    "Create_routine",
    "Alter_routine",
    "Execute",
    "Event",
    "Trigger",
    "Delete_history",
];

/// The right that is not granted.
const NOT_GIVEN: &str = "Grant";

/// Creates the grant tables, which the private server was not installed with, and grants the user all rights on one
/// database.
pub fn of_private(conn: &mut Conn, schema: &str) -> Result<(), Refusal> {
    // Each node of a cluster has its own; a server without Galera may lack the variable.
    let _ = conn.query_drop("SET SESSION wsrep_on = OFF");
    let made = make_rights(conn, schema);
    let _ = conn.query_drop("SET SESSION wsrep_on = ON");
    made
}

fn make_rights(conn: &mut Conn, schema: &str) -> Result<(), Refusal> {
    for sql in tables() {
        conn.query_drop(sql)?;
    }
    let native = |access: u64| {
        format!(
            "{{\"access\":{access},\"plugin\":\"mysql_native_password\",\"authentication_string\":\"\"}}"
        )
    };
    conn.query_drop(format!(
        "REPLACE INTO mysql.global_priv VALUES ('localhost', 'root', '{}'), ('localhost', '{USER}', '{}')",
        native(u64::MAX),
        native(0)
    ))?;
    let given = RIGHTS
        .iter()
        .map(|right| if *right == NOT_GIVEN { "'N'" } else { "'Y'" });
    let given: Vec<&str> = given.collect();
    conn.query_drop(format!(
        "REPLACE INTO mysql.db VALUES ('localhost', '{schema}', '{USER}', {})",
        given.join(", ")
    ))?;
    // From here on the server checks rights.
    conn.query_drop("FLUSH PRIVILEGES")
}

/// Returns the statements that create the grant tables, as far as the server needs them.
fn tables() -> Vec<String> {
    let set = "COLLATE utf8mb3_general_ci NOT NULL DEFAULT ''";
    let rights: String = RIGHTS
        .iter()
        .map(|right| {
            format!("{right}_priv ENUM('N','Y') COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N', ")
        })
        .collect();
    let of_columns = format!("Column_priv SET('Select','Insert','Update','References') {set}");
    let made = "Timestamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP";
    [
        "global_priv(Host CHAR(255) NOT NULL DEFAULT '', User CHAR(128) NOT NULL DEFAULT '',
             Priv LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '{}', PRIMARY KEY (Host, User))"
            .to_owned(),
        format!("db({WHO}, {rights}PRIMARY KEY (Host, Db, User))"),
        format!("tables_priv({WHO}, Table_name CHAR(64) NOT NULL DEFAULT '',
             Grantor VARCHAR(384) NOT NULL DEFAULT '', {made}, Table_priv SET('Select','Insert','Update','Delete',
             'Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger',
             'Delete versioning rows') {set}, {of_columns}, PRIMARY KEY (Host, Db, User, Table_name))"),
        format!("columns_priv({WHO}, Table_name CHAR(64) NOT NULL DEFAULT '',
             Column_name CHAR(64) NOT NULL DEFAULT '', {made}, {of_columns},
             PRIMARY KEY (Host, Db, User, Table_name, Column_name))"),
        "servers(Server_name CHAR(64) NOT NULL DEFAULT '' PRIMARY KEY, Host VARCHAR(2048) NOT NULL DEFAULT '',
             Db CHAR(64) NOT NULL DEFAULT '', Username CHAR(128) NOT NULL DEFAULT '',
             Password CHAR(64) NOT NULL DEFAULT '', Port INT NOT NULL DEFAULT 0, Socket CHAR(64) NOT NULL DEFAULT '',
             Wrapper CHAR(64) NOT NULL DEFAULT '', Owner VARCHAR(512) NOT NULL DEFAULT '')"
            .to_owned(),
    ]
    .map(|table| {
        format!(
            "CREATE TABLE IF NOT EXISTS mysql.{table}
             ENGINE=Aria CHARACTER SET utf8mb3 COLLATE utf8mb3_bin"
        )
    })
    .into()
}

/// Databases that every user may see.
const OF_THE_SERVER: [&str; 2] = ["information_schema", "performance_schema"];

/// Returns an error for a user of a URL who has rights on databases that `inorder` did not create, by a grant
/// (<https://mariadb.com/kb/en/show-grants/>) or because a database of another name matches the pattern of the grant.
/// A user sees the databases that it has any right on (<https://mariadb.com/kb/en/show-databases/>).
pub fn of_url(remote: &Remote, conn: &mut Conn) -> Result<(), Error> {
    let mut ask = |sql| -> Result<Vec<String>, Error> {
        conn.query(sql)
            .map_err(|error| remote.url.error(Failure::from(error).message))
    };
    let refused = |what: String| {
        Err(remote.url.error(format!(
            "an experiment with its own SQL needs a user without rights elsewhere; this user has {what}. Create another: \
             CREATE USER bench …; GRANT ALL ON `inorder\\_%`.* TO bench"
        )))
    };
    if let Some(grant) = ask("SHOW GRANTS")?.iter().find(|grant| !is_narrow(grant)) {
        let told = grant.split(" IDENTIFIED").next().unwrap_or(grant);
        return refused(told.to_owned());
    }
    let is_foreign = |name: &&String| {
        let is_of_server = OF_THE_SERVER
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name));
        !is_of_server && guest::standing(name) == Standing::Foreign
    };
    match ask("SHOW DATABASES")?.iter().find(is_foreign) {
        Some(name) => refused(format!(
            "rights on the database `{name}`, which inorder did not create"
        )),
        None => Ok(()),
    }
}

/// Returns whether a grant is limited to databases of `inorder`, or to none: its name is one of their names, or a
/// pattern with their common prefix.
fn is_narrow(grant: &str) -> bool {
    let on = grant.split_once(" ON `").map_or("", |(_, on)| on);
    let name = on.split_once("`.* ").map_or("", |(name, _)| name);
    let is_pattern = name.starts_with("inorder\\_") && name.ends_with('%');
    let is_guest = || guest::standing(&name.replace('\\', "")) != Standing::Foreign;
    grant.starts_with("GRANT USAGE ON *.* ") || is_pattern || is_guest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_grants_of_inorders_databases_are_narrow() {
        for grant in [
            "GRANT USAGE ON *.* TO `bench`@`%` IDENTIFIED BY PASSWORD '*5'",
            "GRANT ALL PRIVILEGES ON `inorder\\_%`.* TO `bench`@`%`",
        ] {
            assert!(is_narrow(grant), "{grant}");
        }
        for grant in [
            "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION",
            "GRANT FILE ON *.* TO `bench`@`%`",
            "GRANT SELECT ON `shop`.* TO `bench`@`%`",
            "GRANT SELECT ON `shop`.`inorder_` TO `bench`@`%`",
            "GRANT SELECT ON `inorder\\_shop`.* TO `bench`@`%`",
            "GRANT SELECT ON `inorder_%`.* TO `bench`@`%`",
            "GRANT SELECT ON `inorder\\_%`.`shop` TO `bench`@`%`",
            "GRANT `admin` TO `bench`@`%`",
        ] {
            assert!(!is_narrow(grant), "{grant}");
        }
    }
}
