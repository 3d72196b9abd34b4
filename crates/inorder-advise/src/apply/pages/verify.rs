//! Proof that a file that was built has the rows it should, by reading each of its trees once.
//!
//! - A tree that was copied is read back and has the records that were written, in their order.
//! - A table that changed has the same rows as before: value by value, each layout read as SQLite reports it. The old rows
//!   are added up while the file is built, always from the old table, also where its rows come from an index.
//! - Each index of such a table has exactly the entries that its rows have.
//!
//! Rows are compared by 64-bit digests: a lost, doubled or changed row stays unseen by one accident in 2^64. The order of
//! an index's entries was checked when they were written. With the schema, this also proves that the same rows violate
//! foreign keys, and that an FTS index points at the same rows.

use inorder_btree::record::Fields;
use inorder_btree::{Reader, Value};

use super::Failure;
use super::build::{Built, Tree};
use super::digest::{self, InOrder, Sum};
use super::recipe::{Change, Plan, Plans};
use super::shape::{Place, Source, needed};
use crate::apply::Object;
use crate::ddl::Index;

/// Verifies a file. Each of its trees is read once.
///
/// # Errors
/// [`Failure::Unproven`] where the file isn't what it should be; what reading brings.
pub(super) fn verify(new: &mut Reader, plans: &Plans, built: &Built) -> Result<(), Failure> {
    let mut is_compared = vec![false; plans.plans.len()];
    // Tables come before their indexes.
    for (at, (plan, tree)) in plans.plans.iter().zip(&built.trees).enumerate() {
        let Some(tree) = tree.as_ref().filter(|_| !is_compared[at]) else {
            continue;
        };
        if let Some(change) = &plan.change {
            table(new, plans, built, plan, tree, change, &mut is_compared)?;
            continue;
        }
        let Some(written) = tree.written else {
            return Err(unproven(&plan.object, "it is compared with nothing"));
        };
        let mut read = InOrder::default();
        each(new, tree.source, |rowid, record| read.add(rowid, record))?;
        if read != written {
            return Err(unproven(
                &plan.object,
                "other entries were read back than written",
            ));
        }
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
    name: &'a str,
    source: Source,
    /// Where the values of an entry are in a row.
    places: Vec<Place>,
    expected: Sum,
    is_partial: bool,
}

/// Compares a table that changed, and its indexes, with what it was.
fn table(
    new: &mut Reader,
    plans: &Plans,
    built: &Built,
    plan: &Plan,
    tree: &Tree,
    change: &Change,
    is_compared: &mut [bool],
) -> Result<(), Failure> {
    let layout = &change.new;
    let mut indexes = Vec::new();
    for index in &change.indexes {
        // Indexes of expressions or conditions, and those of rows that lack columns, were copied as they are.
        let places = layout.places(index).filter(|_| !tree.before.is_short);
        let Some((at, own)) = places.and_then(|places| compared(index, places, plans, built))
        else {
            continue;
        };
        if !index.is_partial || own.is_partial {
            is_compared[at] = true;
            indexes.push(own);
        }
    }
    let (mut after, mut fields) = (Sum::default(), Fields::default());
    let places = indexes.iter().flat_map(|own| &own.places);
    let of_indexes = places.filter_map(|place| place.field());
    let needed = layout.needed().max(needed(of_indexes));
    each(new, tree.source, |rowid, record| {
        fields.read_first(record, needed);
        after.add(layout.row(&fields, rowid, record));
        for own in &mut indexes {
            own.add(&fields, rowid, record);
        }
    })?;
    let before = tree.before.sum;
    if before != after {
        let (before, after) = (before.rows, after.rows);
        return Err(unproven(
            &plan.object,
            &format!("it has other rows: {before} before, {after} after"),
        ));
    }
    indexes.iter().try_for_each(|own| check_entries(new, own))
}

/// The tree of an index here, and its place among the plans; SQLite makes others.
fn compared<'a>(
    index: &'a Index,
    places: Vec<Place>,
    plans: &Plans,
    built: &Built,
) -> Option<(usize, Compared<'a>)> {
    let mut plans = plans.plans.iter();
    let at = plans.position(|plan| plan.object.is("index", &index.name))?;
    Some((at, built.trees[at].as_ref()?)).map(|(at, tree)| {
        let compared = Compared {
            name: &index.name,
            source: tree.source,
            places,
            expected: Sum::default(),
            is_partial: tree.is_not_null,
        };
        (at, compared)
    })
}

impl Compared<'_> {
    /// Adds the entry that a row has in the index.
    #[inline]
    fn add(&mut self, fields: &Fields, rowid: i64, record: &[u8]) {
        let value = |place: &Place| place.value(fields, rowid, record);
        let is_null = |place: &Place| value(place) == Value::Null;
        if self.is_partial && self.places.first().is_none_or(is_null) {
            return;
        }
        let values = self.places.iter().map(value);
        self.expected.add(values.fold(0, digest::value));
    }
}

/// Compares the entries of an index with those that its table's rows have.
fn check_entries(new: &mut Reader, own: &Compared<'_>) -> Result<(), Failure> {
    let (mut found, mut fields) = (Sum::default(), Fields::default());
    each(new, own.source, |_, entry| {
        fields.read(entry);
        // What is no record is not what any row gives.
        let values = fields.values(entry);
        found.add(values.map_or(u64::MAX, |values| values.fold(0, digest::value)));
    })?;
    match found == own.expected {
        true => Ok(()),
        false => Err(Failure::Unproven(format!(
            "the index {} has other entries than its table has rows",
            own.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rusqlite::Connection;

    use super::*;
    use crate::Change;
    use crate::apply::pages::build::{Work, build};
    use crate::apply::pages::recipe::Plans;
    use crate::apply::{Draft, Settings};

    /// Rows whose texts are found in the file, and an index of them.
    const SCHEMA: &str = "CREATE TABLE t(k TEXT PRIMARY KEY, v TEXT); CREATE INDEX i ON t(v);
        CREATE TABLE u(a); INSERT INTO t VALUES ('key', 'value'), ('other', 'thing'); INSERT INTO u VALUES ('copied');
        CREATE TABLE r(id INT PRIMARY KEY, a, b, c); INSERT INTO r VALUES (7, 'first', 'second', 1.5);";

    /// Builds a file, replaces some bytes in it, and verifies it.
    fn verified(from: &[u8], to: &[u8]) -> Result<(), Failure> {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
        let connection = Connection::open(&old).expect("a database");
        connection.execute_batch(SCHEMA).expect("made");
        let by_number = Change::IntegerPrimaryKey {
            table: "r".into(),
            column: "id".into(),
        };
        let changes = [Change::WithoutRowid { table: "t".into() }, by_number];
        let draft = Draft::new(&connection, &changes).expect("a draft");
        let settings = Settings::read(&connection).expect("settings");
        let work = Work {
            settings: &settings,
            memory_bytes: 1 << 20,
            folder: folder.path(),
            is_verified: true,
            look: &|| Ok(()),
            free_bytes: None,
            begins: &|_| (),
        };
        let mut reader = Reader::mapped(File::open(&old).expect("opened")).expect("a header");
        let plans = Plans::new(&connection, &mut reader, &draft, settings.encoding).expect("read");
        let plans = plans.expect("no obstacle");
        let file = File::create_new(&new).expect("created");
        let built = build(&mut reader, &plans, file, &work).expect("built");
        let mut bytes = std::fs::read(&new).expect("read");
        let at = bytes.windows(from.len()).rposition(|window| window == from);
        let at = at.expect("the bytes");
        bytes[at..at + to.len()].copy_from_slice(to);
        std::fs::write(&new, bytes).expect("written");
        let mut made = Reader::new(File::open(&new).expect("opened")).expect("a header");
        verify(&mut made, &plans, &built)
    }

    #[test]
    fn every_changed_byte_of_a_row_or_an_entry_is_found() {
        verified(b"value", b"value").expect("nothing is changed");
        let bytes: [(&[u8], &[u8]); 6] = [
            (b"keyvalue", b"keyvalux"),
            (b"thingother", b"thinkother"),
            (b"copied", b"copiee"),
            (b"firstsecond", b"firstsecone"),
            // The serial types of 5 and 6 letters: the same letters in other values.
            (&[0, 23, 25, 7], &[0, 25, 23, 7]),
            // A blob of as many bytes.
            (&[0, 23, 25, 7], &[0, 22, 25, 7]),
        ];
        for (from, to) in bytes {
            let failure = verified(from, to).expect_err("it is changed");
            assert!(
                matches!(failure, Failure::Unproven(_)),
                "{from:?}: {failure}"
            );
        }
    }
}
