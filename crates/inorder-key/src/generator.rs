//! A generator for one owner.

use std::marker::PhantomData;

use crate::rng::KeyRng;
use crate::sequence::{Rules, Sequence};
use crate::{Clock, Error, Method, Overflow, SystemClock, TimeId, Ulid};

/// A generator of strictly increasing ids for one owner: [`Ulid`]s, or [`Uuid`](crate::Uuid)s of version 7.
///
/// Its ids are in order among themselves. Threads that share a generator need a lock. [`Factory`](crate::Factory)
/// needs none, and orders the ids of a whole process.
///
/// - A clock that stands still or is set back is ignored. The ids continue from the last one.
/// - [`Overflow`] defines what happens when a millisecond has no id left.
/// - After a fork the child draws new random bits before its next id.
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
    /// Creates a generator with the system clock.
    ///
    /// # Errors
    /// [`Error::Method`] if the bits of the method are out of range, [`Error::Entropy`] if the system gives no random
    /// bytes.
    pub fn new(method: Method, overflow: Overflow) -> Result<Self, Error> {
        Self::with_clock(method, overflow, SystemClock)
    }
}

impl Generator<Ulid> {
    /// Creates a generator that follows the ULID specification. Within a millisecond each ULID is the last one plus
    /// one. After the greatest id, the generator returns an error.
    ///
    /// # Errors
    /// [`Error::Entropy`] if the system gives no random bytes.
    pub fn strict() -> Result<Self, Error> {
        Self::new(Method::ULID_SPEC, Overflow::Refuse)
    }
}

impl<I: TimeId, C: Clock> Generator<I, C> {
    /// Creates a generator with another clock.
    ///
    /// # Errors
    /// Those of [`Generator::new`].
    pub fn with_clock(method: Method, overflow: Overflow, clock: C) -> Result<Self, Error> {
        Ok(Self {
            sequence: Sequence::new(Rules::new(method, overflow, I::TAIL_BITS)?),
            rng: KeyRng::from_system()?,
            clock,
            id: PhantomData,
        })
    }

    /// Returns the next id.
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

    /// Fills `out` with the next ids, and reads the clock once for many of them.
    ///
    /// # Errors
    /// Those of [`Generator::next`]. The ids before the failed one are written and used.
    pub fn fill(&mut self, out: &mut [I]) -> Result<(), Error> {
        self.rng.rekey_if_forked()?;
        self.sequence
            .fill(&mut self.clock, &mut self.rng, out, |number, id| {
                *id = I::from_number(number);
            })
    }
}
