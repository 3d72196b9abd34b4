//! The rules for documents of `_replicator` databases: who owns them, what they contain, and who sees the credentials.

use crate::replicate::{Principal, Replication, Settings};
use serde_json::{Map, Value};

/// The member with the name of the user who wrote the document.
const OWNER: &str = "owner";

/// Notes the owner in a document that a user writes. The replication has the owner's rights, so only a server admin names
/// another owner.
///
/// # Errors
/// The reason why it is forbidden: the document is that of another user.
pub fn note_owner(
    body: &mut Map<String, Value>,
    user: &Principal,
    is_server_admin: bool,
) -> Result<(), String> {
    let name = user.name.as_deref();
    match body.get(OWNER) {
        Some(owner) if owner.as_str() == name && (name.is_some() || owner.is_null()) => {}
        Some(owner) if is_server_admin && !owner.is_null() => {}
        Some(_) if !is_server_admin => {
            return Err("Can't update replication documents from other users.".to_owned());
        }
        _ => {
            body.insert(OWNER.to_owned(), name.into());
        }
    }
    Ok(())
}

/// Checks that a document describes a replication.
///
/// # Errors
/// The reason why it does not.
pub fn check(
    body: &Map<String, Value>,
    is_deleted: bool,
    user: &Principal,
    settings: &Settings,
) -> Result<(), String> {
    let is_failed = body
        .get("_replication_state")
        .is_some_and(|state| state == "failed");
    if is_deleted || is_failed {
        return Ok(());
    }
    let parsed = Replication::from_json(body, user.clone(), None, &settings.defaults);
    parsed.map(drop).map_err(|error| error.reason())
}

/// Removes credentials from a document if the reader is neither its owner nor an administrator. Returns whether the reader
/// sees another document than the one that is stored.
pub fn for_reader(body: &mut Map<String, Value>, reader: Option<&str>, is_admin: bool) -> bool {
    let owner = body.get(OWNER).and_then(Value::as_str);
    if is_admin || reader.is_some() && owner == reader {
        return false;
    }
    for side in ["source", "target"] {
        match body.get_mut(side) {
            Some(Value::String(url)) => *url = without_credentials(url),
            Some(Value::Object(endpoint)) => {
                endpoint.shift_remove("headers");
                endpoint.shift_remove("auth");
                if let Some(Value::String(url)) = endpoint.get_mut("url") {
                    *url = without_credentials(url);
                }
            }
            _ => {}
        }
    }
    true
}

/// A URL without user name and password.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((given, _)) => format!("{scheme}://{}", &rest[given.len() + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(body: Value, user: Option<&str>, is_server_admin: bool) -> Result<Value, String> {
        let mut body = body.as_object().unwrap().clone();
        let user = Principal {
            name: user.map(str::to_owned),
            ..Principal::default()
        };
        note_owner(&mut body, &user, is_server_admin)?;
        check(&body, false, &user, &Settings::default())?;
        Ok(body.get(OWNER).cloned().unwrap_or_default())
    }

    #[test]
    fn the_writer_is_the_owner() {
        let of = |owner: Option<Value>| {
            let mut body = json!({ "source": "a", "target": "http://b/c" });
            if let Some(owner) = owner {
                body[OWNER] = owner;
            }
            body
        };
        assert_eq!(written(of(None), Some("anna"), false).unwrap(), "anna");
        assert_eq!(written(of(None), None, true).unwrap(), Value::Null);
        assert_eq!(
            written(of(Some(json!("anna"))), Some("anna"), false).unwrap(),
            "anna"
        );
        assert!(written(of(Some(json!("bert"))), Some("anna"), false).is_err());
        assert!(written(of(Some(json!(null))), Some("anna"), false).is_err());
        assert_eq!(
            written(of(Some(json!("bert"))), Some("root"), true).unwrap(),
            "bert"
        );
        assert_eq!(
            written(of(Some(json!(null))), Some("root"), true).unwrap(),
            "root"
        );
    }

    #[test]
    fn a_document_describes_a_replication() {
        let wrong = json!({ "source": "a" });
        let reason = written(wrong, None, true).unwrap_err();
        assert_eq!(reason, "Missing replicator database");
        let failed = json!({ "_replication_state": "failed" });
        assert!(written(failed, None, true).is_ok());
    }

    #[test]
    fn others_see_no_credentials() {
        let of = |reader, is_admin| {
            let mut body = json!({
                "source": "http://u:p@a/b",
                "target": { "url": "http://u:p@c/d", "auth": {}, "headers": {}, "x": 1 },
                "owner": "anna",
            });
            let body = body.as_object_mut().unwrap();
            let is_changed = for_reader(body, reader, is_admin);
            (is_changed, Value::Object(body.clone()))
        };
        let (is_changed, body) = of(Some("bert"), false);
        let expected = json!({ "source": "http://a/b", "target": { "url": "http://c/d", "x": 1 }, "owner": "anna" });
        assert_eq!((is_changed, body), (true, expected));
        assert!(!of(Some("anna"), false).0 && !of(None, true).0 && of(None, false).0);
        // Nobody is not the owner of a document without one.
        for owner in [json!({}), json!({ "owner": null })] {
            let mut body = owner.as_object().unwrap().clone();
            assert!(for_reader(&mut body, None, false), "{owner}");
        }
    }
}
