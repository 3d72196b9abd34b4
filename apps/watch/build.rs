//! Writes a function for each message of `src/words/en.ftl`: one that is missing or has another argument doesn't compile, and
//! one that no page uses is dead code.

use fluent_syntax::{
    ast::{
        Entry, Expression, InlineExpression, Message, Pattern, PatternElement, Resource, Variant,
    },
    parser,
};
use std::{env, fmt::Write, fs, path::Path};

const CATALOGUE: &str = "src/words/en.ftl";

fn main() {
    println!("cargo::rerun-if-changed={CATALOGUE}");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string(CATALOGUE).expect("the catalogue is there");
    let catalogue = parser::parse(text.as_str())
        .unwrap_or_else(|(_, errors)| panic!("{CATALOGUE}: {errors:?}"));
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let code = code(&catalogue);
    fs::write(Path::new(&folder).join("say.rs"), code).expect("the folder can be written");
}

/// The functions, and the ids by which they number their messages. Messages of the scripts, which have no function, are listed with
/// their arguments.
fn code(catalogue: &Resource<&str>) -> String {
    let (mut functions, mut ids, mut scripts) = (String::new(), Vec::new(), String::new());
    for entry in &catalogue.body {
        let Entry::Message(Message {
            id,
            value: Some(pattern),
            ..
        }) = entry
        else {
            continue;
        };
        let mut names = Vec::new();
        variables(pattern, &mut names);
        if let Some(name) = id.name.strip_prefix("script-") {
            writeln!(scripts, "    ({name:?}, &{names:?}),").expect("a text takes all");
            continue;
        }
        let function = id.name.replace('-', "_");
        let parameters = names.iter().map(|name| format!("{name}: impl Into<Arg>, "));
        let values = names
            .iter()
            .map(|name| format!("({name:?}.into(), {name}.into()), "));
        writeln!(
            functions,
            "/// The message `{id}`.\npub fn {function}({parameters}) -> Message {{\n    Message::new({number}, vec![{values}])\n}}",
            id = id.name,
            number = ids.len(),
            parameters = parameters.collect::<String>(),
            values = values.collect::<String>(),
        )
        .expect("a text takes all");
        ids.push(id.name);
    }
    format!(
        "use super::{{Arg, Message}};\n\n{functions}\n/// The ids of the messages, by their numbers.\npub const IDS: &[&str] = &{ids:?};\n\n/// The messages of the scripts, with their arguments.\npub const SCRIPTS: &[(&str, &[&str])] = &[\n{scripts}];\n"
    )
}

/// The names of the arguments, in the order in which they come first.
fn variables<'a>(pattern: &Pattern<&'a str>, names: &mut Vec<&'a str>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            of_expression(expression, names);
        }
    }
}

fn of_expression<'a>(expression: &Expression<&'a str>, names: &mut Vec<&'a str>) {
    match expression {
        Expression::Inline(inline) => of_inline(inline, names),
        Expression::Select { selector, variants } => {
            of_inline(selector, names);
            for Variant { value, .. } in variants {
                variables(value, names);
            }
        }
    }
}

fn of_inline<'a>(inline: &InlineExpression<&'a str>, names: &mut Vec<&'a str>) {
    match inline {
        InlineExpression::VariableReference { id } if !names.contains(&id.name) => {
            names.push(id.name);
        }
        InlineExpression::Placeable { expression } => of_expression(expression, names),
        _ => {}
    }
}
