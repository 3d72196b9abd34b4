//! The security object of a database: its admins and its members.

use super::User;
use super::user::ADMIN_ROLE;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// A security object.
#[derive(Debug, Clone, PartialEq)]
pub struct Security {
    /// As it was written.
    object: Map<String, Value>,
    admins: Group,
    members: Group,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Group {
    names: BTreeSet<String>,
    roles: BTreeSet<String>,
}

/// The fault of a security object, as CouchDB words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecurityError {
    /// `names` is something else.
    #[error("names must be a JSON list of strings")]
    Names,
    /// `roles` is something else.
    #[error("roles must be a JSON list of strings")]
    Roles,
    /// `admins` or `members` is no object.
    #[error("admins or members must be a JSON list of strings")]
    Group,
}

impl Default for Security {
    /// CouchDB's default: access for server admins only.
    fn default() -> Self {
        let group = json!({ "roles": [ADMIN_ROLE] });
        let mut object = Map::new();
        object.insert("members".to_owned(), group.clone());
        object.insert("admins".to_owned(), group);
        let admins = Group {
            roles: [ADMIN_ROLE.to_owned()].into(),
            ..Group::default()
        };
        Security {
            object,
            members: admins.clone(),
            admins,
        }
    }
}

impl Security {
    /// Checks a security object.
    ///
    /// # Errors
    /// If names or roles are no lists of strings.
    pub fn new(object: Map<String, Value>) -> Result<Self, SecurityError> {
        let admins = Group::read(object.get("admins"))?;
        // CouchDB's older name for members.
        let members = object.get("members").or_else(|| object.get("readers"));
        Ok(Security {
            admins,
            members: Group::read(members)?,
            object,
        })
    }

    /// A security object that was stored. One that earlier versions stored without a check gives access to server admins
    /// only.
    pub fn stored(text: &str) -> Self {
        let object = serde_json::from_str(text).ok();
        let security = object.and_then(|object| Security::new(object).ok());
        security.unwrap_or_default()
    }

    /// The object as it was written.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// Returns whether a user is an admin of the database. Server admins are.
    pub fn is_admin(&self, user: &User) -> bool {
        user.is_server_admin() || self.admins.has(user)
    }

    /// Returns whether a user may read and write documents.
    pub fn is_member(&self, user: &User) -> bool {
        self.is_admin(user) || self.members.is_empty() || self.members.has(user)
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(&self.object).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl Group {
    fn read(value: Option<&Value>) -> Result<Self, SecurityError> {
        let group = match value {
            None => return Ok(Group::default()),
            Some(Value::Object(group)) => group,
            Some(_) => return Err(SecurityError::Group),
        };
        Ok(Group {
            names: strings(group.get("names")).ok_or(SecurityError::Names)?,
            roles: strings(group.get("roles")).ok_or(SecurityError::Roles)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.roles.is_empty()
    }

    fn has(&self, user: &User) -> bool {
        user.name().is_some_and(|name| self.names.contains(name))
            || user.roles().iter().any(|role| self.roles.contains(role))
    }
}

fn strings(value: Option<&Value>) -> Option<BTreeSet<String>> {
    let Some(value) = value else {
        return Some(BTreeSet::new());
    };
    let strings = value.as_array()?.iter();
    strings.map(|one| one.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Handler;

    fn user(name: &str, roles: &[&str]) -> User {
        let roles: Vec<String> = roles.iter().map(|role| (*role).to_owned()).collect();
        User::new(name, roles.into(), Handler::Default)
    }

    fn security(text: &str) -> Result<Security, SecurityError> {
        Security::new(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn names_and_roles_give_rights() {
        let security = security(
            r#"{"admins":{"names":["anna"],"roles":["boss"]},"members":{"names":["bert"],"roles":["staff"]}}"#,
        )
        .unwrap();
        let rights = |user: &User| (security.is_admin(user), security.is_member(user));
        for admin in [
            user("anna", &[]),
            user("x", &["boss"]),
            user("x", &["_admin"]),
            User::nameless_admin(),
        ] {
            assert_eq!(rights(&admin), (true, true), "{admin:?}");
        }
        for member in [user("bert", &[]), user("x", &["a", "staff"])] {
            assert_eq!(rights(&member), (false, true), "{member:?}");
        }
        for other in [user("x", &["Boss"]), user("", &[]), User::anonymous()] {
            assert_eq!(rights(&other), (false, false), "{other:?}");
        }
    }

    #[test]
    fn without_members_all_are_members() {
        for public in [
            "{}",
            r#"{"members":{}}"#,
            r#"{"members":{"names":[],"roles":[]}}"#,
            r#"{"admins":{"names":["a"]}}"#,
        ] {
            let security = security(public).unwrap();
            assert!(security.is_member(&User::anonymous()), "{public}");
            assert!(!security.is_admin(&User::anonymous()), "{public}");
        }
        let old = security(r#"{"readers":{"names":["anna"]}}"#).unwrap();
        assert!(old.is_member(&user("anna", &[])) && !old.is_member(&User::anonymous()));
    }

    #[test]
    fn the_default_is_for_server_admins() {
        let security = Security::default();
        assert!(!security.is_member(&user("anna", &["x"])));
        assert!(security.is_admin(&user("anna", &["_admin"])));
        assert_eq!(Security::stored(&security.to_string()), security);
    }

    #[test]
    fn what_is_no_security_object_is_refused_and_never_gives_rights() {
        for (text, error) in [
            (r#"{"admins":[]}"#, SecurityError::Group),
            (r#"{"members":{"names":"a"}}"#, SecurityError::Names),
            (r#"{"members":{"names":[1]}}"#, SecurityError::Names),
            (r#"{"admins":{"roles":{}}}"#, SecurityError::Roles),
        ] {
            assert_eq!(security(text), Err(error), "{text}");
            assert_eq!(Security::stored(text), Security::default());
        }
        assert_eq!(Security::stored("["), Security::default());
    }
}
