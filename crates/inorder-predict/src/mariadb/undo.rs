//! Pages of InnoDB's undo log: `trx0undo.cc`, `trx0rseg.cc`.

use std::collections::VecDeque;

/// Rollback segments, which transactions use in turn (`TRX_SYS_N_RSEGS`).
const SEGMENTS: usize = 128;
/// Bytes of an undo record of an insert beside the key, of the headers of a page, and of the header of a transaction.
const RECORD: u64 = 12;
const PAGE_HEADER: u64 = 56;
const TRANSACTION: u64 = 186;

/// Undo pages of ended transactions that purge has not freed yet. It was measured, and depends on the speed of purge.
const LATE_PAGES: usize = 150;

/// A rollback segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    header: u32,
    /// The undo page that it keeps for the next transaction, and its used bytes.
    kept: Option<(u32, u64)>,
}

/// The undo log of a server.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    page_bytes: u64,
    segments: Vec<Segment>,
    /// The transaction's rollback segment.
    segment: usize,
    /// The transaction's pages, and used bytes of the last one.
    pages: Vec<u32>,
    used: u64,
    /// Pages of ended transactions.
    ended: VecDeque<u32>,
    free: Vec<u32>,
}

/// A page of the undo log that an insert changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum UndoPage {
    /// It is in use.
    Used(u32),
    /// It was added.
    New(u32),
}

impl Undo {
    pub(super) fn new(page_bytes: u64, next_page: &mut u32) -> Self {
        let mut add = || {
            *next_page += 1;
            Segment {
                header: *next_page - 1,
                kept: None,
            }
        };
        Undo {
            page_bytes,
            segments: (0..SEGMENTS).map(|_| add()).collect(),
            segment: 0,
            pages: Vec::new(),
            used: 0,
            ended: VecDeque::new(),
            free: Vec::new(),
        }
    }

    /// The header pages of the rollback segments.
    pub(super) fn headers(&self) -> Vec<u32> {
        self.segments.iter().map(|segment| segment.header).collect()
    }

    /// The page of the next undo record, with a key of so many bytes.
    pub(super) fn insert(&mut self, key: u64, next_page: &mut u32) -> UndoPage {
        let record = RECORD + key;
        if self.pages.is_empty()
            && let Some((page, used)) = self.segments[self.segment].kept.take()
        {
            self.pages.push(page);
            self.used = used + TRANSACTION;
        }
        if let Some(&page) = self.pages.last()
            && self.used + record <= self.page_bytes
        {
            self.used += record;
            return UndoPage::Used(page);
        }
        let is_first = self.pages.is_empty();
        let page = self.free.pop().unwrap_or_else(|| {
            *next_page += 1;
            *next_page - 1
        });
        self.pages.push(page);
        self.used = PAGE_HEADER + record + if is_first { TRANSACTION } else { 0 };
        UndoPage::New(page)
    }

    /// Ends a transaction. Returns the header page of its rollback segment, and the pages that purge frees by then. A single page that
    /// is at most three quarters full is kept.
    pub(super) fn commit(&mut self) -> (u32, Vec<u32>) {
        let segment = &mut self.segments[self.segment];
        self.segment = (self.segment + 1) % SEGMENTS;
        match self.pages[..] {
            [page] if self.used <= self.page_bytes * 3 / 4 => {
                segment.kept = Some((page, self.used));
                self.pages.clear();
            }
            _ => self.ended.extend(self.pages.drain(..)),
        }
        let late = self.ended.len().saturating_sub(LATE_PAGES);
        let freed: Vec<u32> = self.ended.drain(..late).collect();
        self.free.extend(&freed);
        (segment.header, freed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_transaction_frees_its_pages() {
        let mut next_page = 1;
        let mut undo = Undo::new(4096, &mut next_page);
        assert_eq!(undo.headers()[0], 1);
        let pages: Vec<UndoPage> = (0..194).map(|_| undo.insert(8, &mut next_page)).collect();
        // 192 records of 20 bytes fill the first page.
        assert_eq!(pages[0], UndoPage::New(129));
        assert_eq!(pages[191], UndoPage::Used(129));
        assert_eq!(pages[192], UndoPage::New(130));
        assert_eq!(undo.commit(), (1, vec![]));
        // Purge frees the first of them when more than 150 are behind them.
        let freed: Vec<Vec<u32>> = (0..75)
            .map(|_| {
                (0..194).for_each(|_| _ = undo.insert(8, &mut next_page));
                undo.commit().1
            })
            .collect();
        assert_eq!(freed[73], vec![]);
        assert_eq!(freed[74], vec![129, 130]);
        assert_eq!(undo.insert(8, &mut next_page), UndoPage::New(130));
    }

    #[test]
    fn small_transactions_share_a_page() {
        let mut next_page = 1;
        let mut undo = Undo::new(4096, &mut next_page);
        // Ten rows take 386 bytes: the eighth transaction of a segment fills three quarters.
        for _ in 0..7 * 128 {
            (0..10).for_each(|_| _ = undo.insert(8, &mut next_page));
            undo.commit();
        }
        assert!(undo.ended.is_empty());
        (0..10).for_each(|_| _ = undo.insert(8, &mut next_page));
        assert_eq!(undo.commit(), (1, vec![]));
        assert_eq!(undo.ended, [129]);
        assert_eq!(next_page, 257);
    }
}
