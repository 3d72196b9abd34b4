//! `inorder-watch user`: people, from the command line.

use super::open::open;
use crate::{
    db::{
        Database, links,
        overview::{self, Account},
        users,
    },
    password,
    secret::Secret,
    text,
};
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use std::{
    io::{BufRead, IsTerminal, Write as _, stdin, stdout},
    path::Path,
};

/// Add users, list them, or reset their passwords
#[derive(Subcommand)]
pub enum User {
    /// Add a user, and print a link where they choose their password
    ///
    /// With --password-stdin the command reads the password from stdin and prints no link.
    Add(Add),
    /// Print a link where a user chooses a new password. It works once, for 24 hours
    ///
    /// The old password, all sessions, all tokens and all known browsers end at once.
    Reset(Link),
    /// Print the users with the number of films on their lists
    List {
        /// Print the users as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    link: Link,
    /// Read the password from the first line of stdin
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Args)]
pub struct Link {
    /// The user's name
    name: String,
    /// The address of the site, for the link
    #[arg(
        long,
        env = "INORDER_WATCH_URL",
        default_value = "http://127.0.0.1:8080"
    )]
    url: String,
}

impl Link {
    /// Makes and prints the link.
    fn print(&self, database: &Database, user: &users::User) -> anyhow::Result<()> {
        let (secret, number) = (Secret::new(), user.number);
        database.write_now(move |db| links::reset(db, number, secret))?;
        eprintln!(
            "{} chooses a password here, within {} hours:",
            text::isolated(&user.name),
            links::RESET_HOURS
        );
        let url = self.url.trim_end_matches('/');
        Ok(writeln!(stdout(), "{url}/reset/{secret}")?)
    }
}

impl User {
    pub fn run(&self, db: &Path) -> anyhow::Result<()> {
        match self {
            User::Add(add) => {
                let database = Database::open(db).with_context(|| format!("{}", db.display()))?;
                add.run(&database)
            }
            User::Reset(link) => {
                let database = open(db)?;
                let user = database
                    .read(|db| users::by_name(db, &link.name))
                    .with_context(|| format!("there is no user {}", link.name))?;
                link.print(&database, &user)
            }
            User::List { json } => list(&open(db)?, *json),
        }
    }
}

impl Add {
    fn run(&self, database: &Database) -> anyhow::Result<()> {
        let hash = self.password_stdin.then(read_password).transpose()?;
        let has_password = hash.is_some();
        let name = self.link.name.clone();
        let user = database.write_now(move |db| users::sign_up(db, &name, hash.as_deref()))?;
        if user.is_owner {
            eprintln!(
                "{} is the first, and owns the server",
                text::isolated(&user.name)
            );
        }
        match has_password {
            true => Ok(()),
            false => self.link.print(database, &user),
        }
    }
}

/// The hash of the password on the standard input.
fn read_password() -> anyhow::Result<String> {
    ensure!(
        !stdin().is_terminal(),
        "a terminal would show the password: pipe it in"
    );
    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    let password = line.trim_end_matches(['\r', '\n']);
    password::check(password)?;
    Ok(password::hash(password)?)
}

fn list(database: &Database, json: bool) -> anyhow::Result<()> {
    let mut stdout = stdout().lock();
    for Account { user, films, .. } in database.read(overview::all)? {
        let signed_up = crate::date::day(user.id.ms());
        if json {
            let (name, owner) = (user.name, user.is_owner);
            let line = serde_json::json!({"name": name, "owner": owner, "signed_up": signed_up, "films": films});
            writeln!(stdout, "{line}")?;
        } else {
            let owner = if user.is_owner { "  owner" } else { "" };
            let name = text::isolated(&user.name);
            writeln!(stdout, "{name:30}  {signed_up}  {films:6} films{owner}")?;
        }
    }
    Ok(())
}
