//! Runs that end well, or by themselves.

use crate::common::{Place, Said, TINY, with_status};
use inorder_bench::results::{Run, Status, Store};
use serde_json::Value;
use std::{fs, io::Write as _, path::Path, process::Stdio};

/// Bytes that the engine wrote, trial by trial.
fn written(run: &Run) -> Vec<Option<f64>> {
    run.trials
        .iter()
        .map(|trial| trial.last("engine_written_bytes", ""))
        .collect()
}

#[test]
fn a_run_leaves_a_result_file_and_a_page() {
    let place = Place::with(TINY);
    let said = place.run(&["bench", "tiny.toml"]).expect(0, &["done in"]);
    assert!(said.stdout.contains("Which of two keys writes less?"));
    let file = place.file();
    assert_eq!(place.names().len(), 2, "{:?}", place.names());
    let page = fs::read_to_string(file.with_extension("html")).expect("a page");
    assert!(page.to_lowercase().starts_with("<!doctype html"), "{page}");
    let run = Store::read(&file).expect("a run");
    assert_eq!(with_status(&run, Status::Done).len(), 6);
    assert!(run.meta.finished_unix_s.is_some());
}

#[test]
fn json_is_the_whole_of_stdout() {
    let place = Place::with(TINY);
    let said = place
        .run(&["bench", "tiny.toml", "--json"])
        .expect(0, &["results"]);
    let report: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(report["format"], "inorder-report");
    assert_eq!(report["experiments"][0]["name"], "tiny");
    // Published claims are about built-in experiments.
    assert!(report["claims"].as_array().is_some_and(Vec::is_empty));

    for flag in ["--list", "--dry-run"] {
        let said = place
            .run(&["bench", "tiny.toml", flag, "--json"])
            .expect(0, &[]);
        serde_json::from_str::<Value>(&said.stdout).expect(flag);
    }
}

#[test]
fn a_seed_writes_the_same_bytes_again_and_another_one_others() {
    let place = Place::with(TINY);
    for seed in ["7", "7", "8"] {
        place
            .run(&["bench", "tiny.toml", "-q", "--seed", seed])
            .expect(0, &[]);
    }
    let files = place.files();
    let of = |at: usize| written(&Store::read(&files[at]).expect("a run"));
    assert!(of(0).iter().all(Option::is_some));
    assert_eq!(of(0), of(1));
    assert_ne!(of(0), of(2));
}

#[test]
fn a_rerun_has_the_cells_of_the_run_and_compares_with_it() {
    let place = Place::with(&TINY.replace("\"uuid7\"", "\"uuid7\", \"ulid\""));
    place
        .run(&["bench", "tiny.toml", "-q", "--only", "key=ulid"])
        .expect(0, &[]);
    let first = place.file();
    let first = first.to_str().expect("a path");
    place.run(&["rerun", first, "-q"]).expect(0, &[]);
    let files = place.files();
    let runs: Vec<Run> = files
        .iter()
        .map(|f| Store::read(f).expect("a run"))
        .collect();
    assert_eq!(runs[0].cells, runs[1].cells);
    assert_eq!(runs[0].cells.len(), 3);
    assert_eq!(written(&runs[0]), written(&runs[1]));

    let second = files[1].to_str().expect("a path");
    for format in ["term", "md", "json"] {
        let said = place
            .run(&["compare", first, second, "--format", format])
            .expect(0, &[]);
        assert!(said.stdout.contains("ulid"), "{}", said.stdout);
    }
    place
        .run(&["compare", first, second, "--format", "csv"])
        .expect(2, &["csv", "json"]);
}

#[test]
fn a_comparison_fails_above_a_bound() {
    let place = Place::with(TINY);
    for cache in ["4000", "4000", "64"] {
        let set = format!("--set=cache_kib={cache}");
        let arguments = ["bench", "tiny.toml", &set, "--repetitions=1"];
        place.run(&arguments).expect(0, &["done in"]);
    }
    let files: Vec<String> = place
        .files()
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let compare = |a: usize, b: usize, more: &[&str]| {
        place.run(&[&["compare", &files[a], &files[b]], more].concat())
    };
    compare(0, 2, &[]).expect(0, &[]);
    let page = place.path().join("page.html");
    let output = format!("--output={}", page.display());
    compare(0, 1, &["--fail-above=5%", "--format=html", &output]).expect(0, &[]);
    assert!(
        fs::read_to_string(page)
            .expect("a page")
            .contains("<table>")
    );
    compare(0, 2, &["--fail-above=5%"]).expect(7, &["tiny: uuid4: bytes written per row is"]);
    compare(2, 0, &["--fail-above=5%"]).expect(0, &[]);
    compare(0, 2, &["--fail-above=-1%"]).expect(2, &["a percentage of 0 or more"]);
    let missing = [
        "tiny: uuid4: nothing is compared",
        "no cell has finished trials in both",
    ];
    let failed = rusqlite::Connection::open(&files[1]).expect("a database");
    let fail = "UPDATE trial SET status = 'failed', error = 'out of memory'";
    failed.execute(fail, ()).expect("failed");
    compare(0, 1, &["--fail-above=5%"]).expect(7, &missing);
    compare(1, 0, &["--fail-above=5%"]).expect(7, &missing[1..]);
    compare(0, 1, &[]).expect(0, &[]);
}

#[test]
fn a_report_has_every_format_and_is_written_whole() {
    let place = Place::with(TINY);
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    let file = place.file();
    let file = file.to_str().expect("a path");
    for format in ["term", "html", "md", "json", "csv"] {
        let said = place
            .run(&["report", file, "--format", format])
            .expect(0, &[]);
        assert!(said.stdout.len() > 200, "{format}: {}", said.stdout);
        let arguments = ["report", file, "--format", format, "--output", "report"];
        assert_eq!(place.run(&arguments).expect(0, &[]).stdout, "");
        let written = fs::read_to_string(place.path().join("report")).expect("a report");
        assert_eq!(written, said.stdout, "{format}");
    }
    place
        .run(&["report", file, "--output", "nowhere/report"])
        .expect(1, &["can't write nowhere/report"]);
}

#[test]
fn a_reader_that_had_enough_is_no_error() {
    let place = Place::with(TINY);
    let file = {
        let mut child = place
            .inorder(&["bench", "tiny.toml", "-q"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("its end").code(), Some(0));
        place.file()
    };
    assert!(
        file.with_extension("html").exists(),
        "the page is there all the same"
    );
    let mut child = place
        .inorder(&["report", file.to_str().expect("a path"), "--format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let said = Said::of(child.wait_with_output().expect("its end")).expect(0, &[]);
    assert_eq!(said.stderr, "");
}

#[test]
fn a_trial_over_its_time_fails_and_the_run_goes_on() {
    let place = Place::with(
        &TINY
            .replace(
                "[factors]",
                "trial_seconds_max = 15\n\n[factors]\nrows = [100, 100_000_000]",
            )
            .replace("rows = 3000\n", "")
            .replace("[\"uuid4\", \"uuid7\"]", "[\"uuid7\"]")
            .replace("repetitions = 2", "repetitions = 1"),
    );
    let words = [
        "not done after 15 s: raise trial_seconds_max",
        "1 trials failed",
        "--resume",
    ];
    // The disk of the machine may be too small for the rows that never come.
    place
        .run(&["bench", "tiny.toml", "--force"])
        .expect(1, &words);
    let run = Store::read(&place.file()).expect("a run");
    assert_eq!(with_status(&run, Status::Failed).len(), 1);
    assert_eq!(with_status(&run, Status::Done).len(), 2);
    assert_eq!(place.names().len(), 2, "{:?}", place.names());
}

#[test]
fn tables_and_columns_may_be_reserved_words() {
    let place = Place::with(&format!(
        "{TINY}\n{}",
        r#"
[reads]
points = 10
ranges = 10

[[table]]
name = "group"
rows = 10
create = 'CREATE TABLE "group"("index" {key} NOT NULL PRIMARY KEY)'
columns = { index = "key" }

[[table]]
name = "order"
create = 'CREATE TABLE "order"("select" {key} NOT NULL PRIMARY KEY, "from" {key} REFERENCES "group")'
columns = { select = "key", from = { fill = "pick", from = "group.index" } }
"#
    ));
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
}

/// An experiment whose rows break a constraint only after those of the rehearsal.
const LATE: &str = r#"
title = "A late fault"
question = "Is a constraint's error told?"
expect = "With row, table and column."

[fixed]
rows = 1000
rows_per_transaction = 100

[quick]
repetitions = 1

[[table]]
name = "visit"
create = "CREATE TABLE visit(id {key} PRIMARY KEY, n INTEGER CHECK (n < 500))"
columns = { id = "key", n = "sequence" }
"#;

#[test]
fn a_recipe_that_breaks_a_constraint_names_row_table_and_column() {
    let place = Place::with(LATE);
    let words = [
        "row 500 of table `visit` violates a constraint",
        "n < 500",
        "n = 500)",
    ];
    // The disk of the machine may be too small for the rows that never come.
    place
        .run(&["bench", "tiny.toml", "--force"])
        .expect(1, &words);
    let run = Store::read(&place.file()).expect("a run");
    assert_eq!(with_status(&run, Status::Failed).len(), 2);
}

#[test]
fn three_failures_in_a_row_end_a_run_that_can_go_on() {
    let place = Place::with(&LATE.replace("repetitions = 1", "repetitions = 2"));
    let words = [
        "3 trials in a row failed, the last with: row 500",
        "bench --resume",
    ];
    place.run(&["bench", "tiny.toml", "-q"]).expect(1, &words);
    let run = Store::read(&place.file()).expect("a run");
    assert_eq!(with_status(&run, Status::Planned).len(), 1);
}

#[test]
fn the_documented_example_runs_on_its_films_and_on_others() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let example = docs.join("films.toml");
    let example = example.to_str().expect("a path");
    let place = Place::with("");
    let small = ["--set", "rows=500", "--repetitions", "1", "--json"];
    let answer = |arguments: &[&str]| {
        let said = place.run(&[&["bench", example], &small[..], arguments].concat());
        let report: Value = serde_json::from_str(&said.expect(0, &[]).stdout).expect("JSON");
        assert_eq!(
            report["experiments"][0]["cells"].as_array().map(Vec::len),
            Some(6)
        );
        report["experiments"][0]["answer"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let said = answer(&[]);
    assert!(
        said.contains("times the bytes") && !said.contains("n/a"),
        "{said}"
    );

    let path = place.path().join("other.jsonl.gz");
    let file = fs::File::create(&path).expect("a file");
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let films = fs::read(docs.join("films.jsonl")).expect("the films");
    gzip.write_all(&films.repeat(20)).expect("room");
    gzip.finish().expect("room");
    let said = answer(&["--data", "other.jsonl.gz"]);
    assert!(!said.contains("n/a"), "{said}");
}
