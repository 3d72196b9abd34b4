//! Columns that get another type together: their tables, foreign keys, and what both rely on.

use super::{
    array,
    change::Change,
    links::{Link, links},
    name, same, text,
};
use crate::server::{
    migrate::Context,
    model::{ColumnTo, Table},
    rules::ColumnName,
};
use std::collections::BTreeMap;

/// Columns that change together, in one direction.
pub(super) struct Group<'d> {
    pub changes: Vec<Change<'d>>,
    pub links: Vec<Link<'d>>,
}

impl<'d> Group<'d> {
    pub fn of(
        context: Context<'d>,
        columns: &[ColumnName],
        to: ColumnTo,
        is_back: bool,
    ) -> Result<Self, String> {
        let mut tables: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for column in columns {
            tables
                .entry((&column.schema, &column.table))
                .or_default()
                .push(&column.column);
        }
        let (mut changes, mut first_index) = (Vec::new(), 0);
        for (number, ((schema, table), names)) in tables.into_iter().enumerate() {
            let table = context.table(schema, table)?;
            let change = Change {
                table,
                columns: names.iter().filter_map(|name| table.column(name)).collect(),
                to,
                is_back,
                number,
                first_index,
                context,
            };
            change.check()?;
            first_index += change.indexes().count();
            changes.push(change);
        }
        let links = links(context, &changes)?;
        Ok(Group { changes, links })
    }

    pub fn row_bytes(&self) -> u64 {
        self.changes.iter().map(|change| change.table.bytes).sum()
    }

    /// The tables, each before those that it refers to: writers lock them in that order.
    pub fn tables(&self) -> Vec<String> {
        let mut left: Vec<&Table> = self.changes.iter().map(|change| change.table).collect();
        let mut found = Vec::new();
        while !left.is_empty() {
            let is_parent = |table: &Table| {
                self.links.iter().any(|link| {
                    std::ptr::eq(link.parent, table)
                        && !std::ptr::eq(link.child, table)
                        && left.iter().any(|own| std::ptr::eq(*own, link.child))
                })
            };
            let at = left.iter().position(|table| !is_parent(table)).unwrap_or(0);
            found.push(name(left.remove(at)));
        }
        found
    }

    /// The condition that the columns have the types from which they change.
    pub fn is_pending(&self) -> String {
        let all = || {
            let changes = self.changes.iter();
            changes.flat_map(|change| change.columns.iter().map(move |column| (change, column)))
        };
        format!(
            "pg_temp.inorder_pending({}, {}, {}, {})",
            array(all().map(|(change, _)| text(&name(change.table)))),
            array(all().map(|(_, column)| text(&column.name))),
            array(all().map(|(change, column)| text(change.old_type(column)))),
            array(all().map(|(change, column)| text(change.new_type(column)))),
        )
    }

    /// Ends a step early where the change was made.
    pub fn unless_done(&self) -> String {
        format!("IF NOT {} THEN\n  EXIT;\nEND IF;", self.is_pending())
    }

    /// Raises unless the tables are as they were read.
    pub fn are_same(&self) -> String {
        let all = self
            .changes
            .iter()
            .map(|change| same(change.table, &change.lines(), self.ignored(change), false));
        all.collect::<Vec<_>>().join("\n")
    }

    /// The keys of lines that other changes make or take away, and of what these steps make.
    pub fn ignored(&self, change: &Change<'_>) -> Vec<String> {
        let table = change.table;
        let mut keys = vec![text(&format!("trigger {}", change.trigger()))];
        for (at, index) in change.indexes().enumerate() {
            keys.push(text(&format!("index {}", change.new_index(at, index))));
        }
        for link in &self.links {
            let key = format!("constraint {}", link.new);
            if std::ptr::eq(link.child, table) {
                keys.push(text(&key));
            }
            if std::ptr::eq(link.parent, table) {
                keys.push(format!(
                    "{} || to_regclass({})::text",
                    text(&format!("{key} of ")),
                    text(&name(link.child))
                ));
            }
        }
        let retyped = change.context.retyped(table);
        for index in &table.indexes {
            let mut terms = index.terms.iter();
            // The text of such an index tells a collation or operator class of the column's old type.
            let is_collated = terms.any(|term| {
                let column = term.column.as_deref().filter(|own| retyped.contains(own));
                let own = column.and_then(|own| table.column(own));
                let may_be_new = column.is_some_and(|own| change.is_back || !change.changes(own));
                may_be_new
                    && own.is_some_and(|own| {
                        own.collation != term.collation || !term.is_default_class
                    })
            });
            if is_collated || change.context.changes_index(table, &index.name) {
                keys.push(text(&format!("index {}", index.name)));
                let backed = index.constraint.iter();
                keys.extend(backed.map(|own| text(&format!("constraint {}", own.name))));
            }
        }
        keys
    }
}
