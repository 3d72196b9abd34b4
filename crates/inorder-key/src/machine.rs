//! Unsafe code of this crate: detecting forks, reading the processor's counter, and code for wide registers that
//! runs only on processors that have them.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::chacha::{self, BLOCKS_BYTES, KEY_BYTES};

/// Number of forks plus one: 1 in the first process, one more in each child.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// A word that the kernel clears in the child of every fork, also of one that the C library does not make. Null before
/// [`watch_forks`], and where the kernel cannot clear memory.
static WIPED_BY_FORK: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// Returns the generation of this process, counted in forks since [`watch_forks`] was first called; never 0.
#[inline]
pub(crate) fn generation() -> u64 {
    // SAFETY: the word is in a page that is never unmapped, or the pointer is null.
    if let Some(word) = unsafe { WIPED_BY_FORK.load(Ordering::Relaxed).as_ref() }
        && word.load(Ordering::Relaxed) == 0
    {
        count_fork(word);
    }
    GENERATION.load(Ordering::Relaxed)
}

#[cold]
fn count_fork(word: &AtomicU64) {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    word.store(1, Ordering::Relaxed);
}

/// Registers a handler with the C library that counts forks, so that detecting a fork needs no system call. On Linux it also
/// maps a page that the kernel clears in children (`MADV_WIPEONFORK`), because a bare system call runs no handler.
///
/// Further calls have no effect.
#[cfg(unix)]
pub(crate) fn watch_forks() {
    static ONCE: std::sync::Once = std::sync::Once::new();

    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }

    ONCE.call_once(|| {
        // SAFETY: the handler is a plain function that stays loaded as long as this code does (the C library drops the
        // handlers of an object it unloads); it takes no lock and touches nothing but an atomic, which POSIX allows in
        // the child of a process with many threads.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        assert_eq!(failed, 0, "no memory left to register a fork handler");
        #[cfg(target_os = "linux")]
        map_wiped_page();
    });
}

#[cfg(target_os = "linux")]
fn map_wiped_page() {
    const BYTES: usize = 8; // The kernel gives a whole page.
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address that the kernel chooses touches no memory of others.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return;
    }
    // SAFETY: the page is mapped and private. Kernels before 4.14 refuse the advice; then the page is given back unused.
    if unsafe { libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: nobody has the address of the page.
        unsafe { libc::munmap(page, BYTES) };
        return;
    }
    let word = page.cast::<AtomicU64>();
    // SAFETY: the page is zeroed, aligned and writable, and stays mapped.
    unsafe { &*word }.store(1, Ordering::Relaxed);
    WIPED_BY_FORK.store(word, Ordering::Relaxed);
}

/// Does nothing: this platform has no `fork`.
#[cfg(not(unix))]
pub(crate) fn watch_forks() {}

/// Reads the processor's counter, which makes two to four steps per nanosecond. Returns `None` if it is too coarse or
/// not readable for user programs.
#[inline]
pub(crate) fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the counter, and reading it touches nothing.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Computes the first bytes of the ChaCha8 keystream of a key, with the fastest code for this processor.
pub(crate) fn chacha8(key: &[u8; KEY_BYTES], out: &mut [u8; BLOCKS_BYTES]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide(key: &[u8; KEY_BYTES], out: &mut [u8; BLOCKS_BYTES]) {
            chacha::keystream(key, out);
        }
        // SAFETY: `wide` is ordinary safe code; all it needs is a processor with AVX2, which was just asked for.
        return unsafe { wide(key, out) };
    }
    chacha::keystream_elsewhere(key, out);
}
