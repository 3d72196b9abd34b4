//! The session cookies that were verified: the next request with one needs no MAC.

use super::{Account, Policy, User};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Sessions that are remembered.
const ENTRIES_MAX: usize = 10_000;

/// A session whose signature was verified.
#[derive(Debug, Clone)]
pub struct Session {
    /// The user.
    pub user: User,
    /// The time in the cookie, in seconds since 1970.
    pub made_seconds: u64,
    /// The policy with the key of the signature, and the account with its salt.
    signed_with: (Arc<Policy>, Arc<Account>),
}

impl Session {
    /// A session that was verified with the key of this policy and this account.
    pub fn new(
        user: User,
        made_seconds: u64,
        policy: &Arc<Policy>,
        account: &Arc<Account>,
    ) -> Self {
        Session {
            user,
            made_seconds,
            signed_with: (Arc::clone(policy), Arc::clone(account)),
        }
    }

    /// Whether policy and account are still those that it was verified with.
    pub fn is_of(&self, policy: &Arc<Policy>, account: &Arc<Account>) -> bool {
        let (of_policy, of_account) = &self.signed_with;
        Arc::ptr_eq(of_policy, policy) && Arc::ptr_eq(of_account, account)
    }
}

/// The sessions that were verified, by their cookies.
#[derive(Debug, Default)]
pub struct Sessions(RwLock<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Returns the session of a cookie.
    pub fn get(&self, token: &str) -> Option<Arc<Session>> {
        let sessions = self.0.read().unwrap_or_else(PoisonError::into_inner);
        sessions.get(token).cloned()
    }

    /// Remembers a session.
    pub fn add(&self, token: &str, session: Session) {
        let mut sessions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= ENTRIES_MAX {
            sessions.clear();
        }
        sessions.insert(token.to_owned(), Arc::new(session));
    }
}
