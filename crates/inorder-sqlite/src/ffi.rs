//! Calls of a [`Function`] by SQLite, and the conversion of its arguments and results.
//!
//! Panics are caught here, because they must not unwind into SQLite.
#![allow(unsafe_code)]

use crate::Error;
use crate::function::{Body, Function, Output};
use crate::read::Value;
use rusqlite::{Connection, ffi};
use std::ffi::CStr;
use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Registers a function with a connection.
pub(crate) fn register(
    connection: &Connection,
    function: &'static Function,
) -> rusqlite::Result<()> {
    let name = CString::new(function.name)?;
    let mut flags = ffi::SQLITE_UTF8 | ffi::SQLITE_INNOCUOUS;
    if function.is_deterministic {
        flags |= ffi::SQLITE_DETERMINISTIC;
    }
    // SAFETY: the connection is open and the name ends in a zero byte, which SQLite copies; the data of the function is
    // the function itself, which is static and shared by reference only, so nothing has to be destroyed.
    let code = unsafe {
        ffi::sqlite3_create_function_v2(
            connection.handle(),
            name.as_ptr(),
            function.argument.is_some().into(),
            flags,
            (&raw const *function).cast_mut().cast(),
            Some(call),
            None,
            None,
            None,
        )
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

/// The callback that SQLite calls.
unsafe extern "C" fn call(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the data of every function registered with this callback is a `&'static Function`.
    let function: &Function = unsafe { &*ffi::sqlite3_user_data(context).cast() };
    // The state that outlives a panic: the thread's generator and the process's counter, both consistent at any point.
    let done = catch_unwind(AssertUnwindSafe(|| match function.body {
        Body::Make(make) => make(),
        // SAFETY: SQLite hands over as many arguments as the function was registered with, one here.
        Body::Read(read) => unsafe { value(*arguments) }.map_or(Ok(Output::Null), read),
        // SAFETY: as above, and the context is the one of this call.
        Body::MakeIn(make) => unsafe { make_in(context, function, arguments, make) },
    }));
    // SAFETY: the context is the one that SQLite gave for this call.
    unsafe {
        match done {
            Ok(Ok(output)) => answer(context, &output),
            Ok(Err(error)) => fail(context, function.name, &error),
            Err(_) => fail(context, function.name, &Error::Panic),
        }
    }
}

/// Runs a function that needs a database.
///
/// # Safety
/// The context must be that of the current call. The number of arguments must be the registered one.
#[inline(never)]
unsafe fn make_in(
    context: *mut ffi::sqlite3_context,
    function: &Function,
    arguments: *mut *mut ffi::sqlite3_value,
    make: fn(&Connection, Option<Value<'_>>) -> Result<Output, Error>,
) -> Result<Output, Error> {
    let schema = match function.argument {
        // SAFETY: the function was registered with one argument.
        Some(_) => match unsafe { value(*arguments) } {
            None => return Ok(Output::Null),
            schema => schema,
        },
        None => None,
    };
    // SAFETY: the context is that of the call, and the connection is dropped before it ends.
    let connection = unsafe { connection(context) }?;
    make(&connection, schema)
}

/// Returns the connection that runs a function. Dropping it does not close it.
///
/// # Safety
/// The context must be that of the current call, and the result must not outlive the call.
unsafe fn connection(context: *mut ffi::sqlite3_context) -> Result<Connection, Error> {
    // SAFETY: the connection stays open while it runs a function; the handle is borrowed, not owned.
    unsafe { Connection::from_handle(ffi::sqlite3_context_db_handle(context)) }
        .map_err(Error::Shared)
}

/// Returns whether the current transaction writes the database of this name.
pub(crate) fn is_written(connection: &Connection, schema: &CStr) -> bool {
    // SAFETY: the connection is open, and the name ends in a zero byte; it is read during the call only.
    let state = unsafe { ffi::sqlite3_txn_state(connection.handle(), schema.as_ptr()) };
    state == ffi::SQLITE_TXN_WRITE
}

/// Returns the value of an argument, or `None` for NULL.
///
/// # Safety
/// The value must be an argument of the current call, and nothing may convert it during the life of the result.
unsafe fn value<'a>(value: *mut ffi::sqlite3_value) -> Option<Value<'a>> {
    // SAFETY: the value is valid. Pointers are read before lengths, as the manual demands, since reading a text may
    // convert it; text and blobs hold as many bytes as their length says, and a pointer may be null where that is 0 or
    // where memory ran out.
    unsafe {
        let bytes = |start: *const u8| match start.is_null() {
            true => &[],
            false => std::slice::from_raw_parts(start, ffi::sqlite3_value_bytes(value) as usize),
        };
        match ffi::sqlite3_value_type(value) {
            ffi::SQLITE_INTEGER => Some(Value::Integer(ffi::sqlite3_value_int64(value))),
            ffi::SQLITE_FLOAT => Some(Value::of_real(ffi::sqlite3_value_double(value))),
            ffi::SQLITE_TEXT => Some(Value::Text(bytes(ffi::sqlite3_value_text(value)))),
            ffi::SQLITE_BLOB => Some(Value::Blob(bytes(ffi::sqlite3_value_blob(value).cast()))),
            _ => None,
        }
    }
}

/// Passes the result to SQLite.
///
/// # Safety
/// The context must be that of the current call.
unsafe fn answer(context: *mut ffi::sqlite3_context, output: &Output) {
    // SAFETY: SQLite copies the bytes before these calls return (SQLITE_TRANSIENT); all of them are far shorter than a
    // `c_int` can say.
    let blob = |blob: &[u8]| unsafe {
        ffi::sqlite3_result_blob(
            context,
            blob.as_ptr().cast(),
            blob.len() as c_int,
            ffi::SQLITE_TRANSIENT(),
        );
    };
    // SAFETY: as above; the text is UTF-8.
    let text = |text: &[u8]| unsafe {
        ffi::sqlite3_result_text(
            context,
            text.as_ptr().cast(),
            text.len() as c_int,
            ffi::SQLITE_TRANSIENT(),
        );
    };
    match output {
        // SAFETY: nothing but the context is needed.
        Output::Null => unsafe { ffi::sqlite3_result_null(context) },
        // SAFETY: nothing but the context is needed.
        Output::Integer(integer) => unsafe { ffi::sqlite3_result_int64(context, *integer) },
        Output::Id(id) => blob(id),
        Output::UlidText(id) => text(id),
        Output::UuidText(id) => text(id),
        Output::Hex(digits) => text(digits),
        Output::Blob(bytes) => blob(bytes),
        Output::Text(string) => text(string.as_bytes()),
    }
}

/// Fails the statement with the message and the code of the error.
///
/// # Safety
/// The context must be that of the current call.
#[cold]
unsafe fn fail(context: *mut ffi::sqlite3_context, name: &str, error: &Error) {
    let message = format!("{name}(): {error}");
    // SAFETY: SQLite copies the message, whose length is given, before the call returns. The code comes after the
    // message, which would set it to SQLITE_ERROR.
    unsafe {
        ffi::sqlite3_result_error(context, message.as_ptr().cast(), message.len() as c_int);
        ffi::sqlite3_result_error_code(context, error.code());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_sql_error() {
        static PANICS: Function = Function {
            name: "panics",
            argument: None,
            is_deterministic: false,
            what: "nothing",
            body: Body::Make(|| panic!("as it should")),
        };
        let db = Connection::open_in_memory().unwrap();
        register(&db, &PANICS).unwrap();
        let error = db.query_row("SELECT panics()", [], |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "panics(): it panicked; nothing was made");
        db.execute_batch("SELECT 1").unwrap();
    }
}
