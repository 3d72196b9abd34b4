//! Reads and encodes rows in several threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use super::mapping;
use super::plan::Plan;
use crate::Error;
use crate::destination::Sample;
use crate::encode::{Encoder, Refusal};
use crate::job::Progress;
use crate::order::{Origin, Portion, Sorter};
use crate::row_writer::{Choice, WritePlan};
use crate::rows::{Block, Blocks, Header};

/// Rows between two looks at the progress.
pub(super) const ROWS_PER_LOOK: u64 = 1024;

/// What one thread encodes rows with.
pub(super) struct Lane {
    pub(super) encoder: Encoder,
    /// The number of the header that the encoder is bound to.
    header: u64,
    pub(super) block: Block,
}

impl Lane {
    pub(super) fn new(
        plan: &WritePlan<'_>,
        sample: &Sample,
        header: &Header,
        choice: &Choice,
    ) -> Result<Self, Error> {
        let mut encoder = mapping::encoder(plan, sample, header, choice)?;
        encoder.bind(mapping::sources(plan, header)?);
        Ok(Lane {
            encoder,
            header: 0,
            block: Block::default(),
        })
    }

    /// Maps the fields to columns again where they change: with the file, or with a row that has new names.
    #[inline]
    pub(super) fn bind(&mut self, block: &Block, plan: &WritePlan<'_>) -> Result<(), Error> {
        if let Some(header) = block.other_header(&mut self.header) {
            self.encoder.bind(mapping::sources(plan, header)?);
        }
        Ok(())
    }

    /// Encodes the rows of the block.
    fn encode(&mut self, together: &Together<'_, '_>, portion: &mut Portion) -> Result<(), Wrong> {
        let Lane {
            encoder,
            block,
            header,
        } = self;
        encoder.begin_block(block.number());
        loop {
            if let Some(header) = block.other_header(header) {
                let sources = mapping::sources(&together.plan.write, header);
                encoder.bind(sources.map_err(Wrong::Failed)?);
            }
            let Some((row, origin)) = block.next() else {
                break;
            };
            if (portion.rows() as u64).is_multiple_of(ROWS_PER_LOOK) {
                together.progress.check().map_err(Wrong::Failed)?;
            }
            portion
                .push_with(origin, |out| encoder.encode_to(row, out))
                .map_err(|refusal| Wrong::Refused(refusal, origin))?;
        }
        match block.is_whole() {
            true => Ok(()),
            false => Err(Wrong::Unreadable(Box::new(std::mem::take(block)))),
        }
    }
}

/// What ends a load.
pub(super) enum Wrong {
    /// A row that the table refuses.
    Refused(Refusal, Origin),
    /// A row that can't be read.
    Unreadable(Box<Block>),
    /// Any other error.
    Failed(Error),
}

/// What the threads have in common.
pub(super) struct Together<'t, 'a> {
    blocks: Mutex<&'t mut Blocks<'a>>,
    batch: Mutex<&'t mut Sorter>,
    /// The first block that is wrong.
    wrong: Mutex<Option<(u64, Wrong)>>,
    /// Whether no other block is taken: the batch is full, or a block is wrong.
    is_over: AtomicBool,
    rows_read: AtomicU64,
    plan: &'t Plan<'a>,
    progress: &'t Progress,
}

impl<'t, 'a> Together<'t, 'a> {
    pub(super) fn new(
        blocks: &'t mut Blocks<'a>,
        batch: &'t mut Sorter,
        plan: &'t Plan<'a>,
        progress: &'t Progress,
    ) -> Self {
        Together {
            blocks: Mutex::new(blocks),
            batch: Mutex::new(batch),
            wrong: Mutex::new(None),
            is_over: AtomicBool::new(false),
            rows_read: AtomicU64::new(0),
            plan,
            progress,
        }
    }

    /// Encodes blocks, each lane in a thread, until the batch exceeds its memory or there are no other blocks. Returns
    /// the rows read, including those before.
    ///
    /// # Errors
    /// What is wrong first, in the order of the input.
    pub(super) fn run<'l>(
        self,
        mut lanes: impl Iterator<Item = &'l mut Lane>,
        rows_before: u64,
    ) -> Result<u64, Wrong> {
        self.rows_read.store(rows_before, Relaxed);
        let first_number = locked(&self.batch).next_number();
        let number_of =
            |block: u64, first_block: u64| first_number + (block - first_block) as usize;
        let first_block = locked(&self.blocks).taken();
        let work = |lane: &mut Lane| self.work(lane, |block| number_of(block, first_block));
        let own = lanes.next();
        std::thread::scope(|scope| {
            for lane in lanes {
                scope.spawn(|| work(lane));
            }
            own.map(work)
        });
        match self.wrong.into_inner() {
            Ok(Some((_, wrong))) => Err(wrong),
            _ => Ok(self.rows_read.into_inner()),
        }
    }

    /// Encodes blocks in this thread.
    fn work(&self, lane: &mut Lane, number_of: impl Fn(u64) -> usize) {
        let part_bytes = self.plan.part_bytes();
        let mut portion = locked(&self.batch).portion();
        loop {
            let mut blocks = locked(&self.blocks);
            if blocks.have_ended() || self.is_over.load(Relaxed) {
                return locked(&self.batch).end(portion);
            }
            blocks.take(&mut lane.block, Some(part_bytes));
            drop(blocks);
            let number = lane.block.number();
            portion.begin(number_of(number), lane.block.bytes());
            if let Err(wrong) = lane.encode(self, &mut portion) {
                self.is_over.store(true, Relaxed);
                let mut first = locked(&self.wrong);
                if first.as_ref().is_none_or(|(other, _)| number < *other) {
                    *first = Some((number, wrong));
                }
                return;
            }
            let rows = portion.rows() as u64;
            let rows = self.rows_read.fetch_add(rows, Relaxed) + rows;
            self.progress.set_rows_read(rows);
            let mut batch = locked(&self.batch);
            batch.add(&mut portion);
            if batch.is_over() || self.plan.is_full(&batch) {
                self.is_over.store(true, Relaxed);
            }
        }
    }
}

/// A thread that panicked ends the others: the panic continues where they are joined.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("no other thread panicked")
}
