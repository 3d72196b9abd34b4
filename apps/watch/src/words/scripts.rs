//! The messages of the scripts, as a script of their own for each language.

use super::{
    bundle,
    language::{Language, within_now},
    message::{Arg, Message},
    say,
};
use serde_json::{Map, Value as Json, json};
use std::{collections::HashMap, sync::LazyLock};

/// What the scripts call: `words("id", {name: value})`. A number `count` selects the plural. Other texts are isolated.
const FUNCTION: &str = "
  const plural = new Intl.PluralRules(language);
  const isolated = value => typeof value === \"number\" ? value.toLocaleString(language) : `\\u2068${value}\\u2069`;
  return (id, values = {}) => {
    const text = typeof texts[id] === \"string\" ? texts[id] : texts[id][plural.select(values.count)];
    return text.replace(/\\{([a-z]+)\\}/g, (_, name) => isolated(name === \"shown\" ? values.count : values[name]));
  };
})();
";

static SCRIPTS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let all = Language::WITH_PSEUDO.iter();
    all.map(|language| (script(*language), code(*language)))
        .collect()
});

/// The name of the script with the words of a language.
pub fn script(language: Language) -> String {
    format!("words.{}.js", language.tag())
}

/// The scripts with the words of all languages, by name.
pub fn catalogues() -> &'static HashMap<String, String> {
    &SCRIPTS
}

fn code(language: Language) -> String {
    let texts: Map<String, Json> = within_now(language, || {
        let texts = say::SCRIPTS.iter();
        texts
            .map(|(id, names)| ((*id).to_owned(), text(language, id, names)))
            .collect()
    });
    format!(
        "// The words of the other scripts.\n\"use strict\";\nconst words = (() => {{\n  const language = {}, texts = {};{FUNCTION}",
        json!(language.tag()),
        Json::Object(texts)
    )
}

/// The text of a message, or one for each plural category. An argument is its name in braces.
fn text(language: Language, id: &str, names: &[&'static str]) -> Json {
    let with = |count: i64| {
        let values = names.iter().map(|name| {
            let value = match *name {
                "count" => Arg::Number(count),
                name => Arg::Key(format!("{{{name}}}").into()),
            };
            ((*name).into(), value)
        });
        Message::of(format!("script-{id}"), values.collect()).plain()
    };
    match names.contains(&"count") {
        false => with(0).into(),
        true => {
            let plurals = bundle::plurals(language).into_iter();
            let of = |(category, number): (&str, i64)| (category.to_owned(), with(number).into());
            Json::Object(plurals.map(of).collect())
        }
    }
}
