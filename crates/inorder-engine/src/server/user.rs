//! The user of a server, because servers refuse to run as root.

use crate::Error;
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

/// An unprivileged user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    uid: u32,
    gid: u32,
}

impl User {
    /// Returns the user for a server: the current one, or in place of root the first of these names that exists.
    ///
    /// # Errors
    /// If none of them exists.
    pub fn choose(engine: &'static str, names: &[&str]) -> Result<Option<Self>, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let found = names.iter().find_map(|name| in_passwd(&passwd, name));
        found.map(Some).ok_or_else(|| Error::Unsupported {
            engine,
            what: format!("run as root without one of the users {}", names.join(", ")),
        })
    }

    /// Makes a command run as this user, without root's groups.
    pub fn run(self, command: &mut Command) {
        command.gid(self.gid).uid(self.uid);
    }

    /// Changes the owner of a file or folder to this user.
    pub fn give(self, path: &Path) -> Result<(), Error> {
        chown(path, Some(self.uid), Some(self.gid)).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns whether this user can access every folder above `path`.
    pub fn reaches(self, path: &Path) -> bool {
        path.ancestors().skip(1).all(|folder| {
            let Ok(metadata) = fs::metadata(folder) else {
                return false;
            };
            let bit = match metadata {
                _ if metadata.uid() == self.uid => 0o100,
                _ if metadata.gid() == self.gid => 0o010,
                _ => 0o001,
            };
            metadata.mode() & bit != 0
        })
    }
}

/// A line of `/etc/passwd`: name:password:uid:gid:…
fn in_passwd(passwd: &str, name: &str) -> Option<User> {
    let mut fields = passwd
        .lines()
        .map(|line| line.split(':'))
        .find(|fields| fields.clone().next() == Some(name))?
        .skip(2);
    Some(User {
        uid: fields.next()?.parse().ok()?,
        gid: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n";
        let nobody = User {
            uid: 65534,
            gid: 65533,
        };
        assert_eq!(in_passwd(passwd, "nobody"), Some(nobody));
        assert_eq!(in_passwd(passwd, "no"), None);
        assert!(nobody.reaches(Path::new("/usr/bin")));
        assert!(!nobody.reaches(Path::new("/nowhere/at/all")));
    }
}
