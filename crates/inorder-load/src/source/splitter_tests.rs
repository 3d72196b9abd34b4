//! Tests of the splitter.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// A reader that gives a few bytes at a time.
struct Slow(Cursor<Vec<u8>>, usize);

impl Read for Slow {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = out.len().min(self.1);
        self.0.read(&mut out[..bytes])
    }
}

/// Each record's line, bytes and fields.
type Split = Vec<(u64, Vec<u8>, Vec<Vec<u8>>)>;

const CSV: Syntax = Syntax {
    delimiter: b',',
    quote: Some(b'"'),
    comment: None,
    keeps_blank_lines: false,
    escapes: None,
};

fn split(text: &[u8], syntax: Syntax, step: usize, plain: bool) -> Split {
    let slow = Slow(Cursor::new(text.to_vec()), step);
    let mut splitter = Splitter::new(Box::new(slow), syntax);
    let mut records = Vec::new();
    loop {
        let is_there = match plain {
            true => splitter.next(),
            false => match splitter.begin().expect("memory is read") {
                true => {
                    splitter.is_plain = true;
                    Ok(true)
                }
                false => {
                    splitter.is_plain = false;
                    splitter.split_any()
                }
            },
        };
        if !is_there.expect("memory is read") {
            return records;
        }
        assert_eq!(splitter.fields().count(), splitter.len());
        assert!(!splitter.is_ascii() || splitter.record().is_ascii());
        let fields = splitter.fields().map(<[u8]>::to_vec).collect();
        records.push((splitter.line(), splitter.record().to_vec(), fields));
    }
}

#[test]
fn a_record_without_quotes_is_split_by_searching() {
    let text = Box::new(&b"a,b\r\n1,2\r\n\n,\n\"x\",3\n4,5"[..]);
    let mut splitter = Splitter::new(text, CSV);
    let mut plain = Vec::new();
    while splitter.next().expect("memory is read") {
        plain.push(splitter.is_plain());
    }
    assert_eq!(plain, [false, true, true, false, false]);
}

#[test]
fn comments_are_no_records() {
    let text = b"# \"a\n\r\n#b\nx,y\n1,#2\n#,\"\n3,4\n#end";
    let syntax = Syntax {
        comment: Some(b'#'),
        ..CSV
    };
    let records = split(text, syntax, 3, true);
    let lines: Vec<u64> = records.iter().map(|(line, ..)| *line).collect();
    assert_eq!(lines, [4, 5, 7]);
    assert_eq!(records[2].1, b"3,4\n");
}

#[test]
fn blank_lines_are_counted_or_records() {
    let text = b"\n\r\na\n\n1\n\r\n#x\n\n3\n\n";
    for keeps_blank_lines in [false, true] {
        let syntax = Syntax {
            comment: Some(b'#'),
            keeps_blank_lines,
            ..CSV
        };
        let mut splitter = Splitter::new(Box::new(&text[..]), syntax);
        let mut found = Vec::new();
        while splitter.next().expect("memory is read") {
            let field = String::from_utf8_lossy(splitter.text()).into_owned();
            found.push(format!("{}{field}", splitter.line()));
        }
        let (records, counted): (&[&str], _) = match keeps_blank_lines {
            true => (&["1", "2", "3a", "4", "51", "6", "8", "93", "10"], None),
            false => (&["3a", "51", "93"], Some((6, 1))),
        };
        assert_eq!(found, records);
        assert_eq!(splitter.take_blank_lines(), counted);
    }
}

#[test]
fn a_line_end_unlike_the_first_one_is_marked() {
    for (text, marked) in [
        (&b"a,b\n1,x\ry,2\n3,4\r\n5,6\n"[..], &[2][..]),
        (b"a,b\r\n1,2\r3,4\r\n5,\"\r\"\r\n7,8\r", &[2, 4]),
        (b"a,b\r1,2\r3,4\n5,6\r7,8", &[3]),
        (b"a,b\r1,2\r3,\"x\ny\"\r5,6\r", &[]),
        (b"a,b\n1,2\n\r3,4\n", &[3]),
    ] {
        for step in [1, 64] {
            let slow = Slow(Cursor::new(text.to_vec()), step);
            let mut splitter = Splitter::new(Box::new(slow), CSV);
            let (mut records, mut found) = (0, Vec::new());
            while splitter.next().expect("memory is read") {
                records += 1;
                found.extend(splitter.other_line_end().map(|_| records));
            }
            assert_eq!(found, marked, "{}", String::from_utf8_lossy(text));
        }
    }
}

/// Splits with cuts of so many bytes wherever one is possible.
fn split_in_parts(text: &[u8], syntax: Syntax, step: usize, bytes: usize) -> Split {
    let slow = Slow(Cursor::new(text.to_vec()), step);
    let mut splitter = Splitter::new(Box::new(slow), syntax);
    let (mut records, mut memory) = (Vec::new(), Vec::new());
    let record = |splitter: &Splitter| {
        assert!(!splitter.is_ascii() || splitter.record().is_ascii());
        let fields = splitter.fields().map(<[u8]>::to_vec).collect();
        (splitter.line(), splitter.record().to_vec(), fields)
    };
    loop {
        let cut = splitter.cut(bytes, &mut memory);
        if let Some(cut) = cut.expect("memory is read") {
            let mut part = Splitter::of(cut, syntax);
            while part.next().expect("memory is read") {
                records.push(record(&part));
            }
            memory = part.into_memory();
        } else if splitter.next().expect("memory is read") {
            records.push(record(&splitter));
        } else {
            return records;
        }
    }
}

#[test]
fn text_without_quotes_is_cut_in_parts() {
    let text = b"a,b\n1,2\n3,\xc3\xa4\n5";
    let mut splitter = Splitter::new(Box::new(&text[..]), CSV);
    assert!(splitter.next().expect("memory is read"));
    let mut memory = Vec::new();
    let cut = splitter.cut(64, &mut memory).expect("memory is read");
    let cut = cut.expect("there are no quotes");
    assert_eq!((cut.bytes, cut.line, cut.is_ascii), (9, 2, false));
    assert_eq!(splitter.next_line(), 4);
    assert!(
        splitter
            .cut(64, &mut memory)
            .expect("memory is read")
            .is_none()
    );
    let text = b"a,b\r\n1,2\r\n\n\n3,\xc3\xa4\n4,\"5\"\n6,7\n8,9";
    for bytes in [8, 16, 64] {
        assert_eq!(
            split_in_parts(text, CSV, 3, bytes),
            split(text, CSV, 3, true)
        );
    }
}

proptest! {
    #[test]
    fn cuts_do_not_change_records(
        text in prop::collection::vec(prop::sample::select(&b"ab,;#\t\"'\r\n\n\n\xef\xbb\xbf\0"[..]), 0..200),
        quote in prop::sample::select(&[None, Some(b'"'), Some(b'\'')][..]),
        comment in prop::sample::select(&[None, Some(b'#')][..]),
        keeps_blank_lines: bool,
        step in prop::sample::select(&[1usize, 7, 64, 1 << 16][..]),
        bytes in prop::sample::select(&[2usize, 8, 16, 64, 256][..]),
    ) {
        let syntax = Syntax { delimiter: b',', quote, comment, keeps_blank_lines, escapes: None };
        prop_assert_eq!(
            split_in_parts(&text, syntax, step, bytes),
            split(&text, syntax, step, true)
        );
    }

    #[test]
    fn searching_splits_any_bytes_as_csv_core_does(
        text in prop::collection::vec(prop::sample::select(&b"ab,;#\t\"'\r\n\xef\xbb\xbf\0"[..]), 0..200),
        delimiter in prop::sample::select(&b",;\t\n"[..]),
        quote in prop::sample::select(&[None, Some(b'"'), Some(b'\'')][..]),
        comment in prop::sample::select(&[None, Some(b'#')][..]),
        keeps_blank_lines: bool,
        step in prop::sample::select(&[1usize, 2, 7, 64, 1 << 16][..]),
    ) {
        let syntax = Syntax { delimiter, quote, comment, keeps_blank_lines, escapes: None };
        prop_assert_eq!(
            split(&text, syntax, step, true),
            split(&text, syntax, step, false)
        );
    }

    #[test]
    fn searching_splits_records_of_many_fields_as_csv_core_does(
        fields in prop::collection::vec(0usize..300, 1..20),
    ) {
        let record = |fields: &usize| format!("{}\n", vec!["x"; *fields].join(","));
        let text: String = fields.iter().map(record).collect();
        prop_assert_eq!(
            split(text.as_bytes(), CSV, 1 << 16, true),
            split(text.as_bytes(), CSV, 1 << 16, false)
        );
    }
}
