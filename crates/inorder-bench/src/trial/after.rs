//! What is looked at once the load is done: are the rows there, and how do they lie on their pages?

use super::{Subject, equals, reads};
use crate::{error::Error, host, results::Sample};
use inorder_engine::{Database, Tree};

/// Keys read back where an index finds them, and where each is a scan of the table.
const READ_BACK: (usize, usize) = (256, 2);
/// Leaf pages in a map of page fill; a larger tree's neighbours are averaged.
const LEAVES_MAX: usize = 512;

/// Texts that a trial found: name and lines.
pub type Texts = Vec<(String, String)>;

/// Takes every probe that isn't sampled during the load. `is_first` adds those that are the same in
/// every repetition or change the database: the map of page fill, VACUUM.
///
/// # Errors
/// When stored rows are missing or the database fails.
pub fn look(
    subject: &Subject<'_>,
    is_first: bool,
    samples: &mut Vec<Sample>,
) -> Result<Texts, Error> {
    let mut probes = Probes {
        rows: subject.setup.rows,
        samples,
    };
    // A server's memory is shared by its processes: there is no sum of them.
    let own_memory = host::peak_memory_bytes().filter(|_| is_alone(subject.database));
    probes.push("peak_memory_bytes", "", own_memory.map(|b| b as f64));
    check_rows(subject, &mut probes)?;
    let trees = observable(subject.database.structure())?;
    probes.push_size("size_bytes", trees.as_deref(), subject.database)?;
    if let Some(trees) = trees {
        probes.push_shape(&trees);
        if is_first {
            push_page_fill(subject, &trees, &mut probes)?;
        }
    }
    let texts = reads::read(subject, &mut probes)?;
    if is_first {
        push_vacuumed(subject, &mut probes)?;
    }
    Ok(texts)
}

/// Sizes once the database is rewritten without free space.
fn push_vacuumed(subject: &Subject<'_>, probes: &mut Probes<'_>) -> Result<(), Error> {
    if observable(subject.database.vacuum())?.is_none() {
        probes.push("size_vacuumed_bytes", "", None);
        return Ok(());
    }
    subject.database.quiesce()?;
    let trees = observable(subject.database.structure())?;
    probes.push_size("size_vacuumed_bytes", trees.as_deref(), subject.database)
}

/// Whether all the engine does is done by this process.
fn is_alone(database: &dyn Database) -> bool {
    database.is_in_sight() && database.processes().is_empty()
}

/// What an engine can't do is unobservable.
fn observable<T>(result: Result<T, inorder_engine::Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(inorder_engine::Error::Unsupported { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Counts the stored rows and reads a sample of them back.
fn check_rows(subject: &Subject<'_>, probes: &mut Probes<'_>) -> Result<(), Error> {
    let stored = subject.database.count(subject.table)?;
    probes.push("rows_stored", "", Some(stored as f64));
    if stored != subject.setup.rows {
        return Err(Error::Trial(format!(
            "table `{}` holds {stored} rows after {} were inserted",
            subject.table, subject.setup.rows
        )));
    }
    let query = format!(
        "SELECT {} FROM {} WHERE {}",
        subject.by_sql.join(", "),
        subject.table_sql,
        equals(&subject.by_sql)
    );
    let mut reader = subject.database.reader(&query)?;
    let wanted = if subject.by_is_indexed {
        READ_BACK.0
    } else {
        READ_BACK.1
    };
    let kept = subject.kept.rows();
    for row in (0..kept).step_by(kept.div_ceil(wanted).max(1)) {
        if reader.query(&subject.kept, row)? == 0 {
            return Err(Error::Trial(format!(
                "a key that was inserted into `{}` isn't found again ({} = {:?})",
                subject.table,
                subject.by.join(", "),
                subject
                    .kept
                    .columns
                    .iter()
                    .map(|c| c.value(row))
                    .collect::<Vec<_>>()
            )));
        }
    }
    Ok(())
}

/// The fill of the leaf pages of the tree that rows are found by.
fn push_page_fill(
    subject: &Subject<'_>,
    trees: &[Tree],
    probes: &mut Probes<'_>,
) -> Result<(), Error> {
    // The key's own index where there is one, else the table (WITHOUT ROWID, integer key).
    let own = |tree: &&Tree| tree.table == subject.table;
    let automatic = |tree: &&Tree| tree.is_index && tree.name.starts_with("sqlite_autoindex");
    let Some(tree) = trees
        .iter()
        .filter(own)
        .find(automatic)
        .or_else(|| trees.iter().filter(own).find(|tree| !tree.is_index))
    else {
        return Ok(());
    };
    let leaves = subject.database.page_fill(&tree.name)?.leaves;
    let together = leaves.len().div_ceil(LEAVES_MAX).max(1);
    for (position, group) in leaves.chunks(together).enumerate() {
        let fill: f32 = group.iter().map(|(_, fill)| fill).sum();
        probes.push(
            "page_fill_share",
            &format!("{}/{position:06}", tree.name),
            Some(f64::from(fill) / group.len() as f64),
        );
    }
    Ok(())
}

/// Samples of the state after the load.
pub(super) struct Probes<'a> {
    rows: u64,
    samples: &'a mut Vec<Sample>,
}

impl Probes<'_> {
    /// One value; `None` is unobservable.
    pub fn push(&mut self, probe: &str, part: &str, value: Option<f64>) {
        self.samples.push(Sample {
            probe: probe.to_owned(),
            part: part.to_owned(),
            rows: self.rows,
            value,
        });
    }

    /// Sizes: the whole, each tree, and what belongs to none (free pages, the log).
    fn push_size(
        &mut self,
        probe: &str,
        trees: Option<&[Tree]>,
        database: &dyn Database,
    ) -> Result<(), Error> {
        let size_bytes = observable(database.size_bytes())?;
        self.push(probe, "", size_bytes.map(|bytes| bytes as f64));
        let (Some(trees), Some(size_bytes)) = (trees, size_bytes) else {
            return Ok(());
        };
        let in_trees: u64 = trees.iter().map(|tree| tree.size_bytes).sum();
        for tree in trees {
            self.push(probe, &part(tree), Some(tree.size_bytes as f64));
        }
        let free = size_bytes.saturating_sub(in_trees);
        self.push(probe, "free", Some(free as f64));
        Ok(())
    }

    /// How each tree lies on its pages; the whole's fill is by pages.
    fn push_shape(&mut self, trees: &[Tree]) {
        let pages: u64 = trees.iter().map(|tree| tree.pages).sum();
        let filled: Option<f64> = trees
            .iter()
            .filter(|tree| tree.pages > 0)
            .map(|tree| Some(tree.fill? * tree.pages as f64))
            .sum();
        let whole = filled.filter(|_| pages > 0);
        self.push("fill_share", "", whole.map(|filled| filled / pages as f64));
        for tree in trees {
            let part = part(tree);
            self.push("pages", &part, Some(tree.pages as f64));
            self.push(
                "overflow_pages",
                &part,
                tree.overflow_pages.map(|n| n as f64),
            );
            self.push("depth_levels", &part, tree.depth.map(f64::from));
            self.push("fanout_children", &part, tree.fanout);
            self.push("fill_share", &part, tree.fill);
        }
    }
}

fn part(tree: &Tree) -> String {
    let kind = if tree.is_index { "index" } else { "table" };
    format!("{kind}:{}", tree.name)
}
