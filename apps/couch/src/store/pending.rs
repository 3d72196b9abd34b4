//! The answer to a write that is under way.

use super::{Error, Result};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// The answer to a write: await it, or [`Pending::wait`] for it. The write continues without a waiting caller.
#[derive(Debug)]
#[must_use = "a write that is not waited for may have failed"]
pub struct Pending<T>(State<T>);

#[derive(Debug)]
enum State<T> {
    Waiting(oneshot::Receiver<Result<T>>),
    Known(Option<Result<T>>),
}

impl<T> Pending<T> {
    pub(crate) fn new(receiver: oneshot::Receiver<Result<T>>) -> Self {
        Pending(State::Waiting(receiver))
    }

    pub(crate) fn known(result: Result<T>) -> Self {
        Pending(State::Known(Some(result)))
    }

    /// Blocks the thread until the write is durable, as far as [`Synchronous`](super::Synchronous) says.
    ///
    /// # Errors
    /// Why it is not.
    ///
    /// # Panics
    /// Inside an asynchronous task: await it there.
    pub fn wait(self) -> Result<T> {
        match self.0 {
            State::Waiting(receiver) => receiver.blocking_recv().unwrap_or(Err(Error::Closed)),
            State::Known(result) => result.unwrap_or(Err(Error::Closed)),
        }
    }
}

impl<T: Unpin> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        match &mut self.0 {
            State::Waiting(receiver) => Pin::new(receiver)
                .poll(context)
                .map(|told| told.unwrap_or(Err(Error::Closed))),
            State::Known(result) => Poll::Ready(result.take().unwrap_or(Err(Error::Closed))),
        }
    }
}
