//! No text makes the reader of documents panic; what it takes is JSON that is read again as it was written, and has a revision.
#![no_main]

use inorder_couch::mango::{FindQuery, IndexDefinition, Selector};
use inorder_couch::revision::{self, Term};
use inorder_couch::store::{Edit, Limits};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let limits = Limits::default();
    let value: Result<Value, _> = serde_json::from_str(text);
    if let Ok(edit) = Edit::from_json(text, &limits) {
        let again = Edit::from_json(edit.body(), &limits).expect("a body is a document");
        assert_eq!(again.body(), edit.body());
        let value: Value = serde_json::from_str(edit.body()).expect("a body is JSON");
        let term = Term::from_json(edit.body(), limits.depth_max).expect("a body has a term");
        let first = revision::next(false, None, &term, &[]);
        assert_eq!(first.to_string().parse(), Ok(first.clone()));
        let _ = Selector::from_json(&value);
    }
    if let Ok(value) = value {
        let _ = FindQuery::from_json(&value);
        let _ = IndexDefinition::from_json(&value);
    }
});
