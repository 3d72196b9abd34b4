//! Known keys: where a value is, of which kind it is, and its default.

/// A key that has an effect, with values of the kind `K`.
#[derive(Debug, Clone, Copy)]
pub struct Key<K: Kind> {
    /// The section.
    pub section: &'static str,
    /// The name within the section.
    pub name: &'static str,
    /// The value when none is set.
    pub default: K::Default,
}

impl<K: Kind> Key<K> {
    /// Describes a key.
    pub const fn new(section: &'static str, name: &'static str, default: K::Default) -> Self {
        Key {
            section,
            name,
            default,
        }
    }
}

/// A kind of values.
pub trait Kind {
    /// A value.
    type Value;
    /// A default, as it is written in the list of keys.
    type Default: Copy + 'static;
    /// Reads the text of a value. None if it is not of the kind.
    fn parse(text: &str) -> Option<Self::Value>;
    /// Returns the value of a default.
    fn from_default(default: Self::Default) -> Self::Value;
    /// Writes a default as text.
    fn show(default: Self::Default) -> String;
}

/// `true` or `false`.
#[derive(Debug, Clone, Copy)]
pub enum Flag {}

impl Kind for Flag {
    type Value = bool;
    type Default = bool;

    fn parse(text: &str) -> Option<bool> {
        text.parse().ok()
    }

    fn from_default(default: bool) -> bool {
        default
    }

    fn show(default: bool) -> String {
        default.to_string()
    }
}

/// A number from 0.
#[derive(Debug, Clone, Copy)]
pub enum Number {}

impl Kind for Number {
    type Value = u64;
    type Default = u64;

    fn parse(text: &str) -> Option<u64> {
        text.parse().ok()
    }

    fn from_default(default: u64) -> u64 {
        default
    }

    fn show(default: u64) -> String {
        default.to_string()
    }
}

/// A number from 0, or `infinity`, which is none.
#[derive(Debug, Clone, Copy)]
pub enum Limit {}

impl Kind for Limit {
    type Value = Option<u64>;
    type Default = Option<u64>;

    fn parse(text: &str) -> Option<Option<u64>> {
        match text {
            "infinity" => Some(None),
            number => number.parse().ok().map(Some),
        }
    }

    fn from_default(default: Option<u64>) -> Option<u64> {
        default
    }

    fn show(default: Option<u64>) -> String {
        default.map_or_else(|| "infinity".to_owned(), |number| number.to_string())
    }
}

/// Text.
#[derive(Debug, Clone, Copy)]
pub enum Text {}

impl Kind for Text {
    type Value = String;
    type Default = &'static str;

    fn parse(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn from_default(default: &'static str) -> String {
        default.to_owned()
    }

    fn show(default: &'static str) -> String {
        default.to_owned()
    }
}

/// Texts with commas between them.
#[derive(Debug, Clone, Copy)]
pub enum List {}

impl Kind for List {
    type Value = Vec<String>;
    type Default = &'static str;

    fn parse(text: &str) -> Option<Vec<String>> {
        let items = text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty());
        Some(items.map(str::to_owned).collect())
    }

    fn from_default(default: &'static str) -> Vec<String> {
        Self::parse(default).unwrap_or_default()
    }

    fn show(default: &'static str) -> String {
        default.to_owned()
    }
}
