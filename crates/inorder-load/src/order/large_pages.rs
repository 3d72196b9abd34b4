//! Large pages of memory, where they are cheaper than small ones.
//!
//! Rows are read in the order of their keys, each from another page of memory. With pages of 2 MiB the processor looks up
//! fewer of them, and the kernel gives the memory in fewer steps. On some virtual machines these steps cost more, because
//! the host has to find the memory first: a load took 1.5 times the CPU time there. So both are measured first.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rustix::mm::{Advice, madvise};

/// The size of a large page on most processors. Others lose nothing but the advantage.
const LARGE_BYTES: usize = 1 << 21;

/// The size of a small page on most processors.
const SMALL_BYTES: usize = 1 << 12;

/// The parts that are measured with each size of page. The fastest counts: the others may have been interrupted.
const PARTS_MEASURED: usize = 3;

/// What was found in this process.
static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const SMALL: u8 = 1;
const LARGE: u8 = 2;

/// Gives a vector room for some more values, in large pages if they are not slower here.
///
/// The first memory that is large enough is measured.
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
    let is_measurable = memory.len() >= 2 * PARTS_MEASURED * LARGE_BYTES;
    match FOUND.load(Relaxed) {
        LARGE => advise(memory),
        UNKNOWN if is_measurable => {
            let found = if are_faster(memory) { LARGE } else { SMALL };
            FOUND.store(found, Relaxed);
            if found == LARGE {
                advise(memory);
            }
        }
        _ => {}
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

/// Whether the first use of large pages takes no longer than that of small ones. Uses some of the memory.
fn are_faster(memory: &mut [MaybeUninit<u8>]) -> bool {
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    for parts in memory
        .chunks_exact_mut(2 * LARGE_BYTES)
        .take(PARTS_MEASURED)
    {
        let (one, other) = parts.split_at_mut(LARGE_BYTES);
        small = small.min(first_use(one));
        advise(other);
        large = large.min(first_use(other));
    }
    large <= small
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
        assert_ne!(FOUND.load(Relaxed), UNKNOWN);
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
