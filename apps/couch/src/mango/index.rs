//! Indexes: what they are on, and how design documents hold them.

use super::error::{SERVICE_UNAVAILABLE, shown};
use super::path::Path;
use super::query::positive;
use super::sort::Sort;
use super::{Error, Selector};
use crate::revision::Term;
use serde_json::{Map, Value, json};
use sha1::Sha1;
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
    pub partial: Option<Partial>,
    /// Whether its keys begin with the partition of the document.
    pub is_partitioned: bool,
}

/// The selector of a partial index.
#[derive(Clone, Debug)]
pub struct Partial {
    pub selector: Selector,
    /// The member that holds it: old indexes have it in `selector`.
    member: &'static str,
}

const PARTIAL: &str = "partial_filter_selector";
const OLD_PARTIAL: &str = "selector";
const PARTITIONED: &str = "partitioned";

impl Definition {
    /// Reads `{"fields": [...], "partial_filter_selector": {...}}`.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let Value::Object(members) = value else {
            let what = format!("JSON indexes must be an object, not: {}", shown(value));
            return Err(Error::new("invalid_index", what));
        };
        let definition = Definition::from_members(members)?;
        let is_known = |name: &&String| name.as_str() != "fields" && name.as_str() != PARTIAL;
        match members.keys().find(is_known) {
            Some(name) => Err(Error::invalid_key(name)),
            None => Ok(definition),
        }
    }

    /// Reads the text that [`Definition::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let Value::Object(members) = &value else {
            return Definition::from_json(&value);
        };
        let is_partitioned = members.contains_key(PARTITIONED);
        Ok(Definition {
            is_partitioned,
            ..Definition::from_members(members)?
        })
    }

    fn from_members(members: &Map<String, Value>) -> Result<Self, Error> {
        let invalid = |what: String| Error::new("invalid_index", what);
        let fields = members
            .get("fields")
            .ok_or_else(|| Error::missing_key("fields"))?;
        let fields = Sort::from_json(fields)?;
        if fields.fields.is_empty() || fields.fields.len() > FIELDS_MAX {
            let what = format!("An index has between 1 and {FIELDS_MAX} fields.");
            return Err(invalid(what));
        }
        let definition = Definition {
            fields,
            partial: partial(members)?,
            is_partitioned: false,
        };
        match definition.to_text().len() > DEFINITION_BYTES_MAX {
            true => Err(invalid("The index's definition is too long.".to_owned())),
            false => Ok(definition),
        }
    }

    /// The definition in the format of `_index`.
    pub fn to_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("fields".to_owned(), self.fields.to_json().into());
        if let Some(partial) = &self.partial {
            members.insert(partial.member.to_owned(), partial.selector.to_json());
        }
        Value::Object(members)
    }

    /// All of it, for SQL.
    pub fn to_text(&self) -> String {
        let mut all = self.to_json();
        if self.is_partitioned {
            all[PARTITIONED] = true.into();
        }
        all.to_string()
    }

    /// Whether the keys are made of more than a document's body, id and revision.
    pub fn is_on_special_fields(&self) -> bool {
        let is_special =
            |field: &Path| field.is_special() && !["_id", "_rev"].contains(&field.as_str());
        let partial = self.partial.as_ref();
        self.fields.fields.iter().any(is_special)
            || partial.is_some_and(|partial| partial.selector.is_on_special_fields())
    }

    /// 40 hexadecimal digits that no other definition has.
    pub fn digest(&self) -> String {
        hexadecimal(&Sha256::digest(self.to_text())[..20])
    }

    /// The name of the SQLite index. Design documents with the same definition share it.
    pub fn sqlite_name(&self) -> String {
        format!("mango_{}", self.digest())
    }
}

fn partial(members: &Map<String, Value>) -> Result<Option<Partial>, Error> {
    for member in [PARTIAL, OLD_PARTIAL] {
        match members.get(member) {
            None => {}
            Some(Value::Object(selector)) if selector.is_empty() => {}
            Some(selector) => {
                let selector = Selector::from_json(selector)?;
                return Ok(Some(Partial { selector, member }));
            }
        }
    }
    Ok(None)
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
                is_partitioned: false,
            },
        }
    }

    /// The index as `GET _index` shows it.
    pub fn to_json(&self) -> Value {
        let definition = self.definition.to_json();
        let Some((design, name)) = &self.place else {
            return json!({ "ddoc": null, "name": "_all_docs", "type": "special", "def": definition });
        };
        json!({
            "ddoc": design,
            "name": name,
            "type": "json",
            "partitioned": self.definition.is_partitioned,
            "def": definition,
        })
    }

    /// Whether `use_index` means it: a design document with or without `_design/`, and perhaps a name.
    pub(crate) fn is_meant(&self, named: &[String]) -> bool {
        let Some((own_design, own_name)) = &self.place else {
            return false;
        };
        let without_prefix = |design: &str| design.strip_prefix("_design/").map(str::to_owned);
        let own_design = without_prefix(own_design).unwrap_or_default();
        match named {
            [design] => without_prefix(design).as_ref().unwrap_or(design) == &own_design,
            [design, name] => {
                without_prefix(design).as_ref().unwrap_or(design) == &own_design && name == own_name
            }
            _ => false,
        }
    }

    /// The names of its columns.
    pub(crate) fn columns(&self) -> Vec<&str> {
        self.definition.fields.names()
    }

    /// Whether it has all of these fields, so that no document has to be read.
    pub(crate) fn covers<'a>(&self, mut fields: impl Iterator<Item = &'a str>) -> bool {
        let columns = self.columns();
        self.place.is_some() && fields.all(|field| field == "_id" || columns.contains(&field))
    }
}

/// An index that is to be, as `POST _index` gets it.
#[derive(Clone, Debug)]
pub struct IndexDefinition {
    pub(crate) definition: Definition,
    /// The definition as it was given.
    pub(crate) given: Value,
    /// The design document, with `_design/`.
    pub(crate) design: String,
    pub(crate) name: String,
    /// Whether it is an index of partitions; `None` for what the database is.
    pub(crate) partitioned: Option<bool>,
}

impl IndexDefinition {
    /// Reads the body of `POST _index`.
    ///
    /// # Errors
    /// If a part of the definition is invalid, or the type is not `json`.
    pub fn from_json(body: &Value) -> Result<IndexDefinition, Error> {
        let Value::Object(members) = body else {
            let message = format!("{} is not a JSON object", shown(body));
            return Err(Error::new("invalid_object", message));
        };
        let given = members
            .get("index")
            .ok_or_else(|| Error::missing_key("index"))?;
        let kind = match members.get("type") {
            None => "json",
            Some(Value::String(kind)) => kind.as_str(),
            Some(other) => return Err(Error::invalid_string(other)),
        };
        let name = filled(members.get("name"))?;
        let design = filled(members.get("ddoc"))?;
        if let Some(copies) = members.get("w") {
            positive(copies)?;
        }
        let partitioned = match members.get(PARTITIONED) {
            None => None,
            Some(Value::Bool(partitioned)) => Some(*partitioned),
            Some(other) => {
                let message = format!("Invalid value for partitioned: {}", shown(other));
                return Err(Error::new("invalid_partitioned_value", message));
            }
        };
        let known = ["index", "type", "name", "ddoc", "w", PARTITIONED];
        if let Some(name) = members.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(Error::invalid_key(name));
        }
        match kind {
            "json" => {}
            "text" | "nouveau" => return Err(Error::new(SERVICE_UNAVAILABLE, kind)),
            _ => {
                let message = format!("Invalid type for index: {kind}");
                return Err(Error::new("invalid_index", message));
            }
        }
        let definition = Definition::from_json(given)?;
        let digest = digest(members)?;
        let design = design.unwrap_or(&digest);
        let design = match design.starts_with("_design/") {
            true => design.to_owned(),
            false => format!("_design/{design}"),
        };
        Ok(IndexDefinition {
            design,
            name: name.unwrap_or(&digest).to_owned(),
            definition,
            given: given.clone(),
            partitioned,
        })
    }
}

/// The name of an index and of its design document where the request names none: CouchDB's, from the request in Erlang's format.
///
/// Source: `mango_idx:gen_name`.
fn digest(request: &Map<String, Value>) -> Result<String, Error> {
    let term = |value: &Value| {
        let term = Term::from_json(&value.to_string(), usize::MAX);
        term.map_err(|error| Error::new("invalid_index", error.to_string()))
    };
    let option = |name: &str, member: &str, default: Term| {
        let value = request.get(member).map_or(Ok(default), term)?;
        Ok(Term::tuple(&[Term::atom(name), value]))
    };
    let automatic = || Term::atom("auto_name");
    let definition = term(request.get("index").unwrap_or(&Value::Null))?;
    let partitioned = match request.get(PARTITIONED) {
        Some(Value::Bool(partitioned)) => Term::atom(&partitioned.to_string()),
        _ => Term::atom("db_default"),
    };
    let options = Term::list(&[
        option("ddoc", "ddoc", automatic())?,
        Term::tuple(&[Term::atom("def"), definition.clone()]),
        option("name", "name", automatic())?,
        Term::tuple(&[Term::atom("partitioned"), partitioned]),
        option("type", "type", Term::binary("json"))?,
        option("w", "w", Term::integer(2))?,
    ]);
    let mut digest = Sha1::new();
    digest.update([TERM_VERSION]);
    digest.update(Term::tuple(&[definition, options]).as_bytes());
    Ok(hexadecimal(&digest.finalize()))
}

/// The first byte of a term.
const TERM_VERSION: u8 = 131;

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn filled(text: Option<&Value>) -> Result<Option<&str>, Error> {
    match text {
        None => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Err(Error::new(
            "invalid_empty_string",
            "Index name or ddoc cannot be empty string",
        )),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Error::invalid_string(other)),
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
/// Those of a partitioned database are of its partitions, if the design document does not say otherwise.
pub fn of_design(id: &str, body: &Value, is_partitioned: bool) -> Vec<Index> {
    if body.get("language") != Some(&json!("query")) {
        return Vec::new();
    }
    let options = body
        .get("options")
        .and_then(|options| options.get(PARTITIONED));
    let is_partitioned = options.and_then(Value::as_bool).unwrap_or(is_partitioned);
    let views = body.get("views").and_then(Value::as_object);
    let index = |(name, view): (&String, &Value)| {
        let map = view.get("map")?.as_object()?;
        view.get("options")?.as_object()?;
        let mut definition = map.clone();
        // In a view the fields are an object, in the order of the index.
        let fields = map.get("fields")?.as_object()?.iter();
        let fields = fields.map(|(name, direction)| json!({ name: direction }));
        definition.insert("fields".to_owned(), fields.collect());
        Some(Index {
            place: Some((id.to_owned(), name.clone())),
            definition: Definition {
                is_partitioned,
                ..Definition::from_members(&definition).ok()?
            },
        })
    };
    views.into_iter().flatten().filter_map(index).collect()
}

/// The view that holds an index, as CouchDB writes it.
pub fn to_view(new: &IndexDefinition) -> Value {
    let definition = &new.definition;
    let fields: Map<String, Value> = definition
        .fields
        .to_json()
        .into_iter()
        .filter_map(|field| field.as_object().cloned())
        .flatten()
        .collect();
    let partial = definition.partial.as_ref();
    let partial = partial.map_or(json!({}), |partial| partial.selector.to_json());
    json!({
        "map": { "fields": fields, PARTIAL: partial },
        "reduce": "_count",
        "options": { "def": new.given },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Names that CouchDB 3.5.0 gave.
    #[test]
    fn an_index_without_a_name_has_that_of_couchdb() {
        let written = |more: &str| {
            let body = format!(
                r#"{{"index":{{"fields":["foo",{{"b":"asc"}}],"partial_filter_selector":{{"a":{{"$gt":1.5}}}}}},{more}"type":"json"}}"#
            );
            let body = serde_json::from_str(&body).unwrap();
            let definition = IndexDefinition::from_json(&body).unwrap();
            (definition.design, definition.name)
        };
        let owned = |(design, name): (&str, &str)| (design.to_owned(), name.to_owned());
        let digest = "2e952ecdacd58717dc45f53784d3c270e2fc2e85";
        for (more, expected) in [
            (
                r#""name":"x","#,
                ("_design/84c6d738bb5d9fce8e6f56daa2c11489cd5fed85", "x"),
            ),
            (
                r#""name":"y","#,
                ("_design/e09bda0cf14944ed58809f95b4865d517a4689c8", "y"),
            ),
            ("", (&*format!("_design/{digest}"), digest)),
            (
                r#""ddoc":"q","#,
                ("_design/q", "0470fcfaa4eea6e61abf7f1865421b2da534622a"),
            ),
        ] {
            assert_eq!(written(more), owned(expected), "{more}");
        }
    }
}
