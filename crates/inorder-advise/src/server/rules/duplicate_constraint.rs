//! A foreign key or a CHECK that is declared twice: each is checked for every row.

use super::{Action, Candidate, Facts, Group};
use crate::{
    rules::Class,
    server::model::{Check, ForeignKey, Product, Table, TableKind},
};

/// What PostgreSQL appends to a constraint that was not checked on all rows.
const NOT_VALID: &str = " NOT VALID";

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let product = facts.database.product;
    let tables = facts.database.tables.iter().filter(|table| {
        // Partitions have the constraints of their table.
        table.kind != TableKind::Foreign && table.parent.is_none()
    });
    tables
        .flat_map(|table| {
            let mut found = foreign_keys(product, table);
            found.extend(checks(product, table));
            found
        })
        .collect()
}

fn foreign_keys(product: Product, table: &Table) -> Vec<Candidate> {
    let (mut dropped, mut found): (Vec<&str>, _) = (Vec::new(), Vec::new());
    for (at, key) in table.foreign_keys.iter().enumerate().rev() {
        let others = table
            .foreign_keys
            .iter()
            .enumerate()
            .filter(|(other, own)| {
                *other != at && !dropped.contains(&own.name.as_str()) && joins_same(key, own)
            });
        // One that was checked on all rows is not dropped for one that wasn't.
        let is_weaker = |own: &ForeignKey| {
            own.definition.ends_with(NOT_VALID) && !key.definition.ends_with(NOT_VALID)
        };
        let mut others = others
            .map(|(_, own)| own)
            .filter(|own| !is_weaker(own))
            .peekable();
        let Some(first) = others.peek().copied() else {
            continue;
        };
        let same = others.find(|own| acts_same(product, key, own));
        let mut candidate =
            Candidate::about(table, &key.name, Group::DuplicateConstraint, Class::Safe);
        candidate.actions = vec![Action::DropForeignKey {
            schema: table.schema.clone(),
            table: table.name.clone(),
            constraint: key.name.clone(),
        }];
        match same {
            Some(own) => {
                dropped.push(&key.name);
                candidate.reason = format!("the same foreign key as {}: each row is looked up twice", own.name);
                found.push(candidate);
            }
            // Said once of the two.
            None if key.name > first.name => found.push(candidate.rejected(format!(
                "the same columns as the foreign key {}, and other actions or another time of the check: both act",
                first.name
            ))),
            None => {}
        }
    }
    found
}

/// Whether two foreign keys join the same columns, in any order.
fn joins_same(one: &ForeignKey, other: &ForeignKey) -> bool {
    let pairs = |key: &ForeignKey| {
        let own = key.columns.iter().cloned();
        let mut pairs: Vec<_> = own.zip(key.parent_columns.iter().cloned()).collect();
        pairs.sort();
        pairs
    };
    (&one.parent_schema, &one.parent) == (&other.parent_schema, &other.parent)
        && pairs(one) == pairs(other)
}

/// Whether two foreign keys over the same columns do the same at the same time.
fn acts_same(product: Product, one: &ForeignKey, other: &ForeignKey) -> bool {
    // InnoDB checks at once in any case.
    let action = |text: &str| match (product, text) {
        (Product::Mariadb, "NO ACTION") => "RESTRICT".to_owned(),
        _ => text.to_owned(),
    };
    let words = |key: &ForeignKey| {
        let said = |word: &str| key.definition.contains(word);
        // What follows the columns; some of them may be named again.
        let rest = key.definition.rsplit_once(')').map_or("", |(_, rest)| rest);
        (
            said(" MATCH FULL"),
            said(" DEFERRABLE"),
            said(" INITIALLY DEFERRED"),
            said(" NOT ENFORCED"),
            said("SET NULL (") || said("SET DEFAULT ("),
            rest.trim_end_matches(NOT_VALID).to_owned(),
        )
    };
    action(&one.on_delete) == action(&other.on_delete)
        && action(&one.on_update) == action(&other.on_update)
        && words(one) == words(other)
        && !words(one).4
}

fn checks(product: Product, table: &Table) -> Vec<Candidate> {
    let (mut dropped, mut found): (Vec<&str>, _) = (Vec::new(), Vec::new());
    // MariaDB's checks of a column have its name, and go with its definition only.
    let is_of_column =
        |check: &Check| product == Product::Mariadb && table.column(&check.name).is_some();
    let is_check =
        |check: &Check| product == Product::Mariadb || check.definition.starts_with("CHECK ");
    let valid = |check: &Check| check.definition.trim_end_matches(NOT_VALID).to_owned();
    for (at, check) in table.checks.iter().enumerate().rev() {
        if is_of_column(check) || !is_check(check) {
            continue;
        }
        let same = table.checks.iter().enumerate().find(|(other, own)| {
            let is_weaker =
                own.definition.ends_with(NOT_VALID) && !check.definition.ends_with(NOT_VALID);
            *other != at
                && !dropped.contains(&own.name.as_str())
                && valid(check) == valid(own)
                && !is_weaker
        });
        let Some((_, same)) = same else { continue };
        dropped.push(&check.name);
        let mut candidate =
            Candidate::about(table, &check.name, Group::DuplicateConstraint, Class::Safe);
        candidate.actions = vec![Action::DropCheck {
            schema: table.schema.clone(),
            table: table.name.clone(),
            constraint: check.name.clone(),
        }];
        candidate.reason = format!("the same CHECK as {}: each row is checked twice", same.name);
        found.push(candidate);
    }
    found
}
