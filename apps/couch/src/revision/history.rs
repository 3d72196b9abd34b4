//! The path to a revision: its hash and those of its ancestors.

use super::{Revision, RevisionHash};

/// The error of an invalid history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The history is longer than its first generation allows.
    #[error("_revisions.ids has more entries than _revisions.start")]
    TooLong,
    /// The history is empty.
    #[error("_revisions names no revision")]
    Empty,
}

/// A revision and its ancestors, as in `_revisions`: newest first, without gaps, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    start: u64,
    hashes: Vec<RevisionHash>,
}

impl History {
    /// Creates a history. `start` is the generation of the newest revision; `hashes` are newest first.
    ///
    /// # Errors
    /// If there are no hashes, more hashes than generations, or the generation is out of range.
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

    /// The newest revisions, at most so many and at least one.
    pub fn truncated(mut self, revisions_max: u64) -> Self {
        let kept = usize::try_from(revisions_max).unwrap_or(usize::MAX);
        self.hashes.truncate(kept.max(1));
        self
    }

    /// The newest revision.
    pub fn revision(&self) -> Revision {
        Revision {
            generation: self.start,
            hash: self.hashes[0].clone(),
        }
    }

    /// The ancestors of the newest revision in a tree to which this path is added, newest first. `parent` returns the parent of a
    /// revision in the tree before, of several the one with the higher hash.
    pub fn ancestors<'a>(
        &'a self,
        parent: impl Fn(&Revision) -> Option<Revision> + 'a,
    ) -> impl Iterator<Item = Revision> + 'a {
        let given = move |revision: &Revision| {
            let at = usize::try_from(self.start.checked_sub(revision.generation)?).ok()?;
            let is_given = self.hashes.get(at)? == &revision.hash;
            let hash = self.hashes.get(at + 1).filter(|_| is_given)?.clone();
            let generation = revision.generation - 1;
            Some(Revision { generation, hash })
        };
        let next = move |revision: &Revision| given(revision).max(parent(revision));
        std::iter::successors(next(&self.revision()), next)
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
