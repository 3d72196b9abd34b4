//! What columns of ids are on servers: only keys that are made here get another kind of ids.

use crate::server::{Server, parts, settled_advice};
use inorder_advise::{
    classify::IdRole,
    report::Look,
    rules::Class,
    server::{
        advice::Advice,
        model::ColumnTo,
        report::FORMATS,
        rules::{Action, Group},
    },
};

/// The words in which servers differ.
struct Sql {
    name: &'static str,
    uuid: &'static str,
    /// Rows 1 to a number, as `n(i)`.
    rows: fn(u32) -> String,
    /// An expression for a random UUID, and the default that makes one.
    random: &'static str,
    /// Hexadecimal digits of random bytes, 32 each.
    digits: &'static str,
    text: &'static str,
}

const SERVERS: [Sql; 2] = [
    Sql {
        name: "postgres",
        uuid: "uuid",
        rows: |count| format!("generate_series(1, {count}) n(i)"),
        random: "gen_random_uuid()",
        digits: "md5(random()::text || n.i)",
        text: "text",
    },
    Sql {
        name: "mariadb",
        uuid: "char(36) CHARACTER SET ascii",
        rows: |count| format!("(SELECT seq AS i FROM seq_1_to_{count}) n"),
        random: "INSERT(INSERT(INSERT(INSERT(INSERT(MD5(CONCAT(RAND(), n.i)), 13, 1, '4'), 17, 1, 'a'), 9, 0, '-'), 14, 0, '-'), 19, 0, '-')",
        digits: "MD5(CONCAT(RAND(), n.i))",
        text: "varchar(200) CHARACTER SET ascii",
    },
];

fn random(sql: &Sql) -> String {
    match sql.name {
        // 36 characters: three hyphens are in.
        "mariadb" => format!("INSERT({}, 24, 0, '-')", sql.random),
        _ => sql.random.to_owned(),
    }
}

/// A server with the tables of a web application.
fn web(sql: &Sql) -> Option<Server> {
    let server = Server::start(sql.name)?;
    let (uuid, id) = (sql.uuid, random(sql));
    let many = (sql.rows)(12_000);
    let few = (sql.rows)(200);
    let make = [
        format!("CREATE TABLE website (website_id {uuid} NOT NULL PRIMARY KEY, i int)"),
        format!("INSERT INTO website SELECT {id}, n.i FROM {few}"),
        format!(
            "CREATE TABLE session (session_id {uuid} NOT NULL PRIMARY KEY, website_id {uuid}, i int)"
        ),
        format!(
            "INSERT INTO session SELECT {id}, (SELECT website_id FROM website w WHERE w.i = n.i % 200 + 1), n.i FROM {many}"
        ),
        "CREATE INDEX session_website ON session (website_id)".into(),
        format!("CREATE TABLE note (id {uuid} NOT NULL PRIMARY KEY, i int)"),
        format!("INSERT INTO note SELECT {id}, n.i FROM {many}"),
        format!("CREATE TABLE attr (note_id {uuid} NOT NULL PRIMARY KEY, i int)"),
        "INSERT INTO attr SELECT id, i FROM note".into(),
        format!(
            "CREATE TABLE invite (id {uuid} NOT NULL PRIMARY KEY, token {uuid} NOT NULL UNIQUE)"
        ),
        format!("INSERT INTO invite SELECT {id}, {id} FROM {many}"),
        format!(
            "CREATE TABLE account (id {uuid} NOT NULL PRIMARY KEY, {q}apiKey{q} {uuid} UNIQUE, stripe_id {uuid} UNIQUE)",
            q = quote(sql)
        ),
        format!("INSERT INTO account SELECT {id}, {id}, {id} FROM {many}"),
        format!("CREATE TABLE password_reset (token {uuid} NOT NULL PRIMARY KEY, i int)"),
        format!("INSERT INTO password_reset SELECT {id}, n.i FROM {many}"),
    ];
    server.run(&make.each_ref().map(String::as_str));
    Some(server)
}

fn quote(sql: &Sql) -> char {
    if sql.name == "postgres" { '"' } else { '`' }
}

fn class(advice: &Advice, column: &str) -> (IdRole, bool) {
    let mut lines = advice.ids.iter();
    let line =
        lines.find(|line| line.column == column || line.column.ends_with(&format!(".{column}")));
    let class = line.and_then(|line| line.class.as_ref()).expect(column);
    (class.role, class.is_open())
}

/// Columns that another kind is proposed for, and those that it is refused for.
fn ordered(advice: &Advice) -> (Vec<String>, Vec<String>) {
    let short = |object: &str| {
        let parts: Vec<&str> = object.rsplitn(3, '.').collect();
        format!("{}.{}", parts[1], parts[0])
    };
    let of = |class: Class| {
        let found = parts(advice).filter(|(part, _)| {
            part.candidate.group == Group::OrderedUuid && part.candidate.class == class
        });
        let mut names: Vec<String> = found
            .map(|(part, _)| short(&part.candidate.object))
            .collect();
        names.sort_unstable();
        names
    };
    (of(Class::App), of(Class::Rejected))
}

/// Every format says what columns are.
fn assert_reported(sql: &Sql, advice: &Advice) {
    let look = Look {
        color: false,
        width: 160,
    };
    for format in FORMATS {
        let text = (format.write)(advice, look).replace("&quot;", "\"");
        for words in [
            "must stay random",
            "its values are in",
            "in doubt: secret or key",
        ] {
            let is_json = format.name == "json" && words.starts_with("in doubt");
            assert!(
                is_json || text.contains(words),
                "{} {}: {words}",
                sql.name,
                format.name
            );
        }
    }
}

#[test]
fn secrets_and_references_keep_their_kind() {
    use IdRole::{External, Key, Reference, Secret};
    for sql in &SERVERS {
        let Some(server) = web(sql) else { continue };
        let advice = server.advice();
        for (column, expected) in [
            ("website.website_id", (Key, false)),
            ("session.website_id", (Reference, false)),
            ("session.session_id", (Secret, true)),
            ("note.id", (Key, false)),
            ("attr.note_id", (Reference, false)),
            ("invite.id", (Key, false)),
            ("invite.token", (Secret, false)),
            ("account.id", (Key, false)),
            ("account.apiKey", (Secret, false)),
            ("account.stripe_id", (External, false)),
            ("password_reset.token", (Secret, false)),
        ] {
            assert_eq!(class(&advice, column), expected, "{} {column}", sql.name);
        }
        let (proposed, refused) = ordered(&advice);
        assert_eq!(
            proposed,
            ["account.id", "invite.id", "note.id", "website.website_id"],
            "{}",
            sql.name
        );
        for column in [
            "attr.note_id",
            "invite.token",
            "account.apiKey",
            "session.website_id",
            "session.session_id",
        ] {
            assert!(
                refused.iter().any(|own| own == column),
                "{} {column} {refused:?}",
                sql.name
            );
        }
        let is_key_as_bigint = |column: &str| {
            parts(&advice).any(|(part, _)| {
                part.candidate.group == Group::Bigint && part.candidate.object.ends_with(column)
            })
        };
        assert!(is_key_as_bigint("note.id") && !is_key_as_bigint("password_reset.token"));
        assert_reported(sql, &advice);
        let line = advice
            .ids
            .iter()
            .find_map(|line| line.settles.clone())
            .unwrap();
        let settled = format!("[columns]\n{}", line.replace("= \"secret\"", "= \"key\""));
        let advice = settled_advice(&server.url(), &settled).unwrap();
        assert!(
            ordered(&advice)
                .0
                .contains(&"session.session_id".to_owned())
        );
        let error =
            settled_advice(&server.url(), "[columns]\n\"invite.tokn\" = \"secret\"").unwrap_err();
        assert!(error.to_string().contains("invite.token`"), "{error}");
    }
}

/// Tables of random ids: with a default in order, with new rows in order, and with neither. Whether the default's function could
/// be made.
fn half_way(server: &Server, sql: &Sql) -> bool {
    let (id, many, new) = (random(sql), (sql.rows)(12_000), (sql.rows)(900));
    let (counter, default, time) = match sql.name {
        "postgres" => (
            "bigserial",
            "uuidv7()",
            "lpad(to_hex(1764000000000 + n.i * 977), 12, '0')",
        ),
        _ => (
            "bigint AUTO_INCREMENT",
            "(uuid_v7())",
            "LPAD(LOWER(HEX(1764000000000 + n.i * 977)), 12, '0')",
        ),
    };
    let v7 = match sql.name {
        "postgres" => format!(
            "(substr({time}, 1, 8) || '-' || substr({time}, 9, 4) || '-7' || substr({d}, 1, 3) || '-a' || substr({d}, 4, 3) || '-' || substr({d}, 7, 12))::uuid",
            d = sql.digits
        ),
        _ => format!(
            "CONCAT(SUBSTR({time}, 1, 8), '-', SUBSTR({time}, 9, 4), '-7', SUBSTR({d}, 1, 3), '-a', SUBSTR({d}, 4, 3), '-', SUBSTR({d}, 7, 12))",
            d = sql.digits
        ),
    };
    // A function of the name, as later releases have one.
    let function = match sql.name {
        "postgres" => {
            "CREATE FUNCTION uuidv7() RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'"
        }
        _ => "CREATE FUNCTION uuid_v7() RETURNS char(36) RETURN UUID()",
    };
    let by_default = match sql.name {
        "postgres" => format!(
            "CREATE TABLE by_default (n {counter} PRIMARY KEY, id uuid DEFAULT {default} UNIQUE)"
        ),
        // MariaDB takes no stored function as a default.
        _ => format!(
            "CREATE TABLE by_default (n {counter} PRIMARY KEY, id {} UNIQUE)",
            sql.uuid
        ),
    };
    let is_there = server.database.execute(function).is_ok();
    server.run(&[
        &by_default,
        &format!(
            "CREATE TABLE by_rows (n {counter} PRIMARY KEY, id {} UNIQUE)",
            sql.uuid
        ),
        &format!(
            "CREATE TABLE to_do (n {counter} PRIMARY KEY, id {} UNIQUE)",
            sql.uuid
        ),
        &format!("INSERT INTO by_default (id) SELECT {id} FROM {many}"),
        &format!("INSERT INTO by_rows (id) SELECT {id} FROM {many}"),
        &format!("INSERT INTO by_rows (id) SELECT {v7} FROM {new}"),
        &format!("INSERT INTO to_do (id) SELECT {id} FROM {many}"),
    ]);
    is_there
}

/// What new rows get is judged: a default or the newest rows in order end the advice, and there is no step that is its
/// own undo.
#[test]
fn advice_ends_when_it_was_followed() {
    for sql in &SERVERS {
        let Some(server) = Server::start(sql.name) else {
            continue;
        };
        let is_there = half_way(&server, sql);
        let advice = server.advice();
        let (proposed, refused) = ordered(&advice);
        let is_default = is_there && sql.name == "postgres";
        assert_eq!(
            proposed.contains(&"by_default.id".to_owned()),
            !is_default,
            "{proposed:?}"
        );
        assert!(
            proposed.contains(&"to_do.id".to_owned()),
            "{} {proposed:?}",
            sql.name
        );
        assert!(
            refused.contains(&"by_rows.id".to_owned()),
            "{} {refused:?}",
            sql.name
        );
        if is_default {
            let (part, _) = parts(&advice)
                .find(|(part, _)| part.candidate.object == "by_default.id")
                .unwrap();
            assert!(part.candidate.reason.contains("uuidv7()"), "{part:?}");
            let mut plans = advice.plans.iter();
            assert!(plans.all(|plan| !plan.title.contains("by_default")));
        }
    }
}

/// Makes a table of digests, whose bytes are proposed.
fn digest_case(server: &Server, sql: &Sql, bytes: u8, prefix: &str, is_upper: bool) {
    let many = (sql.rows)(3_000);
    let concat = |count: usize| match sql.name {
        "postgres" => vec![sql.digits; count].join(" || "),
        _ => format!("CONCAT({})", vec![sql.digits; count].join(", ")),
    };
    let digits = format!("substr({}, 1, {})", concat(4), 2 * u32::from(bytes));
    let digits = if is_upper {
        format!("upper({digits})")
    } else {
        digits
    };
    let value = match sql.name {
        "postgres" => format!("'{prefix}' || {digits}"),
        _ => format!("CONCAT('{prefix}', {digits})"),
    };
    server.run(&[
        "DROP TABLE IF EXISTS entry",
        &format!(
            "CREATE TABLE entry (entry_key {} NOT NULL PRIMARY KEY, i int)",
            sql.text
        ),
        &format!("INSERT INTO entry SELECT {value}, n.i FROM {many}"),
        "CREATE TABLE IF NOT EXISTS kept (i int)",
        match sql.name {
            "postgres" => "ANALYZE",
            _ => "ANALYZE TABLE entry",
        },
    ]);
    let about = format!("{} {bytes} {prefix} {is_upper}", sql.name);
    let advice = server.advice();
    assert_eq!(
        class(&advice, "entry.entry_key"),
        (IdRole::Digest, false),
        "{about}"
    );
    let (part, _) = parts(&advice)
        .find(|(part, _)| part.candidate.group == Group::BinaryHash)
        .expect(&about);
    assert!(
        part.candidate.class == Class::App
            && part.measure.as_ref().is_some_and(|own| own.saved_bytes > 0),
        "{about} {part:?}"
    );
    let has_prefix = !prefix.is_empty();
    let expected = ColumnTo::Bytes { bytes, has_prefix };
    assert!(
        matches!(&part.candidate.actions[..], [Action::Convert { to, .. }] if *to == expected),
        "{about}"
    );
    assert!(
        parts(&advice).all(|(part, _)| part.candidate.group != Group::Bigint),
        "{about}"
    );
    let mut plans = advice.plans.iter();
    let plan = plans.find(|plan| plan.title.contains("entry_key"));
    assert!(plan.is_some_and(|plan| plan.steps.is_ok()), "{about}");
}

/// Digests of every length are told as such, and bytes are proposed for them.
#[test]
fn digests_become_bytes() {
    for sql in &SERVERS {
        let Some(server) = Server::start(sql.name) else {
            continue;
        };
        let cases = [
            (20, "", false),
            (20, "0x", false),
            (32, "", false),
            (32, "", true),
            (40, "", false),
            (48, "0x", true),
            (64, "", false),
        ];
        for (bytes, prefix, is_upper) in cases {
            digest_case(&server, sql, bytes, prefix, is_upper);
        }
    }
}
