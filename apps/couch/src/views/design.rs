//! The views of a design document.

use super::key::Collation;
use super::reduce::{Reducer, builtin};
use super::{Error, Result};
use crate::script::Function;
use crate::store::Indexing;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// The views of a design document; those with the same map function are one.
#[derive(Debug)]
pub struct Design {
    /// Names the index: design documents with the same functions have the same.
    pub signature: String,
    /// The language of the functions.
    pub language: String,
    /// The map functions.
    pub views: Vec<MapView>,
    /// Whether the rows of each partition are apart.
    pub is_partitioned: bool,
    /// Which documents the functions are given.
    pub indexing: Indexing,
    /// All functions, for a script host.
    pub function: Function,
    names: HashMap<String, (usize, Option<usize>)>,
}

/// A map function and the reduce functions over its rows.
#[derive(Debug)]
pub struct MapView {
    /// The order of its keys.
    pub collation: Collation,
    /// The reduce functions.
    pub(super) reducers: Vec<Reducer>,
}

/// Hexadecimal digits of a signature, as many as CouchDB's have.
const SIGNATURE_DIGITS: usize = 32;

/// The parts of a view that its index depends on, and the reduce functions with the names of their views.
type Sources = BTreeMap<(String, String), BTreeMap<String, Vec<String>>>;

impl Design {
    /// Reads the views of a design document's body. Those of a partitioned database are of partitions, if the design document
    /// does not say otherwise.
    ///
    /// # Errors
    /// If a reduce function has the name of none.
    pub fn read(body: &Map<String, Value>, is_of_partitions: bool) -> Result<Self> {
        let empty = Map::new();
        let object =
            |value: Option<&Value>| value.and_then(Value::as_object).unwrap_or(&empty).clone();
        let language = body
            .get("language")
            .and_then(Value::as_str)
            .unwrap_or("javascript")
            .to_owned();
        let options = object(body.get("options"));
        let option = |name: &str| options.get(name).and_then(Value::as_bool);
        let flag = |name: &str| option(name).unwrap_or(false);
        let is_partitioned = is_of_partitions && option("partitioned").unwrap_or(true);
        let indexing = Indexing {
            include_design: flag("include_design"),
            local_seq: flag("local_seq"),
        };
        let views = object(body.get("views"));
        let lib = Value::Object(object(views.get("lib")));
        let sources = sources(&views);
        let mut own_options = options;
        if is_partitioned {
            own_options.insert("partitioned".to_owned(), true.into());
        }
        own_options.sort_keys();
        let signature = signature(&sources, &language, &own_options, &lib);
        let (mut maps, mut reduces) = (Vec::new(), Vec::new());
        let (mut found, mut names) = (Vec::new(), HashMap::new());
        for ((map, options), by_reduce) in sources {
            let options: Value = serde_json::from_str(&options).unwrap_or_default();
            let mut reducers = Vec::new();
            for (source, own_names) in by_reduce {
                let reducer = match source.is_empty() {
                    true => None,
                    false => {
                        reducers.push(reducer(&source, &mut reduces)?);
                        Some(reducers.len() - 1)
                    }
                };
                let place = (found.len(), reducer);
                names.extend(own_names.into_iter().map(|name| (name, place)));
            }
            maps.push(map);
            found.push(MapView {
                collation: match options["collation"].as_str() {
                    Some("raw") => Collation::Raw,
                    _ => Collation::Unicode,
                },
                reducers,
            });
        }
        let source = json!({ "maps": maps, "reduces": reduces }).to_string();
        Ok(Design {
            signature,
            language,
            views: found,
            is_partitioned,
            indexing,
            function: Function::views(source, json!({ "views": { "lib": lib } }).to_string()),
            names,
        })
    }

    /// Finds a view: its map function and its reduce function, if it has one.
    ///
    /// # Errors
    /// If the design document has none of that name.
    pub fn view(&self, name: &str) -> Result<(usize, Option<usize>)> {
        self.names.get(name).copied().ok_or(Error::NoView)
    }
}

/// Collects the views that have a map function.
fn sources(views: &Map<String, Value>) -> Sources {
    let mut sources = Sources::new();
    for (name, view) in views {
        let Some(map) = view.get("map").and_then(Value::as_str) else {
            continue;
        };
        let options = view.get("options").cloned().unwrap_or_else(|| json!({}));
        let reduce = view
            .get("reduce")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let view = sources
            .entry((map.to_owned(), options.to_string()))
            .or_default();
        view.entry(reduce.to_owned())
            .or_default()
            .push(name.clone());
    }
    sources
}

fn reducer(source: &str, reduces: &mut Vec<String>) -> Result<Reducer> {
    match builtin(source) {
        Some(Ok(builtin)) => Ok(Reducer::Builtin(builtin)),
        Some(Err(reason)) => Err(Error::Reduce(reason)),
        None => {
            reduces.push(source.to_owned());
            Ok(Reducer::Script(reduces.len() - 1))
        }
    }
}

fn signature(
    sources: &Sources,
    language: &str,
    options: &Map<String, Value>,
    lib: &Value,
) -> String {
    let functions: Vec<_> = sources
        .iter()
        .map(|(view, reduces)| {
            (
                view,
                reduces
                    .keys()
                    .filter(|source| !source.is_empty())
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    let mut lib = lib.clone();
    lib.sort_all_objects();
    let all = json!([FORMAT, functions, language, options, lib]).to_string();
    let digest = Sha256::digest(all);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..SIGNATURE_DIGITS].to_owned()
}

/// Counts changes of what an index of the same functions would have in it.
const FORMAT: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn design(body: Value) -> Design {
        Design::read(body.as_object().unwrap(), false).unwrap()
    }

    #[test]
    fn views_of_one_map_function_share_it() {
        let map = "function (doc) { emit(doc.a) }";
        let read = design(json!({ "views": {
            "plain": { "map": map },
            "sum": { "map": map, "reduce": "_sum" },
            "own": { "map": map, "reduce": "function () { return 1 }" },
            "raw": { "map": map, "options": { "collation": "raw" } },
            "lib": { "x": "exports.y = 1" },
        }}));
        assert_eq!(read.views.len(), 2);
        let (plain, none) = read.view("plain").unwrap();
        let (sum, one) = read.view("sum").unwrap();
        assert_eq!((plain, none), (sum, None));
        assert!(one.is_some() && read.view("own").unwrap().1 != one);
        let raw = read.view("raw").unwrap().0;
        assert_eq!(read.views[raw].collation, Collation::Raw);
        assert!(matches!(read.view("lib"), Err(Error::NoView)));
    }

    #[test]
    fn the_signature_is_that_of_the_functions() {
        let view = |name: &str, map: &str| json!({ "views": { name: { "map": map } } });
        let one = design(view("a", "function () {}"));
        assert_eq!(one.signature, design(view("b", "function () {}")).signature);
        assert_eq!(one.signature.len(), SIGNATURE_DIGITS);
        let mut others = vec![view("a", "function (doc) {}"); 4];
        others[1]["options"] = json!({ "local_seq": true });
        others[2]["views"]["lib"] = json!({ "x": "1" });
        others[3]["views"]["a"]["reduce"] = json!("_sum");
        let mut signatures: Vec<String> = others
            .into_iter()
            .map(|body| design(body).signature)
            .collect();
        signatures.push(one.signature);
        signatures.sort();
        signatures.dedup();
        assert_eq!(signatures.len(), 5);
    }

    #[test]
    fn an_unknown_reduce_function_is_refused() {
        let body = json!({ "views": { "a": { "map": "function () {}", "reduce": "_median" } } });
        let error = Design::read(body.as_object().unwrap(), false)
            .unwrap_err()
            .to_string();
        assert_eq!(error, "`_median` is not a supported reduce function.");
    }
}
