//! Experiments that are drafted from a schema, on each engine.

use crate::common::{Place, with_status};
use inorder_bench::results::{Status, Store};
use inorder_engine::ENGINES;
use inorder_testing::is_installed;
use std::fs;

/// Orders with three indexes and their items, in the words of an engine.
fn ddl(engine: &str) -> String {
    let [id, text] = match engine {
        "postgres" => ["bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "text"],
        "mariadb" => ["BIGINT AUTO_INCREMENT PRIMARY KEY", "CHAR(36)"],
        _ => ["INTEGER PRIMARY KEY", "TEXT"],
    };
    format!(
        "CREATE TABLE customers (id {id}, email varchar(120) NOT NULL UNIQUE);
         CREATE TABLE orders (
           id {text} PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers(id), status varchar(12) NOT NULL,
           total numeric(10,2) NOT NULL, created_at timestamp NOT NULL);
         CREATE INDEX orders_customer ON orders(customer_id);
         CREATE INDEX orders_created ON orders(created_at);
         CREATE INDEX orders_status ON orders(status);
         CREATE TABLE order_items (
           order_id {text} NOT NULL REFERENCES orders(id) ON DELETE CASCADE, line smallint NOT NULL,
           quantity integer NOT NULL, PRIMARY KEY (order_id, line));"
    )
}

#[test]
fn orders_and_their_items_are_measured_from_a_schema() {
    for name in ["sqlite", "postgres", "mariadb"] {
        let engine = ENGINES.iter().find(|engine| engine.name() == name);
        if !is_installed(*engine.expect("an engine")) {
            continue;
        }
        let place = Place::for_servers(&ddl(name));
        let engine = format!("--engine={name}");
        let all = [
            "bench",
            "--schema=tiny.toml",
            &engine,
            "--write-experiment=orders.toml",
            "--set=rows=200",
            "--repetitions=1",
        ];
        // Two kinds of UUIDs in two encodings, integers, and the baseline once more. Servers take longer.
        let (some, trials) = match name {
            "sqlite" => (&[][..], 6),
            _ => (&["--only=key=uuid4"][..], 3),
        };
        let said = place.run(&[&all[..], some].concat());
        let said = said.expect(0, &["done in"]);
        assert!(said.stdout.contains("Keys of orders"), "{}", said.stdout);
        let run = Store::read(&place.file()).expect("a run");
        assert_eq!(with_status(&run, Status::Done).len(), trials, "{name}");
        for trial in &run.trials {
            assert_eq!(trial.last("rows_stored", ""), Some(200.0));
            assert_eq!(trial.last("rows_stored", "order_items"), Some(600.0));
        }
        // What was written is an experiment like any other.
        let said = place.run(&["bench", "orders.toml", "--dry-run"]);
        assert!(said.expect(0, &[]).stdout.contains("uuid4, text"));
    }
}

/// Types of columns, and the names of columns with them.
const TYPES: [(&str, &str); 9] = [
    ("n", "integer"),
    ("s", "smallint"),
    ("t", "varchar(40)"),
    ("c", "varchar(2)"),
    ("d", "date"),
    ("m", "numeric(4,2)"),
    ("u", "uuid"),
    ("b", "boolean"),
    ("r", "real"),
];

/// A table `a`, tables that it refers to, and tables that refer to it. Each has a unique key of one to three columns of these
/// types, as a primary key or beside one. Some have one of references. Of the keys, each `step`-th is taken.
fn with_unique_keys(step: usize) -> String {
    let mut keys: Vec<Vec<(&str, &str)>> = Vec::new();
    for (i, &first) in TYPES.iter().enumerate() {
        keys.push(vec![first]);
        for (j, &second) in TYPES.iter().enumerate().skip(i + 1) {
            keys.push(vec![first, second]);
            let third = TYPES.iter().skip(j + 1);
            keys.extend(third.map(|&third| vec![first, second, third]));
        }
    }
    let (mut before, mut after, mut references) = (String::new(), String::new(), String::new());
    for (number, key) in keys.iter().step_by(step).enumerate() {
        let columns: String = key
            .iter()
            .map(|(name, ty)| format!("{name} {ty} NOT NULL, "))
            .collect();
        let names: Vec<&str> = key.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        match number % 4 {
            0 => {
                before += &format!(
                    "CREATE TABLE p{number}(id integer PRIMARY KEY, {columns} UNIQUE({names}));\n"
                );
                references += &format!(", p{number} integer REFERENCES p{number}(id)");
            }
            1 => {
                after += &format!(
                    "CREATE TABLE q{number}(a uuid NOT NULL REFERENCES a(id), {columns} UNIQUE({names}));\n"
                )
            }
            2 => {
                after += &format!(
                    "CREATE TABLE q{number}(a uuid NOT NULL REFERENCES a(id), {columns} PRIMARY KEY({names}));\n"
                )
            }
            _ => {
                after += &format!(
                    "CREATE TABLE q{number}(a uuid NOT NULL REFERENCES a(id), {columns} PRIMARY KEY(a, {names}));\n"
                )
            }
        }
    }
    format!(
        "{before}CREATE TABLE few(id char(1) PRIMARY KEY);
         CREATE TABLE pair(x char(1) NOT NULL REFERENCES few(id), y char(1) NOT NULL REFERENCES few(id),
           n integer NOT NULL UNIQUE, PRIMARY KEY(x, y));
         CREATE TABLE a(id uuid PRIMARY KEY, x char(1) NOT NULL REFERENCES few(id), n integer NOT NULL,
           y integer UNIQUE REFERENCES pair(n),
           z char(1) REFERENCES few(id), b boolean{references}, UNIQUE(x, n), UNIQUE(z, b));
         CREATE TABLE tag(a uuid NOT NULL REFERENCES a(id), x char(1) NOT NULL REFERENCES few(id), PRIMARY KEY(a, x));
         {after}"
    )
}

#[test]
fn unique_keys_of_drafts_refuse_no_row() {
    for name in ["sqlite", "postgres", "mariadb"] {
        let engine = ENGINES.iter().find(|engine| engine.name() == name);
        if !is_installed(*engine.expect("an engine")) {
            continue;
        }
        // Servers take longer.
        let step = if name == "sqlite" { 1 } else { 16 };
        let place = Place::for_servers(&with_unique_keys(step));
        let said = place.run(&[
            "bench",
            "--schema=tiny.toml",
            &format!("--engine={name}"),
            "--table=a",
            "--write-experiment=a.toml",
            "--set=rows=400",
            "--set=rows_per_transaction=100",
            "--only=key=uuid4",
            "--repetitions=1",
        ]);
        said.expect(0, &["done in"]);
        let run = Store::read(&place.file()).expect("a run");
        assert!(with_status(&run, Status::Failed).is_empty(), "{name}");
        let text = fs::read_to_string(place.path().join("a.toml")).expect("a draft");
        for words in [
            "# few has 9 rows, because recipes make no more different values for its unique keys",
            "# pair has 81 rows",
            "# left out: UNIQUE (y) of a, for which recipes make 81 different values",
            "# left out: UNIQUE (z, b) of a",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn columns_without_a_recipe_have_a_note() {
    let engine = ENGINES.iter().find(|engine| engine.name() == "postgres");
    if !is_installed(*engine.expect("an engine")) {
        return;
    }
    let place = Place::for_servers(
        "CREATE TABLE a(id uuid PRIMARY KEY, ip inet, net cidr NOT NULL, tags text[] NOT NULL, t text);",
    );
    let draft = ["bench", "--schema=tiny.toml", "--engine=postgres"];
    let said = place.run(&[&draft[..], &["--write-experiment=-"]].concat());
    let text = said.expect(0, &[]).stdout;
    for words in [
        "# left out: values of a.ip, which stores NULL: no recipe makes values of the type inet",
        "# left out: values of a.net, which stores text: no recipe makes values of the type cidr",
        "# left out: values of a.tags, which stores text: no recipe makes values of the type text[]",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("a.t,"), "{text}");
    let run = ["--set=rows=100", "--repetitions=1", "--only=key=int-seq"];
    place
        .run(&[&draft[..], &run].concat())
        .expect(0, &["done in"]);
}

#[test]
fn references_have_the_type_of_the_column_that_they_lead_to() {
    for (name, ddl, notes) in [
        (
            "postgres",
            "CREATE TABLE p(net cidr PRIMARY KEY, ip inet UNIQUE, n integer UNIQUE, t text UNIQUE);
             CREATE TABLE a(id uuid PRIMARY KEY, net cidr NOT NULL REFERENCES p(net), ip inet REFERENCES p(ip),
               n smallint REFERENCES p(n), t varchar(5) REFERENCES p(t));",
            &["a.n has the type integer of", "a.t has the type text of"][..],
        ),
        (
            "mariadb",
            "CREATE TABLE p(net time PRIMARY KEY, ip time UNIQUE, n integer UNIQUE, t varchar(40) UNIQUE);
             CREATE TABLE a(id uuid PRIMARY KEY, net time NOT NULL REFERENCES p(net), ip time REFERENCES p(ip),
               n integer REFERENCES p(n), t varchar(5) REFERENCES p(t));",
            &["a.t has the type varchar(40) of"],
        ),
    ] {
        let engine = ENGINES.iter().find(|engine| engine.name() == name);
        if !is_installed(*engine.expect("an engine")) {
            continue;
        }
        let place = Place::for_servers(&format!(
            "{ddl} CREATE TABLE b(a uuid PRIMARY KEY REFERENCES a(id));
             CREATE TABLE c(b uuid NOT NULL REFERENCES b(a), n integer);"
        ));
        let said = place.run(&[
            "bench",
            "--schema=tiny.toml",
            &format!("--engine={name}"),
            "--table=a",
            "--write-experiment=a.toml",
            "--set=rows=100",
            "--only=key=int-seq",
            "--repetitions=1",
        ]);
        said.expect(0, &["done in"]);
        let text = fs::read_to_string(place.path().join("a.toml")).expect("a draft");
        assert_eq!(text.matches("FOREIGN KEY").count(), 6, "{text}");
        for column in ["p.net", "p.ip", "a.net", "a.ip"] {
            let note = format!("left out: values of {column}, which stores text");
            assert!(text.contains(&note), "{note}: {text}");
        }
        for note in notes {
            assert!(text.contains(note), "{note}: {text}");
        }
    }
}

/// Writes `app.db`: fifty orders with two items each.
fn make_shop(place: &Place) {
    let database = rusqlite::Connection::open(place.path().join("app.db")).expect("a database");
    database.execute_batch(&ddl("sqlite")).expect("tables");
    database
        .execute_batch(
            "INSERT INTO customers VALUES (1, 'a@example.org'), (2, 'b@example.org');
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50)
             INSERT INTO orders SELECT printf('0190a0b0-0000-4000-8000-%012d', n), 1 + n % 2, 'paid', n, '2026-01-01' FROM n;
             INSERT INTO order_items SELECT id, 1, 5 FROM orders UNION ALL SELECT id, 2, 6 FROM orders;",
        )
        .expect("rows");
}

#[test]
fn the_growth_of_a_table_is_predicted_from_its_database() {
    let place = Place::with("");
    make_shop(&place);
    let before = fs::read(place.path().join("app.db")).expect("a file");
    let predict =
        |more: &[&str]| place.run(&[&["predict", "--from=app.db", "--rows=20000"], more].concat());
    let text = predict(&[]).expect(0, &[]).stdout;
    for words in [
        "sqlite, table orders: 50 rows now",
        "indexes: orders_created, orders_customer, orders_status",
        "uuid4 (text), present",
        "bytes written until the end",
        "times the bytes of one with the present key",
        "order_items also stores these keys",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json = predict(&["--engine=innodb", "--format=json"])
        .expect(0, &[])
        .stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["table"]["rows"], 50);
    let keys: Vec<_> = (value["predictions"].as_array().expect("a list").iter())
        .map(|found| (found["key"].as_str(), found["encoding"].as_str()))
        .collect();
    assert_eq!(keys.len(), 5);
    assert_eq!(keys[0], (Some("uuid4"), Some("text")));
    assert_eq!(keys[3], (Some("uuid7"), Some("native")));
    assert!(value["predictions"][0]["now"]["bytes_until_the_end"]["value"].as_f64() > Some(0.0));
    predict(&["--table=order"]).expect(2, &["did you mean `orders`?"]);
    predict(&["--row-bytes=50"]).expect(2, &["cannot be used with"]);
    assert_eq!(
        fs::read(place.path().join("app.db")).expect("a file"),
        before
    );
}

#[test]
fn a_database_is_measured_on_every_engine_from_its_rows() {
    if !ENGINES.iter().all(|engine| is_installed(*engine)) {
        return;
    }
    let place = Place::for_servers("");
    make_shop(&place);
    let before = fs::read(place.path().join("app.db")).expect("a file");
    let said = place.run(&[
        "bench",
        "--from=app.db",
        "--engine=sqlite,postgres,mariadb",
        "--set=rows=100",
        "--only=key=uuid4",
        "--only=encoding=text",
        "--repetitions=1",
    ]);
    said.expect(0, &["done in"]);
    let run = Store::read(&place.file()).expect("a run");
    assert_eq!(run.meta.engines.len(), 3);
    for trial in &run.trials {
        assert_eq!(trial.last("rows_stored", "order_items"), Some(200.0));
    }
    assert_eq!(
        fs::read(place.path().join("app.db")).expect("a file"),
        before
    );
}

#[test]
fn what_cannot_be_drafted_is_told() {
    let place = Place::with(
        "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);",
    );
    let draft = |more: &[&str]| place.run(&[&["bench", "--schema=tiny.toml"], more].concat());
    draft(&[]).expect(2, &["--table", "(a, b)"]);
    draft(&["--table=c"]).expect(2, &["no table `c`"]);
    draft(&["--engine=galera"]).expect(2, &["no experiment can be drafted for `galera`"]);
    place
        .run(&["bench", "--table=a"])
        .expect(2, &["go with --schema or --from"]);
    let printed = draft(&["--table=a", "--write-experiment=-"]).expect(0, &[]);
    assert!(
        printed
            .stdout
            .starts_with("# Key kinds for `a`, drafted from tiny.toml")
    );
    assert!(place.files().is_empty());
    place
        .run(&["bench", "--from=missing.db"])
        .expect(2, &["missing.db"]);
}
