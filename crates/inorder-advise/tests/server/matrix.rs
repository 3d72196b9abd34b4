//! Rules over engines: invalid indexes, equal indexes of every method, keys without a primary key, constraints that repeat
//! others; figures beside what the server frees; and the table of rules in the documentation.

use crate::server::{Server, advice, changed, parts, reason, set};
use inorder_advise::{
    advice::Verdict,
    report::Look,
    rules::Class,
    server::{
        advice::Advice,
        model::Product,
        report::FORMATS,
        rules::{Group, RULES},
    },
};
use std::{collections::BTreeSet, fs};

const LOOK: Look = Look {
    color: false,
    width: 10_000,
};

/// Carries out the steps of every plan that needs no application.
fn carry_out(server: &Server, found: &Advice) {
    for plan in found.plans.iter().filter(|plan| !plan.needs_application) {
        let steps = plan
            .steps
            .as_ref()
            .unwrap_or_else(|why| panic!("{}: {why}", plan.title));
        server.carry_out(steps, &mut |_| {});
    }
}

/// Takes back what was done.
fn undo(server: &Server, found: &Advice) {
    for plan in found.plans.iter().filter(|plan| !plan.needs_application) {
        server.take_back(plan.steps.as_ref().unwrap());
    }
}

/// The objects of a group with their verdicts.
fn of_group(found: &Advice, group: Group) -> BTreeSet<String> {
    let own = parts(found).filter(|(part, _)| part.candidate.group == group);
    own.map(|(part, verdict)| format!("{} {verdict:?}", part.candidate.object))
        .collect()
}

/// Indexes of PostgreSQL in every invalid state.
const INVALID: &[&str] = &[
        "CREATE TABLE t (a int, b int)",
        "INSERT INTO t SELECT g % 10, g FROM generate_series(1, 3000) g",
        "CREATE INDEX whole ON t (b)",
        "CREATE INDEX stopped ON t (a, b)",
        "CREATE INDEX not_ready ON t (b, a)",
        "CREATE INDEX half_dropped ON t (a)",
        "CREATE INDEX whole_ccnew ON t (b)",
        "CREATE INDEX whole_ccold1 ON t (b)",
        "CREATE INDEX twin ON t (b)",
        // A table without rows has indexes of no size.
        "CREATE TABLE empty (a int); CREATE INDEX stopped_empty ON empty (a)",
        "CREATE TABLE parts (a int, b int) PARTITION BY RANGE (a)",
        "CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (5)",
        "CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5) TO (100000)",
        "INSERT INTO parts SELECT g % 10, g FROM generate_series(1, 3000) g",
        "CREATE INDEX of_all ON ONLY parts (b)",
        "CREATE INDEX of_first ON parts_1 (b)",
        "ALTER INDEX of_all ATTACH PARTITION of_first",
        "CREATE INDEX with_bad_part ON ONLY parts (a, b)",
        "CREATE INDEX bad_part ON parts_1 (a, b)",
        "CREATE INDEX good_part ON parts_2 (a, b)",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN ('stopped'::regclass, 'whole_ccnew'::regclass, 'whole_ccold1'::regclass,
             'twin'::regclass, 'stopped_empty'::regclass, 'bad_part'::regclass)",
        "UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 'not_ready'::regclass",
        "UPDATE pg_index SET indisvalid = false, indisready = false, indislive = false WHERE indexrelid = 'half_dropped'::regclass",
        "ALTER INDEX with_bad_part ATTACH PARTITION bad_part",
        "ALTER INDEX with_bad_part ATTACH PARTITION good_part",
];

#[test]
fn invalid_indexes_are_dropped_or_built_again() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(INVALID);
    let failing = "CREATE UNIQUE INDEX CONCURRENTLY failed ON t (a)";
    assert!(server.database.execute(failing).is_err());
    let found = server.advice();
    let expected = [
        "failed",
        "stopped",
        "not_ready",
        "half_dropped",
        "whole_ccnew",
        "whole_ccold1",
        "twin",
        "stopped_empty",
        "of_all",
        "with_bad_part",
        "bad_part",
    ];
    let expected: BTreeSet<String> = expected
        .iter()
        .map(|name| format!("{name} Change"))
        .collect();
    assert_eq!(of_group(&found, Group::InvalidIndex), expected);
    for (object, words) in [
        ("failed", "invalid: CREATE INDEX CONCURRENTLY failed"),
        ("half_dropped", "DROP INDEX CONCURRENTLY was interrupted"),
        ("whole_ccnew", "left by a REINDEX CONCURRENTLY"),
        ("of_all", "not every partition"),
    ] {
        assert!(reason(&found, object).contains(words), "{object}");
    }
    for format in FORMATS {
        let text = (format.write)(&found, LOOK);
        assert!(
            text.contains("Drops the index") && text.contains("a part of the whole index"),
            "{}",
            format.name
        );
    }
    carry_out(&server, &found);
    let invalid = "SELECT indexrelid::regclass FROM pg_index WHERE NOT (indisvalid AND indisready AND indislive)";
    assert_eq!(server.rows(invalid), Vec::<String>::new());
    let of_all = "SELECT count(*) FROM pg_inherits WHERE inhparent IN ('of_all'::regclass, 'with_bad_part'::regclass)";
    assert_eq!(server.one(of_all), "4");
    assert!(of_group(&server.advice(), Group::InvalidIndex).is_empty());
}

/// Method, terms, options that change what is found, and options that don't.
const METHODS: &[(&str, &str, &str, &str)] = &[
    ("btree", "n", "", "WITH (fillfactor = 70)"),
    ("btree", "n DESC, t", "", ""),
    ("hash", "n", "", "WITH (fillfactor = 70)"),
    ("gin", "ns", "", "WITH (fastupdate = off)"),
    ("gist", "r", "", "WITH (fillfactor = 70)"),
    ("spgist", "t", "", ""),
    (
        "brin",
        "n",
        "WITH (pages_per_range = 8)",
        "WITH (pages_per_range = 128, autosummarize = on)",
    ),
    (
        "brin",
        "n int4_minmax_multi_ops",
        "WITH (pages_per_range = 8)",
        "",
    ),
];

#[test]
fn equal_indexes_of_every_method_are_found_on_postgresql() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let mut wanted = BTreeSet::new();
    for (n, (method, terms, other, same)) in METHODS.iter().enumerate() {
        server.run(&[
            &format!("CREATE TABLE t{n} (n int, t text, ns int[], r int4range)"),
            &format!("INSERT INTO t{n} SELECT g, 'x' || g, ARRAY[g, g + 1], int4range(g, g + 2) FROM generate_series(1, 3000) g"),
            &format!("CREATE INDEX a{n} ON t{n} USING {method} ({terms})"),
            &format!("CREATE INDEX x_twin{n} ON t{n} USING {method} ({terms}) {same}"),
            &format!("CREATE INDEX partial{n} ON t{n} USING {method} ({terms}) WHERE n > 5"),
        ]);
        wanted.insert(format!("x_twin{n}"));
        if !other.is_empty() {
            server.run(&[&format!(
                "CREATE INDEX other{n} ON t{n} USING {method} ({terms}) {other}"
            )]);
        }
    }
    // The columns of GIN and BRIN have no order.
    server.run(&[
        "CREATE TABLE two (a int[], b int[], n int, m int)",
        "INSERT INTO two SELECT ARRAY[g], ARRAY[g], g, g FROM generate_series(1, 3000) g",
        "CREATE INDEX gin_ab ON two USING gin (a, b)",
        "CREATE INDEX x_gin_ba ON two USING gin (b, a)",
        "CREATE INDEX gin_a ON two USING gin (a)",
        "CREATE INDEX brin_nm ON two USING brin (n, m)",
        "CREATE INDEX x_brin_mn ON two USING brin (m, n)",
        "CREATE INDEX btree_nm ON two (n, m)",
        "CREATE INDEX btree_mn ON two (m, n)",
        "ANALYZE",
    ]);
    wanted.extend(set(&["x_gin_ba", "x_brin_mn"]));
    let found = server.advice();
    assert_eq!(changed(&found, Group::RedundantIndex), wanted);
    let indexes = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1";
    let before = server.rows(indexes);
    let size = "SELECT sum(pg_indexes_size(c.oid)) FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'";
    let bytes = || server.one(size).parse::<i64>().unwrap();
    let whole = bytes();
    let told: i64 = parts(&found)
        .filter(|(part, _)| part.candidate.class == Class::Safe)
        .map(|(part, _)| part.measure.as_ref().unwrap().saved_bytes)
        .sum();
    carry_out(&server, &found);
    // Free space maps are not told.
    assert!(
        (whole - bytes() - told).abs() as f64 <= 0.1 * told as f64 + 600_000.0,
        "{told} {}",
        whole - bytes()
    );
    undo(&server, &found);
    assert_eq!(server.rows(indexes), before);
}

/// Bytes of the auxiliary tables of FULLTEXT indexes.
const FULL_TEXT: &str = "SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_sys_tablespaces WHERE name LIKE '%/FTS\\_%'";

#[test]
fn equal_indexes_of_every_method_are_found_on_mariadb() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE words (id int PRIMARY KEY, t text, u text, p point NOT NULL, n int, FULLTEXT a_t (t), FULLTEXT x_t (t), FULLTEXT a_tu (t, u),
             FULLTEXT x_ut (u, t), SPATIAL a_p (p), SPATIAL x_p (p))",
        "INSERT INTO words SELECT seq, concat(md5(seq), ' ', md5(seq + 1), ' ', md5(seq + 2)), md5(seq), point(seq, seq), seq FROM seq_1_to_8000",
        "CREATE TABLE isam (id int PRIMARY KEY, a int, t text, KEY a_a (a), KEY x_a (a), KEY isam_wide (a, id), FULLTEXT a_t2 (t), FULLTEXT x_t2 (t)) ENGINE=MyISAM",
        "CREATE TABLE aria (id int PRIMARY KEY, a int, b varchar(40), UNIQUE a_b (b), UNIQUE x_b (b), KEY a_ab (a, b), KEY x_ab (a, b)) ENGINE=Aria",
        "CREATE TABLE memory (id int PRIMARY KEY, a int, KEY m (a), KEY m2 (a)) ENGINE=MEMORY",
        "INSERT INTO isam SELECT seq, seq, md5(seq) FROM seq_1_to_3000",
        "INSERT INTO aria SELECT seq, seq, md5(seq) FROM seq_1_to_3000",
        // InnoDB writes the last words of FULLTEXT indexes some time after the rows: now, so that sizes stay.
        "SET GLOBAL innodb_optimize_fulltext_only = ON",
        "OPTIMIZE TABLE words",
        "SET GLOBAL innodb_optimize_fulltext_only = OFF",
        "ANALYZE TABLE words, isam, aria",
        "FLUSH TABLES",
    ]);
    let found = server.advice();
    let wanted = set(&["x_t", "x_ut", "x_p", "x_a", "x_t2", "x_b", "x_ab"]);
    assert_eq!(changed(&found, Group::RedundantIndex), wanted);
    assert!(reason(&found, "isam_wide").is_empty());
    let notes = found.database.notes.join("\n");
    assert!(
        notes.contains("isam is stored by MyISAM: its rows were skipped"),
        "{notes}"
    );
    assert!(
        notes.contains("Skipped: ") && notes.contains("memory is stored by MEMORY"),
        "{notes}"
    );
    let text = (FORMATS[0].write)(&found, LOOK);
    assert!(
        text.contains("Skipped: the rows of 3 tables were not read"),
        "{text}"
    );
    // The auxiliary tables are most of a FULLTEXT index.
    let of = |name: &str| {
        let own = parts(&found)
            .find(|(part, _)| part.candidate.object == name)
            .unwrap();
        own.0.measure.as_ref().unwrap().saved_bytes
    };
    let whole: i64 = server.one(FULL_TEXT).parse().unwrap();
    let words = found
        .database
        .tables
        .iter()
        .find(|table| table.name == "words")
        .unwrap();
    assert!(
        words.total_bytes() as i64 > whole,
        "{} {whole}",
        words.total_bytes()
    );
    let told = of("x_t") + of("x_ut");
    carry_out(&server, &found);
    let freed = whole - server.one(FULL_TEXT).parse::<i64>().unwrap();
    assert!(
        freed > 0 && (told - freed).abs() as f64 <= 0.15 * freed as f64,
        "{told} told, {freed} freed"
    );
    undo(&server, &found);
    assert_eq!(changed(&server.advice(), Group::RedundantIndex), wanted);
}

/// Tables of InnoDB without a primary key, and one whose smallest index is not the one that goes.
const KEYLESS: &[&str] = &[
    "CREATE TABLE twins (n int, zz int NOT NULL, a int NOT NULL, pad varchar(90) NOT NULL, UNIQUE zz (zz), UNIQUE zz2 (zz), KEY x_nz (n, zz), KEY n (n))",
    "CREATE TABLE nulls (a int, b int NOT NULL, pad varchar(90), UNIQUE first_null (a), UNIQUE second (b), KEY pad_b (pad(10)))",
    "CREATE TABLE numbered (a int, b int, pad varchar(90), KEY a (a), KEY ab (a, b))",
    "CREATE TABLE narrow (id int PRIMARY KEY, a int, big varchar(80), KEY x_big (big), KEY big_a (big, a), KEY tiny (a), KEY x_tiny (a))",
    "INSERT INTO twins SELECT seq % 100, seq, seq, repeat('x', 90) FROM seq_1_to_60000",
    "INSERT INTO nulls SELECT seq, seq, repeat('x', 90) FROM seq_1_to_20000",
    "INSERT INTO numbered SELECT seq % 50, seq, repeat('x', 90) FROM seq_1_to_20000",
    "INSERT INTO narrow SELECT seq, seq % 9, md5(seq) FROM seq_1_to_20000",
    "ANALYZE TABLE twins, nulls, numbered, narrow",
];

#[test]
fn tables_without_a_primary_key_are_clustered_by_their_first_key() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    // The key that InnoDB stores the rows in is the one whose second index is the smaller.
    server.run(KEYLESS);
    let found = server.advice();
    let table = |name: &str| {
        found
            .database
            .tables
            .iter()
            .find(|own| own.name == name)
            .unwrap()
    };
    let clustered = |name: &str| table(name).clustered().map(|own| own.name.clone());
    assert_eq!(clustered("twins").as_deref(), Some("zz"));
    assert_eq!(clustered("nulls").as_deref(), Some("second"));
    assert_eq!(clustered("numbered"), None);
    assert_eq!(
        changed(&found, Group::RedundantIndex),
        set(&["zz2", "x_nz", "a", "x_big", "x_tiny"])
    );
    let stored = |index: &str| -> i64 {
        let sql = format!(
            "SELECT stat_value * @@innodb_page_size FROM mysql.innodb_index_stats WHERE database_name = database() AND stat_name = 'size' AND index_name = '{index}'"
        );
        server.one(&sql).parse().unwrap()
    };
    for (part, _) in parts(&found).filter(|(part, _)| part.candidate.class == Class::Safe) {
        let saved = part.measure.as_ref().unwrap().saved_bytes;
        assert_eq!(saved, stored(&part.candidate.object), "{part:?}");
    }
    // A secondary index is smaller than the rows.
    assert!((stored("zz2") as u64) < table("twins").bytes / 3);
    assert_eq!(table("twins").index("zz").unwrap().bytes, 0);
    for format in FORMATS {
        let text = (format.write)(&found, LOOK);
        assert!(
            !text.contains("key ()") && !text.contains("by ()"),
            "{}",
            format.name
        );
    }
    // What COUNT(*) reads is what EXPLAIN says.
    let mut told = 0;
    for (part, _) in parts(&found) {
        let name = part.candidate.table.rsplit('.').next().unwrap();
        let read = server
            .rows(&format!("EXPLAIN SELECT COUNT(*) FROM {name}"))
            .join(" ");
        let reads = read.split(" | ").nth(5).unwrap();
        let says = part
            .candidate
            .notes
            .iter()
            .any(|note| note.starts_with("COUNT(*) reads"));
        assert_eq!(
            says,
            reads == part.candidate.object && part.candidate.class == Class::Safe,
            "{part:?} {read}"
        );
        told += usize::from(says);
    }
    assert!(told >= 1);
}

const IMPLIED: &[&str] = &[
    "CREATE TABLE of_key (id int PRIMARY KEY, a int, CONSTRAINT x_of_key UNIQUE (id, a))",
    "CREATE TABLE of_unique (id int PRIMARY KEY, a int NOT NULL UNIQUE, b int)",
    "CREATE INDEX x_of_unique ON of_unique (a, b)",
    "CREATE TABLE turned (id int PRIMARY KEY, a int, CONSTRAINT turned_ab UNIQUE (a, id))",
    "CREATE TABLE nullable (id int PRIMARY KEY, a int UNIQUE, b int)",
    "CREATE INDEX nullable_ab ON nullable (a, b)",
    "CREATE TABLE parent (id int PRIMARY KEY, a int, CONSTRAINT parent_key UNIQUE (id, a))",
    "CREATE TABLE child (id int PRIMARY KEY, p int, a int, FOREIGN KEY (p, a) REFERENCES parent (id, a))",
];

#[test]
fn a_unique_key_implies_wider_ones_on_each_server() {
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        server.run(IMPLIED);
        let series = match name {
            "postgres" => "FROM generate_series(1, 3000) AS s (seq)",
            _ => "FROM seq_1_to_3000",
        };
        for (table, columns) in [
            ("of_key", "seq, seq"),
            ("of_unique", "seq, seq, seq"),
            ("turned", "seq, seq"),
            ("nullable", "seq, seq, seq"),
            ("parent", "seq, seq"),
            ("child", "seq, seq, seq"),
        ] {
            let analyze = if name == "postgres" {
                "ANALYZE"
            } else {
                "ANALYZE TABLE"
            };
            server.run(&[
                &format!("INSERT INTO {table} SELECT {columns} {series}"),
                &format!("{analyze} {table}"),
            ]);
        }
        let found = server.advice();
        let wanted = set(&["x_of_key", "x_of_unique"]);
        assert_eq!(changed(&found, Group::ImpliedUnique), wanted, "{name}");
        assert!(
            reason(&found, "turned_ab").contains("guards nothing"),
            "{name}"
        );
        assert!(
            reason(&found, "parent_key").contains("foreign key"),
            "{name}: {}",
            reason(&found, "parent_key")
        );
        carry_out(&server, &found);
        let refused = |sql: &str| server.database.execute(sql).is_err();
        assert!(refused("INSERT INTO of_key VALUES (7, 100000)"), "{name}");
        assert!(
            refused("INSERT INTO child VALUES (100000, 100000, 1)"),
            "{name}"
        );
        assert!(changed(&server.advice(), Group::ImpliedUnique).is_empty());
        undo(&server, &found);
        assert_eq!(
            changed(&server.advice(), Group::ImpliedUnique),
            wanted,
            "{name}"
        );
    }
}

#[test]
fn constraints_that_repeat_others_are_found_on_each_server() {
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        server.run(&[
            "CREATE TABLE parent (id int PRIMARY KEY, a int, b int, UNIQUE (a, b))",
            "CREATE TABLE child (id int PRIMARY KEY, p int, a int, b int, CONSTRAINT fk_1 FOREIGN KEY (p) REFERENCES parent (id),
                 CONSTRAINT fk_2 FOREIGN KEY (p) REFERENCES parent (id),
                 CONSTRAINT fk_3 FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE,
                 CONSTRAINT pair_1 FOREIGN KEY (a, b) REFERENCES parent (a, b),
                 CONSTRAINT check_1 CHECK (a > 0), CONSTRAINT check_2 CHECK (a > 0), CONSTRAINT check_3 CHECK (a > 1))",
            "INSERT INTO parent VALUES (1, 1, 1)",
            "INSERT INTO child VALUES (1, 1, 2, NULL)",
        ]);
        if name == "postgres" {
            server.run(&[
                "ALTER TABLE child ADD CONSTRAINT pair_2 FOREIGN KEY (b, a) REFERENCES parent (b, a)",
                "ALTER TABLE child ADD CONSTRAINT fk_not_valid FOREIGN KEY (p) REFERENCES parent (id) NOT VALID",
                "ALTER TABLE child ADD CONSTRAINT fk_late FOREIGN KEY (p) REFERENCES parent (id) DEFERRABLE",
                "ALTER TABLE child ADD CONSTRAINT check_not_valid CHECK (a > 0) NOT VALID",
            ]);
        }
        let found = server.advice();
        let wanted = match name {
            "postgres" => set(&[
                "fk_2",
                "pair_2",
                "fk_not_valid",
                "check_2",
                "check_not_valid",
            ]),
            _ => set(&["fk_2", "check_2"]),
        };
        assert_eq!(
            changed(&found, Group::DuplicateConstraint),
            wanted,
            "{name}"
        );
        assert!(reason(&found, "fk_3").contains("other actions"), "{name}");
        carry_out(&server, &found);
        let refused = |sql: &str| server.database.execute(sql).is_err();
        assert!(
            refused("INSERT INTO child VALUES (2, 9, 2, NULL)"),
            "{name}"
        );
        assert!(
            refused("INSERT INTO child VALUES (2, 1, 0, NULL)"),
            "{name}"
        );
        undo(&server, &found);
        let again = changed(&server.advice(), Group::DuplicateConstraint);
        assert_eq!(again.len(), wanted.len(), "{name} {again:?}");
    }
}

#[test]
fn unused_indexes_of_mariadb_are_named_where_uses_are_counted() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "SET GLOBAL userstat = 1",
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int, KEY used (a), KEY unused (b))",
        "INSERT INTO t SELECT seq, seq, seq FROM seq_1_to_20000",
        "ANALYZE TABLE t",
        "SET @n = (SELECT count(*) FROM t FORCE INDEX (used) WHERE a = 7)",
    ]);
    let found = advice(&server.url());
    let own: Vec<_> = parts(&found)
        .filter(|(part, _)| part.candidate.group == Group::UnusedIndex)
        .map(|(part, verdict)| (part.candidate.object.as_str(), verdict))
        .collect();
    assert_eq!(own, [("unused", Verdict::Leave)]);
    assert!(reason(&found, "unused").contains("no scan since the server's start"));
}

/// The table of the documentation has every rule of each engine, and no other.
#[test]
fn the_documentation_says_for_which_engines_each_rule_speaks() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, table) = text.split_once("#### Rules and engines").unwrap();
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1);
    let rows: Vec<Vec<&str>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let of_column = |at: usize| -> BTreeSet<&str> {
        let cells = rows.iter().flat_map(|row| row[at].split(", "));
        cells
            .filter_map(|cell| cell.strip_prefix('`')?.split('`').next())
            .collect()
    };
    let of_product = |product| -> BTreeSet<&str> {
        let rules = RULES.iter().filter(|rule| rule.products.contains(&product));
        rules.map(|rule| rule.name).collect()
    };
    let of_files: BTreeSet<&str> = inorder_advise::rules::RULES
        .iter()
        .map(|rule| rule.name)
        .collect();
    assert_eq!(of_column(1), of_files);
    assert_eq!(of_column(2), of_product(Product::Postgres));
    assert_eq!(of_column(3), of_product(Product::Mariadb));
    // Where an engine has no rule, the cell says why.
    assert!(rows.iter().flatten().all(|cell| cell.len() > 3), "{rows:?}");
}
