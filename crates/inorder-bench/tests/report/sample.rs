//! A made-up run with everything a report can show: growth curves, a numeric factor, page maps,
//! look-ups, a failed trial, a noisy experiment, one that has not run, and a cell that could not
//! observe what the others could.

use inorder_bench::{
    analysis,
    claims::{Claim, Judgement, POSTS, Verdict},
    metrics::metric_named,
    results::{Cell, EngineRecord, Experiment, Meta, Noise, Run, Sample, Status, Trial},
};
use std::collections::BTreeMap;

/// The whole run.
pub fn run() -> Run {
    let mut run = Run {
        meta: meta(),
        ..Run::default()
    };
    key_order(&mut run);
    cache(&mut run);
    document_index(&mut run);
    not_run(&mut run);
    run
}

fn meta() -> Meta {
    let pairs = |list: &[(&str, &str)]| {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        list.iter().map(owned).collect()
    };
    Meta {
        urls: Vec::new(),
        inorder_version: "0.1.0".into(),
        revision: "1c797b1".into(),
        seed: 42,
        scale: "quick".into(),
        overrides: Default::default(),
        command: vec!["bench".into(), "--quick".into()],
        started_unix_s: 1_790_000_000,
        finished_unix_s: Some(1_790_000_754),
        budget_s: None,
        host: pairs(&[
            ("cpu", "A <made-up> CPU & friends"),
            ("cores", "2"),
            ("memory", "24 GiB"),
            ("kernel", "6.1.0"),
            ("filesystem", "ext4"),
            ("fsync p50", "412 us"),
        ]),
        engines: vec![EngineRecord {
            name: "sqlite".into(),
            version: "3.50.2".into(),
            compile_options: vec!["THREADSAFE=1".into(), "ENABLE_DBSTAT_VTAB".into()],
        }],
    }
}

/// Claims with a verdict each.
pub const CLAIMS: &[Claim] = &[
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "W2",
        post: POSTS[0],
        statement: "First schema: ULID against UUIDv4, size",
        figure: "sqlite_autoindex_documents_1, about 5% less",
        experiment: "key-order",
        judge: |on| judged(on.run, Verdict::Holds, "size_bytes", ""),
    },
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "W1",
        post: POSTS[0],
        statement: "First schema: ULID against UUIDv4, time",
        figure: "5.7 s against 9.8 s",
        experiment: "key-order",
        judge: |on| {
            let reason = "only WITHOUT ROWID tables gain; rowid tables do not";
            judged(on.run, Verdict::Depends, "cpu_us_per_row", reason)
        },
    },
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "D1",
        post: POSTS[1],
        statement: "An index on `id` beside the unique constraint changes nothing",
        figure: "25.99 us against 26.70 us, p = 0.10",
        experiment: "document-index",
        judge: |_| {
            plain(
                Verdict::DoesNot,
                "the index takes 11% more space",
                "a second B-tree",
            )
        },
    },
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "P7",
        post: POSTS[3],
        statement: "Is it only the small page cache?",
        figure: "(not in the post)",
        experiment: "cache",
        judge: |_| {
            plain(
                Verdict::Inconclusive,
                "0.5 to 1.0 times the CPU",
                "the machine was busy",
            )
        },
    },
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "I4",
        post: POSTS[2],
        statement: "InnoDB behaves like SQLite clustered",
        figure: "curve",
        experiment: "innodb",
        judge: |_| plain(Verdict::NeedsEngine, "", "MariaDB"),
    },
    Claim {
        is_asked_everywhere: false,
        is_on_time: false,
        id: "W11",
        post: POSTS[0],
        statement: "Rows per second with concurrent writers of about 100 rows per transaction",
        figure: "about 20,000",
        experiment: "not-run",
        judge: |_| plain(Verdict::NotRun, "", ""),
    },
];

fn plain(verdict: Verdict, seen: &str, reason: &str) -> Judgement {
    Judgement {
        verdict,
        seen: seen.into(),
        ratio: None,
        reason: reason.into(),
        parts: Vec::new(),
        published: None,
    }
}

fn judged(run: &Run, verdict: Verdict, metric: &str, reason: &str) -> Judgement {
    let cell = |key| {
        let levels = [("key", key), ("layout", "without-rowid")];
        run.find_cell("key-order", &levels).map(|cell| cell.id)
    };
    let ratio = cell("ulid").zip(cell("uuid4")).and_then(|(a, b)| {
        let metric = metric_named(metric)?;
        analysis::ratio(run, a, b, metric)
    });
    Judgement {
        ratio,
        ..plain(verdict, "ULID against UUIDv4, WITHOUT ROWID", reason)
    }
}

/// Pseudo-random numbers in 0..1 that are the same every time.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }

    /// Around 1, within plus or minus `spread`.
    pub fn about(&mut self, spread: f64) -> f64 {
        1.0 + (self.roll() * 2.0 - 1.0) * spread
    }
}

/// Adds a cell for each combination of levels, and the first one's twin. Returns their ids.
fn cells(run: &mut Run, experiment: &Experiment, fixed: &[(&str, &str)]) -> Vec<u64> {
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    for levels in &experiment.levels {
        combinations = combinations
            .iter()
            .flat_map(|head| {
                levels.iter().map(|level| {
                    let mut combination = head.clone();
                    combination.push(level.clone());
                    combination
                })
            })
            .collect();
    }
    combinations.push(combinations[0].clone());
    let last = combinations.len() - 1;
    let mut ids = Vec::new();
    for (at, combination) in combinations.into_iter().enumerate() {
        let id = run.cells.len() as u64 + 1;
        let mut levels: BTreeMap<String, String> = fixed
            .iter()
            .map(|(factor, level)| ((*factor).into(), (*level).into()))
            .collect();
        levels.extend(experiment.varied.iter().cloned().zip(combination.clone()));
        run.cells.push(Cell {
            id,
            experiment: experiment.name.clone(),
            label: combination.join(", "),
            levels,
            is_twin: at == last,
        });
        ids.push(id);
    }
    ids
}

fn experiment(run: &Run, name: &str, varied: &[(&str, &[&str])]) -> Experiment {
    let owned = |levels: &[&str]| levels.iter().map(|level| (*level).to_owned()).collect();
    Experiment {
        name: name.into(),
        varied: varied.iter().map(|(factor, _)| (*factor).into()).collect(),
        levels: varied.iter().map(|(_, levels)| owned(levels)).collect(),
        baseline: run.cells.len() as u64 + 1,
        toml: format!("# {name}.toml\nname = \"{name}\"\n"),
        ..Experiment::default()
    }
}

/// Collects the samples of one trial.
#[derive(Default)]
pub struct Samples(pub Vec<Sample>);

impl Samples {
    pub fn push(&mut self, probe: &str, part: &str, rows: u64, value: f64) {
        self.0.push(Sample {
            probe: probe.into(),
            part: part.into(),
            rows,
            value: Some(value),
        });
    }

    pub fn latencies(&mut self, probe: &str, rows: u64, warm: f64, cold: f64) {
        for (part, value) in [
            ("warm.p50", warm),
            ("warm.p99", warm * 2.6),
            ("warm.mean", warm * 1.1),
            ("cold.p50", cold),
            ("cold.p99", cold * 3.1),
            ("cold.mean", cold * 1.2),
        ] {
            self.push(probe, part, rows, value);
        }
    }
}

fn trial(run: &mut Run, cell: u64, repetition: u32, samples: Samples) {
    run.trials.push(Trial {
        id: run.trials.len() as u64 + 1,
        cell,
        repetition,
        seed: 1_000 + u64::from(repetition),
        status: Status::Done,
        noise: Noise {
            cpu_pressure: Some(0.01),
            steal: Some(0.0),
            load_per_core: Some(0.1),
            wait_share: None,
            ..Noise::default()
        },
        settings: vec![
            ("journal_mode".into(), "wal".into()),
            ("page_size".into(), "4096".into()),
        ],
        samples: samples.0,
        ..Trial::default()
    });
}

/// The model of a table: the cost of a row in a large table, and its growth.
pub struct Behaviour {
    pub cpu_us: f64,
    pub bytes: f64,
    pub growth: f64,
    pub fill: f64,
}

/// Growth probes of a table that grows to `rows_max` in `steps`.
pub fn grow(samples: &mut Samples, dice: &mut Dice, b: &Behaviour, rows_max: u64, steps: u64) {
    let (mut cpu, mut bytes) = (0.0, 0.0);
    let jitter = dice.about(0.05);
    for step in 1..=steps {
        let rows = rows_max * step / steps;
        let share = (step as f64).ln_1p() / (steps as f64).ln_1p();
        let factor = 1.0 - b.growth + b.growth * share;
        let added = (rows_max / steps) as f64;
        cpu += added * b.cpu_us * factor * jitter * dice.about(0.04) / 1e6;
        bytes += added * b.bytes * factor;
        for (part, weight) in [
            ("", 1.0),
            ("generate", 0.08),
            ("insert", 0.62),
            ("commit", 0.21),
            ("checkpoint", 0.09),
        ] {
            samples.push("cpu_s", part, rows, cpu * weight);
            samples.push("wall_s", part, rows, cpu * weight * 1.4);
        }
        for (part, weight) in [("", 1.0), ("main", 0.45), ("wal", 0.55)] {
            samples.push("engine_written_bytes", part, rows, bytes * weight);
        }
        samples.push("user_bytes", "", rows, rows as f64 * 116.0);
    }
    samples.push("rows_stored", "", rows_max, rows_max as f64);
}

pub fn sizes(samples: &mut Samples, rows: u64, table: f64, index: f64, fill: f64) {
    let used = (table + index) * 0.96;
    for (probe, scale, free) in [
        ("size_bytes", 1.0 / fill, 0.03),
        ("size_vacuumed_bytes", 1.0, 0.0),
    ] {
        let free = used * free;
        let parts = [
            ("table:event", table * scale),
            ("index:event_by_user", index * scale),
            ("free", free),
        ];
        let whole: f64 = parts.iter().map(|part| part.1).sum();
        samples.push(probe, "", rows, whole);
        for (part, value) in parts.into_iter().filter(|part| part.1 > 0.0) {
            samples.push(probe, part, rows, value);
        }
    }
}

fn key_order(run: &mut Run) {
    let mut experiment = experiment(
        run,
        "key-order",
        &[
            ("key", &["uuid4", "uuid7", "ulid"]),
            ("layout", &["rowid", "without-rowid"]),
        ],
    );
    experiment.title = "What does a random key cost?".into();
    experiment.question =
        "How much more does a table cost when its keys arrive in no order, by table layout?".into();
    experiment.expect = "Random keys write several times the bytes once the table outgrows the \
                         page cache, most of all without a rowid."
        .into();
    experiment.claims = vec!["W1".into(), "W2".into()];
    experiment.answer = "UUIDv7 saves {saved engine_bytes_per_row key=uuid7,layout=without-rowid / \
                         key=uuid4,layout=without-rowid} of the bytes UUIDv4 writes WITHOUT ROWID and takes {ratio \
                         cpu_us_per_row key=uuid7,layout=without-rowid / key=uuid4,layout=without-rowid} times the \
                         CPU ({value cpu_us_per_row key=uuid7,layout=without-rowid} a row)."
        .into();
    let ids = cells(
        run,
        &experiment,
        &[("encoding", "blob"), ("journal", "wal")],
    );
    for repetition in 0..3 {
        let mut dice = Dice(7 + u64::from(repetition));
        for (at, id) in ids.iter().enumerate() {
            let cell = run.cell(*id).cloned().unwrap_or_default();
            let behaviour = key_order_behaviour(&cell);
            let mut samples = Samples::default();
            grow(&mut samples, &mut dice, &behaviour, 1_000_000, 12);
            let index = if cell.levels["layout"] == "rowid" {
                26e6
            } else {
                0.0
            };
            sizes(&mut samples, 1_000_000, 118e6, index, behaviour.fill);
            let cold = if behaviour.fill < 0.9 { 96.0 } else { 71.0 };
            samples.latencies("point_lookup_us", 1_000_000, 3.1 * dice.about(0.05), cold);
            samples.latencies("range_lookup_us", 1_000_000, 41.0 * dice.about(0.05), 480.0);
            page_map(&mut samples, &mut dice, &behaviour, 300 + at * 40);
            trial(run, *id, repetition, samples);
        }
    }
    run.experiments.push(experiment);
}

fn key_order_behaviour(cell: &Cell) -> Behaviour {
    let is_rowid = cell.levels["layout"] == "rowid";
    match (cell.levels["key"].as_str(), is_rowid) {
        ("uuid4", true) => Behaviour {
            cpu_us: 6.2,
            bytes: 1_430.0,
            growth: 0.7,
            fill: 0.72,
        },
        ("uuid4", false) => Behaviour {
            cpu_us: 9.8,
            bytes: 5_900.0,
            growth: 0.8,
            fill: 0.69,
        },
        ("ulid", true) => Behaviour {
            cpu_us: 3.6,
            bytes: 330.0,
            growth: 0.02,
            fill: 0.97,
        },
        ("ulid", false) => Behaviour {
            cpu_us: 2.9,
            bytes: 246.0,
            growth: 0.02,
            fill: 0.98,
        },
        (_, true) => Behaviour {
            cpu_us: 3.5,
            bytes: 329.0,
            growth: 0.02,
            fill: 0.97,
        },
        (_, false) => Behaviour {
            cpu_us: 2.8,
            bytes: 244.0,
            growth: 0.02,
            fill: 0.98,
        },
    }
}

pub fn page_map(samples: &mut Samples, dice: &mut Dice, behaviour: &Behaviour, leaves: usize) {
    for leaf in 0..leaves {
        let fill = if behaviour.fill > 0.9 {
            behaviour.fill * dice.about(0.01)
        } else {
            0.5 + dice.roll() * 0.48
        };
        let part = format!("table:event/{leaf:06}");
        samples.push("page_fill_share", &part, 1_000_000, fill);
    }
}

fn cache(run: &mut Run) {
    let mut experiment = experiment(
        run,
        "cache",
        &[
            ("key", &["uuid4", "uuid7"]),
            ("cache_kib", &["2048", "8192", "65536", "262144", "1048576"]),
        ],
    );
    experiment.title = "Is it only the small page cache?".into();
    experiment.question = "Does the cost of random keys vanish with a larger page cache?".into();
    experiment.claims = vec!["P7".into()];
    let ids = cells(run, &experiment, &[("layout", "without-rowid")]);
    for repetition in 0..3 {
        let mut dice = Dice(99 + u64::from(repetition));
        for id in &ids {
            let cell = run.cell(*id).cloned().unwrap_or_default();
            let kib: f64 = cell.levels["cache_kib"].parse().unwrap_or(1.0);
            let miss = 1.0 / (1.0 + kib / 50_000.0);
            let is_random = cell.levels["key"] == "uuid4";
            let behaviour = Behaviour {
                cpu_us: if is_random { 2.6 + 6.0 * miss } else { 2.5 },
                bytes: if is_random {
                    240.0 + 6_000.0 * miss
                } else {
                    240.0
                },
                growth: if is_random { 0.6 } else { 0.01 },
                fill: 0.7,
            };
            let mut samples = Samples::default();
            grow(&mut samples, &mut dice, &behaviour, 400_000, 8);
            trial(run, *id, repetition, samples);
            if let Some(trial) = run.trials.last_mut() {
                trial.noise.cpu_pressure = Some(0.2 + 0.1 * dice.roll());
            }
        }
    }
    run.experiments.push(experiment);
}

fn document_index(run: &mut Run) {
    let mut experiment = experiment(run, "document-index", &[("index", &["none", "own"])]);
    experiment.title = "Does an index on id help beside the unique constraint?".into();
    experiment.question = "Does a fetch by id get faster with its own index?".into();
    experiment.claims = vec!["D1".into()];
    let ids = cells(run, &experiment, &[("key", "uuid4")]);
    for repetition in 0..2 {
        let mut dice = Dice(5 + u64::from(repetition));
        for (at, id) in ids.iter().enumerate() {
            let mut samples = Samples::default();
            let index = if at == 1 { 90e3 } else { 41e3 };
            sizes(&mut samples, 1_000, 420e3, index, 0.9);
            samples.latencies("query_us", 1_000, 6.4 * dice.about(0.02), 31.0);
            samples.push("rows_stored", "", 1_000, 1_000.0);
            trial(run, *id, repetition, samples);
            let name = if at == 1 {
                "documents_by_id"
            } else {
                "sqlite_autoindex_documents_1"
            };
            if let Some(trial) = run.trials.last_mut() {
                let plan = format!("SEARCH documents USING INDEX {name} (id=?)");
                trial.texts.push(("query plan".into(), plan));
                if at == 1 && repetition == 1 {
                    trial.status = Status::Failed;
                    trial.error = Some("1,000 rows expected, 998 stored".into());
                    trial.samples.clear();
                }
                if at == 1 {
                    trial.samples.retain(|s| !s.part.starts_with("cold"));
                }
            }
        }
    }
    run.experiments.push(experiment);
}

fn not_run(run: &mut Run) {
    let mut experiment = experiment(run, "not-run", &[("writers", &["1", "8"])]);
    experiment.title = "How many rows per second with concurrent writers?".into();
    experiment.question = "What do concurrent writers cost?".into();
    let ids = cells(run, &experiment, &[]);
    for (at, id) in ids.iter().enumerate() {
        trial(run, *id, 0, Samples::default());
        if let Some(trial) = run.trials.last_mut() {
            trial.status = Status::Planned;
            trial.settings.clear();
            trial.id += at as u64 * 100;
        }
    }
    run.experiments.push(experiment);
}
