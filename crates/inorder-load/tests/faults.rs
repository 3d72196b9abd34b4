//! Loads into servers whose connections end at any time. A load that succeeds has stored every row as given. One that fails has
//! stored all rows or none, and leaves keys and indexes. The servers are private; a missing one prints SKIPPED.

mod common;

use std::collections::BTreeSet;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use common::Folder;
use inorder_load::{Create, Existing, Job, KeySpec, OnDuplicate, Summary};
use inorder_testing::PrivateServer;

/// Rows of a load: more than a server takes at a time.
const ROWS: u64 = 11_000;

/// Rows that a table has before.
const OLD: u64 = 100;

/// Loads of each way that are cut off.
const CUTS: u32 = 6;

/// A way to load, and the rows of the table before it.
struct Way {
    name: &'static str,
    existing: Existing,
    on_duplicate: OnDuplicate,
    /// The ids that are there, from this one on.
    old_from: Option<u64>,
    /// The rows after it.
    rows: u64,
}

const WAYS: &[Way] = &[
    Way {
        name: "into an empty table",
        existing: Existing::FillEmpty,
        on_duplicate: OnDuplicate::Error,
        old_from: None,
        rows: ROWS,
    },
    Way {
        name: "after other rows",
        existing: Existing::Append,
        on_duplicate: OnDuplicate::Error,
        old_from: Some(ROWS + 1),
        rows: ROWS + OLD,
    },
    Way {
        name: "into a table that is emptied",
        existing: Existing::Truncate,
        on_duplicate: OnDuplicate::Error,
        old_from: Some(1),
        rows: ROWS,
    },
    Way {
        name: "into a table that is created again",
        existing: Existing::Replace,
        on_duplicate: OnDuplicate::Error,
        old_from: Some(1),
        rows: ROWS,
    },
    Way {
        name: "updating rows",
        existing: Existing::Append,
        on_duplicate: OnDuplicate::Update,
        old_from: Some(ROWS - OLD / 2 + 1),
        rows: ROWS + OLD / 2,
    },
];

struct Case {
    server: PrivateServer,
    folder: Folder,
}

impl Case {
    fn start(name: &str) -> Option<Self> {
        let server = PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"))?;
        let folder = Folder::new("");
        let row = |i: u64| format!("{i},{},\"note, {i}\"\n", 3 * i);
        // In no order.
        let rows: String = (0..ROWS).map(|i| row(i * 7919 % ROWS + 1)).collect();
        folder.file("rows.csv", format!("id,n,note\n{rows}"));
        Some(Case { server, folder })
    }

    fn job(&self, way: &Way) -> Job {
        Job {
            to: self.server.url(),
            existing: way.existing,
            on_duplicate: way.on_duplicate,
            create: Some(Create {
                key: vec![KeySpec::parse("id").expect("a key")],
                indexes: vec![vec!["n".to_owned()]],
                ..Create::default()
            }),
            ..self.folder.job(&self.folder.path("rows.csv"))
        }
    }

    /// Makes the table as it is before a load.
    fn reset(&self, way: &Way) {
        self.server.run("DROP TABLE IF EXISTS t");
        // A load whose connection ends when it has replaced the table keeps the rows of before.
        self.server.run("DROP TABLE IF EXISTS inorder_before_t");
        self.server
            .run("CREATE TABLE t(id bigint PRIMARY KEY, n bigint, note varchar(40))");
        self.server.run("CREATE INDEX t_n ON t(n)");
        if let Some(from) = way.old_from {
            let rows = (from..from + OLD).map(|id| format!("({id}, -1, 'old')"));
            let rows: Vec<String> = rows.collect();
            self.server
                .run(&format!("INSERT INTO t VALUES {}", rows.join(",")));
        }
    }

    /// The number of rows, of those that the load gives, of those that have what it gives, and of keys and indexes.
    fn found(&self) -> Vec<u64> {
        let indexes = match self.server.is_postgres() {
            true => "SELECT count(*) FROM pg_indexes WHERE tablename = 't'",
            false => {
                "SELECT count(DISTINCT index_name) FROM information_schema.statistics \
                 WHERE table_schema = database() AND table_name = 't'"
            }
        };
        let note = "concat('note, ', id)";
        let found = self.server.rows(&format!(
            "SELECT count(*), coalesce(sum(CASE WHEN id <= {ROWS} AND n = 3 * id AND note = {note} THEN 1 ELSE 0 END), 0), \
             ({indexes}) FROM t"
        ));
        let numbers = found[0].split('|');
        numbers
            .map(|number| number.parse().expect("a number"))
            .collect()
    }

    /// The connections of the server.
    fn connections(&self) -> BTreeSet<String> {
        let list = match self.server.is_postgres() {
            true => "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'",
            false => "SELECT id FROM information_schema.processlist WHERE user = 'root'",
        };
        self.server.rows(list).into_iter().collect()
    }

    /// Ends the connections that are not among these. Returns how many were ended.
    fn cut(&self, own: &BTreeSet<String>) -> usize {
        let cut = |id: &&String| {
            let database = &self.server.database;
            match self.server.is_postgres() {
                true => {
                    let end = format!("SELECT pg_terminate_backend({id})");
                    database.select(&end).is_ok()
                }
                false => database.execute(&format!("KILL CONNECTION {id}")).is_ok(),
            }
        };
        let others = self.connections();
        others.difference(own).filter(cut).count()
    }

    fn load(&self, job: &Job) -> JoinHandle<Result<Summary, String>> {
        let job = job.clone();
        std::thread::spawn(move || {
            let loaded = inorder_load::run(&job, &inorder_load::Progress::default());
            loaded.map_err(|error| error.to_string())
        })
    }

    /// Waits until the connections of a load have ended.
    fn wait_for_end(&self, own: &BTreeSet<String>) {
        let began = Instant::now();
        while !self.connections().is_subset(own) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "a connection stays"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Cuts loads off at times from their begin to their end.
    fn check(&self, way: &Way) {
        let job = self.job(way);
        let (old, new) = (
            vec![way.old_from.map_or(0, |_| OLD), 0, 2],
            vec![way.rows, ROWS, 2],
        );
        self.reset(way);
        assert_eq!(self.found(), old);
        let own = self.connections();
        let began = Instant::now();
        let loaded = self.load(&job).join().expect("a thread");
        let summary = loaded.expect(way.name);
        assert_eq!(summary.rows_written, ROWS, "{}", way.name);
        assert_eq!(self.found(), new, "{}", way.name);
        let lasts = began.elapsed();
        let (mut failed, mut stored) = (0, 0);
        for cut in 0..CUTS {
            self.wait_for_end(&own);
            self.reset(way);
            let load = self.load(&job);
            std::thread::sleep(lasts * cut / CUTS);
            // There may be none yet. A load has several, one after the other: the first load loses all of them.
            while !load.is_finished() {
                if self.cut(&own) > 0 && cut > 0 {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            let loaded = load.join().expect("a thread");
            let found = self.found();
            let case = format!("{}, cut {cut}: {loaded:?}", way.name);
            match loaded {
                Ok(_) => assert_eq!(found, new, "{case}"),
                Err(_) => {
                    failed += 1;
                    // The answer to the commit may be lost.
                    assert!(found == old || found == new, "{case}: {found:?}");
                }
            }
            stored += u32::from(found == new);
            if found == old {
                self.wait_for_end(&own);
                let again = self.load(&job).join().expect("a thread");
                again.unwrap_or_else(|error| panic!("{case}; again: {error}"));
                assert_eq!(self.found(), new, "{case}, loaded again");
            }
        }
        eprintln!(
            "{}: {CUTS} loads were cut, {failed} failed, {stored} stored",
            way.name
        );
        assert!(failed > 0, "{}: no load was cut in time", way.name);
    }
}

#[test]
fn postgres_has_all_rows_or_none_whenever_the_connection_ends() {
    if let Some(case) = Case::start("postgres") {
        WAYS.iter().for_each(|way| case.check(way));
    }
}

#[test]
fn mariadb_has_all_rows_or_none_whenever_the_connection_ends() {
    if let Some(case) = Case::start("mariadb") {
        WAYS.iter().for_each(|way| case.check(way));
    }
}
