//! What the sender of a file says of it.

use super::meaning::Meaning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Properties of all rows of a file, which its columns do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// They are to be watched, unless a rating or a day says that they were.
    #[default]
    ToWatch,
    /// They were watched.
    Watched,
}

/// What the sender of a file says of it. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answers {
    /// What the rows are, where no column says so.
    pub rows: Option<Kind>,
    /// The sender's time zone: an IANA name or an offset.
    pub zone: Option<String>,
    /// Whether the day comes before the month in `5/1/2024`.
    pub is_day_first: Option<bool>,
    /// Whose rows are read, of several people.
    pub profile: Option<String>,
    /// What columns become, by [their place](Answers::place) or by their names.
    pub columns: BTreeMap<String, Meaning>,
}

impl Answers {
    /// The key of a column: the number of its [group](super::Mapped), and its own.
    pub fn place(group: usize, column: usize) -> String {
        format!("{group}-{column}")
    }

    /// What a column becomes, if the sender says so.
    pub fn meaning(&self, group: usize, column: usize, name: &str) -> Option<Meaning> {
        let own = self.columns.get(&Answers::place(group, column));
        own.or_else(|| self.columns.get(name)).copied()
    }
}

/// A file that was sent, with what its sender says of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// The name of the file.
    pub name: String,
    /// Its bytes, in base64.
    #[serde(with = "base64_text")]
    pub bytes: Vec<u8>,
    /// What its sender says.
    pub answers: Answers,
}

mod base64_text {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}
