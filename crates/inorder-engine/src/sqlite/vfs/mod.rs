//! A counting virtual file system (VFS) for SQLite. It forwards each call to the system's default VFS, and counts
//! reads, writes and syncs by kind of file.
//!
//! Each database registers its own VFS under a unique name, so databases do not share counters. SQLite's interface:
//! <https://www.sqlite.org/vfs.html> and `sqlite3.h`.
//!
//! It cannot count pages read through a memory map, nor the shared-memory index of the WAL (one byte written per 4
//! KiB of growth, 8 for the first 32 KiB).

mod counting;
mod file;
mod forward;

use crate::{Error, Io};
use counting::AppData;
use rusqlite::ffi;
use std::{
    ffi::{CStr, CString},
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

/// Number that makes the names unique within the process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A registered counting VFS. Dropping it unregisters it. Close its connections first.
pub struct CountingVfs {
    vfs: *mut ffi::sqlite3_vfs,
    data: *mut AppData,
    name: CString,
}

// SAFETY: SQLite guards its list of VFSs with a mutex; `vfs` and `data` don't change between
// registering and dropping, but for the counters, which are atomic.
unsafe impl Send for CountingVfs {}
// SAFETY: as above: a shared reference only reads the name and the atomic counters.
unsafe impl Sync for CountingVfs {}

impl CountingVfs {
    /// Registers a VFS with new counters over the default one.
    pub fn register() -> Result<Self, Error> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("inorder-{number}")).expect("the name has no NUL");
        // SAFETY: a null name asks for the default VFS; the call initialises SQLite first.
        let real = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if real.is_null() {
            return Err(refused("SQLite has no default VFS"));
        }
        let data = Box::into_raw(Box::new(AppData::new(real)));
        // SAFETY: `real` was just found, is not null, and the default VFS stays registered.
        let shim = unsafe { forward::shim(&*real, name.as_ptr(), data) };
        let vfs = Box::into_raw(Box::new(shim));
        let registered = CountingVfs { vfs, data, name };
        // SAFETY: `vfs` is complete, and it and what it points to live until `drop` unregisters it.
        match unsafe { ffi::sqlite3_vfs_register(vfs, 0) } {
            ffi::SQLITE_OK => Ok(registered),
            code => Err(refused(&format!("SQLite answered {code}"))),
        }
    }

    /// Returns the name for opening connections.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Returns the counts so far.
    pub fn io(&self) -> Io {
        // SAFETY: `data` lives as long as `self`, and is only ever shared.
        unsafe { &*self.data }.io()
    }
}

impl Drop for CountingVfs {
    fn drop(&mut self) {
        // SAFETY: every connection holds the owner of this value and closes before it goes, so
        // nothing refers to the VFS or its data any more; both came from `Box::into_raw`.
        unsafe {
            ffi::sqlite3_vfs_unregister(self.vfs);
            drop(Box::from_raw(self.vfs));
            drop(Box::from_raw(self.data));
        }
    }
}

fn refused(message: &str) -> Error {
    Error::Database {
        doing: "registering the counting VFS".into(),
        message: message.into(),
    }
}
