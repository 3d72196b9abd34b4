//! Ids and digests kept as text that could be blobs, with every column that holds the same ones.

use super::{Candidate, Class, Group, reliance::content_of, shared::missing};
use crate::{
    Change, Conversion, IdForm,
    apply::user_of_text,
    ddl::{mentions, tokens, within_expression},
    read::{Column, Database, Form, Ids, Object, Table, TableKind},
};

/// A group of columns that would save less of the file than this isn't named.
const SHARE_MIN: f64 = 0.01;

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

    /// Bytes of an id as a blob.
    fn blob_bytes(&self) -> u64 {
        let ids = Ids::of(self.table, self.column());
        ids.and_then(|ids| Some(ids.kinds.first()?.form.bytes()))
            .unwrap_or(0)
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
        add_empty(database, &mut group);
        found.extend(candidate(database, &group));
    }
    found
}

/// Adds the columns without values that a foreign key joins to one of the group: new rows will hold the same ids.
fn add_empty<'d>(database: &'d Database, group: &mut Vec<Place<'d>>) {
    let tables = database.tables.iter().filter(|table| table.is_ordinary());
    let mut left: Vec<Place<'d>> = tables
        .flat_map(|table| (0..table.columns.len()).map(move |at| Place { table, at }))
        .filter(|place| place.column().values.present() == 0 && !place.column().is_generated())
        .collect();
    let mut next = 0;
    while next < group.len() {
        let of = group[next];
        let (joined, rest): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|other| refers(database, of, *other) || refers(database, *other, of));
        group.extend(joined);
        left = rest;
        next += 1;
    }
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
    refers(database, a, b)
        || refers(database, b, a)
        || a.column().values.shares_ids_with(&b.column().values)
}

/// Whether a foreign key leads from one column to the other.
fn refers(database: &Database, from: Place<'_>, to: Place<'_>) -> bool {
    from.table.foreign_keys.iter().any(|key| {
        let parents = database.parent_columns(key);
        key.parent.eq_ignore_ascii_case(&to.table.name)
            && key.columns.iter().zip(&parents).any(|(own, other)| {
                own.eq_ignore_ascii_case(&from.column().name)
                    && other.eq_ignore_ascii_case(&to.column().name)
            })
    })
}

fn candidate(database: &Database, group: &[Place<'_>]) -> Option<Candidate> {
    let saved: u64 = group
        .iter()
        .map(|place| {
            let values = &place.column().values;
            let bytes = values.bytes.checked_div(values.texts.max(1)).unwrap_or(0);
            values.texts * bytes.saturating_sub(place.blob_bytes()) * place.trees()
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
        notes: vec!["The application must write and read bytes where it has text today (ORM type, JSON, logs).".into()],
    };
    let mut columns = Vec::new();
    let forms = group
        .iter()
        .filter_map(|place| Ids::of(place.table, place.column()));
    let form = forms.filter_map(|ids| ids.form()).next();
    for place in &group {
        match conversion(database, *place, form) {
            Ok(form) => columns.push(Conversion {
                table: place.table.name.clone(),
                column: place.column().name.clone(),
                form,
            }),
            Err(reason) => return Some(candidate.rejected(format!("{}: {reason}", place.title()))),
        }
    }
    let mut ids = group
        .iter()
        .filter_map(|place| Ids::of(place.table, place.column()));
    let ids = ids.next()?;
    let kind = ids.kinds.first()?;
    candidate.reason = format!(
        "{} kept as {}; {} bytes as a blob",
        kind.kind,
        kind.form.words(),
        kind.form.bytes()
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
///
/// A column without values gets the form of the others.
fn conversion(
    database: &Database,
    place: Place<'_>,
    form_of_others: Option<Form>,
) -> Result<IdForm, String> {
    let (table, column) = (place.table, place.column());
    let values = &column.values;
    if let Some(reason) = missing(table) {
        return Err(reason);
    }
    let form = match values.present() {
        0 => form_of_others,
        _ => {
            let ids = Ids::of(table, column).ok_or("its values are no ids")?;
            if ids.exceptions > 0 {
                return Err(format!(
                    "{} of {} values are no ids of the form",
                    ids.exceptions,
                    values.present()
                ));
            }
            ids.form()
        }
    };
    let form = form.ok_or("its ids are written in more than one way")?;
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
    if within_expression(&table.sql, name) {
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
    let before_updates = database
        .objects
        .iter()
        .find(|object| runs_before_updates(object, table, name));
    if let Some(trigger) = before_updates {
        return Some(format!("the trigger {} runs before updates", trigger.name));
    }
    let user = user_of_text(&database.schema, &database.uses, &table.name, name)?;
    let words = tokens(user.sql.as_deref().unwrap_or_default());
    let makes_json = words.iter().any(|word| {
        let text = word.text.get(..4).unwrap_or_default();
        text.eq_ignore_ascii_case("json")
    });
    let does = match makes_json {
        true => "makes JSON",
        false => "may need the text",
    };
    Some(format!("the {} {} {does} of it", user.kind, user.name))
}

/// Whether a trigger runs before this column is changed.
fn runs_before_updates(object: &Object, table: &Table, column: &str) -> bool {
    if !object.is_trigger || !object.table.eq_ignore_ascii_case(&table.name) {
        return false;
    }
    let words = tokens(&object.sql);
    let on = words.iter().position(|word| word.is("ON"));
    let event = &words[..on.unwrap_or(words.len())];
    let says = |wanted: &str| event.iter().position(|word| word.is(wanted));
    let is_of_others =
        says("OF").is_some_and(|of| !event[of..].iter().any(|word| word.is_name(column)));
    says("BEFORE").is_some() && says("UPDATE").is_some() && !is_of_others
}
