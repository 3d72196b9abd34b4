//! The languages, and which of them a request is answered in.

use fluent_langneg::{NegotiationStrategy, negotiate_languages};
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use std::{
    cell::Cell,
    future::Future,
    sync::{LazyLock, OnceLock},
};
use unic_langid::LanguageIdentifier;

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German.
    German,
    /// English in brackets, for a browser that asks for `en-XA`: text without brackets is not in the catalogue.
    Pseudo,
}

/// What is particular to a language. Another one is a line here, a variant and a catalogue.
struct Facts {
    /// The tag, BCP 47.
    tag: &'static str,
    /// Its name in the language itself.
    name: &'static str,
    /// What separates groups of three digits.
    group: &'static str,
    /// What separates the fraction.
    decimal: &'static str,
    catalogue: &'static str,
}

/// In the order of the variants.
const FACTS: [Facts; Language::WITH_PSEUDO.len()] = [
    Facts {
        tag: "en",
        name: "English",
        group: ",",
        decimal: ".",
        catalogue: include_str!("en.ftl"),
    },
    Facts {
        tag: "de",
        name: "Deutsch",
        group: ".",
        decimal: ",",
        catalogue: include_str!("de.ftl"),
    },
    Facts {
        tag: "en-XA",
        name: "",
        group: ",",
        decimal: ".",
        catalogue: include_str!("en.ftl"),
    },
];

/// The languages to choose from, as identifiers.
static AVAILABLE: LazyLock<Vec<LanguageIdentifier>> = LazyLock::new(|| {
    let tags = Language::ALL.map(Language::tag);
    tags.iter().filter_map(|tag| tag.parse().ok()).collect()
});

impl Language {
    /// The languages that a user can choose.
    pub const ALL: [Language; 2] = [Language::English, Language::German];

    /// All of them, in the order of the variants.
    pub(super) const WITH_PSEUDO: [Language; 3] =
        [Language::English, Language::German, Language::Pseudo];

    /// Its place in [`Language::WITH_PSEUDO`].
    pub(super) fn index(self) -> usize {
        self as usize
    }

    fn facts(self) -> &'static Facts {
        &FACTS[self.index()]
    }

    /// The tag, for `lang` and the database.
    pub fn tag(self) -> &'static str {
        self.facts().tag
    }

    /// The name in the language itself.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The direction of its script, for `dir`.
    pub fn direction(self) -> &'static str {
        let id: Option<LanguageIdentifier> = self.tag().parse().ok();
        match id.map(|id| id.character_direction()) {
            Some(unic_langid::CharacterDirection::RTL) => "rtl",
            _ => "ltr",
        }
    }

    pub(super) fn catalogue(self) -> &'static str {
        self.facts().catalogue
    }

    /// The language with this tag.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let found = Language::ALL
            .into_iter()
            .find(|language| language.tag() == tag);
        found.or_else(|| {
            let is_pseudo = tag.eq_ignore_ascii_case(Language::Pseudo.tag());
            is_pseudo.then_some(Language::Pseudo)
        })
    }

    /// The best language for a header `Accept-Language`, RFC 9110, section 12.5.4.
    pub fn of_accepted(header: &str) -> Self {
        let mut wanted: Vec<(f32, &str)> = header.split(',').filter_map(weighed).collect();
        wanted.sort_by(|one, other| other.0.total_cmp(&one.0));
        let Some((_, first)) = wanted.first() else {
            return Language::default();
        };
        if first.eq_ignore_ascii_case(Language::Pseudo.tag()) {
            return Language::Pseudo;
        }
        let wanted = wanted.iter().filter_map(|(_, tag)| tag.parse().ok());
        let wanted: Vec<LanguageIdentifier> = wanted.collect();
        let found = negotiate_languages(&wanted, &AVAILABLE, None, NegotiationStrategy::Lookup);
        let found = found.first().map(ToString::to_string);
        found
            .and_then(|tag| Language::of_tag(&tag))
            .unwrap_or_default()
    }

    /// A number with as many digits after the decimal separator.
    pub(super) fn number(self, value: f64, digits: usize) -> String {
        let text = format!("{:.digits$}", value.abs());
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut out = String::from(if value < 0.0 { "−" } else { "" });
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                out += self.facts().group;
            }
            out.push(digit);
        }
        if !fraction.is_empty() {
            out += self.facts().decimal;
            out += fraction;
        }
        out
    }
}

/// A language of the header with its weight, unless that is zero.
fn weighed(part: &str) -> Option<(f32, &str)> {
    let (tag, weight) = part.split_once(';').unwrap_or((part, ""));
    let weight = match weight.trim().strip_prefix("q=") {
        Some(weight) => weight.trim().parse().ok()?,
        None => 1.0,
    };
    (weight > 0.0).then_some((weight, tag.trim()))
}

impl ToSql for Language {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.tag().into())
    }
}

impl FromSql for Language {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        // A newer version of this program may have had another one.
        Ok(Language::of_tag(value.as_str()?).unwrap_or_default())
    }
}

/// A value for each language, made when it is first wanted.
pub struct EachLanguage<T>([OnceLock<T>; Language::WITH_PSEUDO.len()]);

impl<T> EachLanguage<T> {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        EachLanguage([const { OnceLock::new() }; Language::WITH_PSEUDO.len()])
    }

    /// The value for the language of the request.
    pub fn get(&self, make: impl FnOnce() -> T) -> &T {
        self.0[current().index()].get_or_init(make)
    }
}

tokio::task_local! {
    static CURRENT: Cell<Language>;
}

/// The language of the request that this task answers.
pub fn current() -> Language {
    CURRENT.try_with(Cell::get).unwrap_or_default()
}

/// Answers a request in a language.
pub async fn within<T>(language: Language, answer: impl Future<Output = T>) -> T {
    CURRENT.scope(Cell::new(language), answer).await
}

/// Makes texts in a language.
pub fn within_now<T>(language: Language, work: impl FnOnce() -> T) -> T {
    CURRENT.sync_scope(Cell::new(language), work)
}

/// Changes the language of the request to that of its user.
pub fn set(language: Language) {
    // Without a request there is nothing to change.
    let _ = CURRENT.try_with(|current| current.set(language));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_accepted_language_is_taken() {
        for (header, language) in [
            ("", Language::English),
            ("de", Language::German),
            ("de-AT,de;q=0.9,en;q=0.8", Language::German),
            ("fr-FR,fr;q=0.9,de;q=0.3", Language::German),
            ("fr, en;q=0.2, de;q=0.7", Language::German),
            ("en-GB,en;q=0.9,de;q=0.8", Language::English),
            ("de;q=0, en", Language::English),
            ("ja", Language::English),
            ("*", Language::English),
            ("en-XA", Language::Pseudo),
            ("en-xb;q=1,de;q=x", Language::English),
            ("\u{1}ß,;;q=,=", Language::English),
        ] {
            assert_eq!(Language::of_accepted(header), language, "{header}");
        }
    }

    #[test]
    fn the_tables_are_in_the_order_of_the_variants() {
        let tags = Language::WITH_PSEUDO.map(Language::tag);
        assert_eq!(tags, ["en", "de", "en-XA"]);
        for (at, language) in Language::WITH_PSEUDO.into_iter().enumerate() {
            assert_eq!(language.index(), at);
        }
    }

    #[test]
    fn numbers_are_written_as_in_the_language() {
        assert_eq!(Language::English.number(20_000.0, 0), "20,000");
        assert_eq!(Language::German.number(1_234_567.25, 1), "1.234.567,2");
        assert_eq!(Language::German.number(-999.0, 0), "−999");
        assert_eq!(Language::English.direction(), "ltr");
    }

    #[tokio::test]
    async fn a_request_has_its_own_language() {
        within(Language::German, async {
            assert_eq!(current(), Language::German);
            within(Language::Pseudo, async { set(Language::English) }).await;
            assert_eq!(current(), Language::German);
        })
        .await;
        assert_eq!(current(), Language::English);
    }
}
