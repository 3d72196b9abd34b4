//! No parameters of a query, no design document and no key of a view make its reader panic, and a group of a key is the key
//! of the first items.
#![no_main]

use inorder_couch::views::{Collation, Design, Query};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    let pairs = first.split('&').filter_map(|pair| pair.split_once('='));
    let mut query = Query::default();
    let _ = query.read_url(pairs);
    check(&query);
    for text in [text, second] {
        match serde_json::from_str(text) {
            Ok(Value::Object(body)) => {
                let _ = query.read_body(&body);
                check(&query);
                design(&body);
            }
            Ok(Value::Array(items)) => keys(&items),
            _ => {}
        }
    }
});

fn check(query: &Query) {
    for (has_reduce, is_partitioned) in [(false, false), (false, true), (true, false), (true, true)]
    {
        if let Ok(grouping) = query.check(has_reduce, is_partitioned) {
            assert!(has_reduce || grouping.is_none());
        }
    }
}

fn design(body: &Map<String, Value>) {
    let is_of_partitions = body.len() % 2 == 1;
    let Ok(design) = Design::read(body, is_of_partitions) else {
        return;
    };
    let Some(Value::Object(views)) = body.get("views") else {
        return;
    };
    for name in views.keys() {
        let _ = design.view(name);
    }
    // The signature depends on the content and not on the order of members.
    let mut sorted = body.clone();
    if let Some(Value::Object(views)) = sorted.get_mut("views") {
        views.sort_keys();
    }
    let again = Design::read(&sorted, is_of_partitions).map(|design| design.signature);
    assert_eq!(again.ok(), Some(design.signature));
}

fn keys(items: &[Value]) {
    for collation in [Collation::Unicode, Collation::Raw] {
        let whole = collation.key(&Value::from(items));
        for level in 1..items.len() {
            let short = collation.key(&Value::from(&items[..level]));
            // Without the byte that ends an array.
            let expected = &short[..short.len() - 1];
            assert_eq!(collation.group(&whole, level), expected);
            assert!(short < whole, "a shorter array sorts first");
        }
        assert_eq!(collation.group(&whole, items.len() + 1), whole);
        for item in items {
            let key = collation.key(item);
            let one = collation.key(&Value::from([item.clone()].as_slice()));
            assert_eq!(collation.group(&one, 1)[1..], key);
        }
    }
}
