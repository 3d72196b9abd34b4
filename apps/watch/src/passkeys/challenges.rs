//! Challenges that wait for their answers, in bounded memory.

use inorder_key::Token;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Random bytes that an authenticator signs.
pub type Challenge = [u8; 32];

/// The time for an answer. A browser waits as long for the user.
pub const CHALLENGE_LIFETIME: Duration = Duration::from_secs(5 * 60);

/// Challenges that wait. When more come, the oldest half goes.
const WAITING_MAX: usize = 10_000;

/// What an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A visitor signs in.
    SignIn,
    /// A user who is signed in adds a passkey.
    Add,
}

/// What a challenge is for, and the hash of the browser's cookie.
type Owner = (Purpose, [u8; 32]);

/// The challenges that wait, with their begin: one per browser and purpose.
#[derive(Default)]
pub struct Challenges(Mutex<HashMap<Owner, (Challenge, Instant)>>);

impl Challenges {
    /// A new challenge for the browser with the cookie of this hash. One that it had before is void.
    pub fn begin(&self, purpose: Purpose, browser: [u8; 32]) -> Challenge {
        self.begin_at(purpose, browser, Instant::now())
    }

    fn begin_at(&self, purpose: Purpose, browser: [u8; 32], now: Instant) -> Challenge {
        let challenge = Token::<32>::new().to_bytes();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= WAITING_MAX {
            waiting.retain(|_, (_, begun)| now < *begun + CHALLENGE_LIFETIME);
        }
        if waiting.len() >= WAITING_MAX {
            let mut times: Vec<Instant> = waiting.values().map(|(_, begun)| *begun).collect();
            let (_, &mut middle, _) = times.select_nth_unstable(WAITING_MAX / 2);
            waiting.retain(|_, (_, begun)| *begun > middle);
        }
        waiting.insert((purpose, browser), (challenge, now));
        challenge
    }

    /// The challenge of this browser, which is void from now on. Returns nothing if none waits.
    pub fn take(&self, purpose: Purpose, browser: [u8; 32]) -> Option<Challenge> {
        self.take_at(purpose, browser, Instant::now())
    }

    fn take_at(&self, purpose: Purpose, browser: [u8; 32], now: Instant) -> Option<Challenge> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (challenge, begun) = waiting.remove(&(purpose, browser))?;
        (now < begun + CHALLENGE_LIFETIME).then_some(challenge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_good_once_for_its_browser_and_purpose_and_not_for_long() {
        let challenges = Challenges::default();
        let start = Instant::now();
        let void = challenges.begin_at(Purpose::SignIn, [1; 32], start);
        let challenge = challenges.begin_at(Purpose::SignIn, [1; 32], start);
        assert_ne!(void, challenge);
        let soon = start + CHALLENGE_LIFETIME - Duration::from_secs(1);
        assert_eq!(challenges.take_at(Purpose::SignIn, [2; 32], soon), None);
        assert_eq!(challenges.take_at(Purpose::Add, [1; 32], soon), None);
        assert_eq!(
            challenges.take_at(Purpose::SignIn, [1; 32], soon),
            Some(challenge)
        );
        assert_eq!(challenges.take_at(Purpose::SignIn, [1; 32], soon), None);
        challenges.begin_at(Purpose::Add, [1; 32], start);
        assert_eq!(
            challenges.take_at(Purpose::Add, [1; 32], start + CHALLENGE_LIFETIME),
            None
        );
    }

    #[test]
    fn memory_is_bounded_and_the_newest_stay() {
        let challenges = Challenges::default();
        let start = Instant::now();
        let browser = |i: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&i.to_le_bytes());
            hash
        };
        for i in 0..3 * WAITING_MAX {
            let now = start + Duration::from_micros(i as u64);
            challenges.begin_at(Purpose::SignIn, browser(i), now);
        }
        assert!(challenges.0.lock().unwrap().len() <= WAITING_MAX);
        let take = |i| challenges.take_at(Purpose::SignIn, browser(i), start);
        assert!(take(0).is_none() && take(3 * WAITING_MAX - 1).is_some());
    }
}
