//! Words and figures that every format shares.

use crate::{
    Change,
    advice::{ALONE_MIN_PERCENT, Advice, Estimate, IdLine, Item, Part, Verdict},
    classify::FILE,
    counter,
    read::{Reliance, TableKind},
    rules::{Class, Group},
    trial::{Inserts, LookUps, Method, Pairs, Queries, Query, ROWS_PER_TRANSACTION},
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

/// A figure of this advice: an estimate is called one.
pub(super) fn figure(advice: &Advice, figure: String) -> String {
    match advice.estimate.is_some() && !figure.is_empty() {
        true => format!("about {figure}"),
        false => figure,
    }
}

/// A time in ns, µs or ms.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.1} µs", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

/// Times before and after, and the ratio with its interval.
pub(super) fn times(times: &Pairs) -> String {
    let change = |ratio: f64| change_of_percent(100.0 * (1.0 - ratio));
    let [low, high] = times.ratio_interval;
    format!(
        "{} → {}  {} (95 % interval {} to {})",
        time(times.before_ns),
        time(times.after_ns),
        change(times.ratio),
        change(low),
        change(high)
    )
}

/// Over look-ups.
pub(super) const LOOK_UPS: &str = "look-ups with a warm cache, and the 95 % interval of the change";

/// What is looked up by which columns, the times, their change and its interval.
pub(super) fn look_up_cells(look_ups: &LookUps) -> [String; 4] {
    let what = format!("{} by {}", look_ups.table, look_ups.columns.join(", "));
    let times = &look_ups.times;
    let change = |ratio: f64| change_of_percent(100.0 * (1.0 - ratio));
    let [low, high] = times.ratio_interval.map(change);
    [
        what,
        format!("{} → {}", time(times.before_ns), time(times.after_ns)),
        change(times.ratio),
        format!("{low} to {high}"),
    ]
}

/// What settles the classes of columns that are in doubt; nothing if none is.
pub(crate) fn doubts(ids: &[IdLine]) -> Option<(String, Vec<String>)> {
    let lines: Vec<String> = ids.iter().filter_map(|line| line.settles.clone()).collect();
    let columns = plural(lines.len(), "1 column is", "{} columns are");
    let head = format!(
        "What {columns} stays open, and no other kind of ids is proposed for it. To settle it, write what is right into {FILE} beside the database:"
    );
    (!lines.is_empty()).then(|| (head, [vec!["[columns]".to_owned()], lines].concat()))
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
        Group::IdsToBlobs => format!("ids as blobs: {}", first.object),
        Group::RandomIds => format!("UUIDv7 for new rows: {}", first.object),
        Group::PageSize => first.object.clone(),
        Group::DuplicateConstraint => {
            format!("a constraint that repeats another one: {}", first.object)
        }
        Group::IntegerRange => format!("a counter that comes to its end: {}", first.object),
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
pub(super) fn tried(part: &Part, advice: &Advice) -> Option<String> {
    let measure = part.measure?;
    let percent = 100.0 * measure.saved_bytes as f64 / advice.base_bytes().max(1) as f64;
    let figure = figure(advice, change_of_percent(percent));
    Some(match (measure.method, part.candidate.class) {
        (Method::Bound, _) => format!("at most {figure}"),
        (Method::Pages, Class::Rejected) => {
            self::figure(advice, bytes(measure.saved_bytes.unsigned_abs()))
        }
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

/// What stands before everything else: counters that are nearly at their end.
pub(super) fn alerts(advice: &Advice) -> Vec<String> {
    counter::alerts(&advice.database.counters)
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
    let what = if advice.estimate.is_some() {
        "sample"
    } else {
        "copy"
    };
    first += &format!(" · {what} measured with SQLite {}", rusqlite::version());
    let mut lines = vec![first];
    if let Some(estimate) = &advice.estimate {
        lines.extend(of_sample(advice, estimate));
    } else if let Some(vacuumed) = advice.vacuumed_bytes {
        lines.push(format!(
            "A VACUUM alone brings it to {}; every figure below starts from there. Your file was only read.",
            bytes(vacuumed)
        ));
    }
    if advice.file.is_wal {
        lines.push(match advice.file.wal_bytes {
            0 => "It is in WAL mode, with nothing in its write-ahead log.".to_owned(),
            wal_bytes => format!(
                "It is in WAL mode, with {} in its write-ahead log.",
                bytes(wal_bytes)
            ),
        });
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

/// What a report from a sample knows and doesn't know.
fn of_sample(advice: &Advice, estimate: &Estimate) -> Vec<String> {
    let partly = estimate.tables.iter().filter(|table| !table.is_complete);
    let (mut count, mut sampled, mut rows) = (0, 0, 0);
    for table in partly {
        count += 1;
        sampled += table.sampled_rows;
        rows += table.rows;
    }
    let mut lines = vec![format!(
        "ESTIMATE from a sample of {}. A VACUUM alone brings the file to about {}; every figure starts from there. Your file was only read.",
        bytes(estimate.sample_bytes),
        bytes(advice.base_bytes())
    )];
    if count > 0 {
        lines.push(format!(
            "{} sampled: {sampled} of about {rows} rows, of leaf pages at equal distances. Row numbers and shares of ids are those of the sample.",
            plural(count, "1 table was", "{} tables were")
        ));
        lines.push(
            "What holds for all rows is not known: that all ids have one form, that a key is always an integer, that a column is always NULL, that columns share ids. Redundant indexes are known from the catalog. No migration is written from a sample."
                .into(),
        );
    }
    lines
}

/// Over the costs of inserts.
pub(super) fn inserts_head() -> String {
    format!("bytes written by inserts, {ROWS_PER_TRANSACTION} rows per transaction")
}

/// What is inserted, what it writes before and after, and the change.
pub(super) fn insert_cells(advice: &Advice, inserts: &Inserts) -> [String; 3] {
    [
        format!("{} rows into {}", inserts.rows, inserts.table),
        figure(
            advice,
            format!(
                "{} → {}",
                bytes(inserts.before.written_bytes),
                bytes(inserts.after.written_bytes)
            ),
        ),
        change_of_percent(inserts.saved_percent()),
    ]
}

/// What inserting costs before and after.
pub(super) fn inserts(advice: &Advice, inserts: &Inserts) -> String {
    let [_, span, change] = insert_cells(advice, inserts);
    format!(
        "writes of {} inserts into {}, {ROWS_PER_TRANSACTION} per transaction: {span}  {change}",
        inserts.rows, inserts.table
    )
}

/// What the queries say: plans that change, times that differ, indexes that none of them uses.
pub(super) fn queries(advice: &Advice) -> Vec<String> {
    let Some(found) = &advice.queries else {
        return Vec::new();
    };
    let count = found.queries.len();
    let has = |test: fn(&Query) -> bool| found.queries.iter().filter(|query| test(query)).count();
    let mut lines = vec![format!(
        "queries: {} of {count} have the same plan after the changes; {} returned the same rows, {} were timed.",
        has(|query| query.error.is_none() && query.plan_before == query.plan_after),
        has(|query| query.is_compared && query.broken.is_none()),
        has(|query| query.ms_before.is_some()),
    )];
    for query in &found.queries {
        let said = query_in_words(query);
        if !said.is_empty() {
            lines.push(format!("{}: {}", short(query), said.join("; ")));
        }
    }
    lines.extend(slowest(&found.queries));
    if !found.unused_indexes.is_empty() {
        lines.push(format!(
            "Indexes that none of these queries uses: {}.",
            found.unused_indexes.join(", ")
        ));
    }
    lines
}

/// The query that takes longest, whether or not the changes are noticed by it.
fn slowest(queries: &[Query]) -> Option<String> {
    let timed = queries
        .iter()
        .filter_map(|query| Some((query, query.ms_before?)));
    let (query, before) = timed.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let after = query
        .ms_after
        .map_or(String::new(), |after| format!(" → {}", time(after * 1e6)));
    Some(format!(
        "The slowest query: {}: {}{after}.",
        short(query),
        time(before * 1e6)
    ))
}

/// The beginning of a query, in one line.
pub(super) fn short(query: &Query) -> String {
    let sql: String = query.sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = sql.chars();
    let short: String = letters.by_ref().take(QUERY_CHARACTERS).collect();
    match letters.next() {
        Some(_) => short + "…",
        None => short,
    }
}

/// What is to say of a query; nothing if it stays as it is.
pub(super) fn query_in_words(query: &Query) -> Vec<String> {
    let mut said = Vec::new();
    said.extend(query.error.clone());
    said.extend(query.broken.clone());
    if query.broken.is_none() && query.plan_before != query.plan_after {
        said.push(format!(
            "{} → {}",
            query.plan_before.join(", "),
            query.plan_after.join(", ")
        ));
    }
    if !query.unknown_parameters.is_empty() {
        said.push(format!(
            "not timed: no column tells a value for {}",
            query.unknown_parameters.join(", ")
        ));
    }
    match &query.times {
        Some(times) if differs(times) => said.push(self::times(times)),
        None => {
            if let (Some(before), Some(after)) = (query.ms_before, query.ms_after)
                && (after > SLOWER * before || before > SLOWER * after)
            {
                said.push(format!(
                    "{before:.2} ms → {after:.2} ms, too few runs for an interval"
                ));
            }
        }
        Some(_) => {}
    }
    said
}

/// Whether times differ by more than chance, and by more than anybody notices.
pub(super) fn differs(times: &Pairs) -> bool {
    let [low, high] = times.ratio_interval;
    (low > 1.0 || high < 1.0) && (times.ratio - 1.0).abs() >= NOTICED
}

/// Times that differ by less than this share are the same.
const NOTICED: f64 = 0.05;
/// Characters of a query that a report shows.
const QUERY_CHARACTERS: usize = 60;
/// Times of single runs that differ by less than this factor are the same.
const SLOWER: f64 = 1.3;

/// The line over the plan.
pub(super) fn summary(advice: &Advice) -> Vec<String> {
    let base = advice.base_bytes();
    let line = |name: &str, after: u64| {
        let percent = 100.0 * (base as f64 - after as f64) / base.max(1) as f64;
        format!(
            "{name}  {} → {}  {}",
            figure(advice, bytes(base)),
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
    if let Some(together) = &advice.with_app {
        let name = "with those of the application";
        lines.push(line(name, together.bytes));
    }
    let refused = [&advice.together, &advice.with_minor, &advice.with_app]
        .into_iter()
        .flatten()
        .flat_map(|together| &together.refused);
    lines.extend(refused.map(|refused| format!("left out: {refused}")));
    if lines.is_empty() && !advice.is_damaged {
        lines.push(match advice.program() {
            Some(program) if program.reliance == Reliance::Format => {
                format!("No plan: the format belongs to {}.", program.name)
            }
            _ if advice.queries.as_ref().is_some_and(Queries::is_broken) => {
                "No plan: with the changes, queries return other rows or do not compile.".into()
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

/// What inserts into the changed tables cost.
pub(super) fn all_inserts(advice: &Advice) -> impl Iterator<Item = &Inserts> {
    let together = advice.together.iter();
    together.flat_map(|together| &together.inserts)
}

/// What is said of a part that only a sample speaks for.
const OF_SAMPLE: &str =
    "Only the sample says so: whether it holds for all rows, advice without --sample tells.";

/// Notes of an item, each once.
pub(super) fn notes(item: &Item) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in item.parts.iter().flat_map(|part| &part.candidate.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    if item.parts.iter().any(|part| part.is_of_sample) {
        notes.push(OF_SAMPLE);
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
