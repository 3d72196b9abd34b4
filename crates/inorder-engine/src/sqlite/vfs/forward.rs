//! Methods of the VFS: opening a file creates its counters, and all other methods are forwarded.

use super::{
    counting::AppData,
    file::{SHIM_BYTES, finish_open, real as real_file},
};
use rusqlite::ffi::{self, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_vfs};
use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

type Symbol = Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void, *const c_char)>;

/// Creates a VFS over `real` that counts in `data` and has exactly the methods of `real`.
///
/// It stores `name` and `data`, which must outlive it. This function does not read through them.
pub fn shim(real: &sqlite3_vfs, name: *const c_char, data: *mut AppData) -> sqlite3_vfs {
    sqlite3_vfs {
        iVersion: real.iVersion.min(3),
        szOsFile: SHIM_BYTES as c_int + real.szOsFile,
        mxPathname: real.mxPathname,
        pNext: ptr::null_mut(),
        zName: name,
        pAppData: data.cast(),
        xOpen: Some(open),
        xDelete: real.xDelete.and(Some(delete)),
        xAccess: real.xAccess.and(Some(access)),
        xFullPathname: real.xFullPathname.and(Some(full_pathname)),
        xDlOpen: real.xDlOpen.and(Some(dl_open)),
        xDlError: real.xDlError.and(Some(dl_error)),
        xDlSym: real.xDlSym.and(Some(dl_sym)),
        xDlClose: real.xDlClose.and(Some(dl_close)),
        xRandomness: real.xRandomness.and(Some(randomness)),
        xSleep: real.xSleep.and(Some(sleep)),
        xCurrentTime: real.xCurrentTime.and(Some(current_time)),
        xGetLastError: real.xGetLastError.and(Some(get_last_error)),
        xCurrentTimeInt64: real.xCurrentTimeInt64.and(Some(current_time_int64)),
        xSetSystemCall: real.xSetSystemCall.and(Some(set_system_call)),
        xGetSystemCall: real.xGetSystemCall.and(Some(get_system_call)),
        xNextSystemCall: real.xNextSystemCall.and(Some(next_system_call)),
    }
}

/// Returns the data of a VFS made by [`shim`].
///
/// # Safety
/// `vfs` is registered, and was made by [`shim`].
unsafe fn data<'a>(vfs: *mut sqlite3_vfs) -> &'a AppData {
    // SAFETY: `shim` set the pointer; the data live until the VFS is unregistered.
    unsafe { &*(*vfs).pAppData.cast::<AppData>() }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite hands over `szOsFile` bytes for the file; the VFS below gets its part of them,
    // marked as not open in case it fails before it says so itself.
    unsafe {
        let data = data(vfs);
        let below = real_file(file);
        (*below).pMethods = ptr::null();
        let code = match (*data.real).xOpen {
            Some(open) => open(data.real, name, below, flags, out_flags),
            None => ffi::SQLITE_CANTOPEN,
        };
        finish_open(file, data.counters(flags));
        code
    }
}

/// Defines methods that only forward to the underlying VFS. `shim` includes them only if that has them.
macro_rules! forward {
    ($($name:ident => $method:ident($($arg:ident: $type:ty),*) -> $returned:ty, $missing:expr;)*) => {
        $(unsafe extern "C" fn $name(vfs: *mut sqlite3_vfs $(, $arg: $type)*) -> $returned {
            // SAFETY: SQLite calls this with this VFS, and arguments meant for the one below.
            unsafe {
                let real = data(vfs).real;
                match (*real).$method {
                    Some(method) => method(real $(, $arg)*),
                    None => $missing,
                }
            }
        })*
    };
}

forward! {
    delete => xDelete(name: *const c_char, sync_folder: c_int) -> c_int, ffi::SQLITE_IOERR_DELETE;
    access => xAccess(name: *const c_char, flags: c_int, answer: *mut c_int) -> c_int, ffi::SQLITE_IOERR_ACCESS;
    full_pathname => xFullPathname(name: *const c_char, size: c_int, out: *mut c_char) -> c_int, ffi::SQLITE_CANTOPEN;
    dl_open => xDlOpen(name: *const c_char) -> *mut c_void, ptr::null_mut();
    dl_error => xDlError(size: c_int, message: *mut c_char) -> (), ();
    dl_sym => xDlSym(library: *mut c_void, symbol: *const c_char) -> Symbol, None;
    dl_close => xDlClose(library: *mut c_void) -> (), ();
    randomness => xRandomness(size: c_int, out: *mut c_char) -> c_int, 0;
    sleep => xSleep(microseconds: c_int) -> c_int, 0;
    current_time => xCurrentTime(now: *mut f64) -> c_int, ffi::SQLITE_ERROR;
    get_last_error => xGetLastError(size: c_int, message: *mut c_char) -> c_int, 0;
    current_time_int64 => xCurrentTimeInt64(now: *mut sqlite3_int64) -> c_int, ffi::SQLITE_ERROR;
    set_system_call => xSetSystemCall(name: *const c_char, call: ffi::sqlite3_syscall_ptr) -> c_int, ffi::SQLITE_NOTFOUND;
    get_system_call => xGetSystemCall(name: *const c_char) -> ffi::sqlite3_syscall_ptr, None;
    next_system_call => xNextSystemCall(name: *const c_char) -> *const c_char, ptr::null();
}
