//! The way in InnoDB: the new column is added instantly, indexes and the primary key are built online (INPLACE, LOCK=NONE), and
//! the old column is dropped instantly.
//!
//! The rows of a table are stored by the primary key, so another one builds the table again: <https://mariadb.com/kb/en/innodb-online-ddl-operations-with-the-inplace-alter-algorithm/>.

use super::steps::{Moved, Particulars, Phase, Step, Way};

/// The clauses of a statement that lets others read and write.
const ONLINE: &str = "ALGORITHM=INPLACE, LOCK=NONE";

pub const PARTICULARS: Particulars = Particulars {
    engine: "mariadb",
    phases: |way| Ok(phases(way)),
    lock_wait: Some("SET SESSION lock_wait_timeout = 60"),
    begins_each: false,
    is_stored_by_key: true,
};

fn phases(way: &Way<'_>) -> Vec<Phase> {
    let phase = |name, steps| Phase { name, steps };
    let alter = |moved: &Moved, change: String| {
        format!("ALTER TABLE {} {change}", way.quoted(&moved.table.name))
    };
    let expand = way.moved.iter().map(|moved| {
        let next = way.quoted(&moved.next);
        let add = format!("ADD COLUMN {next} {} NULL", way.new_type);
        alter(moved, format!("{add}, ALGORITHM=INSTANT"))
    });
    let index = way.moved.iter().filter_map(|moved| {
        let changes = indexes(way, moved);
        (!changes.is_empty()).then(|| alter(moved, format!("{}, {ONLINE}", changes.join(", "))))
    });
    let mut switch: Vec<String> = way
        .moved
        .iter()
        .filter(|moved| moved.is_in_key())
        .map(|moved| {
            alter(
                moved,
                format!("{}, {ONLINE}", new_key(way, moved).join(", ")),
            )
        })
        .collect();
    switch.extend(links(way));
    for moved in &way.moved {
        // Rows that are written with the new key alone have the same old one.
        let unique = old_indexes(way, moved, true).into_iter();
        switch.extend(unique.map(|name| alter(moved, format!("DROP INDEX {name}"))));
        if moved.is_not_null() {
            let (old, default) = (way.quoted(&moved.old), default_of(way.old_type));
            switch.push(alter(
                moved,
                format!("ALTER COLUMN {old} SET DEFAULT {default}"),
            ));
        }
    }
    let drop = way.moved.iter().flat_map(|moved| {
        let mut statements: Vec<String> = old_indexes(way, moved, false)
            .into_iter()
            .map(|name| alter(moved, format!("DROP INDEX {name}")))
            .collect();
        let old = way.quoted(&moved.old);
        statements.push(alter(
            moved,
            format!("DROP COLUMN {old}, ALGORITHM=INSTANT"),
        ));
        statements
    });
    vec![
        phase(
            "expand",
            vec![Step::Each(expand.collect()), Step::WriteBoth],
        ),
        phase("backfill", vec![Step::Backfill]),
        phase("index", vec![Step::Each(index.collect())]),
        phase("switch", vec![Step::Each(switch), Step::WriteNew]),
        phase("drop", vec![Step::Each(drop.collect())]),
    ]
}

/// The name of the index by which the foreign key of the old column is found once the primary key is another.
fn old_key_index(moved: &Moved) -> String {
    format!("{}_old", moved.table.name)
}

/// The indexes that are built before the primary key.
fn indexes(way: &Way<'_>, moved: &Moved) -> Vec<String> {
    let mut changes: Vec<String> = moved
        .new_indexes()
        .iter()
        .map(|index| {
            let unique = if index.is_unique { "UNIQUE " } else { "" };
            let (name, columns) = (way.quoted(&index.name), way.list(&index.columns));
            format!("ADD {unique}INDEX {name} ({columns})")
        })
        .collect();
    if !moved.is_in_key() && moved.is_not_null() {
        let next = way.quoted(&moved.next);
        changes.push(format!("MODIFY COLUMN {next} {} NOT NULL", way.new_type));
    }
    changes
}

/// The changes that give a table its new primary key.
fn new_key(way: &Way<'_>, moved: &Moved) -> Vec<String> {
    let key = moved.renewed(&moved.table.key);
    vec![
        format!(
            "MODIFY COLUMN {} {} NOT NULL",
            way.quoted(&moved.next),
            way.new_type
        ),
        "DROP PRIMARY KEY".to_owned(),
        format!("ADD PRIMARY KEY ({})", way.list(&key)),
        format!(
            "ADD INDEX {} ({})",
            way.quoted(&old_key_index(moved)),
            way.quoted(&moved.old)
        ),
    ]
}

/// The new foreign keys, which are not checked again: the application writes both keys, and the old foreign key is there.
fn links(way: &Way<'_>) -> Vec<String> {
    let (mut added, mut dropped) = (Vec::new(), Vec::new());
    for child in way.children() {
        let table = way.quoted(&child.table.name);
        for (key, parent) in way.links(child) {
            let new = way.new_link(child, (key, parent));
            added.push(format!(
                "ALTER TABLE {table} ADD CONSTRAINT {new}, {ONLINE}"
            ));
            let old = way.quoted(&key.name);
            dropped.push(format!("ALTER TABLE {table} DROP FOREIGN KEY {old}"));
        }
    }
    if added.is_empty() {
        return added;
    }
    let begin = vec!["SET SESSION foreign_key_checks = 0".to_owned()];
    let end = vec!["SET SESSION foreign_key_checks = 1".to_owned()];
    [begin, added, dropped, end].concat()
}

/// The indexes that only the old key needs, those that are unique or the others.
fn old_indexes(way: &Way<'_>, moved: &Moved, is_unique: bool) -> Vec<String> {
    let replaced = moved.new_indexes().into_iter();
    let replaced = replaced.filter(|index| index.is_unique == is_unique);
    let mut names: Vec<String> = replaced.filter_map(|index| index.replaces).collect();
    if moved.is_in_key() && !is_unique {
        names.push(old_key_index(moved));
    }
    names.iter().map(|name| way.quoted(name)).collect()
}

/// A value of the old column for rows that have none.
fn default_of(ty: &str) -> &'static str {
    match ty {
        "UUID" => "(UUID())",
        "BIGINT" => "0",
        _ => "''",
    }
}
