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
    let slack = map.slack(source)?;
    let is_dense = |root: u32| {
        let tree = roots.iter().position(|own| *own == root);
        tree.is_some_and(|tree| slack.get(tree).is_none_or(|slack| *slack <= SLACK_MAX))
    };
    let written = draft.written_statistics();
    let kept = plans.keep(|root| is_dense(root) || written.contains(&root));
    let kept: BTreeSet<u32> = kept.into_iter().collect();
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
