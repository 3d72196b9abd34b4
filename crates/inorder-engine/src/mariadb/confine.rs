//! The user that SQL of somebody else runs as: on a private server one with rights on the trial's database
//! alone, on a server that runs already the URL's own, whose rights are looked at first.

use crate::{Error, remote::Remote, server::Failure};
use mysql::{Conn, Error as Refusal, prelude::Queryable as _};

/// The user of a private server.
pub const USER: &str = "trial";

/// Who a right belongs to, in every table of rights.
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

/// The one that isn't given.
const NOT_GIVEN: &str = "Grant";

/// Makes the tables that rights are kept in, which the server wasn't installed with, and gives the user
/// all rights on one database.
pub fn of_private(conn: &mut Conn, schema: &str) -> Result<(), Refusal> {
    // Each node of a cluster has its own; a server without Galera may not know the variable.
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
    // From here on rights are checked.
    conn.query_drop("FLUSH PRIVILEGES")
}

/// The statements that make the tables of rights, as far as the server asks for them.
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

/// Refuses a user by URL who has rights on more than databases of inorder's.
pub fn of_url(remote: &Remote, conn: &mut Conn) -> Result<(), Error> {
    let grants: Vec<String> = conn
        .query("SHOW GRANTS")
        .map_err(|error| remote.url.error(Failure::from(error).message))?;
    match grants.iter().find(|grant| !is_narrow(grant)) {
        None => Ok(()),
        Some(grant) => {
            let told = grant.split(" IDENTIFIED").next().unwrap_or(grant);
            Err(remote.url.error(format!(
                "an experiment with SQL of its own needs a user without rights elsewhere, this one has: {told}; make one: \
                 CREATE USER bench …; GRANT ALL ON `inorder\\_%`.* TO bench"
            )))
        }
    }
}

/// Whether a grant is of databases of inorder's alone, or of none.
fn is_narrow(grant: &str) -> bool {
    let on = grant.split_once(" ON ").map_or("", |(_, on)| on);
    grant.starts_with("GRANT USAGE ON *.* ")
        || on.starts_with("`inorder\\_")
        || on.starts_with("`inorder_")
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
            "GRANT `admin` TO `bench`@`%`",
        ] {
            assert!(!is_narrow(grant), "{grant}");
        }
    }
}
