//! Validates documents of the database of users by the rules of CouchDB's design document `_auth`.

use crate::auth::{METRICS_ROLE, Security, User};
use crate::store::Document;
use serde_json::{Map, Value};

/// The password schemes of CouchDB.
const SCHEMES: [&str; 3] = ["simple", "pbkdf2", "simple+pbkdf2"];

/// Checks a document and its parent. The reasons are CouchDB's.
///
/// # Errors
/// If the user may not write it.
pub fn validate(
    new: &Document,
    old: Option<&Document>,
    user: &User,
    security: &Security,
) -> Result<(), String> {
    let old = old.map(fields);
    if new.deleted {
        let is_own = || {
            old.as_ref()
                .is_some_and(|old| is_name(user, old.get("name")))
        };
        return match user.is_server_admin() || is_own() {
            true => Ok(()),
            false => Err("Only admins may delete other user docs.".to_owned()),
        };
    }
    let fields = fields(new);
    let roles = roles(&fields)?;
    let name = form(&new.id, &fields, old.as_ref())?;
    password(&fields)?;
    if !security.is_admin(user) {
        rights(&fields, &roles, old.as_ref(), user)?;
    }
    if roles
        .iter()
        .any(|role| *role != METRICS_ROLE && role.starts_with('_'))
    {
        return Err("No system roles (starting with underscore) in users db.".to_owned());
    }
    if name.starts_with('_') {
        return Err("Username may not start with underscore.".to_owned());
    }
    if name.contains(':') {
        return Err("Character `:` is not allowed in usernames.".to_owned());
    }
    Ok(())
}

fn fields(document: &Document) -> Map<String, Value> {
    serde_json::from_str(&document.body).unwrap_or_default()
}

/// Returns whether a value is the user's name. A user without a name has the name `null`.
fn is_name(user: &User, value: Option<&Value>) -> bool {
    match (user.name(), value) {
        (Some(name), Some(Value::String(value))) => name == value,
        (None, Some(Value::Null)) => true,
        _ => false,
    }
}

/// Returns whether a value is truthy in JavaScript.
fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    }
}

fn roles(fields: &Map<String, Value>) -> Result<Vec<&str>, String> {
    if fields.get("type").and_then(Value::as_str) != Some("user") {
        return Err("doc.type must be user".to_owned());
    }
    if !is_truthy(fields.get("name")) {
        return Err("doc.name is required".to_owned());
    }
    let roles = fields.get("roles");
    if !is_truthy(roles) {
        return Err("doc.roles must exist".to_owned());
    }
    let roles = roles.and_then(Value::as_array);
    let roles = roles.ok_or("doc.roles must be an array")?.iter();
    let roles: Option<Vec<&str>> = roles.map(Value::as_str).collect();
    roles.ok_or_else(|| "doc.roles can only contain strings".to_owned())
}

/// Returns the name if it matches the id and the name of the parent.
fn form<'a>(
    id: &str,
    fields: &'a Map<String, Value>,
    old: Option<&Map<String, Value>>,
) -> Result<&'a str, String> {
    let name = fields.get("name").and_then(Value::as_str);
    let name = name.filter(|name| super::id_of(name) == id);
    let name = name.ok_or("Doc ID must be of the form org.couchdb.user:name")?;
    if old.is_some_and(|old| old.get("name").and_then(Value::as_str) != Some(name)) {
        return Err("Usernames can not be changed.".to_owned());
    }
    Ok(name)
}

fn password(fields: &Map<String, Value>) -> Result<(), String> {
    if is_truthy(fields.get("password_sha")) && !is_truthy(fields.get("salt")) {
        return Err("Users with password_sha must have a salt.".to_owned());
    }
    let scheme = fields.get("password_scheme");
    let known = scheme
        .and_then(Value::as_str)
        .filter(|name| SCHEMES.contains(name));
    if is_truthy(scheme) && known.is_none() {
        let scheme = scheme.map(|scheme| match scheme {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let scheme = scheme.unwrap_or_default();
        return Err(format!("Password scheme `{scheme}` not supported."));
    }
    if known == Some("pbkdf2") {
        if !fields.get("iterations").is_some_and(Value::is_number) {
            return Err("iterations must be a number.".to_owned());
        }
        if !fields.get("derived_key").is_some_and(Value::is_string) {
            return Err("derived_key must be a string.".to_owned());
        }
    }
    Ok(())
}

/// Checks an edit by a user who is not an admin.
fn rights(
    fields: &Map<String, Value>,
    roles: &[&str],
    old: Option<&Map<String, Value>>,
    user: &User,
) -> Result<(), String> {
    let Some(old) = old else {
        return match roles {
            [] => Ok(()),
            _ => Err("Only _admin may set roles".to_owned()),
        };
    };
    if !is_name(user, fields.get("name")) {
        return Err("You may only update your own user document.".to_owned());
    }
    let before = old.get("roles").and_then(Value::as_array);
    let before = before.into_iter().flatten().filter_map(Value::as_str);
    let mut before: Vec<&str> = before.collect();
    let mut after = roles.to_vec();
    before.sort_unstable();
    after.sort_unstable();
    match before == after {
        true => Ok(()),
        false => Err("Only _admin may edit roles".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Handler;
    use serde_json::json;

    fn document(id: &str, body: &Value, deleted: bool) -> Document {
        Document {
            id: id.to_owned(),
            revision: "1-a".parse().unwrap(),
            deleted,
            body: body.to_string(),
            attachments: Vec::new(),
            history: None,
            revisions_info: Vec::new(),
            conflicts: Default::default(),
            local_seq: None,
        }
    }

    const ANNA: &str = "org.couchdb.user:anna";

    fn anna(changes: Value) -> Value {
        let mut body = json!({ "type": "user", "name": "anna", "roles": [] });
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    }

    fn user(name: &str) -> User {
        User::new(name, Vec::new().into(), Handler::Default)
    }

    fn judged(user: &User, new: Value, old: Option<Value>) -> String {
        let old = old.map(|old| document(ANNA, &old, false));
        let new = document(ANNA, &new, false);
        let security = Security::default();
        let judged = validate(&new, old.as_ref(), user, &security);
        judged.err().unwrap_or_default()
    }

    #[test]
    fn documents_of_users_have_a_form() {
        let admin = User::nameless_admin();
        for (new, reason) in [
            (json!({}), "doc.type must be user"),
            (anna(json!({ "name": "" })), "doc.name is required"),
            (anna(json!({ "roles": null })), "doc.roles must exist"),
            (anna(json!({ "roles": {} })), "doc.roles must be an array"),
            (
                anna(json!({ "roles": [1] })),
                "doc.roles can only contain strings",
            ),
            (
                anna(json!({ "name": "bert" })),
                "Doc ID must be of the form org.couchdb.user:name",
            ),
            (
                anna(json!({ "name": 1 })),
                "Doc ID must be of the form org.couchdb.user:name",
            ),
            (
                anna(json!({ "password_sha": "a" })),
                "Users with password_sha must have a salt.",
            ),
            (
                anna(json!({ "password_scheme": "md5" })),
                "Password scheme `md5` not supported.",
            ),
            (
                anna(json!({ "password_scheme": "pbkdf2" })),
                "iterations must be a number.",
            ),
            (
                anna(json!({ "password_scheme": "pbkdf2", "iterations": 1 })),
                "derived_key must be a string.",
            ),
            (
                anna(json!({ "roles": ["_admin"] })),
                "No system roles (starting with underscore) in users db.",
            ),
            (anna(json!({ "roles": ["_metrics", "staff"] })), ""),
            (anna(json!({})), ""),
        ] {
            assert_eq!(judged(&admin, new.clone(), None), reason, "{new}");
        }
        for (name, reason) in [
            ("_anna", "Username may not start with underscore."),
            ("an:na", "Character `:` is not allowed in usernames."),
        ] {
            let new = document(
                &super::super::id_of(name),
                &anna(json!({ "name": name })),
                false,
            );
            let judged = validate(&new, None, &admin, &Security::default());
            assert_eq!(judged, Err(reason.to_owned()));
        }
    }

    #[test]
    fn users_write_their_own_document_and_no_roles() {
        let staff = || Some(anna(json!({ "roles": ["a", "b"] })));
        for (user, new, old, reason) in [
            (User::anonymous(), anna(json!({})), None, ""),
            (
                User::anonymous(),
                anna(json!({ "roles": ["a"] })),
                None,
                "Only _admin may set roles",
            ),
            (
                user("anna"),
                anna(json!({ "roles": ["b", "a"] })),
                staff(),
                "",
            ),
            (
                user("anna"),
                anna(json!({ "roles": ["a"] })),
                staff(),
                "Only _admin may edit roles",
            ),
            (
                user("bert"),
                anna(json!({})),
                staff(),
                "You may only update your own user document.",
            ),
            (
                User::anonymous(),
                anna(json!({})),
                staff(),
                "You may only update your own user document.",
            ),
            (
                User::nameless_admin(),
                anna(json!({ "roles": ["c"] })),
                staff(),
                "",
            ),
        ] {
            assert_eq!(judged(&user, new.clone(), old), reason, "{user:?} {new}");
        }
    }

    #[test]
    fn users_delete_their_own_document() {
        let gone = document(ANNA, &json!({}), true);
        let old = document(ANNA, &anna(json!({})), false);
        let judged = |user: &User| validate(&gone, Some(&old), user, &Security::default());
        assert_eq!(judged(&user("anna")), Ok(()));
        assert_eq!(judged(&User::nameless_admin()), Ok(()));
        for other in [user("bert"), User::anonymous()] {
            assert!(judged(&other).is_err(), "{other:?}");
        }
    }
}
