//! Delimited text as programs write it: values that would split text, beside what servers write of the same rows, and files with
//! unusual headers, lines and words.

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Folder, rows, told};
use inorder_load::source::{ReadOptions, WrittenBy};
use inorder_load::{Create, Existing, Job, NoteKind, Summary};
use inorder_testing::PrivateServer;

/// Texts that would split text, or read as something else.
const VALUES: &[Option<&str>] = &[
    Some("plain"),
    None,
    Some(""),
    Some("a,b"),
    Some("a\tb"),
    Some("two\nlines"),
    Some("back\\slash"),
    Some("\\"),
    Some("\\\\"),
    Some("ends\\"),
    Some("say \"hi\""),
    Some("\""),
    Some("\"\""),
    Some("\\\""),
    Some("a\\\"b\\"),
    Some("\\N"),
    Some("N"),
    Some("NULL"),
    Some("\\n"),
    Some("\\t"),
    Some("\\."),
    Some("it's"),
    Some("caf\u{e9} \u{1f600}"),
    Some(" spaces "),
    Some("#"),
    Some("\u{8}\u{b}\u{c}\u{1a}"),
    Some("cr\rlf\r\nend"),
];

/// Two columns of all pairs of values that lie near each other.
fn table() -> Vec<[Option<&'static str>; 2]> {
    let all = VALUES.len();
    let pair = |at: usize| [VALUES[at % all], VALUES[(at + at / all) % all]];
    (0..all * 7).map(pair).collect()
}

fn stored(table: &[[Option<&str>; 2]]) -> Vec<String> {
    let field = |value: &Option<&str>| match value {
        Some(text) => format!("text'{}'", text.replace('\'', "''")),
        None => "nullNULL".to_owned(),
    };
    let row = |(id, [a, b]): (usize, &[Option<&str>; 2])| {
        format!("integer{id},{},{}", field(a), field(b))
    };
    let mut rows: Vec<String> = table.iter().enumerate().map(row).collect();
    rows.sort();
    rows
}

fn loaded(
    folder: &Folder,
    name: &str,
    content: &str,
    set: impl Fn(&mut ReadOptions),
) -> Result<Summary, String> {
    let mut job = Job {
        create: Some(Create::default()),
        existing: Existing::Replace,
        threads: 3,
        ..folder.job(&folder.file(name, content))
    };
    set(&mut job.read_options);
    folder.run(&job)
}

/// A writer of rows, and how its text is read.
struct Writer {
    name: &'static str,
    set: fn(&mut ReadOptions),
    header: &'static str,
    delimiter: &'static str,
    field: fn(Option<&str>) -> String,
}

fn in_quotes(text: &str, escape: char) -> String {
    let doubled: String = text
        .chars()
        .flat_map(|c| {
            (c == '"' || c == escape)
                .then_some(escape)
                .into_iter()
                .chain([c])
        })
        .collect();
    format!("\"{doubled}\"")
}

/// With a backslash before each of these characters, and letters for control characters.
fn escaped(text: &str, letters: &[(char, char)]) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match letters.iter().find(|(control, _)| *control == c) {
            Some((_, letter)) => out.extend(['\\', *letter]),
            None => out.push(c),
        }
    }
    out
}

const WRITERS: &[Writer] = &[
    Writer {
        name: "spark",
        set: |options| options.dialect = Some(WrittenBy::Spark),
        header: "id,a,b\n",
        delimiter: ",",
        // Text without a delimiter, a quote or a line end stands without quotes, and backslashes are as they are.
        field: |value| match value {
            None => String::new(),
            Some(text) if text.is_empty() || text.contains(['"', ',', '\n', '\r']) => {
                in_quotes(text, '\\')
            }
            Some(text) => text.to_owned(),
        },
    },
    Writer {
        name: "escape",
        set: |options| options.escape = Some(b'!'),
        header: "id;a;b\n",
        delimiter: ";",
        field: |value| value.map_or(String::new(), |text| in_quotes(text, '!')),
    },
    Writer {
        name: "no quotes",
        set: |options| {
            options.quote = Some(None);
            options.escape = Some(b'\\');
            options.nulls = Some(vec!["\\N".to_owned()]);
            options.has_header = Some(true);
        },
        header: "id,a,b\n",
        delimiter: ",",
        field: |value| match value {
            None => "\\N".to_owned(),
            Some(text) => escaped(
                text,
                &[(',', ','), ('\\', '\\'), ('\n', '\n'), ('\r', '\r')],
            ),
        },
    },
    Writer {
        name: "mysql",
        set: |options| options.dialect = Some(WrittenBy::MySql),
        header: "",
        delimiter: "\t",
        field: |value| match value {
            None => "\\N".to_owned(),
            Some(text) => escaped(
                text,
                &[
                    ('\t', '\t'),
                    ('\\', '\\'),
                    ('\n', '\n'),
                    ('\r', 'r'),
                    ('\u{1a}', 'Z'),
                ],
            ),
        },
    },
    Writer {
        name: "mysql in quotes",
        set: |options| {
            options.dialect = Some(WrittenBy::MySql);
            options.delimiter = Some(b',');
            options.quote = Some(Some(b'"'));
        },
        header: "",
        delimiter: ",",
        field: |value| match value {
            None => "\\N".to_owned(),
            Some(text) => format!(
                "\"{}\"",
                escaped(text, &[('"', '"'), ('\\', '\\'), ('\n', 'n'), ('\r', 'r')])
            ),
        },
    },
    Writer {
        name: "pg-text",
        set: |options| options.dialect = Some(WrittenBy::PgText),
        header: "",
        delimiter: "\t",
        field: |value| match value {
            None => "\\N".to_owned(),
            Some(text) => escaped(
                text,
                &[
                    ('\t', 't'),
                    ('\\', '\\'),
                    ('\n', 'n'),
                    ('\r', 'r'),
                    ('\u{8}', 'b'),
                    ('\u{b}', 'v'),
                    ('\u{c}', 'f'),
                ],
            ),
        },
    },
];

#[test]
fn values_are_read_as_programs_write_them() {
    let table = table();
    for writer in WRITERS {
        let line = |(id, [a, b]): (usize, &[Option<&str>; 2])| {
            let fields = [id.to_string(), (writer.field)(*a), (writer.field)(*b)];
            fields.join(writer.delimiter) + "\n"
        };
        let lines: String = table.iter().enumerate().map(line).collect();
        let folder = Folder::new("");
        loaded(
            &folder,
            "t.csv",
            &format!("{}{lines}", writer.header),
            writer.set,
        )
        .unwrap_or_else(|error| panic!("{}: {error}", writer.name));
        assert_eq!(rows(&folder.open(), "t"), stored(&table), "{}", writer.name);
    }
}

#[test]
fn records_with_and_without_escapes_are_read_in_parts() {
    let rows_of = |id: usize| match id % 5000 {
        7 => format!("{id}\ta\\tb\tx\\\ny\n"),
        _ => format!("{id}\tplain\t\\N\n"),
    };
    let text: String = (0..60_000).map(rows_of).collect();
    let folder = Folder::new("");
    let summary = loaded(&folder, "t.tsv", &text, |options| {
        options.dialect = Some(WrittenBy::MySql)
    });
    assert_eq!(summary.expect("a load").rows_written, 60_000);
    let sql = "SELECT count(*) || ' ' || sum(c2 = 'a' || char(9) || 'b') || ' ' || sum(c3 = 'x' || char(10) || 'y') FROM t WHERE c3 IS NOT NULL";
    let found: String = folder
        .open()
        .query_row(sql, [], |row| row.get(0))
        .expect("counts");
    assert_eq!(found, "12 12 12");
}

/// What the servers themselves write, with control characters that their own text has.
#[test]
fn files_of_servers_are_read() {
    let cases = [
        ("postgres", WrittenBy::PgText, "pg"),
        ("mariadb", WrittenBy::MySql, "my"),
    ];
    for (name, dialect, short) in cases {
        let Some(server) = PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR")) else {
            continue;
        };
        let table = table();
        let columns = if server.is_postgres() {
            "id int, a text, b text"
        } else {
            "id int, a text, b text) DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin -- ("
        };
        server.run(&format!("CREATE TABLE written({columns}\n)").replace("-- (\n)", ""));
        for (id, row) in table.iter().enumerate() {
            let fields = row.map(|value| match value {
                None => "NULL".to_owned(),
                Some(text) if server.is_postgres() => format!("'{}'", text.replace('\'', "''")),
                Some(text) => {
                    let digits: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
                    format!("CONVERT(x'{digits}' USING utf8mb4)")
                }
            });
            server.run(&format!(
                "INSERT INTO written VALUES ({id}, {}, {})",
                fields[0], fields[1]
            ));
        }
        let open = tempfile::Builder::new()
            .prefix(short)
            .tempdir()
            .expect("a folder");
        std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777))
            .expect("permissions");
        let path = open.path().join("written.txt");
        server.run(&match server.is_postgres() {
            true => format!("COPY written TO '{}'", path.display()),
            false => format!(
                "SELECT * INTO OUTFILE '{}' CHARACTER SET utf8mb4 FROM written",
                path.display()
            ),
        });
        let text = std::fs::read_to_string(&path).expect("the server's file");
        let folder = Folder::new("");
        loaded(&folder, "written.txt", &text, |options| {
            options.dialect = Some(dialect)
        })
        .expect(name);
        assert_eq!(rows(&folder.open(), "t"), stored(&table), "{name}");
    }
}

#[test]
fn escapes_of_postgres_are_characters() {
    let folder = Folder::new("");
    let text = "1\t\\x41\\102\\103\\q\n2\t\\xzz\\\\N\n\\.\n";
    loaded(&folder, "t.txt", text, |options| {
        options.dialect = Some(WrittenBy::PgText)
    })
    .expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        ["integer1,text'ABCq'", "integer2,text'xzz\\N'"]
    );
    let error = loaded(&folder, "t.txt", "1\tx\n\\.\n2\ty\n", |options| {
        options.dialect = Some(WrittenBy::PgText)
    });
    assert!(
        error
            .expect_err("text after the end")
            .contains("line 3: text follows the end mark")
    );
    let error = loaded(&folder, "t.txt", "1\t\\377\n", |options| {
        options.dialect = Some(WrittenBy::PgText)
    });
    assert!(error.expect_err("a byte").contains("is not UTF-8"));
    let error = loaded(&folder, "t.csv", "id,a\n1,\"x\\\"\n", |options| {
        options.escape = Some(b'\\')
    });
    assert!(
        error
            .expect_err("no end")
            .contains("line 2, column 3 (`a`): a quote is never closed")
    );
    let error = loaded(&folder, "t.csv", "id,a\n1,\"x\\\"\" y\n", |options| {
        options.escape = Some(b'\\')
    });
    assert!(
        error
            .expect_err("text after")
            .contains("text follows the closing quote")
    );
}

#[test]
fn files_of_excel_are_read() {
    let excel = |options: &mut ReadOptions| options.dialect = Some(WrittenBy::Excel);
    let folder = Folder::new("");
    let path = folder.file(
        "t.csv",
        b"sep=;\r\nname;price\r\nM\xfcller;1.234,50\r\nx;7,25\r\n",
    );
    let mut job = Job {
        create: Some(Create::default()),
        ..folder.job(&path)
    };
    excel(&mut job.read_options);
    let summary = folder.run(&job).expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        ["text'M\u{fc}ller',real1234.5", "text'x',real7.25"]
    );
    let kinds = [
        NoteKind::EncodingAssumed,
        NoteKind::DelimiterAssumed,
        NoteKind::DecimalCommaRead,
    ];
    for kind in kinds {
        assert!(
            summary.notes.iter().any(|note| note.kind == kind),
            "{}",
            told(&summary)
        );
    }
    // The line is no row without the dialect either, and an error names the line of the file.
    let summary = loaded(&folder, "t.csv", "SEP=|\na|b\n1|x\n", |_| {}).expect("a load");
    assert_eq!(rows(&folder.open(), "t"), ["integer1,text'x'"]);
    assert!(told(&summary).contains("the delimiter is `|`, as the first line says"));
    let error = loaded(&folder, "t.csv", "sep=;\na;b\n1;2;3\n", |_| {}).expect_err("ragged");
    assert!(error.starts_with("t.csv, line 3:"), "{error}");
    let summary = loaded(&folder, "t.csv", "a;b\n1,5;x\n", |options| {
        excel(options);
        options.has_decimal_comma = Some(false);
    });
    assert!(!told(&summary.expect("a load")).contains("decimal comma, as"));
    assert_eq!(rows(&folder.open(), "t"), ["text'1,5',text'x'"]);
}

#[test]
fn several_words_mean_null() {
    let csv = "id,a,b\n1,NA,\n2,NULL,x\n3,\"NA\",-\n4,7,NA\n";
    let folder = Folder::new("");
    let nulls = |words: &[&str]| -> Option<Vec<String>> {
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    };
    loaded(&folder, "t.csv", csv, |options| {
        options.nulls = nulls(&["NA", "NULL", "-", ""])
    })
    .expect("a load");
    let expected = [
        "integer1,nullNULL,nullNULL",
        "integer2,nullNULL,text'x'",
        "integer3,text'NA',nullNULL",
        "integer4,text'7',nullNULL",
    ];
    assert_eq!(rows(&folder.open(), "t"), expected);
    loaded(&folder, "t.csv", csv, |options| {
        options.nulls = nulls(&["NULL"])
    })
    .expect("a load");
    assert!(rows(&folder.open(), "t").contains(&"integer1,text'NA',text''".to_owned()));
}

#[test]
fn headers_that_repeat_or_lack_names_are_renamed_and_told() {
    for (header, names, renamed) in [
        ("id,a,a", "id,a,a_1", 1),
        ("id,,a", "id,c2,a", 1),
        ("a,a,a", "a,a_1,a_2", 2),
        (",,", "c1,c2,c3", 3),
        ("id,a,b", "id,a,b", 0),
    ] {
        let folder = Folder::new("");
        let content = format!("{header}\n1,2,3\n");
        let summary = loaded(&folder, "t.csv", &content, |options| {
            options.has_header = Some(true)
        })
        .expect(header);
        let found = "SELECT group_concat(name) FROM pragma_table_info('t')";
        let found: String = folder
            .open()
            .query_row(found, [], |row| row.get(0))
            .expect("names");
        assert_eq!(found, names);
        let notes = summary
            .notes
            .iter()
            .filter(|note| note.kind == NoteKind::ColumnRenamed);
        assert_eq!(notes.count(), renamed, "{header}: {}", told(&summary));
        // Given names take their place, and nothing is told.
        let mut job = Job {
            create: Some(Create::default()),
            existing: Existing::Replace,
            ..folder.job(&folder.path("t.csv"))
        };
        job.read_options.has_header = Some(true);
        job.columns = Some(["x", "y", "z"].map(str::to_owned).to_vec());
        let summary = folder.run(&job).expect(header);
        assert_eq!(rows(&folder.open(), "t"), ["integer1,integer2,integer3"]);
        assert_eq!(told(&summary), "");
    }
    // A table that exists has no such column.
    let folder = Folder::new("CREATE TABLE t(id INTEGER, a TEXT)");
    let error = folder.load("t.csv", "id,a,a\n1,2,3\n").expect_err("twice");
    assert!(error.contains("no column `a_1`"), "{error}");
}

#[test]
fn the_only_line_is_a_row_if_it_looks_like_one() {
    for (line, is_row) in [
        ("1,Alien,1979", true),
        ("Alien,1979", true),
        ("Ada,2024-01-02", true),
        ("ada@example.org,Ada", true),
        ("Ada,-1.50", true),
        ("Ada,true", true),
        ("id,name", false),
        ("country,2019,2020", false),
    ] {
        for end in ["", "\n", "\r\n"] {
            for name in ["t.csv", "t.txt"] {
                let folder = Folder::new("");
                let summary = loaded(&folder, name, &format!("{line}{end}"), |options| {
                    options.delimiter = Some(b',')
                });
                let summary = match (summary, name) {
                    (Ok(summary), _) => summary,
                    // One line does not tell a format.
                    (Err(error), "t.txt") => {
                        assert!(error.contains("format"), "{error}");
                        continue;
                    }
                    (Err(error), _) => panic!("{line}: {error}"),
                };
                assert_eq!(summary.rows_written, u64::from(is_row), "{line}");
                let note = summary
                    .notes
                    .iter()
                    .find(|note| note.kind == NoteKind::HeaderAssumed);
                let note = note.unwrap_or_else(|| panic!("{line}: {}", told(&summary)));
                assert_eq!(
                    note.text.contains("is a row and not a header"),
                    is_row,
                    "{}",
                    note.text
                );
            }
        }
    }
}

#[test]
fn words_of_hex_digits_stay_text_in_a_blob_column() {
    for (values, stored, note) in [
        (["cafe", "beef"], "text", Some(NoteKind::StoredAsText)),
        (["1234", "5678"], "text", Some(NoteKind::StoredAsText)),
        (["0xcafe", "0xbeef"], "blob", Some(NoteKind::DecodedAsBytes)),
        (
            ["\\xcafe", "x'beef'"],
            "blob",
            Some(NoteKind::DecodedAsBytes),
        ),
        (["0xcafe", "beef"], "text", Some(NoteKind::StoredAsText)),
        (["word", "text"], "text", None),
        (["key=", "a1b="], "text", None),
    ] {
        let folder = Folder::new("CREATE TABLE t(b BLOB)");
        let content = format!("b\n{}\n{}\n", values[0], values[1]);
        let path = folder.file("t.csv", content);
        let mut job = folder.job(&path);
        job.read_options.has_header = Some(true);
        let summary = folder.run(&job).expect("a load");
        let found = rows(&folder.open(), "t");
        assert!(
            found.iter().all(|row| row.starts_with(stored)),
            "{values:?}: {found:?}"
        );
        let kinds: Vec<NoteKind> = summary.notes.iter().map(|note| note.kind).collect();
        assert_eq!(
            kinds,
            note.into_iter().collect::<Vec<_>>(),
            "{}",
            told(&summary)
        );
        if let Some(note) = summary.notes.first() {
            assert_eq!((note.count, note.line), (Some(2), Some(2)), "{}", note.text);
        }
    }
    // A later word is not taken for hex.
    let folder = Folder::new("CREATE TABLE t(b BLOB)");
    let many = "0xcafe\n".repeat(10_001);
    let error = folder
        .load("t.csv", format!("b\n{many}cafe\n"))
        .expect_err("a word");
    assert!(error.contains("`cafe` is not hex"), "{error}");
}

#[test]
fn numbers_that_json_does_not_have_are_read() {
    let json = "{\"id\":1,\"a\":NaN,\"b\":Infinity,\"c\":[1,NaN],\"d\":\"NaN\"}\n{\"id\":2,\"a\":1.5,\"b\":-Infinity,\"c\":[],\"d\":\"\"}\n";
    for (name, text) in [
        ("t.jsonl", json.to_owned()),
        (
            "t.json",
            format!("[{}]", json.trim().replace("}\n{", "},\n{")),
        ),
    ] {
        let folder = Folder::new("");
        let summary = loaded(&folder, name, &text, |_| {}).expect(name);
        let expected = [
            "integer1,nullNULL,real9.0e+999,text'[1,null]',text'NaN'",
            "integer2,real1.5,real-9.0e+999,text'[]',text''",
        ];
        assert_eq!(rows(&folder.open(), "t"), expected);
        let notes: Vec<_> = summary
            .notes
            .iter()
            .filter(|note| note.kind == NoteKind::NanAsNull)
            .collect();
        assert_eq!(notes.len(), 2, "{}", told(&summary));
        assert!(
            notes
                .iter()
                .all(|note| (note.count, note.line) == (Some(1), Some(1))),
            "{notes:?}"
        );
        let error = loaded(
            &folder,
            name,
            &text.replace("NaN,\"b\"", "NaNs,\"b\""),
            |_| {},
        )
        .expect_err("no number");
        assert!(error.contains("not a JSON object"), "{error}");
    }
}

#[test]
fn a_carriage_return_of_mysql_is_text_unless_lines_end_with_it() {
    let mysql = |options: &mut ReadOptions| options.dialect = Some(WrittenBy::MySql);
    for (text, expected) in [
        (
            "1\ta\r\n2\t\rb\r\n",
            ["integer1,text'a'", "integer2,text'\rb'"],
        ),
        (
            "1\ta\n2\t\rb\r\n",
            ["integer1,text'a'", "integer2,text'\rb\r'"],
        ),
    ] {
        let folder = Folder::new("");
        loaded(&folder, "t.tsv", text, mysql).expect("a load");
        assert_eq!(rows(&folder.open(), "t"), expected);
    }
}
