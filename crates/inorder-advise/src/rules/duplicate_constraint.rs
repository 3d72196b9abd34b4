//! A foreign key or a CHECK that is declared twice: each is checked for every row. The declaration is the application's to
//! change: no other thing of the file does.

use super::{Candidate, Class, Group};
use crate::{
    ddl::{Token, mentions, tokens},
    read::{Database, ForeignKey, Table},
    sql::{depth_of, normalized},
};

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    tables
        .flat_map(|table| {
            let mut found = foreign_keys(database, table);
            found.extend(checks(table));
            found
        })
        .collect()
}

fn candidate(table: &Table, object: String, reason: &str) -> Candidate {
    Candidate {
        rule: "",
        group: Group::DuplicateConstraint,
        class: Class::App,
        table: table.name.clone(),
        object,
        changes: Vec::new(),
        reason: reason.into(),
        notes: vec![
            "Nothing but the CREATE statement has it: whoever makes the schema takes one out."
                .into(),
        ],
    }
}

fn foreign_keys(database: &Database, table: &Table) -> Vec<Candidate> {
    // Which of them is deferred, no pragma tells.
    if mentions(&table.sql, "deferrable") {
        return Vec::new();
    }
    let pairs = |key: &ForeignKey| {
        let lower = |names: &[String]| -> Vec<String> {
            names.iter().map(|name| name.to_ascii_lowercase()).collect()
        };
        let own = lower(&key.columns).into_iter();
        let mut pairs: Vec<_> = own.zip(lower(&database.parent_columns(key))).collect();
        pairs.sort();
        (
            key.parent.to_ascii_lowercase(),
            pairs,
            key.on_delete.clone(),
            key.on_update.clone(),
        )
    };
    let all: Vec<_> = table.foreign_keys.iter().map(pairs).collect();
    let repeated = (0..all.len()).filter(|&at| all[..at].contains(&all[at]));
    repeated
        .map(|at| {
            let key = &table.foreign_keys[at];
            let columns = key.columns.join(", ");
            let object = format!("FOREIGN KEY({columns}) of {}", table.name);
            candidate(table, object, "declared twice: each row is looked up twice")
        })
        .collect()
}

fn checks(table: &Table) -> Vec<Candidate> {
    let words = tokens(&table.sql);
    let mut seen: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for at in 0..words.len() {
        if !words[at].is("CHECK") {
            continue;
        }
        let Some(expression) = in_parentheses(&words[at + 1..]) else {
            continue;
        };
        let text = normalized(expression);
        if seen.contains(&text) {
            let object = format!("CHECK({text}) of {}", table.name);
            found.push(candidate(
                table,
                object,
                "declared twice: each row is checked twice",
            ));
        } else {
            seen.push(text);
        }
    }
    found
}

/// The words in the parentheses that words begin with.
fn in_parentheses<'t, 's>(words: &'t [Token<'s>]) -> Option<&'t [Token<'s>]> {
    if !words.first()?.is_symbol("(") {
        return None;
    }
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        depth += depth_of(word);
        if depth == 0 {
            return Some(&words[1..at]);
        }
    }
    None
}
