//! What a default makes for new rows.

/// Ids that a default makes, by the name of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// In no order.
    Random(String),
    /// In the order of time.
    InOrder(String),
    /// With a time that is not at the beginning, such as UUIDv1.
    Mixed(String),
    /// By an expression that is not known.
    Unknown(String),
}

/// Parts of names of functions whose ids are in the order of time.
const IN_ORDER: &[&str] = &[
    "uuidv7",
    "uuid_v7",
    "uuid7",
    "uuid_7",
    "v7uuid",
    "generate_v7",
    "uuidv6",
    "uuid_v6",
    "uuid6",
    "generate_v6",
    "ulid",
    "ksuid",
    "tsid",
    "snowflake",
    "nextval",
    "objectid",
    "object_id",
    "newsequentialid",
    "ordered",
    "sequential",
    "sonyflake",
    "scru128",
    "flake",
];
/// Of those whose ids are random.
const RANDOM: &[&str] = &[
    "gen_random",
    "uuidv4",
    "uuid_v4",
    "uuid4",
    "uuid_4",
    "v4uuid",
    "generate_v4",
    "random",
    "newid",
    "nanoid",
    "cuid2",
    "rand",
];
/// Names of those whose ids have their time elsewhere.
const MIXED: &[&str] = &[
    "uuid",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuidv1",
    "uuid_v1",
    "uuid1",
    "sys_guid",
];

impl Made {
    /// The expression.
    pub fn name(&self) -> &str {
        match self {
            Made::Random(text) | Made::InOrder(text) | Made::Mixed(text) | Made::Unknown(text) => {
                text
            }
        }
    }
}

/// What an expression makes. A constant makes no ids.
pub fn made_by(default: &str) -> Option<Made> {
    let text = default.trim().to_owned();
    let plain = text.to_lowercase().replace([' ', '"', '`'], "");
    if !plain.contains('(') || is_constant(&plain) {
        return None;
    }
    let names: Vec<&str> = functions(&plain).collect();
    let has = |parts: &[&str]| {
        names
            .iter()
            .any(|name| parts.iter().any(|part| name.contains(part)))
    };
    let is_swapped = |swap: &str| plain.contains(&format!("uuid_to_bin(uuid(),{swap})"));
    Some(match () {
        // The bytes of UUIDv1 with the time first.
        () if is_swapped("1") || is_swapped("true") => Made::InOrder(text),
        () if has(IN_ORDER) => Made::InOrder(text),
        () if has(RANDOM) => Made::Random(text),
        () if names.iter().any(|name| MIXED.contains(name)) => Made::Mixed(text),
        () => Made::Unknown(text),
    })
}

/// The names of the functions that an expression calls, without schemas.
fn functions(plain: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let calls = plain.split('(').map(move |before| {
        let from = before
            .rfind(|letter| !is_part(letter))
            .map_or(0, |at| at + 1);
        before.get(from..).unwrap_or_default()
    });
    calls.filter(|name| !name.is_empty())
}

/// A text or number in brackets.
fn is_constant(plain: &str) -> bool {
    let inner = plain.trim_matches(['(', ')']);
    inner.starts_with('\'') && inner.ends_with('\'') || inner.parse::<f64>().is_ok()
}

/// What new rows get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NewIds {
    /// Random UUIDs.
    Random,
    /// Ids in order, and what says so.
    InOrder(String),
    /// Ids of another kind, or nothing tells.
    #[default]
    Unknown,
}

impl NewIds {
    /// What new rows get by the default, or else as the newest rows were measured. A default in order decides: no row may
    /// have been inserted since it was set.
    pub fn with_default(self, made: Option<&Made>) -> Self {
        match (made, self) {
            (Some(Made::InOrder(text)), _) => NewIds::InOrder(format!("the default {text}")),
            (Some(Made::Random(_)), NewIds::Unknown) => NewIds::Random,
            (_, measured) => measured,
        }
    }
}

/// Where a UUIDv7 of today sorts among ids, of which a share sorts before it.
pub fn place_of_new(share_before: f64) -> String {
    match 100.0 * share_before {
        99.5.. => "after all ids that are there".into(),
        ..0.5 => "before all ids that are there".into(),
        percent => format!("after {percent:.0} % of the ids that are there and before the others"),
    }
}
