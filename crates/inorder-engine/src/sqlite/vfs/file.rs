//! An open file: counts each call, and forwards it to the underlying file, which follows it in memory.

use super::counting::FileCounters;
use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64};
use std::{
    ffi::{c_int, c_void},
    mem::size_of,
};

/// The file object for SQLite. SQLite allocates `szOsFile` bytes for this object and the underlying file.
#[repr(C)]
pub struct ShimFile {
    base: sqlite3_file,
    counters: *const FileCounters,
}

/// Bytes of this object before the underlying file, whose alignment is 8.
pub const SHIM_BYTES: usize = size_of::<ShimFile>();
const _: () = assert!(SHIM_BYTES.is_multiple_of(8));

/// Returns the underlying file.
///
/// # Safety
/// `file` is memory SQLite allocated for a file of this VFS.
pub unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: the allocation is `SHIM_BYTES` plus the size the VFS below asked for.
    unsafe { file.byte_add(SHIM_BYTES) }
}

/// Completes the file after the underlying VFS has opened its part. SQLite does not close a file without methods, so
/// this file has methods exactly if the underlying one has.
///
/// # Safety
/// As for [`real`]; `counters` outlive the file.
pub unsafe fn finish_open(file: *mut sqlite3_file, counters: *const FileCounters) {
    let shim = file.cast::<ShimFile>();
    // SAFETY: the caller's promise; the file below was initialised by its VFS or zeroed by ours.
    unsafe {
        (*shim).counters = counters;
        (*shim).base.pMethods = if (*real(file)).pMethods.is_null() {
            std::ptr::null()
        } else {
            &METHODS
        };
    }
}

/// Returns the counters of an open file.
///
/// # Safety
/// `file` was completed by [`finish_open`] and is still open.
unsafe fn counters<'a>(file: *mut sqlite3_file) -> &'a FileCounters {
    // SAFETY: the caller's promise; counters live until the VFS is dropped, after its files close.
    unsafe { &*(*file.cast::<ShimFile>()).counters }
}

/// Defines methods that only forward to the underlying file, and return `$missing` if it has no such method.
macro_rules! forward {
    ($($name:ident => $method:ident($($arg:ident: $type:ty),*) -> $returned:ty, $missing:expr;)*) => {
        $(unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $arg: $type)*) -> $returned {
            // SAFETY: SQLite calls this with a file this VFS opened, and arguments meant for it.
            unsafe {
                let file = real(file);
                match (*(*file).pMethods).$method {
                    Some(method) => method(file $(, $arg)*),
                    None => $missing,
                }
            }
        })*
    };
}

forward! {
    close => xClose() -> c_int, ffi::SQLITE_OK;
    real_read => xRead(buffer: *mut c_void, amount: c_int, offset: sqlite3_int64) -> c_int, ffi::SQLITE_IOERR_READ;
    real_write => xWrite(data: *const c_void, amount: c_int, offset: sqlite3_int64) -> c_int, ffi::SQLITE_IOERR_WRITE;
    truncate => xTruncate(size: sqlite3_int64) -> c_int, ffi::SQLITE_IOERR_TRUNCATE;
    real_sync => xSync(flags: c_int) -> c_int, ffi::SQLITE_IOERR_FSYNC;
    file_size => xFileSize(size: *mut sqlite3_int64) -> c_int, ffi::SQLITE_IOERR_FSTAT;
    lock => xLock(level: c_int) -> c_int, ffi::SQLITE_IOERR_LOCK;
    unlock => xUnlock(level: c_int) -> c_int, ffi::SQLITE_IOERR_UNLOCK;
    check_reserved_lock => xCheckReservedLock(held: *mut c_int) -> c_int, ffi::SQLITE_IOERR_CHECKRESERVEDLOCK;
    file_control => xFileControl(operation: c_int, argument: *mut c_void) -> c_int, ffi::SQLITE_NOTFOUND;
    sector_size => xSectorSize() -> c_int, 0;
    device_characteristics => xDeviceCharacteristics() -> c_int, 0;
    shm_map => xShmMap(region: c_int, size: c_int, extend: c_int, map: *mut *mut c_void) -> c_int, ffi::SQLITE_IOERR_SHMMAP;
    shm_lock => xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int, ffi::SQLITE_IOERR_SHMLOCK;
    shm_barrier => xShmBarrier() -> (), ();
    shm_unmap => xShmUnmap(delete: c_int) -> c_int, ffi::SQLITE_OK;
    real_fetch => xFetch(offset: sqlite3_int64, amount: c_int, page: *mut *mut c_void) -> c_int, ffi::SQLITE_NOTFOUND;
    unfetch => xUnfetch(offset: sqlite3_int64, page: *mut c_void) -> c_int, ffi::SQLITE_OK;
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 3,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
};

/// Counts the bytes of a read: the requested ones, or fewer at the end of the file, where the underlying file fills
/// the rest with zeros. A failed read counts as a call of 0 bytes.
unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    amount: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's own call, handed on; `file_size` gets a valid place for its answer.
    unsafe {
        let code = real_read(file, buffer, amount, offset);
        let bytes = match code {
            ffi::SQLITE_OK => i64::from(amount),
            ffi::SQLITE_IOERR_SHORT_READ => {
                let mut size = 0;
                file_size(file, &mut size);
                (size - offset).clamp(0, i64::from(amount))
            }
            _ => 0,
        };
        counters(file).read(bytes.unsigned_abs());
        code
    }
}

/// Counts the bytes of a successful write. A failed write counts as a call of 0 bytes.
unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    amount: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's own call, handed on.
    unsafe {
        let code = real_write(file, data, amount, offset);
        let bytes = if code == ffi::SQLITE_OK { amount } else { 0 };
        counters(file).wrote(u64::from(bytes.unsigned_abs()));
        code
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: SQLite's own call, handed on.
    unsafe {
        counters(file).synced();
        real_sync(file, flags)
    }
}

/// May return no page. SQLite then reads it.
unsafe extern "C" fn fetch(
    file: *mut sqlite3_file,
    offset: sqlite3_int64,
    amount: c_int,
    page: *mut *mut c_void,
) -> c_int {
    // SAFETY: SQLite's own call, handed on; `page` is a valid place for the answer.
    unsafe {
        match real_fetch(file, offset, amount, page) {
            ffi::SQLITE_NOTFOUND => {
                *page = std::ptr::null_mut();
                ffi::SQLITE_OK
            }
            code => code,
        }
    }
}
