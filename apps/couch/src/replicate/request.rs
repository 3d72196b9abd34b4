//! The body of `_replicate`.

use super::ReplicateError;
use crate::auth::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A database to replicate from or to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A local database.
    Here(String),
    /// A remote database.
    Remote {
        /// The URL without user name and password.
        url: String,
        /// User name and password.
        credentials: Option<(String, String)>,
        /// Additional request headers.
        headers: Vec<(String, String)>,
    },
}

impl Endpoint {
    /// Parses a URL, a name, or an object with `url`, `auth` and `headers`; `field` is for messages.
    ///
    /// # Errors
    /// If the value is none of these.
    pub fn from_json(field: &str, value: &Value) -> Result<Self, ReplicateError> {
        let wrong = |what: &str| ReplicateError::BadRequest(format!("`{field}` {what}"));
        let url = value.as_str().or_else(|| value["url"].as_str());
        let url =
            url.ok_or_else(|| wrong("must be a URL, a database's name, or an object with `url`"))?;
        if !url.contains("://") {
            return Ok(Endpoint::Here(url.trim_matches('/').to_owned()));
        }
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        if !matches!(scheme, "http" | "https") {
            return Err(wrong("must be an http or https URL"));
        }
        let host = rest.split('/').next().unwrap_or_default();
        let given = host.rsplit_once('@').map(|(user, _)| user);
        let rest = given.map_or(rest, |given| &rest[given.len() + 1..]);
        let basic = &value["auth"]["basic"];
        let credentials = match (
            given,
            basic["username"].as_str(),
            basic["password"].as_str(),
        ) {
            (Some(given), ..) => Some(decoded(given)),
            (None, Some(name), Some(password)) => Some((name.to_owned(), password.to_owned())),
            _ => None,
        };
        let headers = value["headers"].as_object().into_iter().flatten();
        let headers =
            headers.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Ok(Endpoint::Remote {
            url: format!("{scheme}://{}", rest.trim_end_matches('/')),
            credentials,
            headers: headers.collect(),
        })
    }

    /// The endpoint for messages, without a password.
    pub fn shown(&self) -> &str {
        match self {
            Endpoint::Here(name) => name,
            Endpoint::Remote { url, .. } => url,
        }
    }
}

fn decoded(credentials: &str) -> (String, String) {
    let (name, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let decode = |text| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8_lossy()
            .into_owned()
    };
    (decode(name), decode(password))
}

/// A request to replicate.
#[derive(Debug, Clone)]
pub struct Request {
    /// The source.
    pub source: Endpoint,
    /// The target.
    pub target: Endpoint,
    /// Whether the replication continues after it has caught up.
    pub continuous: bool,
    /// Whether a missing target is created.
    pub create_target: bool,
    /// Whether the request cancels a running replication.
    pub cancel: bool,
    /// The id of the replication to cancel.
    pub replication_id: Option<String>,
    /// A filter function of the source, `design/name`.
    pub filter: Option<String>,
    /// The query parameters for the filter function.
    pub query_params: Map<String, Value>,
    /// The ids of the documents to replicate.
    pub doc_ids: Option<Value>,
    /// The selector of the documents to replicate.
    pub selector: Option<Value>,
    /// The sequence after which changes are read, regardless of the checkpoint.
    pub since_seq: Option<Value>,
}

impl Request {
    /// Parses the body of `_replicate`.
    ///
    /// # Errors
    /// If source or target are missing or invalid, or filters contradict each other.
    pub fn from_json(body: &Value) -> Result<Self, ReplicateError> {
        let flag = |name: &str| body[name].as_bool().unwrap_or(false);
        let given = |name: &str| body.get(name).filter(|value| !value.is_null()).cloned();
        let replication_id = ["replication_id", "_local_id"].into_iter().find_map(given);
        let replication_id = replication_id.and_then(|id| id.as_str().map(str::to_owned));
        let cancel = flag("cancel");
        let endpoint = |name: &str| match &body[name] {
            // To cancel a replication, its id is sufficient.
            Value::Null if cancel && replication_id.is_some() => Ok(Endpoint::Here(String::new())),
            value => Endpoint::from_json(name, value),
        };
        let request = Request {
            source: endpoint("source")?,
            target: endpoint("target")?,
            continuous: flag("continuous"),
            create_target: flag("create_target"),
            cancel,
            filter: body["filter"].as_str().map(str::to_owned),
            query_params: body["query_params"]
                .as_object()
                .cloned()
                .unwrap_or_default(),
            doc_ids: given("doc_ids"),
            selector: given("selector"),
            since_seq: given("since_seq"),
            replication_id,
        };
        let filters = [
            request.filter.is_some(),
            request.doc_ids.is_some(),
            request.selector.is_some(),
        ];
        if filters.into_iter().filter(|is_given| *is_given).count() > 1 {
            let reason = "`doc_ids`, `filter` and `selector` are mutually exclusive";
            return Err(ReplicateError::BadRequest(reason.to_owned()));
        }
        Ok(request)
    }

    /// A hash of the request: equal for equal requests to the same server.
    pub fn key(&self, server_uuid: &str) -> String {
        let what = json!([
            server_uuid,
            self.source.shown(),
            self.target.shown(),
            self.filter,
            self.query_params,
            self.doc_ids,
            self.selector,
        ]);
        digest(&what)
    }

    /// The location of the filter function in the source.
    ///
    /// # Errors
    /// If its name is invalid.
    pub fn function(&self) -> Result<Option<FunctionPath>, ReplicateError> {
        let (name, list, member) = match self.filter.as_deref() {
            None => return Ok(None),
            Some("_view") => {
                let view = self.query_params.get("view").and_then(Value::as_str);
                (view.unwrap_or_default(), "views", Some("map"))
            }
            Some(name) if name.starts_with('_') => return Ok(None),
            Some(name) => (name, "filters", None),
        };
        let (design, name) = name.split_once('/').ok_or_else(|| {
            let reason = "Invalid filter. Must match `ddocname/filtername`.";
            ReplicateError::BadRequest(reason.to_owned())
        })?;
        let path = [Some(list), Some(name), member].into_iter().flatten();
        Ok(Some(FunctionPath {
            design: format!("_design/{design}"),
            path: path.map(str::to_owned).collect(),
        }))
    }
}

/// A function of a design document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPath {
    /// The design document's id.
    pub design: String,
    /// The path of members that leads to the function.
    pub path: Vec<String>,
}

impl FunctionPath {
    /// The part of a design document that defines the function: its source, or the whole document if it may use
    /// modules.
    pub fn code(&self, design: &Value) -> Option<String> {
        let found = self.path.iter().try_fold(design, |at, name| at.get(name));
        let source = found?.as_str()?;
        if !source.contains("require") {
            return Some(source.to_owned());
        }
        let members = design.as_object()?.iter();
        let members = members.filter(|(name, _)| !name.starts_with('_'));
        let members: Map<String, Value> = members
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        Some(Value::Object(members).to_string())
    }
}

/// Computes the replication's id, which identifies its checkpoint. With a filter function, the id includes the
/// function's code: changes that another version of the function left out are not skipped.
pub fn replication_id(key: &str, code: Option<&str>) -> String {
    code.map_or_else(|| key.to_owned(), |code| digest(&json!([key, code])))
}

fn digest(what: &Value) -> String {
    hex(&Sha256::digest(what.to_string())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_names_or_urls_without_passwords() {
        let of = |value| Endpoint::from_json("source", &value);
        assert_eq!(of(json!("films")).unwrap(), Endpoint::Here("films".into()));
        let expected = Endpoint::Remote {
            url: "https://example.com:6984/films".into(),
            credentials: Some(("anna".into(), "p@ss:word".into())),
            headers: vec![],
        };
        assert_eq!(
            of(json!("https://anna:p%40ss%3Aword@example.com:6984/films/")).unwrap(),
            expected
        );
        let auth = json!({ "basic": { "username": "anna", "password": "p@ss:word" } });
        let object = json!({ "url": "https://example.com:6984/films", "auth": auth });
        assert_eq!(of(object).unwrap(), expected);
        for wrong in [
            json!(null),
            json!(1),
            json!("ftp://example.com/a"),
            json!({}),
        ] {
            assert!(of(wrong).is_err());
        }
    }

    #[test]
    fn the_id_is_that_of_what_is_replicated() {
        let of = |more: Value| {
            let mut body = json!({ "source": "a", "target": "http://b/c" });
            body.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            Request::from_json(&body).unwrap().key("uuid")
        };
        assert_eq!(
            of(json!({})),
            of(json!({ "continuous": true, "target": "http://x:y@b/c/" }))
        );
        assert_ne!(of(json!({})), of(json!({ "doc_ids": ["a"] })));
        let both = json!({ "source": "a", "target": "b", "doc_ids": [], "selector": {} });
        assert!(Request::from_json(&both).is_err());
    }

    #[test]
    fn the_code_is_that_of_the_function_and_of_what_it_may_use() {
        let of = |more: Value| {
            let mut body = json!({ "source": "a", "target": "b" });
            let more = more.as_object().unwrap().clone();
            body.as_object_mut().unwrap().extend(more);
            Request::from_json(&body).unwrap().function()
        };
        assert_eq!(of(json!({})).unwrap(), None);
        assert_eq!(of(json!({ "filter": "_design" })).unwrap(), None);
        assert!(of(json!({ "filter": "x" })).is_err());
        let filter = of(json!({ "filter": "app/x" })).unwrap().unwrap();
        let view = json!({ "filter": "_view", "query_params": { "view": "app/v" } });
        let view = of(view).unwrap().unwrap();
        assert_eq!(filter.design, "_design/app");
        let mut design = json!({
            "_rev": "1-a", "filters": { "x": "() => 1" }, "views": { "v": { "map": "() => 2" } }
        });
        assert_eq!(filter.code(&design).as_deref(), Some("() => 1"));
        assert_eq!(view.code(&design).as_deref(), Some("() => 2"));
        design["filters"]["x"] = "() => require('lib').x".into();
        let first = filter.code(&design);
        design["_rev"] = "2-b".into();
        assert_eq!(filter.code(&design), first);
        design["lib"] = "exports.x = 1".into();
        assert_ne!(filter.code(&design), first);
        design["filters"] = json!({});
        assert_eq!(filter.code(&design), None);
        assert_eq!(replication_id("k", None), "k");
        assert_ne!(
            replication_id("k", Some("a")),
            replication_id("k", Some("b"))
        );
    }
}
