//! The project's own rules, checked on the repository's text. CONTRIBUTING.md says what they are for.

mod checks;
mod imports;
mod levels;
mod modules;
mod repository;
mod scanner;

use repository::Repository;

#[test]
fn the_repository_keeps_its_rules() {
    let repository = Repository::walk();
    let offences: Vec<String> = checks::ALL
        .iter()
        .flat_map(|check| check(&repository))
        .collect();
    assert!(offences.is_empty(), "\n{}\n", offences.join("\n"));
}
