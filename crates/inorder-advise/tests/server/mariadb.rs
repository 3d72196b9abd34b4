//! MariaDB: indexes that may go and indexes that must stay, the printed steps, other storage engines.

use crate::server::{Server, changed, hash_steps, parts, reason};
use inorder_advise::{
    advice::Verdict,
    report::Look,
    server::{
        advice::Advice,
        migrate,
        model::ColumnTo,
        report::FORMATS,
        rules::{Action, Group},
    },
};
use std::collections::BTreeSet;

/// Tables with an index each that may go, named `x_…`.
const MAY_GO: &[&str] = &[
    "CREATE TABLE prefix (id int PRIMARY KEY, a int, b int, KEY x_prefix (a), KEY prefix_wide (a, b))",
    "CREATE TABLE twice (id int PRIMARY KEY, a int, KEY a_first (a), KEY x_twice (a))",
    "CREATE TABLE of_key (a int, b int, PRIMARY KEY (a, b), KEY x_of_key (a))",
    "CREATE TABLE of_unique (id int PRIMARY KEY, a int, b int, UNIQUE (a, b), KEY x_of_unique (a))",
    "CREATE TABLE same_key (id int PRIMARY KEY, a int, UNIQUE x_same_key (id))",
    "CREATE TABLE unique2 (id int PRIMARY KEY, a int, UNIQUE a_first (a), UNIQUE x_unique2 (a))",
    "CREATE TABLE part (id int PRIMARY KEY, c varchar(50), b int, KEY x_part (c(10)), KEY part_wide (c(10), b))",
    "CREATE TABLE backward (id int PRIMARY KEY, a int, b int, KEY x_backward (a DESC), KEY z_backward (a, b))",
    "CREATE TABLE with_key (id int PRIMARY KEY, a int, UNIQUE (a), KEY x_with_key (a, id))",
    "CREATE TABLE parent (id int PRIMARY KEY, a int)",
    "CREATE TABLE child (id int PRIMARY KEY, a int, b int, KEY x_child (a), KEY child_wide (a, b), FOREIGN KEY (a) REFERENCES parent (id) ON DELETE CASCADE)",
    "CREATE TABLE `Odd ``Table` (id int PRIMARY KEY, `B c` int, a int, KEY `x_Odd ``key` (`B c`), KEY `Odd wide` (`B c`, a))",
    "CREATE TABLE divided (id int, a int, b int, PRIMARY KEY (id), KEY x_divided (a), KEY divided_wide (a, b)) PARTITION BY HASH (id) PARTITIONS 3",
    // `chain_wide` replaces `chain_key`, which replaces `x_chain` by the primary key at its end: `chain_wide` does not.
    "CREATE TABLE chain (id int PRIMARY KEY, a int, b int, KEY chain_key (a), KEY chain_wide (a, b), KEY x_chain (a, id))",
];

/// Tables whose indexes all stay.
const MUST_STAY: &[&str] = &[
    "CREATE TABLE second (id int PRIMARY KEY, a int, b int, KEY second_of (b), KEY second_wide (a, b))",
    "CREATE TABLE turned (id int PRIMARY KEY, a int, b int, KEY turned_1 (a, b), KEY turned_2 (b, a))",
    "CREATE TABLE unique_prefix (id int PRIMARY KEY, a int, b int, UNIQUE unique_short (a), KEY unique_wide (a, b))",
    "CREATE TABLE unique_both (id int PRIMARY KEY, a int, b int, c int, UNIQUE both_short (a, b), UNIQUE both_wide (a, b, c))",
    "CREATE TABLE parts (id int PRIMARY KEY, c varchar(50), b int, KEY part_short (c(5)), KEY part_long (c(10), b))",
    "CREATE TABLE texts (id int PRIMARY KEY, c varchar(50), FULLTEXT text_words (c), KEY text_tree (c, id))",
    "CREATE TABLE mixed (id int PRIMARY KEY, a int, b int, c int, KEY mixed_short (a, b DESC), KEY mixed_wide (a, b, c))",
    "CREATE TABLE ignored (id int PRIMARY KEY, a int, b int, KEY ignored_short (a), KEY ignored_wide (a, b) IGNORED)",
    "CREATE TABLE only_child (id int PRIMARY KEY, a int, b int, KEY only_child_of (a), KEY only_wide (b, a), FOREIGN KEY (a) REFERENCES parent (id))",
    "CREATE TABLE around (id int PRIMARY KEY, a int, UNIQUE around_both (a, id), KEY around_key (a))",
    "CREATE TABLE aria (id int PRIMARY KEY, a int, b int, KEY aria_short (a), KEY aria_wide (a, b)) ENGINE=Aria",
    "CREATE TABLE myisam (id int PRIMARY KEY, a int, b int, KEY myisam_short (a), KEY myisam_wide (a, b)) ENGINE=MyISAM",
];

const INDEXES: &str = "SELECT DISTINCT table_name, index_name FROM information_schema.statistics WHERE table_schema = database() ORDER BY 1, 2";

fn fill(server: &Server) {
    for row in server.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name <> 'parent'") {
        let columns = server.rows(&format!(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = database() AND table_name = '{}'",
            row.replace('\'', "''")
        ));
        let names: Vec<String> = columns.iter().map(|name| format!("`{}`", name.replace('`', "``"))).collect();
        let values = vec!["seq"; names.len()].join(", ");
        let table = format!("`{}`", row.replace('`', "``"));
        server.run(&[&format!("INSERT INTO {table} ({}) SELECT {values} FROM seq_1_to_3000", names.join(", ")), &format!("ANALYZE TABLE {table}")]);
    }
}

/// Indexes that stay, and words of the reason.
const REASONS: &[(&str, &str)] = &[
    ("turned_2", "in another order"),
    ("unique_short", "unique, which unique_wide isn't"),
    ("part_short", "another length of the column"),
    ("mixed_short", "another direction"),
    ("ignored_wide", "queries ignore it"),
    ("chain_key", "replaces x_chain: only one"),
];

#[test]
fn indexes_that_are_needed_stay_and_the_steps_drop_the_others() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(MAY_GO);
    server.run(MUST_STAY);
    fill(&server);
    let before = server.rows(INDEXES);
    let found = server.advice();
    let names = before
        .iter()
        .filter_map(|row| Some(row.split_once(" | ")?.1.to_owned()));
    // A unique index begins with the one that isn't called so.
    let wanted: BTreeSet<String> = names
        .filter(|name| name.starts_with("x_") || name == "around_key")
        .collect();
    // The table `parent` has none.
    assert_eq!(wanted.len(), MAY_GO.len());
    assert_eq!(changed(&found, Group::RedundantIndex), wanted);
    for (object, words) in REASONS {
        let reason = reason(&found, object);
        assert!(reason.contains(words), "{object}: {reason}");
    }
    let notes = found.database.notes.join("\n");
    assert!(
        notes.contains("aria is stored by Aria") && notes.contains("myisam is stored by MyISAM"),
        "{notes}"
    );
    for plan in &found.plans {
        let steps = plan.steps.as_ref().unwrap();
        assert!(steps.is_online);
        server.carry_out(steps, &mut |_| {});
    }
    let is_dropped = |row: &String| {
        wanted
            .iter()
            .any(|name| row.ends_with(&format!(" | {name}")))
    };
    let left: Vec<String> = before
        .iter()
        .filter(|row| !is_dropped(row))
        .cloned()
        .collect();
    assert_eq!(server.rows(INDEXES), left);
    assert!(
        server
            .database
            .execute("INSERT INTO child VALUES (9000, 9000, 1)")
            .is_err()
    );
    for plan in &found.plans {
        server.take_back(plan.steps.as_ref().unwrap());
    }
    assert_eq!(server.rows(INDEXES), before);
}

const SHOP: &[&str] = &[
    "CREATE TABLE customer (id char(36) CHARACTER SET ascii NOT NULL DEFAULT uuid() COMMENT 'it''s the id' PRIMARY KEY, name varchar(50), boss char(36) CHARACTER SET ascii, KEY (boss), KEY (name),
         CONSTRAINT of_boss FOREIGN KEY (boss) REFERENCES customer (id))",
    "CREATE TABLE orders (number int AUTO_INCREMENT PRIMARY KEY, customer char(36) CHARACTER SET ascii NOT NULL, seller char(36) CHARACTER SET ascii,
         KEY customer (customer, number), KEY (seller), CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customer (id) ON DELETE CASCADE,
         CONSTRAINT of_seller FOREIGN KEY (seller) REFERENCES customer (id) ON DELETE SET NULL ON UPDATE CASCADE)",
    "INSERT INTO customer (id, name) SELECT uuid(), concat('name ', seq) FROM seq_1_to_2000",
    "UPDATE customer SET boss = id WHERE name LIKE '%7'",
    "INSERT INTO orders (customer, seller) SELECT id, IF(name LIKE '%3', id, NULL) FROM customer",
    "ANALYZE TABLE customer, orders",
];

const ROWS: &[&str] = &[
    "SELECT md5(group_concat(concat_ws(',', cast(id AS char), name, cast(boss AS char)) ORDER BY name)) FROM customer",
    "SELECT md5(group_concat(concat_ws(',', number, cast(customer AS char), cast(seller AS char)) ORDER BY number)) FROM orders",
];

const OBJECTS: &str = "SELECT concat_ws(' ', table_name, index_name, seq_in_index, column_name, non_unique) FROM information_schema.statistics WHERE table_schema = database()
     UNION ALL SELECT concat_ws(' ', table_name, constraint_name, delete_rule, update_rule, referenced_table_name) FROM information_schema.referential_constraints
         WHERE constraint_schema = database()
     UNION ALL SELECT concat_ws(' ', table_name, column_name, ordinal_position, is_nullable, column_comment, lower(column_default)) FROM information_schema.columns
         WHERE table_schema = database() ORDER BY 1";

#[test]
fn text_ids_become_uuids() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&["SET SESSION group_concat_max_len = 100000000"]);
    server.run(SHOP);
    let digest = || ROWS.iter().map(|sql| server.one(sql)).collect::<Vec<_>>();
    let (before, objects) = (digest(), server.rows(OBJECTS));
    let advice = server.advice();
    let (part, verdict) = parts(&advice)
        .find(|(part, _)| part.candidate.group == Group::NativeUuid)
        .unwrap();
    assert_eq!(verdict, Verdict::App, "{part:?}");
    let [
        Action::Convert {
            columns,
            to: ColumnTo::Uuid,
        },
    ] = &part.candidate.actions[..]
    else {
        panic!("{part:?}")
    };
    assert_eq!(columns.len(), 4, "{columns:?}");
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.needs_application)
        .unwrap();
    let steps = plan.steps.as_ref().unwrap();
    assert!(!steps.is_online && steps.extra_bytes > 0 && steps.seconds > 0.0);
    server.carry_out(steps, &mut |_| {});
    assert_eq!(digest(), before);
    assert_eq!(server.rows(OBJECTS), objects);
    let types = "SELECT DISTINCT column_type FROM information_schema.columns WHERE table_schema = database() AND column_name IN ('id', 'boss', 'customer', 'seller')";
    assert_eq!(server.rows(types), ["uuid"]);
    assert!(
        server
            .database
            .execute("INSERT INTO orders (customer) VALUES (uuid())")
            .is_err()
    );
    server.run(&[
        "INSERT INTO customer (name) VALUES ('new')",
        "INSERT INTO orders (customer) SELECT id FROM customer WHERE name = 'new'",
        "DELETE FROM customer WHERE name = 'new'",
    ]);
    assert_eq!(
        server.one("SELECT count(*) FROM orders WHERE customer NOT IN (SELECT id FROM customer)"),
        "0"
    );
}

/// The way for releases without the type: 16 bytes.
#[test]
fn text_ids_become_bytes() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(SHOP);
    server.run(&["ALTER TABLE customer ALTER COLUMN id DROP DEFAULT"]);
    let before =
        server.one("SELECT count(*), sum(crc32(upper(replace(id, '-', '')))) FROM customer");
    let advice = server.advice();
    let columns = parts(&advice).find_map(|(part, _)| match &part.candidate.actions[..] {
        [
            Action::Convert {
                columns,
                to: ColumnTo::Uuid,
            },
        ] => Some(columns.clone()),
        _ => None,
    });
    let action = Action::Convert {
        columns: columns.unwrap(),
        to: ColumnTo::Binary16,
    };
    let actions = [action];
    let context = migrate::Context {
        database: &advice.database,
        actions: &actions,
    };
    let steps = migrate::steps(context, &actions[0], &[]).unwrap();
    server.carry_out(&steps, &mut |_| {});
    assert_eq!(
        server.one("SELECT count(*), sum(crc32(hex(id))) FROM customer"),
        before
    );
    assert_eq!(
        server.one("SELECT count(*) FROM orders o JOIN customer c ON c.id = o.customer"),
        "2000"
    );
    assert_eq!(server.one("SELECT count(*) FROM information_schema.columns WHERE table_schema = database() AND column_type = 'binary(16)'"), "4");
}

/// Hashes are no UUIDs, whatever their length.
#[test]
fn text_hashes_become_bytes() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE files (hash char(32) PRIMARY KEY, name varchar(40))",
        "CREATE TABLE links (n int PRIMARY KEY, file char(32), KEY (file), FOREIGN KEY (file) REFERENCES files (hash) ON DELETE SET NULL)",
        "INSERT INTO files SELECT md5(seq), concat('name ', seq) FROM seq_1_to_3000",
        "INSERT INTO links SELECT seq, if(seq % 7, md5(1 + seq % 3000), NULL) FROM seq_1_to_6000",
        "ANALYZE TABLE files, links",
    ]);
    let digests = |file: &str| {
        server.one(&format!(
            "SELECT count(file), sum(crc32(lower({file}))) FROM links JOIN files ON hash = file"
        ))
    };
    let before = digests("file");
    let (columns, steps) = hash_steps(&server.advice());
    assert_eq!(columns, 2);
    server.carry_out(&steps, &mut |_| {});
    assert_eq!(digests("hex(file)"), before);
    let types = "SELECT DISTINCT column_type FROM information_schema.columns WHERE table_schema = database() AND column_name IN ('hash', 'file')";
    assert_eq!(server.rows(types), ["binary(16)"]);
}

/// The steps write all rows, and no row was changed by that.
#[test]
fn times_of_the_last_change_are_kept() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE files (hash char(32) CHARACTER SET ascii PRIMARY KEY, `changed ``at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
             `read` datetime(6) NULL ON UPDATE CURRENT_TIMESTAMP(6))",
        "INSERT INTO files SELECT md5(seq), '2020-01-01', if(seq % 7, '2021-01-01', NULL) FROM seq_1_to_3000",
        "ANALYZE TABLE files",
    ]);
    let times = || {
        server.one(
            "SELECT min(`changed ``at`), max(`changed ``at`), count(`read`), min(`read`), max(`read`) FROM files",
        )
    };
    let before = times();
    let (_, steps) = hash_steps(&server.advice());
    server.carry_out(&steps, &mut |_| {});
    assert_eq!(times(), before);
    server.run(&["UPDATE files SET hash = unhex(md5('new')) WHERE hash = unhex(md5(1))"]);
    assert_ne!(times(), before);
}

/// What else is declared of a column stays, and digits are printed as before.
#[test]
fn invisible_columns_and_leading_zeros_are_kept() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE hidden (id int unsigned INVISIBLE NOT NULL AUTO_INCREMENT PRIMARY KEY, a int)",
        "CREATE TABLE padded (id int(9) unsigned zerofill NOT NULL AUTO_INCREMENT PRIMARY KEY, a int)",
        "CREATE TABLE names (id char(36) CHARACTER SET ascii INVISIBLE NOT NULL DEFAULT uuid() PRIMARY KEY, name varchar(50))",
        "INSERT INTO padded VALUES (7, 7)",
        "ALTER TABLE hidden AUTO_INCREMENT = 4200000000",
        "ALTER TABLE padded AUTO_INCREMENT = 4200000000",
        "INSERT INTO hidden (a) SELECT seq FROM seq_1_to_3000",
        "INSERT INTO padded (a) SELECT seq FROM seq_1_to_3000",
        "INSERT INTO names (name) SELECT concat('name ', seq) FROM seq_1_to_3000",
        "ANALYZE TABLE hidden, padded, names",
    ]);
    let advice = server.advice();
    let is_of_type = |title: &str| title.starts_with("bigint") || title.starts_with("uuid");
    let plans = advice.plans.iter().filter(|plan| is_of_type(&plan.title));
    for plan in plans {
        server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    }
    let columns = "SELECT table_name, column_type, extra FROM information_schema.columns WHERE table_schema = database() AND column_name = 'id' ORDER BY 1";
    assert_eq!(
        server.rows(columns),
        [
            "hidden | bigint(20) unsigned | auto_increment, INVISIBLE",
            "names | uuid | INVISIBLE",
            "padded | bigint(9) unsigned zerofill | auto_increment",
        ]
    );
    // Programs that don't name the columns go on.
    server.run(&[
        "INSERT INTO hidden VALUES (1)",
        "INSERT INTO names VALUES ('new')",
    ]);
    assert_eq!(
        server.one("SELECT concat(id) FROM padded WHERE a = 7 AND id < 100"),
        "000000007"
    );
}

#[test]
fn keys_get_a_wider_type() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE events (id int unsigned AUTO_INCREMENT PRIMARY KEY, a int)",
        "CREATE TABLE marks (event int unsigned NOT NULL, mark int, KEY (event), FOREIGN KEY (event) REFERENCES events (id))",
        "ALTER TABLE events AUTO_INCREMENT = 4200000000",
        "INSERT INTO events (a) SELECT seq FROM seq_1_to_3000",
        "INSERT INTO marks SELECT id, 1 FROM events",
        "ANALYZE TABLE events, marks",
    ]);
    let advice = server.advice();
    let (part, verdict) = parts(&advice)
        .find(|(part, _)| part.candidate.group == Group::IntegerRange)
        .unwrap();
    assert_eq!(verdict, Verdict::App);
    assert!(
        part.candidate
            .reason
            .contains("98 % of what int(10) unsigned holds"),
        "{}",
        part.candidate.reason
    );
    let plan = advice
        .plans
        .iter()
        .find(|plan| plan.title.starts_with("bigint"))
        .unwrap();
    server.carry_out(plan.steps.as_ref().unwrap(), &mut |_| {});
    let types = "SELECT DISTINCT column_type FROM information_schema.columns WHERE table_schema = database() AND column_name IN ('id', 'event')";
    assert_eq!(server.rows(types), ["bigint(20) unsigned"]);
    server.run(&[
        "ALTER TABLE events AUTO_INCREMENT = 4294967296",
        "INSERT INTO events (a) VALUES (1)",
    ]);
    assert_eq!(server.one("SELECT max(id) FROM events"), "4294967296");
}

/// InnoDB's sizes are those before the rows came: no share of them is shown.
#[test]
fn stale_sizes_are_told() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE users (id char(36) CHARACTER SET ascii PRIMARY KEY, a int, b int, KEY a (a), KEY ab (a, b)) STATS_AUTO_RECALC=0",
        "INSERT INTO users SELECT uuid(), seq, seq FROM seq_1_to_9000",
    ]);
    let look = Look {
        color: false,
        width: 400,
    };
    let said = |advice: &Advice| {
        FORMATS
            .iter()
            .map(|format| (format.write)(advice, look))
            .collect::<Vec<_>>()
    };
    let advice = server.advice();
    assert!(advice.sizes_are_stale);
    assert!(advice.items.iter().all(|item| item.percent.is_none()));
    for text in said(&advice) {
        assert!(
            text.contains("Stale statistics") && text.contains("ANALYZE TABLE"),
            "{text}"
        );
    }
    server.run(&["ANALYZE TABLE users"]);
    let advice = server.advice();
    assert!(!advice.sizes_are_stale);
    assert!(advice.items.iter().any(|item| item.percent.is_some()));
    assert!(
        said(&advice)
            .iter()
            .all(|text| !text.contains("Stale statistics"))
    );
}

/// A large table is read by ranges of its key, and the sample has rows from all over it.
#[test]
fn a_sample_is_spread_over_the_key() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&[
        "CREATE TABLE counted (id bigint AUTO_INCREMENT PRIMARY KEY, a int)",
        "INSERT INTO counted (a) SELECT seq FROM seq_1_to_80000",
        "CREATE TABLE random (id uuid PRIMARY KEY, a int)",
        "INSERT INTO random SELECT uuid(), seq FROM seq_1_to_80000",
        "CREATE TABLE texts (id char(32) CHARACTER SET ascii PRIMARY KEY, a int)",
        "INSERT INTO texts SELECT md5(seq), seq FROM seq_1_to_80000",
        "CREATE TABLE bytes (id binary(16) PRIMARY KEY, a int)",
        "INSERT INTO bytes SELECT unhex(md5(seq)), seq FROM seq_1_to_80000",
        "CREATE TABLE named (id varchar(60) PRIMARY KEY, a int)",
        "INSERT INTO named SELECT concat('customer-', seq), seq FROM seq_1_to_80000",
        // Crowded: nearly all rows came in a thousandth of the time, and one long before and after.
        "CREATE TABLE crowded (id char(32) CHARACTER SET ascii PRIMARY KEY, a int)",
        "INSERT INTO crowded SELECT concat(lpad(hex(1700000000000 + CASE seq WHEN 1 THEN 0 WHEN 80000 THEN 100000000 ELSE 40000000 + seq END), 12, '0'), right(md5(seq), 20)), seq FROM seq_1_to_80000",
        "CREATE TABLE crowded_numbers (id bigint PRIMARY KEY, a int)",
        "INSERT INTO crowded_numbers SELECT CASE seq WHEN 80000 THEN 9000000000000000000 ELSE seq END, seq FROM seq_1_to_80000",
        "ANALYZE TABLE counted, random, texts, bytes, named, crowded, crowded_numbers",
    ]);
    let advice = server.advice();
    for table in &advice.database.tables {
        let sample = table.sample.as_ref().unwrap();
        let at = sample.column("a").unwrap();
        let mut tenths = [0; 10];
        let mut seen = std::collections::HashSet::new();
        for row in &sample.rows {
            let a: usize = row[at].as_ref().unwrap().parse().unwrap();
            tenths[(a - 1) / 8000] += 1;
            assert!(seen.insert(a), "{}: {a} twice", table.name);
        }
        assert!(
            !sample.is_whole && sample.rows.len() <= 10_000,
            "{}",
            table.name
        );
        assert!(sample.is_in_storage_order, "{}", table.name);
        if ["counted", "crowded", "crowded_numbers"].contains(&&*table.name) {
            let order = sample
                .rows
                .iter()
                .map(|row| row[at].as_ref().unwrap().parse::<u32>());
            assert!(order.map(Result::unwrap).is_sorted(), "{}", table.name);
        }
        assert!(
            sample.rows.len() >= 1000 && tenths.iter().all(|&rows| rows > 0),
            "{}: {tenths:?}",
            table.name
        );
    }
}
