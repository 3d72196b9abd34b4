//! What could be changed: one rule per file, one line per rule in [`RULES`].
//!
//! A rule sees what was read and measures nothing. It proposes changes, and names those that it rejects with the
//! reason. What a proposal gives is for the trial to say, and whether it is worth making for the advice.

mod autoincrement;
mod counter;
mod duplicate_constraint;
mod ids_to_blobs;
mod implied_unique;
mod integer_key;
mod lost_ids;
mod null_index;
mod one_value;
mod page_size;
mod random_ids;
mod redundant_index;
mod reliance;
mod rowid;
mod shared;
mod unique_key;
mod without_rowid;

pub(crate) use counter::counters;
pub(crate) use shared::title;

use crate::{Change, read::Database};
use serde::Serialize;

/// A rule: what it is for and how it finds candidates.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Finds candidates in what was read.
    pub find: fn(&Database) -> Vec<Candidate>,
}

/// Every rule. Where two want the same object, the earlier has it.
pub const RULES: &[Rule] = &[
    Rule {
        name: "lost-ids",
        find: lost_ids::find,
    },
    Rule {
        name: "redundant-index",
        find: redundant_index::find,
    },
    Rule {
        name: "implied-unique",
        find: implied_unique::find,
    },
    Rule {
        name: "duplicate-constraint",
        find: duplicate_constraint::find,
    },
    Rule {
        name: "null-index",
        find: null_index::find,
    },
    Rule {
        name: "one-value",
        find: one_value::find,
    },
    Rule {
        name: "integer-key",
        find: integer_key::find,
    },
    Rule {
        name: "unique-key",
        find: unique_key::find,
    },
    Rule {
        name: "autoincrement",
        find: autoincrement::find,
    },
    Rule {
        name: "integer-range",
        find: counter::find,
    },
    Rule {
        name: "without-rowid",
        find: without_rowid::find,
    },
    Rule {
        name: "rowid",
        find: rowid::find,
    },
    Rule {
        name: "ids-to-blobs",
        find: ids_to_blobs::find,
    },
    Rule {
        name: "random-ids",
        find: random_ids::find,
    },
    Rule {
        name: "page-size",
        find: page_size::find,
    },
];

/// Candidates of one group are one kind of action: the threshold applies to each, or to all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Values that were changed when they were stored.
    LostIds,
    /// Indexes that another index replaces.
    RedundantIndex,
    /// Indexes that begin with a unique key.
    UniquePrefix,
    /// UNIQUE constraints that begin with a unique key.
    ImpliedUnique,
    /// Foreign keys and CHECKs that are declared twice.
    DuplicateConstraint,
    /// Indexes over a column that is always NULL.
    NullIndex,
    /// Indexes of which the file doesn't say whether they are used.
    OneValue,
    /// Integer keys that are not the rowid.
    IntegerKey,
    /// Counters that come to their end.
    IntegerRange,
    /// Tables that would be stored by their key.
    WithoutRowid,
    /// Tables that would be stored by rowid.
    Rowid,
    /// Ids that would be blobs.
    IdsToBlobs,
    /// Random ids for new rows.
    RandomIds,
    /// The page size.
    PageSize,
}

/// Whether a proposal can be made without the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The application doesn't notice, but for what the notes say.
    Safe,
    /// The application must change with it.
    App,
    /// It must not be made.
    Rejected,
    /// Data was lost already.
    Lost,
}

/// A change that a rule proposes or rejects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The rule.
    pub rule: &'static str,
    /// Its kind of action.
    pub group: Group,
    /// Whether it can be made.
    pub class: Class,
    /// The table; empty for the whole file.
    pub table: String,
    /// What it is about: an index, a column, a table.
    pub object: String,
    /// The changes, none where the file itself stays.
    pub changes: Vec<Change>,
    /// Why it is proposed or rejected.
    pub reason: String,
    /// What else to know: what breaks, what is kept.
    pub notes: Vec<String>,
}

/// Runs every rule. Of two candidates for one object and action, the first stays.
pub fn find(database: &Database) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for rule in RULES {
        for candidate in (rule.find)(database) {
            let is_taken = found.iter().any(|earlier| earlier.takes(&candidate));
            if !is_taken {
                found.push(Candidate {
                    rule: rule.name,
                    ..candidate
                });
            }
        }
    }
    found
}

impl Candidate {
    /// Tells whether this candidate settles what the other one is about: indexes are changed once.
    fn takes(&self, other: &Candidate) -> bool {
        let about_indexes = [
            Group::RedundantIndex,
            Group::UniquePrefix,
            Group::ImpliedUnique,
            Group::NullIndex,
            Group::OneValue,
        ];
        about_indexes.contains(&self.group)
            && about_indexes.contains(&other.group)
            && self.table == other.table
            && self.object == other.object
            && (self.class != Class::Rejected || other.class == Class::Rejected)
    }

    /// Rejects a proposal for a reason.
    fn rejected(mut self, reason: impl Into<String>) -> Self {
        self.class = Class::Rejected;
        self.reason = reason.into();
        self
    }
}
