//! `inorder-watch user`: people, from the command line.

use crate::{
    db::{Database, links, users},
    password,
    secret::Secret,
    text,
};
use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use std::{
    io::{BufRead, IsTerminal, stdin},
    path::Path,
};

/// Add people, list them, or let them choose another password
#[derive(Subcommand)]
pub enum User {
    /// Add somebody, and print the link where they choose their password
    ///
    /// With --password-stdin the password is read instead, one line, and there is no link.
    Add(Add),
    /// Print a link, good once and for a day, where somebody chooses another password
    ///
    /// The old password, all sessions and all tokens end at once.
    Reset(Link),
    /// Print everybody with the number of films on their lists
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    link: Link,
    /// Read the password from the standard input
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Args)]
pub struct Link {
    /// What they are called
    name: String,
    /// Where people reach the server
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
        println!("{}/reset/{secret}", self.url.trim_end_matches('/'));
        Ok(())
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
                let database = super::open(db)?;
                let user = database
                    .read(|db| users::by_name(db, &link.name))
                    .with_context(|| format!("nobody is called {}", link.name))?;
                link.print(&database, &user)
            }
            User::List { json } => list(&super::open(db)?, *json),
        }
    }
}

impl Add {
    fn run(&self, database: &Database) -> anyhow::Result<()> {
        let hash = self.password_stdin.then(read_password).transpose()?;
        let has_password = hash.is_some();
        let name = self.link.name.clone();
        let user = database.write_now(move |db| users::add(db, &name, hash.as_deref()))?;
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
    let users = database.read(users::all)?;
    for (user, films) in users {
        let signed_up = crate::date::day(user.id.ms());
        if json {
            let (name, owner) = (user.name, user.is_owner);
            println!(
                "{}",
                serde_json::json!({"name": name, "owner": owner, "signed_up": signed_up, "films": films})
            );
        } else {
            let owner = if user.is_owner { "  owner" } else { "" };
            let name = text::isolated(&user.name);
            println!("{name:30}  {signed_up}  {films:6} films{owner}");
        }
    }
    Ok(())
}
