//! `admin.json` in the data folder: the admin, the secret of sessions and the server's own id, across restarts.

use anyhow::Context;
use inorder_couch::auth::{Admin, hex, password::PasswordHash, random};
use inorder_serve::private;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "admin.json";

/// The content of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The server's id, 32 hexadecimal digits; replications name it in their checkpoints.
    pub uuid: String,
    /// Signs sessions.
    pub secret: String,
    /// The admin's name and hashed password.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    admin: Option<(String, String)>,
}

impl Identity {
    /// Reads the file of a data folder, or makes a new one in it.
    ///
    /// # Errors
    /// If the file can't be read, is damaged, or can't be written.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(FILE);
        match fs::read(&path) {
            Ok(text) => {
                let identity: Identity = serde_json::from_slice(&text)
                    .with_context(|| format!("{} is damaged", path.display()))?;
                identity
                    .admin()
                    .with_context(|| format!("{} is damaged", path.display()))?;
                Ok(identity)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let identity = Identity {
                    uuid: hex(&random::<16>()),
                    secret: hex(&random::<32>()),
                    admin: None,
                };
                identity.write(folder)?;
                Ok(identity)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// The admin, if one was ever set.
    ///
    /// # Errors
    /// If the password in the file is no hash.
    pub fn admin(&self) -> anyhow::Result<Option<Admin>> {
        let Some((name, hash)) = &self.admin else {
            return Ok(None);
        };
        let (name, password) = (name.clone(), hash.parse::<PasswordHash>()?);
        Ok(Some(Admin { name, password }))
    }

    /// Sets the admin, and writes the file.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn set_admin(&mut self, folder: &Path, admin: &Admin) -> anyhow::Result<()> {
        self.admin = Some((admin.name.clone(), admin.password.to_string()));
        self.write(folder)
    }

    /// Replaces the file. Only its owner can read it.
    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_vec_pretty(self)?;
        private::replace(&path, &text).with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_identity_stays_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Identity::open(folder.path()).unwrap();
        assert!(first.admin().unwrap().is_none());
        let admin = Admin {
            name: "anna".into(),
            password: PasswordHash::new("secret", 1),
        };
        first.set_admin(folder.path(), &admin).unwrap();
        let second = Identity::open(folder.path()).unwrap();
        assert_eq!((&second.uuid, &second.secret), (&first.uuid, &first.secret));
        let admin = second.admin().unwrap().unwrap();
        assert!(admin.name == "anna" && admin.password.verify("secret"));
        let mode = fs::metadata(folder.path().join(FILE)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_file_is_named_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for damaged in [
            "{",
            r#"{"uuid":"a","secret":"b","admin":["anna","secret"]}"#,
        ] {
            fs::write(folder.path().join(FILE), damaged).unwrap();
            let error = Identity::open(folder.path()).unwrap_err();
            assert!(error.to_string().contains("admin.json is damaged"));
            assert_eq!(
                fs::read_to_string(folder.path().join(FILE)).unwrap(),
                damaged
            );
        }
    }
}
