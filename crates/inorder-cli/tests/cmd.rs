//! The documentation pages and the pages in `cmd/`: every command in them is run and its output
//! compared. `TRYCMD=overwrite cargo test -p inorder-cli --test cmd` writes the new output down.

#[test]
fn pages_say_what_the_command_says() {
    // The pages are for readers who stand at the root.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::env::set_current_dir(root).expect("the root of the repository");
    let cases = trycmd::TestCases::new();
    cases
        .case("docs/*.md")
        .case("docs/guides/*.md")
        .case("crates/inorder-cli/tests/cmd/*.md")
        .env("NO_COLOR", "1")
        // A folder that can't be made: what ends well in these pages writes nothing.
        .env("INORDER_DIR", "/dev/null/results")
        .env("INORDER_SCALE", "quick")
        .env("INORDER_SEED", "1");
    if !cfg!(feature = "full") {
        cases.skip("docs/inputs.md");
    }
}
