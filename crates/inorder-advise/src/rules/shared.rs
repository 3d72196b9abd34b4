//! What several rules ask of a schema.

use crate::{
    ddl::{self, StoredColumn, tokens},
    read::{Database, ForeignKey, Index, Origin, Table, TableKind, Term},
};

/// Why a table with ON CONFLICT clauses keeps its layout.
pub(super) const OTHER_ORDER: &str =
    "a key has an ON CONFLICT clause: which of the keys is checked first would change";

/// An order in which rows can be found: an index, the key of a WITHOUT ROWID table, or the rowid.
pub(super) struct Path<'t> {
    /// What a report calls it.
    pub name: String,
    pub terms: Vec<Term>,
    pub is_unique: bool,
    pub condition: Option<&'t str>,
    /// The index, unless it is the rowid.
    pub index: Option<&'t Index>,
}

impl Path<'_> {
    /// Whether it is there without an index and those that are gone.
    pub(super) fn stays_without(&self, index: &Index, gone: &[&str]) -> bool {
        self.index
            .is_none_or(|own| own.name != index.name && !gone.contains(&own.name.as_str()))
    }
}

/// Every path of a table.
pub(super) fn paths(table: &Table) -> Vec<Path<'_>> {
    let mut paths: Vec<Path<'_>> = table
        .indexes
        .iter()
        .map(|index| Path {
            name: title(table, index),
            terms: index.terms.clone(),
            is_unique: index.is_unique,
            condition: index.condition.as_deref(),
            index: Some(index),
        })
        .collect();
    if let Some(alias) = table.rowid_alias {
        paths.push(Path {
            name: format!("{}, the rowid", table.columns[alias].name),
            terms: vec![Term {
                column: Some(alias),
                collation: "BINARY".into(),
                ..Term::default()
            }],
            is_unique: true,
            condition: None,
            index: None,
        });
    }
    paths
}

/// Tells whether an index of the first terms has the order of one of the others, which are as many or more.
pub(super) fn is_prefix(own: &[Term], others: &[Term]) -> bool {
    let reversed =
        |(a, b): (&Term, &Term)| a.is_descending != b.is_descending && same_but_direction(a, b);
    let pairs = || own.iter().zip(others);
    pairs().all(|(a, b)| a == b)
        || pairs().all(reversed)
        || (own.len() == 1 && same_but_direction(&own[0], &others[0]))
}

/// Tells whether two terms have the same column or expression with the same collation.
pub(super) fn same_but_direction(a: &Term, b: &Term) -> bool {
    let b = Term {
        is_descending: a.is_descending,
        ..b.clone()
    };
    *a == b
}

/// What a report calls an index: its name, or the constraint that made it.
pub(crate) fn title(table: &Table, index: &Index) -> String {
    let columns = || {
        let columns = index.columns().unwrap_or_default();
        table.names(&columns).join(", ")
    };
    match index.origin {
        Origin::Created => index.name.clone(),
        Origin::Unique => format!("UNIQUE({})", columns()),
        Origin::Key => format!("PRIMARY KEY({})", columns()),
    }
}

/// Tells whether a term's column can never be NULL.
pub(super) fn is_never_null(table: &Table, column: usize) -> bool {
    table.columns[column].is_not_null
        || table.rowid_alias == Some(column)
        || (table.kind == TableKind::WithoutRowid && table.key.contains(&column))
}

/// The foreign key of another table that needs this UNIQUE index, if no other one serves it.
///
/// An index that is `gone` serves nobody.
pub(super) fn needed_by_parent_key(
    database: &Database,
    table: &Table,
    index: &Index,
    gone: &[&str],
) -> Option<String> {
    if !index.is_unique || index.condition.is_some() {
        return None;
    }
    let columns = index.columns()?;
    let is_exactly = |own: &[usize], others: &[usize]| {
        own.len() == others.len() && own.iter().all(|at| others.contains(at))
    };
    let (child, key) = database.references(table).find(|(_, key)| {
        let wanted: Vec<usize> = database
            .parent_columns(key)
            .iter()
            .filter_map(|name| table.column(name))
            .collect();
        let others = paths(table);
        let mut others = others.iter().filter(|path| {
            path.is_unique && path.condition.is_none() && path.stays_without(index, gone)
        });
        is_exactly(&columns, &wanted)
            && !others.any(|path| {
                let own: Option<Vec<usize>> = path.terms.iter().map(|term| term.column).collect();
                own.is_some_and(|own| is_exactly(&own, &wanted))
            })
    })?;
    Some(format!(
        "a foreign key of {} refers to ({}): it needs a UNIQUE index on exactly these columns",
        child.name,
        database.parent_columns(key).join(", ")
    ))
}

/// The foreign key of this table whose rows only this index finds.
pub(super) fn needed_by_child_key(table: &Table, index: &Index, gone: &[&str]) -> Option<String> {
    let begins = |terms: &[Term], key: &ForeignKey| {
        let columns: Vec<usize> = key
            .columns
            .iter()
            .filter_map(|name| table.column(name))
            .collect();
        let first: Vec<usize> = terms
            .iter()
            .take(columns.len())
            .filter_map(|term| term.column)
            .collect();
        first.len() == columns.len() && columns.iter().all(|at| first.contains(at))
    };
    let key = table.foreign_keys.iter().find(|key| {
        begins(&index.terms, key)
            && !paths(table).iter().any(|path| {
                let has_its_rows =
                    path.condition.is_none() || path.condition == index.condition.as_deref();
                has_its_rows && path.stays_without(index, gone) && begins(&path.terms, key)
            })
    })?;
    Some(format!(
        "FOREIGN KEY({}) REFERENCES {} looks rows up by it",
        key.columns.join(", "),
        key.parent
    ))
}

/// The view or trigger that demands an index by name.
pub(super) fn demanded_by_name(database: &Database, index: &str) -> Option<String> {
    let object = database.objects.iter().find(|object| {
        let words = tokens(&object.sql);
        words
            .windows(3)
            .any(|words| words[0].is("INDEXED") && words[1].is("BY") && words[2].is_name(index))
    })?;
    Some(format!("{} says INDEXED BY {index}", object.name))
}

/// Why an index can't be dropped beside those that are `gone`, whatever else would find its rows.
pub(super) fn index_blocker(
    database: &Database,
    table: &Table,
    index: &Index,
    gone: &[&str],
) -> Option<String> {
    missing(table)
        .or_else(|| demanded_by_name(database, &index.name))
        .or_else(|| needed_by_parent_key(database, table, index, gone))
        .or_else(|| needed_by_child_key(table, index, gone))
}

/// What the checks of some versions of SQLite report of a table that is stored by this key.
pub(super) fn false_report(table: &Table, key: &[usize]) -> Option<String> {
    let columns: Vec<StoredColumn<'_>> = table
        .columns
        .iter()
        .map(|column| StoredColumn {
            name: &column.name,
            is_not_null: column.is_not_null,
            has_default: column.default.is_some(),
            is_virtual: column.hidden == 2,
        })
        .collect();
    ddl::false_report(&table.name, &columns, key)
}

/// Why a table can't be changed at all.
pub(super) fn missing(table: &Table) -> Option<String> {
    let name = table.missing.as_ref()?;
    Some(format!("{name} is missing here: sizes only"))
}
