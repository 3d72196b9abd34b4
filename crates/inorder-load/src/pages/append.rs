//! Builds the trees of a table behind the last page of its database.
//!
//! Nothing refers to the new pages until one small transaction of SQLite writes the root pages, the header and the last
//! page. The writer lock is held from before the first page until the commit, so nobody else makes the database longer. A
//! kill leaves the old content in a file that is longer than its header says, which SQLite ignores.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use inorder_btree::o_direct::DirectIo;
use inorder_btree::{Appended, Builder, Options, Sizes, lock_page};
use rusqlite::{Connection, OpenFlags};

use super::aside::remove_leftover;
use super::build::{Failure, Trees};
use super::install::{check_parents, check_seen, complete, largest_rowid, received_rows};
use super::kept::Kept;
use super::layout::{Layout, TableLayout};
use super::lock::{Locked, lock};
use crate::Error;
use crate::database::{check_schema, failed, open_database};
use crate::encode::Rowids;
use crate::files::{Access, is_named, open_for_good};
use crate::job::Progress;
use crate::raw_pages::{Extension, RawPages};
use crate::row_writer::{Proof, WritePlan};
use crate::schema::Goal;
use crate::sql::quoted;

/// The table of a database that is locked for the load.
pub(super) struct Append {
    connection: Connection,
    path: PathBuf,
    table: String,
    /// The pages of the database, and the bytes of its file.
    sizes: Sizes,
    file_bytes: u64,
    /// The root page of each tree, in the order of their building.
    roots: Vec<u32>,
    /// The largest rowid ever of an AUTOINCREMENT table.
    sequence: Option<i64>,
    has_parents: bool,
    /// Whether rows are read back before the commit.
    is_proven: bool,
    /// The statements after the rows, such as those of indexes that SQLite builds.
    statements_after: Vec<String>,
    file: Arc<File>,
}

/// The bytes of free pages that may stay free.
const FREE_BYTES_MAX: u64 = 1 << 20;

/// As a share of the input's bytes: SQLite fills free pages, so that a table which is emptied and loaded again and again
/// doesn't make the file longer each time.
const FREE_SHARE: u64 = 8;

/// As a share of the database's pages, if rows are merged: the pages of the old trees become free.
const FREE_SHARE_OF_MERGES: u32 = 2;

/// The savepoint before everything that only rows need.
const SAVEPOINT: &str = "inorder_load";

impl Append {
    /// Locks the database and finds the root pages of the table. Returns the reason if it can't be extended.
    ///
    /// # Errors
    /// If the database is locked or was changed since it was described, or can't be read.
    pub(super) fn begin(
        goal: &Goal<'_>,
        layout: &Layout,
        schema_version: i64,
        plan: &WritePlan<'_>,
        input_bytes: u64,
    ) -> Result<Result<Self, String>, Error> {
        let failed = failed(goal.path);
        remove_leftover(goal.path);
        let work = |source| Error::Work {
            path: goal.path.to_owned(),
            source,
        };
        let file = open_for_good(goal.path, Access::Direct).map_err(work)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = open_database(goal.path, flags).map_err(&failed)?;
        let set = connection.busy_timeout(plan.job.busy_timeout);
        set.map_err(&failed)?;
        let locked = match lock(&connection, goal.path, &file)? {
            Ok(locked) => locked,
            Err(why) => return Ok(Err(why)),
        };
        if !is_named(&file, goal.path).map_err(work)? {
            return Ok(Err("another file took its place".to_owned()));
        }
        // A build that failed leaves the flag.
        DirectIo::begin(&file, true).end(&file).map_err(work)?;
        let Locked { sizes, file_bytes } = locked;
        let free_bytes = u64::from(sizes.free_pages) * u64::from(sizes.page_bytes);
        let is_kept_free =
            plan.merges.is_some() && sizes.free_pages <= sizes.pages / FREE_SHARE_OF_MERGES;
        if free_bytes > FREE_BYTES_MAX.max(input_bytes / FREE_SHARE) && !is_kept_free {
            let pages = sizes.free_pages;
            return Ok(Err(format!(
                "it fills the {pages} free pages of the database"
            )));
        }
        check_schema(&connection, goal.path, schema_version)?;
        let mut append = Append {
            path: goal.path.to_owned(),
            table: plan.destination.table.clone(),
            connection,
            sizes,
            file_bytes,
            roots: Vec::new(),
            sequence: None,
            has_parents: false,
            is_proven: plan.is_proven,
            statements_after: Vec::new(),
            file,
        };
        if let Some(first) = goal.first_statements() {
            let run = append.connection.execute_batch(&first);
            run.map_err(&failed)?;
        }
        let prepared = append.prepare(layout, plan)?;
        append
            .statements_after
            .extend(goal.completed.map(str::to_owned));
        Ok(prepared.map(|()| append))
    }

    /// Finds the root pages, and makes room for the largest rowid.
    fn prepare(
        &mut self,
        layout: &Layout,
        plan: &WritePlan<'_>,
    ) -> Result<Result<(), String>, Error> {
        let failed = failed(&self.path);
        for name in layout.tree_names() {
            match self.root(name).map_err(&failed)? {
                Found::Empty(root) => self.roots.push(root),
                Found::Missing => return Ok(Err(format!("it doesn't find the root of {name}"))),
                Found::Filled(root) if plan.merges.is_some() => self.roots.push(root),
                Found::Filled(_) if name == self.table => {
                    return Err(received_rows(&self.path, &self.table));
                }
                Found::Filled(_) => return Ok(Err(format!("the index {name} isn't empty"))),
            }
        }
        for index in &layout.built_after {
            match self.root(&index.name).map_err(&failed)? {
                Found::Empty(_) => self
                    .statements_after
                    .push(format!("REINDEX main.{}", quoted(&index.name))),
                _ => return Ok(Err(format!("the index {} isn't empty", index.name))),
            }
        }
        if plan.merges.is_some() && !self.has_rowids_of(plan).map_err(&failed)? {
            return Err(received_rows(&self.path, &self.table));
        }
        let savepoint = format!("SAVEPOINT {SAVEPOINT}");
        self.connection.execute_batch(&savepoint).map_err(&failed)?;
        if layout.is_counted() {
            if !self.has_plain_sequence().map_err(&failed)? {
                return Ok(Err(
                    "sqlite_sequence has a value that is no integer".to_owned()
                ));
            }
            let largest = largest_rowid(&self.connection, &self.table).map_err(&failed)?;
            let counted_from = plan.rowids.and_then(|rowids| rowids.sequence);
            // Rows that were there and are gone have taken rowids.
            if counted_from.is_some_and(|from| from != largest) {
                return Err(received_rows(&self.path, &self.table));
            }
            self.sequence = Some(largest);
            // No other number takes more bytes. So the right one takes no page more.
            self.note_largest(i64::MAX).map_err(&failed)?;
        }
        let parents = "SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1))";
        let parents = self
            .connection
            .query_row(parents, [&self.table], |row| row.get::<_, bool>(0));
        self.has_parents = parents.map_err(&failed)? && plan.checks_parents;
        let Some(sizes) = self.sizes_now().map_err(&failed)? else {
            return Ok(Err("its header has an old format".to_owned()));
        };
        self.sizes = sizes;
        Ok(Ok(()))
    }

    /// Begins the trees.
    ///
    /// # Errors
    /// Those of [`Builder::append`].
    pub(super) fn builder(
        &self,
        options: Options,
        kept: Option<&Kept>,
    ) -> Result<Builder, Failure> {
        let options = Options {
            page_bytes: self.sizes.page_bytes,
            // Otherwise SQLite reads the rows again, or rows are read by calls that O_DIRECT refuses.
            bypasses_page_cache: !self.reads_rows() && kept.is_none_or(Kept::is_mapped),
            ..options
        };
        let file = Arc::clone(&self.file);
        Ok(Builder::append(
            file,
            options,
            self.sizes.pages,
            self.roots.clone(),
        )?)
    }

    /// The rows that the table has; the largest rowid, if they have rowids of their own.
    ///
    /// # Errors
    /// If the file can't be read.
    pub(super) fn kept(
        &self,
        layout: &Layout,
        largest: Option<i64>,
        why: &str,
    ) -> Result<Kept, Failure> {
        let is_by_rowid = matches!(layout.table, TableLayout::Rowid { .. });
        Kept::new(&self.file, &self.roots, (is_by_rowid, largest), why)
    }

    /// Whether the rowids that rows were given are still free.
    fn has_rowids_of(&self, plan: &WritePlan<'_>) -> rusqlite::Result<bool> {
        let (Some(given), Some(rowid)) = (plan.rowids, plan.destination.rowid) else {
            return Ok(true);
        };
        let name = &plan.destination.columns[rowid].name;
        let is_counted = given.sequence.is_some();
        let now = Rowids::of(&self.connection, &self.table, name, is_counted)?;
        Ok(now == given)
    }

    /// The largest rowid ever of an AUTOINCREMENT table before the load.
    pub(super) fn sequence(&self) -> Option<i64> {
        self.sequence
    }

    /// Makes the trees those of the table.
    ///
    /// # Errors
    /// If a row has no parent, an index can't be built, the proof fails, the database can't be written, or the load is
    /// stopped. The database is then as it was.
    pub(super) fn finish(
        &self,
        trees: Trees,
        kept: Option<&Kept>,
        progress: &Progress,
        proof: Option<Proof<'_>>,
    ) -> Result<(), Failure> {
        let has_rows = trees.rows() > 0;
        match has_rows {
            true => self.enter_trees(trees, kept, progress)?,
            false => {
                // What was created stays.
                let undo = format!("ROLLBACK TO {SAVEPOINT}");
                let undone = self.connection.execute_batch(&undo);
                undone.map_err(failed(&self.path))?;
            }
        }
        if !self.statements_after.is_empty() {
            let statements = self.statements_after.join(";\n");
            complete(&self.connection, &self.path, &statements, progress)?;
        }
        if has_rows && self.reads_rows() {
            check_seen(&self.connection, &self.path, &self.table)?;
        }
        if self.has_parents {
            check_parents(&self.connection, &self.path, &self.table, progress)?;
        }
        if let Some(proof) = proof {
            proof(&self.connection)?;
        }
        let commit = self.connection.execute_batch("COMMIT");
        Ok(commit.map_err(failed(&self.path))?)
    }

    /// Writes what refers to the trees.
    fn enter_trees(
        &self,
        trees: Trees,
        kept: Option<&Kept>,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let largest = trees.largest_rowid();
        let appended = trees.into_appended()?;
        self.file.sync_all()?;
        let last_page = self.last_page(&appended)?;
        progress.check()?;
        let old = kept.map_or(&[][..], Kept::pages);
        self.enter(&appended, last_page.as_deref(), largest, old)?;
        if self.reads_rows() {
            self.forget_roots(&appended)?;
        }
        Ok(())
    }

    /// Whether SQLite reads the rows before the commit.
    fn reads_rows(&self) -> bool {
        self.has_parents || self.is_proven || !self.statements_after.is_empty()
    }

    /// The last page that was written, if any was.
    fn last_page(&self, appended: &Appended) -> std::io::Result<Option<Vec<u8>>> {
        if appended.last < appended.first {
            return Ok(None);
        }
        let page_bytes = u64::from(self.sizes.page_bytes);
        let mut page = vec![0; self.sizes.page_bytes as usize];
        let offset = u64::from(appended.last - 1) * page_bytes;
        self.file.read_exact_at(&mut page, offset)?;
        Ok(Some(page))
    }

    /// Writes what refers to the new pages, and frees old ones.
    fn enter(
        &self,
        appended: &Appended,
        last_page: Option<&[u8]>,
        largest: Option<i64>,
        old: &[u32],
    ) -> Result<(), Error> {
        let failed = failed(&self.path);
        if let (Some(_), Some(largest)) = (self.sequence, largest) {
            self.note_largest(largest).map_err(&failed)?;
        }
        let other_sizes = || Error::Refused {
            what: format!(
                "{}: SQLite took pages during the load; run it again with --writer statements",
                self.path.display()
            ),
        };
        if self.sizes_now().map_err(&failed)? != Some(self.sizes) {
            return Err(other_sizes());
        }
        let raw = RawPages::of(&self.connection).map_err(&failed)?;
        let raw = raw.ok_or_else(other_sizes)?;
        for (root, page) in &appended.roots {
            raw.write(*root, page).map_err(&failed)?;
        }
        if last_page.is_none() && old.is_empty() {
            return Ok(());
        }
        // Blocks are aligned: small pages may be left over before the first one.
        let lock_page = lock_page(self.sizes.page_bytes);
        let between = self.sizes.pages + 1..appended.first;
        let between = between.filter(|page| *page != lock_page);
        let freed: Vec<u32> = old.iter().copied().chain(between).collect();
        let extension = Extension {
            pages: appended.last.max(self.sizes.pages),
            last_page,
            freed: &freed,
            schema_cookie: None,
            usable_bytes: self.sizes.page_bytes as usize,
        };
        match raw.extend(&extension).map_err(&failed)? {
            true => Ok(()),
            false => Err(other_sizes()),
        }
    }

    /// Lets SQLite see the rows: it may have read the root pages before they were replaced.
    fn forget_roots(&self, appended: &Appended) -> Result<(), Error> {
        let raw = RawPages::of(&self.connection);
        let forgotten = raw.and_then(|raw| raw.map_or(Ok(()), |raw| raw.forget(&appended.roots)));
        forgotten.map_err(failed(&self.path))
    }

    /// The sizes in the header, as the transaction has them.
    fn sizes_now(&self) -> rusqlite::Result<Option<Sizes>> {
        let raw = RawPages::of(&self.connection)?;
        let first = raw.map(|raw| raw.read(1)).transpose()?;
        Ok(first.and_then(|first| Sizes::of(&first)))
    }

    /// Finds the root page of a tree.
    fn root(&self, name: &str) -> rusqlite::Result<Found> {
        let root = "SELECT rootpage FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE \
                    AND type IN ('table', 'index')";
        let mut statement = self.connection.prepare(root)?;
        let mut rows = statement.query([name])?;
        let root: u32 = match rows.next()? {
            Some(row) => row.get(0)?,
            None => return Ok(Found::Missing),
        };
        let page = match RawPages::of(&self.connection)? {
            Some(raw) if root > 1 => raw.read(root)?,
            _ => return Ok(Found::Missing),
        };
        Ok(match is_empty_leaf(&page) {
            true => Found::Empty(root),
            false => Found::Filled(root),
        })
    }

    /// Whether the table's row in `sqlite_sequence` has an integer, if there is one.
    fn has_plain_sequence(&self) -> rusqlite::Result<bool> {
        let other = "SELECT count(*) FROM main.sqlite_sequence WHERE name = ?1 AND typeof(seq) <> 'integer'";
        let others: i64 = self
            .connection
            .query_row(other, [&self.table], |row| row.get(0))?;
        Ok(others == 0)
    }

    /// Writes the largest rowid ever of an AUTOINCREMENT table.
    fn note_largest(&self, largest: i64) -> rusqlite::Result<()> {
        let update = "UPDATE main.sqlite_sequence SET seq = ?2 \
                      WHERE rowid = (SELECT min(rowid) FROM main.sqlite_sequence WHERE name = ?1)";
        let parameters = (&self.table, largest);
        if self.connection.execute(update, parameters)? == 0 {
            let insert = "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?1, ?2)";
            self.connection.execute(insert, parameters)?;
        }
        Ok(())
    }
}

impl Drop for Append {
    /// Cuts off what was built, unless it was committed. Without the lock it stays: SQLite ignores it.
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            _ = self.file.set_len(self.file_bytes);
            _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// The root page of a tree.
enum Found {
    /// A leaf page without entries.
    Empty(u32),
    /// A page with entries.
    Filled(u32),
    /// There is none.
    Missing,
}

/// Whether a page is a leaf page without cells. Source: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
fn is_empty_leaf(page: &[u8]) -> bool {
    matches!(page, [10 | 13, _, _, 0, 0, ..])
}
