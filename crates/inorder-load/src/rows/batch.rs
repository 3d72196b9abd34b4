//! Sorted rows on their way to a writer, with duplicates resolved.

use inorder_btree::KeyOrder;

use super::origins::Origins;
use super::rejects::Rejects;
use crate::Error;
use crate::destination::KeyPart;
use crate::job::{OnDuplicate, Progress};
use crate::order::{Memory, Origin, Sorted};

/// Rows between two looks at the progress.
const ROWS_A_LOOK: u64 = 1024;

/// Sorted rows. If they have a unique key, no two rows have the same.
pub struct Batch<'a> {
    sorted: Sorted,
    /// The key, if rows are sorted by a unique key.
    key: Option<&'a KeyOrder>,
    on_duplicate: OnDuplicate,
    rejects: &'a mut Rejects,
    origins: &'a Origins,
    table: &'a str,
    progress: &'a Progress,
    current: Vec<u8>,
    last: Vec<u8>,
    last_origin: Origin,
    /// A row that was read already: the first after the duplicates.
    next: Option<Origin>,
    given: u64,
    duplicates: u64,
    ignored: u64,
    clash: Option<Clash>,
}

/// A row that was refused because another has its key.
pub(crate) struct Clash {
    /// The key.
    pub(crate) key: Vec<KeyPart>,
    /// The row.
    pub(crate) record: Vec<u8>,
    pub(crate) origin: Origin,
}

/// The parts of the load's state that a batch uses.
pub(crate) struct Context<'a> {
    pub(crate) on_duplicate: OnDuplicate,
    pub(crate) origins: &'a Origins,
    pub(crate) table: &'a str,
    pub(crate) progress: &'a Progress,
    /// Rows written before this batch.
    pub(crate) written: u64,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(
        sorted: Sorted,
        key: Option<&'a KeyOrder>,
        rejects: &'a mut Rejects,
        context: &Context<'a>,
    ) -> Self {
        Batch {
            sorted,
            key,
            on_duplicate: context.on_duplicate,
            rejects,
            origins: context.origins,
            table: context.table,
            progress: context.progress,
            current: Vec::new(),
            last: Vec::new(),
            last_origin: 0,
            next: None,
            given: context.written,
            duplicates: 0,
            ignored: 0,
            clash: None,
        }
    }

    /// Returns the next row and its origin.
    ///
    /// # Errors
    /// [`Error::Duplicate`] if the job has no rule for duplicates, [`Error::Stopped`], and errors of reading spilled rows.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(&[u8], Origin)>, Error> {
        if self.given.is_multiple_of(ROWS_A_LOOK) {
            self.look()?;
        }
        self.given += 1;
        match (self.key, self.on_duplicate) {
            (None, _) => self.sorted.next().map_err(spilled),
            (Some(key), OnDuplicate::Replace | OnDuplicate::Update) => self.last_of_equals(key),
            (Some(key), _) => self.first_of_equals(key),
        }
    }

    /// Rows left out because another row has their key.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Adds rows that the database left out because another row has their key.
    pub fn add_duplicates(&mut self, rows: u64) {
        self.duplicates += rows;
    }

    /// Rows that the table's own constraints or triggers left out.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The row that ended the load, if the row that has its key is yet to be found.
    pub(crate) fn into_clash(self) -> Option<Clash> {
        self.clash
    }

    /// The memory of the rows, once they are written, if it can be used again.
    pub(crate) fn into_memory(self) -> Option<Memory> {
        self.sorted.into_memory()
    }

    /// The number of rows, including duplicates.
    pub fn rows(&self) -> u64 {
        self.sorted.rows()
    }

    /// The bytes of all records.
    pub fn bytes(&self) -> u64 {
        self.sorted.bytes()
    }

    /// Bytes of the spill folder that become free as the rows are read.
    pub fn freed_bytes(&self) -> u64 {
        self.sorted.freed_bytes()
    }

    /// The origins of the rows.
    pub fn origins(&self) -> &'a Origins {
        self.origins
    }

    fn look(&self) -> Result<(), Error> {
        self.progress.set_rows_written(self.given);
        self.progress.check()
    }

    #[inline]
    fn first_of_equals(&mut self, key: &KeyOrder) -> Result<Option<(&[u8], Origin)>, Error> {
        loop {
            if !self.sorted.advance().map_err(spilled)? {
                return Ok(None);
            }
            if !self.sorted.is_tied() || !is_same(key, &self.last, self.sorted.row().0) {
                if self.sorted.may_tie_next() {
                    copy(self.sorted.row().0, &mut self.last);
                }
                let (record, origin) = self.sorted.row();
                self.last_origin = origin;
                return Ok(Some((record, origin)));
            }
            let (_, origin) = self.sorted.row();
            self.settle(self.last_origin, origin)?;
        }
    }

    fn last_of_equals(&mut self, key: &KeyOrder) -> Result<Option<(&[u8], Origin)>, Error> {
        let mut origin = match self.next.take() {
            Some(origin) => {
                std::mem::swap(&mut self.current, &mut self.last);
                origin
            }
            None => match self.sorted.next().map_err(spilled)? {
                Some((record, origin)) => {
                    copy(record, &mut self.current);
                    origin
                }
                None => return Ok(None),
            },
        };
        while let Some((record, next)) = self.sorted.next().map_err(spilled)? {
            if is_same(key, &self.current, record) {
                copy(record, &mut self.current);
                origin = next;
                self.duplicates += 1;
            } else {
                copy(record, &mut self.last);
                self.next = Some(next);
                break;
            }
        }
        Ok(Some((&self.current, origin)))
    }

    /// Rejects a row that the database refuses.
    ///
    /// # Errors
    /// Those of [`Rejects::bad`].
    #[cold]
    pub(crate) fn refuse(&mut self, what: String, origin: Origin) -> Result<(), Error> {
        self.rejects.refused(self.origins, origin, what)
    }

    /// Writes a row that ended the transaction to the rejects, and returns its error.
    #[cold]
    pub(crate) fn end(&mut self, what: &str, origin: Origin) -> Error {
        let what = format!("{what}; this ended the transaction (ROLLBACK), and nothing was loaded");
        let (file, line) = self.origins.file_and_line(origin);
        let at = self.origins.words(origin);
        match self.rejects.write(&file, line, b"", &what) {
            Ok(()) => Error::Row { at, what },
            Err(error) => error,
        }
    }

    /// Records a row that the table left out without an error.
    #[cold]
    pub(crate) fn ignore(&mut self, origin: Origin) -> Result<(), Error> {
        self.ignored += 1;
        let (file, line) = self.origins.file_and_line(origin);
        let error = "the table skipped it (ON CONFLICT IGNORE or RAISE(IGNORE))";
        self.rejects.write(&file, line, b"", error)
    }

    /// Resolves a duplicate of an earlier row.
    #[cold]
    pub(crate) fn settle(&mut self, first: Origin, second: Origin) -> Result<(), Error> {
        let first = self.origins.words(first);
        self.settle_with(first, second)
    }

    /// Keeps a row whose key another row has, so that the other can be found.
    #[cold]
    pub(crate) fn clashes(&mut self, key: Vec<KeyPart>, record: &[u8], origin: Origin) {
        self.clash = Some(Clash {
            key,
            record: record.to_vec(),
            origin,
        });
    }

    /// Resolves a duplicate of a row that words describe.
    #[cold]
    pub(crate) fn settle_with(&mut self, first: String, second: Origin) -> Result<(), Error> {
        self.duplicates += 1;
        let (file, line) = self.origins.file_and_line(second);
        match self.on_duplicate {
            OnDuplicate::Error => Err(Error::Duplicate {
                first,
                second: self.origins.words(second),
                table: self.table.to_owned(),
            }),
            OnDuplicate::Report => {
                let error = format!("{first} has the same key");
                self.rejects.write(&file, line, b"", &error)
            }
            OnDuplicate::Ignore | OnDuplicate::Replace | OnDuplicate::Update => Ok(()),
        }
    }
}

/// Keys with a NULL are never equal, as in a UNIQUE index of SQLite.
#[inline]
fn is_same(key: &KeyOrder, a: &[u8], b: &[u8]) -> bool {
    key.compare(a, b).is_eq() && !key.has_null(b)
}

fn copy(record: &[u8], to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(record);
}

pub(crate) fn spilled(source: std::io::Error) -> Error {
    Error::Work {
        path: "the spilled rows".into(),
        source,
    }
}
