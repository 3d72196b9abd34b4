//! The page about ids says what `inorder id` prints.

#[test]
fn the_command_prints_what_its_page_says() {
    trycmd::TestCases::new().case("../../docs/ids.md");
}
