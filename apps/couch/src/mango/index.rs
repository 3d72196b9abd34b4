//! Indexes: what they are on, and how design documents hold them.

use super::error::shown;
use super::path::Path;
use super::sort::Sort;
use super::{Error, Selector};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Fields an index may have.
const FIELDS_MAX: usize = 64;

/// Bytes of a definition's text: it stands in the SQL of each query.
const DEFINITION_BYTES_MAX: usize = 16 << 10;

/// The definition of an index: it contains documents with all its fields that match its selector.
#[derive(Clone, Debug)]
pub struct Definition {
    pub fields: Sort,
    /// The selector of the indexed documents; `None` for all.
    pub partial: Option<Selector>,
}

impl Definition {
    /// Reads `{"fields": [...], "partial_filter_selector": {...}}`.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let invalid = |what: String| Error::new("invalid_index", what);
        let Value::Object(members) = value else {
            let what = format!("JSON indexes must be an object, not: {}", shown(value));
            return Err(invalid(what));
        };
        for name in members.keys() {
            if name != "fields" && name != "partial_filter_selector" {
                let message = format!("Invalid key {name} for this request.");
                return Err(Error::new("invalid_key", message));
            }
        }
        let fields = members
            .get("fields")
            .ok_or_else(|| Error::new("missing_required_key", "Missing required key: fields"))?;
        let fields = Sort::from_json(fields)?;
        if fields.fields.is_empty() || fields.fields.len() > FIELDS_MAX {
            let what = format!("An index has between 1 and {FIELDS_MAX} fields.");
            return Err(invalid(what));
        }
        let partial = match members.get("partial_filter_selector") {
            None => None,
            Some(Value::Object(selector)) if selector.is_empty() => None,
            Some(selector) => Some(Selector::from_json(selector)?),
        };
        let definition = Definition { fields, partial };
        match definition.to_json().to_string().len() > DEFINITION_BYTES_MAX {
            true => Err(invalid("The index's definition is too long.".to_owned())),
            false => Ok(definition),
        }
    }

    /// The definition in the format of `_index`.
    pub fn to_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("fields".to_owned(), self.fields.to_json().into());
        if let Some(partial) = &self.partial {
            members.insert("partial_filter_selector".to_owned(), partial.to_json());
        }
        Value::Object(members)
    }

    /// 40 hexadecimal digits that no other definition has.
    pub fn digest(&self) -> String {
        let digest = Sha256::digest(self.to_json().to_string());
        digest[..20]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The name of the SQLite index. Design documents with the same definition share it.
    pub fn sqlite_name(&self) -> String {
        format!("mango_{}", self.digest())
    }
}

/// An index of a database.
#[derive(Clone, Debug)]
pub struct Index {
    /// The design document, with `_design/`, and the name in it; none for that of all documents by id.
    pub(crate) place: Option<(String, String)>,
    pub(crate) definition: Definition,
}

impl Index {
    /// All documents by id.
    pub(crate) fn all_docs() -> Self {
        let id = Path::parse("_id").unwrap_or_else(|_| Path::here());
        Index {
            place: None,
            definition: Definition {
                fields: Sort {
                    fields: vec![id],
                    descending: false,
                },
                partial: None,
            },
        }
    }

    /// The index as `GET _index` shows it.
    pub fn to_json(&self) -> Value {
        let (design, name, kind) = match &self.place {
            None => (None, "_all_docs", "special"),
            Some((design, name)) => (Some(design), name.as_str(), "json"),
        };
        json!({
            "ddoc": design,
            "name": name,
            "type": kind,
            "partitioned": false,
            "def": self.definition.to_json(),
        })
    }

    /// Whether `use_index` means it; the design document without `_design/`.
    pub(crate) fn is_meant(&self, design: &str, name: Option<&str>) -> bool {
        let Some((own_design, own_name)) = &self.place else {
            return design == "_all_docs" && name.is_none();
        };
        own_design.strip_prefix("_design/") == Some(design)
            && name.is_none_or(|name| name == own_name)
    }
}

/// An index that is to be, as `POST _index` gets it.
#[derive(Clone, Debug)]
pub struct IndexDefinition {
    pub(crate) definition: Definition,
    /// The design document, with `_design/`.
    pub(crate) design: String,
    pub(crate) name: String,
}

impl IndexDefinition {
    /// Reads the body of `POST _index`.
    ///
    /// # Errors
    /// If a part of the definition is invalid, or the type is not `json`.
    pub fn from_json(body: &Value) -> Result<IndexDefinition, Error> {
        let Value::Object(members) = body else {
            let message = format!("The index must be a JSON object, not: {}", shown(body));
            return Err(Error::new("invalid_object", message));
        };
        let mut texts = [("type", None), ("name", None), ("ddoc", None)];
        for (name, value) in members {
            if let Some((_, text)) = texts.iter_mut().find(|(known, _)| known == name) {
                let given = value.as_str().filter(|given| !given.is_empty());
                *text = Some(given.ok_or_else(|| {
                    let message = format!("Invalid string: {}", shown(value));
                    Error::new("invalid_string", message)
                })?);
            } else if name == "partitioned" && value.as_bool() == Some(true) {
                let message = "This server has no partitioned databases.";
                return Err(Error::new("invalid_partitioned_option", message));
            } else if !["index", "w", "partitioned"].contains(&name.as_str()) {
                let message = format!("Invalid key {name} for this request.");
                return Err(Error::new("invalid_key", message));
            }
        }
        let [(_, kind), (_, name), (_, design)] = texts;
        if let Some(kind) = kind.filter(|kind| *kind != "json") {
            let message = format!("Invalid type for index: {kind}");
            return Err(Error::new("invalid_index", message));
        }
        let definition = members
            .get("index")
            .ok_or_else(|| Error::new("missing_required_key", "Missing required key: index"))?;
        let definition = Definition::from_json(definition)?;
        let digest = definition.digest();
        let design = design.unwrap_or(&digest);
        let design = match design.starts_with("_design/") {
            true => design.to_owned(),
            false => format!("_design/{design}"),
        };
        Ok(IndexDefinition {
            design,
            name: name.unwrap_or(&digest).to_owned(),
            definition,
        })
    }
}

/// The result of a request to create an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexWritten {
    /// The design document, with `_design/`.
    pub id: String,
    /// The name.
    pub name: String,
    /// Whether it is new, rather than there already.
    pub created: bool,
}

/// The indexes in the body of a design document; none if its language is not `query`. A view that is none is passed over.
pub fn of_design(id: &str, body: &Value) -> Vec<Index> {
    if body.get("language") != Some(&json!("query")) {
        return Vec::new();
    }
    let views = body.get("views").and_then(Value::as_object);
    let index = |(name, view): (&String, &Value)| {
        let map = view.get("map")?.as_object()?;
        let mut definition = map.clone();
        // In a view the fields are an object, in the order of the index.
        let fields = map.get("fields")?.as_object()?.iter();
        let fields = fields.map(|(name, direction)| json!({ name: direction }));
        definition.insert("fields".to_owned(), fields.collect());
        Some(Index {
            place: Some((id.to_owned(), name.clone())),
            definition: Definition::from_json(&Value::Object(definition)).ok()?,
        })
    };
    views.into_iter().flatten().filter_map(index).collect()
}

/// The view that holds an index, as CouchDB writes it.
pub fn to_view(definition: &Definition) -> Value {
    let fields: Map<String, Value> = definition
        .fields
        .to_json()
        .into_iter()
        .filter_map(|field| field.as_object().cloned())
        .flatten()
        .collect();
    let partial = definition
        .partial
        .as_ref()
        .map_or(json!({}), Selector::to_json);
    let given = definition.to_json();
    json!({
        "map": { "fields": fields, "partial_filter_selector": partial },
        "reduce": "_count",
        "options": { "def": given },
    })
}
