//! Applies a dump to a private database. What defines no table may be refused.

use super::{
    collation::translate,
    script::{Statement, statements},
};
use crate::error::Error;
use inorder_engine::Database;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a refused statement that a message has.
const SHOWN: usize = 60;
/// Bytes of INSERT statements that are sent together.
const INSERTS_BYTES: usize = 1 << 20;
/// What CREATE and ALTER define besides tables, their types and indexes. Extensions and schemas are among them, because
/// a dump has also those that no table needs.
const BESIDES: &[&str] = &[
    "ACCESS",
    "AGGREGATE",
    "CAST",
    "CONVERSION",
    "DATABASE",
    "DEFAULT",
    "EVENT",
    "EXTENSION",
    "FOREIGN",
    "FUNCTION",
    "LANGUAGE",
    "MATERIALIZED",
    "OPERATOR",
    "PACKAGE",
    "POLICY",
    "PROCEDURE",
    "PUBLICATION",
    "ROLE",
    "RULE",
    "SCHEMA",
    "SERVER",
    "STATISTICS",
    "SUBSCRIPTION",
    "TEXT",
    "TRANSFORM",
    "TRIGGER",
    "USER",
    "VIEW",
];
/// Words before what CREATE defines.
const MODIFIERS: &[&str] = &[
    "OR",
    "REPLACE",
    "TEMP",
    "TEMPORARY",
    "UNLOGGED",
    "GLOBAL",
    "LOCAL",
    "UNIQUE",
    "CONSTRAINT",
    "RECURSIVE",
    "TRUSTED",
    "PROCEDURAL",
    "ALGORITHM",
    "UNDEFINED",
    "MERGE",
    "TEMPTABLE",
    "SQL",
    "SECURITY",
    "DEFINER",
    "INVOKER",
    "FULLTEXT",
    "SPATIAL",
];
/// Ends of the names of the tables in which SQLite's virtual tables store their rows.
const SHADOWS: &[&str] = &[
    "data", "idx", "content", "docsize", "config", "segments", "segdir", "stat", "node", "rowid",
    "parent",
];

/// What becomes of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It is not for a private database: transactions, locks and settings of a file.
    Passed,
    /// It sets the session for the statements after it.
    Session,
    /// It may be refused.
    Optional,
    /// It defines a table, or is unknown.
    Needed,
}

/// Applies the statements of a dump one by one. Returns what was left out, and why.
///
/// # Errors
/// If the engine refuses one that defines a table. The message names it.
pub fn apply(database: &dyn Database, engine: &str, dump: &str) -> Result<BTreeSet<String>, Error> {
    let mut refused: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut notes = BTreeSet::new();
    let mut session = String::new();
    for mut statement in kept(engine, dump, &mut notes) {
        translate(engine, &mut statement, &mut notes);
        let role = role(&statement);
        if role == Role::Passed {
            continue;
        }
        // Each call has a session of its own.
        let sql = format!("{session}{};\n", statement.sql);
        match database.execute(&sql) {
            Ok(()) if role == Role::Session => session = sql,
            Ok(()) if (statement.word(0), statement.word(1)) == ("CREATE", "SCHEMA") => {
                notes.insert(
                    "left out: tables of other schemas than public, if there are any".to_owned(),
                );
            }
            Ok(()) => {}
            Err(inorder_engine::Error::Database { message, .. }) if role == Role::Needed => {
                let shown: String = statement.sql.chars().take(SHOWN).collect();
                let before = told(engine, &refused);
                let before: Vec<&str> = before.iter().map(String::as_str).collect();
                let before = match before.is_empty() {
                    true => String::new(),
                    false => format!("; before that, {}", before.join("; ")),
                };
                return Err(Error::Usage(format!(
                    "{engine} refuses the DDL: {message} (in \"{}\"{before})",
                    shown.replace('\n', " ")
                )));
            }
            Err(inorder_engine::Error::Database { message, .. }) => {
                let (count, _) = refused.entry(label(&statement)).or_insert((0, message));
                *count += 1;
            }
            Err(other) => return Err(other.into()),
        }
    }
    notes.extend(told(engine, &refused));
    Ok(notes)
}

/// The refused statements, in words.
fn told(engine: &str, refused: &BTreeMap<String, (usize, String)>) -> Vec<String> {
    let told = refused.iter().map(|(label, (count, message))| {
        let times = if *count == 1 {
            String::new()
        } else {
            format!(" ({count} times)")
        };
        format!("left out: {label}{times}, which {engine} refuses: {message}")
    });
    told.collect()
}

/// The statements without SQLite's own tables and virtual tables. INSERT statements that follow each other are one.
fn kept(engine: &str, dump: &str, notes: &mut BTreeSet<String>) -> Vec<Statement> {
    let mut kept: Vec<Statement> = Vec::new();
    let mut virtuals: BTreeSet<String> = BTreeSet::new();
    for statement in statements(engine, dump) {
        let (is_table, name) = (statement.word(1) == "TABLE", named(&statement));
        let is_sqlite = engine == "sqlite" && statement.word(0) == "CREATE";
        if is_sqlite && statement.word(1) == "VIRTUAL" {
            notes.insert(format!("left out: the virtual table {name}"));
            virtuals.insert(name);
            continue;
        }
        let is_shadow = name
            .rsplit_once('_')
            .is_some_and(|(owner, end)| virtuals.contains(owner) && SHADOWS.contains(&end));
        if is_sqlite && is_table && (is_shadow || name.starts_with("sqlite_")) {
            if !is_shadow {
                notes.insert(format!("left out: the table {name}, which is SQLite's own"));
            }
            continue;
        }
        match kept.last_mut() {
            Some(last)
                if statement.word(0) == "INSERT"
                    && last.word(0) == "INSERT"
                    && last.sql.len() < INSERTS_BYTES =>
            {
                last.sql += ";\n";
                last.sql += &statement.sql;
            }
            _ => kept.push(statement),
        }
    }
    kept
}

/// The name of a table that a statement creates.
fn named(statement: &Statement) -> String {
    let mut at = 2 + usize::from(statement.word(1) == "VIRTUAL");
    if statement.word(at) == "IF" {
        at += 3;
    }
    statement.name(at)
}

/// What CREATE or ALTER is about.
fn object(statement: &Statement) -> &str {
    let mut words = statement.words.iter().skip(1).map(String::as_str);
    let object = words.find(|word| !MODIFIERS.contains(word));
    object.unwrap_or("")
}

fn role(statement: &Statement) -> Role {
    match statement.word(0) {
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "LOCK" | "UNLOCK" | "PRAGMA" => {
            Role::Passed
        }
        "SET" => Role::Session,
        "SELECT" if statement.words.iter().any(|word| word == "SET_CONFIG") => Role::Session,
        "CREATE" | "ALTER" if BESIDES.contains(&object(statement)) => Role::Optional,
        "ALTER" if is_owner(statement) || is_switch(statement) => Role::Optional,
        "SELECT" | "INSERT" | "COMMENT" | "GRANT" | "REVOKE" | "SECURITY" | "REFRESH" | "DROP"
        | "USE" | "DO" | "CALL" | "ANALYZE" => Role::Optional,
        _ => Role::Needed,
    }
}

/// Whether a statement changes an owner.
fn is_owner(statement: &Statement) -> bool {
    let mut pairs = statement.words.windows(2);
    pairs.any(|pair| pair == ["OWNER", "TO"])
}

/// Whether a statement enables or disables triggers, row security or keys of a table.
fn is_switch(statement: &Statement) -> bool {
    const SWITCHES: [&str; 4] = ["ENABLE", "DISABLE", "ALWAYS", "FORCE"];
    const SWITCHED: [&str; 4] = ["TRIGGER", "ROW", "RULE", "KEYS"];
    let mut pairs = statement.words.windows(2);
    pairs.any(|pair| SWITCHES.contains(&pair[0].as_str()) && SWITCHED.contains(&pair[1].as_str()))
}

/// What a statement is called where it is left out.
fn label(statement: &Statement) -> String {
    match statement.word(0) {
        "ALTER" if is_owner(statement) => "ALTER … OWNER TO".to_owned(),
        first @ ("CREATE" | "ALTER") => format!("{first} {}", object(statement)),
        first => first.to_owned(),
    }
}
