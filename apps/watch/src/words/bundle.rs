//! The catalogues, read once.

use super::language::Language;
use super::message::Arg;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use std::borrow::Cow;
use std::sync::LazyLock;

/// What stands before the place of an argument that is put in later. No catalogue has it.
pub const MARK: char = '\u{1}';

/// The first of the characters that stand for places.
const FIRST: char = 'a';

static BUNDLES: LazyLock<Vec<(Language, FluentBundle<FluentResource>)>> = LazyLock::new(|| {
    let all = Language::WITH_PSEUDO;
    all.map(|language| (language, open(language))).into()
});

fn open(language: Language) -> FluentBundle<FluentResource> {
    let mut bundle = FluentBundle::new_concurrent(language.tag().parse().into_iter().collect());
    // What users wrote is isolated when it is put in, as markup or as plain text.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(match language {
        Language::German => |value, _| number(Language::German, value),
        _ => |value, _| number(Language::English, value),
    }));
    let resource = match FluentResource::try_new(language.catalogue().to_owned()) {
        Ok(resource) => resource,
        // A test reads all catalogues. What can be read of a bad one is used.
        Err((resource, errors)) => {
            tracing::error!("the catalogue of {}: {errors:?}", language.tag());
            resource
        }
    };
    bundle.add_resource_overriding(resource);
    bundle
}

/// A number as the language writes it.
fn number(language: Language, value: &FluentValue<'_>) -> Option<String> {
    let FluentValue::Number(number) = value else {
        return None;
    };
    let digits = number.options.minimum_fraction_digits.unwrap_or_default();
    Some(language.number(number.value, digits))
}

/// The place of an argument, by its character.
pub fn place(letter: char) -> Option<usize> {
    (letter as usize).checked_sub(FIRST as usize)
}

/// An argument as the library takes it. What is put in later leaves its place.
fn argument(at: usize, value: &Arg) -> FluentValue<'static> {
    match value {
        Arg::Number(number) => (*number).into(),
        Arg::Tenths(tenths) => FluentValue::Number(fluent_bundle::types::FluentNumber::new(
            *tenths as f64 / 10.0,
            fluent_bundle::types::FluentNumberOptions {
                minimum_fraction_digits: Some(1),
                ..Default::default()
            },
        )),
        Arg::Key(key) => key.to_string().into(),
        Arg::Text(_) | Arg::Message(_) | Arg::Markup(_) => {
            let letter = char::from_u32(FIRST as u32 + at as u32).unwrap_or(FIRST);
            String::from_iter([MARK, letter]).into()
        }
    }
}

/// The text of a message. One that an earlier version of this program kept may be in no catalogue any more: it is its id.
pub fn format(language: Language, id: &str, values: &[(Cow<'static, str>, Arg)]) -> String {
    let all = BUNDLES.iter();
    let bundle = all.clone().find(|(own, _)| *own == language);
    let pattern = bundle.and_then(|(_, bundle)| {
        let message = bundle.get_message(id)?;
        Some((bundle, message.value()?))
    });
    let Some((bundle, pattern)) = pattern else {
        return id.to_owned();
    };
    let mut arguments = FluentArgs::with_capacity(values.len());
    for (at, (name, value)) in values.iter().enumerate() {
        arguments.set(name.clone(), argument(at, value));
    }
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, Some(&arguments), &mut errors);
    debug_assert!(errors.is_empty(), "{id}: {errors:?}");
    text.into_owned()
}

/// The plural categories of a language, each with the smallest number that has it.
pub fn plurals(language: Language) -> Vec<(&'static str, i64)> {
    use intl_pluralrules::{PluralCategory, PluralRuleType, PluralRules};
    let rules = language
        .tag()
        .parse()
        .ok()
        .and_then(|id: unic_langid::LanguageIdentifier| {
            PluralRules::create(id, PluralRuleType::CARDINAL).ok()
        });
    let mut found: Vec<(&'static str, i64)> = Vec::new();
    for number in 0..=100i64 {
        let name = match rules.as_ref().and_then(|rules| rules.select(number).ok()) {
            Some(PluralCategory::ZERO) => "zero",
            Some(PluralCategory::ONE) => "one",
            Some(PluralCategory::TWO) => "two",
            Some(PluralCategory::FEW) => "few",
            Some(PluralCategory::MANY) => "many",
            _ => "other",
        };
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, number));
        }
    }
    found
}
