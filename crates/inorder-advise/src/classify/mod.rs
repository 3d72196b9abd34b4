//! What each column of ids is: a key that is made here, a reference, a secret, a digest, or an id that others make.
//!
//! The decision is a function of facts, the same for all engines. Each engine's reader finds the facts: names, keys, defaults,
//! and what values say. Only a key that is made here may get another kind of ids for new rows. What the facts leave open is
//! asked: the report prints the line of `advise.toml` that settles it.

mod decide;
mod default;
mod names;
mod settled;
mod sketch;
#[cfg(test)]
mod tests;

pub use default::{Made, NewIds, made_by, place_of_new};
pub use names::Vocabulary;
pub use settled::{FILE, Settled};
pub use sketch::{Contained, Holder, Sketch, find_contained};

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a column of ids is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdRole {
    /// A key whose ids are made for the rows of this table.
    Key,
    /// Ids of another table's rows.
    Reference,
    /// A value that grants access.
    Secret,
    /// A value that other values decide: a hash, a checksum.
    Digest,
    /// An id that another system makes.
    External,
}

/// What is known of a column of ids.
#[derive(Debug, Clone, Default)]
pub struct IdFacts<'a> {
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// Whether it is the primary key.
    pub is_primary: bool,
    /// Whether it begins a primary key of several columns.
    pub begins_primary: bool,
    /// Whether it has a UNIQUE key of its own.
    pub is_unique: bool,
    /// What its foreign key refers to, such as `users(id)`.
    pub refers_to: Option<String>,
    /// Foreign keys of other tables that refer to it.
    pub referenced_by: usize,
    /// Keys that have its values.
    pub contained: Vec<Contained>,
    /// Rows with a value, and different values, if values repeat.
    pub repeats: Option<(u64, u64)>,
    /// Who makes the ids of new rows, by the default.
    pub made: Option<Made>,
    /// Digits or bytes of the values, where they are as many as a digest has and no UUID.
    pub digest: Option<String>,
    /// Another column of the table that is a secret or a digest by its name.
    pub beside: Option<String>,
    /// Whether its ids are numbers: those of all tables are alike, and no other kind is proposed for them.
    pub is_number: bool,
    /// What `advise.toml` says.
    pub settled: Option<IdRole>,
}

/// What a column was found to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IdClass {
    /// What it is, or what it is taken for.
    pub role: IdRole,
    /// What says so.
    pub evidence: Vec<String>,
    /// What it may be besides; empty where that is no question.
    pub or: Vec<IdRole>,
}

impl IdRole {
    /// Every class.
    pub const ALL: [IdRole; 5] = [
        IdRole::Key,
        IdRole::Reference,
        IdRole::Secret,
        IdRole::Digest,
        IdRole::External,
    ];

    /// The name in `advise.toml`.
    pub fn name(self) -> &'static str {
        match self {
            IdRole::Key => "key",
            IdRole::Reference => "reference",
            IdRole::Secret => "secret",
            IdRole::Digest => "digest",
            IdRole::External => "external",
        }
    }

    /// In the words of a report.
    fn words(self) -> &'static str {
        match self {
            IdRole::Key => "key made here",
            IdRole::External => "external id",
            other => other.name(),
        }
    }
}

impl fmt::Display for IdRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words())
    }
}

impl IdClass {
    /// Finds what a column is.
    pub fn of(facts: &IdFacts<'_>, vocabulary: &Vocabulary) -> Self {
        decide::decide(facts, vocabulary)
    }

    /// Whether new rows may get ids of another kind.
    pub fn may_change(&self) -> bool {
        self.role == IdRole::Key && self.or.is_empty()
    }

    /// Whether the facts leave the class open.
    pub fn is_open(&self) -> bool {
        !self.or.is_empty()
    }

    /// The class and its evidence, or the classes that are possible.
    pub fn in_words(&self) -> String {
        let evidence = self.evidence.join(", ");
        match self.is_open() {
            true => format!("{} ({evidence})", self.possible()),
            false => format!("{} ({evidence})", self.role),
        }
    }

    /// The classes that are possible.
    fn possible(&self) -> String {
        let words = self.or.iter().map(|role| role.to_string());
        format!(
            "in doubt: {} or {}",
            self.role,
            words.collect::<Vec<_>>().join(" or ")
        )
    }

    /// The line of `advise.toml` that settles the class of a column.
    pub fn line(&self, column: &str) -> Option<String> {
        let others = self.or.iter().map(|role| format!("\"{}\"", role.name()));
        let others: Vec<String> = others.collect();
        self.is_open().then(|| {
            format!(
                "{} = \"{}\"  # or {}: {}",
                settled::quoted(column),
                self.role.name(),
                others.join(", "),
                self.evidence.join(", ")
            )
        })
    }

    /// Why ids of another kind are not proposed for new rows.
    pub fn refusal(&self) -> Option<String> {
        let evidence = self.evidence.join(", ");
        Some(match self.role {
            _ if self.is_open() => format!("{} ({evidence}): {FILE} settles it", self.possible()),
            IdRole::Key => return None,
            IdRole::Reference => format!("a reference ({evidence}): its ids are made elsewhere"),
            IdRole::Secret => format!(
                "a secret ({evidence}): it must stay random, and a UUIDv7 tells its time and has less random bits"
            ),
            IdRole::Digest => format!("a digest ({evidence}): other values decide it"),
            IdRole::External => format!("an external id ({evidence}): another system makes it"),
        })
    }
}
