//! Every type that a column can have, loaded beside psql's `\copy`: the same values are stored, the same refused.
//!
//! The suite takes one array type in four. `INORDER_TYPES=all` takes all, adds the row types of the catalog's tables, and
//! loads every refused value, alone too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::server::{Server, quoted};
use crate::values::{EXTENSIONS, MODIFIED, TYPES, VALUES};

/// Every type that is stored: not pseudo-types, and row types of the catalog's own tables where all are wanted.
const LIST: &str = "
    SELECT format_type(t.oid, NULL) FROM pg_type AS t
    LEFT JOIN pg_type AS e ON e.oid = t.typelem AND t.typcategory = 'A'
    LEFT JOIN pg_class AS c ON c.oid = coalesce(nullif(e.typrelid, 0), t.typrelid)
    WHERE t.typtype <> 'p' AND coalesce(e.typtype, 'b') <> 'p' AND t.typisdefined
        AND (coalesce(c.relkind, 'c') = 'c' OR :all)
    ORDER BY t.typcategory = 'A', t.oid";

/// The suite takes one refused value in this number, another one for each type, and one array type in this number.
const SHARE: usize = 4;

/// Sessions that load at the same time.
const THREADS: usize = 3;

fn is_large() -> bool {
    std::env::var("INORDER_TYPES").is_ok_and(|size| size == "all")
}

/// A type, and the tables of it by their number.
struct Type {
    number: usize,
    name: String,
}

impl Type {
    /// Whether the suite takes this type: all but some of the arrays.
    fn is_due(&self) -> bool {
        is_large() || !self.name.ends_with("[]") || self.number.is_multiple_of(SHARE)
    }
}

/// Values as fields of a file, quoted unless they may be NULL.
fn fields() -> Vec<String> {
    let bare = ["", "NULL", "\\N", "a", "1"].map(str::to_owned);
    bare.into_iter()
        .chain(VALUES.iter().map(|value| quoted(value)))
        .collect()
}

fn rows(fields: &[String], numbers: impl IntoIterator<Item = usize>) -> String {
    let mut csv = "i,v\n".to_owned();
    for number in numbers {
        let _ = writeln!(csv, "{number},{}", fields[number]);
    }
    csv
}

/// Makes the types and the tables: `p_…` for psql, `i_…` for the loader, `q_…` and `r_…` for what comes back.
fn prepare(server: &Server) -> Vec<Type> {
    let mut script = TYPES.to_owned();
    for extension in EXTENSIONS {
        let _ = write!(script, "CREATE EXTENSION \"{extension}\";");
    }
    script += "ALTER DATABASE postgres SET DateStyle = 'SQL, DMY'; ALTER DATABASE postgres SET IntervalStyle = 'sql_standard';
        ALTER DATABASE postgres SET TimeZone = 'America/St_Johns'; ALTER ROLE inorder SET xmloption = 'content';";
    server.sql(&script);
    let names = server.sql(&LIST.replace(":all", if is_large() { "true" } else { "false" }));
    let names = names
        .into_iter()
        .chain(MODIFIED.iter().map(|&name| name.to_owned()));
    let types: Vec<Type> = names
        .enumerate()
        .map(|(number, name)| Type { number, name })
        .filter(Type::is_due)
        .collect();
    let mut script = String::new();
    for ty in &types {
        let Type { number, name } = ty;
        for kind in ["p", "i", "q", "r"] {
            let _ = writeln!(script, "CREATE TABLE {kind}_{number}(i int, v {name});");
        }
        for kind in ["pk", "ik"] {
            let _ = writeln!(
                script,
                "CREATE TABLE {kind}_{number}(i int, v {name} PRIMARY KEY);"
            );
        }
    }
    // A type that can't be a key's, or a column's at all, has no such tables.
    server.psql(&script);
    let there: BTreeSet<String> = server
        .sql("SELECT relname FROM pg_class WHERE relkind = 'r'")
        .into_iter()
        .collect();
    types
        .into_iter()
        .filter(|ty| there.contains(&format!("p_{}", ty.number)))
        .collect()
}

/// The rows of a table with their sources, in psql's output format.
fn stored(server: &Server, tables: &[String]) -> Vec<String> {
    let mut script = String::new();
    for table in tables {
        let _ = writeln!(
            script,
            "\\copy (SELECT * FROM {table} ORDER BY i) to '{table}.out'"
        );
    }
    let (_, errors) = server.psql(&script);
    assert_eq!(errors, "");
    let read = |table: &String| {
        let path = server.path(&format!("{table}.out"));
        let text = std::fs::read(&path).expect("a table");
        std::fs::remove_file(path).expect("a file");
        String::from_utf8(text).expect("UTF-8")
    };
    tables.iter().map(read).collect()
}

/// The numbers of the rows that are stored.
fn numbers(stored: &str) -> Vec<usize> {
    stored
        .lines()
        .filter_map(|line| line.split('\t').next()?.parse().ok())
        .collect()
}

fn names(kind: &str, types: &[Type]) -> Vec<String> {
    types
        .iter()
        .map(|ty| format!("{kind}_{}", ty.number))
        .collect()
}

/// Does something for each type, some at a time.
fn on_all(types: &[Type], work: impl Fn(usize, &Type) + Sync) {
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    let Some(ty) = types.get(at) else { return };
                    work(at, ty);
                }
            });
        }
    });
}

/// Loads each value separately into tables of each type with psql.
fn copy_each(server: &Server, kind: &str, types: &[Type], of: impl Fn(usize) -> Vec<usize> + Sync) {
    on_all(types, |at, ty| {
        let mut script = String::new();
        for value in of(at) {
            let _ = writeln!(
                script,
                "\\copy {kind}_{} from 'v{value}.csv' (format csv, header)",
                ty.number
            );
        }
        server.psql(&script);
    });
}

#[test]
fn every_type_is_loaded_as_psql_loads_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let server = &server;
    let types = prepare(server);
    let fields = fields();
    let all: Vec<usize> = (0..fields.len()).collect();
    for value in &all {
        server.file(&format!("v{value}.csv"), rows(&fields, [*value]));
    }
    copy_each(server, "p", &types, |_| all.clone());
    let expected = stored(server, &names("p", &types));
    let accepted: Vec<Vec<usize>> = expected.iter().map(|stored| numbers(stored)).collect();

    let refusals = AtomicUsize::new(0);
    on_all(&types, |at, ty| {
        let is_refused = |value: &usize| !accepted[at].contains(value);
        let is_due = |value: &usize| is_large() || value % SHARE == ty.number % SHARE;
        let refused = all.iter().copied().filter(is_refused);
        let refused: Vec<usize> = refused.filter(is_due).collect();
        refusals.fetch_add(refused.len(), Relaxed);
        check_type(server, ty, &fields, &accepted[at], &refused);
    });
    let found = stored(server, &names("i", &types));
    for (at, ty) in types.iter().enumerate() {
        assert_eq!(found[at], expected[at], "{}", ty.name);
    }
    let taken: usize = accepted.iter().map(Vec::len).sum();
    println!(
        "{} types, {} values: {taken} pairs are stored alike, {} refused alike",
        types.len(),
        fields.len(),
        refusals.into_inner()
    );

    check_keys(server, &types, &fields, &accepted);
    check_exports(server, &types);
}

/// The loader accepts all values that psql accepted, in one load. It refuses all values that psql refused, with file
/// and line.
fn check_type(
    server: &Server,
    ty: &Type,
    fields: &[String],
    accepted: &[usize],
    refused: &[usize],
) {
    let (number, name) = (ty.number, &ty.name);
    let table = format!("i_{number}");
    let (good, bad) = (format!("good{number}.csv"), format!("bad{number}.csv"));
    server.file(&good, rows(fields, accepted.iter().copied()));
    server.file(&bad, rows(fields, refused.iter().copied()));
    if !accepted.is_empty() {
        let loaded = server
            .load(&table, &good)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(loaded.rows_written, accepted.len() as u64, "{name}");
    }
    if !refused.is_empty() {
        let job = inorder_load::Job {
            errors_max: u64::MAX,
            ..server.job(&table, &bad)
        };
        let loaded = server
            .run(&job)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            (loaded.rows_written, loaded.rows_refused),
            (0, refused.len() as u64),
            "{name}: a value that psql refuses is taken"
        );
    }
    let alone = if is_large() { refused.len() } else { 1 };
    for value in refused
        .iter()
        .cycle()
        .skip(number)
        .take(alone.min(refused.len()))
    {
        let file = format!("v{value}.csv");
        let error = server.load(&table, &file).expect_err(name);
        assert!(
            error.contains(&format!("{file}, line 2")),
            "{name}: {error}"
        );
    }
}

/// As keys: psql accepts the first of equal values, and the loader refuses all further ones.
fn check_keys(server: &Server, types: &[Type], fields: &[String], accepted: &[Vec<usize>]) {
    let there: BTreeSet<String> = server
        .sql("SELECT relname FROM pg_class WHERE relkind = 'r'")
        .into_iter()
        .collect();
    let is_key = |at: usize| there.contains(&format!("pk_{}", types[at].number));
    let keyed = |at: usize| {
        if is_key(at) {
            accepted[at].clone()
        } else {
            Vec::new()
        }
    };
    copy_each(server, "pk", types, keyed);
    let of_keys: Vec<usize> = (0..types.len()).filter(|at| is_key(*at)).collect();
    let name = |kind: &str| {
        of_keys
            .iter()
            .map(|at| format!("{kind}_{}", types[*at].number))
            .collect::<Vec<_>>()
    };
    let expected = stored(server, &name("pk"));
    on_all(types, |at, ty| {
        let Some(place) = of_keys.iter().position(|of| *of == at) else {
            return;
        };
        let (number, name) = (ty.number, &ty.name);
        let distinct = numbers(&expected[place]);
        let (once, twice) = (format!("once{number}.csv"), format!("twice{number}.csv"));
        let table = format!("ik_{number}");
        server.file(&once, rows(fields, distinct.iter().copied()));
        server.file(&twice, rows(fields, accepted[at].iter().copied()));
        if distinct.len() < accepted[at].len() {
            let error = server.load(&table, &twice).expect_err(name);
            assert!(
                ["duplicate", "same key", "unique", "null"]
                    .iter()
                    .any(|word| error.contains(word)),
                "{name}: {error}"
            );
        }
        if !distinct.is_empty() {
            server
                .load(&table, &once)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    });
    let found = stored(server, &name("ik"));
    for (place, at) in of_keys.iter().enumerate() {
        assert_eq!(
            found[place], expected[place],
            "{} as a key",
            types[*at].name
        );
    }
    println!("{} types as keys", of_keys.len());
}

/// A file exported by psql is loaded with the same result as by psql.
fn check_exports(server: &Server, types: &[Type]) {
    let mut script = String::new();
    for Type { number, .. } in types {
        let _ = writeln!(
            script,
            "\\copy p_{number} to 'e{number}.csv' (format csv, header)"
        );
    }
    assert_eq!(server.psql(&script).1, "");
    on_all(types, |_, ty| {
        let file = format!("e{}.csv", ty.number);
        let said = server.copy(&format!("q_{}", ty.number), &file);
        let loaded = server.load(&format!("r_{}", ty.number), &file);
        assert_eq!(
            loaded.is_ok(),
            !said.contains("ERROR"),
            "{}: {loaded:?}, and psql: {said}",
            ty.name
        );
    });
    let (expected, found) = (
        stored(server, &names("q", types)),
        stored(server, &names("r", types)),
    );
    for (at, ty) in types.iter().enumerate() {
        assert_eq!(found[at], expected[at], "{} once more", ty.name);
    }
}
