//! Kinds of ids by value: 12 kinds in 4 encodings each, on each server.

use crate::server::{Server, parts};
use inorder_advise::server::rules::Group;
use inorder_key::{ByteOrder, Uuid, bulk::SplitMix64};
use std::fmt::Write as _;

/// Rows that hold one value of each kind and encoding.
const ROWS: u64 = 1200;
/// 2024-01-01.
const BEGIN_MS: u64 = 1_704_067_200_000;

/// A kind: its name, and its value in a row of some encodings: type, literal, and the words that must be found.
struct Kind {
    name: &'static str,
    value: fn(u64) -> Value,
    answers: [(Encoding, &'static str); 4],
}

enum Value {
    Bits(u128),
    Bytes(Vec<u8>),
    Integer(i64),
}

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Hyphens,
    Upper,
    Hex,
    Crockford,
    Native,
    Bytes,
    Bigint,
    Numeric,
    Digits,
    Integer,
}

use Encoding::{Bigint, Bytes, Crockford, Digits, Hex, Hyphens, Integer, Native, Numeric, Upper};

/// 64 random bits, the same for the same row and part.
fn random(row: u64, part: u64) -> u64 {
    SplitMix64::mix(SplitMix64::mix(row) ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn random_bits(row: u64) -> u128 {
    u128::from(random(row, 1)) << 64 | u128::from(random(row, 2))
}

/// Bits with version and variant.
fn uuid(bits: u128, version: u128) -> u128 {
    let bits = bits & !(0xf << 76) & !(0x3 << 62);
    bits | version << 76 | 0x2 << 62
}

/// The time of a row in units of 100 ns since 1582-10-15, as in RFC 9562.
fn gregorian(row: u64) -> u128 {
    (u128::from(BEGIN_MS + row * 977) + 12_219_292_800_000) * 10_000
}

fn uuid1(row: u64) -> Value {
    let time = gregorian(row);
    let bits =
        (time & 0xffff_ffff) << 96 | (time >> 32 & 0xffff) << 80 | (time >> 48 & 0xfff) << 64;
    Value::Bits(uuid(bits | 0x1234_5678_9abc, 1))
}

fn uuid6(row: u64) -> Value {
    let time = gregorian(row);
    let bits = (time >> 28) << 96 | (time >> 12 & 0xffff) << 80 | (time & 0xfff) << 64;
    Value::Bits(uuid(bits | 0x1234_5678_9abc, 6))
}

/// Bits of a UUID that is stored in another byte order.
fn stored(order: ByteOrder, value: Value) -> Value {
    let Value::Bits(bits) = value else {
        panic!("a UUID has bits")
    };
    let bytes = order.to_bytes(Uuid::from_bytes(bits.to_be_bytes()));
    Value::Bits(u128::from_be_bytes(bytes))
}

fn with_time(row: u64) -> u128 {
    u128::from(BEGIN_MS + row * 977) << 80 | random_bits(row) & ((1 << 80) - 1)
}

fn hash(row: u64, length: usize) -> Vec<u8> {
    (0..5)
        .flat_map(|part| random(row, part + 7).to_be_bytes())
        .take(length)
        .collect()
}

const KINDS: &[Kind] = &[
    uuid_kind("UUIDv1", uuid1),
    uuid_kind("UUIDv3", |row| Value::Bits(uuid(random_bits(row), 3))),
    uuid_kind("UUIDv4", |row| Value::Bits(uuid(random_bits(row), 4))),
    uuid_kind("UUIDv5", |row| Value::Bits(uuid(random_bits(row), 5))),
    uuid_kind("UUIDv6", uuid6),
    uuid_kind("UUIDv7", |row| Value::Bits(uuid(with_time(row), 7))),
    uuid_kind("UUIDv8", |row| Value::Bits(uuid(random_bits(row), 8))),
    Kind {
        name: "ulid",
        value: |row| Value::Bits(with_time(row)),
        answers: [
            (Crockford, "text of 26 characters, ULID"),
            (Hex, "ULID"),
            (Native, "uuid, ULID"),
            (Bytes, "16-byte blob, ULID"),
        ],
    },
    Kind {
        name: "token128",
        value: |row| Value::Bits(random_bits(row)),
        answers: [
            (Hyphens, "UUID without a version"),
            (Hex, "128-bit token or hash"),
            (Native, "uuid, 128-bit token"),
            (Bytes, "16-byte blob, 128-bit token"),
        ],
    },
    byte_order_kind(
        "dotnet4",
        |row| stored(ByteOrder::DotNet, Value::Bits(uuid(random_bits(row), 4))),
        "UUIDv4 in the byte order of .NET",
    ),
    // A row per minute, over 20 hours.
    byte_order_kind(
        "dotnet7",
        |row| stored(ByteOrder::DotNet, Value::Bits(uuid(with_time(row * 61), 7))),
        "UUIDv7 in the byte order of .NET",
    ),
    // SQL Server's NEWSEQUENTIALID: a UUIDv1 whose first groups are turned.
    byte_order_kind(
        "newsequentialid",
        |row| stored(ByteOrder::DotNet, uuid1(row)),
        "UUIDv1 in the byte order of .NET",
    ),
    byte_order_kind(
        "swapped1",
        |row| stored(ByteOrder::Swapped, uuid1(row)),
        "UUIDv1 in the byte order of UUID_TO_BIN(…, 1), time first",
    ),
    byte_order_kind(
        "swapped4",
        |row| stored(ByteOrder::Swapped, Value::Bits(uuid(random_bits(row), 4))),
        "UUIDv4 in the byte order of UUID_TO_BIN(…, 1)",
    ),
    byte_order_kind(
        "swapped7",
        |row| stored(ByteOrder::Swapped, Value::Bits(uuid(with_time(row), 7))),
        "UUIDv7 in the byte order of UUID_TO_BIN(…, 1)",
    ),
    Kind {
        name: "sha1",
        value: |row| Value::Bytes(hash(row, 20)),
        answers: [
            (Hex, "text of 40 hex digits, 160-bit hash"),
            (Upper, "160-bit hash"),
            (Bytes, "20-byte blob, 160-bit hash"),
            (Bytes, "20-byte blob"),
        ],
    },
    Kind {
        name: "sha256",
        value: |row| Value::Bytes(hash(row, 32)),
        answers: [
            (Hex, "text of 64 hex digits, 256-bit hash"),
            (Upper, "256-bit hash"),
            (Bytes, "32-byte blob, 256-bit hash"),
            (Bytes, "32-byte blob"),
        ],
    },
    Kind {
        name: "snowflake",
        value: |row| {
            Value::Integer(((BEGIN_MS + row * 977 - 1_288_834_974_657) << 22 | row & 0xfff) as i64)
        },
        answers: [
            (Bigint, "64-bit integers, time first"),
            (Numeric, "64-bit integers, time first"),
            (Digits, "text of digits, 64-bit integers, time first"),
            (Bigint, "64-bit integers, time first"),
        ],
    },
    Kind {
        name: "serial",
        value: |row| Value::Integer(row as i64 + 1),
        answers: [
            (Integer, "integers in order"),
            (Bigint, "integers in order"),
            (Numeric, "integers in order"),
            (Digits, "text of digits, integers in order"),
        ],
    },
    Kind {
        name: "shuffled",
        value: |row| Value::Integer((random(row, 3) >> 34) as i64),
        answers: [
            (Integer, "integers in no order"),
            (Bigint, "integers in no order"),
            (Numeric, "integers in no order"),
            (Digits, "text of digits, integers in no order"),
        ],
    },
];

const fn uuid_kind(name: &'static str, value: fn(u64) -> Value) -> Kind {
    Kind {
        name,
        value,
        answers: [(Hyphens, name), (Hex, name), (Native, name), (Bytes, name)],
    }
}

const fn byte_order_kind(name: &'static str, value: fn(u64) -> Value, words: &'static str) -> Kind {
    Kind {
        name,
        value,
        answers: [
            (Hyphens, words),
            (Hex, words),
            (Native, words),
            (Bytes, words),
        ],
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        _ = write!(out, "{byte:02x}");
        out
    })
}

fn crockford(mut bits: u128) -> String {
    let mut digits = [0; 26];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[(bits & 31) as usize];
        bits >>= 5;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

fn literal(value: &Value, encoding: Encoding, is_postgres: bool) -> String {
    let bytes = match value {
        Value::Bits(bits) => bits.to_be_bytes().to_vec(),
        Value::Bytes(bytes) => bytes.clone(),
        Value::Integer(number) => {
            return match encoding {
                Digits => format!("'{number}'"),
                _ => number.to_string(),
            };
        }
    };
    let digits = hex(&bytes);
    match encoding {
        Hyphens | Native => {
            let parts = [
                &digits[..8],
                &digits[8..12],
                &digits[12..16],
                &digits[16..20],
                &digits[20..],
            ];
            format!("'{}'", parts.join("-"))
        }
        Upper => format!("'{}'", digits.to_uppercase()),
        Crockford => format!(
            "'{}'",
            crockford(u128::from_be_bytes(bytes.try_into().unwrap()))
        ),
        Bytes if is_postgres => format!("'\\x{digits}'"),
        Bytes => format!("x'{digits}'"),
        _ => format!("'{digits}'"),
    }
}

fn type_name(encoding: Encoding, is_postgres: bool) -> &'static str {
    match (encoding, is_postgres) {
        (Native, _) => "uuid",
        (Bytes, true) => "bytea",
        (Bytes, false) => "varbinary(40)",
        (Bigint, _) => "bigint",
        (Integer, _) => "int",
        (Numeric, _) => "numeric(20)",
        (_, true) => "text",
        (_, false) => "varchar(64)",
    }
}

/// The encoding of a column. MariaDB 10.11 takes the versions 1 to 7 into its type.
fn encoding(kind: &Kind, at: usize, is_postgres: bool) -> Encoding {
    match kind.answers[at].0 {
        Native if !is_postgres && has_no_version(kind) => Bytes,
        own => own,
    }
}

/// Whether MariaDB's type takes not all of its values.
fn has_no_version(kind: &Kind) -> bool {
    is_in_other_order(kind) || ["UUIDv8", "ulid", "token128"].contains(&kind.name)
}

fn is_in_other_order(kind: &Kind) -> bool {
    kind.answers[0].1.contains("byte order")
}

/// Makes a table of a kind; integers are ids where a key holds them.
fn make(server: &Server, kind: &Kind, is_postgres: bool) {
    let encodings: Vec<Encoding> = (0..4).map(|at| encoding(kind, at, is_postgres)).collect();
    let columns = encodings.iter().enumerate();
    let columns: Vec<String> = columns
        .map(|(at, own)| format!("c{at} {} UNIQUE", type_name(*own, is_postgres)))
        .collect();
    let count = if is_postgres {
        "bigserial"
    } else {
        "bigint AUTO_INCREMENT"
    };
    server.run(&[&format!(
        "CREATE TABLE {}_t (seq {count} PRIMARY KEY, {})",
        kind.name,
        columns.join(", ")
    )]);
    for from in (0..ROWS).step_by(200) {
        let row = |row| {
            let value = (kind.value)(row);
            let literals: Vec<String> = encodings
                .iter()
                .map(|own| literal(&value, *own, is_postgres))
                .collect();
            format!("({})", literals.join(", "))
        };
        let rows: Vec<String> = (from..from + 200).map(row).collect();
        server.run(&[&format!(
            "INSERT INTO {}_t (c0, c1, c2, c3) VALUES {}",
            kind.name,
            rows.join(", ")
        )]);
    }
}

fn check(name: &str) {
    let Some(server) = Server::start(name) else {
        return;
    };
    let is_postgres = name == "postgres";
    for kind in KINDS {
        make(&server, kind, is_postgres);
    }
    let advice = server.advice();
    let words = |kind: &Kind, at: usize| {
        let column = format!("{}_t.c{at}", kind.name).to_lowercase();
        let mut lines = advice.ids.iter();
        let line = lines.find(|line| line.column.to_lowercase().ends_with(&column));
        line.map_or("nothing".to_owned(), |line| line.kind.clone())
    };
    let mut wrong = Vec::new();
    for kind in KINDS {
        for at in 0..4 {
            let own = encoding(kind, at, is_postgres);
            let wanted = match own == kind.answers[at].0 {
                true => kind.answers[at].1,
                false => kind.answers[3].1,
            };
            let words = words(kind, at);
            // A native type is not text.
            let is_native = own == Native;
            if !words.contains(wanted) || (is_native && !words.starts_with("uuid, ")) {
                wrong.push(format!("{} {at}: {words}, not {wanted}", kind.name));
            }
        }
        let in_time = [
            "UUIDv6",
            "UUIDv7",
            "ulid",
            "snowflake",
            "serial",
            "swapped1",
        ];
        let in_time = in_time.contains(&kind.name);
        let is_ordered = words(kind, 1).contains("100 % in order");
        if is_ordered != in_time && kind.name != "UUIDv1" {
            wrong.push(format!("{}: order of {}", kind.name, words(kind, 1)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Nobody is told that a UUIDv7 in another byte order is in the order of time.
    for kind in KINDS.iter().filter(|kind| is_in_other_order(kind)) {
        let table = format!(".{}_t", kind.name);
        let own = parts(&advice).filter(|(part, _)| {
            part.candidate.group == Group::OrderedUuid && part.candidate.table.ends_with(&table)
        });
        let words = match kind.name {
            "swapped1" => "ids in order already",
            name if name.starts_with("swapped") => "in the byte order of UUID_TO_BIN",
            _ => "in the byte order of .NET's Guid",
        };
        let mut count = 0;
        for (part, _) in own {
            assert!(part.candidate.actions.is_empty(), "{part:?}");
            assert!(part.candidate.reason.contains(words), "{part:?}");
            count += 1;
        }
        assert_eq!(count, 4, "{}", kind.name);
    }
}

/// Snowflakes of several nodes, some ms out of order, are in order: nothing is proposed, and no counter ends.
#[test]
fn snowflakes_are_good_keys() {
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        let seq = match name {
            "postgres" => "seq bigserial",
            _ => "seq bigint AUTO_INCREMENT UNIQUE",
        };
        server.run(&[&format!(
            "CREATE TABLE post ({seq}, id bigint PRIMARY KEY, digits varchar(20) NOT NULL UNIQUE)"
        )]);
        let rows: Vec<String> = (0..ROWS)
            .map(|row| {
                // Twitter's epoch; clocks of four nodes are up to 40 ms apart.
                let (node, late) = (row % 4, random(row, 5) % 40);
                let ms = BEGIN_MS + row * 20 + late - 1_288_834_974_657;
                let id = ms << 22 | node << 12 | row & 0xfff;
                format!("({id}, '{id}')")
            })
            .collect();
        server.run(&[&format!(
            "INSERT INTO post (id, digits) VALUES {}",
            rows.join(", ")
        )]);
        let advice = server.advice();
        let line = |column: &str| {
            let mut lines = advice.ids.iter();
            let line = lines.find(|line| line.column.ends_with(column)).unwrap();
            (line.kind.clone(), line.note.clone())
        };
        let words = "64-bit integers, time first; 100 % in order";
        assert_eq!(line("post.id"), (words.into(), "good".into()), "{name}");
        let digits = format!("text of digits, {words}");
        assert_eq!(line("post.digits"), (digits, "numbers as text".into()));
        assert!(advice.plans.is_empty(), "{name}: {:?}", advice.plans);
        let counter = |own: &&inorder_advise::counter::Counter| own.is_alert();
        assert_eq!(advice.counters.iter().filter(counter).count(), 0, "{name}");
    }
}

#[test]
fn postgres_kinds_are_right() {
    check("postgres");
}

#[test]
fn mariadb_kinds_are_right() {
    check("mariadb");
}

/// Ids that switch from UUIDv4 to UUIDv7 are told with shares and the place.
#[test]
fn two_kinds_in_a_column_are_told_apart() {
    for name in ["postgres", "mariadb"] {
        let Some(server) = Server::start(name) else {
            continue;
        };
        let count = if name == "postgres" {
            "seq bigserial PRIMARY KEY"
        } else {
            "seq bigint AUTO_INCREMENT PRIMARY KEY"
        };
        server.run(&[&format!("CREATE TABLE mixed ({count}, id uuid UNIQUE)")]);
        let rows: Vec<String> = (0..1000)
            .map(|row| {
                let bits = if row < 600 {
                    uuid(random_bits(row), 4)
                } else {
                    uuid(with_time(row), 7)
                };
                format!(
                    "({})",
                    literal(&Value::Bits(bits), Native, name == "postgres")
                )
            })
            .collect();
        server.run(&[&format!(
            "INSERT INTO mixed (id) VALUES {}",
            rows.join(", ")
        )]);
        let advice = server.advice();
        let line = advice
            .ids
            .iter()
            .find(|line| line.column.ends_with("mixed.id"))
            .unwrap();
        for words in [
            "uuid, UUIDv4 in 60.0 %",
            "uuid, UUIDv7 in 40.0 %",
            "the kind switches after 60 % of the rows",
        ] {
            assert!(line.kind.contains(words), "{name}: {}", line.kind);
        }
    }
}
