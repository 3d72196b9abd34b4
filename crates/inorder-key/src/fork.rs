//! Noticing that the process was copied by `fork`, without asking the system for every id.

use std::sync::atomic::{AtomicU64, Ordering};

/// One more in every child that `fork` makes: 1 in the first process.
static GENERATION: AtomicU64 = AtomicU64::new(1);

/// Which process this is, counted in forks since [`watch`] was first called; never 0.
#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Has the C library count forks from now on. Calling it again changes nothing.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn watch() {
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
pub(crate) fn watch() {}
