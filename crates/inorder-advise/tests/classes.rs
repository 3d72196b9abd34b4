//! What columns of ids are, from a file to the advice: only keys that are made here get another kind of ids.

mod common;

use common::{Silent, made, numbers, uuid};
use inorder_advise::{
    Change, Error,
    advice::{Advice, Options, advise},
    apply,
    classify::{IdRole, Settled},
    report::{FORMATS, Look},
    rules::{Candidate, Class, Group},
};
use rusqlite::Connection;
use std::path::Path;

/// Tables of a web application, 10,000 rows each.
fn web() -> String {
    let id = uuid(4);
    let rows = numbers(10_000);
    format!(
        "CREATE TABLE website(website_id TEXT PRIMARY KEY, name);
         {few} INSERT INTO website SELECT {id}, i FROM n;
         CREATE TABLE session(session_id TEXT PRIMARY KEY, website_id TEXT, note);
         {rows} INSERT INTO session SELECT {id}, (SELECT website_id FROM website WHERE name = i % 200 + 1), i FROM n;
         CREATE INDEX session_website ON session(website_id);
         CREATE TABLE note(id TEXT PRIMARY KEY, body); {rows} INSERT INTO note SELECT {id}, i FROM n;
         CREATE TABLE attr(note_id TEXT PRIMARY KEY, value); INSERT INTO attr SELECT id, 'x' FROM note;
         CREATE TABLE account(id TEXT PRIMARY KEY, apiKey TEXT UNIQUE, StripeId TEXT UNIQUE, reset_token TEXT UNIQUE);
         {rows} INSERT INTO account SELECT {id}, {id}, {id}, {id} FROM n;
         CREATE TABLE invite(id TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE);
         {rows} INSERT INTO invite SELECT {id}, {id} FROM n;
         CREATE TABLE password_reset(token TEXT PRIMARY KEY, at); {rows} INSERT INTO password_reset SELECT {id}, i FROM n;
         CREATE TABLE api_key(key TEXT PRIMARY KEY, at); {rows} INSERT INTO api_key SELECT {id}, i FROM n;
         CREATE TABLE blob_hash(sha256 TEXT PRIMARY KEY, at);
         {rows} INSERT INTO blob_hash SELECT lower(hex(randomblob(32))), i FROM n;",
        few = numbers(200),
    )
}

fn advice(path: &Path, settled: Option<&str>) -> Result<Advice, Error> {
    let folder = inorder_advise::snapshot::private_folder()?;
    let settled = settled.map(|text| Settled::parse(Path::new("advise.toml"), text));
    let options = Options {
        settled: settled.transpose()?,
        ..Options::default()
    };
    advise(path, folder.path(), &options, &Silent)
}

fn random_ids(advice: &Advice) -> Vec<&Candidate> {
    let parts = advice.items.iter().flat_map(|item| &item.parts);
    let candidates = parts.map(|part| &part.candidate);
    candidates
        .filter(|own| own.group == Group::RandomIds)
        .collect()
}

fn proposed(advice: &Advice) -> Vec<&str> {
    let found = random_ids(advice)
        .into_iter()
        .filter(|own| own.class == Class::App);
    let mut names: Vec<&str> = found.map(|own| &*own.object).collect();
    names.sort_unstable();
    names
}

fn role(advice: &Advice, column: &str) -> (IdRole, bool) {
    let line = advice.ids.iter().find(|line| line.column == column);
    let class = line.and_then(|line| line.class.as_ref()).expect(column);
    (class.role, class.is_open())
}

/// Every format says what columns are, and what settles doubts.
fn assert_reported(found: &Advice) {
    let look = Look {
        color: false,
        width: 160,
    };
    for format in FORMATS {
        let text = (format.write)(found, look);
        for words in [
            "session.session_id",
            "[columns]",
            "must stay random",
            "its values are in note.id",
        ] {
            let is_json = format.name == "json" && words == "[columns]";
            assert!(
                is_json || text.replace("&quot;", "\"").contains(words),
                "{}: {words}: {text}",
                format.name
            );
        }
    }
}

#[test]
fn secrets_references_and_digests_keep_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = made(folder.path(), &web());
    let found = advice(&path, None).unwrap();
    use IdRole::{Digest, External, Key, Reference, Secret};
    for (column, expected) in [
        ("website.website_id", (Key, false)),
        ("session.website_id", (Reference, false)),
        ("session.session_id", (Secret, true)),
        ("note.id", (Key, false)),
        ("attr.note_id", (Reference, false)),
        ("account.id", (Key, false)),
        ("account.apiKey", (Secret, false)),
        ("account.StripeId", (External, false)),
        ("account.reset_token", (Secret, false)),
        ("invite.id", (Key, false)),
        ("invite.token", (Secret, false)),
        ("password_reset.token", (Secret, false)),
        ("api_key.key", (Secret, false)),
        ("blob_hash.sha256", (Digest, false)),
    ] {
        assert_eq!(role(&found, column), expected, "{column}");
    }
    assert_eq!(proposed(&found), ["account.id", "invite.id", "note.id"]);
    let secret = random_ids(&found)
        .into_iter()
        .find(|own| own.object == "invite.token")
        .unwrap();
    assert!(secret.reason.contains("must stay random"), "{secret:?}");
    assert_reported(&found);
    // What the user says settles it.
    let line = found
        .ids
        .iter()
        .find_map(|line| line.settles.clone())
        .unwrap();
    assert!(
        line.starts_with("\"session.session_id\" = \"secret\""),
        "{line}"
    );
    let settled = "[columns]\n\"session.session_id\" = \"key\"\n\"account.id\" = \"external\"";
    let found = advice(&path, Some(settled)).unwrap();
    assert_eq!(
        proposed(&found),
        ["invite.id", "note.id", "session.session_id"]
    );
    assert!(found.ids.iter().all(|line| line.settles.is_none()));
    let error = advice(&path, Some("[columns]\n\"sesion.session_id\" = \"key\"")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the nearest is `session.session_id`"),
        "{error}"
    );
}

/// A UUID of version 4 as Laravel orders it: 48 bits of 10 microseconds, then random bits.
fn ordered_v4(row: &str) -> String {
    let time = format!("printf('%012x', 171455000000000 + {row} * 97003)");
    format!(
        "substr({time}, 1, 8) || '-' || substr({time}, 9, 4) || '-4' || substr(lower(hex(randomblob(2))), 2) || '-a'
         || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))"
    )
}

/// A COMB: random bits, and the time at the end, as SQL Server sorts it.
const COMB: &str = "lower(hex(randomblob(4))) || '-' || lower(hex(randomblob(2))) || '-4' || substr(lower(hex(randomblob(2))), 2)
     || '-a' || substr(lower(hex(randomblob(2))), 2) || '-' || printf('%012x', 1714550000000 + i)";

#[test]
fn ids_in_order_stay_whatever_their_version_says() {
    let of = |table: &str, id: &str, rest: &str| {
        let sql = format!(
            "CREATE TABLE t(id TEXT PRIMARY KEY, note){table}; {} INSERT INTO t SELECT {id}, i FROM n; {rest}",
            numbers(12_000)
        );
        let folder = tempfile::tempdir().unwrap();
        let found = advice(&made(folder.path(), &sql), None).unwrap();
        let own = random_ids(&found).into_iter().next().cloned();
        own.map(|own| (own.class, own.reason + &own.notes.join(" ")))
    };
    let more =
        |count: u32, id: &str| format!("{} INSERT INTO t SELECT {id}, i FROM n", numbers(count));
    for table in ["", " WITHOUT ROWID"] {
        let (class, said) = of(table, &ordered_v4("i"), "").unwrap();
        assert_eq!(class, Class::Rejected, "{said}");
        assert!(
            said.contains("in order") && said.contains("before all ids that are there"),
            "{said}"
        );
        // Followed: the newest rows have it, the old ones keep theirs.
        let (class, said) = of(table, &uuid(4), &more(300, &uuid(7))).unwrap();
        assert_eq!(class, Class::Rejected, "{said}");
        assert!(said.contains("UUIDv7"), "{said}");
        let (class, said) = of(table, &uuid(4), "").unwrap();
        assert_eq!(class, Class::App, "{said}");
        assert!(said.contains("A UUIDv7 of today sorts after"), "{said}");
        let (class, _) = of(table, COMB, "").unwrap();
        assert_eq!(class, Class::App, "a COMB is random to SQLite");
    }
    // Back to random ids.
    let back = format!("{}; {}", more(300, &uuid(7)), more(300, &uuid(4)));
    assert_eq!(of("", &uuid(4), &back).unwrap().0, Class::App);
}

/// Makes changes, and counts the rows of the table `t` whose bytes lead back to the same texts.
fn same_texts(path: &Path, changes: &[Change], back: &str) -> i64 {
    let target = path.with_file_name("made.db");
    apply(path, &target, changes).unwrap();
    let connection = Connection::open(&target).unwrap();
    let old = path.to_string_lossy();
    connection.execute("ATTACH ?1 AS old", [old]).unwrap();
    let count = format!("SELECT count(*) FROM main.t JOIN old.t AS o ON o.hash = {back}");
    connection.query_row(&count, [], |row| row.get(0)).unwrap()
}

/// Ways of writing digests: bytes, prefix, and whether they are in upper case.
const DIGESTS: [(u8, &str, bool); 10] = [
    (16, "", false),
    (20, "", false),
    (20, "0x", false),
    (20, "", true),
    (28, "", false),
    (32, "", false),
    (32, "0x", true),
    (40, "", false),
    (48, "", true),
    (64, "", false),
];

/// Digests of every length, in each way of writing, become blobs; with WITHOUT ROWID the file is less than half.
#[test]
fn digests_of_every_length_become_blobs() {
    for (bytes, prefix, is_upper) in DIGESTS {
        let digits = format!("hex(randomblob({bytes}))");
        let digits = if is_upper {
            digits
        } else {
            format!("lower({digits})")
        };
        let sql = format!(
            "CREATE TABLE t(hash TEXT PRIMARY KEY); CREATE TABLE u(id INTEGER PRIMARY KEY, hash TEXT);
             {} INSERT INTO t SELECT '{prefix}' || {digits} FROM n; INSERT INTO u SELECT NULL, hash FROM t LIMIT 100",
            numbers(20_000)
        );
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path(), &sql);
        let found = advice(&path, None).unwrap();
        let parts = found.items.iter().flat_map(|item| &item.parts);
        let part = parts
            .clone()
            .find(|part| part.candidate.group == Group::IdsToBlobs);
        let part = part.unwrap_or_else(|| panic!("{bytes} {prefix} {is_upper}"));
        let about = format!("{bytes} {prefix} {is_upper} {part:?}");
        assert_eq!(part.candidate.class, Class::App, "{about}");
        assert!(part.measure.unwrap().saved_bytes > 0, "{about}");
        assert!(
            part.candidate
                .reason
                .contains(&format!("{bytes} bytes as a blob")),
            "{about}"
        );
        let Change::IdsToBlobs { columns } = &part.candidate.changes[0] else {
            panic!("{about}")
        };
        assert_eq!(columns.len(), 2, "{about}");
        let with_app = found
            .with_app
            .as_ref()
            .expect("a plan with the application");
        let together = found
            .together
            .as_ref()
            .map_or(found.base_bytes(), |own| own.bytes);
        assert!(with_app.bytes < together, "{about}");
        assert!(
            (with_app.bytes as f64) < 0.55 * found.base_bytes() as f64,
            "{about}: {}",
            with_app.bytes
        );
        let changes = &with_app.plan.changes;
        let back = match is_upper {
            true => format!("'{prefix}' || hex(t.hash)"),
            false => format!("'{prefix}' || lower(hex(t.hash))"),
        };
        let same = same_texts(&path, changes, &back);
        assert_eq!(same, 20_000, "{about}");
    }
}

/// Case is kept: what is written in both cases stays.
#[test]
fn digests_in_both_cases_stay() {
    let sql = format!(
        "CREATE TABLE t(hash TEXT PRIMARY KEY); {} INSERT INTO t SELECT '0x' || lower(hex(randomblob(10))) || hex(randomblob(10)) FROM n",
        numbers(5_000)
    );
    let folder = tempfile::tempdir().unwrap();
    let found = advice(&made(folder.path(), &sql), None).unwrap();
    let mut parts = found.items.iter().flat_map(|item| &item.parts);
    let ids = parts.find(|part| part.candidate.group == Group::IdsToBlobs);
    assert!(
        ids.is_none_or(|part| part.candidate.class == Class::Rejected),
        "{ids:?}"
    );
}
