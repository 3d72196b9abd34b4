//! Tables of servers that a load creates, replaces, empties, extends or updates. The servers are private; a missing one
//! prints SKIPPED.

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use common::Folder;
use inorder_load::{Create, Existing, ForeignKey, Job, KeySpec, OnDuplicate, Summary};
use inorder_testing::PrivateServer;

/// A server that is reached by its URL, and the folder of the files.
struct Case {
    server: PrivateServer,
    folder: Folder,
}

/// Every server that is there.
fn cases() -> Vec<Case> {
    let start = |name: &&str| PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"));
    let servers = ["postgres", "mariadb"].iter().filter_map(start);
    let case = |server| Case {
        server,
        folder: Folder::new(""),
    };
    servers.map(case).collect()
}

impl Case {
    fn job(&self, table: &str, csv: &str) -> Job {
        let path = self.folder.file("rows.csv", csv);
        Job {
            to: self.server.url(),
            table: table.to_owned(),
            existing: Existing::FillEmpty,
            create: Some(Create::default()),
            busy_timeout: Duration::from_secs(1),
            ..self.folder.job(&path)
        }
    }

    fn keyed(&self, table: &str, csv: &str) -> Job {
        let mut job = self.job(table, csv);
        job.create = Some(Create {
            key: vec![KeySpec::parse("id").expect("a key")],
            ..Create::default()
        });
        job
    }

    fn load(&self, job: &Job) -> Summary {
        let name = self.server.is_postgres();
        self.folder
            .run(job)
            .unwrap_or_else(|error| panic!("postgres {name}: {error}"))
    }

    fn refuse(&self, job: &Job, words: &[&str]) {
        let error = self.folder.run(job).expect_err(&job.table);
        for word in words {
            assert!(error.contains(word), "{word} in: {error}");
        }
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        self.server.rows(sql)
    }

    fn types(&self, table: &str) -> Vec<String> {
        let ty = match self.server.is_postgres() {
            true => "data_type",
            false => "column_type",
        };
        self.rows(&format!(
            "SELECT {ty} FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position"
        ))
    }

    /// Every table of the database.
    fn tables(&self) -> Vec<String> {
        let schema = match self.server.is_postgres() {
            true => "'public'",
            false => "database()",
        };
        self.rows(&format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = {schema} ORDER BY 1"
        ))
    }
}

/// Rows with a column of every kind that text can have.
fn every_kind() -> String {
    let mut csv = "i,r,n,t,u,d,s,z\n".to_owned();
    for row in 0..300_u128 {
        let random = row.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let uuid = random & !(0xf << 76 | 0xc << 60) | 0x4 << 76 | 0x8 << 60;
        let uuid = inorder_key::Uuid::from_u128(uuid);
        let n = if row % 2 == 0 {
            format!("{row}.5")
        } else {
            row.to_string()
        };
        csv += &format!(
            "{row},{}.25,{n},\"it's, \"\"{row}\"\" \\ ü\",{uuid},2024-02-{:02},2024-01-01 10:00:{:02},2024-01-01 10:00:00+02:00\n",
            row * 3,
            row % 28 + 1,
            row % 60
        );
    }
    csv
}

#[test]
fn values_decide_the_types_and_are_kept() {
    for case in cases() {
        let csv = every_kind();
        let summary = case.load(&case.job("made", &csv));
        assert_eq!(summary.rows_written, 300);
        assert!(
            summary
                .created
                .is_some_and(|sql| sql.contains("CREATE TABLE"))
        );
        let (types, text) = match case.server.is_postgres() {
            true => (
                [
                    "bigint",
                    "numeric",
                    "numeric",
                    "text",
                    "uuid",
                    "date",
                    "timestamp without time zone",
                    "timestamp with time zone",
                ],
                "to_char(s, 'YYYY-MM-DD HH24:MI:SS'), z = '2024-01-01 08:00:00Z'",
            ),
            false => (
                [
                    "bigint(20)",
                    "decimal(17,2)",
                    "decimal(16,1)",
                    "longtext",
                    "uuid",
                    "date",
                    "datetime(6)",
                    "varchar(40)",
                ],
                "left(s, 19), z = '2024-01-01 10:00:00+02:00'",
            ),
        };
        assert_eq!(case.types("made"), types);
        // MariaDB writes a decimal with the digits of its type.
        let n = match case.server.is_postgres() {
            true => "n",
            false => "trim(TRAILING '.0' FROM n)",
        };
        let stored = case.rows(&format!(
            "SELECT i, r, {n}, t, u, d, {text} FROM made ORDER BY i"
        ));
        let is_true = if case.server.is_postgres() { "t" } else { "1" };
        let expected: Vec<String> = csv
            .lines()
            .skip(1)
            .map(|line| {
                let line = line.replace("2024-01-01 10:00:00+02:00", is_true);
                let (start, rest) = line.split_once(",\"").expect("text");
                let (text, rest) = rest.rsplit_once("\",").expect("text");
                let text = text.replace("\"\"", "\"");
                format!(
                    "{}|{text}|{}",
                    start.replace(',', "|"),
                    rest.replace(',', "|")
                )
            })
            .collect();
        assert_eq!(stored.len(), expected.len());
        for (stored, expected) in stored.iter().zip(&expected) {
            assert_eq!(stored, expected);
        }
    }
}

#[test]
fn a_later_row_decides_types_again() {
    for case in cases() {
        let id = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        let mut csv = "u,d,n\n".to_owned();
        for _ in 0..10_500 {
            csv += &format!("{id},2024-01-01,7\n");
        }
        csv += &format!("{id},2024-13-01,7.5\n");
        let summary = case.load(&case.job("late", &csv));
        assert_eq!(summary.rows_written, 10_501);
        assert!(
            summary
                .notes
                .iter()
                .any(|note| note.text.contains("line 10502")),
            "{summary:?}"
        );
        let types = match case.server.is_postgres() {
            true => ["uuid", "text", "numeric"],
            false => ["uuid", "longtext", "decimal(16,1)"],
        };
        assert_eq!(case.types("late"), types);
        assert_eq!(
            case.rows("SELECT d, n FROM late WHERE n > 7"),
            ["2024-13-01|7.5"]
        );
        case.refuse(
            &case.job("late2", "a\n1\n").clone_with_type("a=nonsense"),
            &["nonsense"],
        );
        assert!(!case.tables().contains(&"late2".to_owned()));
    }
}

trait WithType {
    fn clone_with_type(self, given: &str) -> Job;
}

impl WithType for Job {
    fn clone_with_type(mut self, given: &str) -> Job {
        let (column, ty) = given.split_once('=').expect("a type");
        let create = self.create.get_or_insert_with(Create::default);
        create.types.push((column.to_owned(), ty.to_owned()));
        self
    }
}

#[test]
fn a_table_with_rows_is_changed_only_on_demand_and_as_a_whole() {
    for case in cases() {
        case.load(&case.keyed("t", "id,n\n2,b\n1,a\n"));
        let all = "SELECT id, n FROM t ORDER BY id";
        let before = case.rows(all);
        case.refuse(
            &case.keyed("t", "id,n\n3,c\n"),
            &["has rows already", "--append"],
        );
        let with = |existing, csv: &str| Job {
            existing,
            ..case.keyed("t", csv)
        };
        case.refuse(&with(Existing::Refuse, "id,n\n3,c\n"), &["exists"]);
        assert!(case.load(&with(Existing::Skip, "id,n\n3,c\n")).is_skipped);
        assert_eq!(case.rows(all), before);
        // Each fails at its second row.
        for existing in [Existing::Append, Existing::Truncate, Existing::Replace] {
            let mut job = with(existing, "id,n\n3,c\n4,d\n");
            job.create = Some(Create {
                types: vec![("n".to_owned(), "int".to_owned())],
                ..job.create.expect("a table")
            });
            if existing != Existing::Replace {
                job = with(existing, "id,n\n3,c\nx,d\n");
            }
            case.refuse(&job, &["line"]);
            assert_eq!(case.rows(all), before, "{existing:?}");
            assert_eq!(case.tables(), ["t"], "{existing:?}");
        }
        case.load(&with(Existing::Append, "id,n\n3,c\n"));
        assert_eq!(case.rows(all), ["1|a", "2|b", "3|c"]);
        case.load(&with(Existing::Truncate, "id,n\n4,d\n"));
        assert_eq!(case.rows(all), ["4|d"]);
        let dry = Job {
            is_dry: true,
            ..with(Existing::Replace, "id,m\n1,5\n")
        };
        case.load(&dry);
        assert_eq!(case.rows(all), ["4|d"]);
        case.load(&with(Existing::Replace, "id,m\n1,5\n"));
        assert_eq!(case.rows("SELECT id, m FROM t"), ["1|5"]);
        assert_eq!(case.tables(), ["t"]);
    }
}

#[test]
fn rows_update_those_that_are_there() {
    for case in cases() {
        let text = if case.server.is_postgres() {
            "text"
        } else {
            "varchar(20)"
        };
        case.server.run(&format!("CREATE TABLE u(a int, b {text}, n int, kept int DEFAULT 7, one int UNIQUE, PRIMARY KEY(a, b))"));
        let mut model: BTreeMap<(i64, String), (Option<i64>, i64)> = BTreeMap::new();
        for row in 0..400 {
            case.server.run(&format!(
                "INSERT INTO u(a, b, n, kept) VALUES ({row}, 'k{row}', {row}, {row})"
            ));
            model.insert((row, format!("k{row}")), (Some(row), row));
        }
        let mut csv = "n,b,a\n".to_owned();
        for step in 0..500_i64 {
            let row = step * 7919 % 600;
            let n = (step % 5 != 0).then_some(step);
            csv += &format!(
                "{},k{row},{row}\n",
                n.map_or(String::new(), |n| n.to_string())
            );
            let kept = model.get(&(row, format!("k{row}"))).map_or(7, |old| old.1);
            model.insert((row, format!("k{row}")), (n, kept));
        }
        let job = Job {
            on_duplicate: OnDuplicate::Update,
            ..case.job("u", &csv)
        };
        // Only PostgreSQL can tell whether two texts are equal without asking.
        if !case.server.is_postgres() {
            case.refuse(&job, &["only the server can compare", "--on-duplicate"]);
            case.server
                .run("ALTER TABLE u MODIFY b varbinary(20) NOT NULL");
        }
        let summary = case.load(&job);
        assert_eq!(summary.rows_duplicate + summary.rows_written, 500);
        let stored = case.rows("SELECT a, b, n, kept FROM u ORDER BY a");
        let expected: Vec<String> = model
            .iter()
            .map(|((a, b), (n, kept))| {
                let n = n.map_or("NULL".to_owned(), |n| n.to_string());
                format!("{a}|{b}|{n}|{kept}")
            })
            .collect();
        assert_eq!(stored, expected);
        // A conflict in another key is an error, and nothing is updated.
        case.server.run("UPDATE u SET one = 1 WHERE a = 1");
        let job = Job {
            on_duplicate: OnDuplicate::Update,
            ..case.job("u", "a,b,n,one\n0,k0,-1,2\n700,new,-1,1\n")
        };
        case.refuse(&job, &["u"]);
        assert_eq!(
            case.rows("SELECT a, b, n, kept FROM u ORDER BY a"),
            expected
        );
    }
}

#[test]
fn columns_indexes_and_foreign_keys_are_created() {
    for case in cases() {
        case.load(&case.keyed("parent", "id,n\n1,a\n2,b\n"));
        let job = |csv: &str| {
            let mut job = case.keyed("child", csv);
            let create = job.create.get_or_insert_with(Create::default);
            create.indexes = vec![
                vec!["parent".to_owned()],
                vec!["n".to_owned(), "id".to_owned()],
            ];
            create.foreign_keys = vec![ForeignKey::parse("parent=parent").expect("a key")];
            job
        };
        case.refuse(&job("id,parent,n\n1,1,x\n2,3,y\n"), &["foreign key"]);
        assert_eq!(case.tables(), ["parent"]);
        case.load(&job("id,parent,n\n1,1,x\n2,2,y\n"));
        let indexes = match case.server.is_postgres() {
            true => "SELECT count(*) FROM pg_indexes WHERE tablename = 'child'",
            false => {
                "SELECT count(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = database() AND table_name = 'child'"
            }
        };
        assert_eq!(case.rows(indexes), ["3"]);
        let mut late = case.keyed("child", "id,parent,n,extra\n3,1,z,1.5\n");
        late.existing = Existing::Append;
        case.refuse(&late, &["no column `extra`", "--alter"]);
        late.alters = true;
        let summary = case.load(&late);
        assert!(
            summary.notes.iter().any(|note| note.text.contains("extra")),
            "{summary:?}"
        );
        assert_eq!(
            case.rows("SELECT id, extra FROM child ORDER BY id"),
            ["1|NULL", "2|NULL", "3|1.5"]
        );
        let mut nameless = case.keyed("child", "4,1,z,1.5,9\n");
        nameless.existing = Existing::Append;
        nameless.alters = true;
        nameless.read_options.has_header = Some(false);
        case.refuse(&nameless, &["no header (--no-header): its 5 columns"]);
        let mut orphan = case.keyed("child", "id,parent,n\n4,9,z\n");
        orphan.existing = Existing::Append;
        case.refuse(&orphan, &["foreign key"]);
    }
}

#[test]
fn a_made_key_and_a_counted_one_are_created() {
    for case in cases() {
        for (kind, ty) in [("uuid7", "uuid"), ("ulid:text", ""), ("serial", "bigint")] {
            let mut job = case.job("made_keys", "n\n5\n6\n7\n");
            job.existing = Existing::Replace;
            job.create = Some(Create {
                key: vec![KeySpec::parse(&format!("id={kind}")).expect("a key")],
                ..Create::default()
            });
            case.load(&job);
            let of_id = case.types("made_keys").swap_remove(0);
            let is_bytes = !case.server.is_postgres() && kind == "uuid7" && of_id == "binary(16)";
            assert!(of_id.starts_with(ty) || is_bytes, "{kind}: {of_id}");
            assert_eq!(
                case.rows("SELECT n FROM made_keys ORDER BY id"),
                ["5", "6", "7"],
                "{kind}"
            );
        }
    }
}

#[test]
fn a_name_may_have_a_schema_and_a_lock_ends_the_wait() {
    for case in cases() {
        case.server.run("CREATE SCHEMA other");
        case.load(&case.keyed("other.T", "id\n1\n"));
        let name = match case.server.is_postgres() {
            true => "other.\"T\"",
            false => "other.T",
        };
        let count = format!("SELECT count(*) FROM {name}");
        assert_eq!(case.rows(&count), ["1"]);
        case.refuse(&case.keyed("other.T", "id\n2\n"), &["other.T", "has rows"]);
        case.load(&case.keyed("no.such", "id\n1\n"));
        assert!(case.tables().contains(&"no.such".to_owned()));
        let lock = match case.server.is_postgres() {
            true => "BEGIN; LOCK TABLE other.\"T\" IN ACCESS EXCLUSIVE MODE",
            false => "LOCK TABLES other.T WRITE",
        };
        case.server.run(lock);
        let began = Instant::now();
        let append = Job {
            existing: Existing::Append,
            ..case.keyed("other.T", "id\n2\n")
        };
        let error = case.folder.run(&append).expect_err("a lock");
        assert!(error.to_lowercase().contains("lock"), "{error}");
        assert!(
            began.elapsed() < Duration::from_secs(9),
            "{:?}",
            began.elapsed()
        );
        case.server.run(if case.server.is_postgres() {
            "ROLLBACK"
        } else {
            "UNLOCK TABLES"
        });
        case.load(&append);
        assert_eq!(case.rows(&count), ["2"]);
    }
}
