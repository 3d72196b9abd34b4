//! A generator of one's own.

use std::marker::PhantomData;

use crate::rng::KeyRng;
use crate::sequence::{Rules, Sequence};
use crate::{Clock, Error, Method, Overflow, SystemClock, TimeId, Ulid};

/// A generator of strictly increasing ids for one owner: [`Ulid`]s, or [`Uuid`](crate::Uuid)s of version 7.
///
/// Its ids are in order among themselves. Threads that share one put it behind a lock; [`Factory`](crate::Factory) needs
/// none, and orders the ids of a whole process.
///
/// - A clock that stands still or steps back changes nothing: ids go on from the last one.
/// - When a millisecond has no id left, [`Overflow`] decides.
/// - After a fork the child takes fresh randomness before its next id.
///
/// ```
/// use inorder_key::{Generator, Method, Overflow, Uuid};
/// let mut ids = Generator::<Uuid>::new(Method::Counter { bits: 26 }, Overflow::RunAhead)?;
/// assert!(ids.next()? < ids.next()?);
/// # Ok::<(), inorder_key::Error>(())
/// ```
pub struct Generator<I, C = SystemClock> {
    sequence: Sequence,
    rng: KeyRng,
    clock: C,
    id: PhantomData<I>,
}

impl<I: TimeId> Generator<I> {
    /// A generator on the system's clock.
    ///
    /// # Errors
    /// [`Error::Method`] if the bits of the method are out of range, [`Error::Entropy`] if the system gives no random
    /// bytes.
    pub fn new(method: Method, overflow: Overflow) -> Result<Self, Error> {
        Self::with_clock(method, overflow, SystemClock)
    }
}

impl Generator<Ulid> {
    /// A generator that keeps to the ULID specification: in one millisecond each ULID is the last plus one, and the one
    /// after the greatest is refused.
    ///
    /// # Errors
    /// [`Error::Entropy`] if the system gives no random bytes.
    pub fn strict() -> Result<Self, Error> {
        Self::new(Method::ULID_SPEC, Overflow::Refuse)
    }
}

impl<I: TimeId, C: Clock> Generator<I, C> {
    /// A generator on another clock.
    ///
    /// # Errors
    /// As [`Generator::new`].
    pub fn with_clock(method: Method, overflow: Overflow, clock: C) -> Result<Self, Error> {
        Ok(Self {
            sequence: Sequence::new(Rules::new(method, overflow, I::TAIL_BITS)?),
            rng: KeyRng::from_system()?,
            clock,
            id: PhantomData,
        })
    }

    /// The next id.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if none is left, [`Error::Entropy`] if the system gives no random bytes after a fork.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<I, Error> {
        self.rng.rekey_if_forked()?;
        let now = self.clock.read(1).time;
        self.sequence.next(now, &mut self.rng).map(I::from_number)
    }

    /// Fills `out` with the next ids, the clock read once for many.
    ///
    /// # Errors
    /// As [`Generator::next`]; ids before the one that failed are written and used up.
    pub fn fill(&mut self, out: &mut [I]) -> Result<(), Error> {
        self.rng.rekey_if_forked()?;
        self.sequence
            .fill(&mut self.clock, &mut self.rng, out, |number, id| {
                *id = I::from_number(number);
            })
    }
}
