//! Ids kept as text that could be blobs of 16 bytes, with every column that holds the same ids.

use super::{
    Candidate, Class, Group,
    reliance::content_of,
    shared::{mentioning, missing},
};
use crate::{
    Change, Conversion, IdForm,
    ddl::{mentions, tokens},
    read::{Column, Database, Ids, Object, Table, TableKind},
};

/// A group of columns that would save less of the file than this isn't named.
const SHARE_MIN: f64 = 0.01;
/// Bytes of an id as a blob.
const BLOB_BYTES: u64 = 16;

/// A column of ids.
#[derive(Clone, Copy)]
struct Place<'d> {
    table: &'d Table,
    at: usize,
}

impl<'d> Place<'d> {
    fn column(&self) -> &'d Column {
        &self.table.columns[self.at]
    }

    fn title(&self) -> String {
        format!("{}.{}", self.table.name, self.column().name)
    }

    /// B-trees that have the column: the table, and each index with it or, by a WITHOUT ROWID key, with all of it.
    fn trees(&self) -> u64 {
        let is_key =
            self.table.key.contains(&self.at) && self.table.kind == TableKind::WithoutRowid;
        let indexes = self.table.indexes.iter().filter(|index| {
            index.tree.is_some()
                && (is_key || index.terms.iter().any(|term| term.column == Some(self.at)))
        });
        1 + indexes.count() as u64
    }
}

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    let places = places(database);
    let mut left: Vec<Place<'_>> = places.clone();
    let mut found = Vec::new();
    while let Some(first) = left.pop() {
        let mut group = vec![first];
        let mut next = 0;
        while next < group.len() {
            let of = group[next];
            let (joined, rest): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|other| is_joined(database, of, *other));
            group.extend(joined);
            left = rest;
            next += 1;
        }
        found.extend(candidate(database, &group));
    }
    found
}

/// Every column of text ids, those with exceptions too.
fn places(database: &Database) -> Vec<Place<'_>> {
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    tables
        .flat_map(|table| (0..table.columns.len()).map(move |at| Place { table, at }))
        .filter(|place| {
            let ids = Ids::of(place.table, place.column());
            ids.is_some_and(|ids| ids.kinds.iter().any(|kind| kind.form.id_form().is_some()))
        })
        .collect()
}

/// Columns are joined if a foreign key says so or values of one occur in the other.
fn is_joined(database: &Database, a: Place<'_>, b: Place<'_>) -> bool {
    let declared = |from: Place<'_>, to: Place<'_>| {
        from.table.foreign_keys.iter().any(|key| {
            let parents = database.parent_columns(key);
            key.parent.eq_ignore_ascii_case(&to.table.name)
                && key.columns.iter().zip(&parents).any(|(own, other)| {
                    own.eq_ignore_ascii_case(&from.column().name)
                        && other.eq_ignore_ascii_case(&to.column().name)
                })
        })
    };
    declared(a, b) || declared(b, a) || a.column().values.shares_ids_with(&b.column().values)
}

fn candidate(database: &Database, group: &[Place<'_>]) -> Option<Candidate> {
    let saved: u64 = group
        .iter()
        .map(|place| {
            let values = &place.column().values;
            let bytes = values.bytes.checked_div(values.texts.max(1)).unwrap_or(0);
            values.texts * bytes.saturating_sub(BLOB_BYTES) * place.trees()
        })
        .sum();
    if (saved as f64) < SHARE_MIN * database.bytes() as f64 {
        return None;
    }
    let mut group = group.to_vec();
    group.sort_by_key(|place| {
        std::cmp::Reverse((!place.column().key_position.eq(&0), place.table.rows))
    });
    let titles: Vec<String> = group.iter().map(Place::title).collect();
    let mut candidate = Candidate {
        rule: "",
        group: Group::IdsToBlobs,
        class: Class::App,
        table: group[0].table.name.clone(),
        object: titles.join(", "),
        changes: Vec::new(),
        reason: String::new(),
        notes: vec!["The application must write and read 16 bytes where it has text today (ORM type, JSON, logs).".into()],
    };
    let mut columns = Vec::new();
    for place in &group {
        match conversion(database, *place) {
            Ok(form) => columns.push(Conversion {
                table: place.table.name.clone(),
                column: place.column().name.clone(),
                form,
            }),
            Err(reason) => return Some(candidate.rejected(format!("{}: {reason}", place.title()))),
        }
    }
    let ids = Ids::of(group[0].table, group[0].column())?;
    let kind = ids.kinds.first()?;
    candidate.reason = format!(
        "{} kept as {}; 16 bytes as a blob",
        kind.kind,
        kind.form.words()
    );
    if columns.len() > 1 {
        candidate.notes.push(format!(
            "The {} columns hold the same ids and change together.",
            columns.len()
        ));
    }
    candidate.changes = vec![Change::IdsToBlobs { columns }];
    Some(candidate)
}

/// The form of all values of a column, or why it can't become a blob.
fn conversion(database: &Database, place: Place<'_>) -> Result<IdForm, String> {
    let (table, column) = (place.table, place.column());
    let values = &column.values;
    if let Some(reason) = missing(table) {
        return Err(reason);
    }
    let ids = Ids::of(table, column).ok_or("its values are no ids")?;
    if ids.exceptions > 0 {
        return Err(format!(
            "{} of {} values are no ids of the form",
            ids.exceptions,
            values.present()
        ));
    }
    let form = ids
        .form()
        .ok_or("its ids are written in more than one way")?;
    let form = form
        .id_form()
        .ok_or_else(|| format!("{} can't be turned back into the same text", form.words()))?;
    match blocker(database, table, column) {
        Some(reason) => Err(reason),
        None => Ok(form),
    }
}

/// What of the schema treats the column as text.
fn blocker(database: &Database, table: &Table, column: &Column) -> Option<String> {
    let name = &column.name;
    if table.is_strict && column.declared.eq_ignore_ascii_case("TEXT") {
        return Some("the table is STRICT and the column TEXT".into());
    }
    if column.is_generated() {
        return Some("it is a generated column".into());
    }
    if let Some(default) = &column.default
        && !default.eq_ignore_ascii_case("NULL")
    {
        return Some(format!("its default is {default}, a text"));
    }
    if within_check(&table.sql, name) {
        return Some("a CHECK or generated column uses it".into());
    }
    let in_expression = table.indexes.iter().find(|index| {
        let terms = index
            .terms
            .iter()
            .filter_map(|term| term.expression.as_ref());
        terms
            .chain(&index.condition)
            .any(|text| mentions(text, name))
    });
    if let Some(index) = in_expression {
        return Some(format!("the index {} has it in an expression", index.name));
    }
    if let Some(content) = content_of(database, table)
        && database
            .table(content)
            .is_some_and(|virtual_table| mentions(&virtual_table.sql, name))
    {
        return Some(format!("the full-text index {content} has it"));
    }
    mentioning(database, &table.name).find_map(|object| treats_as_text(object, table, name))
}

/// Functions and operators that give another answer for a blob.
const OF_TEXT: &[&str] = &[
    "LIKE",
    "GLOB",
    "REGEXP",
    "substr",
    "substring",
    "length",
    "typeof",
    "lower",
    "upper",
    "hex",
    "replace",
    "instr",
    "trim",
    "concat",
    "printf",
    "format",
    "group_concat",
    "string_agg",
];

/// Why a view or trigger keeps a column from being a blob.
fn treats_as_text(object: &Object, table: &Table, column: &str) -> Option<String> {
    let words = tokens(&object.sql);
    let title = &object.name;
    let is_own_trigger = object.is_trigger && object.table.eq_ignore_ascii_case(&table.name);
    let says = |wanted: &str| words.iter().any(|word| word.is(wanted));
    if is_own_trigger && says("BEFORE") && says("UPDATE") {
        return Some(format!("the trigger {title} runs before updates"));
    }
    if !mentions(&object.sql, column) {
        return None;
    }
    if words
        .iter()
        .any(|word| word.text.to_ascii_lowercase().starts_with("json"))
    {
        return Some(format!("{title} makes JSON of it"));
    }
    let joins = words
        .windows(2)
        .any(|pair| pair[0].is_symbol("|") && pair[1].is_symbol("|"));
    (joins || OF_TEXT.iter().any(|word| says(word))).then(|| format!("{title} treats it as text"))
}

/// Tells whether a CHECK constraint or an expression within a table's definition has a name in it.
fn within_check(sql: &str, name: &str) -> bool {
    let words = tokens(sql);
    let mut depth = 0;
    let mut within: Option<i32> = None;
    for (at, word) in words.iter().enumerate() {
        if word.is_symbol("(") {
            depth += 1;
            let before = at.checked_sub(1).map(|at| &words[at]);
            if within.is_none() && before.is_some_and(|word| word.is("CHECK") || word.is("AS")) {
                within = Some(depth);
            }
        } else if word.is_symbol(")") {
            if within == Some(depth) {
                within = None;
            }
            depth -= 1;
        } else if within.is_some() && word.is_name(name) {
            return true;
        }
    }
    false
}
