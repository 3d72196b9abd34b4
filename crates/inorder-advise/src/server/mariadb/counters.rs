//! How far AUTO_INCREMENT and sequences have counted.

use super::{Flavour, catalog::fields, quote};
use crate::{
    Error,
    server::model::{CountedColumn, Database, Sequence},
};
use inorder_engine::remote::ReadOnly;

/// Reads the counters. The statements of the tables are known.
pub(super) fn read(
    session: &mut ReadOnly,
    flavour: &Flavour,
    database: &mut Database,
) -> Result<(), Error> {
    let which = flavour.schemas();
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES WHERE {which} AND AUTO_INCREMENT IS NOT NULL"
    ))?;
    for row in fields(rows) {
        let (schema, name) = (row.text(0), row.text(1));
        let mut tables = database.tables.iter_mut();
        let Some(table) = tables.find(|own| own.schema == schema && own.name == name) else {
            continue;
        };
        // MySQL caches the view's number for a day, not that of SHOW CREATE TABLE.
        let next = row.number(2).max(next(&table.definition).unwrap_or(0));
        let mut columns = table.columns.iter_mut();
        if let Some(column) = columns.find(|column| column.is_serial) {
            column.counted_to = Some(next.saturating_sub(1));
        }
    }
    match flavour.is_mysql {
        true => Ok(()),
        false => sequences(session, &which, database),
    }
}

/// The next number in a table's statement.
fn next(definition: &str) -> Option<u64> {
    let options = definition
        .lines()
        .rev()
        .find(|line| line.starts_with(')'))?;
    let (_, rest) = options.split_once(" AUTO_INCREMENT=")?;
    rest.split(' ').next()?.parse().ok()
}

/// Sequences, which MariaDB stores as tables of one row, and the columns whose defaults name them.
fn sequences(session: &mut ReadOnly, which: &str, database: &mut Database) -> Result<(), Error> {
    let rows = session.rows(&format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE {which} AND TABLE_TYPE = 'SEQUENCE' ORDER BY 1, 2"
    ))?;
    let names: Vec<(String, String)> = fields(rows).map(|row| (row.text(0), row.text(1))).collect();
    for (schema, name) in names {
        let full = format!("{}.{}", quote(&schema), quote(&name));
        let read = session.rows(&format!(
            "SELECT next_not_cached_value, minimum_value, maximum_value, start_value, increment, cycle_option FROM {full}"
        ));
        let row = match read {
            Ok(rows) => fields(rows).next(),
            Err(error) if !session.is_open() => return Err(error.into()),
            Err(_) => None,
        };
        let Some(row) = row else {
            database.notes.push(format!(
                "How far the sequence {schema}.{name} has counted may not be read (GRANT SELECT)."
            ));
            continue;
        };
        let number = |at: usize| row.text(at).parse::<i64>().unwrap_or(i64::MAX);
        let (next, start) = (number(0), number(3));
        // 0 counts by auto_increment_increment.
        let increment = match number(4) {
            0 => 1,
            step => step,
        };
        let columns = counted(database, &full);
        database.sequences.push(Sequence {
            schema,
            name,
            type_name: "bigint".into(),
            start,
            increment,
            minimum: number(1),
            maximum: number(2),
            cycles: row.text(5) == "1",
            // The numbers of the cache are given, or lost at the next start.
            reached: (next != start).then(|| next.saturating_sub(increment)),
            columns,
        });
    }
    Ok(())
}

/// The columns whose defaults count by a sequence: ``nextval(`schema`.`name`)``.
fn counted(database: &Database, full: &str) -> Vec<CountedColumn> {
    let (full, mut found) = (full.to_lowercase(), Vec::new());
    for table in &database.tables {
        let names = |default: &String| {
            let text = default.to_lowercase();
            (text.contains("nextval(") || text.contains("next value for")) && text.contains(&full)
        };
        let columns = table.columns.iter();
        let own = columns.filter(|column| column.default.as_ref().is_some_and(names));
        found.extend(own.map(|column| CountedColumn {
            schema: table.schema.clone(),
            table: table.name.clone(),
            column: column.name.clone(),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn the_next_number_stands_behind_the_columns() {
        let statement = "CREATE TABLE `t` (\n  `id` int NOT NULL AUTO_INCREMENT COMMENT 'x AUTO_INCREMENT=3 ',\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB AUTO_INCREMENT=2140000001 DEFAULT CHARSET=utf8mb4";
        assert_eq!(next(statement), Some(2_140_000_001));
        assert_eq!(
            next("CREATE TABLE `t` (\n  `id` int\n) ENGINE=InnoDB"),
            None
        );
    }
}
