//! The trees that change, built behind the pages of their own database. The others stay as they are and are not read.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

use inorder_btree::{AutoVacuum, Builder, PageMap, Reader, SchemaEntry, Sizes};
use rusqlite::Connection;

use super::build::{self, Work, build_trees, options};
use super::recipe::Plans;
use super::{Failure, SCHEMA_FORMAT, verify};
use crate::apply::Draft;

/// New trees behind the pages of a database, to which nothing refers yet.
#[derive(Debug)]
pub(crate) struct Extended {
    /// The new schema, with the roots of kept trees and of new ones.
    pub(crate) schema: Vec<SchemaEntry>,
    /// Pages of the database. SQLite may use those between them and the first new tree for the schema.
    pub(crate) database_pages: u32,
    /// The first page of the new trees; one behind the last page where there is none.
    pub(crate) first_tree: u32,
    /// Pages of the file with the new trees.
    pub(crate) pages: u32,
    /// Pages of the trees that are gone, ascending.
    pub(crate) freed: Vec<u32>,
    pub(crate) file: Arc<File>,
}

/// Pages that are left to SQLite, which writes the new schema.
const SCHEMA_PAGES: u32 = 32;

/// A tree is built anew where that saves more than this share of its pages.
const SLACK_MAX: f64 = 0.05;

/// The root of the schema.
const SCHEMA_ROOT: u32 = 1;

/// Keeps the trees that don't change. One of much unused space is built anew only where there is room for that. Returns the
/// roots of kept trees.
fn keep(
    source: &mut Reader,
    plans: &mut Plans,
    (map, roots, sizes): (&PageMap, &[u32], Sizes),
    draft: &Draft,
    work: &Work<'_>,
) -> Result<BTreeSet<u32>, Failure> {
    let slack = map.slack(source)?;
    let is_dense = |root: u32| {
        let tree = roots.iter().position(|own| *own == root);
        tree.is_some_and(|tree| slack.get(tree).is_none_or(|slack| *slack <= SLACK_MAX))
    };
    let written = draft.written_statistics();
    let counts = map.tree_pages(roots.len());
    let pages = |root: u32| {
        let tree = roots.iter().position(|own| *own == root);
        tree.map_or(0, |tree| counts[tree])
    };
    let mut least = plans.clone();
    let mut kept = plans.keep(|root| is_dense(root) || written.contains(&root));
    let is_room = |bytes: u64| work.free_bytes.is_none_or(|free| bytes <= free);
    if !is_room(needed_bytes(plans, sizes, pages, work)) {
        kept = least.keep(|_| true);
        *plans = least;
    }
    let needed_bytes = needed_bytes(plans, sizes, pages, work);
    if !is_room(needed_bytes) {
        return Err(Failure::NoRoom { needed_bytes });
    }
    (work.begins)(needed_bytes);
    Ok(kept.into_iter().collect())
}

/// Bytes that are written beside a database or behind its pages: the new trees, the sorted runs of one of them that exceed
/// the memory, and a journal of the schema and the freelist.
fn needed_bytes(plans: &Plans, sizes: Sizes, pages: impl Fn(u32) -> u64, work: &Work<'_>) -> u64 {
    let page_bytes = u64::from(sizes.page_bytes);
    let (built, sorted) = plans.built_pages(pages);
    let runs = match sorted * page_bytes > work.memory_bytes as u64 {
        true => sorted,
        false => 0,
    };
    let trunks = u64::from(sizes.pages) / (page_bytes / 4);
    let journal = u64::from(SCHEMA_PAGES) + trunks;
    (built + built / 16 + runs + journal) * page_bytes
}

/// Builds and verifies the trees of a draft that differ from those of the database, behind its pages. `file` is the
/// database, opened apart: closing it would give up the process's locks. Returns why it can't be done.
///
/// # Errors
/// As [`copy`](super::copy). The database has its content after each; its file may be longer.
pub(crate) fn extend(
    connection: &Connection,
    source: &mut Reader,
    sizes: Sizes,
    file: Arc<File>,
    draft: &Draft,
    work: &Work<'_>,
) -> Result<Result<Extended, String>, Failure> {
    if source.schema_format() != SCHEMA_FORMAT {
        return Ok(Err("its schema has an old format".to_owned()));
    }
    if work.settings.auto_vacuum != AutoVacuum::None {
        return Ok(Err("it has a pointer map".to_owned()));
    }
    let mut plans = match Plans::new(connection, source, draft, work.settings.encoding)? {
        Ok(plans) => plans,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    if let Some(statement) = plans.statements_after.first() {
        return Ok(Err(format!("SQLite has to run {statement}")));
    }
    let objects = draft.old.objects.iter().map(|object| object.root);
    let roots: Vec<u32> = std::iter::once(SCHEMA_ROOT)
        .chain(objects.filter(|root| *root > 0))
        .collect();
    let map = match PageMap::read(source, sizes.pages, &roots, sizes.free_list) {
        Err(inorder_btree::Error::Malformed { page }) => {
            return Ok(Err(format!("page {page} has no use, or more than one")));
        }
        map => map?,
    };
    let kept = keep(source, &mut plans, (&map, &roots, sizes), draft, work)?;
    let freed = map.pages_of(|tree| tree > 0 && !kept.contains(&roots[tree]));
    if plans.trees() == 0 {
        return Ok(Ok(Extended {
            schema: build::schema(&plans, &[]),
            database_pages: sizes.pages,
            first_tree: sizes.pages + 1,
            pages: sizes.pages,
            freed,
            file,
        }));
    }
    let before = sizes.pages + SCHEMA_PAGES;
    let builder = Builder::extend(file, options(source, &plans, work), before)?;
    let first_tree = builder.first_root().unwrap_or(before + 1);
    let (builder, schema, built) = match build_trees(source, &plans, builder, work) {
        Err(Failure::ShortRow) => return Ok(Err(Failure::ShortRow.to_string())),
        built => built?,
    };
    let (file, pages) = builder.finish_trees()?;
    let mut new = Reader::direct(file)?;
    verify::verify(&mut new, &plans, &built)?;
    Ok(Ok(Extended {
        schema,
        database_pages: sizes.pages,
        first_tree,
        pages,
        freed,
        file: new.into_file(),
    }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::OpenFlags;

    use super::*;
    use crate::Change;
    use crate::apply::Settings;

    /// What becomes of changes of a database whose disk has this room: the bytes that were told before the work began, or
    /// those that it would have needed.
    fn needed(path: &Path, changes: &[Change], free_bytes: u64) -> Result<u64, u64> {
        let connection = inorder_sqlite::open(path, OpenFlags::default()).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        let draft = Draft::new(&connection, changes).unwrap();
        let settings = Settings::read(&connection).unwrap().changed(&draft);
        let told = std::cell::Cell::new(None);
        let work = Work {
            settings: &settings,
            memory_bytes: 1 << 16,
            folder: path.parent().unwrap(),
            is_verified: true,
            look: &|| Ok(()),
            free_bytes: Some(free_bytes),
            begins: &|bytes| told.set(Some(bytes)),
        };
        let file = File::options().read(true).write(true).open(path).unwrap();
        let file = Arc::new(file);
        let mut reader = Reader::mapped(Arc::clone(&file)).unwrap();
        let sizes = Sizes::of(&std::fs::read(path).unwrap()[..100]).unwrap();
        let bytes = file.metadata().unwrap().len();
        let made = extend(
            &connection,
            &mut reader,
            sizes,
            Arc::clone(&file),
            &draft,
            &work,
        );
        let grown = file.metadata().unwrap().len() - bytes;
        file.set_len(bytes).unwrap();
        match made {
            Ok(made) => {
                made.unwrap();
                let told = told.get().unwrap();
                assert!(
                    grown <= told + u64::from(sizes.page_bytes),
                    "{grown} {told}"
                );
                Ok(told)
            }
            Err(Failure::NoRoom { needed_bytes }) => {
                assert_eq!((grown, told.get()), (0, None));
                Err(needed_bytes)
            }
            Err(failure) => panic!("{failure}"),
        }
    }

    #[test]
    fn what_does_not_change_is_built_anew_only_where_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db");
        let database = inorder_sqlite::open(&path, OpenFlags::default()).unwrap();
        let sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, k TEXT); CREATE INDEX i ON t(k); CREATE INDEX j ON t(k, id);
            CREATE TABLE u(k TEXT NOT NULL PRIMARY KEY, v);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
              INSERT INTO t SELECT i, printf('%08x', i * 2654435761 % 4294967296) FROM n;
            INSERT INTO u SELECT k, 'value ' || id FROM t WHERE id % 2";
        database.execute_batch(sql).unwrap();
        drop(database);
        let bytes = path.metadata().unwrap().len();
        let index = [Change::DropIndex { index: "i".into() }];
        let with_room = needed(&path, &index, u64::MAX).unwrap();
        let without = needed(&path, &index, 200_000).unwrap();
        assert!(
            with_room > 200_000 && without < 200_000,
            "{with_room} {without}"
        );
        assert!(needed(&path, &index, 1000).is_err(), "not even the journal");
        let layout = [Change::WithoutRowid { table: "u".into() }];
        let least = needed(&path, &layout, 0).unwrap_err();
        assert!(least > 100_000 && least < bytes, "{least} of {bytes}");
        assert!(needed(&path, &layout, least - 1).is_err());
        assert_eq!(needed(&path, &layout, least), Ok(least));
    }
}
