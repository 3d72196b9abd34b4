//! The syntax and the encoding of delimited text are found from its content: generated files over all of them.

mod common;

use common::{Folder, rows};
use inorder_load::{Create, Existing, Job};

/// A way to write a file.
#[derive(Clone, Copy, Debug)]
struct Writing {
    delimiter: char,
    quote: char,
    line_end: &'static str,
    encoding: Encoding,
    has_header: bool,
    name: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16 { is_big: bool, has_mark: bool },
    Flag(&'static str),
}

impl Encoding {
    const ALL: [Encoding; 8] = [
        Encoding::Utf8,
        Encoding::Utf8WithMark,
        utf16(false, true),
        utf16(true, true),
        utf16(false, false),
        utf16(true, false),
        Encoding::Flag("latin1"),
        Encoding::Flag("windows-1252"),
    ];

    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf8WithMark => format!("\u{feff}{text}").into_bytes(),
            Encoding::Utf16 { is_big, has_mark } => {
                let mark = has_mark.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                let bytes = units.flat_map(|unit| match is_big {
                    true => unit.to_be_bytes(),
                    false => unit.to_le_bytes(),
                });
                bytes.collect()
            }
            Encoding::Flag(_) => {
                let byte = |char| u8::try_from(char).expect("a character of Latin-1");
                text.chars().map(byte).collect()
            }
        }
    }
}

const fn utf16(is_big: bool, has_mark: bool) -> Encoding {
    Encoding::Utf16 { is_big, has_mark }
}

/// Every combination; each name of a file comes by turns.
fn all() -> Vec<Writing> {
    let mut all = Vec::new();
    for delimiter in [',', ';', '\t', '|'] {
        for quote in ['"', '\''] {
            for line_end in ["\n", "\r\n"] {
                for encoding in Encoding::ALL {
                    for has_header in [true, false] {
                        all.push(Writing {
                            delimiter,
                            quote,
                            line_end,
                            encoding,
                            has_header,
                            name: ["t.csv", "t.txt", "t", "t.tsv"][all.len() % 4],
                        });
                    }
                }
            }
        }
    }
    // With two values of the last two loops, a name would always meet the same of them.
    for (i, writing) in all.iter_mut().enumerate() {
        writing.name = ["t.csv", "t.txt", "t", "t.tsv"][(i / 2 + i / 32) % 4];
    }
    all
}

const ROWS: usize = 30;

/// A small number from a number.
fn mixed(i: usize) -> usize {
    (i.wrapping_mul(2_654_435_761)) >> 7
}

fn name(i: usize, writing: &Writing) -> String {
    let Writing {
        delimiter, quote, ..
    } = writing;
    match mixed(i) % 6 {
        0 => format!("a{delimiter}b {i}"),
        1 => format!("caf\u{e9} {quote}x{quote}"),
        2 => format!("two\nlines {i}"),
        3 => "plain".to_owned(),
        4 => format!("{i} ; , | x"),
        _ => format!("it's \"{i}"),
    }
}

impl Writing {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        let delimiter = self.delimiter.to_string();
        if self.has_header {
            lines.push(["id", "name", "size"].join(&delimiter));
        }
        for i in 0..ROWS {
            let (quote, name) = (self.quote.to_string(), name(i, self));
            let name = name.replace(&quote, &quote.repeat(2));
            let name = format!("{quote}{name}{quote}");
            lines.push([i.to_string(), name, format!("{i}.5")].join(&delimiter));
        }
        lines.join(self.line_end) + self.line_end
    }

    fn expected(&self) -> Vec<String> {
        let row = |i: usize| {
            let name = name(i, self).replace('\'', "''");
            // Fields keep the line ends that the file has.
            format!("integer{i},text'{name}',real{i}.5")
        };
        let mut rows: Vec<String> = (0..ROWS).map(row).collect();
        rows.sort();
        rows
    }
}

#[test]
fn files_are_read_as_they_were_written() {
    for writing in all() {
        let folder = Folder::new("");
        let path = folder.file(writing.name, writing.encoding.encode(&writing.text()));
        let mut job = Job {
            create: Some(Create::default()),
            existing: Existing::Refuse,
            ..folder.job(&path)
        };
        if let Encoding::Flag(name) = writing.encoding {
            job.read_options.encoding = Some(name.to_owned());
        }
        let summary = folder.run(&job);
        let summary = summary.unwrap_or_else(|error| panic!("{writing:?}: {error}"));
        let db = folder.open();
        assert_eq!(rows(&db, "t"), writing.expected(), "{writing:?}");
        let first = "SELECT name FROM pragma_table_info('t') ORDER BY cid LIMIT 1";
        let first: String = db.query_row(first, [], |row| row.get(0)).expect("a column");
        let (id, remark) = match writing.has_header {
            true => ("id", false),
            false => ("c1", true),
        };
        assert_eq!(first, id);
        let notes = common::told(&summary);
        assert_eq!(
            notes.contains("is a row and not a header"),
            remark,
            "{notes}"
        );
    }
}

/// Loads a file into a new table, with these settings.
fn loaded(
    name: &str,
    content: &str,
    set: impl Fn(&mut inorder_load::source::ReadOptions),
) -> Result<Vec<String>, String> {
    let folder = Folder::new("");
    let mut job = Job {
        create: Some(Create::default()),
        ..folder.job(&folder.file(name, content))
    };
    set(&mut job.read_options);
    folder.run(&job)?;
    Ok(rows(&folder.open(), "t"))
}

#[test]
fn decimal_commas_are_numbers_where_that_is_said() {
    let csv = "name;price\nx;1,5\ny;1.234,25\n";
    let kept = loaded("t.csv", csv, |_| {}).expect("a load");
    assert_eq!(kept, ["text'x',text'1,5'", "text'y',text'1.234,25'"]);
    let read = loaded("t.csv", csv, |options| {
        options.has_decimal_comma = Some(true)
    });
    assert_eq!(
        read.expect("a load"),
        ["text'x',real1.5", "text'y',real1234.25"]
    );
}

#[test]
fn a_decimal_comma_changes_no_text() {
    let csv = "id;ver;price;code\n1;1.234;1.234,50;1,5\n2;192.168.100.200;7;x\n";
    let read = |folder: &Folder, create: Option<Create>| {
        let mut job = folder.job(&folder.file("t.csv", csv));
        job.create = create;
        job.read_options.has_decimal_comma = Some(true);
        folder.run(&job).expect("a load");
        rows(&folder.open(), "t")
    };
    let expected = [
        "integer1,text'1.234',real1234.5,text'1,5'",
        "integer2,text'192.168.100.200',real7.0,text'x'",
    ];
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, ver TEXT, price REAL, code)";
    assert_eq!(read(&Folder::new(schema), None), expected);
    let create = Create {
        types: vec![("ver".to_owned(), "TEXT".to_owned())],
        ..Create::default()
    };
    let [first, second] = expected.map(|row| row.replace("real7.0", "integer7"));
    assert_eq!(read(&Folder::new(""), Some(create)), [first, second]);
    // A later value decides that the column is text, and the earlier ones are as they were.
    let numbers: String = (0..10_001).map(|n| format!("{n},5\n")).collect();
    let read = loaded("t.tsv", &format!("a\n{numbers}1.2.3\n"), |options| {
        options.has_decimal_comma = Some(true);
    });
    let read = read.expect("a load");
    assert!(read.contains(&"text'7,5'".to_owned()) && read.contains(&"text'1.2.3'".to_owned()));
}

#[test]
fn decimal_commas_that_are_read_as_text_are_told() {
    for (values, is_told) in [
        (["1,50", "2.000,75", "3"], true),
        (["1,50", "", "x"], false),
        // A thousand has such a comma too.
        (["1,234", "2,500", "1"], false),
        (["1.50", "2", "3"], false),
    ] {
        let folder = Folder::new("");
        let rows: String = values.map(|value| format!("a;{value}\n")).concat();
        let mut job = folder.job(&folder.file("f.csv", format!("name;price\n{rows}")));
        job.create = Some(Create::default());
        let notes = common::told(&folder.run(&job).expect("a load"));
        let told = "column `price` is kept as text: `1,50` in line 2 has a comma";
        assert_eq!(notes.contains(told), is_told, "{values:?}: {notes}");
        job.read_options.has_decimal_comma = Some(true);
        job.existing = Existing::Replace;
        let notes = common::told(&folder.run(&job).expect("a load"));
        assert!(!notes.contains("--decimal"), "{notes}");
    }
}

#[test]
fn ragged_records_are_padded_where_that_is_said() {
    let csv = "a,b,c\n1,2,3\n4\n5,6,7,,\n";
    let error = loaded("t.csv", csv, |_| {}).expect_err("a ragged record");
    assert!(
        error.contains("t.csv, line 3: the line has 1 field"),
        "{error}"
    );
    assert!(error.contains("--ragged pad"), "{error}");
    let padded = loaded("t.csv", csv, |options| options.pads_records = true);
    let expected = [
        "integer1,integer2,integer3",
        "integer4,nullNULL,nullNULL",
        "integer5,integer6,integer7",
    ];
    assert_eq!(padded.expect("a load"), expected);
    // Values are never left out.
    let error = loaded("t.csv", "a,b\n1,2\n3,4,5\n", |options| {
        options.pads_records = true;
    });
    assert!(
        error
            .expect_err("a value")
            .contains("line 3: the line has 3 fields")
    );
}

#[test]
fn a_blank_line_of_one_column_is_a_row() {
    for (content, has_header, expected) in [
        ("a\n1\n\n3\n", true, "1,,3"),
        ("a\n1\n\n3\n\n", true, "1,,3,"),
        ("a\n1\n\n3", true, "1,,3"),
        ("a\r\n1\r\n\r\n3\r\n", true, "1,,3"),
        ("a\r1\r\r3\r", true, "1,,3"),
        ("\na\n\"1\"\n\n", true, "1,"),
        ("\n\n1\n\n", false, ",,1,"),
    ] {
        let folder = Folder::new("CREATE TABLE t(a INT)");
        let mut job = folder.job(&folder.file("t.csv", content));
        job.read_options.has_header = Some(has_header);
        job.order = inorder_load::RowOrder::Input;
        folder.run(&job).expect("a load");
        let stored = "SELECT group_concat(coalesce(a, '')) FROM (SELECT a FROM t ORDER BY rowid)";
        let stored: String = folder
            .open()
            .query_row(stored, [], |row| row.get(0))
            .expect("the values");
        assert_eq!(stored, expected, "{content:?}");
    }
    // More than a part that one thread takes.
    let many = "7\n\n".repeat(300_000);
    let folder = Folder::new("CREATE TABLE t(a INT)");
    let summary = folder.load("t.csv", format!("a\n{many}"));
    assert_eq!(summary.expect("a load").rows_written, 600_000);
    let nulls = "SELECT count(*) FROM t WHERE a IS NULL";
    let nulls: i64 = folder
        .open()
        .query_row(nulls, [], |row| row.get(0))
        .expect("a count");
    assert_eq!(nulls, 300_000);
}

#[test]
fn blank_lines_between_rows_of_several_columns_are_told() {
    for (content, told) in [
        (
            "a,b\n1,2\n\n3,4\n",
            Some("1 blank line is left out, line 3"),
        ),
        (
            "\na,b\r\n1,2\r\n\r\n3,4\r\n\r\n",
            Some("3 blank lines are left out, the first is line 1"),
        ),
        ("a,b\n1,2\n3,4\n", None),
    ] {
        let folder = Folder::new("CREATE TABLE t(a INT, b INT)");
        let summary = folder.load("t.csv", content).expect("a load");
        assert_eq!(summary.rows_written, 2, "{content:?}");
        let notes = common::told(&summary);
        match told {
            Some(told) => assert!(notes.ends_with(&format!("t.csv: {told}")), "{notes}"),
            None => assert!(!notes.contains("blank"), "{notes}"),
        }
    }
    let many = "1,2\n\n".repeat(200_000);
    let folder = Folder::new("CREATE TABLE t(a INT, b INT)");
    let summary = folder
        .load("t.csv", format!("a,b\n{many}"))
        .expect("a load");
    let told = "200000 blank lines are left out, the first is line 3";
    assert!(common::told(&summary).ends_with(told));
}

#[test]
fn lines_before_the_header_and_comments_are_left_out() {
    let text = "Report\n\"of a day\n# made by hand\na;b\n1;x\n# \"2;y\n3;z;\n";
    let set = |options: &mut inorder_load::source::ReadOptions| {
        options.lines_skipped = 2;
        options.comment = Some(b'#');
    };
    let error = loaded("t.csv", text, set).expect_err("a ragged record");
    assert!(
        error.starts_with("t.csv, line 7: the line has 3 fields"),
        "{error}"
    );
    let rows = loaded("t.csv", &text.replace("z;", "z"), set).expect("a load");
    assert_eq!(rows, ["integer1,text'x'", "integer3,text'z'"]);
}

#[test]
fn text_of_an_unknown_encoding_names_the_flag() {
    let folder = Folder::new("");
    let path = folder.file("t.csv", b"id,name\n1,caf\xe9\n");
    let mut job = Job {
        create: Some(Create::default()),
        ..folder.job(&path)
    };
    let error = folder.run(&job).expect_err("not UTF-8");
    assert!(error.contains("--encoding windows-1252"), "{error}");
    job.read_options.encoding = Some("klingon".to_owned());
    let error = folder.run(&job).expect_err("no encoding");
    assert!(
        error.starts_with("--encoding: unknown `klingon`"),
        "{error}"
    );
    job.read_options.encoding = Some("windows-1252".to_owned());
    folder.run(&job).expect("a load");
    assert_eq!(rows(&folder.open(), "t"), ["integer1,text'café'"]);
}

#[test]
fn a_byte_order_mark_of_another_encoding_is_refused() {
    let text = "\u{feff}id,name\n1,é\n";
    let utf8 = text.as_bytes().to_vec();
    let units =
        |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    let (little, big) = (units(u16::to_le_bytes), units(u16::to_be_bytes));
    let load = |bytes: &[u8], encoding: &str| {
        let folder = Folder::new("");
        let mut job = Job {
            create: Some(Create::default()),
            ..folder.job(&folder.file("t.csv", bytes))
        };
        job.read_options.encoding = Some(encoding.to_owned());
        folder.run(&job)?;
        Ok(rows(&folder.open(), "t"))
    };
    for (bytes, encoding, marked, named) in [
        (&utf8, "latin1", "UTF-8", "ISO-8859-1"),
        (&utf8, "windows-1252", "UTF-8", "windows-1252"),
        (&utf8, "utf-16", "UTF-8", "UTF-16"),
        (&little, "utf-8", "UTF-16LE", "UTF-8"),
        (&little, "utf-16be", "UTF-16LE", "UTF-16BE"),
        (&big, "latin1", "UTF-16BE", "ISO-8859-1"),
    ] {
        let told = format!(
            "t.csv: the text begins with the byte order mark of {marked}, and --encoding says {named}; leave the flag out"
        );
        assert_eq!(load(bytes, encoding), Err(told));
    }
    let stored = Ok(vec!["integer1,text'é'".to_owned()]);
    for (bytes, encoding) in [
        (&utf8, "utf-8"),
        (&little, "utf-16"),
        (&little, "utf-16le"),
        (&big, "utf-16"),
        (&big, "UTF-16BE"),
    ] {
        assert_eq!(load(bytes, encoding), stored, "{encoding}");
    }
}
