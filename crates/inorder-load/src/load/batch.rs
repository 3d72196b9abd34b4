//! Rows on their way to a writer: in order, duplicates settled.

use inorder_btree::KeyOrder;

use super::inputs::Origins;
use super::progress::Progress;
use super::rejects::Rejects;
use crate::Error;
use crate::destination::KeyPart;
use crate::order::{Origin, Sorted};

/// What happens to a row whose key another row has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Nothing is loaded.
    #[default]
    Error,
    /// The row that came first stays.
    Ignore,
    /// The row that came last stays.
    Replace,
    /// The row that came first stays, the others are written down.
    Report,
}

impl OnDuplicate {
    /// Every value with its name.
    pub const ALL: &[(&str, OnDuplicate)] = &[
        ("error", OnDuplicate::Error),
        ("ignore", OnDuplicate::Ignore),
        ("replace", OnDuplicate::Replace),
        ("report", OnDuplicate::Report),
    ];
}

/// Rows between two looks at whether somebody wants it to stop.
const ROWS_A_LOOK: u64 = 1024;

/// Sorted rows, of which no two have the same key.
pub struct Batch<'a> {
    sorted: Sorted,
    /// The key, where rows are sorted by one that has to be unique.
    key: Option<&'a KeyOrder>,
    on_duplicate: OnDuplicate,
    rejects: &'a mut Rejects,
    origins: &'a Origins,
    table: &'a str,
    progress: &'a Progress,
    current: Vec<u8>,
    last: Vec<u8>,
    last_origin: Origin,
    /// A row that was read already: the first that isn't a duplicate of the one that stays.
    next: Option<Origin>,
    given: u64,
    duplicates: u64,
    ignored: u64,
    clash: Option<Clash>,
}

/// A row whose key a row of the table has, as it was refused.
pub(super) struct Clash {
    /// The key.
    pub(super) key: Vec<KeyPart>,
    /// The row.
    pub(super) record: Vec<u8>,
    pub(super) origin: Origin,
}

/// What a load says about its rows.
pub(super) struct Context<'a> {
    pub(super) on_duplicate: OnDuplicate,
    pub(super) origins: &'a Origins,
    pub(super) table: &'a str,
    pub(super) progress: &'a Progress,
    /// Rows written before this batch.
    pub(super) written: u64,
}

impl<'a> Batch<'a> {
    pub(super) fn new(
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

    /// The next row and where it came from.
    ///
    /// # Errors
    /// [`Error::Duplicate`] where that is what duplicates are, [`Error::Stopped`], and what reading spilled
    /// rows back brings.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(&[u8], Origin)>, Error> {
        if self.given.is_multiple_of(ROWS_A_LOOK) {
            self.look()?;
        }
        self.given += 1;
        match (self.key, self.on_duplicate) {
            (None, _) => self.sorted.next().map_err(spilled),
            (Some(key), OnDuplicate::Replace) => self.last_of_equals(key),
            (Some(key), _) => self.first_of_equals(key),
        }
    }

    /// Rows that are left out because another has their key.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Counts rows that the database left out because another has their key.
    pub fn add_duplicates(&mut self, rows: u64) {
        self.duplicates += rows;
    }

    /// Rows that the table's own constraints or triggers left out.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// The row that ended the load, where what it clashes with may be told yet.
    pub(super) fn into_clash(self) -> Option<Clash> {
        self.clash
    }

    /// How many rows there are, duplicates counted.
    pub fn rows(&self) -> u64 {
        self.sorted.rows()
    }

    /// How many bytes their records have in all.
    pub fn bytes(&self) -> u64 {
        self.sorted.bytes()
    }

    /// Where rows come from.
    pub fn origins(&self) -> &'a Origins {
        self.origins
    }

    fn look(&self) -> Result<(), Error> {
        self.progress.set_rows_written(self.given);
        match self.progress.is_stopped() {
            true => Err(Error::Stopped),
            false => Ok(()),
        }
    }

    #[inline]
    fn first_of_equals(&mut self, key: &KeyOrder) -> Result<Option<(&[u8], Origin)>, Error> {
        loop {
            if !self.sorted.advance().map_err(spilled)? {
                return Ok(None);
            }
            let (record, origin) = self.sorted.row();
            if self.sorted.is_tied() && is_same(key, &self.last, record) {
                self.settle(self.last_origin, origin)?;
                continue;
            }
            if self.sorted.may_tie_next() {
                copy(record, &mut self.last);
            }
            self.last_origin = origin;
            return Ok(Some(self.sorted.row()));
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

    /// Deals with a row that the database, or what stands for it, doesn't take.
    ///
    /// # Errors
    /// As [`Rejects::bad`].
    #[cold]
    pub(crate) fn refuse(&mut self, what: String, origin: Origin) -> Result<(), Error> {
        let (file, line) = self.origins.file_and_line(origin);
        let at = self.origins.words(origin);
        self.rejects.bad(&file, line, b"", Error::Row { at, what })
    }

    /// The error of a row that ended the transaction: no further row can be put up with.
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

    /// Deals with a row that the table left out without an error.
    #[cold]
    pub(crate) fn ignore(&mut self, origin: Origin) -> Result<(), Error> {
        self.ignored += 1;
        let (file, line) = self.origins.file_and_line(origin);
        let error = "the table left it out (ON CONFLICT IGNORE or RAISE(IGNORE))";
        self.rejects.write(&file, line, b"", error)
    }

    /// Deals with a row whose key another has.
    #[cold]
    pub(crate) fn settle(&mut self, first: Origin, second: Origin) -> Result<(), Error> {
        let first = self.origins.words(first);
        self.settle_with(first, second)
    }

    /// Keeps what a row that can't be settled had in common with another.
    #[cold]
    pub(crate) fn clashes(&mut self, key: Vec<KeyPart>, record: &[u8], origin: Origin) {
        self.clash = Some(Clash {
            key,
            record: record.to_vec(),
            origin,
        });
    }

    /// Deals with a row whose key a row of the table has.
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
            OnDuplicate::Ignore | OnDuplicate::Replace => Ok(()),
        }
    }
}

/// Keys with a NULL are never the same: SQLite's UNIQUE has it so.
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
