//! Decisions between the first read rows and the first write.

use inorder_btree::KeyOrder;

use super::mapping;
use crate::Error;
use crate::destination::{Destination, Sample};
use crate::disk_space;
use crate::job::{Job, OnDuplicate, RowOrder, Summary};
use crate::order::{Memory, SortLimits, Sorter};
use crate::row_writer::{Choice, Sink, WritePlan};
use crate::rows::Header;

/// The memory of rows that are not sorted, in bytes.
const UNSORTED_BYTES: usize = 1 << 24;

/// The least and the most bytes of text that a thread takes at a time.
const PART_BYTES_MIN: usize = 1 << 14;
const PART_BYTES_MAX: usize = 1 << 18;

/// The plan for reading, sorting and writing rows.
pub(super) struct Plan<'a> {
    pub(super) write: WritePlan<'a>,
    /// The order that rows are sorted in; `None` if they are not sorted.
    order: Option<KeyOrder>,
    /// Whether rows with equal prefixes of their keys stay as they come.
    is_by_prefix: bool,
    /// Rows per batch.
    batch_rows: u64,
}

impl<'a> Plan<'a> {
    /// Plans a load into a sink, for rows as in the sample.
    ///
    /// # Errors
    /// If the input has no column of the table, or the sink can't write as the job asks.
    pub(super) fn new(
        job: &'a Job,
        sink: &dyn Sink,
        sample: &Sample,
        header: &Header,
    ) -> Result<(Self, Choice), Error> {
        let destination = sink.destination().clone();
        let given = mapping::given(&destination, job, sample, header)?;
        let mut choice = sink.choose(&given, job)?;
        let record = match choice.writes_pages {
            true => destination.physical.clone(),
            false => given.clone(),
        };
        let is_in_input_order = choice.why_in_input_order.is_some();
        let is_sorted = job.order != RowOrder::Input && !is_in_input_order;
        let order = destination.order(&record).filter(|_| is_sorted);
        // The database itself counts the rowids of rows that are written as they come.
        let is_rowid = |column: &usize| destination.rowid == Some(*column);
        let has_rowids = order.is_some() && record.iter().any(is_rowid);
        choice.rowids = choice.rowids.filter(|_| has_rowids);
        let has_settled_all = order.is_some() && job.order == RowOrder::Full;
        let limits = SortLimits {
            memory_bytes: job.memory_bytes / (1 + choice.further_sorts),
            spill_folder: match &job.spill_folder {
                Some(folder) => folder.clone(),
                None => sink.spill_folder(),
            },
            threads: job.threads,
        };
        let (batch_rows, is_by_prefix) = match job.order {
            RowOrder::Batch { rows, is_by_prefix } => (rows, is_by_prefix),
            RowOrder::Input | RowOrder::Full => (u64::MAX, false),
        };
        let write = WritePlan {
            job,
            writes_pages: choice.writes_pages,
            merges: choice.merges.clone(),
            settles_updates: choice.settles_updates,
            is_in_input_order,
            counts_replaced: choice.may_replace && !has_settled_all,
            is_checked: choice.checks.is_some(),
            checks_parents: true,
            is_proven: false,
            rowids: choice.rowids,
            limits,
            destination,
            record,
            given,
            defaulted: choice.constants.iter().map(|(column, _)| *column).collect(),
        };
        let plan = Plan {
            write,
            order,
            is_by_prefix,
            batch_rows,
        };
        Ok((plan, choice))
    }

    /// A sorter for the rows of one batch, with the memory of the batch before if there is one.
    pub(super) fn sorter(&self, memory: Option<Memory>) -> Sorter {
        let limits = self.write.limits.clone();
        let sorter = match &self.order {
            Some(order) if self.is_by_prefix => Sorter::by_prefix(order.clone(), limits),
            Some(order) => Sorter::new(Some(order.clone()), limits),
            None => Sorter::new(
                None,
                SortLimits {
                    memory_bytes: self.memory_bytes(),
                    ..limits
                },
            ),
        };
        match memory {
            Some(memory) => sorter.with_memory(memory),
            None => sorter,
        }
    }

    /// Whether a batch takes its rows in portions, from several threads.
    pub(super) fn takes_portions(&self) -> bool {
        let job = self.write.job;
        !matches!(job.order, RowOrder::Batch { .. }) && job.errors_max == 0
    }

    /// The bytes of text that a thread takes at a time: little of the memory, and what stays in the processor's cache.
    pub(super) fn part_bytes(&self) -> usize {
        let threads = self.write.limits.threads.max(1);
        (self.memory_bytes() / (16 * threads)).clamp(PART_BYTES_MIN, PART_BYTES_MAX)
    }

    /// The memory of a batch, in bytes.
    fn memory_bytes(&self) -> usize {
        let memory_bytes = self.write.limits.memory_bytes;
        match self.order {
            Some(_) => memory_bytes,
            None => memory_bytes.min(UNSORTED_BYTES),
        }
    }

    /// Whether a batch is to be written.
    #[inline]
    pub(super) fn is_full(&self, batch: &Sorter) -> bool {
        batch.rows() >= self.batch_rows
            || (self.order.is_none() && batch.memory_bytes() >= (self.memory_bytes() / 2).max(1))
    }

    /// The order that tells duplicates apart; `None` if the database does.
    pub(super) fn unique_order(&self) -> Option<&KeyOrder> {
        // Later rows update earlier ones.
        let is_settled =
            self.write.job.on_duplicate != OnDuplicate::Update || self.write.settles_updates;
        let is_unique = !self.is_by_prefix && self.write.destination.is_key_unique && is_settled;
        self.order.as_ref().filter(|_| is_unique)
    }

    /// The names of the columns that rows are sorted by.
    pub(super) fn sorted_by(&self) -> Vec<String> {
        let Destination { key, columns, .. } = &self.write.destination;
        match self.order {
            Some(_) => key
                .iter()
                .map(|part| columns[part.column].name.clone())
                .collect(),
            None => Vec::new(),
        }
    }

    /// The rows per batch of a load in batches.
    pub(super) fn batch_rows(&self) -> u64 {
        self.batch_rows
    }

    /// Checks the room for spilled rows, which take about as many bytes as the input.
    ///
    /// # Errors
    /// [`Error::DiskFull`].
    pub(super) fn check_spill_folder(&self, input_bytes: u64) -> Result<(), Error> {
        let limits = &self.write.limits;
        let is_spilled = self.order.is_some() && input_bytes > limits.memory_bytes as u64;
        match is_spilled {
            true => disk_space::check_spill(&limits.spill_folder, input_bytes),
            false => Ok(()),
        }
    }

    /// The summary before the first row.
    pub(super) fn summary(&self, sink: &dyn Sink, choice: &Choice) -> Summary {
        let write = &self.write;
        Summary {
            table: write.destination.table.clone(),
            created: sink.created(),
            is_database_new: sink.is_database_new(),
            notes: sink.notes(),
            sorted_by: self.sorted_by(),
            why_not_direct: choice.why_not_pages.clone(),
            why_not_sorted: choice.why_in_input_order.clone(),
            writer: match write.writes_pages {
                true => "direct".to_owned(),
                false => String::new(),
            },
            is_dry: write.job.is_dry,
            ..Summary::default()
        }
    }
}
