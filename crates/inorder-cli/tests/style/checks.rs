//! The rules, each with a test that sees it broken.

use crate::levels;
use crate::repository::{File, Repository};
use crate::scanner;

/// The rules. Each returns its violations, one per line.
pub const ALL: &[fn(&Repository) -> Vec<String>] = &[
    long_files,
    long_functions,
    upward_arrows,
    strayed_dependencies,
    strayed_unsafe,
    strayed_connections,
    unlisted_experiments,
    undeclared_modules,
    unfinished,
    lone_skips,
    levels::tangled_modules,
];

const FILE_LINES_MAX: usize = 800;

const FUNCTION_LINES_MAX: usize = 70;

/// Each crate's level; a crate depends on lower levels only.
const LEVELS: &[(&str, usize)] = &[
    ("inorder-key", 0),
    ("inorder-btree", 0),
    ("inorder-command", 0),
    ("inorder-sqlite", 1),
    ("inorder-predict", 1),
    ("inorder-serve", 1),
    ("inorder-engine", 2),
    ("inorder-load", 3),
    ("inorder-couch", 3),
    ("inorder-watch", 3),
    ("inorder-testing", 3),
    ("inorder-advise", 4),
    ("inorder-copy", 4),
    ("inorder-bench", 5),
    ("inorder-cli", 6),
];

/// The crates with a command.
const COMMANDS: &[&str] = &["inorder-cli", "inorder-couch", "inorder-watch"];

/// The crates that describe a command line.
const WITH_CLAP: &[&str] = &[
    "inorder-cli",
    "inorder-couch",
    "inorder-watch",
    "inorder-command",
];

/// The crates that speak HTTP.
const APPLICATIONS: &[&str] = &["inorder-serve", "inorder-couch", "inorder-watch"];

/// Dependencies that only some crates may have.
const RESERVED: &[(&str, &[&str])] = &[
    ("anyhow", COMMANDS),
    ("clap", WITH_CLAP),
    ("clap_complete", &["inorder-cli", "inorder-command"]),
    ("clap_mangen", &["inorder-command"]),
    ("indicatif", COMMANDS),
    ("axum", APPLICATIONS),
    ("hyper", APPLICATIONS),
    ("tower-http", APPLICATIONS),
    ("inorder-testing", &[]),
    ("libsqlite3-sys", &["inorder-engine"]),
    ("mysql", &["inorder-engine"]),
    ("mysql_async", &["inorder-engine"]),
    ("postgres", &["inorder-engine"]),
    ("tokio-postgres", &["inorder-engine"]),
    ("sqlx", &["inorder-engine"]),
    // Ids are values of rusqlite with an optional feature, the functions are registered with a connection, the loader
    // brings what it built into a database, results are kept in a file, and the applications are SQLite applications.
    (
        "rusqlite",
        &[
            "inorder-key",
            "inorder-engine",
            "inorder-sqlite",
            "inorder-load",
            "inorder-advise",
            "inorder-copy",
            "inorder-bench",
            "inorder-serve",
            "inorder-couch",
            "inorder-watch",
        ],
    ),
];

/// The only files with `unsafe` in them.
const UNSAFE_FILES: &[&str] = &[
    "crates/inorder-btree/src/mapped.rs",
    "crates/inorder-engine/src/sqlite/session.rs",
    "crates/inorder-engine/src/sqlite/vfs/file.rs",
    "crates/inorder-engine/src/sqlite/vfs/forward.rs",
    "crates/inorder-engine/src/sqlite/vfs/mod.rs",
    "crates/inorder-key/src/machine.rs",
    "crates/inorder-key/tests/crowd.rs",
    "crates/inorder-load/src/order/large_pages.rs",
    "crates/inorder-sqlite/src/ffi.rs",
    "crates/inorder-sqlite/src/keys.rs",
    "bindings/extension/src/lib.rs",
    "bindings/npm/bench/lib.rs",
];

/// The crate whose functions open SQLite databases, so that schemas find the SQL functions of this project.
const OPENING: &str = "crates/inorder-sqlite/src/open.rs";

/// Sources that open databases of this project's own, whose schemas need no such functions, or register them.
const OWN_DATABASES: &[&str] = &[
    // Work in memory, to compare the speed of machines.
    "crates/inorder-bench/src/trial/reference.rs",
    // Results of experiments.
    "crates/inorder-bench/src/results/store.rs",
    // The applications' own files; What to Watch registers the functions in its one place.
    "apps/couch/src/",
    "apps/watch/src/",
];

/// Marks of unfinished work, as words; put together so that this file has none of them.
const MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("for ", "now"),
];

/// The beginning of a test's skip message, with the quote before it.
const SKIPPED: &str = concat!('"', "SKIP", "PED");

/// The files that may contain it: the helper, and a test that cannot run as root, which CI may be.
const SKIPPING: &[&str] = &[
    "crates/inorder-testing/",
    "crates/inorder-load/tests/pages/files.rs",
    // By design: no step of `./test` has a CouchDB.
    "apps/couch/tests/couchdb/",
    // By design: no step of `./test` has a Pebble.
    "apps/couch/tests/acme.rs",
];

fn long_files(repository: &Repository) -> Vec<String> {
    let lines = |file: &File| (file.path.clone(), file.text.lines().count());
    let long = repository.rust_files().map(lines);
    long.filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines; split it below {FILE_LINES_MAX}"))
        .collect()
}

fn long_functions(repository: &Repository) -> Vec<String> {
    let mut offences = Vec::new();
    for file in repository.rust_files() {
        for function in scanner::functions(file.tokens()) {
            if function.lines > FUNCTION_LINES_MAX {
                offences.push(format!(
                    "{}:{}: fn {} has {} lines; split it below {FUNCTION_LINES_MAX}",
                    file.path, function.line, function.name, function.lines
                ));
            }
        }
    }
    offences
}

/// Each crate's name and the names of its dependencies, those of tests and benches left out.
fn dependencies(repository: &Repository) -> Vec<(String, Vec<String>)> {
    let mut crates = Vec::new();
    for file in &repository.files {
        let Some((_, "Cargo.toml")) = file.in_crate() else {
            continue;
        };
        let manifest: toml::Table = file.text.parse().expect("cargo has read it already");
        let name = manifest["package"]["name"].as_str().expect("a name");
        let targets = manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        let names = targets
            .filter_map(toml::Value::as_table)
            .chain([&manifest])
            .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
            .filter_map(|dependencies| dependencies?.as_table())
            .flat_map(toml::Table::keys)
            .cloned();
        crates.push((name.to_owned(), names.collect()));
    }
    crates
}

fn upward_arrows(repository: &Repository) -> Vec<String> {
    let level = |name: &str| {
        LEVELS
            .iter()
            .find(|(listed, _)| *listed == name)
            .map(|l| l.1)
    };
    let mut offences = Vec::new();
    for (name, dependencies) in dependencies(repository) {
        let Some(own) = level(&name) else {
            offences.push(format!("{name}: give it a level in LEVELS"));
            continue;
        };
        for dependency in dependencies.iter().filter(|d| d.starts_with("inorder-")) {
            if level(dependency).is_none_or(|lower| lower >= own) {
                offences.push(format!(
                    "{name}: depends on {dependency}, which is on no lower level"
                ));
            }
        }
    }
    offences
}

fn strayed_dependencies(repository: &Repository) -> Vec<String> {
    let mut offences = Vec::new();
    for (name, dependencies) in dependencies(repository) {
        for (reserved, keepers) in RESERVED {
            if dependencies.iter().any(|d| d == reserved) && !keepers.contains(&name.as_str()) {
                let keepers = keepers.join(", ");
                offences.push(format!(
                    "{name}: depends on {reserved}, which is for {keepers}"
                ));
            }
        }
    }
    offences
}

fn strayed_unsafe(repository: &Repository) -> Vec<String> {
    let mut offences = Vec::new();
    for file in repository.rust_files() {
        let found = file.tokens().iter().find(|token| token.text == "unsafe");
        if let Some(token) = found
            && !UNSAFE_FILES.contains(&file.path.as_str())
        {
            offences.push(format!(
                "{}:{}: unsafe; do without, or keep it to a small file listed in UNSAFE_FILES",
                file.path, token.line
            ));
        }
    }
    offences
}

/// Code outside of tests that opens an SQLite database by other functions than those of `inorder-sqlite`.
fn strayed_connections(repository: &Repository) -> Vec<String> {
    const OPENERS: [&str; 4] = [
        "open",
        "open_in_memory",
        "open_with_flags",
        "open_with_flags_and_vfs",
    ];
    let is_checked = |file: &&File| {
        let path = file.path.as_str();
        let is_source = file
            .in_crate()
            .is_some_and(|(_, path)| path.starts_with("src/"));
        is_source
            && path != OPENING
            && !path.ends_with("/tests.rs")
            && !path.contains("/tests/")
            && !OWN_DATABASES.iter().any(|own| path.starts_with(own))
    };
    let mut offences = Vec::new();
    for file in repository.rust_files().filter(is_checked) {
        let tokens = scanner::without_tests(file.tokens());
        let opens = tokens.windows(4).filter(|words| {
            let is_path =
                words[0].text == "Connection" && words[1].text == ":" && words[2].text == ":";
            is_path && OPENERS.contains(&words[3].text.as_str())
        });
        offences.extend(opens.map(|words| {
            format!(
                "{}:{}: open by inorder_sqlite::open, so that schemas find the SQL functions",
                file.path, words[0].line
            )
        }));
    }
    offences
}

fn unlisted_experiments(repository: &Repository) -> Vec<String> {
    let is_listed = |name: &str| {
        let bench = |file: &&File| file.path.starts_with("crates/inorder-bench/src/");
        repository
            .files
            .iter()
            .filter(bench)
            .any(|file| file.text.contains(name))
    };
    let paths = repository.files.iter().map(|file| file.path.as_str());
    paths
        .filter_map(|path| path.strip_prefix("experiments/"))
        .filter(|name| name.ends_with(".toml") && !is_listed(name))
        .map(|name| {
            format!("experiments/{name}: add it to the built-in list in crates/inorder-bench/src")
        })
        .collect()
}

/// The files that may declare the module in this file; none for the root of a crate.
fn parents(path: &str) -> Option<(Vec<String>, &str)> {
    let (folder, file) = path.rsplit_once('/')?;
    let (folder, name) = match file.strip_suffix(".rs")? {
        "mod" => folder.rsplit_once('/')?,
        name => (folder, name),
    };
    if folder.ends_with("/src") {
        let is_root = matches!(name, "lib" | "main");
        let roots = ["lib", "main"].map(|root| format!("{folder}/{root}.rs"));
        return (!is_root).then(|| (roots.to_vec(), name));
    }
    let is_root = folder.ends_with("/src/bin");
    let files = vec![format!("{folder}/mod.rs"), format!("{folder}.rs")];
    (!is_root).then_some((files, name))
}

fn undeclared_modules(repository: &Repository) -> Vec<String> {
    let mut offences = Vec::new();
    for file in repository.rust_files() {
        let is_source = |(_, path): (&str, &str)| path.starts_with("src/");
        if !file.in_crate().is_some_and(is_source) {
            continue;
        }
        let Some((parents, name)) = parents(&file.path) else {
            continue;
        };
        let is_declared = repository
            .rust_files()
            .filter(|file| parents.contains(&file.path))
            .any(|file| scanner::declares(file.tokens(), name));
        if !is_declared {
            let path = &file.path;
            let parents = parents.join(" or ");
            offences.push(format!(
                "{path}: write `mod {name};` in {parents}, or remove it"
            ));
        }
    }
    offences
}

fn lone_skips(repository: &Repository) -> Vec<String> {
    let is_free = |file: &&File| !SKIPPING.iter().any(|folder| file.path.starts_with(folder));
    let lone = |file: &&File| file.text.contains(SKIPPED);
    repository
        .rust_files()
        .filter(is_free)
        .filter(lone)
        .map(|file| {
            format!(
                "{}: skip by `inorder_testing::skip`, which CI refuses",
                file.path
            )
        })
        .collect()
}

fn unfinished(repository: &Repository) -> Vec<String> {
    let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_marked = |line: &str, mark: &str| {
        line.match_indices(mark).any(|(at, _)| {
            !line[..at].ends_with(is_part_of_word)
                && !line[at + mark.len()..].starts_with(is_part_of_word)
        })
    };
    let mut offences = Vec::new();
    for file in &repository.files {
        for (line, number) in file.text.lines().zip(1..) {
            for mark in MARKS.iter().filter(|mark| is_marked(line, mark)) {
                let path = &file.path;
                offences.push(format!("{path}:{number}: says \"{mark}\"; finish it"));
            }
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offences of one check against made-up files.
    fn offences(check: fn(&Repository) -> Vec<String>, files: &[(&str, &str)]) -> Vec<String> {
        check(&Repository::of(files))
    }

    #[test]
    fn long_files_are_found() {
        let (short, long) = ("\n".repeat(800), "\n".repeat(801));
        assert!(offences(long_files, &[("a.rs", &short), ("a.md", &long)]).is_empty());
        let found = offences(long_files, &[("a.rs", &long)]);
        assert_eq!(found, ["a.rs: 801 lines; split it below 800"]);
    }

    #[test]
    fn long_functions_are_found() {
        let short = format!("fn a() {{{}}}", "\n".repeat(69));
        let long = format!("\nfn a() {{ {{{}}} }}", "\n".repeat(70));
        let found = offences(long_functions, &[("a.rs", &short), ("b.rs", &long)]);
        assert_eq!(found, ["b.rs:2: fn a has 71 lines; split it below 70"]);
    }

    #[test]
    fn upward_arrows_are_found() {
        let manifests = [
            (
                "crates/inorder-load/Cargo.toml",
                "[package]\nname = \"inorder-load\"\n[dependencies]\ninorder-engine = \"1\"\n[dev-dependencies]\ninorder-cli = \"1\"",
            ),
            (
                "crates/inorder-key/Cargo.toml",
                "[package]\nname = \"inorder-key\"\n[target.'cfg(unix)'.dependencies]\ninorder-btree = \"1\"",
            ),
            (
                "crates/inorder-engine/Cargo.toml",
                "[package]\nname = \"inorder-engine\"\n[build-dependencies.inorder-new]\nversion = \"1\"",
            ),
            ("apps/new/Cargo.toml", "[package]\nname = \"inorder-new\""),
        ];
        assert_eq!(
            offences(upward_arrows, &manifests),
            [
                "inorder-key: depends on inorder-btree, which is on no lower level",
                "inorder-engine: depends on inorder-new, which is on no lower level",
                "inorder-new: give it a level in LEVELS",
            ]
        );
    }

    #[test]
    fn strayed_dependencies_are_found() {
        let manifest = |name| {
            format!("[package]\nname = \"{name}\"\n[dependencies]\nclap_complete.workspace = true")
        };
        let (cli, bench) = (manifest("inorder-cli"), manifest("inorder-bench"));
        let cli = ("crates/inorder-cli/Cargo.toml", cli.as_str());
        assert!(offences(strayed_dependencies, &[cli]).is_empty());
        let bench = ("crates/inorder-bench/Cargo.toml", bench.as_str());
        assert_eq!(
            offences(strayed_dependencies, &[bench]),
            ["inorder-bench: depends on clap_complete, which is for inorder-cli, inorder-command"]
        );
    }

    #[test]
    fn strayed_unsafe_is_found() {
        let code = "#![allow(unsafe_code)] // unsafe\nfn a() { \"unsafe\" }\n";
        assert!(
            offences(
                strayed_unsafe,
                &[("a.rs", code), (UNSAFE_FILES[0], "unsafe")]
            )
            .is_empty()
        );
        let found = offences(strayed_unsafe, &[("a.rs", "\nunsafe {}")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:2: unsafe"), "{found:?}");
    }

    #[test]
    fn strayed_connections_are_found() {
        let code = "fn a() { rusqlite::Connection::open(path) }\n// Connection::open(path)\n\
                    fn b() { inorder_sqlite::open(path, flags) }\n\
                    #[cfg(test)]\nmod tests { fn c() { Connection::open_in_memory() } }\n\
                    fn d() { Connection::open_with_flags(path, flags) }";
        let files = [
            ("crates/x/src/a.rs", code),
            (OWN_DATABASES[0], code),
            (OPENING, code),
            ("crates/x/tests/a.rs", code),
        ];
        let found = offences(strayed_connections, &files);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("crates/x/src/a.rs:1: open by"),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("crates/x/src/a.rs:6: open by"),
            "{found:?}"
        );
    }

    #[test]
    fn unlisted_experiments_are_found() {
        let list = (
            "crates/inorder-bench/src/list.rs",
            "include_str!(\"a.toml\")",
        );
        let found = offences(
            unlisted_experiments,
            &[list, ("experiments/a.toml", ""), ("experiments/b.toml", "")],
        );
        assert_eq!(
            found,
            ["experiments/b.toml: add it to the built-in list in crates/inorder-bench/src"]
        );
    }

    #[test]
    fn undeclared_modules_are_found() {
        let found = offences(
            undeclared_modules,
            &[
                ("crates/x/src/lib.rs", "mod a; mod b; mod c;"),
                ("crates/x/src/a.rs", ""),
                ("crates/x/src/b/mod.rs", "mod d;"),
                ("crates/x/src/b/d.rs", ""),
                ("crates/x/src/b/lost.rs", ""),
                ("crates/x/src/c.rs", "mod d;"),
                ("crates/x/src/c/d.rs", ""),
                ("crates/x/src/lost/mod.rs", ""),
                ("crates/x/src/bin/tool.rs", ""),
                ("crates/x/tests/any.rs", ""),
            ],
        );
        let paths: Vec<&str> = found
            .iter()
            .filter_map(|f| Some(f.split_once(':')?.0))
            .collect();
        assert_eq!(
            paths,
            ["crates/x/src/b/lost.rs", "crates/x/src/lost/mod.rs"]
        );
    }

    #[test]
    fn lone_skips_are_found() {
        let text = format!("eprintln!({SKIPPED}: no server\");");
        let helper = ("crates/inorder-testing/src/lib.rs", text.as_str());
        let words = ("a.rs", "// SKIPPED\ninorder_testing::skip(reason)");
        assert!(offences(lone_skips, &[helper, words]).is_empty());
        let found = offences(lone_skips, &[("a.rs", &text)]);
        assert_eq!(
            found,
            ["a.rs: skip by `inorder_testing::skip`, which CI refuses"]
        );
    }

    #[test]
    fn unfinished_work_is_found() {
        let fine = ("a.md", "s/todo = \"warn\"/, aXXX, XXXX, before now");
        assert!(offences(unfinished, &[fine]).is_empty());
        for mark in MARKS {
            let text = format!("\n# {mark}: more\n");
            let found = offences(unfinished, &[("a.sh", &text)]);
            assert_eq!(found, [format!("a.sh:2: says \"{mark}\"; finish it")]);
        }
    }
}
