//! What to do: CHANGE, APP or LEAVE, from what the rules found and the trial measured.

mod base;
mod changes;
pub(crate) mod id_lines;
mod judge;
mod options;
mod page_size;
mod session;
mod slower;

pub use judge::{ALONE_MIN_PERCENT, Item, Part, Verdict};
pub(crate) use judge::{MINOR_MIN_PERCENT, why_left};
pub use options::{Observer, Options};
pub use session::advise;

use crate::{
    Plan,
    classify::IdClass,
    read::{Database, Program},
    rules::{self, Candidate},
    sample::SampledTable,
    trial::{Inserts, Queries},
};
use serde::Serialize;
use std::path::PathBuf;

/// The advice on a database.
#[derive(Debug)]
pub struct Advice {
    /// The file as it was copied.
    pub file: FileFacts,
    /// The sample, if every figure is an estimate from one.
    pub estimate: Option<Estimate>,
    /// What was read, of the vacuumed copy where there is one.
    pub database: Database,
    /// Bytes after VACUUM; `None` if the file can't be rebuilt.
    pub vacuumed_bytes: Option<u64>,
    /// The kinds of ids found.
    pub ids: Vec<IdLine>,
    /// When the counters were read, in seconds since 1970.
    pub read_at_s: u64,
    /// Ids that were lost when they were stored.
    pub lost: Vec<Candidate>,
    /// What to do, the largest first.
    pub items: Vec<Item>,
    /// The changes made together.
    pub together: Option<Together>,
    /// The same with the minor ones.
    pub with_minor: Option<Together>,
    /// The same with the changes that need the application; `None` if there are none.
    pub with_app: Option<Together>,
    /// The application's queries, if they were given.
    pub queries: Option<Queries>,
    /// The copy that migrations are proven on.
    pub copy: PathBuf,
    /// What could not be read or is particular, in sentences.
    pub notes: Vec<String>,
    /// Whether the file is damaged: nothing is advised.
    pub is_damaged: bool,
}

/// The file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FileFacts {
    /// Its name without folders.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes of its write-ahead log.
    pub wal_bytes: u64,
    /// Whether it is in WAL mode.
    pub is_wal: bool,
    /// Seconds for which a lock for reading was held.
    pub locked_s: f64,
}

/// What an estimate was made from.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// Bytes of the sample.
    pub sample_bytes: u64,
    /// The tables that have rows.
    pub tables: Vec<SampledTable>,
}

/// A column of ids, in words.
#[derive(Debug, Clone, Serialize)]
pub struct IdLine {
    /// Table and column.
    pub column: String,
    /// The kind or kinds, with shares, and the order.
    pub kind: String,
    /// `good`, or what could be better.
    pub note: String,
    /// What the column is, and what says so.
    pub class: Option<IdClass>,
    /// The line of `advise.toml` that settles what the column is, where that is in doubt.
    pub settles: Option<String>,
}

impl IdLine {
    /// The class and what says so; empty where there is none.
    pub(crate) fn class_in_words(&self) -> String {
        self.class.as_ref().map_or(String::new(), IdClass::in_words)
    }

    /// The kinds and the class.
    pub(crate) fn in_words(&self) -> String {
        match &self.class {
            Some(class) => format!("{}; {}", self.kind, class.in_words()),
            None => self.kind.clone(),
        }
    }
}

/// Changes that were made in one copy.
#[derive(Debug, Clone, Serialize)]
pub struct Together {
    /// The changes, as `inorder rekey --plan` takes them.
    pub plan: Plan,
    /// Bytes of the copy, after VACUUM.
    pub bytes: u64,
    /// Changes that could not be made with the others, each with the reason.
    pub refused: Vec<String>,
    /// The B-trees of the copy.
    pub trees: Vec<TreeSize>,
    /// What inserting into the tables that change costs.
    pub inserts: Vec<Inserts>,
}

/// What a table or index takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TreeSize {
    /// The table.
    pub table: String,
    /// The index; `None` is the table itself.
    pub index: Option<String>,
    /// Bytes of its pages.
    pub bytes: u64,
}

/// The B-trees of a database, tables before their indexes.
pub(crate) fn tree_sizes(database: &Database) -> Vec<TreeSize> {
    let mut sizes = Vec::new();
    for table in &database.tables {
        let own = table.tree.as_ref().map(|tree| (None, tree.size_bytes));
        let indexes = table.indexes.iter().filter_map(|index| {
            let name = rules::title(table, index);
            index
                .tree
                .as_ref()
                .map(|tree| (Some(name), tree.size_bytes))
        });
        sizes.extend(
            own.into_iter()
                .chain(indexes)
                .map(|(index, bytes)| TreeSize {
                    table: table.name.clone(),
                    index,
                    bytes,
                }),
        );
    }
    sizes
}

impl Advice {
    /// The program whose file it is.
    pub fn program(&self) -> Option<&'static Program> {
        self.database.program
    }

    /// Bytes that percentages refer to.
    pub fn base_bytes(&self) -> u64 {
        self.vacuumed_bytes.unwrap_or(self.file.bytes)
    }
}
