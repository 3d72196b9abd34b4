//! The values at one moment.

use super::key::{Key, Kind};
use std::collections::BTreeMap;

/// The values of a configuration at one moment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<String, BTreeMap<String, String>>);

/// Without the values, some of which are secrets.
impl std::fmt::Debug for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|(section, keys)| (section, keys.keys()));
        f.debug_map()
            .entries(names.map(|(section, keys)| (section, keys.collect::<Vec<_>>())))
            .finish()
    }
}

impl Values {
    /// Returns a value as text, if it is set.
    pub fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.0.get(section)?.get(key).map(String::as_str)
    }

    /// Returns the value of a known key. The value is the default when it is not set, or is not of the key's kind.
    pub fn read<K: Kind>(&self, key: &Key<K>) -> K::Value {
        let sections = std::iter::once(key.section).chain(fallback(key.section));
        let mut texts = sections.filter_map(|section| self.get(section, key.name));
        texts
            .next()
            .and_then(K::parse)
            .unwrap_or_else(|| K::from_default(key.default))
    }

    /// Returns whether a known key is set.
    pub fn is_set<K: Kind>(&self, key: &Key<K>) -> bool {
        let mut sections = std::iter::once(key.section).chain(fallback(key.section));
        sections.any(|section| self.get(section, key.name).is_some())
    }

    /// Returns the keys and values of a section.
    pub fn section(&self, section: &str) -> impl Iterator<Item = (&str, &str)> {
        let keys = self.0.get(section).into_iter().flatten();
        keys.map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the names of the sections.
    pub fn sections(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn set(&mut self, section: &str, key: &str, value: &str) {
        let keys = self.0.entry(section.to_owned()).or_default();
        keys.insert(key.to_owned(), value.to_owned());
    }

    pub(super) fn remove(&mut self, section: &str, key: &str) -> Option<String> {
        let keys = self.0.get_mut(section)?;
        let removed = keys.remove(key);
        if keys.is_empty() {
            self.0.remove(section);
        }
        removed
    }

    /// Takes the values of another, which go before its own.
    pub(super) fn merge(&mut self, other: &Values) {
        for section in other.sections() {
            for (key, value) in other.section(section) {
                self.set(section, key, value);
            }
        }
    }
}

/// The older section in which CouchDB looks for a key that the section does not have.
fn fallback(section: &str) -> Option<&'static str> {
    match section {
        "chttpd" => Some("httpd"),
        "chttpd_auth" => Some("couch_httpd_auth"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flag, Limit, List, Number, Text};

    const FLAG: Key<Flag> = Key::new("chttpd", "flag", true);
    const NUMBER: Key<Number> = Key::new("s", "number", 7);
    const LIMIT: Key<Limit> = Key::new("s", "limit", None);
    const TEXT: Key<Text> = Key::new("chttpd_auth", "text", "t");
    const LIST: Key<List> = Key::new("s", "list", "a, b");

    #[test]
    fn a_value_of_another_kind_is_the_default() {
        let mut values = Values::default();
        assert!(values.read(&FLAG) && !values.is_set(&FLAG));
        assert_eq!((values.read(&NUMBER), values.read(&LIMIT)), (7, None));
        assert_eq!(
            (values.read(&TEXT), values.read(&LIST)),
            ("t".into(), vec!["a".to_owned(), "b".to_owned()])
        );
        for (key, wrong) in [("flag", "yes"), ("number", "-1"), ("limit", "x")] {
            values.set("chttpd", key, wrong);
            values.set("s", key, wrong);
        }
        assert!(values.read(&FLAG));
        assert_eq!((values.read(&NUMBER), values.read(&LIMIT)), (7, None));
    }

    #[test]
    fn an_older_section_is_asked_second() {
        let mut values = Values::default();
        values.set("httpd", "flag", "false");
        values.set("couch_httpd_auth", "text", "old");
        assert!(!values.read(&FLAG) && values.is_set(&FLAG));
        assert_eq!(values.read(&TEXT), "old");
        values.set("chttpd", "flag", "true");
        values.set("chttpd_auth", "text", "new");
        assert_eq!(
            (values.read(&FLAG), values.read(&TEXT)),
            (true, "new".into())
        );
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut values = Values::default();
        values.set("chttpd_auth", "secret", "hidden");
        assert_eq!(format!("{values:?}"), r#"{"chttpd_auth": ["secret"]}"#);
    }
}
