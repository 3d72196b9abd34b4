//! Words and figures that every format shares.

use crate::{
    advice::{ALONE_MIN_PERCENT, Verdict},
    counter::alerts as alerts_of,
    report::{bytes, change_of_bytes, change_of_percent, plural},
    rules::Class,
    server::{
        advice::{Advice, Item, Measure, Method, Part},
        model::{Product, Table, TableKind},
        rules::{Action, Group},
    },
};

/// What an item is about, in one line.
pub fn title(item: &Item) -> String {
    let count = item.parts.len();
    let first = &item.parts[0].candidate;
    match item.group {
        Group::InvalidIndex => plural(
            count,
            "1 invalid index, which queries don't use",
            "{} invalid indexes, which queries don't use",
        ),
        Group::RedundantIndex => plural(
            count,
            "drop 1 index that another one replaces",
            "drop {} indexes that others replace",
        ),
        Group::UniqueTwice => plural(
            count,
            "drop 1 UNIQUE constraint that repeats a key",
            "drop {} UNIQUE constraints that repeat keys",
        ),
        Group::ImpliedUnique => plural(
            count,
            "drop 1 index that begins with a unique key",
            "drop {} indexes that begin with a unique key",
        ),
        Group::DuplicateConstraint => plural(
            count,
            "drop 1 constraint that repeats another one",
            "drop {} constraints that repeat others",
        ),
        Group::NullIndex => plural(count, "make 1 index partial", "make {} indexes partial"),
        Group::NativeUuid => format!("UUIDs in 16 bytes: {}", first.object),
        Group::BinaryHash => format!("hashes as bytes: {}", first.object),
        Group::OrderedUuid => format!("UUIDv7 for new rows: {}", first.object),
        Group::Bigint => format!("bigint: {}", first.object),
        Group::IntegerRange => match first.actions.first() {
            Some(Action::Widen { .. }) => format!("a wider type: {}", first.object),
            Some(_) => format!("a wider sequence: {}", first.object),
            None => format!("a counter that comes to its end: {}", first.object),
        },
        Group::Bloat | Group::UnusedIndex => first.object.clone(),
    }
}

/// What a candidate that is left would have been.
pub fn action(part: &Part) -> String {
    let candidate = &part.candidate;
    match candidate.group {
        Group::NativeUuid => format!("{} in 16 bytes", candidate.object),
        Group::BinaryHash => format!("{} as bytes", candidate.object),
        Group::OrderedUuid => format!("{} as UUIDv7", candidate.object),
        Group::Bigint => format!("{} as bigint", candidate.object),
        _ => candidate.object.clone(),
    }
}

/// The figure of a part that is left.
pub fn tried(advice: &Advice, part: &Part) -> String {
    let about = || part.candidate.bytes.map(bytes).unwrap_or_default();
    let Some(measure) = &part.measure else {
        return about();
    };
    let share = match advice.percent(measure.saved_bytes) {
        Some(percent) => change_of_percent(percent),
        None => change_of_bytes(measure.saved_bytes),
    };
    match (measure.method, part.candidate.class, part.written_percent()) {
        (Method::Server, Class::Rejected, _) => about(),
        (Method::Server, ..) => share,
        (Method::Predicted, _, Some(log)) if part.candidate.group == Group::OrderedUuid => {
            format!("writes {}", change_of_percent(log))
        }
        (Method::Predicted, ..) => format!("predicted: {share}"),
        (Method::Estimated, ..) => format!("about {share}"),
    }
}

/// The figures of an item, with how they were found.
pub fn figures(item: &Item) -> String {
    let safety = match item.verdict {
        Verdict::Change | Verdict::Minor => "safe",
        Verdict::App => "needs a change of the application",
        _ => "",
    };
    let method = item
        .parts
        .iter()
        .find_map(|part| part.measure.as_ref())
        .map(|measure| measure.method);
    let how = match method {
        Some(Method::Predicted) => "predicted, ",
        Some(Method::Estimated) => "estimated from widths, ",
        _ => "",
    };
    let percent = item.percent.map(change_of_percent);
    match (item.saved_bytes, percent) {
        _ if item.group == Group::OrderedUuid => match written(item) {
            Some(written) => format!("{written}   {how}{safety}"),
            None => format!("{how}{safety}"),
        },
        (Some(saved), Some(percent)) => {
            format!("{}   {percent}   {how}{safety}", change_of_bytes(saved))
        }
        (Some(saved), None) => format!("{}   {how}{safety}", change_of_bytes(saved)),
        (None, _) => format!("{how}{safety}"),
    }
}

/// What inserts write in sum: log, images of pages, data pages.
fn written(item: &Item) -> Option<String> {
    let part = &item.parts[0];
    let (before, after) = part.measure.as_ref()?.written_per_insert()?;
    Some(format!(
        "writes {before:.0} → {after:.0} bytes per inserted row   {}",
        change_of_percent(part.written_percent()?)
    ))
}

/// What a prediction says of the log, and of each tree.
pub fn predicted(advice: &Advice, measure: &Measure) -> Vec<String> {
    let is_logged = advice.database.product == Product::Postgres;
    let mut lines = Vec::new();
    let figures = [
        ("log per inserted row", measure.log_bytes_per_insert),
        (
            "page images per inserted row, 10,000 rows between checkpoints",
            measure.page_bytes_per_insert.filter(|_| is_logged),
        ),
        (
            "data pages per inserted row, 10,000 rows between checkpoints",
            match is_logged {
                true => measure.data_bytes_per_insert,
                false => measure.page_bytes_per_insert,
            },
        ),
        (
            "doublewrite buffer per inserted row",
            measure.data_bytes_per_insert.filter(|_| !is_logged),
        ),
    ];
    for (name, figure) in figures {
        if let Some((before, after)) = figure {
            let percent = 100.0 * (before - after) / before.max(1.0);
            lines.push(format!(
                "{name}: {before:.0} → {after:.0} bytes  {}",
                change_of_percent(percent)
            ));
        }
    }
    for (column, prediction) in &measure.predictions {
        for tree in &prediction.trees {
            if tree.rebuilt_bytes != tree.after_bytes {
                let name = tree.index.as_ref().unwrap_or(&column.table);
                lines.push(format!(
                    "{name}: {} → {} rebuilt",
                    bytes(tree.rebuilt_bytes),
                    bytes(tree.after_bytes)
                ));
            }
        }
        for note in &prediction.notes {
            if !lines.contains(note) {
                lines.push(note.clone());
            }
        }
    }
    lines
}

/// What stands before everything else: counters that are nearly at their end.
pub fn alerts(advice: &Advice) -> Vec<String> {
    alerts_of(&advice.counters)
}

/// The first lines: the server, what was read, and what could not be.
pub fn heading(advice: &Advice) -> Vec<String> {
    let database = &advice.database;
    let tables = || {
        database
            .tables
            .iter()
            .filter(|table| !matches!(table.kind, TableKind::Foreign | TableKind::Partitioned))
    };
    let indexes = tables().map(|table| table.indexes.len()).sum();
    let mut lines = vec![
        format!(
            "{} · {} · {} · {}, {}",
            database.name,
            database.version,
            bytes(advice.base_bytes()),
            plural(tables().count(), "1 table", "{} tables"),
            plural(indexes, "1 index", "{} indexes"),
        ),
        format!(
            "{}: only read, in a read-only transaction; {} rows as samples, at most 10,000 per table.",
            advice.url, advice.rows_read
        ),
    ];
    if let Some(line) = bloat(advice) {
        lines.push(line);
    }
    if !advice.unpredicted.is_empty() {
        let why = advice
            .unpredicted
            .trim_start_matches("no sizes are predicted: ");
        lines.push(format!(
            "Sizes after a change are estimated from widths, not predicted: {why}."
        ));
    }
    lines.extend(database.notes.iter().cloned());
    lines
}

/// What a rebuild without changes would return.
fn bloat(advice: &Advice) -> Option<String> {
    let free: u64 = advice
        .database
        .tables
        .iter()
        .map(|table| {
            let indexes: u64 = table
                .indexes
                .iter()
                .filter_map(|index| index.bloat_bytes)
                .sum();
            table.bloat_bytes.unwrap_or(0) + indexes
        })
        .sum();
    let percent = advice.percent(free as i64)?;
    (percent >= ALONE_MIN_PERCENT).then(|| {
        format!(
            "A rebuild without changes would return about {} ({percent:.0} %, estimated).",
            bytes(free)
        )
    })
}

/// The last lines: everything that is safe together, and what was compared where nothing is to be done.
pub fn summary(advice: &Advice) -> Vec<String> {
    let base = advice.base_bytes();
    let saved = advice.saved_bytes();
    let mut lines = Vec::new();
    if saved > 0 {
        let after = base.saturating_sub(saved as u64);
        let percent = advice
            .percent(saved)
            .map_or(String::new(), change_of_percent);
        let line = format!(
            "safe changes together  {} → {}  {percent}",
            bytes(base),
            bytes(after),
        );
        lines.push(line.trim_end().to_owned());
    }
    let is_nothing = advice
        .items
        .iter()
        .all(|item| item.verdict == Verdict::Leave);
    let is_skipped =
        |table: &&Table| table.sample.is_none() && table.kind != TableKind::Partitioned;
    let skipped = advice.database.tables.iter().filter(is_skipped).count();
    if skipped > 0 {
        lines.push(plural(
            skipped,
            "Skipped: the rows of 1 table were not read; the notes above say why.",
            "Skipped: the rows of {} tables were not read; the notes above say why.",
        ));
    }
    if is_nothing && !advice.sizes_are_stale {
        let indexes: usize = advice
            .database
            .tables
            .iter()
            .map(|table| table.indexes.len())
            .sum();
        lines.push(match advice.database.tables.is_empty() {
            true => "The database has no tables that the user of the URL may see.".into(),
            false => format!(
                "Leave it: {} compared, {} of ids looked at, and no change saves {ALONE_MIN_PERCENT} %.",
                plural(indexes, "1 index", "{} indexes"),
                plural(advice.ids.len(), "1 column", "{} columns"),
            ),
        });
    }
    lines
}

/// Notes of an item, each once.
pub fn notes(item: &Item) -> Vec<&str> {
    let mut notes: Vec<&str> = Vec::new();
    for note in item.parts.iter().flat_map(|part| &part.candidate.notes) {
        if !notes.contains(&note.as_str()) {
            notes.push(note);
        }
    }
    notes
}

/// The figure of a part of an item.
pub fn figure(part: &Part) -> String {
    let measure = part
        .measure
        .as_ref()
        .filter(|_| part.candidate.group != Group::OrderedUuid);
    measure.map_or(String::new(), |measure| {
        change_of_bytes(measure.saved_bytes)
    })
}
