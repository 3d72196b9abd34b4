//! The cases that every reader of ids agrees on (`bindings/sql/tests/cases.tsv`), as this crate reads them.

use inorder_key::{Inspection, Ulid, UnixTime, Uuid};

const CASES: &str = include_str!("../../../bindings/sql/tests/cases.tsv");

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().as_chunks::<2>().0.iter();
    let byte = |pair: &[u8; 2]| {
        let digits = std::str::from_utf8(pair).expect("hex digits");
        u8::from_str_radix(digits, 16).expect("hex digits")
    };
    pairs.map(byte).collect()
}

#[test]
fn every_case_is_read_as_its_line_says() {
    let now = UnixTime::from_ms(1_750_000_000_000);
    let mut read = 0;
    for line in CASES.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, of_type, value, ulid, uuid, kind] = fields[..] else {
            panic!("{line}");
        };
        let (as_ulid, as_uuid, found) = match of_type {
            "text" => {
                let text: String = serde_json::from_str(value).unwrap();
                let found = Inspection::of_text(&text, now);
                (Ulid::parse(&text), Uuid::parse(&text), found)
            }
            "blob" => {
                let blob = bytes(value);
                let found = Inspection::of_blob(&blob, now);
                (Ulid::from_slice(&blob), Uuid::from_slice(&blob), found)
            }
            _ => continue,
        };
        let digits = |bits: Option<u128>| bits.map_or("refused".into(), |b| format!("{b:032x}"));
        assert_eq!(digits(as_ulid.map(Ulid::to_u128).ok()), ulid, "{line}");
        assert_eq!(digits(as_uuid.map(Uuid::to_u128).ok()), uuid, "{line}");
        let name = found.kind.map_or(found.name.as_str(), |kind| kind.name());
        assert_eq!(name, kind, "{line}");
        assert_eq!(
            found.bits.is_some(),
            ulid != "refused" || uuid != "refused" || kind == "TypeID",
            "{line}"
        );
        assert!(kind != "no id" || !found.problems.is_empty(), "{line}");
        read += 1;
    }
    assert!(read > 6000, "{read} cases");
}

/// Beyond the crate `uuid`, `urn:uuid:` is accepted in any case (RFC 8141 section 2).
#[test]
fn every_text_is_read_as_the_crate_uuid_reads_it() {
    let (mut accepted, mut refused) = (0, 0);
    for line in CASES.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[1] != "text" {
            continue;
        }
        let text: String = serde_json::from_str(fields[2]).unwrap();
        let as_lower_urn = match text.get(..9) {
            Some(urn) if urn.eq_ignore_ascii_case("urn:uuid:") => {
                format!("urn:uuid:{}", &text[9..])
            }
            _ => text.clone(),
        };
        let peer = uuid::Uuid::parse_str(&as_lower_urn).ok();
        let own = Uuid::parse(&text).ok();
        assert_eq!(
            own.map(Uuid::to_u128),
            peer.map(|id| id.as_u128()),
            "{line}"
        );
        match own {
            Some(_) => accepted += 1,
            None => refused += 1,
        }
    }
    assert!(accepted > 700 && refused > 4000, "{accepted} and {refused}");
}
