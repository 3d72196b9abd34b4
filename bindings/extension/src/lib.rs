//! The SQL functions of `inorder` as an extension that SQLite loads.
//!
//! `.load ./libinorder` in the shell, `sqlite3_load_extension` elsewhere. [`inorder_sqlite`] documents the functions.
//! This crate has only the entry point, which refuses a SQLite that is too old.

use inorder_sqlite::SQLITE_VERSION_MIN;
use rusqlite::{Connection, ffi};
use std::ffi::{c_char, c_int};
use std::panic::catch_unwind;

/// The entry point of the extension (<https://sqlite.org/loadext.html>).
///
/// The extension stays loaded after the connection closes, because it keeps the order of ids.
///
/// # Safety
/// Called by SQLite with an open connection, a place for a message, and SQLite's functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_extension_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *mut ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: SQLite passes what this function asks for, or no functions at all.
    let version = match unsafe { api.as_ref() } {
        // SAFETY: the function has no conditions, and all versions of SQLite have it at this place.
        Some(api) => api
            .libversion_number
            .map_or(0, |version| unsafe { version() }),
        None => return ffi::SQLITE_ERROR,
    };
    if version < SQLITE_VERSION_MIN {
        // SAFETY: `api` is not null, and `message` is as SQLite passed it.
        unsafe { refuse(message, &*api, version) };
        return ffi::SQLITE_ERROR;
    }
    // SAFETY: all of them are as SQLite passed them, and `init` does nothing but register.
    let init = || unsafe { Connection::extension_init2(db, message, api, init) };
    catch_unwind(init).unwrap_or(ffi::SQLITE_ERROR)
}

fn init(connection: Connection) -> rusqlite::Result<bool> {
    inorder_sqlite::register(&connection)?;
    Ok(true)
}

/// Reports that this SQLite is too old, using only functions that every version has.
///
/// # Safety
/// `message` must be null or writable, and `api` be the functions of the SQLite that loads.
unsafe fn refuse(message: *mut *mut c_char, api: &ffi::sqlite3_api_routines, version: c_int) {
    let number = |version: c_int| (version / 1_000_000, version / 1000 % 1000, version % 1000);
    let ((a, b, c), (d, e, f)) = (number(SQLITE_VERSION_MIN), number(version));
    let text = format!("inorder needs SQLite {a}.{b}.{c} or later; this is {d}.{e}.{f}\0");
    let Some(malloc) = api.malloc else { return };
    if message.is_null() {
        return;
    }
    // SAFETY: what SQLite allocated is as long as asked for, or null; SQLite frees the message.
    unsafe {
        let copy = malloc(text.len() as c_int).cast::<c_char>();
        if !copy.is_null() {
            copy.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
            *message = copy;
        }
    }
}
