//! A cache of the accounts in the database of users.

use crate::auth::{Account, Directory, ID_PREFIX};
use crate::store::{Database, Databases, Error, GetOptions};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The maximum number of cached accounts.
const ENTRIES_MAX: usize = 10_000;

/// The accounts of a folder of databases.
#[derive(Debug)]
pub struct Accounts {
    databases: Databases,
    entries: RwLock<HashMap<String, Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    seen: Seen,
    account: Option<Arc<Account>>,
}

/// What an entry was read from. The entry is valid while this stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// A version of the database.
    Version((u64, u64)),
    /// There was no database; the number counts creations and deletions of databases.
    Missing(u64),
}

impl Accounts {
    /// Creates an empty cache.
    pub fn new(databases: &Databases) -> Self {
        Accounts {
            databases: databases.clone(),
            entries: RwLock::default(),
        }
    }

    fn known(&self, name: &str, seen: Seen) -> Option<Entry> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(name).filter(|entry| entry.seen == seen);
        entry.cloned()
    }

    fn remember(&self, name: &str, entry: Entry) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ENTRIES_MAX {
            entries.clear();
        }
        entries.insert(name.to_owned(), entry);
    }
}

impl Directory for Accounts {
    fn account(&self, database: &str, name: &str) -> Result<Option<Arc<Account>>, String> {
        // The version is taken before the document: a write in between makes the entry outdated, not wrong.
        let missing = Seen::Missing(self.databases.changes());
        if let Some(entry) = self.known(name, missing) {
            return Ok(entry.account);
        }
        let (seen, account) = match self.databases.get(database) {
            Ok(users) => {
                let seen = Seen::Version(users.version());
                if let Some(entry) = self.known(name, seen) {
                    return Ok(entry.account);
                }
                (seen, read(&users, name).map_err(|error| error.to_string())?)
            }
            Err(Error::DatabaseMissing) => (missing, None),
            Err(error) => return Err(error.to_string()),
        };
        let entry = Entry {
            seen,
            account: account.clone(),
        };
        self.remember(name, entry);
        Ok(account)
    }
}

fn read(users: &Database, name: &str) -> Result<Option<Arc<Account>>, Error> {
    let options = GetOptions {
        conflicts: true,
        ..GetOptions::default()
    };
    let document = match users.get(&format!("{ID_PREFIX}{name}"), &options) {
        Ok(document) => document,
        Err(Error::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let fields = serde_json::from_str(&document.to_json());
    let fields = fields.map_err(|error| Error::BadRequest(error.to_string()))?;
    Ok(Some(Arc::new(Account::of_document(&fields))))
}
