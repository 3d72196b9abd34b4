//! The way to a revision: its own hash and those before it.

use super::{Revision, RevisionHash};

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// It is longer than its first generation allows.
    #[error("_revisions.ids has more entries than _revisions.start")]
    TooLong,
    /// It names no revision.
    #[error("_revisions names no revision")]
    Empty,
}

/// A revision and those it was made from, as `_revisions` has it: newest first, without gaps, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    start: u64,
    hashes: Vec<RevisionHash>,
}

impl History {
    /// A history that ends with the generation `start`; `hashes` newest first.
    ///
    /// # Errors
    /// When there are no hashes, more than generations, or the generation is out of range.
    pub fn new(start: u64, hashes: Vec<RevisionHash>) -> Result<Self, HistoryError> {
        let newest = hashes.first().ok_or(HistoryError::Empty)?;
        Revision::new(start, newest.clone()).ok_or(HistoryError::TooLong)?;
        if hashes.len() as u64 > start {
            return Err(HistoryError::TooLong);
        }
        Ok(History { start, hashes })
    }

    /// The generation of the newest revision.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The hashes, newest first.
    pub fn hashes(&self) -> &[RevisionHash] {
        &self.hashes
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        Revision {
            generation: self.start,
            hash: self.hashes[0].clone(),
        }
    }

    /// The revisions, newest first.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        let generations = (1..=self.start).rev();
        let hashes = self.hashes.iter().cloned();
        generations
            .zip(hashes)
            .map(|(generation, hash)| Revision { generation, hash })
    }
}

impl From<Revision> for History {
    fn from(revision: Revision) -> Self {
        History {
            start: revision.generation,
            hashes: vec![revision.hash],
        }
    }
}
