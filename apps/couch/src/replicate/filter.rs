//! The selection of the documents of a replication, and the code of its filter function.

use super::ReplicateError;
use crate::auth::hex;
use crate::mango::Selector;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Which documents are replicated.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// All of them.
    All,
    /// Those of a built-in filter, such as `_design` or `_view`.
    Builtin(String),
    /// Those of a filter function of the source.
    Function {
        /// The name of the design document, without `_design/`.
        design: String,
        /// The name of the function.
        name: String,
    },
    /// Those with these ids, in order, without duplicates.
    DocIds(Vec<String>),
    /// Those that match a selector.
    Selector {
        /// As it was given.
        given: Value,
        /// In CouchDB's normal form.
        normal: Value,
    },
}

/// A function of a design document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPath {
    /// The design document's id.
    pub design: String,
    /// The path of members that leads to the function.
    path: Vec<String>,
}

/// A function of a design document at the time it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The `_rev` of its design document: a restored version has still missed the changes of the time between.
    pub rev: String,
    /// The source code.
    pub code: String,
    /// A hash of all code that the function may use, if that is more than what the replication's id includes.
    pub digest: Option<String>,
}

impl Selection {
    /// Reads `filter`, `doc_ids` and `selector` of a replication.
    ///
    /// # Errors
    /// If more than one of them is given, or one of them is invalid.
    pub fn from_json(body: &Map<String, Value>) -> Result<Self, ReplicateError> {
        let bad = |reason: &str| ReplicateError::BadRequest(reason.to_owned());
        let doc_ids = match body.get("doc_ids") {
            None | Some(Value::Null) => None,
            Some(Value::Array(ids)) => Some(ids),
            Some(_) => return Err(bad("parameter `doc_ids` must be an array")),
        };
        let selector = match body.get("selector") {
            None => None,
            Some(selector @ Value::Object(_)) => Some(selector),
            Some(_) => return Err(bad("parameter `selector` must be a JSON object")),
        };
        match (doc_ids, body.get("filter"), selector) {
            (None, None, None) => Ok(Selection::All),
            (Some(ids), None, None) => doc_ids_of(ids),
            (None, Some(filter), None) => Selection::filter(filter),
            (None, None, Some(given)) => {
                let normal = Selector::from_json(given);
                let normal =
                    normal.map_err(|error| ReplicateError::BadRequest(error.message.clone()))?;
                Ok(Selection::Selector {
                    given: given.clone(),
                    normal: normal.to_json(),
                })
            }
            _ => Err(bad("`doc_ids`,`filter`,`selector` are mutually exclusive")),
        }
    }

    fn filter(filter: &Value) -> Result<Self, ReplicateError> {
        let wrong = || {
            let reason = "Invalid filter. Must match `ddocname/filtername`.";
            ReplicateError::Invalid(reason.to_owned())
        };
        let filter = filter.as_str().ok_or_else(wrong)?;
        if filter.starts_with('_') {
            return Ok(Selection::Builtin(filter.to_owned()));
        }
        let (design, name) = filter.split_once('/').ok_or_else(wrong)?;
        Ok(Selection::Function {
            design: design.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Whether the id of a replication depends on code in the source.
    pub fn has_code(&self) -> bool {
        matches!(self, Selection::Function { .. })
    }

    /// The value of the parameter `filter` of `_changes`, with the body of the request.
    pub fn question(&self) -> (Option<String>, Option<Value>) {
        match self {
            Selection::All => (None, None),
            Selection::Builtin(name) => (Some(name.clone()), None),
            Selection::Function { design, name } => (Some(format!("{design}/{name}")), None),
            Selection::DocIds(ids) => {
                let body = serde_json::json!({ "doc_ids": ids });
                (Some("_doc_ids".to_owned()), Some(body))
            }
            Selection::Selector { given, .. } => {
                let body = serde_json::json!({ "selector": given });
                (Some("_selector".to_owned()), Some(body))
            }
        }
    }

    /// The location of the function in the source.
    ///
    /// # Errors
    /// If the parameter `view` of the filter `_view` is invalid.
    pub fn function(
        &self,
        params: &Map<String, Value>,
    ) -> Result<Option<FunctionPath>, ReplicateError> {
        let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect();
        match self {
            Selection::Function { design, name } => Ok(Some(FunctionPath {
                design: format!("_design/{design}"),
                path: path(&["filters", name]),
            })),
            Selection::Builtin(name) if name == "_view" => {
                let view = params
                    .get("view")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let (design, name) = view.split_once('/').ok_or_else(bad_view)?;
                match name.contains('/') {
                    true => Err(bad_view()),
                    false => Ok(Some(FunctionPath {
                        design: format!("_design/{design}"),
                        path: path(&["views", name, "map"]),
                    })),
                }
            }
            _ => Ok(None),
        }
    }
}

fn bad_view() -> ReplicateError {
    ReplicateError::BadRequest("Invalid `view` parameter.".to_owned())
}

/// Reads percent-encoded ids.
fn doc_ids_of(ids: &[Value]) -> Result<Selection, ReplicateError> {
    let decode = |id: &Value| {
        let id = id.as_str().map(|id| id.replace('+', " "))?;
        let decoded = percent_encoding::percent_decode_str(&id).decode_utf8();
        decoded.ok().map(std::borrow::Cow::into_owned)
    };
    let ids: Option<Vec<String>> = ids.iter().map(decode).collect();
    let mut ids = ids.ok_or_else(|| {
        ReplicateError::BadRequest("parameter `doc_ids` must have strings only".to_owned())
    })?;
    ids.sort_unstable();
    ids.dedup();
    Ok(Selection::DocIds(ids))
}

impl FunctionPath {
    /// The function in a design document.
    pub fn find(&self, design: &Value) -> Option<Function> {
        let found = self.path.iter().try_fold(design, |at, name| at.get(name));
        let code = found?.as_str()?.to_owned();
        let is_filter = self.path.first().is_some_and(|list| list == "filters");
        let used = if code.contains("require") {
            let members = design.as_object()?.iter();
            let members = members.filter(|(name, _)| !name.starts_with('_'));
            let members: Map<String, Value> = members
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            Some(Value::Object(members).to_string())
        } else {
            // The code of a filter function is a part of the id.
            (!is_filter).then(|| code.clone())
        };
        Some(Function {
            rev: design["_rev"].as_str().unwrap_or_default().to_owned(),
            code,
            digest: used.map(|used| hex(&Sha256::digest(used)[..16])),
        })
    }

    /// The path within the design document, for messages.
    pub fn shown(&self) -> String {
        self.path.join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(body: Value) -> Result<Option<FunctionPath>, ReplicateError> {
        let body = body.as_object().unwrap().clone();
        let params = body.get("query_params").and_then(Value::as_object);
        Selection::from_json(&body)?.function(params.unwrap_or(&Map::new()))
    }

    #[test]
    fn a_function_is_its_code_and_what_it_may_use() {
        assert_eq!(path(json!({})).unwrap(), None);
        assert_eq!(path(json!({ "filter": "_design" })).unwrap(), None);
        assert!(path(json!({ "filter": "x" })).is_err());
        assert!(path(json!({ "filter": "_view" })).is_err());
        let filter = path(json!({ "filter": "app/x" })).unwrap().unwrap();
        let view = json!({ "filter": "_view", "query_params": { "view": "app/v" } });
        let view = path(view).unwrap().unwrap();
        let mut design = json!({
            "_rev": "1-a", "filters": { "x": "() => 1" }, "views": { "v": { "map": "() => 2" } }
        });
        let found = filter.find(&design).unwrap();
        assert_eq!((found.code.as_str(), found.digest), ("() => 1", None));
        assert!(view.find(&design).unwrap().digest.is_some());
        design["filters"]["x"] = "() => require('lib').x".into();
        let first = filter.find(&design).unwrap();
        design["_rev"] = "2-b".into();
        let second = filter.find(&design).unwrap();
        assert_eq!(second.digest, first.digest);
        assert_ne!(second, first);
        design["lib"] = "exports.x = 1".into();
        assert_ne!(filter.find(&design).unwrap().digest, first.digest);
        design["filters"] = json!({});
        assert_eq!(filter.find(&design), None);
    }

    #[test]
    fn ids_are_decoded_and_in_order() {
        let body = json!({ "doc_ids": ["b", "a%20b", "a+b", "%zz", "b"] });
        let ids = Selection::from_json(body.as_object().unwrap()).unwrap();
        let expected = ["%zz", "a b", "b"].map(str::to_owned);
        assert_eq!(ids, Selection::DocIds(expected.into()));
    }
}
