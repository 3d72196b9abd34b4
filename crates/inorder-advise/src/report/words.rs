//! Words and figures that every format shares.

use crate::{
    Change,
    advice::{ALONE_MIN_PERCENT, Advice, Item, Part, Verdict},
    read::{Reliance, TableKind},
    rules::{Class, Group},
    trial::{Inserts, Method, ROWS_PER_TRANSACTION},
};

/// Bytes in MB (10^6) or kB.
pub(crate) fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0 => "0".into(),
        1_000_000_000.. => format!("{:.2} GB", value / 1e9),
        ..10_000_000 if bytes >= 100_000 => format!("{:.2} MB", value / 1e6),
        100_000.. => format!("{:.1} MB", value / 1e6),
        _ => format!("{:.1} kB", value / 1e3),
    }
}

/// Bytes saved, with the sign of the change: less is negative.
pub(crate) fn change_of_bytes(saved: i64) -> String {
    signed(-saved, &bytes(saved.unsigned_abs()))
}

/// A share of the file, with the sign of the change.
pub(crate) fn change_of_percent(saved_percent: f64) -> String {
    let rounded = format!("{:.1} %", saved_percent.abs());
    signed(if saved_percent > 0.0 { -1 } else { 1 }, &rounded)
}

fn signed(value: i64, text: &str) -> String {
    match value {
        0 => format!("±{text}"),
        1.. => format!("+{text}"),
        _ => format!("−{text}"),
    }
}

/// The word of a verdict.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Change => "CHANGE",
        Verdict::Minor => "MINOR",
        Verdict::App => "APP",
        Verdict::Authors => "AUTHORS",
        Verdict::Leave => "LEAVE",
    }
}

/// What an item is about, in one line.
pub(super) fn title(item: &Item) -> String {
    let count = item.parts.len();
    let first = &item.parts[0].candidate;
    let objects = |one: &str, many: &str| match count {
        1 => format!("{one} {}", first.object),
        _ => many.replace("{}", &count.to_string()),
    };
    match item.group {
        Group::RedundantIndex => plural(
            count,
            "drop 1 index that another one replaces",
            "drop {} indexes that others replace",
        ),
        Group::UniquePrefix => plural(
            count,
            "drop 1 index that begins with a unique key",
            "drop {} indexes that begin with a unique key",
        ),
        Group::ImpliedUnique => plural(
            count,
            "drop 1 UNIQUE constraint that a unique key implies",
            "drop {} UNIQUE constraints that unique keys imply",
        ),
        Group::NullIndex => plural(count, "make 1 index partial", "make {} indexes partial"),
        Group::WithoutRowid => objects("WITHOUT ROWID:", "WITHOUT ROWID: {} tables"),
        Group::Rowid => objects("to a rowid table:", "{} tables to rowid tables"),
        Group::IntegerKey => objects("INTEGER PRIMARY KEY:", "INTEGER PRIMARY KEY: {} tables"),
        Group::IdsToBlobs => format!("ids as 16-byte blobs: {}", first.object),
        Group::RandomIds => format!("UUIDv7 for new rows: {}", first.object),
        Group::PageSize => first.object.clone(),
        Group::OneValue | Group::LostIds => first.object.clone(),
    }
}

/// A count in words; `{}` is the number.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => one.into(),
        _ => many.replace("{}", &count.to_string()),
    }
}

/// What was measured of a part that is left, such as `WITHOUT ROWID: tried, +1.2 %`.
pub(super) fn tried(part: &Part, base_bytes: u64) -> Option<String> {
    let measure = part.measure?;
    let percent = 100.0 * measure.saved_bytes as f64 / base_bytes.max(1) as f64;
    let figure = change_of_percent(percent);
    Some(match (measure.method, part.candidate.class) {
        (Method::Bound, _) => format!("at most {figure}"),
        (Method::Pages, Class::Rejected) => bytes(measure.saved_bytes.unsigned_abs()),
        _ => format!("tried: {figure}"),
    })
}

/// What a candidate that is left would have been.
pub(super) fn action(part: &Part) -> String {
    let candidate = &part.candidate;
    match candidate.group {
        Group::WithoutRowid => format!("{} WITHOUT ROWID", candidate.object),
        Group::Rowid => format!("{} as a rowid table", candidate.object),
        Group::IntegerKey if !candidate.changes.is_empty() => {
            format!("{} as INTEGER PRIMARY KEY", candidate.object)
        }
        Group::IdsToBlobs => format!("{} as blobs", candidate.object),
        _ => candidate.object.clone(),
    }
}

/// The first lines: the file, and what VACUUM alone gives.
pub(super) fn heading(advice: &Advice) -> Vec<String> {
    let database = &advice.database;
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    let (mut count, mut indexes) = (0, 0);
    for table in tables {
        count += 1;
        indexes += table
            .indexes
            .iter()
            .filter(|index| index.tree.is_some())
            .count();
    }
    let others = database
        .tables
        .iter()
        .filter(|table| table.kind == TableKind::Virtual)
        .count();
    let mut first = format!(
        "{} · {} · page size {} · {}, {}",
        advice.file.name,
        bytes(advice.file.bytes),
        database.page_bytes,
        plural(count, "1 table", "{} tables"),
        plural(indexes, "1 index", "{} indexes"),
    );
    if others > 0 {
        first += &format!(
            ", {}",
            plural(others, "1 virtual table", "{} virtual tables")
        );
    }
    first += &format!(" · copy measured with SQLite {}", rusqlite::version());
    let mut lines = vec![first];
    if let Some(vacuumed) = advice.vacuumed_bytes {
        lines.push(format!(
            "A VACUUM alone brings it to {}; every figure below starts from there. Your file was only read.",
            bytes(vacuumed)
        ));
    }
    if advice.file.is_wal {
        lines.push(format!(
            "It is in WAL mode, with {} in its write-ahead log.",
            bytes(advice.file.wal_bytes)
        ));
    }
    if let Some(program) = advice.program() {
        lines.push(match program.reliance {
            Reliance::Format => format!(
                "This is a file of {}, whose format is not yours to change: findings for its authors, no plan.",
                program.name
            ),
            Reliance::Migrates => format!(
                "{} migrates this schema: it may put indexes and tables back when it is upgraded.",
                program.name
            ),
        });
    }
    lines.extend(advice.notes.iter().cloned());
    lines
}

/// What inserting costs before and after.
pub(super) fn inserts(inserts: &Inserts) -> String {
    format!(
        "writes of {} inserts into {}, {ROWS_PER_TRANSACTION} per transaction: {} → {}  {}",
        inserts.rows,
        inserts.table,
        bytes(inserts.before.written_bytes),
        bytes(inserts.after.written_bytes),
        change_of_percent(inserts.saved_percent())
    )
}

/// What the queries say: plans that change, times that differ, indexes that none of them uses.
pub(super) fn queries(advice: &Advice) -> Vec<String> {
    let Some(found) = &advice.queries else {
        return Vec::new();
    };
    let count = found.queries.len();
    let same = found
        .queries
        .iter()
        .filter(|query| query.plan_before == query.plan_after)
        .count();
    let mut lines = vec![format!(
        "queries: {same} of {count} have the same plan after the changes."
    )];
    for query in &found.queries {
        let sql: String = query.sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = sql.chars().take(QUERY_CHARACTERS).collect();
        if let Some(error) = &query.error {
            lines.push(format!("{short}: {error}"));
        } else if query.plan_before != query.plan_after {
            lines.push(format!(
                "{short}: {} → {}",
                query.plan_before.join("; "),
                query.plan_after.join("; ")
            ));
        }
        if let (Some(before), Some(after)) = (query.ms_before, query.ms_after)
            && (after > SLOWER * before || before > SLOWER * after)
        {
            lines.push(format!("{short}: {before:.2} ms → {after:.2} ms"));
        }
    }
    if !found.unused_indexes.is_empty() {
        lines.push(format!(
            "Indexes that none of these queries uses: {}.",
            found.unused_indexes.join(", ")
        ));
    }
    lines
}

/// Characters of a query that a report shows.
const QUERY_CHARACTERS: usize = 60;
/// Times that differ by less than this factor are the same.
const SLOWER: f64 = 1.3;

/// The line over the plan.
pub(super) fn summary(advice: &Advice) -> Vec<String> {
    let base = advice.base_bytes();
    let line = |name: &str, after: u64| {
        let percent = 100.0 * (base as f64 - after as f64) / base.max(1) as f64;
        format!(
            "{name}  {} → {}  {}",
            bytes(base),
            bytes(after),
            change_of_percent(percent)
        )
    };
    let mut lines = Vec::new();
    if let Some(together) = &advice.together {
        lines.push(line("changes together", together.bytes));
    }
    if let Some(together) = &advice.with_minor {
        let name = if advice.together.is_some() {
            "with the minor ones"
        } else {
            "minor ones together"
        };
        lines.push(line(name, together.bytes));
    }
    lines.extend(
        advice
            .together
            .iter()
            .flat_map(|together| &together.inserts)
            .map(inserts),
    );
    lines.extend(queries(advice));
    let refused = [&advice.together, &advice.with_minor]
        .into_iter()
        .flatten()
        .flat_map(|together| &together.refused);
    lines.extend(refused.map(|refused| format!("left out: {refused}")));
    if lines.is_empty() && !advice.is_damaged {
        lines.push(match advice.program() {
            Some(program) if program.reliance == Reliance::Format => {
                format!("No plan: the format belongs to {}.", program.name)
            }
            _ if advice
                .items
                .iter()
                .any(|item| item.verdict == Verdict::Change) =>
            {
                "No plan: the changes can't be made together.".into()
            }
            _ => format!("Leave it: no change saves {ALONE_MIN_PERCENT} % of the file."),
        });
    }
    lines
}

/// Notes of an item, each once.
pub(super) fn notes(item: &Item) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in item.parts.iter().flat_map(|part| &part.candidate.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}

/// The word behind a figure: whether the application notices.
pub(super) fn safety(item: &Item) -> &'static str {
    match item.verdict {
        Verdict::Change | Verdict::Minor => "safe",
        Verdict::App => "needs a change of the application",
        _ => "",
    }
}

/// A change as one line of a plan.
pub(super) fn change(change: &Change) -> String {
    change.to_string()
}

/// Text within Markdown.
pub(crate) fn escaped_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => {
                out.extend(['\\', letter])
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}

/// Text within HTML, also within an attribute.
pub(crate) fn escaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            _ => out.push(letter),
        }
    }
    out
}
