//! Queries and indexes.

mod common;

use common::*;
use inorder_couch::mango::{FindQuery, IndexDefinition};
use inorder_couch::store::{Database, Error, FindPage};
use serde_json::{Value, json};

const FILMS: &[(&str, i64, &str, &[&str])] = &[
    ("alien", 1979, "Alien", &["horror", "sf"]),
    ("brazil", 1985, "Brazil", &["sf"]),
    ("clue", 1985, "Clue", &["comedy"]),
    ("dune", 1984, "Dune", &["sf"]),
    ("eraserhead", 1977, "Eraserhead", &["horror"]),
];

fn films() -> Store {
    let store = store();
    let film = |(id, year, title, genres): &(&str, i64, &str, &[&str])| {
        edit(&json!({"_id": id, "year": year, "title": title, "genres": genres}).to_string())
    };
    let edits = FILMS.iter().map(film).collect();
    store.db.bulk(edits).wait().unwrap();
    put(&store.db, r#"{"_id":"note","text":"no film"}"#);
    put(&store.db, r#"{"_id":"_design/other","views":{}}"#);
    store
}

fn index(db: &Database, definition: Value) -> bool {
    let definition = IndexDefinition::from_json(&definition).unwrap();
    db.create_index(definition).wait().unwrap().created
}

fn query(body: &Value) -> FindQuery {
    FindQuery::from_json(body).unwrap()
}

fn find(db: &Database, body: Value) -> FindPage {
    db.find(&query(&body)).unwrap()
}

fn ids(db: &Database, body: Value) -> String {
    let ids = find(db, body).docs.into_iter().map(|document| {
        let document: Value = serde_json::from_str(&document).unwrap();
        document["_id"].as_str().unwrap().to_owned()
    });
    ids.collect::<Vec<_>>().join(" ")
}

fn chosen(db: &Database, body: Value) -> String {
    let explanation = db.explain(&query(&body)).unwrap();
    explanation["index"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn without_an_index_all_documents_are_looked_at() {
    let store = films();
    let page = find(
        &store.db,
        json!({"selector": {"year": 1985}, "execution_stats": true}),
    );
    assert_eq!(page.docs.len(), 2);
    assert!(
        page.docs[0].starts_with(r#"{"_id":"brazil","_rev":"1-"#),
        "{}",
        page.docs[0]
    );
    let warning = page.warning.as_deref();
    assert_eq!(
        warning,
        Some("No matching index found, create an index to optimize query time.")
    );
    let stats = page.execution_stats.clone().unwrap();
    assert_eq!(
        stats["total_docs_examined"], 7,
        "a design document is read, and left out"
    );
    let answer: Value = serde_json::from_str(&page.to_json()).unwrap();
    assert_eq!(answer["docs"].as_array().unwrap().len(), 2);
    assert_eq!(
        ids(
            &store.db,
            json!({"selector": {"_id": {"$gte": "c", "$lt": "e"}}})
        ),
        "clue dune"
    );
    let all = "alien brazil clue dune eraserhead note";
    assert_eq!(ids(&store.db, json!({"selector": {}})), all);
    assert_eq!(
        ids(
            &store.db,
            json!({"selector": {"_id": {"$gt": null}}, "sort": [{"_id": "desc"}], "limit": 2})
        ),
        "note eraserhead"
    );
}

#[test]
fn an_index_narrows_and_gives_the_order() {
    let store = films();
    assert!(index(
        &store.db,
        json!({"index": {"fields": ["year"]}, "name": "by-year", "ddoc": "films"})
    ));
    assert!(!index(
        &store.db,
        json!({"index": {"fields": ["year"]}, "name": "by-year", "ddoc": "films"})
    ));
    let page = find(
        &store.db,
        json!({"selector": {"year": 1985}, "execution_stats": true}),
    );
    assert_eq!(page.warning, None);
    assert_eq!(page.execution_stats.unwrap()["total_docs_examined"], 2);
    let sorted = |direction: &str| {
        ids(
            &store.db,
            json!({"selector": {"year": {"$gt": 1977}}, "sort": [{"year": direction}]}),
        )
    };
    assert_eq!(sorted("asc"), "alien dune brazil clue");
    assert_eq!(sorted("desc"), "clue brazil dune alien");
    // The index follows its documents.
    put(&store.db, r#"{"_id":"elephant","year":1980}"#);
    let revision = put(&store.db, r#"{"_id":"x","year":1983}"#);
    put(
        &store.db,
        &format!(r#"{{"_id":"x","_rev":"{revision}","_deleted":true,"year":1983}}"#),
    );
    assert_eq!(sorted("asc"), "alien elephant dune brazil clue");
    // Documents without a year are not in an index on the year.
    assert_eq!(
        ids(
            &store.db,
            json!({"selector": {"_id": {"$gt": null}}, "sort": ["year"]})
        ),
        "eraserhead alien elephant dune brazil clue"
    );
    let range = json!({"selector": {"year": {"$gte": 1979, "$lte": 1984, "$ne": 1980}}});
    assert_eq!(ids(&store.db, range), "alien dune");
    assert_eq!(
        ids(
            &store.db,
            json!({"selector": {"year": {"$gt": 5, "$lt": 1}}})
        ),
        ""
    );
}

#[test]
fn the_index_is_chosen_as_couchdb_does() {
    let store = films();
    let db = &store.db;
    for (name, fields) in [
        ("year", json!(["year"])),
        ("title", json!(["title"])),
        ("year-title", json!(["year", "title"])),
        ("title-year", json!(["title", "year"])),
    ] {
        index(
            db,
            json!({"index": {"fields": fields}, "name": name, "ddoc": name}),
        );
    }
    assert_eq!(chosen(db, json!({"selector": {"year": 1985}})), "year");
    assert_eq!(
        chosen(
            db,
            json!({"selector": {"year": 1985, "title": {"$gt": "A"}}})
        ),
        "title-year"
    );
    assert_eq!(
        chosen(db, json!({"selector": {"year": {"$exists": true}}})),
        "year"
    );
    assert_eq!(
        chosen(db, json!({"selector": {"genres": {"$size": 1}}})),
        "_all_docs"
    );
    assert_eq!(
        chosen(
            db,
            json!({"selector": {"year": {"$ne": 1}, "title": {"$gt": "A"}}, "sort": ["year", "title"]})
        ),
        "year-title"
    );
    assert_eq!(
        chosen(
            db,
            json!({"selector": {"year": 1985, "title": {"$gt": "A"}}, "sort": ["title"], "use_index": "year-title"})
        ),
        "year-title"
    );
    assert_eq!(
        chosen(db, json!({"selector": {"$or": [{"year": 1}, {"year": 2}]}})),
        "year"
    );
    assert_eq!(
        chosen(
            db,
            json!({"selector": {"$or": [{"year": 1}, {"title": "x"}]}})
        ),
        "_all_docs"
    );
    assert_eq!(
        chosen(db, json!({"selector": {"year": {"$exists": false}}})),
        "_all_docs"
    );
}

#[test]
fn an_index_is_used_when_it_is_named_and_serves() {
    let store = films();
    let db = &store.db;
    index(
        db,
        json!({"index": {"fields": ["year"]}, "name": "year", "ddoc": "year"}),
    );
    let partial =
        json!({"fields": ["year"], "partial_filter_selector": {"genres": {"$all": ["sf"]}}});
    index(db, json!({"index": partial, "name": "sf", "ddoc": "sf"}));
    // A partial index only for whoever names it.
    let named = json!({"selector": {"year": {"$gt": 1980}}, "use_index": ["_design/sf", "sf"]});
    assert_eq!(chosen(db, named.clone()), "sf");
    assert_eq!(ids(db, named), "dune brazil");
    let wrong = json!({"selector": {"genres": "x"}, "use_index": "year"});
    let warning = find(db, wrong.clone()).warning.unwrap();
    assert!(
        warning.starts_with("_design/year was not used"),
        "{warning}"
    );
    let mut strict = wrong;
    strict["allow_fallback"] = json!(false);
    let refused = db.find(&query(&strict));
    assert!(matches!(refused, Err(Error::Mango(error)) if error.name == "invalid_index"));
    let unsorted = db.find(&query(
        &json!({"selector": {"year": 1}, "sort": ["genres"]}),
    ));
    assert!(matches!(unsorted, Err(Error::Mango(error)) if error.name == "no_usable_index"));
}

#[test]
fn pages_follow_each_other_by_their_bookmarks() {
    let store = store();
    let edits = (0..50).map(|n| edit(&format!(r#"{{"_id":"{n:02}","group":{},"n":{n}}}"#, n / 20)));
    store.db.bulk(edits.collect()).wait().unwrap();
    index(&store.db, json!({"index": {"fields": ["group"]}}));
    let by_index = json!({"selector": {"group": {"$gte": 0}, "n": {"$mod": [2, 0]}}, "limit": 7});
    let by_id = json!({"selector": {"n": {"$mod": [2, 0]}}, "limit": 7});
    let descending = json!({"selector": {"group": {"$gte": 0}, "n": {"$mod": [2, 0]}}, "limit": 7, "sort": [{"group": "desc"}]});
    for body in [by_index, by_id, descending] {
        let mut body = body;
        let mut all = Vec::new();
        loop {
            let page = find(&store.db, body.clone());
            body["bookmark"] = json!(page.bookmark);
            if page.docs.is_empty() {
                break;
            }
            let documents = page
                .docs
                .iter()
                .map(|text| serde_json::from_str::<Value>(text).unwrap());
            all.extend(documents.map(|document| document["n"].as_u64().unwrap()));
        }
        let mut expected: Vec<u64> = (0..50).step_by(2).collect();
        if body.get("sort").is_some() {
            expected.reverse();
        }
        assert_eq!(all, expected, "{body}");
    }
    // CouchDB's bookmark of a page whose matches were all skipped is at the last of them.
    let mut skipping = json!({"selector": {"n": {"$lt": 5}}, "skip": 9});
    let skipped = find(&store.db, skipping.clone());
    skipping["skip"] = json!(0);
    skipping["bookmark"] = json!(skipped.bookmark);
    let next = find(&store.db, skipping);
    assert_eq!((skipped.docs.len(), next.docs.len()), (0, 0));
    let other = find(&store.db, json!({"selector": {"n": 1}, "limit": 1})).bookmark;
    let other = other.unwrap();
    for bad in ["x", other.as_str()] {
        let body = json!({"selector": {"group": 1}, "bookmark": bad});
        let refused = store.db.find(&query(&body));
        assert!(matches!(refused, Err(Error::Mango(error)) if error.name == "invalid_bookmark"));
    }
}

#[test]
fn only_the_fields_asked_for_are_given_as_they_were_spelled() {
    let store = store();
    put(
        &store.db,
        r#"{"_id":"a","b":{"c":1.50,"d":[1e2,{"e":2}]},"x":3}"#,
    );
    let shown = |fields: Value| {
        find(&store.db, json!({"selector": {}, "fields": fields}))
            .docs
            .remove(0)
    };
    assert_eq!(
        shown(json!(["b.c", "_id", "none"])),
        r#"{"b":{"c":1.50},"_id":"a"}"#
    );
    assert_eq!(
        shown(json!(["b.d", "b.c"])),
        r#"{"b":{"d":[1e2,{"e":2}],"c":1.50}}"#
    );
    assert_eq!(shown(json!(["nothing"])), "{}");
}

#[test]
fn indexes_are_listed_and_live_in_design_documents() {
    let store = films();
    let db = &store.db;
    index(
        db,
        json!({"index": {"fields": [{"year": "desc"}, {"title": "desc"}]}, "name": "n", "ddoc": "d", "type": "json"}),
    );
    let listed = |db: &Database| {
        let indexes = db.indexes().unwrap();
        indexes
            .iter()
            .map(|index| index.to_json())
            .collect::<Vec<_>>()
    };
    let expected = [
        json!({"ddoc": null, "name": "_all_docs", "type": "special", "def": {"fields": [{"_id": "asc"}]}}),
        json!({"ddoc": "_design/d", "name": "n", "type": "json", "partitioned": false, "def": {"fields": [{"year": "desc"}, {"title": "desc"}]}}),
    ];
    assert_eq!(listed(db), expected);
    let design: Value = serde_json::from_str(&get(db, "_design/d")).unwrap();
    assert_eq!(design["language"], "query");
    assert_eq!(
        design["views"]["n"]["map"]["fields"],
        json!({"year": "desc", "title": "desc"})
    );
    // Copied by replication it is an index there, too.
    let copy = store.databases.create("copy").unwrap();
    let mut body = design.clone();
    body["_revisions"] = json!({"start": 1, "ids": [design["_rev"].as_str().unwrap()[2..]]});
    replicate(&copy, &[&body.to_string()]);
    assert_eq!(listed(&copy), expected);
    put(&copy, r#"{"_id":"a","year":1,"title":"x"}"#);
    assert_eq!(
        chosen(&copy, json!({"selector": {"year": 1, "title": "x"}})),
        "n"
    );
    assert_eq!(
        ids(&copy, json!({"selector": {"year": 1, "title": "x"}})),
        "a"
    );
    let backup = store.folder.path().join("backup.sqlite");
    copy.backup(&backup).unwrap();
    let backup = store.databases.get("backup").unwrap();
    assert_eq!(
        ids(&backup, json!({"selector": {"year": 1, "title": "x"}})),
        "a"
    );
    db.delete_index("d", "n").wait().unwrap();
    assert_eq!(listed(db), expected[..1]);
    assert!(matches!(
        db.delete_index("d", "n").wait(),
        Err(Error::NotFound(_))
    ));
    assert_eq!(
        ids(db, json!({"selector": {"year": 1979, "title": "Alien"}})),
        "alien"
    );
    let wrong =
        IndexDefinition::from_json(&json!({"index": {"fields": ["a"]}, "ddoc": "other"})).unwrap();
    let refused = db.create_index(wrong).wait();
    assert!(matches!(refused, Err(Error::Mango(error)) if error.name == "invalid_ddoc_lang"));
}

#[test]
fn an_explanation_has_couchdbs_shape() {
    let store = films();
    index(
        &store.db,
        json!({"index": {"fields": ["year"]}, "name": "y", "ddoc": "y"}),
    );
    let explained = store.db.explain(&query(
        &json!({"selector": {"year": {"$gt": 1980}}, "fields": ["_id"], "skip": 1}),
    ));
    let mut explained = explained.unwrap();
    explained["opts"] = json!({});
    assert_eq!(
        explained,
        json!({
            "dbname": "db",
            "index": {"ddoc": "_design/y", "name": "y", "type": "json", "partitioned": false, "def": {"fields": [{"year": "asc"}]}},
            "partitioned": false,
            "selector": {"year": {"$gt": 1980}},
            "opts": {},
            "limit": 25,
            "skip": 1,
            "fields": ["_id"],
            "index_candidates": [{
                "index": {"ddoc": null, "name": "_all_docs", "type": "special", "def": {"fields": [{"_id": "asc"}]}},
                "analysis": {"usable": true, "reasons": [{"name": "unfavored_type"}], "ranking": 1, "covering": null},
            }],
            "selector_hints": [{"type": "json", "indexable_fields": ["year"], "unindexable_fields": []}],
            "mrargs": {
                "include_docs": false, "view_type": "map", "reduce": false, "partition": null,
                "start_key": [1980], "end_key": ["<MAX>"], "direction": "fwd",
                "stable": false, "update": true, "conflicts": "undefined",
            },
            "covering": true,
        })
    );
}

#[test]
fn documents_as_deep_as_they_may_be_are_found() {
    let store = store();
    index(&store.db, json!({"index": {"fields": ["x"]}}));
    let levels = store.db.limits().depth_max - 1;
    let deep = "[".repeat(levels) + &"]".repeat(levels);
    put(&store.db, &format!(r#"{{"_id":"a","deep":{deep},"x":1}}"#));
    assert_eq!(ids(&store.db, json!({"selector": {"x": 1}})), "a");
    assert_eq!(
        ids(&store.db, json!({"selector": {"_id": "a", "x": 1}})),
        "a"
    );
    put(&store.db, &format!(r#"{{"_id":"b","x":{deep}}}"#));
    assert_eq!(
        ids(&store.db, json!({"selector": {"x": {"$type": "array"}}})),
        "b"
    );
}

#[test]
fn what_is_no_query_or_index_is_refused_by_its_name() {
    let name = |body: Value| FindQuery::from_json(&body).unwrap_err().name;
    let with = |name: &str, value: Value| json!({"selector": {}, name: value});
    assert_eq!(name(json!([])), "invalid_object");
    assert_eq!(name(json!({})), "missing_required_key");
    assert_eq!(name(with("limit", json!(-1))), "invalid_non_neg_integer");
    assert_eq!(name(with("sort", json!("a"))), "invalid_sort_json");
    assert_eq!(
        name(with("sort", json!([{"a": "up"}]))),
        "invalid_sort_field"
    );
    assert_eq!(
        name(with("sort", json!([{"a": "asc"}, {"b": "desc"}]))),
        "unsupported_mixed_sort"
    );
    assert_eq!(name(with("fields", json!([1]))), "invalid_field");
    assert_eq!(name(with("use_index", json!([1]))), "invalid_index_name");
    assert_eq!(name(with("bookmark", json!(1))), "invalid_bookmark");
    assert_eq!(name(with("r", json!(0))), "invalid_pos_integer");
    assert_eq!(
        name(with("use_index", json!("a/b/c"))),
        "invalid_index_name"
    );
    assert_eq!(name(with("partition", json!("_a"))), "illegal_partition");
    assert_eq!(name(with("conflicts", json!("yes"))), "invalid_boolean");
    assert_eq!(name(with("nonsense", json!(1))), "invalid_key");
    let name = |body: Value| IndexDefinition::from_json(&body).unwrap_err().name;
    assert_eq!(name(json!({})), "missing_required_key");
    assert_eq!(name(json!({"index": {}})), "missing_required_key");
    assert_eq!(name(json!({"index": {"fields": []}})), "invalid_index");
    assert_eq!(
        name(json!({"index": {"fields": ["a"], "x": 1}})),
        "invalid_key"
    );
    assert_eq!(
        name(json!({"index": {"fields": ["a"]}, "type": "text"})),
        "required index service unavailable"
    );
    assert_eq!(
        name(json!({"index": {"fields": ["a"]}, "name": 1})),
        "invalid_string"
    );
    assert_eq!(
        name(json!({"index": {"fields": ["a"]}, "x": 1})),
        "invalid_key"
    );
    assert_eq!(
        name(json!({"index": {"fields": ["a"], "partial_filter_selector": {"$x": 1}}})),
        "invalid_operator"
    );
    let long = "a".repeat(20_000);
    assert_eq!(name(json!({"index": {"fields": [long]}})), "invalid_index");
}

#[test]
fn an_index_on_conflicts_finds_documents_with_conflicts() {
    let store = store();
    let first = r#"{"_id":"a","_rev":"1-a","x":1}"#;
    let second = r#"{"_id":"a","_rev":"1-b","x":2}"#;
    index(&store.db, json!({"index": {"fields": ["_conflicts"]}}));
    put(&store.db, r#"{"_id":"b","x":3}"#);
    replicate(&store.db, &[first]);
    let body = json!({"selector": {"_conflicts": {"$exists": true}}, "conflicts": true});
    assert_eq!(ids(&store.db, body.clone()), "");
    replicate(&store.db, &[second]);
    assert_eq!(ids(&store.db, body.clone()), "a");
    let found: Value = serde_json::from_str(&find(&store.db, body).docs[0]).unwrap();
    assert_eq!(found["_conflicts"], json!(["1-a"]));
}

#[test]
fn an_escaped_dollar_sign_begins_a_field_name() {
    let store = store();
    put(&store.db, r#"{"_id":"a","$foobar":1}"#);
    put(&store.db, r#"{"_id":"b","foobar":1}"#);
    assert_eq!(ids(&store.db, json!({"selector": {"\\$foobar": 1}})), "a");
}

#[test]
fn an_empty_list_alone_finds_nothing() {
    let store = films();
    for operator in ["$or", "$and", "$nor"] {
        let page = find(&store.db, json!({"selector": {operator: []}}));
        assert_eq!((page.docs.len(), page.bookmark), (0, None), "{operator}");
    }
    let combined = json!({"selector": {"year": 1979, "$or": []}});
    assert_eq!(ids(&store.db, combined), "alien");
}

#[test]
fn ids_are_greater_than_all_other_values() {
    let store = films();
    for value in [json!({}), json!([]), json!(1)] {
        let between = json!({"selector": {"_id": {"$lt": value, "$gte": "a"}}});
        assert_eq!(ids(&store.db, between), "", "{value}");
        let above = json!({"selector": {"_id": {"$gt": value}}, "limit": 1});
        assert_eq!(ids(&store.db, above), "alien", "{value}");
    }
}

#[test]
fn without_fallback_only_the_index_asked_for_is_used() {
    let store = films();
    let name = |body: Value| match store.db.find(&query(&body)) {
        Err(Error::Mango(error)) => error.message,
        other => panic!("{other:?}"),
    };
    let unnamed = json!({"selector": {"year": 1}, "allow_fallback": false});
    assert!(name(unnamed).contains("must specify an index"));
    let missing = json!({"selector": {"year": 1}, "use_index": "d/n", "allow_fallback": false});
    assert!(name(missing).starts_with("_design/d, n specified by `use_index`"));
}

#[test]
fn a_partial_index_keeps_its_selector_and_an_old_one_too() {
    let store = films();
    let body = json!({
        "_id": "_design/old", "language": "query",
        "views": {"sf": {
            "map": {"fields": {"year": "asc"}, "selector": {"genres": {"$all": ["sf"]}}},
            "reduce": "_count",
            "options": {"def": {"fields": ["year"]}},
        }},
    });
    put(&store.db, &body.to_string());
    let named = json!({"selector": {"year": {"$gt": 1980}}, "use_index": "old"});
    assert_eq!(chosen(&store.db, named.clone()), "sf");
    assert_eq!(ids(&store.db, named), "dune brazil");
    let unnamed = json!({"selector": {"year": {"$gt": 1980}}});
    assert_eq!(chosen(&store.db, unnamed), "_all_docs");
}

#[test]
fn two_indexes_of_one_design_document_are_told_apart_by_name() {
    let store = films();
    for name in ["year", "title"] {
        index(
            &store.db,
            json!({"index": {"fields": [name]}, "name": name, "ddoc": "films"}),
        );
    }
    let body =
        |named: Value| json!({"selector": {"year": 1985, "title": "Clue"}, "use_index": named});
    assert_eq!(chosen(&store.db, body(json!(["films", "year"]))), "year");
    assert_eq!(
        chosen(&store.db, body(json!("_design/films/title"))),
        "title"
    );
    store.db.delete_index("films", "year").wait().unwrap();
    assert_eq!(chosen(&store.db, body(json!("films"))), "title");
}

#[test]
fn partitions_have_their_own_indexes() {
    let store = store();
    let db = store.databases.create_partitioned("parts").unwrap();
    let docs = (0..20).map(|n| edit(&format!(r#"{{"_id":"p{}:{n:02}","n":{}}}"#, n % 2, n % 5)));
    db.bulk(docs.collect()).wait().unwrap();
    assert!(matches!(
        refused(&db, r#"{"_id":"a"}"#),
        inorder_couch::store::Refusal::IllegalId(_)
    ));
    let body = |partition: &str| json!({"selector": {"n": 3}, "partition": partition});
    assert_eq!(chosen(&db, body("p1")), "_all_docs");
    assert_eq!(ids(&db, body("p1")), "p1:03 p1:13");
    index(
        &db,
        json!({"index": {"fields": ["n"]}, "name": "n", "ddoc": "n"}),
    );
    index(
        &db,
        json!({"index": {"fields": ["n"]}, "name": "g", "ddoc": "g", "partitioned": false}),
    );
    assert_eq!(chosen(&db, body("p1")), "n");
    assert_eq!(ids(&db, body("p1")), "p1:03 p1:13");
    assert_eq!(ids(&db, body("p")), "");
    let whole = json!({"selector": {"n": 3}});
    assert_eq!(chosen(&db, whole.clone()), "g");
    assert_eq!(ids(&db, whole), "p0:08 p0:18 p1:03 p1:13");
    let mut page = json!({"selector": {"n": {"$gt": 0}}, "partition": "p0", "limit": 3});
    let mut all = Vec::new();
    for _ in 0..4 {
        let found = find(&db, page.clone());
        all.extend(found.docs);
        page["bookmark"] = json!(found.bookmark);
    }
    assert_eq!(all.len(), 8);
    let info = db.partition_info("p1").unwrap();
    assert_eq!((info.doc_count, info.deleted_count), (10, 0));
}
