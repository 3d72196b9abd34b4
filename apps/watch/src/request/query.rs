//! Parses the query of a URL.

pub use crate::db::tonight::Wanted;
use crate::{
    Error,
    db::{
        entries::{Filter, Sort, tags::Tag},
        films::Kind,
    },
    words::say,
};
use serde::{Deserialize, Deserializer, Serialize};

/// The part and the order of a list, from its address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    #[serde(
        deserialize_with = "ticked",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub watched: bool,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub genre: Option<String>,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub decade: Option<i64>,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(skip_serializing_if = "is_usual")]
    pub sort: Sort,
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub page: Option<i64>,
}

pub fn is_usual(sort: &Sort) -> bool {
    *sort == Sort::default()
}

impl View {
    /// The filter for reading the list.
    pub fn filter(&self, public_only: bool) -> Filter {
        Filter {
            watched: self.watched,
            genre: self.genre.clone(),
            decade: self.decade,
            priority: self.priority,
            kind: self.kind,
            tag: self.tag.clone(),
            sort: self.sort,
            page: self.page.unwrap_or(1).max(1) - 1,
            public_only,
        }
    }

    /// The filter for reading a friend's list, who shows these tags. A friend learns nothing of others.
    pub fn of_friend(&self, shared: &[Tag]) -> Filter {
        let mut filter = self.filter(true);
        let is_shared = |tag: &String| shared.iter().any(|shared| shared.name == *tag);
        filter.tag = filter.tag.filter(is_shared);
        filter
    }

    /// The address of this view of the list at `path`.
    pub fn address(&self, path: &str) -> String {
        match serde_urlencoded::to_string(self) {
            Ok(query) if !query.is_empty() => format!("{path}?{query}"),
            _ => path.to_owned(),
        }
    }

    /// Whether the form of the list chooses among its films.
    pub fn has_choice(&self) -> bool {
        self.genre.is_some()
            || self.decade.is_some()
            || self.priority.is_some()
            || self.kind.is_some()
    }

    pub fn is_filtered(&self) -> bool {
        self.has_choice() || self.tag.is_some()
    }
}

/// The names of the friends who choose a film together.
pub fn with(query: Vec<(String, String)>) -> Vec<String> {
    let named = query.into_iter().filter(|(key, _)| key == "with");
    named.map(|(_, name)| name).collect()
}

impl Wanted {
    /// What a query asks of a film for tonight.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the running time is not a number, and for another kind than there is.
    pub fn of(query: &[(String, String)]) -> Result<Self, Error> {
        let value = |key: &str| {
            let found = query
                .iter()
                .find(|(name, value)| name == key && !value.is_empty());
            found.map(|(_, value)| value.as_str())
        };
        let minutes = value("minutes").map(str::parse).transpose();
        let kind = value("kind").map(str::parse).transpose();
        Ok(Wanted {
            kind: kind.map_err(|()| Error::Invalid(say::kind_wrong()))?,
            genre: value("genre").map(str::to_owned),
            minutes_max: minutes.map_err(|_| Error::Invalid(say::minutes_no_number()))?,
        })
    }
}

/// Reads a field that may be left empty.
pub fn optional<'de, D: Deserializer<'de>, T: std::str::FromStr>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    let bad = |_| serde::de::Error::custom(format!("\"{text}\" is not what this field takes"));
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(bad),
    }
}

/// Reads a box that is ticked or isn't sent at all. Programs may also send `0` or `false`.
pub fn ticked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<String>::deserialize(deserializer)
        .map(|text| text.is_some_and(|text| !["0", "false", "no"].contains(&text.as_str())))
}
