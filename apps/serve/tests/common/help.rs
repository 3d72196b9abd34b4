//! Compares the pages of a program's commands with the program. The tests of the applications include this file.

use std::process::Command;

/// The command lines of the program and of all its visible subcommands, such as `inorder-watch user add`.
fn command_lines(program: &str, words: &[String]) -> Vec<String> {
    let output = Command::new(program)
        .args(&words[1..])
        .arg("--help")
        .output();
    let help = String::from_utf8(output.expect("the program runs").stdout).expect("text");
    let mut lines = vec![words.join(" ")];
    let commands = help
        .split_once("\nCommands:\n")
        .map_or("", |(_, rest)| rest);
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // The name of a command is indented by two, its description by more.
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        let deeper = [words, &[name.to_owned()]].concat();
        lines.extend(command_lines(program, &deeper));
    }
    lines
}

/// The command lines whose help is not on a page.
pub fn undocumented(page: &str, name: &str, program: &str) -> Vec<String> {
    let mut lines = command_lines(program, &[name.to_owned()]);
    lines.retain(|line| !page.contains(&format!("\n$ {line} --help\n")));
    lines
}

/// Tests the pages `docs/*.md` of a program. `removed` is a subcommand, whose absence must be noticed.
/// `TRYCMD=overwrite cargo test -p PROGRAM --test docs` writes new output into the pages.
macro_rules! documentation_tests {
    (program: $program:literal, removed: $removed:literal) => {
        const PAGE: &str = include_str!("../docs/commands.md");

        fn undocumented(page: &str) -> Vec<String> {
            help::undocumented(page, $program, env!(concat!("CARGO_BIN_EXE_", $program)))
        }

        #[test]
        fn every_command_prints_what_its_page_says() {
            trycmd::TestCases::new()
                .env("NO_COLOR", "1")
                .case("docs/*.md");
        }

        #[test]
        fn every_command_is_documented() {
            assert_eq!(undocumented(PAGE), [""; 0]);
        }

        #[test]
        fn a_missing_command_is_found() {
            let command = concat!($program, " ", $removed);
            let page = PAGE.replace(
                &format!("$ {command} --help"),
                concat!("$ ", $program, " nothing --help"),
            );
            assert_eq!(undocumented(&page), [command]);
        }
    };
}
