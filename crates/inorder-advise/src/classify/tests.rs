//! Classes over generated facts: names in every spelling, times forms, times roles.

use super::{
    Contained, IdClass, IdFacts, IdRole, Made, NewIds, Settled, Vocabulary, made_by, place_of_new,
};
use std::path::Path;

/// Tables of all tests.
const TABLES: &[&str] = &[
    "users",
    "orders",
    "websites",
    "invite",
    "password_reset",
    "api_key",
    "sessions",
    "session_token",
    "files",
    "OrderLine",
    "auth_user",
    "notes",
    "categories",
    "customer_addresses",
];

/// A name of words in one spelling.
type Spelling = fn(&[&str]) -> String;

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Spellings of names.
const SPELLINGS: &[Spelling] = &[
    |words| words.join("_"),
    |words| words.join("_").to_uppercase(),
    |words| words.join("-"),
    |words| words.iter().map(|word| capital(word)).collect(),
    |words| {
        words[0].to_owned()
            + &words[1..]
                .iter()
                .map(|word| capital(word))
                .collect::<String>()
    },
    |words| words.concat(),
    |words| format!("{}_", words.join("_")),
    |words| format!("x_{}", words.join("_")),
];

const SECRETS: &[&[&str]] = &[
    &["token"],
    &["api", "key"],
    &["reset", "token"],
    &["access", "token"],
    &["password"],
    &["csrf", "token"],
    &["session", "token"],
    &["otp"],
    &["nonce"],
    &["secret"],
    &["client", "secret"],
    &["invite", "code"],
    &["activation", "key"],
    &["magic", "link"],
    &["refresh", "token"],
    &["verification", "code"],
    &["auth", "key"],
    &["jwt"],
    &["passwd"],
    &["pwd", "reset"],
    &["api", "tok"],
    &["secret", "key"],
    &["private", "key"],
    &["license", "key"],
    &["invitation", "token"],
    &["remember", "token"],
    &["confirmation", "code"],
    &["unsubscribe", "token"],
    &["share", "key"],
    &["webhook", "secret"],
    &["salt"],
    &["bearer", "token"],
    &["recovery", "code"],
];

const DIGESTS: &[&[&str]] = &[
    &["hash"],
    &["sha256"],
    &["sha1"],
    &["md5"],
    &["checksum"],
    &["etag"],
    &["fingerprint"],
    &["content", "hash"],
    &["file", "digest"],
    &["password", "hash"],
    &["token", "digest"],
    &["token", "hash"],
    &["sha512", "sum"],
    &["thumbprint"],
    &["body", "md5"],
    &["crc32"],
];

const EXTERNALS: &[&[&str]] = &[
    &["external", "id"],
    &["stripe", "id"],
    &["provider", "uuid"],
    &["github", "id"],
    &["remote", "id"],
    &["google", "uid"],
    &["ext", "ref"],
    &["idempotency", "id"],
    &["correlation", "id"],
    &["legacy", "id"],
    &["stripe", "customer", "id"],
    &["oauth", "uid"],
];

/// Names of ids of the tables' own rows.
const OWN: &[&[&str]] = &[
    &["id"],
    &["uuid"],
    &["guid"],
    &["uid"],
    &["pk"],
    &["public", "id"],
];

/// What is varied beside names.
struct Shape {
    is_primary: bool,
    is_unique: bool,
    default: Option<&'static str>,
    digest: bool,
}

fn shapes() -> Vec<Shape> {
    let keys = [(true, true), (false, true), (false, false)];
    let defaults = [None, Some("gen_random_uuid()"), Some("make_id()")];
    let mut found = Vec::new();
    for (is_primary, is_unique) in keys {
        for default in defaults {
            for digest in [false, true] {
                found.push(Shape {
                    is_primary,
                    is_unique,
                    default,
                    digest,
                });
            }
        }
    }
    found
}

fn facts<'a>(table: &'a str, column: &'a str, shape: &Shape) -> IdFacts<'a> {
    IdFacts {
        table,
        column,
        is_primary: shape.is_primary,
        is_unique: shape.is_unique,
        made: shape.default.and_then(made_by),
        digest: shape.digest.then(|| "32 bytes, as a digest has".to_owned()),
        ..IdFacts::default()
    }
}

fn vocabulary() -> Vocabulary {
    Vocabulary::of(TABLES.iter().copied())
}

/// The class of each name, in each spelling, table and shape.
fn each(names: &[&[&str]], mut check: impl FnMut(&IdFacts<'_>, &Shape, IdClass)) -> usize {
    let (vocabulary, mut count) = (vocabulary(), 0);
    for table in TABLES {
        for words in names {
            for spelling in SPELLINGS {
                let column = spelling(words);
                for shape in shapes() {
                    let facts = facts(table, &column, &shape);
                    check(&facts, &shape, IdClass::of(&facts, &vocabulary));
                    count += 1;
                }
            }
        }
    }
    count
}

#[test]
fn names_of_secrets_digests_and_external_ids_are_told_in_every_spelling() {
    let expect = |role| {
        move |facts: &IdFacts<'_>, _: &Shape, class: IdClass| {
            assert_eq!(class.role, role, "{facts:?} {class:?}");
            assert!(
                !class.may_change() && class.refusal().is_some(),
                "{facts:?}"
            );
        }
    };
    let secrets = each(SECRETS, expect(IdRole::Secret));
    let digests = each(DIGESTS, expect(IdRole::Digest));
    // A value of a digest's length is none that another system counts.
    let externals = each(EXTERNALS, |facts, shape, class| {
        let role = if shape.digest {
            IdRole::Digest
        } else {
            IdRole::External
        };
        expect(role)(facts, shape, class);
    });
    assert!(secrets + digests + externals > 100_000);
}

#[test]
fn keys_are_those_that_are_named_after_their_tables() {
    let vocabulary = vocabulary();
    let mut keys = 0;
    for table in TABLES {
        let word = Vocabulary::of([*table]).tables[0].1.clone();
        let own: Vec<Vec<&str>> = [vec!["id"], vec!["uuid"], vec!["guid"], vec!["key"], vec![]]
            .into_iter()
            .map(|end| word.iter().map(String::as_str).chain(end).collect())
            .collect();
        let names = own.iter().map(Vec::as_slice).chain(OWN.iter().copied());
        for words in names {
            for spelling in &SPELLINGS[..5] {
                let column = spelling(words);
                for shape in shapes() {
                    let facts = facts(table, &column, &shape);
                    let class = IdClass::of(&facts, &vocabulary);
                    let of_secrets = Vocabulary::of_secrets(table).is_some();
                    let is_key = (shape.is_unique
                        || shape.default.is_some_and(|text| text != "make_id()"))
                        && !shape.digest;
                    match (of_secrets, is_key) {
                        (true, _) => assert!(!class.may_change(), "{facts:?} {class:?}"),
                        (false, true) => {
                            assert!(class.may_change(), "{facts:?} {class:?}");
                            keys += 1;
                        }
                        (false, false) => assert!(!class.may_change(), "{facts:?} {class:?}"),
                    }
                }
            }
        }
    }
    assert!(keys > 2_000, "{keys}");
}

/// A key that has a share of the values.
fn contained(share: f64, is_mutual: bool, is_own: bool) -> Contained {
    Contained {
        at: 0,
        key: "websites.id".into(),
        share,
        is_mutual,
        is_own,
    }
}

/// What was measured and declared is told before names.
#[test]
fn references_are_declared_or_contained_or_repeat() {
    let names: Vec<&[&str]> = [
        OWN,
        &[
            &["website", "id"],
            &["user", "id"],
            &["parent"],
            &["owner", "id"],
            &["note", "id"],
        ],
    ]
    .concat();
    let known = vocabulary();
    let count = each(&names, |facts, shape, _| {
        let of = |facts: IdFacts<'_>| IdClass::of(&facts, &known);
        let declared = of(IdFacts {
            refers_to: Some("websites(id)".into()),
            ..facts.clone()
        });
        assert_eq!(
            (declared.role, declared.is_open()),
            (IdRole::Reference, false)
        );
        for share in [1.0, 0.95, 0.4] {
            let class = of(IdFacts {
                contained: vec![contained(share, false, true)],
                ..facts.clone()
            });
            assert_eq!(
                (class.role, class.is_open()),
                (IdRole::Reference, false),
                "{facts:?} {class:?}"
            );
        }
        // Two keys with the same values: the one that is named after another table is the reference.
        let both = of(IdFacts {
            contained: vec![contained(1.0, true, false)],
            ..facts.clone()
        });
        let is_own = known.is_own(facts.table, facts.column);
        match is_own {
            true => assert!(
                !both.evidence.iter().any(|own| own.contains("websites.id")),
                "{facts:?} {both:?}"
            ),
            false => assert_eq!(both.role, IdRole::Reference, "{facts:?} {both:?}"),
        }
        let alike = of(IdFacts {
            contained: vec![contained(1.0, true, true)],
            ..facts.clone()
        });
        assert!(!alike.may_change(), "{facts:?} {alike:?}");
        if !shape.is_unique && !shape.digest {
            let class = of(IdFacts {
                repeats: Some((60_000, 200)),
                ..facts.clone()
            });
            assert_eq!(
                (class.role, class.is_open()),
                (IdRole::Reference, false),
                "{facts:?} {class:?}"
            );
        }
    });
    assert!(count > 15_000);
}

#[test]
fn doubt_is_asked() {
    let of = |table: &str, column: &str| {
        let shape = Shape {
            is_primary: true,
            is_unique: true,
            default: None,
            digest: false,
        };
        IdClass::of(&facts(table, column, &shape), &vocabulary())
    };
    for (table, column) in [
        ("invite", "id"),
        ("sessions", "id"),
        ("sessions", "session_id"),
        ("event", "session_id"),
        ("profile", "user_id"),
        ("event", "tenant_id"),
        ("files", "key"),
        ("api_key", "id"),
        ("erased_users", "user_id"),
        ("memo_share", "uid"),
        ("webauthn_challenges", "id"),
    ] {
        let class = of(table, column);
        assert!(
            class.is_open() && !class.may_change(),
            "{table}.{column} {class:?}"
        );
        let line = class.line(&format!("{table}.{column}")).unwrap();
        assert!(
            line.starts_with(&format!("\"{table}.{column}\" = \"")),
            "{line}"
        );
        let settled =
            Settled::parse(Path::new("advise.toml"), &format!("[columns]\n{line}\n")).unwrap();
        let role = settled.role(&[&format!("{table}.{column}")]);
        assert_eq!(role, Some(class.role));
    }
    // Where the secret is in another column, the id is none.
    let shape = Shape {
        is_primary: true,
        is_unique: true,
        default: None,
        digest: false,
    };
    let beside = IdFacts {
        beside: Some("token".into()),
        ..facts("invite", "id", &shape)
    };
    assert!(IdClass::of(&beside, &vocabulary()).may_change());
    for role in IdRole::ALL {
        let facts = IdFacts {
            settled: Some(role),
            ..facts("invite", "token", &shape)
        };
        let class = IdClass::of(&facts, &vocabulary());
        assert_eq!(
            (class.role, class.is_open(), class.may_change()),
            (role, false, role == IdRole::Key)
        );
    }
}

/// Words that have those of secrets in them, and names of tables.
#[test]
fn words_are_not_found_within_others() {
    let shape = Shape {
        is_primary: false,
        is_unique: true,
        default: Some("gen_random_uuid()"),
        digest: false,
    };
    for column in [
        "secretary",
        "announcement_uuid",
        "sidebar",
        "tokenizer_id",
        "keyboard",
        "ideas",
        "spanish",
        "monkey",
    ] {
        let class = IdClass::of(&facts("orders", column, &shape), &vocabulary());
        assert!(
            class.role != IdRole::Secret || class.is_open(),
            "{column} {class:?}"
        );
        assert!(!matches!(class.role, IdRole::Digest), "{column} {class:?}");
    }
}

#[test]
fn defaults_are_told_by_their_functions() {
    let in_order = [
        "uuidv7()",
        "uuid_v7()",
        "(UUID_v7())",
        "public.uuid_generate_v7()",
        "uuid7_text()",
        "(uuid7())",
        "app_v4.uuidv7()",
        "(uuid_to_bin(uuid(), 1))",
        "UUID_TO_BIN(UUID(), true)",
        "ulid()",
        "nextval('random_seq'::regclass)",
        "uuidv7()::text",
        "\"gen\".\"uuidv7\"()",
        "newsequentialid()",
        "ulid_shared()",
    ];
    let random = [
        "gen_random_uuid()",
        "uuid_generate_v4()",
        "uuid_v4()",
        "lower(hex(randomblob(16)))",
        "(gen_random_uuid())::text",
        "encode(gen_random_bytes(16), 'hex')",
        "app_v7.gen_random_uuid()",
        "md5((random())::text)",
        "uuidv4()",
        "newid()",
    ];
    let mixed = [
        "uuid()",
        "uuid_generate_v1()",
        "(UUID())",
        "(uuid_to_bin(uuid()))",
    ];
    for text in in_order {
        assert!(matches!(made_by(text), Some(Made::InOrder(_))), "{text}");
    }
    for text in random {
        assert!(matches!(made_by(text), Some(Made::Random(_))), "{text}");
    }
    for text in mixed {
        assert!(matches!(made_by(text), Some(Made::Mixed(_))), "{text}");
    }
    for text in [
        "NULL",
        "",
        "'uuidv7()'",
        "('x')",
        "''",
        "0",
        "(7)",
        "'a'::text",
        "CURRENT_USER",
    ] {
        assert_eq!(made_by(text), None, "{text}");
    }
    assert!(matches!(made_by("make_id()"), Some(Made::Unknown(_))));
}

/// A default in order decides; a random one only where the newest rows say nothing else.
#[test]
fn new_rows_get_what_the_default_makes_or_what_was_measured() {
    let measured = [
        NewIds::Random,
        NewIds::InOrder("UUIDv7".into()),
        NewIds::Unknown,
    ];
    for own in measured {
        let with = |default: &str| own.clone().with_default(made_by(default).as_ref());
        assert!(matches!(with("uuidv7()"), NewIds::InOrder(_)));
        assert_eq!(
            with("gen_random_uuid()") == NewIds::Random,
            !matches!(own, NewIds::InOrder(_))
        );
        for other in ["uuid()", "make_id()", "NULL"] {
            assert_eq!(with(other), own);
        }
    }
    assert_eq!(place_of_new(0.0), "before all ids that are there");
    assert_eq!(place_of_new(1.0), "after all ids that are there");
    assert!(place_of_new(0.25).contains("after 25 %"));
}

#[test]
fn a_file_that_says_something_unknown_is_refused() {
    let parse = |text: &str| Settled::parse(Path::new("advise.toml"), text);
    let message = |text: &str| parse(text).unwrap_err().to_string();
    for (text, line, words) in [
        (
            "[columns]\n\"a.id\" = \"sekret\"",
            2,
            "the nearest is `secret`",
        ),
        (
            "[columns]\na.id = \"secret\"",
            2,
            "write the column's name in quotes",
        ),
        ("[colums]\n", 1, "write [columns]"),
        ("columns = 1", 1, "write [columns]"),
        ("\n[columns\n", 2, ""),
        ("[columns]\n\"a.id\" = 7", 2, "has no class"),
        (
            "[columns]\n\"a.id\" = \"key\"\n\"a.id\" = \"secret\"",
            3,
            "duplicate",
        ),
    ] {
        let found = message(text);
        assert!(
            found.starts_with(&format!("advise.toml:{line}: ")) && found.contains(words),
            "{text}: {found}"
        );
    }
    let settled = parse("# mine\n[columns]\n\"invite.tokn\" = \"secret\"").unwrap();
    let known = ["invite.id", "invite.token", "users.id"];
    let error = settled.check(known.into_iter()).unwrap_err().to_string();
    assert_eq!(
        error,
        "advise.toml:3: there is no column `invite.tokn`, the nearest is `invite.token`"
    );
    let settled = parse("[columns]\n\"Invite.TOKEN\" = \"secret\"").unwrap();
    assert!(settled.check(known.into_iter()).is_ok());
    assert_eq!(settled.role(&["invite.token"]), Some(IdRole::Secret));
    assert!(parse("").is_ok());
}
