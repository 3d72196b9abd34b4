//! The tables that inputs go to.

use std::path::Path;

use inorder_load::source::{Location, STDIN};

/// Divides inputs by table: all to the given one, or each to the table of its own name.
pub fn by_table(
    inputs: Vec<Location>,
    table: Option<&str>,
) -> Result<Vec<(String, Vec<Location>)>, String> {
    if let Some(table) = table {
        return Ok(vec![(table.to_owned(), inputs)]);
    }
    let mut tables: Vec<(String, Vec<Location>)> = Vec::new();
    for input in inputs {
        let name = table_of(&input).ok_or("--table: name the table; stdin has no file name")?;
        match tables.iter_mut().find(|(table, _)| *table == name) {
            Some((_, inputs)) => inputs.push(input),
            None => tables.push((name, vec![input])),
        }
    }
    Ok(tables)
}

/// The table for an input: the given one, or the file name up to the first dot.
fn table_of(input: &Location) -> Option<String> {
    if let Some(table) = &input.table {
        return Some(table.clone());
    }
    let name = input.name();
    let name = name.file_name()?.to_string_lossy().into_owned();
    let is_file = input.path != Path::new(STDIN);
    let stem = name.split('.').next().unwrap_or(&name).to_owned();
    (is_file && !stem.is_empty()).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_like_their_files() {
        let table = |path: &str, table: Option<&str>| {
            table_of(&Location {
                path: path.into(),
                table: table.map(str::to_owned),
            })
        };
        assert_eq!(table("a/films.jsonl.gz", None).as_deref(), Some("films"));
        assert_eq!(table("a/old.db", Some("users")).as_deref(), Some("users"));
        assert_eq!(
            table("https://host/a/films.csv?as=x.y", None).as_deref(),
            Some("films")
        );
        assert_eq!(table("-", None), None);
    }

    #[test]
    fn files_of_one_name_go_to_one_table() {
        let input = |path: &str| Location {
            path: path.into(),
            table: None,
        };
        let inputs = vec![input("a/x.csv"), input("y.csv"), input("b/x.csv.gz")];
        let tables = by_table(inputs.clone(), None).expect("tables");
        let names: Vec<(&str, usize)> = tables
            .iter()
            .map(|(table, inputs)| (table.as_str(), inputs.len()))
            .collect();
        assert_eq!(names, [("x", 2), ("y", 1)]);
        let one = by_table(inputs, Some("t")).expect("a table");
        assert_eq!((one.len(), one[0].1.len()), (1, 3));
    }
}
