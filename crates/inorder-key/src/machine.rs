//! What the compiler cannot check, all of it: that the fork handler is harmless, that the processor has a counter to
//! read, and that code for wide registers runs only where there are some.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use crate::chacha::{self, BLOCKS_BYTES, KEY_BYTES};

/// One more in every child that `fork` makes: 1 in the first process.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Which process this is, counted in forks since [`watch_forks`] was first called; never 0.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Has the C library count forks from now on, so that no id costs a system call to notice one.
///
/// Calling it again changes nothing.
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

/// There is no `fork` here.
#[cfg(not(unix))]
pub(crate) fn watch_forks() {}

/// The processor's counter, which gains two to four a nanosecond; `None` where it is too coarse, or not for everybody to
/// read.
#[inline]
pub(crate) fn ticks() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the counter, and reading it touches nothing.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The first bytes of the ChaCha8 keystream of a key, by the fastest code this processor runs.
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
