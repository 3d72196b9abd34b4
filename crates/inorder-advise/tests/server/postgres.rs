//! PostgreSQL: indexes that may go and indexes that must stay, rights, partitions.

use crate::server::{Server, advice, changed, parts, reason, set};
use inorder_advise::{advice::Verdict, server::rules::Group};
use std::collections::BTreeSet;

/// Tables with indexes of which one may go each. The index that may go is named `x_…`.
const MAY_GO: &[&str] = &[
    "CREATE TABLE prefix (a int, b int); CREATE INDEX x_prefix ON prefix (a); CREATE INDEX prefix_wide ON prefix (a, b)",
    "CREATE TABLE twice (a int, b int); CREATE INDEX twice_first ON twice (a); CREATE INDEX x_twice ON twice (a)",
    "CREATE TABLE of_key (a int, b int, PRIMARY KEY (a, b)); CREATE INDEX x_of_key ON of_key (a)",
    "CREATE TABLE of_unique (a int, b int, UNIQUE (a, b)); CREATE INDEX x_of_unique ON of_unique (a)",
    "CREATE TABLE backward (a int, b int); CREATE INDEX x_backward ON backward (a DESC); CREATE INDEX backward_wide ON backward (a, b)",
    "CREATE TABLE backward2 (a int, b int, c int); CREATE INDEX x_backward2 ON backward2 (a DESC, b DESC);
     CREATE INDEX backward2_wide ON backward2 (a, b, c)",
    "CREATE TABLE unique2 (a int); CREATE UNIQUE INDEX unique2_first ON unique2 (a); CREATE UNIQUE INDEX x_unique2 ON unique2 (a)",
    "CREATE TABLE partial2 (a int, b int); CREATE INDEX x_partial2 ON partial2 (a) WHERE b > 5;
     CREATE INDEX partial2_wide ON partial2 (a, b) WHERE b > 5",
    "CREATE TABLE includes (a int, b int); CREATE INDEX x_includes ON includes (a) INCLUDE (b);
     CREATE INDEX includes_wide ON includes (a, b)",
    "CREATE TABLE expression (a int, c text); CREATE INDEX x_expression ON expression (lower(c));
     CREATE INDEX expression_wide ON expression (lower(c), a)",
    "CREATE TABLE hashed (a int); CREATE INDEX hashed_first ON hashed USING hash (a); CREATE INDEX x_hashed ON hashed USING hash (a)",
    "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (parent int REFERENCES parent ON DELETE CASCADE, b int);
     CREATE INDEX x_child ON child (parent); CREATE INDEX child_wide ON child (parent, b)",
    "CREATE TABLE identity2 (a int NOT NULL); CREATE UNIQUE INDEX identity_of ON identity2 (a);
     ALTER TABLE identity2 REPLICA IDENTITY USING INDEX identity_of; CREATE UNIQUE INDEX x_identity2 ON identity2 (a)",
    "CREATE TABLE referred (a int); CREATE UNIQUE INDEX referred_of ON referred (a);
     CREATE TABLE refers (a int REFERENCES referred (a)); CREATE UNIQUE INDEX x_referred ON referred (a)",
    "CREATE TABLE excluded (r int4range, EXCLUDE USING gist (r WITH &&)); CREATE INDEX x_excluded ON excluded USING gist (r)",
    "CREATE TABLE parts (a int, b int) PARTITION BY RANGE (a); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100000);
     CREATE INDEX x_parts ON parts (a); CREATE INDEX parts_wide ON parts (a, b)",
    "CREATE TABLE local (a int, b int) PARTITION BY RANGE (a); CREATE TABLE local_1 PARTITION OF local FOR VALUES FROM (0) TO (100000);
     CREATE INDEX local_wide ON local (a, b); CREATE INDEX x_local ON local_1 (a)",
    r#"CREATE TABLE "Odd ""Table" (a int, "B ON c" int); CREATE INDEX "x_Odd "" ON x" ON "Odd ""Table" ("B ON c");
     CREATE INDEX "Odd wide" ON "Odd ""Table" ("B ON c", a)"#,
    "CREATE MATERIALIZED VIEW seen AS SELECT g AS a, g AS b FROM generate_series(1, 3000) g;
     CREATE INDEX x_seen ON seen (a); CREATE UNIQUE INDEX seen_wide ON seen (a, b)",
    "CREATE TABLE chain (a int, b int, c int); CREATE INDEX x_chain1 ON chain (a); CREATE INDEX x_chain2 ON chain (a, b);
     CREATE INDEX chain_wide ON chain (a, b, c)",
];

/// Tables whose indexes all stay.
const MUST_STAY: &[&str] = &[
    "CREATE TABLE second (a int, b int); CREATE INDEX second_of ON second (b); CREATE INDEX second_wide ON second (a, b)",
    "CREATE TABLE turned (a int, b int); CREATE INDEX turned_1 ON turned (a, b); CREATE INDEX turned_2 ON turned (b, a)",
    "CREATE TABLE unique_prefix (a int, b int); CREATE UNIQUE INDEX unique_short ON unique_prefix (a); CREATE INDEX unique_wide ON unique_prefix (a, b)",
    "CREATE TABLE unique_both (a int, b int, c int); CREATE UNIQUE INDEX both_short ON unique_both (a, b);
     CREATE UNIQUE INDEX both_wide ON unique_both (a, b, c)",
    "CREATE TABLE some_rows (a int, b int); CREATE INDEX some_short ON some_rows (a) WHERE b > 5; CREATE INDEX some_wide ON some_rows (a, b)",
    "CREATE TABLE other_rows (a int, b int); CREATE INDEX other_short ON other_rows (a) WHERE b > 5;
     CREATE INDEX other_wide ON other_rows (a, b) WHERE b > 6",
    "CREATE TABLE wide_is_partial (a int, b int); CREATE INDEX wip_short ON wide_is_partial (a); CREATE INDEX wip_wide ON wide_is_partial (a, b) WHERE b > 6",
    "CREATE TABLE classes (a int, c text); CREATE INDEX class_short ON classes (c text_pattern_ops); CREATE INDEX class_wide ON classes (c, a)",
    "CREATE TABLE collations (a int, c text); CREATE INDEX collation_short ON collations (c COLLATE \"POSIX\"); CREATE INDEX collation_wide ON collations (c, a)",
    "CREATE TABLE mixed_order (a int, b int, c int); CREATE INDEX mixed_short ON mixed_order (a, b DESC); CREATE INDEX mixed_wide ON mixed_order (a, b, c)",
    "CREATE TABLE nulls_order (a int, b int); CREATE INDEX nulls_short ON nulls_order (a NULLS FIRST); CREATE INDEX nulls_wide ON nulls_order (a, b)",
    "CREATE TABLE included (a int, b int, c int); CREATE INDEX included_short ON included (a) INCLUDE (c); CREATE INDEX included_wide ON included (a, b)",
    "CREATE TABLE methods (a int, b int); CREATE INDEX method_hash ON methods USING hash (a); CREATE INDEX method_wide ON methods (a, b)",
    "CREATE TABLE brins (a int); CREATE INDEX brin_1 ON brins USING brin (a) WITH (pages_per_range = 4); CREATE INDEX brin_2 ON brins USING brin (a)",
    "CREATE TABLE gins (a int[], b int[]); CREATE INDEX gin_1 ON gins USING gin (a); CREATE INDEX gin_2 ON gins USING gin (a, b)",
    "CREATE TABLE clustered (a int, b int); CREATE INDEX cluster_short ON clustered (a); CREATE INDEX cluster_wide ON clustered (a, b);
     ALTER TABLE clustered CLUSTER ON cluster_short",
    "CREATE TABLE later (a int, UNIQUE (a) DEFERRABLE INITIALLY DEFERRED); CREATE UNIQUE INDEX later_now ON later (a)",
    "CREATE TABLE no_nulls (a int); CREATE UNIQUE INDEX no_nulls_1 ON no_nulls (a); CREATE UNIQUE INDEX no_nulls_2 ON no_nulls (a) NULLS NOT DISTINCT",
    "CREATE TABLE other_expression (c text, a int); CREATE INDEX oe_short ON other_expression (lower(c)); CREATE INDEX oe_wide ON other_expression (upper(c), a)",
    "CREATE TABLE unique_around (id int PRIMARY KEY, x int, UNIQUE (id, x)); CREATE TABLE around_child (id int, x int, FOREIGN KEY (id, x) REFERENCES unique_around (id, x))",
    "CREATE TABLE unique_turned (a int, b int, PRIMARY KEY (a, b), UNIQUE (b, a))",
    "CREATE TABLE needed_unique (id int NOT NULL); ALTER TABLE needed_unique ADD CONSTRAINT needed_key UNIQUE (id);
     CREATE TABLE needs (id int REFERENCES needed_unique (id)); ALTER TABLE needed_unique ADD PRIMARY KEY (id)",
    "CREATE TABLE unique_nulls (a int, n int); CREATE UNIQUE INDEX null_unique ON unique_nulls (n); CREATE TABLE some_nulls (a int, n int); CREATE INDEX null_pair ON some_nulls (n, a)",
    "CREATE TABLE nearly_null (a int, n int); CREATE INDEX nearly_null_n ON nearly_null (n)",
    "CREATE TABLE one_value (a int, v int DEFAULT 1); CREATE INDEX one_value_v ON one_value (v)",
];

/// Fills every table of the schema `public` that has a column `a`, and the parents of foreign keys.
fn fill(server: &Server) {
    server.run(&["DO $$ DECLARE t record; BEGIN
        INSERT INTO parent SELECT generate_series(1, 3000);
        INSERT INTO referred SELECT generate_series(1, 3000);
        INSERT INTO child SELECT g, g FROM generate_series(1, 3000) g;
        FOR t IN SELECT c.oid::regclass AS name,
            (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) AS columns,
            (SELECT string_agg(CASE WHEN attname = 'n' THEN 'NULL' WHEN attname = 'v' THEN '1' WHEN atttypid = 'text'::regtype THEN '''text '' || g'
                WHEN atttypid = 'int[]'::regtype THEN 'ARRAY[g, g + 1]' WHEN atttypid = 'int4range'::regtype THEN 'int4range(g * 10, g * 10 + 1)'
                ELSE 'g' END, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) AS expressions
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relname NOT IN ('parent', 'referred', 'child', 'refers', 'around_child', 'needs') LOOP
            EXECUTE format('INSERT INTO %s (%s) SELECT %s FROM generate_series(1, 3000) g', t.name, t.columns, t.expressions);
        END LOOP; END $$"]);
    server.run(&["UPDATE nearly_null SET n = 7 WHERE a = 2999"]);
}

const INDEXES: &str = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1";
const CONSTRAINTS: &str = "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace ORDER BY 1";

/// Indexes that stay, and words of the reason.
const REASONS: &[(&str, &str)] = &[
    ("turned_2", "in another order"),
    ("unique_short", "unique, which unique_wide isn't"),
    ("some_short", "partial: holds fewer rows"),
    ("other_short", "another condition"),
    ("class_short", "another operator class"),
    ("collation_short", "another collation"),
    ("mixed_short", "another direction"),
    ("nulls_short", "another direction"),
    ("included_short", "includes c, which included_wide doesn't"),
    ("cluster_short", "CLUSTER orders the table by it"),
    ("later_now", "at the end of the transaction"),
    ("no_nulls_2", "treats NULLs otherwise"),
    ("broken_wide", "invalid"),
    (
        "needed_key",
        "the foreign key needs_id_fkey of needs depends on it",
    ),
    ("null_unique", "ON CONFLICT and foreign keys"),
    ("null_pair", "the other columns may be asked for"),
];

/// A server with all tables of the lists.
fn filled() -> Option<Server> {
    let server = Server::start("postgres")?;
    server.run(MAY_GO);
    server.run(MUST_STAY);
    server.run(&[
        "CREATE TABLE all_null (n int, a int); CREATE INDEX x_null ON all_null (n)",
        "CREATE TABLE same_key (id int NOT NULL); ALTER TABLE same_key ADD CONSTRAINT x_same UNIQUE (id);
         ALTER TABLE same_key ADD CONSTRAINT same_pk PRIMARY KEY (id)",
    ]);
    fill(&server);
    // A build that failed leaves an invalid index. It replaces none, and isn't proposed either.
    server.run(&[
        "CREATE TABLE broken (a int, b int)",
        "INSERT INTO broken SELECT 1, g % 10 FROM generate_series(1, 3000) g",
        "CREATE INDEX broken_short ON broken (a)",
    ]);
    let failing = "CREATE UNIQUE INDEX CONCURRENTLY broken_wide ON broken (a, b)";
    assert!(server.database.execute(failing).is_err());
    server.run(&["ANALYZE"]);
    Some(server)
}

/// The names of the indexes that another one replaces.
fn replaced(server: &Server) -> BTreeSet<String> {
    let names = server.rows(INDEXES).into_iter();
    let found: BTreeSet<String> = names
        .filter(|name| name.starts_with("x_") && name != "x_null" && name != "x_same")
        .collect();
    // Two of one table.
    assert_eq!(found.len(), MAY_GO.len() + 1);
    found
}

#[test]
fn indexes_that_are_needed_stay() {
    let Some(server) = filled() else { return };
    let found = server.advice();
    assert_eq!(changed(&found, Group::RedundantIndex), replaced(&server));
    assert_eq!(changed(&found, Group::NullIndex), set(&["x_null"]));
    assert_eq!(changed(&found, Group::UniqueTwice), set(&["x_same"]));
    for (object, words) in REASONS {
        let reason = reason(&found, object);
        assert!(reason.contains(words), "{object}: {reason}");
    }
}

#[test]
fn the_steps_drop_what_is_proposed_and_come_back() {
    let Some(server) = filled() else { return };
    let (mut indexes, mut constraints) = (server.rows(INDEXES), server.rows(CONSTRAINTS));
    let found = server.advice();
    // The sum of what is proposed is what the server then has less.
    let bytes = || -> i64 {
        let sum = "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace";
        server.one(sum).parse().unwrap()
    };
    let kept = found
        .items
        .iter()
        .filter(|item| matches!(item.verdict, Verdict::Change | Verdict::Minor));
    let told: i64 = kept.filter_map(|item| item.saved_bytes).sum();
    let before = bytes();
    for plan in &found.plans {
        server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    }
    assert_eq!(before - bytes(), told);
    // The parts of a partitioned index went with it.
    let gone = ["parts_1_a_idx", "broken_wide"];
    indexes.retain(|name| {
        (!name.starts_with("x_") || name == "x_null") && !gone.contains(&name.as_str())
    });
    constraints.retain(|text| !text.contains("x_same"));
    assert_eq!(server.rows(INDEXES), indexes);
    assert_eq!(server.rows(CONSTRAINTS), constraints);
    let partial = server.one("SELECT pg_get_indexdef('x_null'::regclass)");
    assert!(partial.ends_with("WHERE (n IS NOT NULL)"), "{partial}");

    for plan in &found.plans {
        server.take_back(plan.steps.as_ref().unwrap());
    }
    let again = server.advice();
    assert_eq!(changed(&again, Group::RedundantIndex), replaced(&server));
    assert_eq!(
        parts(&again)
            .filter(|(_, verdict)| *verdict == Verdict::App)
            .count(),
        0
    );
}

#[test]
fn what_may_not_be_read_is_said_and_the_rest_is_read() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE TABLE open (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), a int)",
        "CREATE TABLE closed (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), a int)",
        "CREATE TABLE hidden (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), a int)",
        "CREATE INDEX closed_a ON closed (a); CREATE INDEX closed_wide ON closed (a, id)",
        "INSERT INTO open (a) SELECT generate_series(1, 2000); INSERT INTO closed (a) SELECT generate_series(1, 2000)",
        "INSERT INTO hidden (a) SELECT generate_series(1, 2000)",
        "ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; CREATE POLICY one ON hidden USING (a < 10)",
        "CREATE ROLE reader LOGIN; GRANT SELECT ON open, hidden TO reader; ANALYZE",
        "CREATE TEMPORARY TABLE passing (a int)",
    ]);
    let found = advice(&server.url_of("reader", "postgres"));
    assert!(
        found
            .ids
            .iter()
            .any(|line| line.column == "open.id" && line.kind.contains("UUIDv4"))
    );
    assert!(!found.ids.iter().any(|line| line.column == "closed.id"));
    let notes = found.database.notes.join("\n");
    assert!(
        notes.contains("public.closed: its rows may not be read") && notes.contains("GRANT SELECT"),
        "{notes}"
    );
    // A policy that hides rows would make a wrong sample.
    assert!(
        notes.contains("public.hidden: its rows can't be read"),
        "{notes}"
    );
    // The catalog is open to everybody: indexes are judged without rows.
    assert_eq!(changed(&found, Group::RedundantIndex), set(&["closed_a"]));
    assert!(
        found
            .database
            .tables
            .iter()
            .all(|table| table.name != "passing")
    );
}

#[test]
fn an_empty_database_and_a_wrong_url_are_told() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let found = server.advice();
    assert!(found.items.is_empty() && found.plans.is_empty());
    let wrong = [
        (
            server.url_of("inorder", "nowhere"),
            "name an existing database",
        ),
        (
            server.url_of("nobody", "postgres"),
            "check the user and the password",
        ),
        (
            "postgres://me:t0p@127.0.0.1:1/app?connect_timeout=2".into(),
            "check the host and the port",
        ),
        ("oracle://me:t0p@db/app".into(), "doesn't begin with"),
    ];
    for (url, words) in wrong {
        let error = inorder_advise::server::advice::Reader::open(&url, Default::default())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains(words), "{url}: {error}");
        assert!(!error.contains("t0p"), "{error}");
    }
}
