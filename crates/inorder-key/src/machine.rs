//! Unsafe code of this crate: the fork handler, reading the processor's counter, and code for wide registers that
//! runs only on processors that have them.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use crate::chacha::{self, BLOCKS_BYTES, KEY_BYTES};

/// Number of forks plus one: 1 in the first process, one more in each child.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Returns the generation of this process, counted in forks since [`watch_forks`] was first called; never 0.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Registers a handler with the C library that counts forks, so that detecting a fork needs no system call.
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
    });
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
