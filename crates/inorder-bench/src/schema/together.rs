//! Which tables are filled together: the one whose keys are in question, the tables whose rows belong to its rows, and
//! before them the tables that they refer to.

use super::{
    catalog::Catalog,
    class::{Class, class},
    key::{HEX_LENGTH, ULID_LENGTH, UUID_LENGTH, key_of},
    references::{LeftOut, References},
};
use crate::error::{Error, nearest};
use inorder_copy::model::{Column, ForeignKey, Table};
use std::collections::BTreeSet;

/// Rows of a child per row of its parent, if there are no data.
const REPEAT: u64 = 3;
/// The most rows of a child per row of its parent.
const REPEAT_MAX: u64 = 100;

/// A table whose rows belong to rows of another one, the foreign key that says so, and its rows per row of that one.
pub type Member<'a> = (&'a Table, &'a ForeignKey, u64);

/// The tables of an experiment.
pub struct Together<'a> {
    /// Tables that are filled before, parents first.
    pub before: Vec<&'a Table>,
    /// The table whose rows are counted.
    pub root: &'a Table,
    /// Tables whose rows belong to rows of those before them.
    pub members: Vec<Member<'a>>,
    /// Names of the tables whose keys are in question.
    pub varied: BTreeSet<&'a str>,
}

/// Chooses the tables. `named` are those whose keys are in question, the one whose rows are counted first; without any
/// the schema decides.
///
/// # Errors
/// If a table is missing or its key is none of an id, or none is named and several could be meant.
pub fn choose<'a>(references: &References<'a>, named: &[String]) -> Result<Together<'a>, Error> {
    let catalog = references.catalog;
    let mut varied = BTreeSet::new();
    for name in named {
        let table = catalog.table(name).ok_or_else(|| {
            if let Some(note) = catalog.note_on(name) {
                return Error::Usage(note);
            }
            let known = catalog.tables.iter().map(|table| table.name.as_str());
            Error::Usage(format!("no table `{name}`: {}", nearest(name, known)))
        })?;
        if let Some(problem) = id_problem(catalog, table) {
            return Err(Error::Usage(problem));
        }
        varied.insert(table.name.as_str());
    }
    let root = match named.first().and_then(|name| catalog.table(name)) {
        Some(root) => root,
        None => likely_root(references)?,
    };
    varied.insert(root.name.as_str());
    let members = members(references, root);
    let mut together = Together {
        before: Vec::new(),
        root,
        members,
        varied,
    };
    let mut wanted: Vec<&Table> = vec![root];
    wanted.extend(together.members.iter().map(|(table, ..)| *table));
    for table in wanted {
        add_parents(references, table, &mut together, &mut Vec::new());
    }
    Ok(together)
}

impl<'a> Together<'a> {
    /// The foreign key by which the rows of a table belong to those of another, and its rows per row of that one.
    pub fn owner(&self, name: &str) -> Option<(&'a ForeignKey, u64)> {
        let mut members = self.members.iter();
        let (_, key, repeat) = members.find(|(table, ..)| table.name == name)?;
        Some((key, *repeat))
    }

    /// The rows of a measured table per row of the root.
    pub fn per_root(&self, name: &str) -> u64 {
        self.owner(name).map_or(1, |(key, repeat)| {
            repeat.saturating_mul(self.per_root(&key.parent))
        })
    }

    /// Whether the rows of a table are counted or belong to rows that are.
    pub fn is_measured(&self, name: &str) -> bool {
        self.root.name == name || self.members.iter().any(|(table, ..)| table.name == name)
    }

    /// Whether a table is part of the experiment.
    pub fn has(&self, name: &str) -> bool {
        self.is_measured(name) || self.before.iter().any(|table| table.name == name)
    }

    /// All tables in the order in which they are created.
    pub fn tables(&self) -> Vec<&'a Table> {
        let before = self.before.iter().copied();
        let members = self.members.iter().map(|(table, ..)| *table);
        before.chain([self.root]).chain(members).collect()
    }

    /// Foreign keys of these tables that rows can't be made by: to a table that is filled later, of a column that another
    /// one fills, or of a key in question.
    pub fn unusable(&self, references: &References<'a>) -> Vec<LeftOut> {
        let tables = self.tables();
        let place = |name: &str| tables.iter().position(|table| table.name == name);
        let mut found = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let name = &table.name;
            let owner = self.owner(name).map(|(key, _)| key);
            let is_owner = |key: &ForeignKey| owner.is_some_and(|owner| owner.name == key.name);
            let (own, others): (Vec<_>, Vec<_>) =
                references.of_table(table).partition(|key| is_owner(key));
            let mut kept: Vec<&ForeignKey> = Vec::new();
            for key in own.into_iter().chain(others) {
                let column = &key.columns[0];
                let is_varied = self.varied.contains(name.as_str())
                    && id_column(references.catalog, table).is_some_and(|id| id.name == *column);
                let other = kept.iter().find(|other| other.columns == key.columns);
                let why = match (place(&key.parent), other) {
                    (parent, _) if parent.is_none_or(|parent| parent > at) => {
                        format!("{} is filled after {name}", key.parent)
                    }
                    _ if is_varied && !is_owner(key) => {
                        format!("{name}.{column} is a key in question")
                    }
                    (_, Some(other)) => {
                        format!("{name}.{column} has the values of {}", other.parent)
                    }
                    _ => {
                        kept.push(key);
                        continue;
                    }
                };
                found.push(LeftOut::new(table, key, why));
            }
        }
        found
    }
}

/// The column of a table's primary key whose kind of ids is in question. Of several columns, as in `PRIMARY KEY(tenant, id)` or in
/// the key of a partitioned table, it is one that can store ids and refers to no other table: one whose values differ from row to
/// row, that the database fills, or that is called `id`; else the last of them.
pub fn id_column<'a>(catalog: &Catalog, table: &'a Table) -> Option<&'a Column> {
    let columns = || {
        let names = table.key.iter();
        names.filter_map(|name| table.columns.iter().find(|column| column.name == *name))
    };
    if table.key.len() == 1 {
        return columns().next();
    }
    let refers = |column: &Column| {
        let mut keys = table.foreign_keys.iter();
        keys.any(|key| key.columns.contains(&column.name))
    };
    let found: Vec<&Column> = columns()
        .filter(|column| {
            let values = catalog.values(&table.name, &column.name);
            let key = key_of(column, class(catalog.engine, column), &values);
            key.is_some() && !refers(column)
        })
        .collect();
    let differs = |column: &&&Column| {
        let values = catalog.values(&table.name, &column.name);
        let distinct: BTreeSet<_> = values.iter().collect();
        values.len() > 1 && distinct.len() == values.len()
    };
    let is_filled = |column: &&&Column| column.next.is_some() || column.default.is_some();
    let is_called_id = |column: &&&Column| column.name.eq_ignore_ascii_case("id");
    let mut all = found.iter();
    let best = found
        .iter()
        .find(differs)
        .or_else(|| all.find(is_filled))
        .or_else(|| found.iter().find(is_called_id));
    best.or(found.last()).copied()
}

/// Why a table's primary key has no column that can store an id; `None` if it has.
fn id_problem(catalog: &Catalog, table: &Table) -> Option<String> {
    let name = &table.name;
    let Some(column) = id_column(catalog, table) else {
        return Some(match table.key.len() {
            0 => format!("`{name}` has no primary key"),
            _ => format!("the primary key of `{name}` has no column of its own that can store ids"),
        });
    };
    let (class, values) = (
        class(catalog.engine, column),
        catalog.values(name, &column.name),
    );
    if key_of(column, class, &values).is_some() {
        return None;
    }
    let (key, declared) = (&column.name, &column.declared);
    Some(match class {
        Class::Text(_) => format!(
            "the primary key of `{name}` ({key} {declared}) stores other texts than experiments write: UUIDs in {UUID_LENGTH} \
             characters, ULIDs in {ULID_LENGTH}, or both in {HEX_LENGTH} hex digits"
        ),
        Class::Bytes => format!(
            "the values of the primary key of `{name}` ({key} {declared}) are no ids that experiments write"
        ),
        _ => format!(
            "the primary key of `{name}` ({key} {declared}) is not of integers, UUIDs, text or bytes"
        ),
    })
}

/// The table that is meant if none is named: the only one with an id, or the only one with an id that has children and
/// parents, or children.
fn likely_root<'a>(references: &References<'a>) -> Result<&'a Table, Error> {
    let catalog = references.catalog;
    let (with_id, composite): (Vec<&Table>, Vec<&Table>) = catalog
        .tables
        .iter()
        .filter(|table| id_problem(catalog, table).is_none())
        .partition(|table| table.key.len() == 1);
    let with_id = if with_id.is_empty() {
        composite
    } else {
        with_id
    };
    let is_parent = |table: &&&Table| {
        let tables = catalog.tables.iter();
        let mut all = tables.flat_map(|table| references.of_table(table));
        all.any(|key| key.parent == table.name)
    };
    let parents: Vec<&Table> = with_id.iter().filter(is_parent).copied().collect();
    let between: Vec<&Table> = parents
        .iter()
        .filter(|table| references.of_table(table).next().is_some())
        .copied()
        .collect();
    for found in [&with_id, &between, &parents] {
        if let [only] = found[..] {
            return Ok(only);
        }
    }
    let names: Vec<&str> = with_id.iter().map(|table| table.name.as_str()).collect();
    Err(Error::Usage(match names.is_empty() {
        true => {
            let tables = catalog.tables.iter();
            let problems: Vec<String> = tables.filter_map(|t| id_problem(catalog, t)).collect();
            format!(
                "no table has a key that can be measured: {}",
                problems.join("; ")
            )
        }
        false => format!(
            "several tables have ids: name the one whose rows are counted with --table, and others whose keys change with \
             it ({})",
            names.join(", ")
        ),
    }))
}

/// The tables whose rows belong to rows of the root, parents first.
fn members<'a>(references: &References<'a>, root: &'a Table) -> Vec<Member<'a>> {
    let catalog = references.catalog;
    let mut found: Vec<Member<'a>> = Vec::new();
    let mut ancestors = BTreeSet::from([root.name.as_str()]);
    add_ancestors(references, root, &mut ancestors);
    loop {
        let before = found.len();
        for table in &catalog.tables {
            if ancestors.contains(table.name.as_str())
                || found.iter().any(|(other, ..)| other.name == table.name)
            {
                continue;
            }
            let owner = references.of_table(table).find_map(|key| {
                let is_root = root.name == key.parent;
                let parent = match found.iter().find(|(other, ..)| other.name == key.parent) {
                    Some((parent, ..)) => *parent,
                    None if is_root => root,
                    None => return None,
                };
                Some((key, repeat(catalog, table, parent, key)?))
            });
            if let Some((key, repeat)) = owner {
                found.push((table, key, repeat));
            }
        }
        if found.len() == before {
            return parents_first(references, found);
        }
    }
}

/// Members in an order in which as many as possible come after those that they refer to, and all after their owners.
fn parents_first<'a>(references: &References<'a>, mut members: Vec<Member<'a>>) -> Vec<Member<'a>> {
    let mut ordered: Vec<Member<'a>> = Vec::new();
    while !members.is_empty() {
        let is_left = |name: &str| members.iter().any(|(table, ..)| table.name == name);
        let is_next = |(table, ..): &Member<'a>| {
            let mut keys = references.of_table(table);
            !keys.any(|key| is_left(&key.parent))
        };
        let next = members.iter().position(is_next);
        // A cycle is cut: the owner of the first one is there, because members were found in this order.
        ordered.push(members.remove(next.unwrap_or(0)));
    }
    ordered
}

/// Adds the names of the tables that a table refers to, also through others.
fn add_ancestors<'a>(references: &References<'a>, table: &'a Table, names: &mut BTreeSet<&'a str>) {
    for key in references.of_table(table) {
        if names.insert(&key.parent)
            && let Some(parent) = references.catalog.table(&key.parent)
        {
            add_ancestors(references, parent, names);
        }
    }
}

/// Rows of a child per row of its parent; `None` if most parents have none.
fn repeat(catalog: &Catalog, child: &Table, parent: &Table, key: &ForeignKey) -> Option<u64> {
    let is_only = child.key == key.columns
        || (child.indexes.iter()).any(|index| index.is_unique && index.columns == key.columns);
    if is_only {
        return Some(1);
    }
    let has_rows = |table: &Table| {
        catalog
            .samples
            .get(&table.name)
            .is_some_and(|rows| !rows.is_empty())
    };
    // A server without statistics estimates no rows.
    let is_unknown = |table: &Table| has_rows(table) && table.rows_estimated == 0;
    if !has_rows(parent) || is_unknown(parent) || is_unknown(child) {
        return Some(REPEAT);
    }
    let (rows, parents) = (
        child.rows_estimated as f64,
        parent.rows_estimated.max(1) as f64,
    );
    let mean = (rows / parents).round() as u64;
    (mean > 0).then(|| mean.min(REPEAT_MAX))
}

/// Adds the tables that a table refers to, parents first. A cycle is cut where it closes.
fn add_parents<'a>(
    references: &References<'a>,
    table: &'a Table,
    together: &mut Together<'a>,
    path: &mut Vec<&'a str>,
) {
    if path.contains(&table.name.as_str()) {
        return;
    }
    path.push(&table.name);
    for key in references.of_table(table) {
        let Some(parent) = references.catalog.table(&key.parent) else {
            continue;
        };
        if !together.has(&parent.name) {
            add_parents(references, parent, together, path);
            if !together.has(&parent.name) && !path.contains(&parent.name.as_str()) {
                together.before.push(parent);
            }
        }
    }
    path.pop();
}
