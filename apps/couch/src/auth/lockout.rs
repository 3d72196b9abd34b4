//! Clients that guess passwords are refused for a while.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is done about a client that guesses passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lockout {
    /// Nothing.
    Off,
    /// It is logged.
    Warn,
    /// The client is refused.
    Enforce,
}

/// The settings of lockouts.
#[derive(Debug, Clone, Copy)]
pub struct LockoutSettings {
    /// What is done.
    pub mode: Lockout,
    /// Failures of one client with one account.
    pub failures_max: u32,
    /// How long they are remembered, from the first one.
    pub lifetime: Duration,
    /// Clients and accounts that are remembered.
    pub entries_max: usize,
}

/// A client and an account. The salt changes with the password, which ends a lockout.
type Key = (IpAddr, String, String);

/// The failures of clients.
#[derive(Debug, Default)]
pub struct Lockouts(Mutex<HashMap<Key, (u32, Instant)>>);

impl Lockouts {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, (u32, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a client is refused.
    pub fn is_locked(
        &self,
        settings: &LockoutSettings,
        client: IpAddr,
        name: &str,
        salt: &str,
    ) -> bool {
        if settings.mode == Lockout::Off {
            return false;
        }
        let failures = self.lock();
        if failures.is_empty() {
            return false;
        }
        let key = (client, name.to_owned(), salt.to_owned());
        let is_over = failures.get(&key).is_some_and(|(count, first)| {
            *count >= settings.failures_max && first.elapsed() < settings.lifetime
        });
        if is_over {
            tracing::warn!(%client, user = name, "too many failed logins");
        }
        is_over && settings.mode == Lockout::Enforce
    }

    /// Counts a failure.
    pub fn count(&self, settings: &LockoutSettings, client: IpAddr, name: &str, salt: &str) {
        if settings.mode == Lockout::Off {
            return;
        }
        let mut failures = self.lock();
        let key = (client, name.to_owned(), salt.to_owned());
        if failures.len() >= settings.entries_max && !failures.contains_key(&key) {
            failures.retain(|_, (_, first)| first.elapsed() < settings.lifetime);
            if failures.len() >= settings.entries_max {
                // The client that failed least. A client can make its own failures forgotten only by failing elsewhere.
                let least = failures
                    .iter()
                    .min_by_key(|(_, (count, first))| (*count, *first));
                let least = least.map(|(key, _)| key.clone());
                failures.retain(|key, _| Some(key) != least.as_ref());
            }
        }
        let entry = failures.entry(key).or_insert((0, Instant::now()));
        if entry.1.elapsed() >= settings.lifetime {
            *entry = (0, Instant::now());
        }
        entry.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: LockoutSettings = LockoutSettings {
        mode: Lockout::Enforce,
        failures_max: 2,
        lifetime: Duration::from_secs(300),
        entries_max: 3,
    };

    fn client(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_client_is_refused_after_failures_with_an_account() {
        let lockouts = Lockouts::default();
        let is_locked = |settings: &LockoutSettings, last, name: &str, salt: &str| {
            lockouts.is_locked(settings, client(last), name, salt)
        };
        lockouts.count(&SETTINGS, client(1), "anna", "s");
        assert!(!is_locked(&SETTINGS, 1, "anna", "s"));
        lockouts.count(&SETTINGS, client(1), "anna", "s");
        assert!(is_locked(&SETTINGS, 1, "anna", "s"));
        assert!(!is_locked(&SETTINGS, 2, "anna", "s"), "another client");
        assert!(!is_locked(&SETTINGS, 1, "bert", "s"), "another account");
        assert!(!is_locked(&SETTINGS, 1, "anna", "t"), "another password");
        for mode in [Lockout::Off, Lockout::Warn] {
            let settings = LockoutSettings { mode, ..SETTINGS };
            assert!(!is_locked(&settings, 1, "anna", "s"));
        }
        let over = LockoutSettings {
            lifetime: Duration::ZERO,
            ..SETTINGS
        };
        assert!(!is_locked(&over, 1, "anna", "s"));
    }

    #[test]
    fn few_clients_are_remembered() {
        let lockouts = Lockouts::default();
        for _ in 0..2 {
            lockouts.count(&SETTINGS, client(1), "anna", "");
        }
        for last in 2..50 {
            lockouts.count(&SETTINGS, client(last), "anna", "");
        }
        assert_eq!(lockouts.lock().len(), SETTINGS.entries_max);
        assert!(lockouts.is_locked(&SETTINGS, client(1), "anna", ""));
    }
}
