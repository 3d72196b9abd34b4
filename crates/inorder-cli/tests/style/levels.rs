//! The levels of the modules of each crate, and the rules that keep them.
//!
//! 1. Every module that a crate's root declares is in [`MODULE_LEVELS`]. It imports from modules of lower rows only.
//! 2. Within a folder, modules have no cycles.
//!
//! An import counts for the module that defines the item, not for one that re-exports it: `use crate::Error` is an import
//! from the module `error`. Code for tests may import from everywhere.
//!
//! `lib.rs` and `mod.rs` are both floor and roof of their folder: they define what the modules below share, and they
//! compose these modules. So each of their items stands for itself. A module may import an item of its own `mod.rs` unless the
//! item uses that module, also through others. A trait may be in `mod.rs`; the list of what implements it may be there
//! too, if those who implement it do not read it.

use crate::modules::{Arrow, Modules, Path};
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of modules of each crate, the bottom one first. Modules of one row do not import from each other.
const MODULE_LEVELS: &[(&str, &[&str])] = &[
    (
        "inorder-key",
        &[
            "chacha encoding split_mix",
            "kind machine",
            "buffer clock",
            "counting_clock error system_clock",
            "id rng text time",
            "sequence time_id token tsid",
            "factory tsid_factory",
            "uuid",
            "byte_order type_id ulid",
            "diesel_value foreign generator postgres_value serde_value sqlite_value sqlx_value stream",
            "bulk inspect",
        ],
    ),
    (
        "inorder-btree",
        &[
            "free_list mapped o_direct pointer_map record",
            "error windows",
            "options",
            "geometry header page_file",
            "cell cells numbers page",
            "reader",
            "output page_map rollback",
            "density moves",
            "payload spine",
            "index table",
            "schema",
            "builder",
        ],
    ),
    ("inorder-command", &["command_line manual"]),
    (
        "inorder-sqlite",
        &[
            "error", "read", "function", "ffi", "shared", "list", "keys", "open",
        ],
    ),
    (
        "inorder-engine",
        &[
            "batch counters error layout names processes settings structure table_change",
            "gather writer",
            "bulk_load",
            "database",
            "engine",
            "server",
            "remote sqlite",
            "mariadb postgres",
            "galera sharded",
            "list",
        ],
    ),
    (
        "inorder-load",
        &[
            "error files note order raw_pages sql",
            "database disk_space source",
            "encode",
            "destination",
            "group job",
            "rows schema",
            "row_writer",
            "pages",
            "sink",
            "pipeline",
        ],
    ),
    ("inorder-testing", &["server"]),
    (
        "inorder-advise",
        &[
            "change ddl error",
            "apply classify counter snapshot sql",
            "check read",
            "migrate rekey rules sample",
            "trial",
            "advice",
            "report",
            "server",
        ],
    ),
    (
        "inorder-copy",
        &[
            "error number temporal",
            "value",
            "rules",
            "model stop",
            "incoming sqlite translate",
            "defaults",
            "source",
            "destination plan settle",
            "meaning",
            "run",
        ],
    ),
    (
        "inorder-bench",
        &[
            "clock error probes rules statistics",
            "format",
            "engines generate",
            "experiment",
            "schema",
            "experiments results",
            "core_time host noise_meter plan",
            "metrics",
            "analysis trial",
            "claims",
            "budget check report",
            "footprint",
            "runner",
            "run",
        ],
    ),
    (
        "inorder-predict",
        &[
            "bplus clock counters error growth lru",
            "arrivals model",
            "columns",
            "member question",
            "members",
            "mariadb postgres scale sqlite",
            "simulate",
            "answer",
        ],
    ),
    ("inorder-cli", &["interrupt progress terminal", "commands"]),
    (
        "inorder-couch",
        &[
            "config json scheduler script status_page tasks",
            "auth",
            "multipart revision",
            "mango",
            "replicate store",
            "replicator views",
            "http",
            "commands",
        ],
    ),
    (
        "inorder-serve",
        &["log private readers signals tls", "acme backup http queue"],
    ),
    (
        "inorder-watch",
        &[
            "date text",
            "words",
            "error",
            "limits outgoing passkeys secret title",
            "db password",
            "films mail posters updates",
            "lists",
            "request",
            "api",
            "web",
            "commands",
        ],
    ),
];

/// The offences against the levels, and the cycles in folders.
pub fn tangled_modules(repository: &Repository) -> Vec<String> {
    let offences = offences(repository, MODULE_LEVELS);
    let line = |offence: Offence| format!("{}: {}", offence.what, offence.how);
    offences.into_iter().map(line).collect()
}

fn offences(repository: &Repository, levels: &[(&str, &[&str])]) -> Vec<Offence> {
    let mut offences: Vec<Offence> = Vec::new();
    for modules in Modules::of_crates(repository) {
        let package = modules.package.as_str();
        let rows = levels.iter().find(|(name, _)| *name == package);
        let rows = rows.map_or(&[][..], |(_, rows)| rows);
        let arrows = modules.arrows();
        offences.extend(unlisted(&modules, rows));
        offences.extend(upward(package, &arrows, rows));
        offences.extend(cycles(package, &arrows));
    }
    offences
}

struct Offence {
    /// The module or modules.
    what: String,
    /// The position of the import, and the remedy.
    how: String,
}

/// Modules without a row, and rows with modules that do not exist.
fn unlisted(modules: &Modules, rows: &[&str]) -> Vec<Offence> {
    let listed: BTreeSet<&str> = rows.iter().flat_map(|row| row.split(' ')).collect();
    let package = &modules.package;
    let offence = |name: &&str, how: &str| Offence {
        what: format!("{package}: {name}"),
        how: format!("{how} MODULE_LEVELS"),
    };
    let top = modules.top();
    let missing = top
        .difference(&listed)
        .map(|name| offence(name, "give it a row in"));
    let gone = listed
        .difference(&top)
        .map(|name| offence(name, "no such module; remove it from"));
    missing.chain(gone).collect()
}

/// Imports that do not come from a lower row.
fn upward(package: &str, arrows: &[Arrow], rows: &[&str]) -> Vec<Offence> {
    let row = |name: &str| {
        rows.iter()
            .position(|row| row.split(' ').any(|m| m == name))
    };
    let mut offences = Vec::new();
    for Arrow {
        folder,
        from,
        to,
        place,
    } in arrows
    {
        if let (true, Some(own), Some(other)) = (folder.is_empty(), row(from), row(to))
            && other >= own
        {
            offences.push(Offence {
                what: format!("{package}: {from} -> {to}"),
                how: format!(
                    "{place}: `{to}` is in no lower row; move what both need to a lower module"
                ),
            });
        }
    }
    offences
}

/// Groups of modules in a folder, each of which leads to every other one.
fn cycles(package: &str, arrows: &[Arrow]) -> Vec<Offence> {
    let mut folders: BTreeMap<&Path, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|arrow| !arrow.folder.is_empty()) {
        let folder = folders.entry(&arrow.folder).or_default();
        folder.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let mut offences = Vec::new();
    for (folder, uses) in folders {
        for group in groups(&uses) {
            let is_within = |arrow: &&Arrow| {
                let ends = [arrow.from.as_str(), arrow.to.as_str()];
                arrow.folder == *folder && ends.iter().all(|end| group.contains(end))
            };
            let imports = arrows.iter().filter(is_within);
            let imports = imports.map(|a| format!("\n    {} -> {} at {}", a.from, a.to, a.place));
            let names: Vec<&str> = group.iter().copied().collect();
            offences.push(Offence {
                what: format!("{package} {}: {}", folder.join("::"), names.join(" ")),
                how: format!(
                    "a cycle; move what they share to a module below them{}",
                    imports.collect::<String>()
                ),
            });
        }
    }
    offences
}

/// The cycles of a graph: each module is in the group of those that it leads to and that lead to it.
fn groups<'a>(uses: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<BTreeSet<&'a str>> {
    let reached = |from: &'a str| {
        let (mut found, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(module) = waiting.pop() {
            let next = uses.get(module).into_iter().flatten();
            waiting.extend(next.filter(|next| found.insert(**next)));
        }
        found
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses
        .keys()
        .map(|module| (*module, reached(module)))
        .collect();
    let group = |(module, others): (&&'a str, &BTreeSet<&'a str>)| {
        let leads_back = |other: &&&str| reached.get(**other).is_some_and(|r| r.contains(module));
        others.iter().filter(leads_back).copied().collect()
    };
    reached
        .iter()
        .map(group)
        .filter(|group: &BTreeSet<&str>| !group.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the violations of an invented crate with these rows and files.
    fn found(rows: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let mut repository = Repository::of(files);
        for file in &mut repository.files {
            file.path.insert_str(0, "crates/inorder-x/src/");
        }
        let offences = offences(&repository, &[("inorder-x", rows)]);
        offences.into_iter().map(|offence| offence.what).collect()
    }

    #[test]
    fn modules_without_a_row_and_rows_without_a_module_are_found() {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", ""), ("b/mod.rs", "")];
        assert_eq!(found(&["a c"], &files), ["inorder-x: b", "inorder-x: c"]);
        assert!(found(&["a b"], &files).is_empty());
    }

    #[test]
    fn imports_from_the_same_or_a_higher_row_are_found() {
        let lib = ("lib.rs", "mod a; mod b;");
        for import in [
            "use crate::b::B;",
            "use super::b::{self, c::B};",
            "use crate::{b::{c as d, B}, x};",
            "use crate::b; fn f() -> b::B {}",
            "fn f() { crate::b::f() }",
            "fn f() { m![super::b::f()] }",
            "use inorder_x::b::B;",
        ] {
            let files = [lib, ("a.rs", import), ("b.rs", "")];
            let up = ["inorder-x: a -> b"];
            assert_eq!(found(&["a", "b"], &files), up, "{import}");
            assert_eq!(found(&["a b"], &files), up, "{import}");
            assert!(found(&["b", "a"], &files).is_empty(), "{import}");
        }
    }

    #[test]
    fn imports_of_tests_and_of_other_crates_are_not() {
        for code in [
            "#[cfg(test)] mod tests { use crate::b::B; }",
            "use b::B; use std::b;",
            "/// [`crate::b::B`]\nfn f() { let s = \"crate::b::B\"; }",
        ] {
            let files = [("a.rs", code), ("b.rs", "")];
            assert!(found(&["a b"], &files).is_empty(), "{code}");
        }
        let tests = ("a/tests.rs", "use crate::b::B;");
        let files = |code| [("a.rs", code), tests, ("b.rs", "")];
        assert!(found(&["a b"], &files("#[cfg(test)] mod tests;")).is_empty());
        assert_eq!(found(&["a b"], &files("mod tests;")), ["inorder-x: a -> b"]);
    }

    #[test]
    fn reexports_count_for_the_module_that_defines_the_item() {
        let lib = ("lib.rs", "mod a; mod b; mod c; pub use c::{C, Inner as D};");
        let c = ("c/mod.rs", "mod d; pub use d::Inner; pub struct C;");
        let files = [
            lib,
            ("a.rs", "use crate::C;"),
            ("b.rs", "fn f(_: super::D) {}"),
            c,
            ("c/d.rs", ""),
        ];
        assert_eq!(
            found(&["a b c"], &files),
            ["inorder-x: a -> c", "inorder-x: b -> c"]
        );
    }

    #[test]
    fn cycles_in_folders_are_found() {
        let files = [
            ("a/mod.rs", "mod b; mod c; mod d; mod e;"),
            ("a/b.rs", "use super::c::C;"),
            ("a/c/mod.rs", "mod deep;"),
            ("a/c/deep.rs", "use crate::a::d::D;"),
            ("a/d.rs", "use super::{b::B, e::E};"),
            ("a/e.rs", "use super::e;"),
        ];
        assert_eq!(found(&["a"], &files), ["inorder-x a: b c d"]);
        let [folder, .., d, e] = files;
        assert!(found(&["a"], &[folder, d, e, ("a/b.rs", "")]).is_empty());
    }

    #[test]
    fn an_item_of_a_folder_s_own_file_counts_as_what_it_uses() {
        let folder = "mod b; mod c;\n\
                      pub trait Shape {}\n\
                      pub const SHAPES: &[&dyn Shape] = &[&b::B];\n\
                      pub fn count() -> usize { SHAPES.len() }\n\
                      impl Shape for () { fn f() { b::f() } }";
        let files = |b| {
            [
                ("a/mod.rs", folder),
                ("a/b.rs", b),
                ("a/c.rs", "use super::count;"),
            ]
        };
        assert!(found(&["a"], &files("use super::Shape;")).is_empty());
        let offences = found(&["a"], &files("use super::{Shape, count};"));
        assert_eq!(offences, ["inorder-x a: b"]);
        assert_eq!(
            found(&["a"], &files("use super::c::C;")),
            ["inorder-x a: b c"]
        );
        let root = [
            ("lib.rs", "mod a; pub fn run() { a::go() }"),
            ("a.rs", "use crate::run;"),
        ];
        assert_eq!(found(&["a"], &root), ["inorder-x: a -> a"]);
    }

    #[test]
    fn a_list_in_the_file_of_the_traits_is_found() {
        let traits = "use crate::sqlite::Sqlite; pub trait Engine {}\n\
                      pub static ENGINES: &[&dyn Engine] = &[&Sqlite];";
        let files = [
            ("engine.rs", traits),
            ("sqlite/mod.rs", "use crate::Engine;"),
            ("lib.rs", "mod engine; mod sqlite; pub use engine::Engine;"),
        ];
        assert_eq!(
            found(&["engine", "sqlite"], &files),
            ["inorder-x: engine -> sqlite"]
        );
    }

    /// Returns the violations of a crate if a file had this additional line.
    fn found_with(path: &str, line: &str) -> Vec<String> {
        let mut repository = Repository::walk();
        let folder = path.split_inclusive('/').take(2).collect::<String>();
        repository
            .files
            .retain(|file| file.path.starts_with(&folder));
        let file = repository.files.iter_mut().find(|file| file.path == path);
        file.expect(path).text.push_str(line);
        let offences = offences(&repository, MODULE_LEVELS);
        offences.into_iter().map(|offence| offence.what).collect()
    }

    #[test]
    fn cycles_that_were_undone_are_found_when_they_come_back() {
        for (path, line, cycle) in [
            (
                "crates/inorder-engine/src/engine.rs",
                "pub const ENGINES: &[&dyn Engine] = &[&crate::sqlite::Sqlite];",
                "inorder-engine: engine -> sqlite",
            ),
            (
                "crates/inorder-engine/src/postgres/remote.rs",
                "use crate::sharded::foreign::table as routed;",
                "inorder-engine: postgres -> sharded",
            ),
            (
                "crates/inorder-engine/src/mariadb/session.rs",
                "use super::database::MariaDatabase;",
                "inorder-engine mariadb: bulk_load change database session strict structure table",
            ),
        ] {
            let found = found_with(path, line);
            assert!(found.iter().any(|what| what == cycle), "{found:?}");
        }
    }
}
