//! The list of SQL functions, which registration, documentation and tests use.

use crate::Error;
use crate::function::{Function, Output};
use crate::{read::Value, shared};
use inorder_key::{
    Inspection, TimeId, Tsid, TsidFactory, TypeId, Ulid, UnixTime, Uuid, fill_random,
};

const SHARED_ULID: &str =
    "a new ULID, as a blob, greater than all that any process made in the databases being written";
const SHARED_ULID_OF: &str =
    "a new ULID, as a blob, greater than all that any process made in the database `schema`";
const SHARED_UUID7: &str = "a new UUIDv7, as a blob, greater than all that any process made in the databases being written";
const SHARED_UUID7_OF: &str =
    "a new UUIDv7, as a blob, greater than all that any process made in the database `schema`";

const SHARED_TSID: &str = "a new TSID, as an integer, greater than all that any process made in the databases being written";
const SHARED_TSID_OF: &str =
    "a new TSID, as an integer, greater than all that any process made in the database `schema`";

/// Every function, in the order of the documentation.
pub const FUNCTIONS: &[Function] = &[
    Function::make("ulid", "a new ULID, as a blob", || Ok(blob(Ulid::now()))),
    Function::make("ulid_text", "a new ULID, as text", || {
        Ok(ulid_text(Ulid::now()))
    }),
    Function::make("ulid_hex", "a new ULID, as 32 hex digits", || {
        Ok(hex_id(Ulid::now()))
    }),
    Function::make("uuid7", "a new UUIDv7, as a blob", || {
        Ok(blob(Uuid::now_v7()))
    }),
    Function::make("uuid7_text", "a new UUIDv7, as text", || {
        Ok(uuid_text(Uuid::now_v7()))
    }),
    Function::make("uuid7_hex", "a new UUIDv7, as 32 hex digits", || {
        Ok(hex_id(Uuid::now_v7()))
    }),
    Function::make("uuid4", "a new UUIDv4, as a blob", || {
        Ok(blob(Uuid::new_v4()))
    }),
    Function::make("uuid4_text", "a new UUIDv4, as text", || {
        Ok(uuid_text(Uuid::new_v4()))
    }),
    Function::make("uuid4_hex", "a new UUIDv4, as 32 hex digits", || {
        Ok(hex_id(Uuid::new_v4()))
    }),
    Function::make_in("ulid_shared", None, SHARED_ULID, |db, schema| {
        Ok(blob(shared::next::<Ulid>(db, schema)?))
    }),
    Function::make_in(
        "ulid_shared",
        Some("schema"),
        SHARED_ULID_OF,
        |db, schema| Ok(blob(shared::next::<Ulid>(db, schema)?)),
    ),
    Function::make_in("uuid7_shared", None, SHARED_UUID7, |db, schema| {
        Ok(blob(shared::next::<Uuid>(db, schema)?))
    }),
    Function::make_in(
        "uuid7_shared",
        Some("schema"),
        SHARED_UUID7_OF,
        |db, schema| Ok(blob(shared::next::<Uuid>(db, schema)?)),
    ),
    Function::draw(
        "ulid_at",
        "t",
        "a ULID of the time `t`, otherwise random, as a blob",
        |t| Ok(blob(Ulid::random_at(t.time()?.ms)?)),
    ),
    Function::draw(
        "ulid_at_s",
        "s",
        "a ULID of the time `s` in seconds, otherwise random, as a blob",
        |s| Ok(blob(Ulid::random_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::draw(
        "uuid7_at",
        "t",
        "a UUIDv7 of the time `t`, otherwise random, as a blob",
        |t| Ok(blob(Uuid::random_at(t.time()?.ms)?)),
    ),
    Function::draw(
        "uuid7_at_s",
        "s",
        "a UUIDv7 of the time `s` in seconds, otherwise random, as a blob",
        |s| Ok(blob(Uuid::random_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::draw("token", "n", "`n` random bytes, 1 to 1024", |n| {
        Ok(Output::Blob(token(n)?))
    }),
    Function::draw(
        "token_text",
        "n",
        "`n` random bytes as `2n` hex digits",
        |n| Ok(Output::Text(hex(&token(n)?))),
    ),
    Function::make("tsid", "a new TSID, as an integer", || {
        Ok(Output::Integer(TsidFactory::process().try_next()?.to_i64()))
    }),
    Function::draw(
        "tsid",
        "node",
        "a new TSID with this node, 0 to 1023, as an integer",
        |node| {
            let id = TsidFactory::process().try_next_of(node.node()?)?;
            Ok(Output::Integer(id.to_i64()))
        },
    ),
    Function::make_in("tsid_shared", None, SHARED_TSID, |db, schema| {
        Ok(Output::Integer(shared::next_tsid(db, schema)?.to_i64()))
    }),
    Function::make_in(
        "tsid_shared",
        Some("schema"),
        SHARED_TSID_OF,
        |db, schema| Ok(Output::Integer(shared::next_tsid(db, schema)?.to_i64())),
    ),
    Function::draw("typeid", "p", "a new TypeID with the prefix `p`", |p| {
        Ok(Output::Text(TypeId::now(&p.prefix()?)?.to_string()))
    }),
    Function::convert("ulid_text", "x", "the text of a ULID", |x| {
        Ok(ulid_text(x.ulid()?))
    }),
    Function::convert("ulid_hex", "x", "the 32 hex digits of a ULID", |x| {
        Ok(hex_id(x.ulid()?))
    }),
    Function::convert("ulid_blob", "x", "the blob of a ULID", |x| {
        Ok(blob(x.ulid()?))
    }),
    Function::convert(
        "ulid_timestamp",
        "x",
        "the milliseconds since 1970 in a ULID",
        |x| Ok(Output::Integer(x.ulid()?.ms() as i64)),
    ),
    Function::convert(
        "ulid_min",
        "t",
        "the least ULID of the time `t`, as a blob",
        |t| Ok(blob(Ulid::first_at(t.time()?.ms)?)),
    ),
    Function::convert(
        "ulid_min_s",
        "s",
        "the least ULID of the time `s` in seconds, as a blob",
        |s| Ok(blob(Ulid::first_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::convert(
        "ulid_max",
        "t",
        "the greatest ULID of the time `t`, as a blob",
        |t| Ok(blob(Ulid::last_at(t.time()?.ms)?)),
    ),
    Function::convert(
        "ulid_max_s",
        "s",
        "the greatest ULID of the time `s` in seconds, as a blob",
        |s| Ok(blob(Ulid::last_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::convert("ulid_valid", "x", "1 if `x` is a ULID, 0 if not", |x| {
        truth(x.ulid().is_ok())
    }),
    Function::convert(
        "ulid_to_uuid",
        "x",
        "the 128 bits of a ULID as the text of a UUID",
        |x| Ok(uuid_text(x.ulid()?.into())),
    ),
    Function::convert("uuid_text", "x", "the text of a UUID of any version", |x| {
        Ok(uuid_text(x.uuid()?))
    }),
    Function::convert(
        "uuid_hex",
        "x",
        "the 32 hex digits of a UUID of any version",
        |x| Ok(hex_id(x.uuid()?)),
    ),
    Function::convert("uuid_blob", "x", "the blob of a UUID of any version", |x| {
        Ok(blob(x.uuid()?))
    }),
    Function::convert(
        "uuid_valid",
        "x",
        "1 if `x` is a UUID of any version, 0 if not",
        |x| truth(x.uuid().is_ok()),
    ),
    Function::convert(
        "uuid_version",
        "x",
        "the version of a UUID, or NULL if it is of another variant",
        |x| {
            Ok(x.uuid()?
                .version()
                .map_or(Output::Null, |version| Output::Integer(version.into())))
        },
    ),
    Function::convert(
        "uuid_to_ulid",
        "x",
        "the 128 bits of a UUID as the text of a ULID",
        |x| Ok(ulid_text(x.uuid()?.into())),
    ),
    Function::convert(
        "uuid7_timestamp",
        "x",
        "the milliseconds since 1970 in a UUIDv7",
        uuid7_timestamp,
    ),
    Function::convert(
        "uuid7_min",
        "t",
        "the least UUIDv7 of the time `t`, as a blob",
        |t| Ok(blob(Uuid::first_at(t.time()?.ms)?)),
    ),
    Function::convert(
        "uuid7_min_s",
        "s",
        "the least UUIDv7 of the time `s` in seconds, as a blob",
        |s| Ok(blob(Uuid::first_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::convert(
        "uuid7_max",
        "t",
        "the greatest UUIDv7 of the time `t`, as a blob",
        |t| Ok(blob(Uuid::last_at(t.time()?.ms)?)),
    ),
    Function::convert(
        "uuid7_max_s",
        "s",
        "the greatest UUIDv7 of the time `s` in seconds, as a blob",
        |s| Ok(blob(Uuid::last_at(s.time_of_seconds()?.ms)?)),
    ),
    Function::convert("uuid7_valid", "x", "1 if `x` is a UUIDv7, 0 if not", |x| {
        truth(x.uuid().is_ok_and(|id| id.version() == Some(7)))
    }),
    Function::convert(
        "tsid_text",
        "i",
        "the 13 characters of a TSID, an integer or a text",
        |i| Ok(Output::Text(i.tsid()?.to_string())),
    ),
    Function::convert(
        "tsid_integer",
        "i",
        "the integer of a TSID, an integer or a text",
        |i| Ok(Output::Integer(i.tsid()?.to_i64())),
    ),
    Function::convert(
        "tsid_timestamp",
        "i",
        "the milliseconds since 1970 in a TSID",
        |i| Ok(Output::Integer(i.tsid()?.ms() as i64)),
    ),
    Function::convert(
        "tsid_min",
        "t",
        "the least TSID of the time `t`, as an integer",
        |t| Ok(Output::Integer(Tsid::first_at(t.time()?.ms)?.to_i64())),
    ),
    Function::convert(
        "tsid_min_s",
        "s",
        "the least TSID of the time `s` in seconds, as an integer",
        |s| {
            Ok(Output::Integer(
                Tsid::first_at(s.time_of_seconds()?.ms)?.to_i64(),
            ))
        },
    ),
    Function::convert(
        "tsid_max",
        "t",
        "the greatest TSID of the time `t`, as an integer",
        |t| Ok(Output::Integer(Tsid::last_at(t.time()?.ms)?.to_i64())),
    ),
    Function::convert(
        "tsid_max_s",
        "s",
        "the greatest TSID of the time `s` in seconds, as an integer",
        |s| {
            Ok(Output::Integer(
                Tsid::last_at(s.time_of_seconds()?.ms)?.to_i64(),
            ))
        },
    ),
    Function::convert("typeid_prefix", "d", "the prefix of a TypeID", |d| {
        Ok(Output::Text(d.type_id()?.prefix().to_owned()))
    }),
    Function::convert("typeid_uuid", "d", "the UUID of a TypeID, as text", |d| {
        Ok(uuid_text(d.type_id()?.uuid()))
    }),
    Function::convert("typeid_blob", "d", "the UUID of a TypeID, as a blob", |d| {
        Ok(blob(d.type_id()?.uuid()))
    }),
    Function::convert(
        "typeid_suffix",
        "x",
        "the 26 characters of a UUID after the prefix and `_` of a TypeID",
        |x| {
            let id = TypeId::new("", x.uuid()?)?;
            Ok(Output::Text(id.to_string()))
        },
    ),
    Function::convert("typeid_valid", "d", "1 if `d` is a TypeID, 0 if not", |d| {
        truth(d.type_id().is_ok())
    }),
    Function::convert(
        "key_kind",
        "x",
        "what an id is: `ulid`, `uuid7`, `uuid4`, `tsid`, `token160`, otherwise in words",
        |x| Ok(Output::Text(kind(x))),
    ),
    Function {
        is_deterministic: true,
        ..Function::make("inorder_version", "the version of these functions", || {
            Ok(Output::Text(env!("CARGO_PKG_VERSION").to_owned()))
        })
    },
];

/// Maximum length of a token in bytes. It exceeds the length of any secret, and limits the memory of a call.
const TOKEN_BYTES_MAX: usize = 1024;

fn truth(is_so: bool) -> Result<Output, Error> {
    Ok(Output::Integer(is_so.into()))
}

#[inline]
fn blob(id: impl Into<[u8; 16]>) -> Output {
    Output::Id(id.into())
}

#[inline]
pub(crate) fn ulid_text(id: Ulid) -> Output {
    Output::UlidText(id.to_text())
}

#[inline]
pub(crate) fn uuid_text(id: Uuid) -> Output {
    Output::UuidText(id.to_text())
}

pub(crate) fn hex_id(id: impl Into<[u8; 16]>) -> Output {
    let mut digits = [0; 32];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(id.into()) {
        *pair = hex_pair(byte);
    }
    Output::Hex(digits)
}

fn hex_pair(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)])
}

fn token(n: Value<'_>) -> Result<Vec<u8>, Error> {
    let found = n.integer("a number of bytes")?;
    let is_right = |bytes: &usize| (1..=TOKEN_BYTES_MAX).contains(bytes);
    let bytes = usize::try_from(found)
        .ok()
        .filter(is_right)
        .ok_or(Error::Token {
            max: TOKEN_BYTES_MAX,
            found,
        })?;
    let mut token = vec![0; bytes];
    fill_random(&mut token);
    Ok(token)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| hex_pair(*byte));
    digits.map(char::from).collect()
}

fn uuid7_timestamp(x: Value<'_>) -> Result<Output, Error> {
    let id = x.uuid()?;
    let ms = id.ms().ok_or(Error::NoTime(id))?;
    Ok(Output::Integer(ms as i64))
}

/// Returns the name of the kind of key, or a description of anything else.
fn kind(x: Value<'_>) -> String {
    // Only whether a time lies in the future depends on now, and nothing is said of that here.
    let now = UnixTime::default();
    let found = match x {
        Value::Integer(integer) => Inspection::of_integer(integer),
        Value::Real(_) => return "no id".to_owned(),
        Value::Text(text) => Inspection::of_text(&String::from_utf8_lossy(text), now),
        Value::Blob(blob) => Inspection::of_blob(blob, now),
    };
    found.kind.map_or(found.name, |kind| kind.name().to_owned())
}
