//! `inorder id` reads what the functions of the databases read: the cases of `bindings/sql/tests/cases.tsv`.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

const CASES: &str = include_str!("../../../bindings/sql/tests/cases.tsv");

/// Runs `inorder id` with these arguments and this input.
fn id(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .arg("id")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&stdin));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A case as the command can be given it.
struct Case {
    line: &'static str,
    id: String,
    /// The 128 bits as hex digits, if it has them.
    bits: Option<&'static str>,
    kind: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, of_type, value, ulid, uuid, kind] = fields[..] else {
            panic!("{line}");
        };
        let id = match of_type {
            "text" => serde_json::from_str(value).unwrap(),
            "blob" => format!("x'{value}'"),
            "integer" => value.to_owned(),
            _ => return None,
        };
        let bits = [ulid, uuid].into_iter().find(|digits| *digits != "refused");
        // No argument has a zero byte in it.
        (!id.contains('\0')).then_some(Case {
            line,
            id,
            bits,
            kind,
        })
    };
    CASES.lines().skip(1).filter_map(case).collect()
}

#[test]
fn every_case_is_read_as_its_line_says() {
    let cases = cases();
    assert!(cases.len() > 6000, "{} cases", cases.len());
    for cases in cases.chunks(1000) {
        let mut arguments = vec!["inspect", "--json", "--"];
        arguments.extend(cases.iter().map(|case| case.id.as_str()));
        let output = id(&arguments, b"");
        let found: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found.len(), cases.len());
        for (case, found) in cases.iter().zip(&found) {
            let kind = found["kind"].as_str().or(found["is"].as_str()).unwrap();
            assert_eq!(kind, case.kind, "{}", case.line);
            let uuid = found["uuid"].as_str().map(|uuid| uuid.replace('-', ""));
            if case.kind == "TypeID" {
                assert!(uuid.is_some_and(|uuid| uuid.len() == 32));
                continue; // The functions that read a UUID do not read its TypeID.
            }
            assert_eq!(uuid.as_deref(), case.bits, "{}", case.line);
        }
        let is_any_wrong = cases.iter().any(|case| case.kind == "no id");
        assert_eq!(output.status.code(), Some(i32::from(is_any_wrong)));

        let cases = || cases.iter().filter(|case| case.kind != "TypeID");
        let mut arguments = vec!["convert", "--to", "blob", "--"];
        arguments.extend(cases().map(|case| case.id.as_str()));
        let output = id(&arguments, b"");
        let blob = |bits: &str| format!("x'{}'\n", bits.to_uppercase());
        let converted: String = cases().filter_map(|case| case.bits).map(blob).collect();
        assert_eq!(text(&output.stdout), converted);
        let refused = cases().filter(|case| case.bits.is_none()).count();
        assert_eq!(text(&output.stderr).lines().count(), refused);
        assert_eq!(output.status.code(), Some(i32::from(refused > 0)));
    }
}

#[test]
fn a_line_that_is_not_utf_8_is_reported_and_the_others_are_read() {
    let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let stdin = [
        b"  ",
        ulid.as_bytes(),
        b" \r\n\n01ARZ3NDEK\xffSV4RRFFQ69G5FAV\n",
        ulid.as_bytes(),
        b"\n\xc3\n",
        ulid.as_bytes(),
    ]
    .concat();
    for (arguments, wanted) in [
        (&["convert"][..], "01563e3a-b5d3-d676-4c61-efb99302bd5b\n"),
        (&["convert", "--to", "ulid"], "01ARZ3NDEKTSV4RRFFQ69G5FAV\n"),
        (
            &["inspect", "--json"],
            "\"id\": \"01ARZ3NDEKTSV4RRFFQ69G5FAV\"",
        ),
        (
            &["inspect"],
            "01ARZ3NDEKTSV4RRFFQ69G5FAV\n  is       ULID\n",
        ),
    ] {
        let output = id(arguments, &stdin);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(
            text(&output.stdout).matches(wanted).count(),
            3,
            "{arguments:?}"
        );
        assert_eq!(
            text(&output.stderr),
            "inorder: line 3 of stdin is not UTF-8 and not an id: byte 0xff at position 11\n\
             inorder: line 5 of stdin is not UTF-8 and not an id: byte 0xc3 at position 1\n"
        );
    }
}

#[test]
fn a_line_that_is_no_id_is_reported_and_the_others_are_converted() {
    let output = id(
        &["convert"],
        b"01ARZ3NDEKTSV4RRFFQ69G5FAV\nhello\n00000000000000000000000001\n",
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "01563e3a-b5d3-d676-4c61-efb99302bd5b\n00000000-0000-0000-0000-000000000001\n"
    );
    assert_eq!(
        text(&output.stderr),
        "inorder: line 2 of stdin, \"hello\", is not a ULID, UUID or TypeID: a ULID has 26 characters or 32 hex digits, not 5\n"
    );
    assert_eq!(
        id(&["convert"], b"\n01ARZ3NDEKTSV4RRFFQ69G5FAV")
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn milliseconds_are_a_time() {
    let output = id(&["ulid", "--at", "1469922850259"], b"");
    assert!(text(&output.stdout).starts_with("01ARZ3NDEK"), "{output:?}");
    for time in ["2024", "20240131", "1469922850", "281474976710656"] {
        assert_eq!(
            id(&["ulid", "--at", time], b"").status.code(),
            Some(2),
            "{time}"
        );
    }
}
