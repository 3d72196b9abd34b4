//! A writer that repeats a transaction after a conflict with another one.

use crate::{Batch, Error, Retry, Writer};
use std::{ops::Range, thread};

/// Stores the rows of the open transaction, and writes them again after [`Error::Conflict`].
pub struct ReplayWriter {
    inner: Box<dyn Writer>,
    /// Operations of the open transaction so far.
    written: Vec<Batch>,
    retry: Retry,
    retries: u64,
}

impl ReplayWriter {
    /// Wraps `inner`, and repeats its transactions as often as the policy allows.
    pub fn new(inner: Box<dyn Writer>, retry: Retry) -> Self {
        ReplayWriter {
            inner,
            written: Vec::new(),
            retry,
            retries: 0,
        }
    }

    /// Runs an operation, and repeats it from the beginning of the transaction after a conflict.
    fn again(
        &mut self,
        mut step: impl FnMut(&mut dyn Writer) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut done = step(self.inner.as_mut());
        let mut tries = 0;
        while let Err(Error::Conflict { .. }) = done {
            if tries == self.retry.retries_max {
                return Err(Error::Busy { retries: tries });
            }
            thread::sleep(self.retry.pause * 2_u32.pow(tries.min(6) as u32));
            tries += 1;
            self.retries += 1;
            done = self.replay().and_then(|()| step(self.inner.as_mut()));
        }
        done
    }

    /// Begins the transaction again and repeats its operations.
    fn replay(&mut self) -> Result<(), Error> {
        self.inner.rollback()?;
        self.inner.begin()?;
        for batch in &self.written {
            let inserted = self.inner.insert(batch, 0..batch.rows());
            inserted.map_err(|error| match error {
                // The row number refers to an earlier batch.
                Error::Row { table, message, .. } => Error::Database {
                    doing: format!("retrying the insert into {table} after a conflict"),
                    message,
                },
                other => other,
            })?;
        }
        Ok(())
    }
}

impl Writer for ReplayWriter {
    fn begin(&mut self) -> Result<(), Error> {
        self.written.clear();
        self.inner.begin()
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.again(|inner| inner.insert(batch, rows.clone()))?;
        let picks: Vec<u32> = rows.map(|row| row as u32).collect();
        let columns = batch.columns.iter().map(|column| column.gather(&picks));
        self.written.push(Batch {
            columns: columns.collect(),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.again(|inner| inner.commit())?;
        self.written.clear();
        Ok(())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.written.clear();
        self.inner.rollback()
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        self.inner.checkpoint_if_due()
    }

    fn retries(&self) -> u64 {
        self.retries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;
    use std::sync::{Arc, Mutex};

    /// Reports its calls, and fails some of them.
    struct Told {
        heard: Arc<Mutex<Vec<String>>>,
        conflicts: u32,
    }

    impl Told {
        fn hear(&mut self, what: String) -> Result<(), Error> {
            let refuses = what == "commit" && self.conflicts > 0;
            self.heard.lock().unwrap().push(what);
            if !refuses {
                return Ok(());
            }
            self.conflicts -= 1;
            Err(Error::Conflict {
                doing: "COMMIT".to_owned(),
                message: "deadlock".to_owned(),
            })
        }
    }

    impl Writer for Told {
        fn begin(&mut self) -> Result<(), Error> {
            self.hear("begin".to_owned())
        }
        fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
            let values: Vec<_> = rows.map(|row| batch.columns[0].value(row)).collect();
            self.hear(format!("insert {values:?}"))
        }
        fn commit(&mut self) -> Result<(), Error> {
            self.hear("commit".to_owned())
        }
        fn rollback(&mut self) -> Result<(), Error> {
            self.hear("rollback".to_owned())
        }
        fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
            Ok(false)
        }
        fn retries(&self) -> u64 {
            0
        }
    }

    fn run(conflicts: u32, retries_max: u64) -> (Result<(), Error>, Vec<String>, u64) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = Told {
            heard: Arc::clone(&heard),
            conflicts,
        };
        let retry = Retry {
            retries_max,
            ..Retry::default()
        };
        let mut writer = ReplayWriter::new(Box::new(told), retry);
        let batch = Batch {
            columns: vec![Column::Integers(vec![7, 8, 9])],
        };
        writer.begin().unwrap();
        writer.insert(&batch, 1..2).unwrap();
        writer.insert(&batch, 2..3).unwrap();
        let done = writer.commit();
        let heard = heard.lock().unwrap().clone();
        (done, heard, writer.retries())
    }

    #[test]
    fn a_transaction_that_another_was_in_the_way_of_is_done_again() {
        let (done, heard, retries) = run(1, 10);
        done.unwrap();
        let rows = ["insert [Integer(8)]", "insert [Integer(9)]"];
        let once = [&["begin"][..], &rows, &["commit"]].concat();
        let twice = [&once[..], &["rollback"], &once].concat();
        assert_eq!(heard, twice);
        assert_eq!(retries, 1);
    }

    #[test]
    fn it_is_not_done_again_for_ever() {
        let (done, heard, retries) = run(100, 3);
        assert!(matches!(done, Err(Error::Busy { retries: 3 })));
        assert_eq!(heard.iter().filter(|what| *what == "commit").count(), 4);
        assert_eq!(retries, 3);
    }
}
