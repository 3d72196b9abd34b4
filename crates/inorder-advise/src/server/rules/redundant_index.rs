//! An index that another one replaces: same condition, and its terms are the first terms of the other.

use super::{Action, Candidate, Facts, Group};
use crate::{
    rules::Class,
    server::model::{Index, IndexState, Product, ReplicaIdentity, Table, TableKind, Term},
};

/// A wider index that is this many times larger is worth a note.
const MUCH_LARGER: f64 = 2.0;
/// Methods that find rows by any of their columns, whatever the order of these.
const WITHOUT_ORDER: &[&str] = &["brin", "fulltext", "gin"];
/// Methods of which two indexes with the same terms answer the same, whatever their other parameters are.
const WITHOUT_OPTIONS: &[&str] = &["btree", "hash", "gin", "gist", "spgist", "rtree", "spatial"];
/// Pages per range of BRIN if nothing is declared.
const BRIN_PAGES: &str = "pages_per_range=128";

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let product = facts.database.product;
    let tables = facts.database.tables.iter();
    tables
        .filter(|table| table.kind != TableKind::Foreign)
        .flat_map(|table| of_table(product, table))
        .collect()
}

fn of_table(product: Product, table: &Table) -> Vec<Candidate> {
    let mut dropped: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    // The last made goes first: of two equal ones the older stays.
    for index in table.indexes.iter().rev() {
        // Constraints keep their index, and a part of a partitioned index goes with the whole one.
        if index.is_primary
            || index.is_clustered
            || index.constraint.is_some()
            || index.parent.is_some()
        {
            continue;
        }
        let mut candidate =
            Candidate::about(table, &index.name, Group::RedundantIndex, Class::Safe);
        candidate.bytes = Some(index.bytes);
        candidate.actions = vec![Action::DropIndex {
            schema: table.schema.clone(),
            table: table.name.clone(),
            index: index.name.clone(),
        }];
        match index.state {
            IndexState::Ignored => {
                found.push(
                    candidate.rejected(
                        "queries ignore it (IGNORED): somebody tries what its removal does",
                    ),
                );
                continue;
            }
            // A rule of its own.
            _ if !index.is_valid => continue,
            _ => {}
        }
        let (mut cover, mut rejection) = (None::<&Index>, None);
        for other in &table.indexes {
            if other.name == index.name || dropped.contains(&other.name.as_str()) {
                continue;
            }
            match replaces(table, index, other) {
                Ok(()) if cover.is_none_or(|cover| is_better(other, cover)) => cover = Some(other),
                Ok(()) | Err(None) => {}
                Err(Some(reason)) => rejection = rejection.or(Some(reason)),
            }
        }
        match (cover, rejection) {
            (Some(other), _) => {
                match needed(table, index).or_else(|| sole_cover(table, index, &dropped)) {
                    Some(reason) => found.push(candidate.rejected(reason)),
                    None => {
                        dropped.push(&index.name);
                        candidate.reason = reason(index, other);
                        candidate.notes = notes(product, table, index, other);
                        found.push(candidate);
                    }
                }
            }
            (None, Some(reason)) => found.push(candidate.rejected(reason)),
            (None, None) => {}
        }
    }
    found
}

/// The indexes of a table that this rule would drop.
pub(super) fn dropped(product: Product, table: &Table) -> Vec<String> {
    of_table(product, table)
        .into_iter()
        .filter(|candidate| candidate.class == Class::Safe)
        .map(|candidate| candidate.object)
        .collect()
}

/// Tells whether another index of the table replaces one.
pub(super) fn is_replaced(table: &Table, index: &Index) -> bool {
    let mut others = table.indexes.iter();
    others.any(|other| other.name != index.name && replaces(table, index, other).is_ok())
}

/// The indexes that serve in the place of one, the best first.
pub(super) fn replacements<'t>(table: &'t Table, index: &Index) -> Vec<&'t Index> {
    let mut found: Vec<&Index> = table
        .indexes
        .iter()
        .filter(|other| other.name != index.name && replaces(table, index, other).is_ok())
        .collect();
    found.sort_by_key(|other| preference(other));
    found
}

/// Of two that replace an index, one that stays in any case is named, or the smaller one.
fn is_better(one: &Index, other: &Index) -> bool {
    preference(one) < preference(other)
}

fn preference(index: &Index) -> (bool, u64) {
    let stays = index.is_unique || index.constraint.is_some();
    (!stays, index.bytes)
}

/// Why an index is needed though another one serves the same queries.
pub(super) fn needed(table: &Table, index: &Index) -> Option<String> {
    if index.is_replica_identity
        || (index.is_primary && table.replica_identity == ReplicaIdentity::Default)
    {
        return Some("the replica identity: logical replication identifies rows by it".into());
    }
    if index.is_cluster_order {
        return Some("CLUSTER orders the table by it".into());
    }
    let mut references = table.referenced_by.iter();
    let key = references.find(|key| key.parent_index.as_ref() == Some(&index.name))?;
    Some(format!(
        "the foreign key {} of {} depends on it",
        key.name, key.child
    ))
}

/// Why an index stays that replaces a dropped one which no other index replaces.
///
/// InnoDB's appended keys make this possible: `(a)` with the key `id` replaces `(a, id)`, and `(a, b)` replaces only `(a)`.
fn sole_cover(table: &Table, index: &Index, dropped: &[&str]) -> Option<String> {
    let gone = |other: &Index| other.name == index.name || dropped.contains(&other.name.as_str());
    let stay = || table.indexes.iter().filter(|other| !gone(other));
    let left = dropped
        .iter()
        .filter_map(|name| table.index(name))
        .find(|own| !stay().any(|other| replaces(table, own, other).is_ok()))?;
    Some(format!(
        "replaces {}: only one of the two can be dropped",
        left.name
    ))
}

fn reason(index: &Index, other: &Index) -> String {
    let is_same = index.terms.len() == other.terms.len();
    match (is_same, other.is_primary, other.is_unique) {
        (true, true, _) => "same as the primary key".into(),
        (true, ..) if other.is_clustered => {
            format!("same as {}, which InnoDB stores the rows in", other.name)
        }
        (true, ..) => format!("same as {}", other.name),
        (_, true, _) => "begins the primary key".into(),
        (.., true) => format!("begins {} (unique; stays)", other.name),
        _ => format!("begins {}", other.name),
    }
}

fn notes(product: Product, table: &Table, index: &Index, other: &Index) -> Vec<String> {
    let mut notes = Vec::new();
    let ratio = other.bytes as f64 / index.bytes.max(1) as f64;
    let is_clustered = other.is_clustered;
    if ratio > MUCH_LARGER && !is_clustered {
        notes.push(format!(
            "{} is {ratio:.1} times as large as {}: range scans read more pages.",
            other.name, index.name
        ));
    }
    let is_innodb = product == Product::Mariadb && table.kind != TableKind::CatalogOnly;
    if table.counted_by.as_ref() == Some(&index.name) {
        notes.push(format!(
            "COUNT(*) reads {} now (EXPLAIN); without it, it reads another index or the rows.",
            index.name
        ));
    }
    if is_clustered {
        notes.push(format!(
            "Queries that need nothing but the columns of {} then read the rows, which are wider.",
            index.name
        ));
    } else if is_innodb && index.method == "btree" && index.terms.len() < other.terms.len() {
        // Without a key of the table, entries end with a number that no query can name.
        if let Some(key) = table.clustered().map(|key| names(&key.terms)) {
            notes.push(format!(
                "InnoDB ends {} with the key ({key}): queries that find rows by it and order them by ({key}) will sort.",
                index.name
            ));
        }
    }
    let keys = table.foreign_keys.iter().filter(|key| {
        let columns = index.columns().unwrap_or_default();
        columns.first().copied() == key.columns.first().map(String::as_str)
    });
    for key in keys {
        notes.push(format!(
            "The foreign key {} keeps an index: {}.",
            key.name, other.name
        ));
    }
    notes
}

/// Tells whether an index replaces another. An error has the reason if it looks as if it did.
fn replaces(table: &Table, index: &Index, other: &Index) -> Result<(), Option<String>> {
    let name = &other.name;
    if !other.is_valid || index.method != other.method {
        return Err(None);
    }
    let method = index.method.as_str();
    let wide = effective(table, other);
    let is_same =
        index.terms.len() == wide.len() && index.terms.iter().all(|own| wide.contains(own));
    let is_prefix = (WITHOUT_ORDER.contains(&method) && is_same)
        || (index.terms.len() <= wide.len() && index.terms[..] == wide[..index.terms.len()]);
    let is_reversed = index.method == "btree"
        && index.terms.len() <= wide.len()
        && index
            .terms
            .iter()
            .zip(&wide)
            .all(|(own, other)| *own == reversed(other));
    if !(is_prefix || is_reversed) {
        return Err(looks_like(index, &wide, other));
    }
    let is_whole = index.terms.len() == wide.len();
    if method != "btree" && (!is_whole || index.include != other.include) {
        return Err(None);
    }
    if !WITHOUT_OPTIONS.contains(&method) && options(index) != options(other) {
        return Err(Some(format!("has other parameters than {name}")));
    }
    if table.kind == TableKind::CatalogOnly && !is_whole {
        return Err(Some(format!(
            "begins {name}; tables of {} are not measured, so only the same index twice is told",
            table.engine
        )));
    }
    match (&index.predicate, &other.predicate) {
        (own, others) if own == others => {}
        (Some(_), None) => return Err(Some(format!("partial: holds fewer rows than {name}"))),
        (None, Some(_)) => return Err(None),
        _ => return Err(Some(format!("another condition than {name}"))),
    }
    let has = |column: &String| {
        let mut terms = other.terms.iter();
        other.include.contains(column)
            || terms.any(|term| term.column.as_ref() == Some(column) && term.prefix.is_none())
    };
    if let Some(missing) = index.include.iter().find(|column| !has(column)) {
        return Err(Some(format!("includes {missing}, which {name} doesn't")));
    }
    guards(index, other)
}

/// Tells whether an index refuses the rows that a unique one refuses, at the same time.
fn guards(index: &Index, other: &Index) -> Result<(), Option<String>> {
    let name = &other.name;
    if index.is_unique {
        if !other.is_unique || index.terms.len() != other.terms.len() {
            return Err(Some(format!(
                "unique, which {name} isn't on the same columns"
            )));
        }
        if index.nulls_are_equal != other.nulls_are_equal {
            return Err(Some(format!("treats NULLs otherwise than {name}")));
        }
        if other
            .constraint
            .as_ref()
            .is_some_and(|constraint| constraint.is_deferrable)
        {
            return Err(Some(format!(
                "checked at once, {name} at the end of the transaction"
            )));
        }
    }
    Ok(())
}

/// What decides which rows an index of a method with parameters finds.
fn options(index: &Index) -> Vec<&str> {
    let own = index.options.iter().map(String::as_str);
    let mut own: Vec<&str> = match index.method.as_str() {
        // When pages are summarized does not decide what is found.
        "brin" => own
            .filter(|text| text.starts_with("pages_per_range") && *text != BRIN_PAGES)
            .collect(),
        _ => own.collect(),
    };
    own.sort_unstable();
    own
}

/// What an index is ordered by. InnoDB appends its key to the B-trees beside the rows.
fn effective(table: &Table, index: &Index) -> Vec<Term> {
    let mut terms = index.terms.clone();
    if !index.is_clustered && index.method == "btree" {
        for term in table.clustered().map_or(&[][..], |key| &key.terms) {
            if !terms
                .iter()
                .any(|own| own.column == term.column && own.prefix.is_none())
            {
                terms.push(term.clone());
            }
        }
    }
    terms
}

fn reversed(term: &Term) -> Term {
    Term {
        is_descending: !term.is_descending,
        nulls_first: !term.nulls_first,
        ..term.clone()
    }
}

/// Why an index isn't replaced by one with the same columns.
fn looks_like(index: &Index, wide: &[Term], other: &Index) -> Option<String> {
    let name = &other.name;
    let same =
        |own: &Term, other: &Term| own.column == other.column && own.expression == other.expression;
    let zip = || index.terms.iter().zip(wide);
    let is_alike = index.terms.len() <= wide.len() && zip().all(|(own, other)| same(own, other));
    if is_alike {
        let what = zip().find_map(|(own, other)| {
            Some(if own.prefix != other.prefix {
                "holds another length of the column than"
            } else if own.collation != other.collation {
                "has another collation than"
            } else if own.operator_class != other.operator_class {
                "has another operator class than"
            } else if own != other {
                "has another direction than"
            } else {
                return None;
            })
        })?;
        return Some(format!("{what} {name}"));
    }
    let is_permuted = index.terms.len() > 1
        && index.terms.len() == other.terms.len()
        && index
            .terms
            .iter()
            .all(|own| other.terms.iter().any(|other| same(own, other)));
    is_permuted.then(|| format!("the columns of {name} in another order"))
}

fn names(terms: &[Term]) -> String {
    let names = terms.iter().filter_map(|term| term.column.as_deref());
    names.collect::<Vec<_>>().join(", ")
}
