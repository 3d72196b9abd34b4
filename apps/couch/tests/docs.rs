//! The documentation against the program.

#[path = "../../serve/tests/common/help.rs"]
mod help;

const PAGE: &str = include_str!("../docs/commands.md");

fn undocumented(page: &str) -> Vec<String> {
    help::undocumented(page, "inorder-couch", env!("CARGO_BIN_EXE_inorder-couch"))
}

/// `TRYCMD=overwrite cargo test -p inorder-couch --test docs` writes new output into the page.
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
    let page = PAGE.replace(
        "$ inorder-couch export --help",
        "$ inorder-couch nothing --help",
    );
    assert_eq!(undocumented(&page), ["inorder-couch export"]);
}
