//! The built-in experiments: each parses at both scales, plans, and runs in the small.

use inorder_bench::{
    claims::CLAIMS,
    engines::Engines,
    experiment::{Experiment, Overrides, Scale},
    experiments::{BUILT_IN, built_in, names},
    plan::plan,
    probes::probe,
    run::{Request, rehearse},
    trial::{self, TrialSpec},
};
use std::collections::{BTreeMap, BTreeSet};

fn all(scale: Scale) -> Vec<Experiment> {
    built_in(&[], scale, &Overrides::default()).unwrap()
}

#[test]
fn the_folder_and_the_list_agree() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = BUILT_IN
        .iter()
        .map(|(file, _)| (*file).to_owned())
        .collect();
    assert_eq!(files, listed);
}

#[test]
fn every_experiment_plans_at_both_scales() {
    for scale in Scale::ALL {
        let experiments = all(*scale);
        let plan = plan(&experiments, 1, &Engines::default()).unwrap();
        assert_eq!(plan.experiments.len(), experiments.len());
        for (name, label, reason) in &plan.impossible {
            // Every one is known, and says why.
            assert_eq!(
                (name.as_str(), label.as_str()),
                ("keys", "serial, without-rowid"),
                "{reason}"
            );
        }
        let least = if *scale == Scale::Full { 5 } else { 2 };
        for experiment in &experiments {
            assert!(experiment.repetitions >= least, "{}", experiment.name);
        }
    }
}

/// The experiments that need servers, where those are.
fn of_servers(scale: Scale) -> Vec<Experiment> {
    let engine = inorder_engine::engine("postgres-sharded").unwrap();
    if !inorder_testing::is_installed(engine) {
        return Vec::new();
    }
    let names = [
        "sharded-copy",
        "hot-range",
        "latency",
        "operations",
        "aged",
        "migrate",
    ]
    .map(str::to_owned);
    built_in(&names, scale, &Overrides::default()).unwrap()
}

#[test]
fn experiments_of_servers_run_by_name_alone() {
    let unnamed: Vec<String> = all(Scale::Quick).into_iter().map(|e| e.name).collect();
    for scale in Scale::ALL {
        let experiments = of_servers(*scale);
        if experiments.is_empty() {
            return;
        }
        let planned = plan(&experiments, 1, &Engines::default()).unwrap();
        assert_eq!(planned.impossible, []);
        assert!(experiments.iter().all(|e| !unnamed.contains(&e.name)));
    }
    // Every name is one of either.
    assert_eq!(unnamed.len() + 6, names().len());
}

#[test]
fn a_range_of_ordered_keys_is_one_shards_and_of_buckets_every_shards() {
    for experiment in of_servers(Scale::Quick) {
        if experiment.name != "hot-range" {
            continue;
        }
        let share = |key: &str, partition: &str| {
            let levels = [
                ("key", key),
                ("partition", partition),
                ("engine", "postgres-sharded"),
                ("write", "routed"),
                ("writers", "2"),
                ("rows", "3000"),
            ];
            let outcome = run_trial(&levels, 1);
            let rows =
                ["shard1", "shard2", "shard3"].map(|shard| last(&outcome, "shard_rows", shard));
            let rows = rows.map(|rows| rows.unwrap());
            assert_eq!(rows.iter().sum::<f64>(), 3000.0);
            rows.into_iter().fold(0.0, f64::max) / 3000.0
        };
        assert_eq!(share("int-seq", "range"), 1.0);
        assert_eq!(share("uuid7", "range"), 1.0);
        assert!(share("composite", "range") < 0.4);
        assert!(share("int-seq", "hash") < 0.4);
    }
}

#[test]
fn every_claim_belongs_to_the_experiment_that_answers_it() {
    let experiments = all(Scale::Full);
    for claim in CLAIMS.iter() {
        let experiment = experiments.iter().find(|e| e.name == claim.experiment);
        let experiment = experiment.unwrap_or_else(|| panic!("{}: no experiment", claim.id));
        assert!(
            experiment.claims.iter().any(|id| id == claim.id),
            "{} isn't among the claims of {}",
            claim.id,
            experiment.name
        );
    }
}

#[test]
fn every_layout_of_every_experiment_runs() {
    let folder = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
    for experiment in all(Scale::Quick) {
        let request = Request {
            experiments: vec![experiment.clone()],
            engines: Engines::default(),
            scale: Scale::Quick,
            overrides: Overrides::default(),
            seed: 1,
            command: Vec::new(),
        };
        let plan = request.plan().unwrap();
        rehearse(&request, &experiment, &plan, folder.path()).unwrap();
    }
}

/// One trial of the built-in table, in this process.
fn run_trial(levels: &[(&str, &str)], seed: u64) -> trial::Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (file, text) = BUILT_IN[0];
    let experiment = Experiment::parse(file, text, Scale::Quick, &Overrides::default()).unwrap();
    let plan = plan(&[experiment], seed, &Engines::default()).unwrap();
    let mut all_levels = plan.cells[0].levels.clone();
    // The plan has resolved the encoding for its own kind of key.
    all_levels.insert("encoding".to_owned(), "default".to_owned());
    for (factor, level) in levels {
        all_levels.insert((*factor).to_owned(), (*level).to_owned());
    }
    let spec = TrialSpec {
        file: file.to_owned(),
        text: text.to_owned(),
        scale: Scale::Quick,
        overrides: Overrides::default(),
        levels: all_levels,
        repetition: 0,
        seed,
        folder: folder.path().to_owned(),
        is_rehearsal: false,
    };
    trial::run(&spec, &Engines::default(), &mut |_| {}).unwrap()
}

fn last(outcome: &trial::Outcome, name: &str, part: &str) -> Option<f64> {
    let sample = outcome
        .samples
        .iter()
        .rev()
        .find(|s| s.probe == name && s.part == part);
    sample
        .unwrap_or_else(|| panic!("no sample of {name} {part}"))
        .value
}

#[test]
fn every_sample_has_a_probe_and_the_phases_make_the_whole() {
    let outcome = run_trial(&[("rows", "3000"), ("key", "uuid7"), ("presort", "key")], 1);
    for sample in &outcome.samples {
        assert!(
            probe(&sample.probe).is_some(),
            "{} is no probe",
            sample.probe
        );
    }
    assert_eq!(last(&outcome, "rows_stored", ""), Some(3000.0));
    // 16 bytes of key and 100 of payload.
    assert_eq!(last(&outcome, "user_bytes", ""), Some(3000.0 * 116.0));
    let parts = ["generate", "sort", "insert", "commit", "checkpoint"];
    let sum: f64 = parts
        .iter()
        .map(|part| last(&outcome, "cpu_s", part).unwrap())
        .sum();
    assert!((sum - last(&outcome, "cpu_s", "").unwrap()).abs() < 1e-9);
    let trees = [
        "table:event",
        "index:sqlite_autoindex_event_1",
        "table:sqlite_schema",
        "free",
    ];
    let sizes: f64 = trees
        .iter()
        .map(|part| last(&outcome, "size_bytes", part).unwrap())
        .sum();
    assert_eq!(Some(sizes), last(&outcome, "size_bytes", ""));
    assert!(
        outcome
            .settings
            .iter()
            .any(|(name, value)| name == "journal_mode" && value == "wal")
    );
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let bytes = |seed| {
        let outcome = run_trial(&[("rows", "20000"), ("key", "uuid4")], seed);
        ["main", "wal", "journal", "temp", ""]
            .map(|part| last(&outcome, "engine_written_bytes", part).unwrap())
    };
    assert_eq!(bytes(7), bytes(7));
    assert_ne!(bytes(7), bytes(8));
}

#[test]
fn sorting_random_keys_first_writes_fewer_bytes() {
    let levels = |presort| {
        [
            ("key", "token160"),
            ("layout", "without-rowid"),
            ("rows", "40000"),
            ("rows_per_transaction", "10000"),
            ("cache_kib", "200"),
            ("presort", presort),
        ]
    };
    let bytes =
        |presort| last(&run_trial(&levels(presort), 1), "engine_written_bytes", "").unwrap();
    let (unsorted, sorted) = (bytes("none"), bytes("key"));
    assert!(sorted * 1.5 < unsorted, "{sorted} of {unsorted}");
    // A sort larger than the transaction saves as much.
    let mut apart = levels("key").to_vec();
    apart.extend([("rows_per_transaction", "1000"), ("rows_per_sort", "10000")]);
    let apart = last(&run_trial(&apart, 1), "engine_written_bytes", "").unwrap();
    assert!(apart * 1.5 < unsorted, "{apart} of {unsorted}");
}

#[test]
fn several_writers_store_every_row_once() {
    let levels = [
        ("rows", "5000"),
        ("rows_per_transaction", "100"),
        ("writers", "4"),
    ];
    for key in ["serial", "ulid", "composite"] {
        let outcome = run_trial(&[&levels[..], &[("key", key)]].concat(), 1);
        assert_eq!(last(&outcome, "rows_stored", ""), Some(5000.0), "{key}");
    }
}

#[test]
fn every_key_kind_fills_both_layouts() {
    for key in [
        "serial",
        "int-seq",
        "int-random",
        "uuid4",
        "uuid7",
        "ulid",
        "tsid",
        "token160",
        "composite",
    ] {
        for layout in ["rowid", "without-rowid", "no-key"] {
            if key == "serial" && layout != "rowid" {
                continue;
            }
            let outcome = run_trial(&[("rows", "700"), ("key", key), ("layout", layout)], 3);
            assert_eq!(
                last(&outcome, "rows_stored", ""),
                Some(700.0),
                "{key} {layout}"
            );
        }
    }
}

#[test]
fn rows_that_arrive_at_a_fixed_rate_are_sent_when_they_are_due() {
    let levels = [
        ("rows", "50"),
        ("rows_before", "300"),
        ("rows_per_transaction", "5"),
        ("arriving_rows_per_s", "1000"),
        ("writers", "2"),
        ("key", "uuid7"),
    ];
    let outcome = run_trial(&levels, 1);
    assert_eq!(last(&outcome, "rows_stored", ""), Some(350.0));
    assert_eq!(last(&outcome, "rows_before", ""), Some(300.0));
    // 16 bytes of key and 100 of payload, of the measured rows alone.
    assert_eq!(last(&outcome, "user_bytes", ""), Some(50.0 * 116.0));
    // The last transaction is due after 45 ms.
    assert!(last(&outcome, "wall_s", "").unwrap() >= 0.045);
    let at = |part| last(&outcome, "transaction_latency_us", part).unwrap();
    let rising = ["p50", "p99", "p99.9", "max"].map(at);
    assert!(rising[0] > 0.0 && rising.is_sorted(), "{rising:?}");
    assert!(last(&outcome, "rate_kept_share", "").unwrap() <= 1.0);
}

#[test]
fn operations_leave_the_rows_that_they_should() {
    for engine in ["sqlite", "postgres", "mariadb"] {
        if !inorder_testing::is_installed(inorder_engine::engine(engine).unwrap()) {
            continue;
        }
        for (workload, skew, key) in [
            ("update", "zipfian", "uuid7"),
            ("upsert", "latest", "uuid4"),
            ("churn", "uniform", "composite"),
            ("mixed", "zipfian", "ulid"),
            ("delete", "uniform", "int-seq"),
        ] {
            if engine != "sqlite" && ["update", "delete"].contains(&workload) {
                // `mixed` and `churn` run the same statements.
                continue;
            }
            let levels = [
                ("engine", engine),
                ("rows", "600"),
                ("rows_per_transaction", "50"),
                ("key", key),
                ("workload", workload),
                ("operations", "420"),
                ("skew", skew),
            ];
            // Rows and keys are checked against the table at the end of each trial.
            let outcome = run_trial(&levels, 5);
            let what = format!("{engine} {workload}");
            assert_eq!(last(&outcome, "rows_stored", ""), Some(600.0), "{what}");
            assert_eq!(last(&outcome, "work_operations", ""), Some(420.0), "{what}");
            let written = last(&outcome, "work_written_bytes", "").unwrap();
            assert!(written > 420.0 * 50.0, "{what}: {written}");
            assert!(last(&outcome, "work_wall_s", "").unwrap() > 0.0, "{what}");
            let sizes = outcome.samples.iter();
            let sizes = sizes.filter(|sample| sample.probe == "work_size_bytes");
            assert_eq!(sizes.count(), 11, "{what}");
            let size = |part| last(&outcome, "work_size_bytes", part).unwrap();
            // Nothing is added but pages that are split.
            if workload == "update" {
                assert!(size("100%") < 1.1 * size("0%"), "{what}");
            }
        }
    }
}

/// The engines that are installed, of those on which tables move to another key.
fn engines_of_migrations() -> Vec<&'static str> {
    let is_there = |name: &&str| {
        let engine = inorder_engine::engine(name).unwrap();
        inorder_testing::is_installed(engine)
    };
    ["sqlite", "postgres", "mariadb"]
        .into_iter()
        .filter(is_there)
        .collect()
}

/// Checks the samples of a migration with these phases; a trial itself checks rows and keys.
fn check_migration(outcome: &trial::Outcome, engine: &str, rows: f64, what: &str) {
    let phases: &[&str] = match engine {
        "sqlite" => &["expand", "backfill", "switch"],
        "postgres" => &[
            "expand",
            "backfill",
            "index",
            "constraints",
            "switch",
            "drop",
        ],
        _ => &["expand", "backfill", "index", "switch", "drop"],
    };
    let of_phases = outcome.samples.iter();
    let of_phases = of_phases.filter(|s| s.probe == "migration_wall_s");
    let names: Vec<&str> = of_phases.map(|sample| sample.part.as_str()).collect();
    assert_eq!(names, phases, "{what}");
    // A tenth is inserted before.
    assert_eq!(
        last(outcome, "migration_rows", ""),
        Some((rows * 1.1).round()),
        "{what}"
    );
    let written = last(outcome, "migration_written_bytes", "backfill").unwrap();
    assert!(written > rows * 16.0, "{what}: {written}");
    for part in ["switch.writer", "switch.reader"] {
        assert!(
            last(outcome, "migration_wait_ms", part).unwrap() >= 0.0,
            "{what}"
        );
    }
    let size = |part| last(outcome, "migration_size_bytes", part).unwrap();
    assert!(
        size("peak") >= size("before") && size("peak") >= size("after"),
        "{what}"
    );
    for part in ["before", "after"] {
        assert!(
            last(outcome, "migration_insert_bytes", part).unwrap() > 0.0,
            "{what}"
        );
    }
}

#[test]
fn a_table_moves_to_another_key_while_it_is_in_use() {
    for engine in engines_of_migrations() {
        let native = if engine == "sqlite" { "blob" } else { "native" };
        let same = format!("uuid4/{native}");
        for (key, encoding, to, layout) in [
            ("uuid4", native, "uuid7", "without-rowid"),
            ("uuid4", "text", same.as_str(), "rowid"),
            ("uuid4", native, "int-seq", "rowid"),
            ("int-seq", "integer", "uuid7/text", "rowid"),
        ] {
            let levels = [
                ("engine", engine),
                ("rows", "400"),
                ("rows_per_transaction", "50"),
                ("indexes", "1"),
                ("key", key),
                ("encoding", encoding),
                ("layout", layout),
                ("migrate_to", to),
            ];
            let what = format!("{engine} {key} {encoding} to {to}");
            check_migration(&run_trial(&levels, 5), engine, 400.0, &what);
        }
    }
}

/// Orders and their items: the key of one is part of the key of the other, and of a foreign key.
const ORDERS: &str = r#"
title = "Orders"
question = "?"
expect = "?"

[factors]
engine = ["sqlite", "postgres", "mariadb"]

[fixed]
key = "uuid4"
encoding = "text"
migrate_to = "uuid7"
rows = 300
rows_per_transaction = 10

[reads]
points = 20

[[table]]
name = "orders"
measured = true
create = """
CREATE TABLE orders (id {key} NOT NULL, total bigint NOT NULL, PRIMARY KEY (id));
CREATE INDEX orders_total ON orders (total)"""
[table.columns]
id = "key"
total = { fill = "random-int", low = 1, high = 1000 }

[[table]]
name = "items"
measured = true
create = """
CREATE TABLE items (order_id {key} NOT NULL, line bigint NOT NULL, PRIMARY KEY (order_id, line),
  FOREIGN KEY (order_id) REFERENCES orders (id))"""
[table.columns]
order_id = { fill = "each", from = "orders.id", repeat = 3 }
line = { fill = "cycle", low = 1, high = 3 }

[[table]]
name = "notes"
measured = true
create = """
CREATE TABLE notes (order_id {key} NOT NULL, line bigint NOT NULL,
  FOREIGN KEY (order_id) REFERENCES orders (id))"""
[table.columns]
order_id = { fill = "each", from = "orders.id", repeat = 1 }
line = "sequence"
"#;

/// Runs the orders on each engine that is installed, with these levels.
fn each_engines_orders(levels: &[(&str, &str)], check: impl Fn(&trial::Outcome, &str)) {
    let overrides = Overrides::default();
    let experiment = Experiment::parse("orders.toml", ORDERS, Scale::Quick, &overrides).unwrap();
    let planned = plan(&[experiment], 1, &Engines::default()).unwrap();
    for cell in planned.cells.iter().filter(|cell| !cell.is_twin) {
        let folder = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
        let mut all = cell.levels.clone();
        for (factor, level) in levels {
            all.insert((*factor).to_owned(), (*level).to_owned());
        }
        let spec = TrialSpec {
            file: "orders.toml".to_owned(),
            text: ORDERS.to_owned(),
            scale: Scale::Quick,
            overrides: Overrides::default(),
            levels: all,
            repetition: 0,
            seed: 1,
            folder: folder.path().to_owned(),
            is_rehearsal: false,
        };
        let outcome = trial::run(&spec, &Engines::default(), &mut |_| {}).unwrap();
        check(&outcome, &cell.levels["engine"]);
    }
}

#[test]
fn tables_that_refer_to_a_key_move_with_it() {
    each_engines_orders(&[], |outcome, engine| {
        check_migration(outcome, engine, 300.0, engine);
    });
}

/// The trial itself counts the rows of all tables at its end.
#[test]
fn operations_run_on_tables_that_refer_to_each_other() {
    for workload in ["churn", "upsert"] {
        let levels = [
            ("migrate_to", "none"),
            ("workload", workload),
            ("operations", "120"),
            ("skew", "latest"),
        ];
        each_engines_orders(&levels, |outcome, engine| {
            let what = format!("{engine} {workload}");
            assert_eq!(last(outcome, "work_operations", ""), Some(120.0), "{what}");
            let cause = match engine {
                "postgres" => "dead_rows 100%",
                "mariadb" => "history_list 100%",
                _ => return,
            };
            assert!(last(outcome, "work_causes", cause).is_some(), "{what}");
        });
    }
}

#[test]
fn migrations_that_are_impossible_say_why() {
    for (name, level, reason) in [
        ("layout", "no-key", "needs a primary key"),
        (
            "key",
            "serial",
            "needs keys of one column that the application makes",
        ),
        ("migrate_to", "uuid4/blob", "is to the same key"),
        (
            "migrate_to",
            "uuid7/native",
            "is to a type that the engine doesn't have",
        ),
        ("workload", "read", "has no workload after the load"),
    ] {
        let mut set = BTreeMap::from([
            ("key", "uuid4"),
            ("layout", "rowid"),
            ("migrate_to", "uuid7"),
        ]);
        set.insert(name, level);
        let set = set.into_iter();
        let overrides = Overrides {
            set: set
                .map(|(name, level)| (name.to_owned(), vec![level.to_owned()]))
                .collect(),
            ..Overrides::default()
        };
        let experiments = built_in(&["keys".to_owned()], Scale::Quick, &overrides).unwrap();
        let error = plan(&experiments, 1, &Engines::default()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn operations_that_are_impossible_say_why() {
    for (name, level, reason) in [
        ("layout", "no-key", "needs a key to find rows by"),
        ("key", "serial", "needs keys that the application makes"),
        ("payload_bytes", "0", "needs a payload to change"),
    ] {
        let set = [("layout", "rowid"), ("workload", "update"), (name, level)];
        let set = set.map(|(name, level)| (name.to_owned(), vec![level.to_owned()]));
        let overrides = Overrides {
            set: set.into(),
            ..Overrides::default()
        };
        let experiments = built_in(&["keys".to_owned()], Scale::Quick, &overrides).unwrap();
        let error = plan(&experiments, 1, &Engines::default()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}
