//! PostgreSQL's log, and when it asks for a checkpoint: `xlogrecord.h`, `xlog.c`.

/// Bytes of a record's header, of the header of its first block and of further blocks of the same table or index, and of what
/// a page image adds to it.
const RECORD: u64 = 24;
const BLOCK: u64 = 20;
const BLOCK_OF_SAME: u64 = 8;
const IMAGE: u64 = 5;
/// Bytes of the header of short main data.
const MAIN: u64 = 2;
/// Bytes of the log's own pages, and of their headers.
const PAGE: f64 = 8192.0;
const PAGE_HEADER: f64 = 24.0;
/// Bytes of a file of the log, as `inorder bench` starts servers.
pub(super) const SEGMENT: f64 = 1_048_576.0;
/// Bytes since the begin of the last file when the load begins: what the creation of the table has written.
const BEGIN: f64 = 391_000.0;
/// Bytes of the records that a checkpoint writes.
const CHECKPOINT: u64 = 176;
/// `checkpoint_completion_target`.
const TARGET: f64 = 0.9;

/// A record of the log as it is put together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    bytes: u64,
    blocks: u64,
}

impl Record {
    /// A record with so many bytes of main data.
    pub(super) fn new(main: u64) -> Self {
        Record {
            bytes: RECORD + MAIN + main,
            blocks: 0,
        }
    }

    /// Its bytes, not aligned.
    pub(super) fn bytes(self) -> u64 {
        self.bytes
    }

    /// Adds a page with its data. If it has an image, the image replaces the data.
    pub(super) fn block(&mut self, data: u64, image: Option<u64>) {
        self.bytes += match self.blocks {
            0 => BLOCK,
            _ => BLOCK_OF_SAME,
        };
        self.bytes += image.map_or(data, |image| IMAGE + image);
        self.blocks += 1;
    }
}

/// The log.
#[derive(Clone, Debug)]
pub(super) struct Wal {
    /// The position at which the load begins.
    begin: f64,
    position: f64,
    /// The position from which recovery starts.
    redo: f64,
    /// Files between checkpoints.
    segments: f64,
}

impl Wal {
    /// A log whose files may have so many bytes until a checkpoint has finished (`max_wal_size`).
    pub(super) fn new(max_bytes: u64) -> Self {
        let files = (max_bytes as f64 / SEGMENT).floor().max(2.0);
        Wal {
            begin: BEGIN,
            position: BEGIN,
            redo: 0.0,
            segments: (files / (1.0 + TARGET)).floor().max(1.0),
        }
    }

    /// Begins in the middle of a file, at a checkpoint: a bulk load before ends anywhere in one.
    pub(super) fn begin_in_a_file(&mut self) {
        self.begin = SEGMENT / 2.0;
        (self.position, self.redo) = (self.begin, self.begin);
    }

    /// Bytes written since the load began.
    pub(super) fn bytes(&self) -> f64 {
        self.position - self.begin
    }

    /// Writes a record that stands for `weight` records.
    pub(super) fn write(&mut self, record: Record, weight: u32) {
        let bytes = super::tuples::aligned(record.bytes()) * u64::from(weight);
        self.position += bytes as f64 * PAGE / (PAGE - PAGE_HEADER);
    }

    /// Whether a checkpoint is due: a file was finished, and there are enough of them.
    pub(super) fn is_due(&self) -> bool {
        let first = (self.redo / SEGMENT).floor();
        (self.position / SEGMENT).floor() >= first + self.segments
    }

    /// Begins a checkpoint.
    pub(super) fn begin_checkpoint(&mut self) {
        self.redo = self.position;
        self.write(Record::new(CHECKPOINT - RECORD - MAIN), 1);
    }

    /// The share of its pages that a checkpoint should have written by now.
    pub(super) fn progress(&self) -> f64 {
        let share = (self.position - self.redo) / (self.segments * SEGMENT);
        (share / TARGET).min(1.0)
    }
}
