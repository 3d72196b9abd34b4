//! Compares the catalogues with each other and with the scripts.

use super::{
    language::{Language, within_now},
    message::{Arg, Message},
    say,
    scripts::catalogues,
};
use fluent_syntax::{
    ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey},
    parser,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The arguments of a message: with the words that select a variant, or none where a number or nothing selects.
type Arguments = BTreeMap<String, BTreeSet<String>>;

/// Words that are the same in both languages.
const SAME: [&str; 11] = [
    "passkeys",
    "restore-kept-file",
    "brand",
    "brand-short",
    "page-title",
    "genre",
    "name",
    "new-film-genres",
    "tonight-film",
    "tonight-chance",
    "friends-feed",
];

fn arguments(pattern: &Pattern<&str>, of: &mut Arguments) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            of_expression(expression, of);
        }
    }
}

fn of_expression(expression: &Expression<&str>, of: &mut Arguments) {
    match expression {
        Expression::Inline(InlineExpression::VariableReference { id }) => {
            of.entry(id.name.to_owned()).or_default();
        }
        Expression::Inline(InlineExpression::Placeable { expression }) => {
            of_expression(expression, of);
        }
        Expression::Inline(_) => {}
        Expression::Select { selector, variants } => {
            let InlineExpression::VariableReference { id } = selector else {
                panic!("something else than an argument selects");
            };
            let plurals = ["zero", "one", "two", "few", "many", "other"];
            let keys = of.entry(id.name.to_owned()).or_default();
            for variant in variants {
                if let VariantKey::Identifier { name } = variant.key
                    && !plurals.contains(&name)
                {
                    keys.insert(name.to_owned());
                }
            }
            for variant in variants {
                arguments(&variant.value, of);
            }
        }
    }
}

/// The messages of a catalogue with their arguments.
fn messages(language: Language) -> BTreeMap<String, Arguments> {
    let catalogue = parser::parse(language.catalogue())
        .unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", language.tag()));
    let mut messages = BTreeMap::new();
    for entry in &catalogue.body {
        let (id, pattern) = match entry {
            Entry::Message(message) => (message.id.name.to_owned(), message.value.as_ref()),
            Entry::Term(term) => (format!("-{}", term.id.name), Some(&term.value)),
            Entry::Junk { content } => panic!("{}: {content}", language.tag()),
            _ => continue,
        };
        let mut found = Arguments::new();
        arguments(pattern.expect("a text"), &mut found);
        assert!(
            messages.insert(id.clone(), found).is_none(),
            "{id} stands twice in {}",
            language.tag()
        );
    }
    messages
}

#[test]
fn all_catalogues_have_the_same_messages_with_the_same_arguments_and_variants() {
    let english = messages(Language::English);
    assert!(english.len() > 400, "{}", english.len());
    for language in Language::ALL {
        let other = messages(language);
        for (id, arguments) in &english {
            assert_eq!(other.get(id), Some(arguments), "{id} in {}", language.tag());
        }
        let unknown: Vec<&String> = other
            .keys()
            .filter(|id| !english.contains_key(*id))
            .collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", language.tag());
    }
}

/// All texts that a message can be, with each variant and with several numbers.
fn texts(language: Language, id: &str, arguments: &Arguments) -> Vec<String> {
    let mut texts = Vec::new();
    let choices = arguments.values().map(BTreeSet::len).max().unwrap_or(0);
    for at in 0..choices.max(3) {
        let values = arguments.iter().map(|(name, keys)| {
            let value = match keys.iter().nth(at.min(keys.len().saturating_sub(1))) {
                Some(key) => Arg::Key(key.clone().into()),
                None => Arg::Number([1, 2, 500][at.min(2)]),
            };
            (name.clone().into(), value)
        });
        let message = Message::of(id.to_owned(), values.collect());
        texts.push(within_now(language, || message.plain()));
    }
    texts
}

#[test]
fn every_message_is_a_text_in_every_language_and_no_other_language_is_english() {
    for (id, arguments) in messages(Language::English) {
        if id.starts_with('-') {
            continue;
        }
        let english = texts(Language::English, &id, &arguments);
        let german = texts(Language::German, &id, &arguments);
        for text in english.iter().chain(&german) {
            assert!(
                !text.trim().is_empty() && !text.contains("{"),
                "{id}: {text}"
            );
        }
        let has_words = english
            .iter()
            .any(|text| text.contains(char::is_alphabetic));
        let is_same = german == english;
        assert_eq!(
            is_same && has_words,
            SAME.contains(&id.as_str()) && has_words,
            "{id}: {english:?} and {german:?}"
        );
    }
}

#[test]
fn what_users_wrote_is_isolated_and_what_stands_in_it_is_no_message() {
    let film = "{ $name } \u{1}a <b>שלום";
    within_now(Language::English, || {
        let message = say::done_added(film);
        assert_eq!(
            message.plain(),
            "Added \u{2068}{ $name } \u{1}a <b>שלום\u{2069} to your list."
        );
        let markup = maud::html! { (message) }.into_string();
        assert_eq!(
            markup,
            "Added <bdi>{ $name } \u{1}a &lt;b&gt;שלום</bdi> to your list."
        );
    });
    within_now(Language::German, || {
        let message = say::done_added(say::quoted("A & B"));
        let markup = maud::html! { (message) }.into_string();
        assert_eq!(markup, "„<bdi>A &amp; B</bdi>“ auf deine Liste gesetzt.");
        assert_eq!(say::films(20_000).plain(), "20.000 Filme");
        assert_eq!(say::films(1).plain(), "1 Film");
    });
    within_now(Language::Pseudo, || {
        let message = say::done_added("A");
        assert_eq!(message.plain(), "⟦Added ⟧A⟦ to your list.⟧");
    });
}

#[test]
fn a_message_survives_being_kept_and_an_unknown_one_is_its_id() {
    let message = say::line_bad("a.csv", 7, say::csv_no_number("x"));
    let text = serde_json::to_string(&message).unwrap();
    let again: Message = serde_json::from_str(&text).unwrap();
    assert_eq!(again, message);
    assert_eq!(
        again.to_string(),
        "a.csv, line 7: \"x\" should be a number."
    );
    let unknown: Message = serde_json::from_str(r#"{"id": "of-old", "values": []}"#).unwrap();
    assert_eq!(unknown.to_string(), "of-old");
}

/// The texts of a script between quotes.
fn literals(script: &str) -> Vec<String> {
    let lines = script
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut literals = Vec::new();
    for line in lines {
        for quote in ['"', '`'] {
            let parts = line.split(quote).skip(1).step_by(2);
            literals.extend(parts.map(str::to_owned));
        }
    }
    literals
}

#[test]
fn the_scripts_take_all_their_words_from_the_catalogue() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/assets");
    let mut used = BTreeSet::new();
    for name in [
        "app.js",
        "device.js",
        "offline.js",
        "passkeys.js",
        "worker.js",
    ] {
        let script = fs::read_to_string(folder.join(name)).unwrap();
        for call in script.split("words(\"").skip(1) {
            used.insert(call.split('"').next().unwrap().to_owned());
        }
        for literal in literals(&script) {
            // Names of the platform begin with a capital letter too.
            let is_name = [
                "AbortError",
                "Escape",
                "InvalidStateError",
                "NotAllowedError",
            ]
            .contains(&literal.as_str());
            let mut letters = literal.trim_start().chars();
            let is_sentence = letters.next().is_some_and(|c| c.is_ascii_uppercase())
                && letters
                    .next()
                    .is_some_and(|c| c.is_ascii_lowercase() || c == ' ');
            assert!(is_name || !is_sentence, "{name}: {literal}");
        }
    }
    let known = say::SCRIPTS.iter().map(|(id, _)| (*id).to_owned());
    assert_eq!(used, known.collect());
    let words = &catalogues()["words.de.js"];
    assert!(
        words.contains(r#""waits":{"other":"{shown} Änderungen warten auf diesem Gerät.","one":"{shown} Änderung wartet auf diesem Gerät."}"#),
        "{words}"
    );
}
