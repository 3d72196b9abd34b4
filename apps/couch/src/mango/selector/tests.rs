//! Selectors on values.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn selector(value: Value) -> Selector {
    Selector::from_json(&value).unwrap()
}

#[track_caller]
fn check(condition: Value, matching: &[Value], other: &[Value]) {
    let selector = selector(condition);
    for value in matching {
        assert!(selector.matches_value(value), "{value} should match");
    }
    for value in other {
        assert!(!selector.matches_value(value), "{value} should not match");
    }
}

#[track_caller]
fn normal(given: Value, expected: Value) {
    assert_eq!(selector(given).to_json(), expected);
}

#[test]
fn values_are_compared_in_couchdbs_order() {
    let [null, one, two, text] = [
        json!({"a": null}),
        json!({"a": 1}),
        json!({"a": 2.0}),
        json!({"a": "x"}),
    ];
    let all = || vec![null.clone(), one.clone(), two.clone(), text.clone()];
    check(
        json!({"a": 2}),
        std::slice::from_ref(&two),
        &[null.clone(), json!({}), json!({"a": [2]})],
    );
    check(json!({"a": {"$gt": 1}}), &all()[2..], &all()[..2]);
    check(json!({"a": {"$gte": 1}}), &all()[1..], &all()[..1]);
    check(json!({"a": {"$lt": "x"}}), &all()[..3], &all()[3..]);
    check(json!({"a": {"$lte": 1}}), &all()[..2], &all()[2..]);
    check(
        json!({"a": {"$ne": 1}}),
        &[null.clone(), two.clone(), text.clone()],
        &[one.clone(), json!({})],
    );
    check(
        json!({"a": {"$gt": null}}),
        &all()[1..],
        &[null.clone(), json!({"b": 1})],
    );
}

#[test]
fn combinations_follow_logic_and_empty_lists_are_no_condition() {
    let (one, two) = (json!({"a": 1, "b": 1}), json!({"a": 2}));
    check(
        json!({"$and": [{"a": 1}, {"b": 1}]}),
        std::slice::from_ref(&one),
        std::slice::from_ref(&two),
    );
    check(
        json!({"$or": [{"a": 2}, {"b": 1}]}),
        &[one.clone(), two.clone()],
        &[json!({"a": 3})],
    );
    check(
        json!({"$nor": [{"a": 2}, {"a": 3}]}),
        std::slice::from_ref(&one),
        &[two.clone(), json!({})],
    );
    check(
        json!({"$not": {"a": 2}}),
        std::slice::from_ref(&one),
        &[two.clone(), json!({})],
    );
    check(
        json!({"$not": {"b": {"$exists": true}}}),
        std::slice::from_ref(&two),
        std::slice::from_ref(&one),
    );
    check(
        json!({"a": {"$not": {"$gt": 1}}}),
        std::slice::from_ref(&one),
        std::slice::from_ref(&two),
    );
    check(
        json!({"a": {"$or": [1, 2]}}),
        &[one.clone(), two.clone()],
        &[json!({"a": 3})],
    );
    check(json!({}), std::slice::from_ref(&one), &[]);
    for empty in ["$and", "$or", "$nor"] {
        check(json!({empty: []}), std::slice::from_ref(&two), &[]);
    }
    check(json!({"a": {"$in": []}}), &[], std::slice::from_ref(&one));
    check(json!({"a": {"$nin": []}}), &[one], &[json!({})]);
}

#[test]
fn lists_are_searched() {
    let tags = json!({"t": ["x", "y", 3]});
    check(
        json!({"t": {"$in": ["y", "z"]}}),
        &[tags.clone(), json!({"t": "z"})],
        &[json!({"t": "x"}), json!({})],
    );
    check(
        json!({"t": {"$nin": ["y"]}}),
        &[json!({"t": "x"})],
        &[tags.clone(), json!({"t": "y"})],
    );
    check(
        json!({"t": {"$all": ["x", 3]}}),
        std::slice::from_ref(&tags),
        &[json!({"t": ["x"]}), json!({"t": "x"})],
    );
    check(
        json!({"t": {"$all": [["x", "y", 3]]}}),
        std::slice::from_ref(&tags),
        &[json!({"t": ["x"]})],
    );
    check(json!({"t": {"$all": []}}), &[], std::slice::from_ref(&tags));
    check(
        json!({"t": {"$size": 3}}),
        std::slice::from_ref(&tags),
        &[json!({"t": []}), json!({"t": "abc"})],
    );
    check(
        json!({"t": {"$elemMatch": {"$gt": 1, "$lt": 5}}}),
        std::slice::from_ref(&tags),
        &[json!({"t": [0, 7]}), json!({"t": 3})],
    );
    check(
        json!({"t": {"$allMatch": {"$type": "string"}}}),
        &[json!({"t": ["a"]})],
        &[tags.clone(), json!({"t": []})],
    );
    check(
        json!({"t": {"$elemMatch": {"n.m": 1}}}),
        &[json!({"t": [{"n": {"m": 1}}]})],
        std::slice::from_ref(&tags),
    );
    check(
        json!({"t": {"$elemMatch": {"$not": {"$type": "string"}}}}),
        std::slice::from_ref(&tags),
        &[json!({"t": ["a"]})],
    );
    check(
        json!({"t.1": "y"}),
        &[tags],
        &[json!({"t": ["y"]}), json!({"t": {"0": "y"}})],
    );
}

#[test]
fn other_operators_do_as_their_names_say() {
    check(
        json!({"a": {"$exists": false}}),
        &[json!({})],
        &[json!({"a": null})],
    );
    check(
        json!({"a.b": {"$exists": false}}),
        &[json!({"a": {}})],
        &[json!({"a": 1}), json!({"a": {"b": 1}})],
    );
    check(
        json!({"a": {"$type": "null"}}),
        &[json!({"a": null})],
        &[json!({}), json!({"a": 0})],
    );
    check(
        json!({"a": {"$mod": [3, 1]}}),
        &[json!({"a": 4})],
        &[json!({"a": 3}), json!({"a": 4.0}), json!({"a": "4"})],
    );
    check(
        json!({"a": {"$mod": [-1, 0]}}),
        &[json!({"a": 4})],
        &[json!({"a": i64::MIN})],
    );
    check(
        json!({"a": {"$regex": "^b+$"}}),
        &[json!({"a": "bb"})],
        &[json!({"a": "abb"}), json!({"a": 1})],
    );
    check(
        json!({"a": {"$beginsWith": "b"}}),
        &[json!({"a": "bb"})],
        &[json!({"a": "Bb"}), json!({"a": ["b"]})],
    );
    check(
        json!({"a": {"$keyMapMatch": {"$beginsWith": "b"}}}),
        &[json!({"a": {"x": 1, "bx": 2}})],
        &[json!({"a": {"x": "b"}}), json!({"a": "b"})],
    );
    check(
        json!({"a": {"$not": {"$regex": "b"}}}),
        &[json!({"a": "x"}), json!({"a": 1})],
        &[json!({"a": "b"}), json!({})],
    );
    check(
        json!({"a": {}}),
        &[json!({"a": {}})],
        &[json!({"a": 1}), json!({})],
    );
    check(
        json!({r"a\.b": 1}),
        &[json!({"a.b": 1})],
        &[json!({"a": {"b": 1}})],
    );
}

#[test]
fn ids_are_compared_by_their_bytes() {
    check(
        json!({"_id": {"$gt": "a"}}),
        &[json!({"_id": "b"})],
        &[json!({"_id": "B"}), json!({"_id": "a"})],
    );
    check(json!({"id": {"$gt": "a"}}), &[json!({"id": "B"})], &[]);
}

#[test]
fn the_normal_form_is_couchdbs() {
    normal(json!({"a": 1}), json!({"a": {"$eq": 1}}));
    normal(
        json!({"a": 1, "b": {"c": 2}}),
        json!({"$and": [{"a": {"$eq": 1}}, {"b.c": {"$eq": 2}}]}),
    );
    normal(
        json!({"a": {"$gt": 1, "$lt": 3}}),
        json!({"$and": [{"a": {"$gt": 1}}, {"a": {"$lt": 3}}]}),
    );
    normal(
        json!({"a": {"$and": [{"$gt": 5}, {"b": 1}]}}),
        json!({"$and": [{"a": {"$gt": 5}}, {"a.b": {"$eq": 1}}]}),
    );
    normal(
        json!({"$not": {"$and": [{"a": {"$gt": 1}}, {"$nor": [{"b": {"$regex": "x"}}]}]}}),
        json!({"$or": [{"a": {"$lte": 1}}, {"$or": [{"b": {"$regex": "x"}}]}]}),
    );
    normal(
        json!({"$not": {"a": {"$size": 1}}}),
        json!({"a": {"$not": {"$size": 1}}}),
    );
    normal(
        json!({"a": {"$elemMatch": {"$gt": 1}}}),
        json!({"a": {"$elemMatch": {"": {"$gt": 1}}}}),
    );
}

#[test]
fn what_is_no_selector_is_refused_by_its_name() {
    let name = |value: Value| Selector::from_json(&value).unwrap_err().name;
    let deep = (0..200).fold(json!(1), |inner, _| json!({"$and": [{"a": inner}]}));
    let cases = [
        ("invalid_selector_json", json!([])),
        ("invalid_operator", json!({"a": {"$foo": 1}})),
        ("not_supported", json!({"$where": "x"})),
        ("bad_arg", json!({"$text": []})),
        ("bad_field", json!({"a": {"$text": "x"}})),
        ("invalid_operator", json!({"a": {"$beginsWith": true}})),
        ("bad_arg", json!({"$and": {}})),
        ("bad_arg", json!({"a": {"$in": 1}})),
        ("bad_arg", json!({"a": {"$exists": 1}})),
        ("bad_arg", json!({"a": {"$mod": [0, 1]}})),
        ("bad_arg", json!({"a": {"$mod": [1]}})),
        ("bad_arg", json!({"a": {"$size": -1}})),
        ("bad_arg", json!({"a": {"$regex": "("}})),
        ("bad_arg", json!({"a": {"$regex": "(a{1000}){1000}"}})),
        ("bad_arg", json!({"a": {"$elemMatch": 1}})),
        ("invalid_selector", json!({"$gt": 1})),
        ("invalid_selector", json!({"": 1})),
        ("invalid_field_name", json!({"a..b": 1})),
        ("invalid_selector", deep),
    ];
    for (expected, value) in cases {
        assert_eq!(
            name(value.clone()),
            expected,
            "{}",
            value.to_string().chars().take(80).collect::<String>()
        );
    }
}

/// Conditions on two fields of small values.
fn any_selector() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        (0..4i64).prop_map(Value::from),
        Just(Value::Null),
        "[ab]".prop_map(Value::from)
    ];
    let operator = prop_oneof![
        (
            proptest::sample::select(vec!["$lt", "$lte", "$eq", "$ne", "$gte", "$gt"]),
            value.clone()
        )
            .prop_map(|(name, value)| json!({name: value})),
        proptest::collection::vec(value, 0..3).prop_map(|items| json!({"$in": items})),
        any::<bool>().prop_map(|exists| json!({"$exists": exists})),
        Just(json!({"$type": "number"})),
    ];
    let field = (proptest::sample::select(vec!["a", "b"]), operator)
        .prop_map(|(name, it)| json!({name: it}));
    field.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            (
                proptest::sample::select(vec!["$and", "$or", "$nor"]),
                proptest::collection::vec(inner.clone(), 1..3)
            )
                .prop_map(|(name, parts)| json!({name: parts})),
            inner.prop_map(|part| json!({"$not": part})),
        ]
    })
}

proptest! {
    #[test]
    fn the_normal_form_means_the_same_and_stays(value in any_selector(), a in 0..4i64, b in 0..4i64) {
        let once = selector(value.clone());
        let twice = selector(once.to_json());
        prop_assert_eq!(twice.to_json(), once.to_json());
        // If both fields exist, ordinary logic applies.
        let document = json!({"a": a, "b": b});
        prop_assert_eq!(once.matches_value(&document), plain(&value, &document));
    }

    #[test]
    fn what_a_selector_requires_is_in_all_matches(value in any_selector(), a in 0..4i64) {
        let selector = selector(value);
        if selector.requires(&["b"]) {
            let document = json!({"a": a});
            prop_assert!(!selector.matches_value(&document));
        }
    }
}

/// Evaluates a selector of [`any_selector`] without a normal form.
fn plain(selector: &Value, document: &Value) -> bool {
    let (name, argument) = selector.as_object().unwrap().iter().next().unwrap();
    let parts = || {
        argument
            .as_array()
            .unwrap()
            .iter()
            .map(|part| plain(part, document))
    };
    match name.as_str() {
        "$and" => parts().all(|part| part),
        "$or" => parts().any(|part| part),
        "$nor" => !parts().any(|part| part),
        "$not" => !plain(argument, document),
        field => self::selector(json!({field: argument})).matches_value(document),
    }
}
