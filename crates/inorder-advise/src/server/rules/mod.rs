//! What could be changed in a server's database: one rule per file, one line per rule in [`RULES`].
//!
//! A rule sees what was read and measures nothing. It proposes changes, and names those that it rejects with the
//! reason.

mod bigint;
mod bloat;
mod duplicate_constraint;
mod implied_unique;
mod integer_range;
mod invalid_index;
mod native_uuid;
mod null_index;
mod ordered_uuid;
mod redundant_index;
mod shared;
mod unique_twice;
mod unused_index;

pub use super::model::shown;

use super::{
    counters::ServerCounter,
    ids::IdColumn,
    model::{ColumnTo, Database, Index, Product, Table},
};
use crate::rules::Class;
use serde::Serialize;
use std::fmt;

/// A rule: what it is for and how it finds candidates.
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The products that it speaks for.
    pub products: &'static [Product],
    /// Finds candidates in what was read.
    pub find: fn(&Facts<'_>) -> Vec<Candidate>,
}

/// Every product.
const ALL: &[Product] = &[Product::Postgres, Product::Mariadb];

/// Every rule. Where two want the same object, the earlier has it.
pub const RULES: &[Rule] = &[
    Rule {
        name: "invalid-index",
        products: &[Product::Postgres],
        find: invalid_index::find,
    },
    Rule {
        name: "redundant-index",
        products: ALL,
        find: redundant_index::find,
    },
    Rule {
        name: "unique-twice",
        products: &[Product::Postgres],
        find: unique_twice::find,
    },
    Rule {
        name: "implied-unique",
        products: ALL,
        find: implied_unique::find,
    },
    Rule {
        name: "duplicate-constraint",
        products: ALL,
        find: duplicate_constraint::find,
    },
    Rule {
        name: "null-index",
        products: &[Product::Postgres],
        find: null_index::find,
    },
    Rule {
        name: "native-uuid",
        products: ALL,
        find: native_uuid::find,
    },
    Rule {
        name: "ordered-uuid",
        products: ALL,
        find: ordered_uuid::find,
    },
    Rule {
        name: "bigint",
        products: ALL,
        find: bigint::find,
    },
    Rule {
        name: "integer-range",
        products: ALL,
        find: integer_range::find,
    },
    Rule {
        name: "bloat",
        products: ALL,
        find: bloat::find,
    },
    Rule {
        name: "unused-index",
        products: ALL,
        find: unused_index::find,
    },
];

/// What the rules see.
pub struct Facts<'a> {
    /// What was read.
    pub database: &'a Database,
    /// The columns of ids.
    pub ids: &'a [IdColumn],
    /// The counters.
    pub counters: &'a [ServerCounter],
}

/// Candidates of one group are one kind of action: the threshold applies to each, or to all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Indexes whose build failed.
    InvalidIndex,
    /// Indexes that another index replaces.
    RedundantIndex,
    /// UNIQUE constraints on the columns of another key.
    UniqueTwice,
    /// Indexes and UNIQUE constraints that begin with a unique key.
    ImpliedUnique,
    /// Foreign keys and CHECKs that are declared twice.
    DuplicateConstraint,
    /// Indexes over a column that is always NULL.
    NullIndex,
    /// UUIDs that are stored as text.
    NativeUuid,
    /// Hashes and tokens that are stored as hexadecimal digits.
    BinaryHash,
    /// Random ids for new rows.
    OrderedUuid,
    /// Keys that could be counted numbers.
    Bigint,
    /// Counters that come to their end: integer keys, references to them, sequences.
    IntegerRange,
    /// Space that holds no rows.
    Bloat,
    /// Indexes without a scan.
    UnusedIndex,
}

/// A column by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ColumnName {
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
}

/// One change of a server's schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Action {
    /// Drops an index that no constraint needs.
    DropIndex {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The index.
        index: String,
    },
    /// Drops a UNIQUE constraint with its index.
    DropConstraint {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The constraint.
        constraint: String,
        /// Its index.
        index: String,
    },
    /// Drops a foreign key.
    DropForeignKey {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The constraint.
        constraint: String,
    },
    /// Drops a CHECK constraint.
    DropCheck {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The constraint.
        constraint: String,
    },
    /// Gives an index the condition `column IS NOT NULL`.
    PartialIndex {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The index.
        index: String,
        /// The column.
        column: String,
    },
    /// Builds an invalid index again.
    Reindex {
        /// The schema.
        schema: String,
        /// The table.
        table: String,
        /// The index.
        index: String,
    },
    /// Gives an index of a partitioned table the parts that it lacks.
    AttachIndexes {
        /// The schema.
        schema: String,
        /// The partitioned table.
        table: String,
        /// Its index.
        index: String,
    },
    /// Gives columns that hold the same ids another type, together.
    Convert {
        /// The columns.
        columns: Vec<ColumnName>,
        /// Their new type.
        to: ColumnTo,
    },
    /// New rows get UUIDv7. Nothing that is there changes.
    OrderedUuid {
        /// The column.
        column: ColumnName,
    },
    /// Gives integer columns that hold the same ids the type bigint.
    Widen {
        /// The columns.
        columns: Vec<ColumnName>,
    },
    /// Gives a sequence the type of the column that it counts.
    WidenSequence {
        /// The schema.
        schema: String,
        /// The sequence.
        sequence: String,
        /// Its new type.
        to: String,
    },
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
    /// Schema and table, such as `public.orders`.
    pub table: String,
    /// What it is about: an index or a column, with its table.
    pub object: String,
    /// The changes, none where nothing is to be done.
    pub actions: Vec<Action>,
    /// Bytes that it is about as the server gives them, such as those of a rejected index.
    pub bytes: Option<u64>,
    /// Why it is proposed or rejected.
    pub reason: String,
    /// What else to know: what breaks, what is kept.
    pub notes: Vec<String>,
}

/// Runs every rule. Of two candidates for one index, the first stays.
pub fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let product = facts.database.product;
    for rule in RULES.iter().filter(|rule| rule.products.contains(&product)) {
        for candidate in (rule.find)(facts) {
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

/// The indexes of a table that serve in the place of one of them, the best first.
pub fn replacements<'t>(table: &'t Table, index: &Index) -> Vec<&'t Index> {
    if index.constraint.is_none() {
        return redundant_index::replacements(table, index);
    }
    let others = table.indexes.iter();
    others
        .filter(|other| other.name != index.name && unique_twice::is_same_key(index, other))
        .collect()
}

impl Candidate {
    /// A candidate about an object of a table.
    fn about(table: &Table, object: &str, group: Group, class: Class) -> Self {
        Candidate {
            rule: "",
            group,
            class,
            table: format!("{}.{}", table.schema, table.name),
            object: object.to_owned(),
            actions: Vec::new(),
            bytes: None,
            reason: String::new(),
            notes: Vec::new(),
        }
    }

    /// Tells whether this candidate settles what the other one is about: an index is changed once.
    fn takes(&self, other: &Candidate) -> bool {
        let about_indexes = [
            Group::InvalidIndex,
            Group::RedundantIndex,
            Group::UniqueTwice,
            Group::ImpliedUnique,
            Group::NullIndex,
            Group::Bloat,
            Group::UnusedIndex,
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

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |columns: &[ColumnName]| {
            let names = columns
                .iter()
                .map(|own| format!("{}.{}", own.table, own.column));
            names.collect::<Vec<_>>().join(", ")
        };
        match self {
            Action::DropIndex { table, index, .. } => {
                write!(out, "drop the index {index} of {table}")
            }
            Action::Reindex { table, index, .. } => {
                write!(out, "build the index {index} of {table} again")
            }
            Action::AttachIndexes { table, index, .. } => {
                write!(out, "complete the index {index} of {table}")
            }
            Action::DropForeignKey {
                table, constraint, ..
            } => write!(out, "drop the foreign key {constraint} of {table}"),
            Action::DropConstraint {
                table, constraint, ..
            }
            | Action::DropCheck {
                table, constraint, ..
            } => write!(out, "drop the constraint {constraint} of {table}"),
            Action::PartialIndex { index, column, .. } => write!(
                out,
                "make the index {index} partial: WHERE {column} IS NOT NULL"
            ),
            Action::Convert { columns, to } => write!(
                out,
                "{} in place of text: {}",
                to.type_name(),
                list(columns)
            ),
            Action::OrderedUuid { column } => write!(
                out,
                "UUIDv7 for new rows: {}.{}",
                column.table, column.column
            ),
            Action::Widen { columns } => write!(out, "bigint: {}", list(columns)),
            Action::WidenSequence { sequence, to, .. } => {
                write!(out, "sequence {sequence} as {to}")
            }
        }
    }
}

impl ColumnName {
    /// The name of a column of a table.
    pub fn of(table: &Table, column: &str) -> Self {
        ColumnName {
            schema: table.schema.clone(),
            table: table.name.clone(),
            column: column.to_owned(),
        }
    }
}
