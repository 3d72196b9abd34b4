//! The catalogues, read once.

use super::language::Language;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use std::sync::LazyLock;

static BUNDLES: LazyLock<[FluentBundle<FluentResource>; Language::WITH_PSEUDO.len()]> =
    LazyLock::new(|| Language::WITH_PSEUDO.map(open));

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

/// The text of a message. One that an earlier version of this program kept may be in no catalogue any more: it is its id.
pub fn format(language: Language, id: &str, arguments: &FluentArgs<'_>) -> String {
    let bundle = &BUNDLES[language.index()];
    let message = bundle.get_message(id);
    let Some(pattern) = message.and_then(|message| message.value()) else {
        return id.into();
    };
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, Some(arguments), &mut errors);
    debug_assert!(errors.is_empty(), "{id}: {errors:?}");
    text.into()
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
