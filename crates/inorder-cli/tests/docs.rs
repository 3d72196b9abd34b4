//! The documentation against the program: what the program knows is on its page.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = root().join("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a page under a heading of the second level.
fn section<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

/// Returns the parts of a command's description that are missing on the page.
fn missing_commands(page: &str, command: &clap::Command) -> Vec<String> {
    let mut missing = Vec::new();
    for command in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = command.get_name();
        let Some(section) = section(page, &format!("inorder {name}")) else {
            missing.push(format!("## inorder {name}"));
            continue;
        };
        for argument in command.get_arguments() {
            let long = argument.get_long().map(|long| format!("`--{long}"));
            let short = argument.get_short().map(|short| format!("`-{short}`"));
            for flag in long.into_iter().chain(short) {
                let ends = |rest: &str| rest.starts_with([' ', '`']);
                let is_told = section
                    .match_indices(&flag)
                    .any(|(at, _)| flag.ends_with('`') || ends(&section[at + flag.len()..]));
                if !is_told {
                    missing.push(format!("inorder {name}: {flag}"));
                }
            }
            let variable = argument.get_env().and_then(|name| name.to_str());
            if let Some(variable) = variable
                && !page.contains(&format!("| `{variable}` |"))
            {
                missing.push(format!("the variable {variable}"));
            }
        }
    }
    missing
}

#[test]
fn every_subcommand_and_flag_is_documented() {
    let missing = missing_commands(&page("commands.md"), &inorder_cli::command());
    assert!(missing.is_empty(), "docs/commands.md lacks {missing:#?}");
}

#[test]
fn what_is_not_documented_is_found() {
    let page = page("commands.md");
    let found = |page: &str| missing_commands(page, &inorder_cli::command());
    assert_eq!(
        found(&page.replace("`--dry-run`", "`--dry-running`")),
        [
            "inorder bench: `--dry-run",
            "inorder load: `--dry-run",
            "inorder copy: `--dry-run"
        ]
    );
    assert_eq!(
        found(&page.replace("\n## inorder explain", "\n## explain")),
        ["## inorder explain"]
    );
    assert_eq!(
        found(&page.replace("`INORDER_SEED`", "")),
        ["the variable INORDER_SEED"]
    );
}

fn inorder(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(arguments)
        .output()
        .expect("the command runs");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// The words of `inorder explain TOPIC`.
fn words(topic: &str) -> Vec<Value> {
    let explained: Value =
        serde_json::from_str(&inorder(&["explain", topic, "--json"])).expect("JSON");
    explained[topic].as_array().expect("a list").clone()
}

/// The rows of the tables on a page, cell by cell.
fn rows(page: &str) -> Vec<Vec<&str>> {
    page.lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn every_factor_is_documented_with_its_default() {
    let page = page("experiments.md");
    let rows = rows(section(&page, "Factors").expect("a section"));
    for factor in words("factors") {
        let text = |key: &str| format!("`{}`", factor[key].as_str().expect("a text"));
        let row = rows.iter().find(|row| row[0] == text("name"));
        let row = row.unwrap_or_else(|| panic!("docs/experiments.md lacks {}", text("name")));
        assert_eq!(row[2], text("default"), "{}", text("name"));
    }
}

#[test]
fn every_recipe_is_documented_with_its_fields() {
    let page = page("experiments.md");
    let rows = rows(section(&page, "Recipes").expect("a section"));
    for recipe in words("recipes") {
        let name = recipe["name"].as_str().expect("a text");
        let row = rows.iter().find(|row| row[0] == format!("`{name}`"));
        let row = row.unwrap_or_else(|| panic!("docs/experiments.md lacks the recipe {name}"));
        let what = recipe["what"].as_str().expect("a text");
        let fields = what.split_once("fields: ").map_or("", |(_, fields)| fields);
        // What stands in brackets tells of the field before it.
        let mut depth = 0;
        let names: String = fields
            .chars()
            .filter(|char| {
                depth += i32::from(*char == '(') - i32::from(*char == ')');
                depth == 0 && *char != ')'
            })
            .collect();
        for field in names.split(", ").map(str::trim).filter(|f| !f.is_empty()) {
            assert!(row[2].contains(&format!("`{field}`")), "{name}: {field}");
        }
    }
}

#[test]
fn every_rule_is_documented_with_its_basis_and_source() {
    let page = page("distributed.md");
    let rows = rows(section(&page, "Rules of other engines").expect("a section"));
    for rule in words("rules") {
        let name = rule["name"].as_str().expect("a text");
        let row = rows.iter().find(|row| row[0] == name);
        let row = row.unwrap_or_else(|| panic!("docs/distributed.md lacks {name}"));
        let source = row[3].trim_matches(['<', '>']);
        assert!(source.starts_with("https://"), "{name}");
        // A measured rule links to its record.
        let basis = match row[2].strip_prefix("[measured](../record/") {
            Some(link) => {
                let record = link.trim_end_matches(')');
                assert!(root().join("record").join(record).is_dir(), "{record}");
                format!("measured: record/{record}")
            }
            None => row[2].to_owned(),
        };
        let what = format!("{} ({basis}; {source})", row[1]);
        assert_eq!(rule["what"].as_str(), Some(what.as_str()), "{name}");
    }
}

#[test]
fn every_field_is_documented() {
    let page = page("experiments.md");
    let header = "title = 't'\nquestion = 'q'\nexpect = 'e'\n";
    let table = "[[table]]\nname = 't'\ncreate = 'c'\ncolumns = {}\n";
    let folder = tempfile::tempdir().expect("a folder");
    for (heading, text) in [
        ("Fields", format!("zzzzzz = 1\n{header}")),
        ("Tables", format!("{header}{table}zzzzzz = 1\n")),
        ("Reads", format!("{header}[reads]\nzzzzzz = 1\n")),
    ] {
        let path = folder.path().join("x.toml");
        std::fs::write(&path, text).expect("a file");
        let said = inorder(&["bench", path.to_str().expect("a path"), "--dry-run"]);
        let (_, known) = said.split_once("known: ").expect(&said);
        let section = section(&page, heading).expect("a section");
        let fields: Vec<&str> = known.trim().split(", ").collect();
        assert!(fields.len() > 3, "{said}");
        for field in fields {
            let forms = [
                format!("`{field}`"),
                format!("`[{field}]`"),
                format!("`[[{field}]]`"),
                format!("`[table.{field}]`"),
            ];
            let is_told = forms.iter().any(|form| section.contains(form));
            assert!(is_told, "docs/experiments.md, {heading}: {field}");
        }
    }
}

#[test]
fn the_worked_example_is_the_file_beside_it() {
    assert!(page("experiments.md").contains(&page("examples/films.toml")));
    let films = page("examples/films.jsonl");
    let first = films.lines().next().expect("a film");
    assert!(page("experiments.md").contains(first));
}
