//! A schema of `inorder` on a running server, removed when its last user has ended.
//!
//! The name of the schema identifies the process and machine that created it, and ends with a checksum. No other name
//! is mistaken for one of `inorder`. A schema is kept if its process still runs, or ran on a machine that cannot be
//! checked.

use super::url::ServerUrl;
use crate::{Error, server::owner::Owner};
use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher as _, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Duration,
};

/// Prefix of schema names.
pub const PREFIX: &str = "inorder_";

/// Returns a new name: `inorder_PID_BEGAN_PLACE_RANDOM_CHECK`, at most 63 lower-case letters, digits and underscores.
pub fn new_name() -> String {
    let owner = Owner::own();
    let random = RandomState::new().build_hasher().finish() as u32;
    let place = place().unwrap_or(0);
    let name = format!(
        "{PREFIX}{}_{}_{place:08x}_{random:08x}",
        owner.pid, owner.began
    );
    format!("{name}_{:08x}", check(&name))
}

/// Owner of a schema according to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not created by `inorder`.
    Foreign,
    /// Created by a process that has ended.
    Abandoned,
    /// Created by a running process, or on another machine.
    InUse,
}

/// Reads the owner from a name.
pub fn standing(name: &str) -> Standing {
    let Some((owner, made_at)) = read(name) else {
        return Standing::Foreign;
    };
    match place() == Some(made_at) && owner.is_gone() {
        true => Standing::Abandoned,
        false => Standing::InUse,
    }
}

fn read(name: &str) -> Option<(Owner, u32)> {
    let (body, sum) = name.rsplit_once('_')?;
    if u32::from_str_radix(sum, 16).ok()? != check(body) {
        return None;
    }
    let mut fields = body.strip_prefix(PREFIX)?.split('_');
    let owner = Owner {
        pid: fields.next()?.parse().ok()?,
        began: fields.next()?.parse().ok()?,
    };
    Some((owner, u32::from_str_radix(fields.next()?, 16).ok()?))
}

/// Returns an identifier for this boot of this machine and its PID namespace (a container has its own). Returns
/// `None` if the system reveals neither; then no process counts as ended.
fn place() -> Option<u32> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(check(&format!("{boot}{}", space.display())))
}

/// FNV-1a, 32 bits (<https://www.rfc-editor.org/rfc/rfc9923>).
fn check(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

/// What happens to the sessions that use a schema before it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// They have ended.
    Gone,
    /// They are ended.
    End,
}

/// Removes a schema of this name. Returns whether it is gone.
pub type Remove = fn(&ServerUrl, &str, Sessions) -> bool;

/// A schema on a server.
#[derive(Clone)]
struct Schema {
    url: ServerUrl,
    name: String,
    remove: Remove,
}

/// The schemas of this process.
struct Own {
    schemas: Vec<Schema>,
    /// Whether this process ends, and creates no further one.
    is_ending: bool,
}

static OWN: Mutex<Own> = Mutex::new(Own {
    schemas: Vec::new(),
    is_ending: false,
});

/// How often a schema is removed by a process that ends: one of its threads may open a session meanwhile.
const REMOVALS_MAX: usize = 3;

/// A schema. Dropping it removes the schema.
pub struct Guest(Schema);

impl Guest {
    /// Creates a schema with a new name by `create`. A process that ends waits until it is created, and removes it.
    ///
    /// # Errors
    /// Those of `create`, and if this process ends.
    pub fn create(
        url: &ServerUrl,
        create: impl FnOnce(&str) -> Result<(), Error>,
        remove: Remove,
    ) -> Result<Self, Error> {
        let mut own = own();
        if own.is_ending {
            return Err(url.error("this process ends"));
        }
        let name = new_name();
        create(&name)?;
        let url = url.clone();
        let schema = Schema { url, name, remove };
        own.schemas.push(schema.clone());
        Ok(Guest(schema))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.remove(Sessions::Gone);
        own().schemas.retain(|schema| schema.name != self.0.name);
    }
}

impl Schema {
    fn remove(&self, sessions: Sessions) -> bool {
        (self.remove)(&self.url, &self.name, sessions)
    }
}

/// Ends the sessions of this process in its schemas and removes these, for a process that ends: it creates no schema
/// from now on. Returns whether all of them are gone within `limit`.
pub fn remove_own(limit: Duration) -> bool {
    let (sender, removed) = mpsc::channel();
    thread::spawn(move || {
        let schemas = {
            let mut own = own();
            own.is_ending = true;
            own.schemas.clone()
        };
        let mut schemas = schemas.iter();
        let are_gone =
            schemas.all(|schema| (0..REMOVALS_MAX).any(|_| schema.remove(Sessions::End)));
        let _ = sender.send(are_gone);
    });
    removed.recv_timeout(limit) == Ok(true)
}

fn own() -> MutexGuard<'static, Own> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn made_by(owner: Owner, place: u32) -> String {
        let name = format!("{PREFIX}{}_{}_{place:08x}_0000002a", owner.pid, owner.began);
        format!("{name}_{:08x}", check(&name))
    }

    #[test]
    fn only_what_a_gone_process_of_this_machine_made_is_abandoned() {
        let own = new_name();
        assert!(own.len() <= 63, "{own}");
        assert_eq!(standing(&own), Standing::InUse);
        let gone = Owner {
            pid: 999_999_999,
            began: 5,
        };
        let place = place().unwrap();
        assert_eq!(standing(&made_by(gone, place)), Standing::Abandoned);
        assert_eq!(standing(&made_by(gone, place ^ 1)), Standing::InUse);
    }

    #[test]
    fn other_names_are_foreign() {
        let gone = made_by(
            Owner {
                pid: 999_999_999,
                began: 5,
            },
            place().unwrap(),
        );
        for name in [
            "",
            "public",
            "inorder",
            "inorder_",
            "inorder_backup",
            "inorder_1_2_3_4_5",
            &gone[1..],
            &gone.replace('9', "8"),
        ] {
            assert_eq!(standing(name), Standing::Foreign, "{name}");
        }
        assert_ne!(new_name(), new_name());
    }
}
