//! One COPY for all batches, in a thread that holds the connection until the COPY ends.

use super::copy::{self, Copy};
use crate::{Batch, server::session::Session};
use postgres::Client;
use std::{
    io::Write as _,
    ops::Range,
    sync::mpsc::{SyncSender, sync_channel},
    thread::{self, JoinHandle},
};

/// Maximum number of batches in the queue, which limits the memory.
const WAITING_MAX: usize = 2;

/// Rows as text; `None` at their end.
type Chunk = Option<Vec<u8>>;

/// A running COPY.
pub struct Stream {
    chunks: SyncSender<Chunk>,
    thread: JoinHandle<(Session<Client>, Result<u64, postgres::Error>)>,
}

impl Stream {
    /// Starts the COPY.
    pub fn start(mut session: Session<Client>, copy: &Copy) -> Self {
        let (chunks, waiting) = sync_channel::<Chunk>(WAITING_MAX);
        let statement = copy.statement.clone();
        let thread = thread::spawn(move || {
            let mut send = || {
                let mut sink = session.connection.copy_in(&statement)?;
                while let Ok(chunk) = waiting.recv() {
                    match chunk {
                        // `finish` returns the error.
                        Some(chunk) if sink.write_all(&chunk).is_ok() => {}
                        _ => return sink.finish(),
                    }
                }
                // The end marker is missing: the sink is dropped, which aborts the COPY.
                Ok(0)
            };
            let sent = send();
            (session, sent)
        });
        Stream { chunks, thread }
    }

    /// Sends rows. The server reports refused rows only at the end.
    pub fn send(&self, copy: &Copy, batch: &Batch, rows: Range<usize>) {
        let mut chunk = Vec::new();
        copy::text(&copy.types, batch, rows, &mut chunk);
        let _ = self.chunks.send(Some(chunk));
    }

    /// Ends the COPY, with all rows stored or none. Returns the session and the number of rows.
    pub fn end(self, is_complete: bool) -> (Session<Client>, Result<u64, postgres::Error>) {
        if is_complete {
            let _ = self.chunks.send(None);
        }
        drop(self.chunks);
        match self.thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
