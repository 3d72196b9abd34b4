//! Drafts of SQLite's catalogs, and predictions of tables in each engine. The command's tests draft from servers.

use super::*;
use crate::experiment::{Experiment, Overrides, Recipe, Scale, Table, TableRows};
use inorder_engine::Settings;
use inorder_key::bulk::{KeyBuffer, KeyStream, SplitMix64};
use inorder_key::{Encoding, KeyKind};
use inorder_predict::{Engine, Order, predict};
use inorder_testing::is_installed;
use std::path::Path;

/// A shop: two tables that orders refer to, the orders, their items, and a table beside them.
const SHOP: &str = "
CREATE TABLE customers(id INTEGER PRIMARY KEY, email VARCHAR(120) NOT NULL UNIQUE);
CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price NUMERIC(8, 2) NOT NULL);
CREATE TABLE orders(
  id CHAR(36) NOT NULL PRIMARY KEY, customer INTEGER REFERENCES customers(id), status TEXT NOT NULL,
  at DATETIME NOT NULL, \"the note\" TEXT);
CREATE INDEX orders_customer ON orders(customer);
CREATE INDEX orders_new ON orders(at) WHERE status = 'new';
CREATE TABLE items(
  order_id CHAR(36) NOT NULL REFERENCES orders(id), line INTEGER NOT NULL,
  product INTEGER NOT NULL REFERENCES products(id), PRIMARY KEY(order_id, line)) WITHOUT ROWID;
CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT);
";

fn catalog(folder: &Path, rows: &str) -> Catalog {
    let path = folder.join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch(&format!("{SHOP}{rows}")).unwrap();
    Catalog::of_database(&path.to_string_lossy()).unwrap()
}

fn drafted(catalog: &Catalog, tables: &[&str], engines: &[&str]) -> (String, Experiment) {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let wishes = Wishes {
        tables: owned(tables),
        engines: owned(engines),
        origin: "shop.sql".to_owned(),
    };
    let draft = draft(catalog, &wishes).unwrap();
    let file = format!("{}.toml", draft.name);
    let parsed = Experiment::parse(&file, &draft.text, Scale::Quick, &Overrides::default());
    (
        draft.text.clone(),
        parsed.unwrap_or_else(|error| panic!("{error}\n{}", draft.text)),
    )
}

fn table<'a>(experiment: &'a Experiment, name: &str) -> &'a Table {
    let mut tables = experiment.tables.iter();
    tables.find(|table| table.name == name).unwrap()
}

#[test]
fn a_schema_becomes_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let (text, experiment) = drafted(&catalog(folder.path(), ""), &[], &[]);
    insta::assert_snapshot!(text);
    assert_eq!(experiment.name, "orders");
    let items = table(&experiment, "items");
    assert_eq!(items.belongs_to, Some(("orders".to_owned(), 3)));
    assert!(
        !experiment
            .tables
            .iter()
            .any(|table| table.name == "settings")
    );
}

#[test]
fn ddl_is_read_from_the_engine_that_applied_it() {
    let folder = tempfile::tempdir().unwrap();
    let ddl = format!("\\restrict abc\n{SHOP}");
    let catalog = Catalog::of_ddl("sqlite", &ddl, folder.path()).unwrap();
    assert_eq!(catalog.tables.len(), 5);
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::of_ddl("sqlite", "CREATE TABLE t(x; ", folder.path())
        .err()
        .unwrap();
    assert!(error.to_string().contains("syntax error"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = Catalog::of_ddl("sqlite", "ATTACH 'x' AS y", folder.path())
        .err()
        .unwrap();
    assert!(error.to_string().contains("isn't allowed"), "{error}");
}

/// The notes and tables of a dump, if the engine is installed.
fn dumped(engine: &str, dump: &str) -> Option<Result<Catalog, crate::error::Error>> {
    is_installed(inorder_engine::engine(engine).unwrap()).then(|| {
        let folder = inorder_testing::reachable_folder();
        Catalog::of_ddl(engine, dump, folder.path())
    })
}

fn names(catalog: &Catalog) -> Vec<&str> {
    let tables = catalog.tables.iter();
    tables.map(|table| table.name.as_str()).collect()
}

#[test]
fn a_dump_of_sqlite_has_tables_of_its_own() {
    let dump = "\u{feff}PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;
        CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT);
        CREATE TABLE sqlite_sequence(name,seq);
        CREATE VIRTUAL TABLE f using fts5(t)\n/* f(t) */;
        CREATE TABLE IF NOT EXISTS 'f_data'(id INTEGER PRIMARY KEY, block BLOB);
        CREATE TABLE f_own(id INTEGER PRIMARY KEY);
        CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO f VALUES(new.b); SELECT 1; END;
        INSERT INTO a VALUES(1, 'x;'); INSERT INTO a VALUES(2, 'y');\nCOMMIT;";
    let catalog = dumped("sqlite", dump).unwrap().unwrap();
    assert_eq!(names(&catalog), ["a", "f_own"]);
    let notes = &catalog.notes;
    for words in ["virtual table f", "sqlite_sequence"] {
        let is_told = notes.iter().any(|note| note.text.contains(words));
        assert!(is_told, "{words}: {notes:?}");
    }
}

#[test]
fn keys_of_integers_that_are_not_the_rowid_have_a_note() {
    let ddl = "CREATE TABLE big(id BIGINT PRIMARY KEY);
        CREATE TABLE falling(id INTEGER PRIMARY KEY DESC);
        CREATE TABLE rowid(id integer, n INT, PRIMARY KEY(id));
        CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TABLE tree(id BIGINT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE pair(a INT, b INT, PRIMARY KEY(a, b));
        CREATE TABLE words(id TEXT PRIMARY KEY)";
    let catalog = dumped("sqlite", ddl).unwrap().unwrap();
    let about = |table: &str| {
        let mut notes = catalog.notes.iter();
        notes.any(|note| note.text.contains("is the rowid") && note.table.as_deref() == Some(table))
    };
    let tables = names(&catalog);
    let noted: Vec<&str> = tables.into_iter().filter(|table| about(table)).collect();
    assert_eq!(noted, ["big", "falling"], "{:?}", catalog.notes);
}

#[test]
fn a_prediction_has_the_notes_of_its_table_alone() {
    let ddl = "CREATE TABLE a(id BIGINT PRIMARY KEY);
        CREATE TABLE \"b (table b) (table a\"(id BIGINT PRIMARY KEY)";
    let catalog = dumped("sqlite", ddl).unwrap().unwrap();
    assert_eq!(catalog.notes.len(), 2);
    for table in ["a", "b (table b) (table a"] {
        let asked = Asked {
            table: Some(table.to_owned()),
            rows: 1000,
            ..Asked::default()
        };
        let notes = forecast(&catalog, &asked).unwrap().notes;
        let of_keys: Vec<&String> = notes
            .iter()
            .filter(|n| n.contains("is the rowid"))
            .collect();
        let end = format!("has none (table {table})");
        assert!(
            of_keys.len() == 1 && of_keys[0].ends_with(&end),
            "{notes:?}"
        );
    }
}

#[test]
fn unsigned_keys_of_mariadb_are_integers() {
    let ddl = "CREATE TABLE t(id BIGINT UNSIGNED NOT NULL PRIMARY KEY, n INT)";
    let Some(catalog) = dumped("mariadb", ddl) else {
        return;
    };
    let text = draft(&catalog.unwrap(), &Wishes::default()).unwrap().text;
    assert!(text.contains("key = [\"int-seq\""), "{text}");
}

#[test]
fn tables_with_types_that_cannot_be_read_are_left_out() {
    let ddl = "CREATE TABLE shops(id INT PRIMARY KEY, at POINT NOT NULL);
        CREATE TABLE orders(id CHAR(36) PRIMARY KEY, shop INT NOT NULL, FOREIGN KEY (shop) REFERENCES shops(id))";
    let Some(catalog) = dumped("mariadb", ddl) else {
        return;
    };
    let catalog = catalog.unwrap();
    assert_eq!(names(&catalog), ["orders"]);
    let text = draft(&catalog, &Wishes::default()).unwrap().text;
    assert!(
        text.contains("# left out: table shops: column `at`"),
        "{text}"
    );
    let of_shops = Wishes {
        tables: vec!["shops".to_owned()],
        ..Wishes::default()
    };
    let error = draft(&catalog, &of_shops).unwrap_err().to_string();
    assert!(
        error.contains("left out: table shops: column `at`"),
        "{error}"
    );
}

#[test]
fn a_dump_of_postgres_has_schemas_and_extensions() {
    let dump = "SET statement_timeout = 0;\nSET transaction_timeout_of_later = 0;
        SELECT pg_catalog.set_config('search_path', '', false);
        CREATE SCHEMA billing;
        CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public;
        COMMENT ON EXTENSION pgcrypto IS 'x; y';
        CREATE EXTENSION IF NOT EXISTS no_such_extension;
        CREATE TABLE public.a (id uuid DEFAULT public.gen_random_uuid() NOT NULL, s text);
        ALTER TABLE public.a OWNER TO somebody;
        ALTER TABLE ONLY public.a ADD CONSTRAINT a_pkey PRIMARY KEY (id);
        CREATE TABLE billing.b (id bigint PRIMARY KEY);
        CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION public.no_such_function();
        CREATE FUNCTION public.f() RETURNS text LANGUAGE plpgsql AS $$ BEGIN\n\\; RETURN ';'; END $$;";
    // PostgreSQL has had its own function of this name since version 13, and public has none.
    let dump = dump.replace("public.gen_random_uuid", "gen_random_uuid");
    let Some(catalog) = dumped("postgres", &dump) else {
        return;
    };
    let catalog = catalog.unwrap();
    assert_eq!(names(&catalog), ["a"]);
    assert_eq!(catalog.tables[0].key, ["id"]);
    let notes: Vec<&str> = catalog.notes.iter().map(|n| n.text.as_str()).collect();
    for words in [
        "left out: ALTER … OWNER TO, which postgres refuses",
        "left out: CREATE EVENT, which",
        "left out: CREATE EXTENSION, which",
        "schemas than public",
    ] {
        assert!(
            notes
                .iter()
                .any(|note| note.starts_with(words) || note.contains(words)),
            "{words}: {notes:?}"
        );
    }
    let refused = dumped(
        "postgres",
        "CREATE VIEW v AS SELECT * FROM w; CREATE TABLE t(x no_such_type);",
    );
    let error = refused.unwrap().err().unwrap().to_string();
    assert!(
        error.contains("CREATE TABLE t(x no_such_type") && error.contains("CREATE VIEW"),
        "{error}"
    );
}

#[test]
fn a_dump_of_mariadb_has_triggers_and_views_of_others() {
    let dump = "/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
CREATE TABLE `a` (`id` bigint(20) NOT NULL AUTO_INCREMENT, `b` bigint(20) NOT NULL, PRIMARY KEY (`id`),
  CONSTRAINT `a_b` FOREIGN KEY (`b`) REFERENCES `b` (`id`)) ENGINE=InnoDB;
CREATE TABLE `b` (`id` bigint(20) NOT NULL, `x` varchar(255), `y` varchar(255), PRIMARY KEY (`id`), KEY `xy` (`x`,`y`))
  ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER t BEFORE INSERT ON b FOR EACH ROW BEGIN
SET NEW.x = ';'; SET NEW.y = 'y'; END */;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS SELECT 1 AS `one` */;
CREATE VIEW w AS SELECT * FROM no_such_table;
";
    let Some(catalog) = dumped("mariadb", dump) else {
        return;
    };
    let catalog = catalog.unwrap();
    assert_eq!(names(&catalog), ["a", "b"]);
    let notes = catalog.notes.iter().map(|note| &note.text);
    let refused: Vec<&String> = notes.filter(|note| note.contains("refuses")).collect();
    assert!(
        refused.len() == 1 && refused[0].contains("no_such_table"),
        "{refused:?}"
    );
}

#[test]
fn drafts_keep_to_the_types_and_unique_keys_of_the_schema() {
    let dump = "CREATE TABLE orders(id CHAR(36) PRIMARY KEY, state ENUM('new', 'it''s paid') NOT NULL,
          n SMALLINT UNSIGNED NOT NULL, y YEAR NOT NULL, hash VARBINARY(16) NOT NULL, code BINARY(3) NOT NULL,
          ip INET6 NOT NULL, day DATE NOT NULL UNIQUE);
        CREATE TABLE days(order_id CHAR(36) NOT NULL REFERENCES orders(id), day DATE NOT NULL, PRIMARY KEY(order_id, day));";
    let Some(catalog) = dumped("mariadb", dump) else {
        return;
    };
    let (text, experiment) = drafted(&catalog.unwrap(), &["orders"], &[]);
    for words in [
        "\"state\" = { fill = \"values\", values = [\"new\", \"it's paid\"] }",
        "\"n\" = { fill = \"random-int\", low = 0, high = 65535 }",
        "\"y\" = { fill = \"random-int\", low = 1970, high = 2069 }",
        "\"hash\" = { fill = \"random-blob\", length = [16, 16] }",
        "\"code\" = { fill = \"random-blob\", length = [3, 3] }",
        "\"ip\" = { fill = \"values\", values = [\"2001:db8::1\"",
        "[fixed.mariadb]\npage_size_bytes = 16384\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(
        text.matches("step_ms = 86400000, date = true").count(),
        2,
        "{text}"
    );
    assert_eq!(experiment.name, "orders");
}

#[test]
fn rows_decide_kinds_and_recipes_and_how_many_belong_together() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(
        folder.path(),
        "
        INSERT INTO customers VALUES(1, 'a@example.org'), (2, 'b@example.org');
        INSERT INTO products VALUES(1, 'cup', 3.5), (2, 'plate', 7);
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
        INSERT INTO orders SELECT printf('0190a0b0-0000-7000-8000-%012d', n), iif(n % 4, 1, NULL),
          iif(n % 5, 'paid', 'new'), '2026-01-01', NULL FROM n;
        INSERT INTO items SELECT id, 1, 1 FROM orders UNION ALL SELECT id, 2, 2 FROM orders;
        ",
    );
    let (text, experiment) = drafted(&catalog, &[], &[]);
    assert_eq!(
        experiment.baseline[0],
        ("key".to_owned(), "uuid7".to_owned()),
        "{text}"
    );
    assert!(
        text.contains(
            "\"customer\" = { fill = \"pick\", from = \"customers.id\", null_share = 0.250 }"
        ),
        "{text}"
    );
    assert!(
        text.contains("fill = \"values\", values = [\"new\""),
        "{text}"
    );
    // All NULL: the engine leaves it.
    assert!(!text.contains("\"the note\" ="), "{text}");
    let table = |name: &str| table(&experiment, name);
    assert_eq!(table("items").belongs_to, Some(("orders".to_owned(), 2)));
    assert_eq!(table("customers").rows, TableRows::Fixed(2));
}

#[test]
fn each_engine_gets_ddl_and_encodings_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let (_, experiment) = drafted(&catalog, &["orders"], &["sqlite", "postgres", "mariadb"]);
    let create = |name: &str, engine: &str| {
        let table = table(&experiment, name);
        table.create.of(engine, "rowid").unwrap().to_owned()
    };
    assert!(create("orders", "postgres").contains("\"customer\" bigint"));
    assert!(create("orders", "mariadb").contains("`customer` BIGINT"));
    assert!(create("orders", "mariadb").contains("`id` {key} NOT NULL"));
    assert!(create("items", "sqlite").ends_with("WITHOUT ROWID"));
    assert!(!create("items", "postgres").contains("ROWID"));
}

#[test]
fn tables_that_were_named_change_their_keys_together() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let (_, experiment) = drafted(&catalog, &["orders", "customers"], &[]);
    let table = |name: &str| table(&experiment, name);
    assert!(!table("customers").is_measured);
    let is_key = |(_, recipe): &&(String, Recipe)| matches!(recipe, Recipe::Key);
    assert_eq!(table("customers").columns.iter().filter(is_key).count(), 1);
    let create = table("orders").create.of("sqlite", "rowid").unwrap();
    assert!(create.contains("\"customer\" {key}"), "{create}");
}

/// Composite keys: the table, and the column whose ids are in question.
const COMPOSITE: [(&str, &str); 6] = [
    (
        "tenant INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(tenant, id)",
        "id",
    ),
    (
        "id INTEGER NOT NULL, tenant INTEGER NOT NULL, PRIMARY KEY(id, tenant)",
        "id",
    ),
    (
        "tenant CHAR(36) NOT NULL, event CHAR(36) NOT NULL, PRIMARY KEY(tenant, event)",
        "event",
    ),
    (
        "id CHAR(36) NOT NULL, at TIMESTAMP NOT NULL, PRIMARY KEY(id, at)",
        "id",
    ),
    (
        "day DATE NOT NULL, region VARCHAR(4) NOT NULL, number INTEGER NOT NULL, PRIMARY KEY(day, region, number)",
        "number",
    ),
    (
        "p INTEGER NOT NULL REFERENCES parent(id), line INTEGER NOT NULL, PRIMARY KEY(line, p)",
        "line",
    ),
];

#[test]
fn the_id_of_a_composite_key_is_in_question() {
    for (columns, id) in COMPOSITE {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let database = rusqlite::Connection::open(&path).unwrap();
        let ddl = format!(
            "CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE t(note TEXT, {columns})"
        );
        database.execute_batch(&ddl).unwrap();
        let catalog = Catalog::of_database(&path.to_string_lossy()).unwrap();
        for engine in ["sqlite", "postgres", "mariadb"] {
            let (text, experiment) = drafted(&catalog, &["t"], &[engine]);
            let own = table(&experiment, "t");
            let recipe = own.columns.iter().find(|(name, _)| name == id);
            assert!(
                matches!(recipe, Some((_, Recipe::Key))),
                "{columns}: {text}"
            );
            let create = own.create.of(engine, "rowid").unwrap();
            assert!(
                create.contains("PRIMARY KEY (") && create.contains("{key}"),
                "{create}"
            );
        }
    }
}

/// A dump of mysqldump 8.0.
const MYSQL_8: &str = "
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';
CREATE TABLE `event` (
  `tenant` int NOT NULL,
  `id` binary(16) NOT NULL DEFAULT (0x00000000000000000000000000000000),
  `name` varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs NOT NULL,
  `at` datetime(6) NOT NULL,
  PRIMARY KEY (`tenant`,`id`),
  KEY `name` (`name`(10)) /*!80000 INVISIBLE */
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci /*!80016 DEFAULT ENCRYPTION='N' */;
";

#[test]
fn a_dump_of_mysql_8_is_drafted() {
    let Some(catalog) = dumped("mariadb", MYSQL_8) else {
        return;
    };
    let catalog = catalog.unwrap();
    let notes: Vec<String> = catalog.notes.iter().map(Note::to_string).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("utf8mb4_0900_ai_ci of MySQL")),
        "{notes:?}"
    );
    let (_, experiment) = drafted(&catalog, &["event"], &[]);
    assert_eq!(table(&experiment, "event").columns.len(), 4);
}

#[test]
fn what_cannot_be_chosen_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = catalog(folder.path(), "");
    let refusal = |tables: &[&str]| {
        let wishes = Wishes {
            tables: tables.iter().map(|&name| name.to_owned()).collect(),
            ..Wishes::default()
        };
        draft(&catalog, &wishes).unwrap_err().to_string()
    };
    assert!(refusal(&["order"]).contains("did you mean `orders`?"));
    let folder = tempfile::tempdir().unwrap();
    let database = rusqlite::Connection::open(folder.path().join("x.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY)",
        )
        .unwrap();
    let two = Catalog::of_database(&folder.path().join("x.db").to_string_lossy()).unwrap();
    let error = draft(&two, &Wishes::default()).unwrap_err().to_string();
    assert!(
        error.contains("--table") && error.contains("(a, b)"),
        "{error}"
    );
}

#[test]
fn a_key_that_no_experiment_writes_is_named() {
    let ddl = "CREATE TABLE a(id CHAR(24) PRIMARY KEY); CREATE TABLE b(id DATE PRIMARY KEY);";
    let catalog = dumped("sqlite", ddl).unwrap().unwrap();
    let refusal = |tables: &[&str]| {
        let wishes = Wishes {
            tables: tables.iter().map(|&name| name.to_owned()).collect(),
            ..Wishes::default()
        };
        draft(&catalog, &wishes).unwrap_err().to_string()
    };
    for named in [&["a"][..], &[]] {
        let error = refusal(named);
        assert!(
            error.contains("(id CHAR(24)) stores other texts") && error.contains("32 hex digits"),
            "{error}"
        );
    }
    assert!(refusal(&["b"]).contains("(id DATE) is not of integers"));
}

#[test]
fn keys_of_32_hex_digits_are_measured() {
    let ddl = "CREATE TABLE a(id CHAR(32) PRIMARY KEY);
        CREATE TABLE b(id CHAR(32) PRIMARY KEY, a CHAR(32) NOT NULL REFERENCES a(id));";
    let catalog = dumped("sqlite", ddl).unwrap().unwrap();
    let (text, _) = drafted(&catalog, &["b"], &[]);
    for words in [
        "encoding = [\"hex\", \"blob\", \"default\"]",
        "[baseline]\nkey = \"uuid4\"\nencoding = \"hex\"",
        "\"id\" = { fill = \"key\", kind = \"uuid4\", encoding = \"hex\" }",
        "\"a\" CHAR(32) NOT NULL",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let asked = Asked {
        table: Some("b".to_owned()),
        rows: 1000,
        ..Asked::default()
    };
    let present = &forecast(&catalog, &asked).unwrap().questions[0];
    assert_eq!(
        (present.key, present.encoding),
        (KeyKind::Uuid4, Encoding::Hex)
    );
}

#[test]
fn a_cycle_of_references_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE team(id INTEGER PRIMARY KEY, lead INTEGER REFERENCES person(id));
             CREATE TABLE person(id TEXT PRIMARY KEY, team INTEGER REFERENCES team(id), boss TEXT REFERENCES person(id))",
        )
        .unwrap();
    let catalog = Catalog::of_database(&path.to_string_lossy()).unwrap();
    let (text, experiment) = drafted(&catalog, &["person"], &[]);
    let names: Vec<&str> = experiment
        .tables
        .iter()
        .map(|table| table.name.as_str())
        .collect();
    assert_eq!(names, ["team", "person"]);
    assert!(
        text.contains("left out: the foreign key team_fk0 of team"),
        "{text}"
    );
}

/// Orders with random UUIDs in text: statements for any engine, whose ids are in a column of this type. The same rows each
/// time, because a small table with others may be further from the mean, which is predicted, than the test allows.
fn orders(text: &str, rows: u64) -> String {
    let mut random = SplitMix64::new(17);
    let mut ids = KeyStream::seeded(KeyKind::Uuid4, Encoding::Text, 17).unwrap();
    let KeyBuffer::Bytes {
        bytes, width_bytes, ..
    } = ids.fill(rows as usize)
    else {
        unreachable!("texts");
    };
    let values = (0..rows).zip(bytes.chunks(width_bytes)).map(|(n, id)| {
        let id = str::from_utf8(id).unwrap();
        let customer = random.below(1_000_000_000_000);
        let at = format!(
            "2026-01-{:02} {:02}:{:02}:00",
            1 + n / 1440,
            n / 60 % 24,
            n % 60
        );
        let note = if n % 3 == 0 {
            "NULL"
        } else {
            "'as agreed by phone'"
        };
        format!("('{id}', {customer}, '{at}', {note})")
    });
    format!(
        "CREATE TABLE orders(id {text} PRIMARY KEY, customer BIGINT NOT NULL, at TIMESTAMP NOT NULL, note VARCHAR(40));
         CREATE INDEX orders_customer ON orders(customer);
         CREATE INDEX orders_at ON orders(at);
         INSERT INTO orders VALUES {};",
        values.collect::<Vec<_>>().join(", ")
    )
}

#[test]
fn a_table_that_is_there_has_the_size_that_is_predicted() {
    const ROWS: u64 = 10_000;
    for (name, bound) in [("sqlite", 0.03), ("postgres", 0.03), ("mariadb", 0.06)] {
        let engine = inorder_engine::engine(name).unwrap();
        if !is_installed(engine) {
            continue;
        }
        let folder = inorder_testing::reachable_folder();
        let settings = Settings {
            page_size_bytes: 4096,
            ..Settings::default()
        };
        let database = engine.create(folder.path(), &settings).unwrap();
        let sql = match name {
            "mariadb" => format!("{} ANALYZE TABLE orders", orders("CHAR(36)", ROWS)),
            "postgres" => format!("{} ANALYZE orders", orders("text", ROWS)),
            _ => orders("TEXT", ROWS),
        };
        database.execute(&sql).unwrap();
        assert_eq!(database.count("orders").unwrap(), ROWS);
        database.quiesce().unwrap();
        let trees = database.structure().unwrap();
        // Small tables of InnoDB have more free pages than others.
        let is_leaf = name == "mariadb";
        let measured: u64 = trees
            .iter()
            .filter(|tree| tree.table == "orders")
            .map(|tree| tree.leaf_pages.filter(|_| is_leaf).unwrap_or(tree.pages))
            .sum();
        let catalog = Catalog::of_database(&database.location().unwrap()).unwrap();
        let asked = Asked {
            rows: 2 * ROWS,
            ..Asked::default()
        };
        let found = forecast(&catalog, &asked).unwrap();
        assert_eq!(found.table, "orders");
        let present = &found.questions[0];
        assert_eq!(
            (present.key, present.encoding),
            (KeyKind::Uuid4, Encoding::Text)
        );
        let orders: Vec<Order> = present.indexes.iter().map(|index| index.order).collect();
        assert!(orders.contains(&Order::Ascending) && orders.contains(&Order::Random));
        let mut question = present.clone();
        question.rows = ROWS;
        if name != "postgres" {
            question.page_bytes = settings.page_size_bytes;
        }
        let predicted = predict(&question).unwrap().trees;
        let pages = predicted.iter().map(|tree| match is_leaf {
            true => tree.leaf_pages,
            false => tree.pages,
        });
        let pages: f64 = pages.sum();
        assert!(
            (pages / measured as f64 - 1.0).abs() < bound,
            "{name}: {predicted:?} for {trees:?}"
        );
    }
}

#[test]
fn a_prediction_compares_the_present_key_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
        INSERT INTO orders SELECT printf('0190a0b0-0000-4000-8000-%012d', n), NULL, 'paid', '2026-01-01', 'x' FROM n;";
    let catalog = catalog(folder.path(), rows);
    let asked = |table: &str, engine, rows| Asked {
        table: Some(table.to_owned()),
        engine,
        rows,
        keys: Vec::new(),
    };
    let keys = |asked: &Asked| -> Vec<String> {
        let found = forecast(&catalog, asked).unwrap();
        let questions = found.questions.iter();
        let name = |question: &inorder_predict::Question| {
            assert!(question.check().is_ok());
            format!("{} {}", question.key.name(), question.encoding.name())
        };
        questions.map(name).collect()
    };
    let all = keys(&asked("orders", None, 1000));
    assert_eq!(
        all,
        [
            "uuid4 text",
            "uuid4 blob",
            "uuid7 text",
            "uuid7 blob",
            "int-seq integer"
        ]
    );
    let all = keys(&asked("orders", Some(Engine::Postgres), 1000));
    assert_eq!(all[1], "uuid4 native");
    let all = keys(&asked("customers", Some(Engine::Mariadb), 1000));
    assert_eq!(all, ["int-seq integer", "uuid7 native", "uuid4 native"]);
    let mut named = asked("orders", Some(Engine::Mariadb), 1000);
    named.keys = vec![KeyKind::Ulid, KeyKind::Tsid];
    assert_eq!(keys(&named), ["uuid4 text", "ulid blob", "tsid integer"]);

    let found = forecast(&catalog, &asked("orders", Some(Engine::Postgres), 1000)).unwrap();
    assert!(
        found.notes[0].starts_with("items also stores"),
        "{:?}",
        found.notes
    );
    let has = |words: &str| found.notes.iter().any(|note| note.contains(words));
    assert!(
        has("orders_customer") && has("will be smaller"),
        "{:?}",
        found.notes
    );
    assert!(
        has("the index orders_new (partial) is not simulated"),
        "{:?}",
        found.notes
    );
    let refusal = |asked: &Asked| forecast(&catalog, asked).unwrap_err().to_string();
    assert!(refusal(&asked("orders", None, 100)).contains("has 100 rows already"));
    assert!(refusal(&asked("items", None, 1000)).contains("primary key of `items`"));
}
