//! A connection with its prepared statements, over SQLite's C interface: the code that runs once per row.
//!
//! Values are bound without a copy (`SQLITE_STATIC`), so this code makes no copy and no allocation per row. [`Bound`]
//! clears every binding before the batch can be dropped.

use super::{
    failure::Failure,
    link::{Home, Link},
};
use crate::{Batch, Column, Error, Value};
use rusqlite::ffi::{self, sqlite3, sqlite3_stmt};
use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ops::Range,
    ptr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// A connection and its statements, which are finalized before it closes.
pub struct Session {
    statements: Vec<*mut sqlite3_stmt>,
    database: *mut sqlite3,
    /// Frames in the WAL after the last commit that wrote some; the argument of the WAL hook.
    wal_frames: Arc<AtomicU32>,
    link: Link,
}

/// A statement of the session that prepared it.
#[derive(Clone, Copy)]
pub struct StatementId(usize);

// SAFETY: SQLite's objects may move between threads as long as one at a time uses them, and a
// session is not `Sync` (`sqlite3_threadsafe()` is 1: the library's shared parts have mutexes).
unsafe impl Send for Session {}

impl Session {
    /// Creates a session that owns a connection.
    pub fn new(link: Link) -> Self {
        let wal_frames = Arc::new(AtomicU32::new(0));
        // SAFETY: the handle is used only while `link` lives, and closed by it alone. The hook's
        // argument lives in the session, which removes the hook before it goes.
        let database = unsafe {
            let database = link.connection.handle();
            let argument = Arc::as_ptr(&wal_frames).cast_mut().cast();
            ffi::sqlite3_wal_hook(database, Some(note_wal_frames), argument);
            database
        };
        Session {
            statements: Vec::new(),
            database,
            wal_frames,
            link,
        }
    }

    /// Returns the database of the connection.
    pub fn home(&self) -> &Home {
        &self.link.home
    }

    /// Returns the crate's error for a failed operation of this session.
    pub fn error(&self, doing: &str, failure: Failure) -> Error {
        self.link.error(doing, failure)
    }

    /// Prepares a statement that lives as long as the session.
    pub fn prepare(&mut self, sql: &str) -> Result<StatementId, Failure> {
        let length = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        let mut statement = ptr::null_mut();
        // SAFETY: the text is `length` bytes long at least, and `statement` a place for the answer.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                self.database,
                sql.as_ptr().cast(),
                length,
                ffi::SQLITE_PREPARE_PERSISTENT as c_uint,
                &mut statement,
                ptr::null_mut(),
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(self.failure(code));
        }
        if statement.is_null() {
            return Err(misuse("there is no statement in this text".into()));
        }
        self.statements.push(statement);
        Ok(StatementId(self.statements.len() - 1))
    }

    /// Returns whether a transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        !self.link.connection.is_autocommit()
    }

    /// Runs a statement without parameters to its end.
    pub fn run(&mut self, id: StatementId) -> Result<(), Failure> {
        let bound = Bound::new(self.statements[id.0], &[]);
        match bound.step() {
            ffi::SQLITE_DONE | ffi::SQLITE_ROW => Ok(()),
            code => Err(self.failure(code)),
        }
    }

    /// Runs a statement once per row. An error contains the row.
    pub fn insert(
        &mut self,
        id: StatementId,
        batch: &Batch,
        rows: Range<usize>,
    ) -> Result<(), (usize, Failure)> {
        let statement = self.statements[id.0];
        fits(statement, batch, rows.end).map_err(|failure| (rows.start, failure))?;
        let bound = Bound::new(statement, &batch.columns);
        for row in rows {
            let mut code = bound.bind(row);
            if code == ffi::SQLITE_OK {
                code = bound.step();
                // It returns the error of the failed step again.
                bound.reset();
            }
            if code != ffi::SQLITE_DONE {
                return Err((row, self.failure(code)));
            }
        }
        Ok(())
    }

    /// Runs a query with this row as its parameters, reads all result rows, and returns their number.
    pub fn query(&mut self, id: StatementId, batch: &Batch, row: usize) -> Result<u64, Failure> {
        let statement = self.statements[id.0];
        fits(statement, batch, row + 1)?;
        let bound = Bound::new(statement, &batch.columns);
        let mut code = bound.bind(row);
        let mut rows = 0;
        if code == ffi::SQLITE_OK {
            code = bound.step();
            while code == ffi::SQLITE_ROW {
                bound.read_row();
                rows += 1;
                code = bound.step();
            }
        }
        match code {
            ffi::SQLITE_DONE => Ok(rows),
            code => Err(self.failure(code)),
        }
    }

    /// Runs a checkpoint if the last commit left `pages` frames or more in the WAL, as SQLite's own autocheckpoint
    /// does. It copies the frames that no reader blocks, and ignores the error that another checkpoint runs. Call it
    /// once per commit. It does nothing if `pages` is 0.
    pub fn checkpoint_if_due(&mut self, pages: u32) -> Result<bool, Failure> {
        let frames = self.wal_frames.swap(0, Relaxed);
        if pages == 0 || frames < pages {
            return Ok(false);
        }
        // SAFETY: the connection is open; null means that the two counts aren't wanted.
        let code = unsafe {
            ffi::sqlite3_wal_checkpoint_v2(
                self.database,
                c"main".as_ptr(),
                ffi::SQLITE_CHECKPOINT_PASSIVE,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        match code & 0xff {
            ffi::SQLITE_OK | ffi::SQLITE_BUSY => Ok(true),
            _ => Err(self.failure(code)),
        }
    }

    /// Returns SQLite's error for the last call, which returned `code`.
    fn failure(&self, code: c_int) -> Failure {
        // SAFETY: the connection is open; the message is valid until its next call, and copied.
        let message = unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(self.database)) };
        Failure {
            code,
            message: message.to_string_lossy().into_owned(),
            retries: 0,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for &statement in &self.statements {
            // SAFETY: each was prepared by this session, whose connection is still open, and is
            // finalized here only.
            unsafe { ffi::sqlite3_finalize(statement) };
        }
        // SAFETY: the connection is still open. The hook goes before its argument does.
        unsafe { ffi::sqlite3_wal_hook(self.database, None, ptr::null_mut()) };
    }
}

/// WAL hook: SQLite calls it after each commit that wrote frames to the WAL.
unsafe extern "C" fn note_wal_frames(
    argument: *mut c_void,
    _database: *mut sqlite3,
    _name: *const c_char,
    frames: c_int,
) -> c_int {
    // SAFETY: the argument is the session's counter, which outlives the hook.
    unsafe { &*argument.cast::<AtomicU32>() }.store(frames.unsigned_abs(), Relaxed);
    ffi::SQLITE_OK
}

/// Checks that the batch has the statement's parameters as its columns, and rows up to `end`.
fn fits(statement: *mut sqlite3_stmt, batch: &Batch, end: usize) -> Result<(), Failure> {
    // SAFETY: the statement is one of a session's, and not finalized before it.
    let parameters = unsafe { ffi::sqlite3_bind_parameter_count(statement) };
    let columns = batch.columns.len();
    if columns != parameters as usize {
        return Err(misuse(format!(
            "the statement has {parameters} parameters, the batch {columns} columns"
        )));
    }
    match batch.columns.iter().position(|column| column.len() < end) {
        Some(short) => Err(misuse(format!(
            "the batch has {} rows in column {short}, but {end} were requested",
            batch.columns[short].len()
        ))),
        None => Ok(()),
    }
}

fn misuse(message: String) -> Failure {
    Failure {
        code: ffi::SQLITE_MISUSE,
        message,
        retries: 0,
    }
}

/// A statement that borrows a batch's values. Dropping it resets the statement, which ends its read transaction, and
/// clears the bindings, also after an error.
struct Bound<'batch> {
    statement: *mut sqlite3_stmt,
    columns: &'batch [Column],
}

impl<'batch> Bound<'batch> {
    /// `statement` must belong to a session that outlives this.
    fn new(statement: *mut sqlite3_stmt, columns: &'batch [Column]) -> Self {
        Bound { statement, columns }
    }

    /// Binds one row. The columns must have it ([`fits`]).
    #[inline]
    fn bind(&self, row: usize) -> c_int {
        for (column, parameter) in self.columns.iter().zip(1..) {
            let code = self.bind_value(parameter, column, row);
            if code != ffi::SQLITE_OK {
                return code;
            }
        }
        ffi::SQLITE_OK
    }

    #[inline]
    fn bind_value(&self, parameter: c_int, column: &'batch Column, row: usize) -> c_int {
        match column {
            Column::Integers(values) => self.bind_integer(parameter, values[row]),
            Column::Reals(values) => self.bind_real(parameter, values[row]),
            Column::Fixed {
                width_bytes,
                bytes,
                is_text,
            } => {
                let start = row * width_bytes;
                self.bind_bytes(parameter, &bytes[start..start + width_bytes], *is_text)
            }
            Column::Spans {
                pool,
                spans,
                is_text,
            } => {
                let (start, length) = (spans[row].0 as usize, spans[row].1 as usize);
                self.bind_bytes(parameter, &pool[start..start + length], *is_text)
            }
            Column::Any(values) => match &values[row] {
                // SAFETY: as in `bind_integer`.
                Value::Null => unsafe { ffi::sqlite3_bind_null(self.statement, parameter) },
                Value::Integer(value) => self.bind_integer(parameter, *value),
                Value::Real(value) => self.bind_real(parameter, *value),
                Value::Text(text) => self.bind_bytes(parameter, text.as_bytes(), true),
                Value::Blob(bytes) => self.bind_bytes(parameter, bytes, false),
            },
        }
    }

    #[inline]
    fn bind_integer(&self, parameter: c_int, value: i64) -> c_int {
        // SAFETY: the statement is live and reset; SQLite checks the parameter's number.
        unsafe { ffi::sqlite3_bind_int64(self.statement, parameter, value) }
    }

    #[inline]
    fn bind_real(&self, parameter: c_int, value: f64) -> c_int {
        // SAFETY: as in `bind_integer`.
        unsafe { ffi::sqlite3_bind_double(self.statement, parameter, value) }
    }

    /// Binds without a copy.
    #[inline]
    fn bind_bytes(&self, parameter: c_int, bytes: &'batch [u8], is_text: bool) -> c_int {
        let (start, length) = (bytes.as_ptr(), bytes.len() as u64);
        // SAFETY: as in `bind_integer`. SQLite keeps the pointer (never null, even of an empty
        // slice, which would mean NULL) without a copy until the parameter is bound anew or, at
        // the latest, `drop` clears it, while `columns` still borrows the batch.
        unsafe {
            if is_text {
                let encoding = ffi::SQLITE_UTF8 as u8;
                let text = start.cast();
                ffi::sqlite3_bind_text64(
                    self.statement,
                    parameter,
                    text,
                    length,
                    ffi::SQLITE_STATIC(),
                    encoding,
                )
            } else {
                ffi::sqlite3_bind_blob64(
                    self.statement,
                    parameter,
                    start.cast(),
                    length,
                    ffi::SQLITE_STATIC(),
                )
            }
        }
    }

    #[inline]
    fn step(&self) -> c_int {
        // SAFETY: the statement is live, and what is bound to it is still borrowed.
        unsafe { ffi::sqlite3_step(self.statement) }
    }

    #[inline]
    fn reset(&self) -> c_int {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_reset(self.statement) }
    }

    /// Reads every column of the current result row. Reading a blob or a text makes SQLite fetch all of it, including
    /// overflow pages.
    fn read_row(&self) {
        // SAFETY: the statement stands on a row and the column numbers are in range; the pointers
        // that come back are not kept.
        unsafe {
            for column in 0..ffi::sqlite3_column_count(self.statement) {
                match ffi::sqlite3_column_type(self.statement, column) {
                    ffi::SQLITE_NULL => {}
                    ffi::SQLITE_INTEGER => {
                        ffi::sqlite3_column_int64(self.statement, column);
                    }
                    ffi::SQLITE_FLOAT => {
                        ffi::sqlite3_column_double(self.statement, column);
                    }
                    _ => {
                        ffi::sqlite3_column_blob(self.statement, column);
                        ffi::sqlite3_column_bytes(self.statement, column);
                    }
                }
            }
        }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        self.reset();
        // SAFETY: the statement is live, and reset.
        unsafe { ffi::sqlite3_clear_bindings(self.statement) };
    }
}
