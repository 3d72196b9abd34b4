//! Large pages of memory, where they are cheaper than small ones.
//!
//! Rows are read in the order of their keys, each from another page of memory. With pages of 2 MiB the processor looks up
//! fewer of them, and the kernel gives the memory in fewer steps. On some virtual machines these steps cost more, because
//! the host has to find the memory first: a load took 1.5 times the CPU time there. Which pages the host has is not known
//! before they are used. So both sizes are measured in the first memory that is large enough, and a large page of all that
//! follows.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::mm::{Advice, madvise};

/// The size of a large page on most processors. Others lose nothing but the advantage.
const LARGE_BYTES: usize = 1 << 21;

/// The size of a small page on most processors.
const SMALL_BYTES: usize = 1 << 12;

/// The parts that are measured with each size of page.
const PARTS_MEASURED: usize = 3;

/// A large page whose first use took this many times as long as that of the same memory in small pages is dear. Up to
/// there it pays, because rows are read faster: a load with it took 0.92 times the CPU time.
const DEAR_TIMES: u32 = 2;

/// Large pages that may be dear by chance: a thread that used them was interrupted.
const DEAR_MAX: u32 = 2;

/// What was found in this process.
static FOUND: Mutex<Found> = Mutex::new(Found::new());

/// The first use of memory, as far as it was measured.
struct Found {
    /// The time of [`LARGE_BYTES`] in small pages, once it is known. The fastest counts: the others may have been interrupted.
    small: Option<Duration>,
    /// The large pages that were measured, and those of them that were dear.
    larges: u32,
    dear: u32,
}

impl Found {
    const fn new() -> Self {
        Found {
            small: None,
            larges: 0,
            dear: 0,
        }
    }

    fn add_large(&mut self, took: Duration) {
        let is_dear = self.small.is_some_and(|small| took > small * DEAR_TIMES);
        self.larges += 1;
        self.dear += u32::from(is_dear);
    }

    /// Whether large pages pay: no more than a few of them were dear, or than a quarter.
    fn is_large_better(&self) -> bool {
        let are_dear = self.dear > DEAR_MAX && self.dear > self.larges / 4;
        self.small.is_some() && !are_dear
    }
}

/// Gives a vector room for some more values, in large pages as long as these pay.
#[inline]
pub(super) fn reserve<T>(values: &mut Vec<T>, more: usize) {
    if values.capacity() - values.len() < more {
        values.reserve(more);
        prefer(values);
    }
}

#[cold]
fn prefer<T>(values: &mut Vec<T>) {
    let memory = aligned(values.spare_capacity_mut());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.small.is_none() && memory.len() >= 2 * PARTS_MEASURED * LARGE_BYTES {
        compare(memory, &mut found);
    }
    if found.is_large_better() {
        advise(memory);
        if let Some(page) = memory.first_chunk_mut::<LARGE_BYTES>() {
            found.add_large(first_use(page));
        }
    }
}

/// The large pages within some memory.
fn aligned<T>(memory: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: bytes have no alignment, and memory that may hold anything may hold bytes.
    let (_, bytes, _) = unsafe { memory.align_to_mut::<MaybeUninit<u8>>() };
    let before = bytes.as_ptr().align_offset(LARGE_BYTES).min(bytes.len());
    let behind = &mut bytes[before..];
    let whole = behind.len() / LARGE_BYTES * LARGE_BYTES;
    &mut behind[..whole]
}

fn advise(memory: &mut [MaybeUninit<u8>]) {
    // SAFETY: the advice changes no content.
    let advised = unsafe {
        madvise(
            memory.as_mut_ptr().cast(),
            memory.len(),
            Advice::LinuxHugepage,
        )
    };
    // It is as good without them.
    _ = advised;
}

/// Measures the first use of small and of large pages. Uses some of the memory.
fn compare(memory: &mut [MaybeUninit<u8>], found: &mut Found) {
    let mut smalls = [Duration::MAX; PARTS_MEASURED];
    let mut larges = smalls;
    let parts = memory.chunks_exact_mut(2 * LARGE_BYTES);
    for (part, (small, large)) in parts.zip(smalls.iter_mut().zip(&mut larges)) {
        let (one, other) = part.split_at_mut(LARGE_BYTES);
        *small = first_use(one);
        advise(other);
        *large = first_use(other);
    }
    found.small = smalls.into_iter().min();
    larges.into_iter().for_each(|took| found.add_large(took));
}

/// The time that it takes to write to each page.
fn first_use(part: &mut [MaybeUninit<u8>]) -> Duration {
    let began = Instant::now();
    for byte in part.iter_mut().step_by(SMALL_BYTES) {
        byte.write(0);
    }
    std::hint::black_box(part);
    began.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_as_they_are_in_memory_of_any_size() {
        for count in [0, 1, 1000, LARGE_BYTES, 8 * PARTS_MEASURED * LARGE_BYTES] {
            let mut values = vec![7_u64];
            reserve(&mut values, count / size_of::<u64>());
            assert!(values.capacity() > count / size_of::<u64>());
            assert_eq!(values, [7]);
        }
        // The last one was large enough to be measured.
        assert!(FOUND.lock().unwrap().small.is_some());
    }

    #[test]
    fn large_pages_are_given_up_once_many_were_dear() {
        let millis = Duration::from_millis;
        let mut found = Found::new();
        assert!(!found.is_large_better(), "nothing is known");
        found.small = Some(millis(4));
        for took in [1, 8, 9, 40, 2, 3, 4] {
            found.add_large(millis(took));
            assert!(found.is_large_better(), "{took}");
        }
        found.add_large(millis(9));
        assert!(!found.is_large_better());
        // Few of many are chance.
        (0..100).for_each(|_| found.add_large(millis(1)));
        assert!(found.is_large_better());
    }

    #[test]
    fn only_whole_large_pages_are_advised() {
        let mut values: Vec<u8> = Vec::with_capacity(4 * LARGE_BYTES);
        let memory = aligned(&mut values.spare_capacity_mut()[1..]);
        assert!(
            memory
                .as_ptr()
                .cast::<u8>()
                .addr()
                .is_multiple_of(LARGE_BYTES)
        );
        assert!(memory.len().is_multiple_of(LARGE_BYTES) && memory.len() >= 2 * LARGE_BYTES);
        let mut few: Vec<u8> = Vec::with_capacity(10);
        assert!(aligned(few.spare_capacity_mut()).is_empty());
    }
}
