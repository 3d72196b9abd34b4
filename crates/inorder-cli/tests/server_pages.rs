//! The examples of `docs/loading.md` for servers, run on private ones. A missing server prints SKIPPED.

use std::fs;
use std::path::{Path, PathBuf};

use inorder_testing::PrivateServer;

/// The fence of an example that needs a server.
const FENCE: &str = "```console,ignore\n";

/// The name of an engine, and the URL of its examples.
const SERVERS: &[(&str, &str)] = &[
    ("postgres", "postgres://me:secret@localhost/shop"),
    ("mariadb", "mysql://me:secret@localhost/shop"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The examples of a page for the server of this URL.
fn examples<'a>(page: &'a str, url: &str) -> Vec<&'a str> {
    let blocks = page.split(FENCE).skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or(rest));
    blocks.filter(|block| block.contains(url)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let goal = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &goal),
            false => _ = fs::copy(entry.path(), goal).expect("copied"),
        }
    }
}

#[test]
fn the_page_says_what_the_command_says_on_a_server() {
    let page = fs::read_to_string(docs().join("loading.md")).expect("the page");
    let all = examples(&page, "").len();
    let known = SERVERS.iter().map(|(_, url)| examples(&page, url).len());
    assert_eq!(known.sum::<usize>(), all, "an example without a server");
    for (name, url) in SERVERS {
        let examples = examples(&page, url);
        assert!(!examples.is_empty(), "{name} has no example");
        let Some(server) = PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR")) else {
            continue;
        };
        server.run("CREATE DATABASE shop");
        let own = server.url_of("shop");
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path().join(format!("{name}.md"));
        let blocks: Vec<String> = examples
            .iter()
            .map(|block| format!("```console\n{}```\n", block.replace(url, &own)))
            .collect();
        fs::write(&at, blocks.join("\n")).expect("written");
        copy(&docs().join("loading.in"), &at.with_extension("in"));
        trycmd::TestCases::new()
            .case(&at)
            .env("NO_COLOR", "1")
            .run();
    }
}
