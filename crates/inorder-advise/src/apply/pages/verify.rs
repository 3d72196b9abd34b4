//! Proof that a file that was built has the rows it should, in time linear in its size.
//!
//! - Each tree is read back and has the records that were written, in their order.
//! - A table that changed has the same rows as before: value by value, each layout read as SQLite reports it.
//! - Each index of such a table has exactly the entries that its rows have.
//!
//! The order of an index's entries was checked when they were written. With the schema, this also proves that the same
//! rows violate foreign keys, and that an FTS index points at the same rows.

use inorder_btree::record::{Fields, Record};
use inorder_btree::{Reader, Value};
use rusqlite::Connection;

use super::Failure;
use super::build::{Built, Tree};
use super::digest::{self, InOrder, Sum};
use super::recipe::{Plans, Recipe, Shape, Source, is_changed};
use crate::IdForm;
use crate::apply::{Draft, Object, ids};
use crate::ddl::{Catalog, Index};

/// Verifies a file. `connection` and `old` read the database as it was.
///
/// # Errors
/// [`Failure::Unproven`] where the file isn't what it should be; what reading brings.
pub(super) fn verify(
    connection: &Connection,
    old: &mut Reader,
    new: &mut Reader,
    draft: &Draft,
    plans: &Plans,
    built: &Built,
) -> Result<(), Failure> {
    for (plan, tree) in plans.plans.iter().zip(&built.trees) {
        let (Some(_), Some(tree)) = (&plan.recipe, tree) else {
            continue;
        };
        let mut read = InOrder::default();
        each(new, tree.source, |rowid, record| read.add(rowid, record))?;
        if read != tree.written {
            return Err(unproven(
                &plan.object,
                "other entries were read back than written",
            ));
        }
    }
    let changed = |plan: &&super::recipe::Plan| {
        plan.object.kind == "table" && plan.recipe.is_some() && is_changed(draft, &plan.object)
    };
    for plan in plans.plans.iter().filter(changed) {
        table(connection, old, new, draft, plans, built, &plan.object)?;
    }
    Ok(())
}

fn unproven(object: &Object, what: &str) -> Failure {
    Failure::Unproven(format!("the {} {}: {what}", object.kind, object.name))
}

fn each(
    reader: &mut Reader,
    source: Source,
    mut add: impl FnMut(i64, &[u8]),
) -> Result<(), Failure> {
    match source.is_table {
        true => reader.table(source.root, |rowid, record| {
            add(rowid, record);
            Ok::<_, Failure>(())
        }),
        false => reader.index(source.root, |record| {
            add(0, record);
            Ok::<_, Failure>(())
        }),
    }
}

/// An index whose entries are compared with the rows of its table.
struct Compared<'a> {
    index: &'a Index,
    source: Source,
    expected: Sum,
    is_partial: bool,
}

/// Compares a table that changed, and its indexes, with what it was.
fn table(
    connection: &Connection,
    old: &mut Reader,
    new: &mut Reader,
    draft: &Draft,
    plans: &Plans,
    built: &Built,
    object: &Object,
) -> Result<(), Failure> {
    let root = draft
        .old
        .find("table", &object.name)
        .map(|table| table.root);
    let root = root.ok_or_else(|| unproven(object, "it was not there before"))?;
    let old_catalog = Catalog::read(connection, &object.name)?;
    let old_layout = Layout::new(&old_catalog, root, draft);
    let statements = draft.new.statements(&object.name);
    let statements = statements.ok_or_else(|| unproven(object, "it has no definition"))?;
    let new_catalog = statements.catalog()?;
    let (_, own) = tree(plans, built, "table", &object.name)
        .ok_or_else(|| unproven(object, "it is missing"))?;
    let mut new_layout = Layout::new(&new_catalog, own.source.root, draft);
    new_layout.forms.fill(None);
    let keeps_rowid = !draft.rekeyed.contains(&object.name);
    let mut before = Sum::default();
    let mut fields = Fields::default();
    let mut is_short = false;
    each(old, old_layout.shape.source, |rowid, record| {
        fields.read(record);
        is_short |= old_layout.is_short(&fields, record);
        before.add(old_layout.row(&fields, rowid, record, keeps_rowid));
    })?;
    let mut indexes = compared(&new_catalog, plans, built);
    // Indexes of expressions or conditions, and those of rows that lack columns, were copied as they are.
    indexes.retain(|own| {
        let is_conditional = own.index.is_partial && !own.is_partial;
        !is_short && !is_conditional && new_layout.has_all(own.index)
    });
    let mut after = Sum::default();
    each(new, new_layout.shape.source, |rowid, record| {
        fields.read(record);
        after.add(new_layout.row(&fields, rowid, record, keeps_rowid));
        for own in &mut indexes {
            new_layout.add_entry(own, &fields, rowid, record);
        }
    })?;
    if before != after {
        let (before, after) = (before.rows, after.rows);
        return Err(unproven(
            object,
            &format!("it has other rows: {before} before, {after} after"),
        ));
    }
    indexes.iter().try_for_each(|own| check_entries(new, own))
}

/// The planned tree of an object, and the one that was built.
fn tree<'a>(
    plans: &'a Plans,
    built: &'a Built,
    kind: &str,
    name: &str,
) -> Option<(&'a super::recipe::Plan, &'a Tree)> {
    let mut trees = plans.plans.iter().zip(&built.trees);
    let (plan, tree) = trees.find(|(plan, _)| plan.object.is(kind, name))?;
    Some((plan, tree.as_ref()?))
}

/// The indexes of a table that have trees here; SQLite makes others.
fn compared<'a>(catalog: &'a Catalog, plans: &Plans, built: &Built) -> Vec<Compared<'a>> {
    let compare = |index: &'a Index| {
        let (plan, tree) = tree(plans, built, "index", &index.name)?;
        Some(Compared {
            index,
            source: tree.source,
            expected: Sum::default(),
            is_partial: matches!(plan.recipe, Some(Recipe::NotNull(_))),
        })
    };
    catalog.indexes.iter().filter_map(compare).collect()
}

/// Compares the entries of an index with those that its table's rows have.
fn check_entries(new: &mut Reader, own: &Compared<'_>) -> Result<(), Failure> {
    let mut found = Sum::default();
    each(new, own.source, |_, entry| found.add(entry_digest(entry)))?;
    match found == own.expected {
        true => Ok(()),
        false => Err(Failure::Unproven(format!(
            "the index {} has other entries than its table has rows",
            own.index.name
        ))),
    }
}

fn entry_digest(entry: &[u8]) -> u64 {
    let values = Record::parse(entry).map(|record| record.values());
    // What is no record is not what any row gives.
    values.map_or(u64::MAX, |values| values.fold(0, digest::value))
}

/// How a table's rows are read.
struct Layout {
    shape: Shape,
    /// The form of the ids that each column is converted from.
    forms: Vec<Option<IdForm>>,
}

impl Layout {
    fn new(catalog: &Catalog, root: u32, draft: &Draft) -> Self {
        let conversions = draft
            .conversions
            .get(&catalog.name)
            .map_or(&[][..], Vec::as_slice);
        let form = |column: &crate::ddl::Column| {
            let conversion = conversions.iter().find(|(name, _)| *name == column.name);
            conversion.map(|(_, form)| *form)
        };
        Layout {
            shape: Shape::new(catalog, root),
            forms: catalog.columns.iter().map(form).collect(),
        }
    }

    fn is_short(&self, fields: &Fields, record: &[u8]) -> bool {
        let last = self.shape.last_field;
        last.is_some_and(|last| fields.value(record, last).is_none())
    }

    /// Whether all terms of an index are in the rows.
    fn has_all(&self, index: &Index) -> bool {
        index
            .terms
            .iter()
            .all(|term| match usize::try_from(term.column) {
                Ok(column) => {
                    self.shape.fields[column].is_some() || self.shape.alias == Some(column)
                }
                Err(_) => term.column == -1,
            })
    }

    /// The digest of a row's columns in the order of the table's definition.
    fn row(&self, fields: &Fields, rowid: i64, record: &[u8], keeps_rowid: bool) -> u64 {
        let mut digest = match keeps_rowid {
            true => digest::value(0, Value::Integer(rowid)),
            false => 0,
        };
        for (column, form) in self.forms.iter().enumerate() {
            let Some(value) = self.value(column, fields, rowid, record) else {
                continue;
            };
            digest = match (form, value) {
                (Some(form), Value::Text(text)) => match ids::to_blob(text, *form) {
                    Some(blob) => digest::value(digest, Value::Blob(&blob)),
                    None => digest::value(digest, value),
                },
                _ => digest::value(digest, value),
            };
        }
        digest
    }

    /// A column's value; none where it is computed.
    #[inline]
    fn value<'a>(
        &self,
        column: usize,
        fields: &Fields,
        rowid: i64,
        record: &'a [u8],
    ) -> Option<Value<'a>> {
        if self.shape.alias == Some(column) {
            return Some(Value::Integer(rowid));
        }
        let field = self.shape.fields[column]?;
        Some(fields.value(record, field).unwrap_or(Value::Null))
    }

    /// Adds the entry that a row has in an index.
    fn add_entry(&self, own: &mut Compared<'_>, fields: &Fields, rowid: i64, record: &[u8]) {
        let value = |column: i64| match usize::try_from(column) {
            Ok(column) => self
                .value(column, fields, rowid, record)
                .unwrap_or(Value::Null),
            Err(_) => Value::Integer(rowid),
        };
        let terms = &own.index.terms;
        let is_left_out = own.is_partial
            && terms
                .first()
                .is_none_or(|term| value(term.column) == Value::Null);
        if !is_left_out {
            let digest = terms
                .iter()
                .fold(0, |digest, term| digest::value(digest, value(term.column)));
            own.expected.add(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::Change;
    use crate::apply::Settings;
    use crate::apply::pages::build::{Work, build};
    use crate::apply::pages::recipe::Plans;

    /// Rows whose texts are found in the file, and an index of them.
    const SCHEMA: &str = "CREATE TABLE t(k TEXT PRIMARY KEY, v TEXT); CREATE INDEX i ON t(v);
        CREATE TABLE u(a); INSERT INTO t VALUES ('key', 'value'), ('other', 'thing'); INSERT INTO u VALUES ('copied');";

    /// Builds a file, replaces one text in it, and verifies it.
    fn verified(from: &str, to: &str) -> Result<(), Failure> {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
        let connection = Connection::open(&old).expect("a database");
        connection.execute_batch(SCHEMA).expect("made");
        let changes = [Change::WithoutRowid { table: "t".into() }];
        let draft = Draft::new(&connection, &changes).expect("a draft");
        let settings = Settings::read(&connection).expect("settings");
        let work = Work {
            settings: &settings,
            memory_bytes: 1 << 20,
            folder: folder.path(),
            is_verified: true,
            look: &|| Ok(()),
        };
        let mut reader = Reader::new(File::open(&old).expect("opened")).expect("a header");
        let plans = Plans::new(&connection, &draft, settings.encoding).expect("read");
        let plans = plans.expect("no obstacle");
        let file = File::create_new(&new).expect("created");
        let built = build(&mut reader, &plans, file, &work).expect("built");
        let mut bytes = std::fs::read(&new).expect("read");
        let at = bytes
            .windows(from.len())
            .rposition(|window| window == from.as_bytes());
        let at = at.expect("the text");
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        std::fs::write(&new, bytes).expect("written");
        let mut made = Reader::new(File::open(&new).expect("opened")).expect("a header");
        verify(&connection, &mut reader, &mut made, &draft, &plans, &built)
    }

    #[test]
    fn every_changed_byte_of_a_row_or_an_entry_is_found() {
        verified("value", "value").expect("nothing is changed");
        for (from, to) in [
            ("keyvalue", "keyvalux"),
            ("thingother", "thinkother"),
            ("copied", "copiee"),
        ] {
            let failure = verified(from, to).expect_err("it is changed");
            assert!(matches!(failure, Failure::Unproven(_)), "{from}: {failure}");
        }
    }
}
