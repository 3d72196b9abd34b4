//! Compares the list of keys with the program and its documentation.

use inorder_couch::config::keys;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The text of all source files but the list itself.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("config/keys.rs")
        {
            text.push_str(&fs::read_to_string(&path).expect("text"));
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[test]
fn every_key_of_the_list_is_read() {
    let mut text = String::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut text,
    );
    let words: std::collections::HashSet<&str> = words(&text).collect();
    let unread = keys::ALL
        .iter()
        .filter(|entry| !words.contains(entry.constant));
    let unread: Vec<_> = unread.map(|entry| entry.constant).collect();
    assert!(
        unread.is_empty(),
        "no code reads {unread:?}: remove them from the list"
    );
}

#[test]
fn every_key_is_documented_with_its_default() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let page = fs::read_to_string(page).expect("the page");
    let mut table = String::from("| section | key | default |\n| --- | --- | --- |\n");
    for entry in keys::ALL {
        let default = match (entry.default)().as_str() {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        writeln!(
            table,
            "| `{}` | `{}` | {default} |",
            entry.section, entry.name
        )
        .expect("memory");
    }
    assert!(
        page.contains(&table),
        "docs/configuration.md must have this table:\n{table}"
    );
}
