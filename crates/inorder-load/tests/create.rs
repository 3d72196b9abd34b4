//! A table that is made for a file keeps what the file says.

mod common;

use common::{Folder, integrity};
use inorder_load::source::DateOrder;
use inorder_load::{Create, ForeignKey, FullText, Job, KeySpec};
use proptest::prelude::*;

/// Rows that types are found out from.
const SAMPLE_ROWS: usize = 10_000;

fn creating(folder: &Folder, name: &str, content: &str) -> Job {
    Job {
        create: Some(Create::default()),
        ..folder.job(&folder.file(name, content))
    }
}

/// A column as text, in the order of the rows.
fn texts(folder: &Folder, column: &str) -> Vec<Option<String>> {
    let db = folder.open();
    assert_eq!(integrity(&db), "ok");
    let sql = format!("SELECT CAST({column} AS TEXT) FROM t ORDER BY rowid");
    let mut statement = db.prepare(&sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("text")
}

fn declared_types(folder: &Folder) -> Vec<String> {
    let db = folder.open();
    let sql = "SELECT type FROM pragma_table_info('t') ORDER BY cid";
    let mut statement = db.prepare(sql).expect("a query");
    let types = statement.query_map([], |row| row.get(0)).expect("types");
    types.collect::<Result<_, _>>().expect("types")
}

fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

/// Fields that look like numbers, and some that are none.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "-?(0|[1-9][0-9]{0,5})",
        3 => "-?(0|[1-9][0-9]{0,4})[.][0-9]{0,3}[1-9]",
        2 => "-?(0|[1-9][0-9]{0,4})[.]0",
        1 => "[ +-]{0,2}[0-9]{0,22}([.][0-9]{0,20})?([eE][+-]?[0-9]{1,3})?[ ]?",
        1 => any::<f64>().prop_map(|real| real.to_string()),
        1 => any::<i64>().prop_map(|integer| integer.to_string()),
        1 => prop::sample::select(&["007", "-0", "0x1F", "1_000", "inf", "nan", "true", "a", "x'00'"][..])
            .prop_map(str::to_owned),
    ]
}

/// Columns of one kind of field, or of several.
fn column(rows: usize) -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        prop::collection::vec("-?(0|[1-9][0-9]{0,20})", rows),
        prop::collection::vec("-?(0|[1-9][0-9]{0,9})[.][0-9]{1,6}", rows),
        prop::collection::vec("(0|[1-9][0-9]{0,3})([.]5)?", rows),
        prop::collection::vec("0[.]000[0-9]{1,12}", rows),
        prop::collection::vec("[0-9]{9,10}[.][0-9]{1,5}", rows),
        prop::collection::vec(field(), rows),
    ]
}

/// The sign, the digits and the exponent of a number; `None` for other texts. A zero has no sign.
fn value(text: &str) -> Option<(bool, String, i64)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let exponent: i64 = exponent.parse().ok().filter(|_| is_number)?;
    let kept = digits.trim_start_matches('0');
    let zeros = (digits.len() - kept.len()) as i64;
    match kept.is_empty() {
        true => Some((false, String::new(), 0)),
        false => Some((
            unsigned.len() < text.len(),
            kept.trim_end_matches('0').to_owned(),
            whole.len() as i64 + exponent - zeros,
        )),
    }
}

/// Whether a field comes back as it was written, or as the same number if that is all that it says.
fn is_kept(found: &str, written: &str) -> bool {
    let unsigned = written.trim_start_matches('-');
    let is_plain = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && !(unsigned.len() > 1 && unsigned.starts_with('0') && !unsigned.starts_with("0."));
    found == written || is_plain && value(found).is_some_and(|found| value(written) == Some(found))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_field_of_a_csv_keeps_its_value(
        columns in (1usize..12).prop_flat_map(|rows| prop::collection::vec(column(rows), 1..6)),
    ) {
        let rows = columns[0].len();
        let names: Vec<String> = (0..columns.len()).map(|i| format!("c{i}")).collect();
        let mut csv = names.join(",") + "\n";
        for row in 0..rows {
            let fields: Vec<String> = columns.iter().map(|column| quoted(&column[row])).collect();
            csv += &(fields.join(",") + "\n");
        }
        let folder = Folder::new("");
        folder.run(&creating(&folder, "t.csv", &csv)).expect("a load");
        for (name, column) in names.iter().zip(&columns) {
            for (found, written) in texts(&folder, name).into_iter().zip(column) {
                let found = found.expect("a value");
                prop_assert!(is_kept(&found, written), "{found} for {written}: {:?}", declared_types(&folder));
            }
        }
    }
}

#[test]
fn fields_decide_the_type() {
    for (fields, expected) in [
        (&["1.10", "2.25"][..], "REAL"),
        (&["10.50", "9.75", "100.00"], "REAL"),
        (&[".5", "-.25"], "REAL"),
        (&["5.", "2.5"], "REAL"),
        (&["1.", "2.", "3."], "TEXT"),
        (&["1.50", "01.50"], "TEXT"),
        (&["1.50", "+1.50"], "TEXT"),
        (&["1.50", "1.5e0"], "TEXT"),
        (&["1.50", "1,234.50"], "TEXT"),
        (&["1.50", "$2.50"], "TEXT"),
        (&["0.00001234", "0.5"], "REAL"),
        (&["0.1234567890123456789"], "TEXT"),
        (&["007", "12"], "TEXT"),
        (&["+1"], "TEXT"),
        (&["1e5"], "TEXT"),
        (&["0x10"], "TEXT"),
        (&["9223372036854775808"], "TEXT"),
        (&["-0", "1"], "INTEGER"),
        (&["-0.00", "1.5"], "REAL"),
        (&[" 7"], "TEXT"),
        (&["5", "5.0"], "NUMERIC"),
        (&["5", "19.99", "7.00"], "NUMERIC"),
        (&["5", "-7", "9223372036854775807"], "INTEGER"),
        (&["5.5", "-0.25", "7.0"], "REAL"),
        (&["5", "5.5"], "NUMERIC"),
        (&["a", "1"], "TEXT"),
        (&["", ""], "TEXT"),
    ] {
        let rows: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
        let folder = Folder::new("");
        let csv = format!("a\n{}\n", rows.join("\n"));
        folder
            .run(&creating(&folder, "t.csv", &csv))
            .expect("a load");
        assert_eq!(declared_types(&folder), [expected], "{fields:?}");
        let found: Vec<_> = texts(&folder, "a").into_iter().flatten().collect();
        assert_eq!(found.len(), fields.len());
        for (found, written) in found.iter().zip(fields) {
            assert!(is_kept(found, written), "{found} for {written}");
        }
    }
}

/// The rows after the sampled ones change the type, if it would not store them unchanged.
#[test]
fn all_rows_decide_the_type_if_the_first_do_not() {
    for (first, later, expected) in [
        ("7", &["8", "-8"][..], "INTEGER"),
        ("7", &["8.5"], "NUMERIC"),
        ("7", &["8.0"], "NUMERIC"),
        ("7.50", &["8.00", "10.10"], "REAL"),
        ("7", &["007"], "TEXT"),
        ("7", &["8", "9223372036854775808"], "TEXT"),
        ("7.5", &["8.0", "0.0009876543"], "REAL"),
        ("7.5", &["8"], "NUMERIC"),
        ("7.5", &["8", "8.0"], "NUMERIC"),
        ("7.5", &["text", "8", " 8", "1e5"], "TEXT"),
        ("", &["8"], "INTEGER"),
        ("seven", &["8", "-0"], "TEXT"),
    ] {
        let folder = Folder::new("");
        let mut csv = "a,b\n".to_owned() + &format!("{first},x\n").repeat(SAMPLE_ROWS);
        for field in later {
            csv += &format!("{},x\n", quoted(field));
        }
        let summary = folder.run(&creating(&folder, "t.csv", &csv));
        let summary = summary.expect("a load");
        assert_eq!(
            declared_types(&folder),
            [expected, "TEXT"],
            "{first} {later:?}"
        );
        assert_eq!(summary.rows_written, (SAMPLE_ROWS + later.len()) as u64);
        let found = texts(&folder, "a").split_off(SAMPLE_ROWS);
        let found: Vec<String> = found.into_iter().flatten().collect();
        for (found, written) in found.iter().zip(later) {
            assert!(
                is_kept(found, written),
                "{found} for {written} after {first}"
            );
        }
    }
}

#[test]
fn columns_that_no_table_can_have_are_told() {
    for (name, text, told) in [
        (
            "f.json",
            "[]",
            "the input has no rows, and so no columns to create a table with",
        ),
        (
            "f.csv",
            "id,name,ID\n1,x,2\n",
            "`id` and `ID` are one name in SQLite: give the columns other names (--columns NAME,…)",
        ),
    ] {
        let folder = Folder::new("");
        let mut job = creating(&folder, name, text);
        assert_eq!(folder.run(&job).expect_err(name), told);
        job.columns = Some(["a", "b", "c"].map(str::to_owned).to_vec());
        folder.run(&job).expect("named columns");
    }
}

/// The definition of a table with this key.
fn keyed(key: &[&str]) -> Create {
    Create {
        key: key
            .iter()
            .map(|key| KeySpec::parse(key).expect("a key"))
            .collect(),
        ..Create::default()
    }
}

/// Names of columns.
fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn searched(columns: &[&str]) -> Option<FullText> {
    Some(FullText {
        columns: names(columns),
        tokenizer: None,
    })
}

#[test]
fn names_of_columns_are_found_in_another_letter_case() {
    let folder = Folder::new("");
    let job = Job {
        create: Some(Create {
            types: vec![("NAME".to_owned(), "VARCHAR(9)".to_owned())],
            indexes: vec![names(&["Day", "iD"])],
            full_text: searched(&["Name"]),
            ..keyed(&["ID"])
        }),
        dates: vec![("DAY".to_owned(), DateOrder::DayMonthYear)],
        ..creating(&folder, "t.csv", "id,name,day\n1,x,31.12.2024\n")
    };
    let created = folder.run(&job).expect("a load").created.expect("a table");
    for clause in [
        "\"id\" INTEGER PRIMARY KEY,",
        "\"name\" VARCHAR(9),",
        "CREATE INDEX \"t_day_id\" ON \"t\"(\"day\", \"id\")",
        "USING fts5(\"name\", ",
    ] {
        assert!(created.contains(clause), "{created}");
    }
    assert_eq!(texts(&folder, "day"), [Some("2024-12-31".to_owned())]);
    // Two names that are one in SQLite are two on a server.
    let folder = Folder::new("");
    let mut job = creating(&folder, "t.csv", "id,ID,n\n1,2,3\n");
    job.create = Some(keyed(&["Id"]));
    let told = "--key: the input has no column `Id`; did you mean one of `id`, `ID`? (to generate a key: \
                `--key Id=uuid7`)";
    assert_eq!(folder.run(&job).expect_err("two columns"), told);
    job.create = Some(keyed(&["N=uuid7"]));
    let error = folder.run(&job).expect_err("a column of the input");
    assert!(
        error.starts_with("the input already has a column `n`"),
        "{error}"
    );
}

#[test]
fn a_flag_whose_column_is_missing_is_named() {
    let folder = Folder::new("CREATE TABLE p(id INTEGER PRIMARY KEY)");
    let run = |create: Create, content: &str| {
        let job = Job {
            create: Some(create),
            ..creating(&folder, "t.data", content)
        };
        folder.run(&job).expect_err("a wrong name")
    };
    let text = |name: &str| (name.to_owned(), "TEXT".to_owned());
    let parent = |column: &str| ForeignKey::parse(&format!("{column}=p")).expect("a key");
    let missing = [
        ("--key", keyed(&["id", "other"])),
        (
            "--type",
            Create {
                types: vec![text("id"), text("other")],
                ..Create::default()
            },
        ),
        (
            "--index",
            Create {
                indexes: vec![names(&["n", "other"])],
                ..Create::default()
            },
        ),
        (
            "--fts",
            Create {
                full_text: searched(&["other"]),
                ..keyed(&["id"])
            },
        ),
        (
            "--foreign-key",
            Create {
                foreign_keys: vec![parent("n"), parent("other")],
                ..Create::default()
            },
        ),
    ];
    for (flag, create) in missing {
        let told = format!("{flag}: the input has no column `other`; it has `id`, `n`");
        for content in ["id,n\n1,2\n", "{\"id\":1,\"n\":2}\n"] {
            let error = run(create.clone(), content);
            assert!(error.starts_with(&told), "{error}");
        }
    }
}

#[test]
fn a_flag_that_names_a_column_twice_is_named() {
    let folder = Folder::new("");
    let text = |name: &str| (name.to_owned(), "TEXT".to_owned());
    let indexed = |indexes: &[&[&str]]| Create {
        indexes: indexes.iter().map(|columns| names(columns)).collect(),
        ..Create::default()
    };
    for (create, told) in [
        (keyed(&["id", "ID"]), "--key: `id` is given twice"),
        (
            Create {
                types: vec![text("n"), text("N")],
                ..Create::default()
            },
            "--type: `n` is given twice",
        ),
        (indexed(&[&["n", "n"]]), "--index: `n` is given twice"),
        (
            indexed(&[&["n", "id"], &["n"], &["n", "ID"]]),
            "--index: `n,id` is given twice",
        ),
    ] {
        let job = Job {
            create: Some(create),
            ..creating(&folder, "t.csv", "id,n\n1,2\n")
        };
        assert_eq!(folder.run(&job).expect_err("a name twice"), told);
    }
}

#[test]
fn a_flag_may_name_a_column_of_later_rows() {
    let rows = "{\"id\":1}\n".repeat(SAMPLE_ROWS) + "{\"id\":2,\"Late\":\"7\"}\n";
    let folder = Folder::new("");
    let mut job = creating(&folder, "t.jsonl", &rows);
    let create = job.create.get_or_insert_with(Create::default);
    create.types = vec![("late".to_owned(), "VARCHAR(9)".to_owned())];
    create.indexes = vec![names(&["LATE"])];
    let created = folder.run(&job).expect("a load").created.expect("a table");
    assert!(created.contains("\"Late\" VARCHAR(9)"), "{created}");
}

#[test]
fn numbers_of_json_keep_their_value() {
    for (numbers, expected, stored) in [
        (&["1.10", "2"][..], "REAL", &["1.1", "2.0"][..]),
        (&["1e5", "-0.5"], "REAL", &["100000.0", "-0.5"]),
        (&["0.30000000000000004"], "REAL", &["0.30000000000000004"]),
        (
            &["18446744073709551615", "1"],
            "TEXT",
            &["18446744073709551615", "1"],
        ),
        (
            &["0.1234567890123456789", "1.10"],
            "TEXT",
            &["0.1234567890123456789", "1.10"],
        ),
        (
            &["9223372036854775807", "0.5"],
            "NUMERIC",
            &["9223372036854775807", "0.5"],
        ),
        (
            &["\"text\"", "18446744073709551615"],
            "TEXT",
            &["text", "18446744073709551615"],
        ),
        (&["\"text\"", "5"], "", &["text", "5"]),
    ] {
        let lines = numbers.iter().map(|number| format!("{{\"a\":{number}}}\n"));
        let folder = Folder::new("");
        let json: String = lines.collect();
        folder
            .run(&creating(&folder, "t.jsonl", &json))
            .expect("a load");
        assert_eq!(declared_types(&folder), [expected], "{numbers:?}");
        let found: Vec<_> = texts(&folder, "a").into_iter().flatten().collect();
        assert_eq!(found, stored);
    }
    let folder = Folder::new("");
    let json = "{\"a\":1.5}\n".repeat(SAMPLE_ROWS) + "{\"a\":0.1234567890123456789,\"b\":1}\n";
    let summary = folder.run(&creating(&folder, "t.jsonl", &json));
    assert_eq!(declared_types(&folder), ["TEXT", "INTEGER"]);
    let notes = summary.expect("a load").notes;
    assert!(
        notes[1]
            .text
            .starts_with("all rows were read to decide the types"),
        "{notes:?}"
    );
}
