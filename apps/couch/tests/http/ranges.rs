//! Lists of documents for generated ranges and keys, compared with a model of CouchDB's `fabric_view_all_docs` and `couch_btree`.

use crate::client::Running;
use serde_json::{Map, Value, json};

const DOCS: &[&str] = &["A", "_design/a", "_design/b", "a", "b", "c", "ä"];
const LOCAL: &[&str] = &["_local/a", "_local/b", "_local/c"];

/// What a list shows: its path, and the prefix of its ids.
const LISTS: &[(&str, &str)] = &[
    ("_all_docs", ""),
    ("_design_docs", "_design/"),
    ("_local_docs", "_local/"),
];

/// A linear congruential generator, so that each run has the same cases.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn key(&mut self) -> Value {
        let keys = [
            json!(null),
            json!(false),
            json!(true),
            json!(0),
            json!(5),
            json!(-1.5),
            json!([]),
            json!(["a"]),
            json!({}),
            json!({ "a": 1 }),
            json!(""),
            json!("A"),
            json!("a"),
            json!("b"),
            json!("aa"),
            json!("zz"),
            json!("_design"),
            json!("_design/a"),
            json!("_design/b"),
            json!("_design0"),
            json!("_local/"),
            json!("_local/a"),
            json!("_local/b"),
            json!("_local/none"),
            json!("\u{10ffff}"),
        ];
        keys[self.below(keys.len())].clone()
    }

    /// Parameters of a range or of keys.
    fn parameters(&mut self) -> Map<String, Value> {
        let mut given = Map::new();
        match self.below(4) {
            0 => {
                let keys = (0..self.below(6)).map(|_| self.key()).collect();
                given.insert("keys".to_owned(), keys);
            }
            1 => {
                given.insert("key".to_owned(), self.key());
            }
            _ => {
                for (name, odds) in [("startkey", 2), ("endkey", 2)] {
                    if self.below(odds) == 0 {
                        given.insert(name.to_owned(), self.key());
                    }
                }
            }
        }
        for name in ["descending", "inclusive_end", "update_seq", "include_docs"] {
            if self.below(3) == 0 {
                given.insert(name.to_owned(), (self.below(2) == 0).into());
            }
        }
        for name in ["limit", "skip"] {
            if self.below(3) == 0 {
                given.insert(name.to_owned(), self.below(4).into());
            }
        }
        given
    }
}

/// The ids, or the keys that have no document, and the offset, as CouchDB gives them.
fn expected(prefix: &str, given: &Map<String, Value>, is_query: bool) -> (Vec<Value>, Value) {
    let flag = |name: &str| given.get(name).and_then(Value::as_bool);
    let number = |name: &str| given.get(name).and_then(Value::as_u64);
    let is_descending = flag("descending") == Some(true);
    let skip = number("skip").unwrap_or(0) as usize;
    let limit = number("limit").map_or(usize::MAX, |limit| limit as usize);
    let keys = given.get("keys").and_then(Value::as_array);
    let mut single = None;
    match keys {
        Some(keys) if is_query && keys.len() == 1 => single = keys.first(),
        Some(keys) => {
            let mut keys = keys.clone();
            if is_descending {
                keys.reverse();
            }
            let wanted = keys.into_iter().skip(skip).take(limit);
            let is_shown = |key: &Value| {
                prefix.is_empty() || key.as_str().is_some_and(|key| key.starts_with(prefix))
            };
            return (wanted.filter(is_shown).collect(), Value::Null);
        }
        None => {}
    }
    let single = single.or(given.get("key"));
    let start = single.or(given.get("startkey"));
    let end = single.or(given.get("endkey"));
    let is_inclusive = flag("inclusive_end") != Some(false);
    // Every other value is before all strings.
    let at = |id: &str, key: &Value| {
        key.as_str()
            .map_or(std::cmp::Ordering::Greater, |k| id.cmp(k))
    };
    let is_from = |id: &str| {
        start.is_none_or(|key| match is_descending {
            false => at(id, key).is_ge(),
            true => at(id, key).is_le(),
        })
    };
    let is_to = |id: &str| {
        end.is_none_or(|key| match (is_descending, at(id, key)) {
            (_, std::cmp::Ordering::Equal) => is_inclusive,
            (false, order) => order.is_le(),
            (true, order) => order.is_ge(),
        })
    };
    let is_local = prefix == "_local/";
    let mut ids = if is_local { LOCAL } else { DOCS }.to_vec();
    ids.sort_unstable();
    if is_descending {
        ids.reverse();
    }
    let total = ids.iter().filter(|id| id.starts_with(prefix)).count();
    // A list of design documents begins no earlier than they do.
    let is_before = |id: &&&str| match is_descending {
        _ if !is_from(id) => true,
        false => !prefix.is_empty() && **id < prefix,
        true => !prefix.is_empty() && !id.starts_with(prefix) && **id > prefix,
    };
    let before = ids.iter().filter(is_before).count();
    let rows = ids
        .iter()
        .filter(|id| id.starts_with(prefix) && is_from(id) && is_to(id));
    let rows = rows.skip(skip).take(limit).map(|id| json!(id)).collect();
    match is_local {
        true => (rows, Value::Null),
        false => (rows, json!(total.min(before + skip))),
    }
}

async fn check(
    path: &str,
    given: &Map<String, Value>,
    answer: &Value,
    expected: (Vec<Value>, Value),
) {
    let rows = answer["rows"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("{path} {given:?}: {answer}"));
    let keys: Vec<Value> = rows.iter().map(|row| row["key"].clone()).collect();
    assert_eq!(
        (keys, answer["offset"].clone()),
        expected,
        "{path} {given:?}"
    );
    for row in rows {
        let id = row["key"].as_str().unwrap_or_default();
        let is_there = DOCS.contains(&id) || LOCAL.contains(&id);
        let has_doc = given.get("include_docs") == Some(&Value::Bool(true));
        assert_eq!(row["id"].is_string(), is_there, "{path} {given:?} {row}");
        assert_eq!(
            row["error"].is_string(),
            !is_there,
            "{path} {given:?} {row}"
        );
        assert_eq!(
            row["doc"]["_id"] == row["key"] && row["doc"].is_object(),
            is_there && has_doc,
            "{path} {given:?} {row}"
        );
    }
    let has_sequence = given.get("update_seq") == Some(&Value::Bool(true));
    let is_null = answer["offset"].is_null();
    assert_eq!(
        answer["update_seq"].is_string(),
        has_sequence && !is_null,
        "{path} {given:?}"
    );
    assert_eq!(answer.get("update_seq").is_some(), has_sequence);
}

/// Parameters of a URL.
fn query(given: &Map<String, Value>) -> String {
    let mut url = reqwest::Url::parse("http://x/").unwrap();
    for (name, value) in given {
        url.query_pairs_mut().append_pair(name, &value.to_string());
    }
    url.query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default()
}

#[tokio::test]
async fn ranges_and_keys_of_every_json_type_are_those_of_couchdb() {
    let server = Running::start().await;
    let docs: Vec<Value> = DOCS.iter().map(|id| json!({ "_id": id })).collect();
    server.database("db", &json!(docs)).await;
    for id in LOCAL {
        server.put(&format!("/db/{id}"), &json!({ "x": 1 })).await;
    }
    let mut dice = Dice(7);
    for _ in 0..400 {
        let (list, prefix) = LISTS[dice.below(LISTS.len())];
        let given = dice.parameters();
        let path = format!("/db/{list}");
        let body = Value::Object(given.clone());
        let got = server.get(&format!("{path}{}", query(&given))).await.json();
        check(&path, &given, &got, expected(prefix, &given, false)).await;
        let posted = server.post(&path, &body).await.json();
        check(&path, &given, &posted, expected(prefix, &given, false)).await;
        let queries = json!({ "queries": [{ "limit": 0 }, body] });
        let answers = server
            .post(&format!("{path}/queries"), &queries)
            .await
            .json();
        let second = &answers["results"][1];
        check(&path, &given, second, expected(prefix, &given, true)).await;
    }
}
