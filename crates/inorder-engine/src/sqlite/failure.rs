//! SQLite's error codes, their conversion to errors, and the retries of a locked database.

use crate::{Error, Retry};
use rusqlite::ffi;
use std::{ffi::c_int, path::Path, thread, time::Duration};

/// Maximum growth of the pause between retries, which doubles per retry.
const PAUSE_GROWTH_MAX: u32 = 64;

/// A failed call of SQLite.
#[derive(Debug)]
pub struct Failure {
    /// The extended result code.
    pub code: c_int,
    /// SQLite's message.
    pub message: String,
    /// Number of retries before giving up.
    pub retries: u64,
}

impl Failure {
    /// Returns whether another connection holds the lock.
    pub fn is_busy(&self) -> bool {
        self.primary() == ffi::SQLITE_BUSY
    }

    /// Returns whether the row caused the error: a constraint, a wrong type for a rowid, a value that is too large.
    pub fn is_of_the_row(&self) -> bool {
        matches!(
            self.primary(),
            ffi::SQLITE_CONSTRAINT | ffi::SQLITE_MISMATCH | ffi::SQLITE_TOOBIG
        )
    }

    /// Converts it to the crate's error for an operation on the database at `path`.
    pub fn into_error(self, doing: &str, path: &Path) -> Error {
        match self.primary() {
            ffi::SQLITE_FULL => Error::DiskFull { path: path.into() },
            ffi::SQLITE_BUSY => Error::Busy {
                retries: self.retries,
            },
            _ => Error::Database {
                doing: doing.into(),
                message: self.message,
            },
        }
    }

    /// Returns the primary code, which is the low byte of an extended code.
    fn primary(&self) -> c_int {
        self.code & 0xff
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        let code = error
            .sqlite_error()
            .map_or(ffi::SQLITE_ERROR, |error| error.extended_code);
        let message = match error {
            rusqlite::Error::SqliteFailure(_, Some(message)) => message,
            // SQLite's message repeats the statement, which the error already contains.
            rusqlite::Error::SqlInputError { msg, .. } => msg,
            other => other.to_string(),
        };
        Failure {
            code,
            message,
            retries: 0,
        }
    }
}

/// Retries according to a policy. SQLite's own busy handler is off in this case, so that every retry is counted.
pub struct Patience {
    policy: Retry,
    retries: u64,
}

impl Patience {
    pub fn new(policy: Retry) -> Self {
        Patience { policy, retries: 0 }
    }

    /// Number of retries so far, over all calls.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Repeats a call until the lock is free or the policy's retries are used up. The pause between retries doubles
    /// up to [`PAUSE_GROWTH_MAX`] times the first one.
    pub fn wait_for<T>(
        &mut self,
        mut attempt: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut pause = self.policy.pause;
        let mut retries = 0;
        loop {
            match attempt() {
                Err(failure) if failure.is_busy() => {
                    if retries == self.policy.retries_max {
                        return Err(Failure { retries, ..failure });
                    }
                }
                other => return other,
            }
            retries += 1;
            self.retries += 1;
            thread::sleep(pause);
            pause = next_pause(pause, self.policy.pause);
        }
    }
}

fn next_pause(pause: Duration, first: Duration) -> Duration {
    (pause * 2).min(first * PAUSE_GROWTH_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> Failure {
        Failure {
            code: ffi::SQLITE_BUSY_SNAPSHOT,
            message: "database is locked".into(),
            retries: 0,
        }
    }

    #[test]
    fn patience_retries_and_ends() {
        let mut patience = Patience::new(Retry {
            retries_max: 3,
            pause: Duration::from_nanos(1),
        });
        let mut attempts = 0;
        let failure = patience
            .wait_for(|| {
                attempts += 1;
                Err::<(), _>(busy())
            })
            .unwrap_err();
        assert_eq!((attempts, failure.retries, patience.retries()), (4, 3, 3));

        let mut left = 2;
        let answer = patience.wait_for(|| {
            left -= 1;
            if left == 0 { Ok(7) } else { Err(busy()) }
        });
        assert_eq!((answer.unwrap(), patience.retries()), (7, 4));
    }

    #[test]
    fn pauses_double_up_to_64_times_the_first() {
        let first = Duration::from_micros(50);
        let pauses: Vec<_> = std::iter::successors(Some(first), |&p| Some(next_pause(p, first)))
            .map(|pause| pause.as_micros() / 50)
            .take(9)
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    }
}
