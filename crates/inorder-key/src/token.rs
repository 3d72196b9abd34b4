//! Tokens: random bytes without order.

use core::fmt;
use core::str::FromStr;

use crate::{Error, text};

/// A token of `N` random bytes, as for sessions and invitations. Its text has twice as many hex digits.
///
/// A token is a secret, so `Debug` prints none of its bytes. The text and the bytes contain all of it.
///
/// ```
/// use inorder_key::Token;
/// let token = Token::<20>::new();
/// assert_eq!(token.to_string().len(), 40);
/// assert_eq!(token.to_string().parse(), Ok(token));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token<const N: usize>([u8; N]);

impl<const N: usize> Token<N> {
    /// Length of the text form in characters.
    pub const TEXT_BYTES: usize = 2 * N;

    /// Creates a new token.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[cfg(feature = "std")]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let mut bytes = [0; N];
        fill_random(&mut bytes);
        Self(bytes)
    }

    /// Creates the token of these bytes.
    pub const fn from_bytes(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn to_bytes(self) -> [u8; N] {
        self.0
    }

    /// Reads the hex digits in upper or lower case.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Character`], each with the position.
    pub fn parse(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        const WHAT: &str = "a token";
        let text = text.as_ref();
        if text.len() != Self::TEXT_BYTES {
            return Err(text::length(WHAT, Self::TEXT_BYTES, "characters", text));
        }
        let mut bytes = [0; N];
        text::read_hex(WHAT, text, &mut bytes)?;
        Ok(Self(bytes))
    }

    /// Writes the text form in lower-case hex digits, without allocation.
    ///
    /// # Panics
    /// If `out` is not [`Token::TEXT_BYTES`] long.
    pub fn write_text(self, out: &mut [u8]) {
        assert_eq!(out.len(), Self::TEXT_BYTES);
        text::write_hex(&self.0, out);
    }
}

impl<const N: usize> fmt::Display for Token<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Token<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({N} bytes)")
    }
}

impl<const N: usize> FromStr for Token<N> {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

/// Fills `out` with random bytes that are suitable for secrets, from the generator of all ids of this crate.
///
/// The generator is a buffered ChaCha8 generator per thread. It takes its key from the operating system, and a new
/// one after a fork. It erases its output. It takes about a quarter of a nanosecond per byte.
///
/// # Panics
/// If the system gives no random bytes.
#[cfg(feature = "std")]
pub fn fill_random(out: &mut [u8]) {
    crate::rng::with(|rng| rng.fill(out));
}
