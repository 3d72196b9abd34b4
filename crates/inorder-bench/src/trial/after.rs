//! Checks and measurements after the load: stored rows, look-ups, page structure, VACUUM.

use super::{
    found::{Probes, Texts, is_alone, observable},
    reads,
    subject::{Subject, equals},
};
use crate::{error::Error, host, results::Sample};
use inorder_engine::Tree;

/// Keys read back where an index finds them, and where each is a scan of the table.
const READ_BACK: (usize, usize) = (256, 2);
/// Leaf pages in a map of page fill; a larger tree's neighbours are averaged.
const LEAVES_MAX: usize = 512;

/// Takes every probe that isn't sampled during the load. `is_first` adds those that are the same in
/// every repetition or change the database: the map of page fill, VACUUM.
///
/// # Errors
/// If stored rows are missing or the database fails.
pub fn look(
    subject: &Subject<'_>,
    is_first: bool,
    samples: &mut Vec<Sample>,
) -> Result<Texts, Error> {
    let mut probes = Probes::new(subject.setup.rows, samples);
    // A server's memory is shared by its processes: there is no sum of them.
    let own_memory = host::peak_memory_bytes().filter(|_| is_alone(subject.database));
    probes.push("peak_memory_bytes", "", own_memory.map(|b| b as f64));
    check_rows(subject, &mut probes)?;
    for shard in subject.database.shards(subject.table)? {
        probes.push("shard_rows", &shard.name, Some(shard.rows as f64));
    }
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

/// Counts the stored rows and reads a sample of them back.
fn check_rows(subject: &Subject<'_>, probes: &mut Probes<'_>) -> Result<(), Error> {
    let stored = subject.database.count(subject.table)?;
    // The rows of the load: what is measured per row is.
    let loaded = stored as i64 - subject.rows_added;
    probes.push("rows_stored", "", Some(loaded as f64));
    let before = subject.setup.rows_before;
    if before > 0 {
        probes.push("rows_before", "", Some(before as f64));
    }
    let wanted = (subject.setup.rows_at_end() as i64 + subject.rows_added) as u64;
    if stored != wanted {
        return Err(Error::Trial(format!(
            "table `{}` holds {stored} rows after {wanted} were inserted",
            subject.table
        )));
    }
    for (table, per_row) in &subject.members {
        let (stored, wanted) = (subject.database.count(&table.name)?, wanted * per_row);
        probes.push("rows_stored", &table.name, Some(stored as f64));
        if stored != wanted {
            return Err(Error::Trial(format!(
                "table `{}` holds {stored} rows after {wanted} were inserted",
                table.name
            )));
        }
    }
    let query = format!(
        "SELECT {} FROM {} WHERE {}",
        subject.by_sql.join(", "),
        subject.table_sql,
        equals(&subject.by_sql)
    );
    let mut reader = subject.database.reader(&query)?;
    let wanted = match subject.lookup.is_indexed {
        true => READ_BACK.0,
        false => READ_BACK.1,
    };
    let kept = subject.kept.rows();
    for row in (0..kept).step_by(kept.div_ceil(wanted).max(1)) {
        let found = reader.query(&subject.kept, row)?;
        let wrong = match found {
            0 => "isn't found again",
            1 => continue,
            _ if !subject.lookup.is_unique => continue,
            _ => "is found more than once",
        };
        return Err(Error::Trial(format!(
            "a key that was inserted into `{}` {wrong} ({} = {:?})",
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
