//! What the names of tables and columns say of ids: words in any spelling, and what they stand for.

use super::IdRole;
use std::collections::BTreeSet;

/// Each of these grants access by itself.
const SECRET: &[&str] = &[
    "token",
    "tok",
    "tkn",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pw",
    "nonce",
    "otp",
    "totp",
    "hotp",
    "otc",
    "csrf",
    "xsrf",
    "jwt",
    "bearer",
    "credential",
    "creds",
    "cookie",
    "salt",
    "apikey",
    "authkey",
    "accesskey",
    "secretkey",
    "privatekey",
    "sessid",
    "phpsessid",
    "mfa",
    "passwort",
    "kennwort",
];
/// These may grant access by themselves, and do together with a word of [`CARRIER`].
const SECRETIVE: &[&str] = &[
    "session",
    "sess",
    "sid",
    "reset",
    "recovery",
    "recover",
    "invite",
    "invitation",
    "activation",
    "activate",
    "verification",
    "verify",
    "verifier",
    "confirmation",
    "confirm",
    "magic",
    "unsubscribe",
    "login",
    "signin",
    "signup",
    "authorization",
    "challenge",
    "share",
    "sharing",
];
/// These do together with a word of [`CARRIER`] only.
const OF_ACCESS: &[&str] = &[
    "auth",
    "authentication",
    "captcha",
    "webhook",
    "impersonation",
    "refresh",
    "access",
    "api",
    "private",
    "signing",
    "license",
    "licence",
    "remember",
    "enrollment",
    "pairing",
    "unlock",
    "onetime",
];
/// What carries a secret: the key, code or link of something.
const CARRIER: &[&str] = &[
    "key", "code", "link", "slug", "string", "value", "pin", "url",
];
/// Values that other values decide.
const DIGEST: &[&str] = &[
    "hash",
    "hashed",
    "digest",
    "sha",
    "sha1",
    "sha2",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "md5",
    "crc",
    "crc32",
    "etag",
    "checksum",
    "cksum",
    "chksum",
    "fingerprint",
    "thumbprint",
    "blake",
    "blake2",
    "blake2b",
    "blake3",
    "xxhash",
    "xxh",
    "signature",
    "hmac",
    "merkle",
];
/// Ids that others make.
const EXTERNAL: &[&str] = &[
    "external",
    "extern",
    "ext",
    "provider",
    "stripe",
    "remote",
    "foreign",
    "upstream",
    "vendor",
    "partner",
    "thirdparty",
    "paypal",
    "github",
    "gitlab",
    "bitbucket",
    "google",
    "facebook",
    "fb",
    "apple",
    "microsoft",
    "twitter",
    "linkedin",
    "slack",
    "discord",
    "telegram",
    "whatsapp",
    "shopify",
    "salesforce",
    "sfdc",
    "hubspot",
    "twilio",
    "aws",
    "azure",
    "gcp",
    "okta",
    "auth0",
    "oauth",
    "oidc",
    "sso",
    "saml",
    "ldap",
    "scim",
    "imdb",
    "tmdb",
    "tvdb",
    "mbid",
    "musicbrainz",
    "spotify",
    "deezer",
    "legacy",
    "imported",
    "wordpress",
    "zendesk",
    "jira",
    "intercom",
    "braintree",
    "adyen",
    "plaid",
    "xero",
    "quickbooks",
    "mailchimp",
    "sendgrid",
    "firebase",
    "fcm",
    "apns",
    "idempotency",
    "correlation",
    "trace",
    "span",
    "isbn",
    "doi",
    "orcid",
    "crm",
    "erp",
    "wikidata",
    "openid",
    "msft",
    "steam",
    "twitch",
    "youtube",
    "vimeo",
    "mastodon",
    "matrix",
    "origin",
    "original",
];
/// Words of ids as such.
const GENERIC: &[&str] = &[
    "id",
    "ids",
    "uuid",
    "guid",
    "uid",
    "ulid",
    "pk",
    "oid",
    "rowid",
    "identifier",
    "uuid4",
    "uuid7",
    "tsid",
    "snowflake",
    "ksuid",
    "gid",
    "objectid",
];
/// Words beside those that change nothing.
const FILLER: &[&str] = &[
    "public", "primary", "the", "bin", "binary", "hex", "text", "str", "raw", "new", "own",
    "internal",
];
/// Words that a name written without gaps may begin or end with.
const COMMON: &[&str] = &[
    "user", "access", "auth", "app", "client", "device", "email", "file", "request", "web", "key",
    "sum", "ref",
];

/// The names of a schema's tables, which tell where a name without gaps divides.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// The words of each table's name, in the singular.
    pub(super) tables: Vec<(String, Vec<String>)>,
    words: BTreeSet<String>,
}

/// What a column's name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saying {
    /// The class, and the word that says it.
    pub role: Option<(IdRole, String)>,
    /// A word that may stand for a secret.
    pub secretive: Option<String>,
    /// Whether it names the id of its own table.
    pub is_own: bool,
    /// The other table that it names.
    pub names: Option<String>,
    /// Whether it names an id of something else that is no table here.
    pub names_else: bool,
}

impl Vocabulary {
    /// The vocabulary of tables.
    pub fn of<'a>(tables: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Vocabulary::default();
        for table in tables {
            let words: Vec<String> = words(table).into_iter().map(singular).collect();
            found
                .words
                .extend(words.iter().filter(|word| word.len() > 2).cloned());
            found.tables.push((table.to_owned(), words));
        }
        found
    }

    /// The words of a name in the singular; those without gaps are divided where known words are.
    fn divided(&self, name: &str) -> Vec<String> {
        let parts = words(name).into_iter();
        parts
            .flat_map(|word| match self.is_known(&word) {
                true => vec![singular(word)],
                false => self.split(&word).unwrap_or_else(|| vec![singular(word)]),
            })
            .collect()
    }

    fn is_known(&self, word: &str) -> bool {
        let word = singular(word.to_owned());
        let lists = [
            SECRET, SECRETIVE, OF_ACCESS, CARRIER, DIGEST, EXTERNAL, GENERIC, COMMON,
        ];
        lists.iter().any(|list| list.contains(&&*word)) || self.words.contains(&word)
    }

    /// A word as known words, the longest first; or as an unknown one before a word of a secret.
    fn split(&self, word: &str) -> Option<Vec<String>> {
        let cuts = || {
            word.char_indices()
                .map(|(at, _)| at)
                .filter(|&at| at >= 2)
                .rev()
        };
        for at in cuts() {
            let (head, tail) = word.split_at(at);
            if tail.len() < 2 || !self.is_known(head) {
                continue;
            }
            let rest = match self.is_known(tail) {
                true => Some(vec![singular(tail.to_owned())]),
                false => self.split(tail),
            };
            if let Some(rest) = rest {
                return Some([vec![singular(head.to_owned())], rest].concat());
            }
        }
        let ends = [
            "token",
            "secret",
            "password",
            "passcode",
            "apikey",
            "hash",
            "digest",
            "checksum",
            "fingerprint",
            "md5",
            "sha1",
            "sha256",
            "sha512",
            "crc32",
            "etag",
            "uuid",
            "guid",
        ];
        let end = ends
            .iter()
            .find(|end| word.len() > end.len() + 1 && word.ends_with(**end))?;
        Some(vec![
            word[..word.len() - end.len()].to_owned(),
            (*end).to_owned(),
        ])
    }

    /// The other table that a column's name names, such as `users` of `session.user_id`.
    pub fn table_of(&self, table: &str, column: &str) -> Option<String> {
        self.says(table, column).names
    }

    /// What the name of a column of a table says.
    pub(super) fn says(&self, table: &str, column: &str) -> Saying {
        let own: Vec<String> = words(table).into_iter().map(singular).collect();
        let words = self.divided(column);
        let role = role(&words, &own);
        let mut subject: Vec<&String> = words.iter().collect();
        while subject
            .last()
            .is_some_and(|word| is_in(word, GENERIC) || is_in(word, &["ref", "fk", "key", "no"]))
        {
            subject.pop();
        }
        let has_id = subject.len() < words.len();
        subject.retain(|word| !is_in(word, FILLER) && !is_in(word, GENERIC));
        let is_bare = subject.is_empty() && words.iter().any(|word| is_in(word, GENERIC));
        let ends_with = |own: &[String]| {
            !subject.is_empty()
                && own.len() >= subject.len()
                && own
                    .iter()
                    .rev()
                    .zip(subject.iter().rev())
                    .all(|(own, word)| own == *word)
        };
        // `state_events.event_id` is that of `events`, if there is such a table.
        let is_named = |(name, words): &(String, Vec<String>)| {
            !name.eq_ignore_ascii_case(table) && words.iter().eq(subject.iter().copied())
        };
        let is_of_other = subject.len() < own.len() && self.tables.iter().any(is_named);
        let is_own = is_bare || (ends_with(&own) && !is_of_other);
        let names = match is_own {
            true => None,
            false => self.named(table, &subject),
        };
        let secretive = secretive(&words, &own);
        Saying {
            names_else: !is_own && names.is_none() && has_id && !subject.is_empty(),
            role,
            secretive,
            is_own,
            names,
        }
    }

    /// Whether a column's name is that of an id of its own table.
    pub fn is_own(&self, table: &str, column: &str) -> bool {
        self.says(table, column).is_own
    }

    /// The first of a table's columns whose name says that it is a secret, or the digest of one.
    pub fn secret_of<'a>(
        &self,
        table: &str,
        mut columns: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        let is_one = |column: &&str| {
            let role = self.says(table, column).role;
            role.is_some_and(|(role, _)| matches!(role, IdRole::Secret | IdRole::Digest))
        };
        columns.find(is_one).map(str::to_owned)
    }

    /// The other table that the last words name: `author_user_id` names `users`, and `user_id` names `auth_users`.
    fn named(&self, table: &str, subject: &[&String]) -> Option<String> {
        let ends = |words: &[String]| {
            let mut pairs = subject.iter().rev().zip(words.iter().rev());
            !subject.is_empty() && !words.is_empty() && pairs.all(|(own, word)| *own == word)
        };
        let is_other = |name: &String| !name.eq_ignore_ascii_case(table);
        let mut others = self.tables.iter().filter(|(name, _)| is_other(name));
        others
            .find(|(_, words)| ends(words))
            .map(|(name, _)| name.clone())
    }

    /// The word that says that the rows of a table are secrets.
    pub(super) fn of_secrets(table: &str) -> Option<String> {
        let words: Vec<String> = words(table).into_iter().map(singular).collect();
        let is_one = |word: &&String| is_in(word, SECRET) || is_in(word, SECRETIVE);
        let of_key = || {
            let has_key = words.last().is_some_and(|word| word == "key");
            let mut of = words.iter().filter(|word| is_in(word, OF_ACCESS));
            of.next().filter(|_| has_key)
        };
        words.iter().find(is_one).or_else(of_key).cloned()
    }
}

/// The class that the words of a column say, in a table whose words are `own`.
fn role(words: &[String], own: &[String]) -> Option<(IdRole, String)> {
    let find = |list: &[&str]| words.iter().find(|word| is_in(word, list));
    // `token_id` is the id of a token's row, not the token.
    let is_id = words.last().is_some_and(|word| is_in(word, GENERIC));
    if !is_id {
        if let Some(word) = find(DIGEST) {
            return Some((IdRole::Digest, word.clone()));
        }
        if let Some(word) = find(SECRET) {
            return Some((IdRole::Secret, word.clone()));
        }
        let is_access = |word: &&String| is_in(word, SECRETIVE) || is_in(word, OF_ACCESS);
        let of_table = || {
            let mut of = own
                .iter()
                .filter(|word| is_in(word, SECRET) || is_access(word));
            of.next().filter(|_| words.len() == 1)
        };
        if let Some(at) = words.iter().position(|word| is_in(word, CARRIER)) {
            // The key of an `auth_user` is no key of access.
            let from = if words[at] == "key" {
                at.saturating_sub(1)
            } else {
                0
            };
            let of = words[from..].iter().find(is_access).or_else(of_table);
            if let Some(of) = of {
                return Some((IdRole::Secret, format!("{of} {}", words[at])));
            }
        }
    }
    let mut external = words
        .iter()
        .filter(|word| is_in(word, EXTERNAL) && !own.contains(word));
    external.next().map(|word| (IdRole::External, word.clone()))
}

/// A word that may stand for a secret.
fn secretive(words: &[String], own: &[String]) -> Option<String> {
    let is_key = |word: &&String| *word == "key" && !(words.len() > 1 && own.contains(&words[0]));
    let mut found = words
        .iter()
        .filter(|word| is_in(word, SECRET) || is_in(word, SECRETIVE) || is_key(word));
    found.next().cloned()
}

fn is_in(word: &str, list: &[&str]) -> bool {
    let plain = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    list.contains(&word) || (plain.len() > 1 && list.contains(&plain))
}

/// The words of a name in lower case: `apiKey`, `APIKey`, `api_key` and `api-key` are the same two.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut found = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            found.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            });
        if begins {
            found.push(String::new());
        }
        let last = found.len() - 1;
        found[last].extend(letter.to_lowercase());
    }
    found.retain(|word| !word.is_empty());
    found
}

/// A word in the singular, as far as its end tells.
fn singular(word: String) -> String {
    let stays = [
        "access", "address", "status", "process", "dns", "sms", "aws", "gps", "css", "rss",
        "https", "pass", "creds", "apns", "business", "class",
    ];
    if stays.contains(&&*word)
        || word.len() < 4
        || word.ends_with("ss")
        || word.ends_with("us")
        || word.ends_with("is")
    {
        return word;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for (many, one) in [("sses", "ss"), ("xes", "x"), ("shes", "sh"), ("ches", "ch")] {
        if let Some(stem) = word.strip_suffix(many) {
            return format!("{stem}{one}");
        }
    }
    word.strip_suffix('s').map_or(word.clone(), str::to_owned)
}
