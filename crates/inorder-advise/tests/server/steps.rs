//! The printed steps, run on a private server with rows, with writes between them.

use crate::server::{Server, hash_steps, parts};
use inorder_advise::{
    advice::Verdict,
    server::rules::{Action, Group},
};

/// Everything about the schema that must be the same afterwards, but for the order of columns.
const OBJECTS: &str = "SELECT x FROM (
     SELECT 'index ' || tablename || ' ' || indexdef AS x FROM pg_indexes WHERE schemaname = 'shop'
     UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
         WHERE connamespace = 'shop'::regnamespace
     UNION ALL SELECT 'column ' || attrelid::regclass || ' ' || attname || ' ' || attnotnull || ' ' || coalesce(col_description(attrelid, attnum), '')
         FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE c.relnamespace = 'shop'::regnamespace AND c.relkind = 'r'
         AND attnum > 0 AND NOT attisdropped
     UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'shop'::regnamespace
     UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE c.relnamespace = 'shop'::regnamespace AND NOT tgisinternal) x ORDER BY 1";

/// Texts of the ids, whatever their type.
const ROWS: &[&str] = &[
    "SELECT md5(string_agg(id::text || coalesce(name, '') || coalesce(boss::text, '-'), ',' ORDER BY id::text)) FROM shop.customer",
    "SELECT md5(string_agg(number || coalesce(customer::text, '-') || coalesce(seller::text, '-') || note, ',' ORDER BY number)) FROM shop.orders",
    "SELECT md5(string_agg(customer::text || tag, ',' ORDER BY customer::text, tag)) FROM shop.tags",
];

/// Tables whose ids are text in several types, with keys and indexes of most kinds.
const SHOP: &[&str] = &[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.customer (id char(36) PRIMARY KEY DEFAULT gen_random_uuid()::text, name text, boss varchar(40) REFERENCES shop.customer,
             UNIQUE (name, id))",
        "COMMENT ON COLUMN shop.customer.id IS 'it''s the id'",
        "CREATE TABLE shop.orders (number serial PRIMARY KEY, customer text NOT NULL REFERENCES shop.customer ON DELETE CASCADE,
             seller text REFERENCES shop.customer (id) ON DELETE SET NULL ON UPDATE CASCADE, note text DEFAULT 'none')",
        "CREATE INDEX ON shop.orders (customer, number DESC) WITH (fillfactor = 80)",
        "CREATE INDEX ON shop.orders (seller) INCLUDE (customer) WHERE note <> 'none'",
        "CREATE INDEX ON shop.orders USING hash (seller)",
        "CREATE TABLE shop.tags (customer text REFERENCES shop.customer DEFERRABLE INITIALLY DEFERRED, tag text, PRIMARY KEY (customer, tag))",
        "INSERT INTO shop.customer (name) SELECT 'name ' || g FROM generate_series(1, 3000) g",
        "UPDATE shop.customer SET boss = (SELECT min(id) FROM shop.customer) WHERE name LIKE '%7'",
        "INSERT INTO shop.orders (customer, seller) SELECT id, (SELECT max(id) FROM shop.customer) FROM shop.customer, generate_series(1, 3)",
        "UPDATE shop.orders SET seller = customer WHERE number % 2 = 0",
        "INSERT INTO shop.tags SELECT id, 'tag' FROM shop.customer",
        "ANALYZE",
    ];

#[test]
fn postgres_text_ids_become_uuids_online() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(SHOP);
    let objects = server.rows(OBJECTS);
    let advice = server.advice();
    let (part, verdict) = parts(&advice)
        .find(|(part, _)| part.candidate.group == Group::NativeUuid)
        .unwrap();
    assert_eq!(verdict, Verdict::App, "{part:?}");
    let [Action::Convert { columns, .. }] = &part.candidate.actions[..] else {
        panic!("{part:?}")
    };
    assert_eq!(columns.len(), 5, "{columns:?}");
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.needs_application)
        .unwrap();
    let steps = plan.steps.as_ref().unwrap();
    assert!(steps.is_online);

    let bytes = |server: &Server| -> i64 {
        server.one("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'shop'::regnamespace").parse().unwrap()
    };
    server.run(&["VACUUM FULL"]);
    let before = bytes(&server);
    // The application writes between the steps, also what cascades.
    server.carry_out(steps, &mut |at| {
        let name = format!("late {at}");
        server.run(&[
            &format!("INSERT INTO shop.customer (name) VALUES ('{name}'), ('{name} too')"),
            &format!("INSERT INTO shop.orders (customer, seller) SELECT id, id FROM shop.customer WHERE name LIKE '{name}%'"),
            &format!("INSERT INTO shop.orders (customer, seller) SELECT min(id), max(id) FROM shop.customer WHERE name LIKE '{name}%'"),
            &format!("DELETE FROM shop.customer WHERE name = '{name} too'"),
            "UPDATE shop.orders SET seller = (SELECT min(id) FROM shop.customer) WHERE number = 5",
            // As logical replication writes.
            "SET session_replication_role = replica",
            &format!("INSERT INTO shop.customer (name) VALUES ('replicated {at}')"),
            "RESET session_replication_role",
        ]);
    });
    let types = server.rows("SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'shop' AND column_name IN ('id', 'boss', 'customer', 'seller')
         AND NOT (table_name = 'customer' AND column_name = 'customer')");
    assert_eq!(types, ["uuid"]);
    assert_eq!(server.rows(OBJECTS), objects);
    assert_eq!(
        server.one("SELECT count(*) FROM pg_constraint WHERE NOT convalidated"),
        "0"
    );
    assert_eq!(server.one("SELECT count(*) FROM shop.orders o WHERE NOT EXISTS (SELECT FROM shop.customer c WHERE c.id = o.customer)"), "0");
    server.run(&["VACUUM FULL"]);
    let saved = 100 * (before - bytes(&server)) / before;
    let told = part.measure.as_ref().unwrap().saved_bytes * 100 / before;
    assert!(
        saved >= 3 && (saved - told).abs() <= 10,
        "{saved} % saved, {told} % told"
    );
    keys_act_as_before(&server);
}

/// Defaults, cascades and keys.
fn keys_act_as_before(server: &Server) {
    server.run(&["INSERT INTO shop.customer (name) VALUES ('new')", "INSERT INTO shop.orders (customer, seller) SELECT id, id FROM shop.customer WHERE name = 'new'"]);
    assert!(
        server
            .database
            .execute("INSERT INTO shop.orders (customer) VALUES (gen_random_uuid())")
            .is_err()
    );
    server.run(&["DELETE FROM shop.customer WHERE name = 'new'"]);
    assert_eq!(
        server.one(
            "SELECT count(*) FROM shop.orders WHERE customer NOT IN (SELECT id FROM shop.customer)"
        ),
        "0"
    );
}

/// Without writes between the steps, every row is the same text as before.
#[test]
fn postgres_rows_are_the_same_after_the_swap() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.customer (id text PRIMARY KEY, name text, boss text REFERENCES shop.customer)",
        "CREATE TABLE shop.orders (number int PRIMARY KEY, customer text REFERENCES shop.customer, seller text, note text)",
        "CREATE TABLE shop.tags (customer text NOT NULL, tag text)",
        "INSERT INTO shop.customer SELECT gen_random_uuid()::text, 'name ' || g FROM generate_series(1, 12000) g",
        "UPDATE shop.customer SET boss = id WHERE name LIKE '%7'",
        "INSERT INTO shop.orders SELECT row_number() OVER (), id, CASE WHEN name LIKE '%3' THEN id END, 'note' FROM shop.customer",
        "INSERT INTO shop.tags SELECT id, 'tag' FROM shop.customer",
        "ANALYZE",
    ]);
    let before: Vec<String> = ROWS.iter().map(|sql| server.one(sql)).collect();
    let advice = server.advice();
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.needs_application)
        .unwrap();
    // Columns without a declared key are found by their values.
    assert!(
        plan.title.contains("tags.customer") && plan.title.contains("orders.seller"),
        "{}",
        plan.title
    );
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    let after: Vec<String> = ROWS.iter().map(|sql| server.one(sql)).collect();
    assert_eq!(before, after);
    let columns = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'shop' AND data_type = 'uuid'";
    assert_eq!(server.one(columns), "5");
}

/// Hashes are no UUIDs, whatever their length. Their default makes bytes, too.
#[test]
fn postgres_text_hashes_become_bytes_online() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.files (hash text PRIMARY KEY DEFAULT upper(md5(random()::text)), name text)",
        "CREATE TABLE shop.links (n int PRIMARY KEY, file text REFERENCES shop.files ON DELETE SET NULL)",
        "CREATE INDEX ON shop.links (file)",
        "INSERT INTO shop.files SELECT md5(g::text), 'name ' || g FROM generate_series(1, 3000) g",
        "INSERT INTO shop.links SELECT g, CASE WHEN g % 7 > 0 THEN md5((1 + g % 3000)::text) END FROM generate_series(1, 6000) g",
        "ANALYZE",
    ]);
    let digests = |file: &str| {
        server.one(&format!(
            "SELECT count(file), md5(string_agg({file}, ',' ORDER BY n)) FROM shop.links JOIN shop.files ON hash = file"
        ))
    };
    let before = digests("file");
    let (columns, steps) = hash_steps(&server.advice());
    assert_eq!(columns, 2);
    server.carry_out(&steps, &mut |_| {});
    assert_eq!(digests("encode(file, 'hex')"), before);
    server.run(&["INSERT INTO shop.files (name) VALUES ('new')"]);
    let lengths = "SELECT DISTINCT length(hash) FROM shop.files";
    assert_eq!(server.rows(lengths), ["16"]);
}

/// What was begun is taken back before the swap.
#[test]
fn postgres_steps_are_taken_back() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.customer (id text PRIMARY KEY, name text)",
        "CREATE TABLE shop.orders (number int PRIMARY KEY, customer text NOT NULL REFERENCES shop.customer)",
        "INSERT INTO shop.customer SELECT gen_random_uuid()::text, 'name ' || g FROM generate_series(1, 2000) g",
        "INSERT INTO shop.orders SELECT row_number() OVER (), id FROM shop.customer",
        "ANALYZE",
    ]);
    let objects = server.rows(OBJECTS);
    let advice = server.advice();
    let steps = advice
        .plans
        .iter()
        .find_map(|plan| plan.steps.as_ref().ok().filter(|_| plan.needs_application))
        .unwrap();
    server.run_steps(&steps.steps[..steps.steps.len() - 2], &mut |_| {});
    assert_ne!(server.rows(OBJECTS), objects);
    server.take_back(steps);
    assert_eq!(server.rows(OBJECTS), objects);
    // After the swap the columns get their old types again.
    let rows = "SELECT md5(string_agg(id || name || number, ',' ORDER BY number)) FROM shop.customer JOIN shop.orders ON customer = id";
    let before = server.one(rows);
    server.carry_out(steps, &mut |_| {});
    server.take_back(steps);
    assert_eq!((server.one(rows), server.rows(OBJECTS)), (before, objects));
}

#[test]
fn postgres_keys_get_a_wider_type() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.events (id serial PRIMARY KEY, at timestamptz DEFAULT now())",
        "CREATE TABLE shop.marks (event int NOT NULL REFERENCES shop.events, mark text)",
        "CREATE INDEX ON shop.marks (event)",
        "SELECT setval('shop.events_id_seq', 1900000000)",
        "INSERT INTO shop.events SELECT FROM generate_series(1, 3000)",
        "INSERT INTO shop.marks SELECT id, 'mark' FROM shop.events",
        "ANALYZE",
    ]);
    let objects = server.rows(OBJECTS);
    let advice = server.advice();
    let (part, verdict) = parts(&advice)
        .find(|(part, _)| part.candidate.group == Group::IntegerRange)
        .unwrap();
    assert_eq!(verdict, Verdict::App);
    assert!(
        part.candidate
            .reason
            .contains("has reached 1900003000, 88 % of what integer holds"),
        "{}",
        part.candidate.reason
    );
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.title.starts_with("bigint"))
        .unwrap();
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {
        server.run(&[
            "INSERT INTO shop.events DEFAULT VALUES",
            "INSERT INTO shop.marks SELECT max(id), 'late' FROM shop.events",
        ]);
    });
    assert_eq!(server.rows(OBJECTS), objects);
    let types = "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'shop' AND column_name IN ('id', 'event')";
    assert_eq!(server.rows(types), ["bigint"]);
    server.run(&[
        "SELECT setval('shop.events_id_seq', 2147483647)",
        "INSERT INTO shop.events DEFAULT VALUES",
    ]);
    assert_eq!(server.one("SELECT max(id) FROM shop.events"), "2147483648");
}

/// Tables that can't be converted: name, statement, words of the reason.
const BLOCKED: &[(&str, &str, &str)] = &[
    (
        "checked",
        "CREATE TABLE checked (id text PRIMARY KEY CHECK (length(id) = 36))",
        "checked_id_check",
    ),
    (
        "viewed",
        "CREATE TABLE viewed (id text PRIMARY KEY); CREATE VIEW of_viewed AS SELECT id FROM viewed",
        "of_viewed",
    ),
    (
        "lowered",
        "CREATE TABLE lowered (id text PRIMARY KEY); CREATE INDEX ON lowered (lower(id))",
        "an expression of lowered_lower_idx",
    ),
    (
        "patterned",
        "CREATE TABLE patterned (id text); CREATE INDEX patterned_of ON patterned (id text_pattern_ops)",
        "an operator class of texts",
    ),
    (
        "generated",
        "CREATE TABLE generated (id text PRIMARY KEY, up text GENERATED ALWAYS AS (upper(id)) STORED)",
        "generated",
    ),
    (
        "policed",
        "CREATE TABLE policed (id text PRIMARY KEY); CREATE POLICY p ON policed USING (id <> '')",
        "policy p",
    ),
    (
        "triggered",
        "CREATE TABLE triggered (id text PRIMARY KEY); CREATE TRIGGER t BEFORE UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "the trigger t",
    ),
    (
        "elder",
        "CREATE TABLE elder (id text PRIMARY KEY); CREATE TABLE younger () INHERITS (elder)",
        "takes part in inheritance",
    ),
    (
        "later",
        "CREATE TABLE later (id text PRIMARY KEY DEFERRABLE)",
        "is deferrable",
    ),
    (
        "counted",
        "CREATE TABLE counted (id text PRIMARY KEY, b int); CREATE STATISTICS s ON id, b FROM counted",
        "statistics object",
    ),
    (
        "identified",
        "CREATE TABLE identified (id text PRIMARY KEY); ALTER TABLE identified REPLICA IDENTITY USING INDEX identified_pkey",
        "is the replica identity",
    ),
    (
        "other",
        "CREATE TABLE other (id text PRIMARY KEY); INSERT INTO other SELECT 'x' || g FROM generate_series(1, 20) g",
        "holds other values too",
    ),
    (
        "domained",
        "CREATE DOMAIN uid AS text NOT NULL DEFAULT gen_random_uuid()::text CHECK (VALUE <> ''); CREATE TABLE domained (id uid PRIMARY KEY)",
        "domained.id is of the domain public.uid",
    ),
    (
        "referred",
        "CREATE DOMAIN other_uid AS text CHECK (VALUE <> ''); CREATE TABLE referred (id text PRIMARY KEY);
         CREATE TABLE refers (n int, referred other_uid REFERENCES referred);
         INSERT INTO referred SELECT gen_random_uuid()::text FROM generate_series(1, 600); INSERT INTO refers SELECT 1, id FROM referred",
        "refers.referred is of the domain public.other_uid",
    ),
    (
        "included",
        "CREATE TABLE included (id text PRIMARY KEY, code serial, UNIQUE (code) INCLUDE (id));
         CREATE TABLE of_included (code int, FOREIGN KEY (code) REFERENCES included (code))",
        "the foreign key of_included_code_fkey of of_included depends on the index included_code_id_key, which includes included.id",
    ),
];

/// What stands in the way of a conversion is named, and no steps are printed.
#[test]
fn postgres_conversions_that_would_lose_something_are_refused() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    for (table, make, _) in BLOCKED {
        server.run(&[make, &format!("INSERT INTO {table} (id) SELECT gen_random_uuid()::text FROM generate_series(1, 600)")]);
    }
    server.run(&["ANALYZE"]);
    let advice = server.advice();
    for (table, _, words) in BLOCKED {
        let object = format!("{table}.id");
        let found: Vec<_> = parts(&advice)
            .filter(|(part, _)| {
                part.candidate.group == Group::NativeUuid && part.candidate.object == object
            })
            .collect();
        let [(part, Verdict::Leave)] = found[..] else {
            panic!("{table}: {found:?}")
        };
        assert!(
            part.candidate.reason.contains(words),
            "{table}: {}",
            part.candidate.reason
        );
    }
    assert!(
        advice
            .plans
            .iter()
            .all(|plan| !plan.title.starts_with("uuid")),
        "{:?}",
        advice.plans
    );
}

/// Keys of integers for which no steps are printed: name, statement, words of the note.
const TOO_NARROW: &[(&str, &str, &str)] = &[
    (
        "domained",
        "CREATE DOMAIN number AS int CHECK (VALUE > 0); CREATE TABLE domained (id number PRIMARY KEY)",
        "domained.id is of the domain public.number",
    ),
    (
        "included",
        "CREATE TABLE included (id int PRIMARY KEY, code serial UNIQUE); ALTER TABLE included DROP CONSTRAINT included_code_key;
         ALTER TABLE included ADD UNIQUE (code) INCLUDE (id); CREATE TABLE of_included (code int REFERENCES included (code))",
        "the foreign key of_included_code_fkey",
    ),
];

#[test]
fn postgres_keys_that_would_lose_something_get_no_steps_to_a_wider_type() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    for (table, make, _) in TOO_NARROW {
        server.run(&[
            make,
            &format!(
                "INSERT INTO {table} (id) SELECT 1900000000 + g FROM generate_series(1, 600) g"
            ),
        ]);
    }
    server.run(&["ANALYZE"]);
    let advice = server.advice();
    for (table, _, words) in TOO_NARROW {
        let object = format!("{table}.id");
        let (part, _) = parts(&advice)
            .find(|(part, _)| {
                part.candidate.group == Group::IntegerRange && part.candidate.object == object
            })
            .unwrap();
        let notes = part.candidate.notes.join(" ");
        assert!(notes.contains(words), "{table}: {notes}");
    }
    assert!(advice.plans.is_empty(), "{:?}", advice.plans);
}

/// A sequence that a column does not own may be in another schema, and several tables may use it.
#[test]
fn postgres_sequences_keep_their_owners() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE SCHEMA seqs",
        "CREATE SEQUENCE seqs.far",
        "CREATE SEQUENCE shared AS int",
        "CREATE TABLE a (id int PRIMARY KEY DEFAULT nextval('seqs.far'), x text)",
        "CREATE TABLE b (id int PRIMARY KEY DEFAULT nextval('shared'), x text)",
        "CREATE TABLE c (id int PRIMARY KEY DEFAULT nextval('shared'), x text)",
        "CREATE TABLE d (\"it's\" serial PRIMARY KEY, x text)",
        "SELECT setval('seqs.far', 1900000000), setval('shared', 1900000000), setval('\"d_it''s_seq\"', 1900000000)",
    ]);
    for table in ["a", "b", "c", "d"] {
        let rows = "SELECT 'x' FROM generate_series(1, 3000)";
        server.run(&[&format!("INSERT INTO {table} (x) {rows}")]);
    }
    server.run(&["ANALYZE"]);
    let plans = server.advice().plans;
    assert_eq!(plans.len(), 4, "{plans:?}");
    for plan in &plans {
        server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    }
    let types = "SELECT DISTINCT data_type FROM information_schema.columns WHERE table_schema = 'public' AND column_name <> 'x'";
    assert_eq!(server.rows(types), ["bigint"]);
    let owners = "SELECT pg_get_serial_sequence('a', 'id'), pg_get_serial_sequence('b', 'id'), pg_get_serial_sequence('c', 'id'),
         pg_get_serial_sequence('d', 'it''s')";
    assert_eq!(
        server.one(owners),
        r#"NULL | NULL | NULL | public."d_it's_seq""#
    );
    server.run(&[
        "DROP TABLE c",
        "SELECT setval('shared', 2147483647)",
        "INSERT INTO b (x) VALUES ('late')",
        "INSERT INTO d (x) VALUES ('late')",
    ]);
    assert_eq!(server.one("SELECT max(id) FROM b"), "2147483648");
}

/// The sequence of a column would go with the old column, even if its default counts with another one.
#[test]
fn postgres_sequences_that_the_default_does_not_use_are_not_dropped() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&[
        "CREATE TABLE twice (id serial PRIMARY KEY)",
        "CREATE SEQUENCE used START 1900000000",
        "ALTER TABLE twice ALTER COLUMN id SET DEFAULT nextval('used')",
        "INSERT INTO twice SELECT FROM generate_series(1, 600)",
        "ANALYZE",
    ]);
    let advice = server.advice();
    let [plan] = &advice.plans[..] else {
        panic!("{:?}", advice.plans)
    };
    let why = plan.steps.as_ref().unwrap_err();
    assert!(why.contains("the sequence public.twice_id_seq"), "{why}");
}

/// Names that are the same in their first 54 bytes, names that look like those of the steps, and names that end a quotation.
#[test]
fn postgres_steps_run_whatever_the_names_are() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    let long = |letter: &str, number: u32| format!("{}_{number}", letter.repeat(58));
    let parent = "shop.\"a\n$inorder$; DROP TABLE shop.victim;--\"";
    server.run(&[
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.victim (n int)",
        &format!("CREATE TABLE {parent} (id text PRIMARY KEY, name text)"),
        &format!("INSERT INTO {parent} SELECT gen_random_uuid()::text, 'name ' || g FROM generate_series(1, 2000) g"),
        &format!("CREATE TABLE shop.few (c text NOT NULL, CONSTRAINT c_not_null FOREIGN KEY (c) REFERENCES {parent})"),
        &format!("INSERT INTO shop.few SELECT id FROM {parent}"),
    ]);
    for number in [1, 2] {
        let (table, one, two) = (long("t", number), long("c", 1), long("c", 2));
        let (key, other, index) = (long("f", 1), long("f", 2), long("i", number));
        server.run(&[
            &format!(
                "CREATE TABLE shop.{table} ({one} text NOT NULL, {two} text NOT NULL,
                 CONSTRAINT {key} FOREIGN KEY ({one}) REFERENCES {parent}, CONSTRAINT {other} FOREIGN KEY ({two}) REFERENCES {parent})"
            ),
            &format!("CREATE INDEX {index} ON shop.{table} ({one})"),
            &format!("INSERT INTO shop.{table} SELECT id, id FROM {parent}"),
        ]);
    }
    server.run(&["ANALYZE"]);
    let objects = server.rows(OBJECTS);
    let advice = server.advice();
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.title.starts_with("uuid"))
        .unwrap();
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    assert_eq!(server.rows(OBJECTS), objects);
    let columns = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'shop' AND data_type = 'uuid'";
    assert_eq!(server.one(columns), "6");
}
