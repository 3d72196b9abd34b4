//! The rows of the inputs, block by block, read here or ahead by another thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use super::block::Block;
use super::inputs::Inputs;
use crate::Error;
use crate::job::Progress;

/// Blocks that may wait: what bounds the memory.
const WAITING_MAX: usize = 2;

/// The interval at which cancellation is checked while the other thread waits for its input.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// The blocks of rows of the inputs, in their order.
pub(crate) enum Incoming<'a, 'scope> {
    /// Read when they are wanted.
    Here {
        inputs: Inputs<'a>,
        columns_version: (usize, usize),
    },
    /// Read ahead.
    Ahead {
        full: Receiver<Block>,
        empty: Sender<Block>,
        thread: Option<ScopedJoinHandle<'scope, ()>>,
    },
}

impl<'a, 'scope> Incoming<'a, 'scope> {
    /// The rows of inputs, read here.
    pub(crate) fn here(inputs: Inputs<'a>) -> Self {
        Incoming::Here {
            columns_version: inputs.columns_version(),
            inputs,
        }
    }

    /// The rows of inputs, read by a thread of this scope. It ends when this value is dropped, or the inputs end.
    pub(crate) fn ahead<'env>(scope: &'scope Scope<'scope, 'env>, mut inputs: Inputs<'a>) -> Self
    where
        'a: 'scope,
    {
        let (to_encoder, full) = sync_channel(WAITING_MAX);
        let (empty, from_encoder) = channel::<Block>();
        let thread = scope.spawn(move || {
            let mut columns_version = inputs.columns_version();
            loop {
                let mut block = from_encoder.try_recv().unwrap_or_default();
                block.fill(&mut inputs, &mut columns_version);
                let is_last = block.is_last();
                if to_encoder.send(block).is_err() || is_last {
                    return;
                }
            }
        });
        Incoming::Ahead {
            full,
            empty,
            thread: Some(thread),
        }
    }

    /// Replaces a block by the next one.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub(crate) fn next(&mut self, block: &mut Block, progress: &Progress) -> Result<(), Error> {
        match self {
            Incoming::Here {
                inputs,
                columns_version,
            } => block.fill(inputs, columns_version),
            Incoming::Ahead {
                full,
                empty,
                thread,
            } => {
                let next = loop {
                    match full.recv_timeout(LOOKS_EVERY) {
                        Ok(next) => break next,
                        Err(RecvTimeoutError::Timeout) => progress.check()?,
                        Err(RecvTimeoutError::Disconnected) => panicked(thread.take()),
                    }
                };
                // The thread may have ended.
                _ = empty.send(std::mem::replace(block, next));
            }
        }
        Ok(())
    }
}

/// Continues the panic of the thread: it ends by itself only after the last block.
fn panicked(thread: Option<ScopedJoinHandle<'_, ()>>) -> ! {
    match thread.map(ScopedJoinHandle::join) {
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        _ => unreachable!("the last block was taken before"),
    }
}
