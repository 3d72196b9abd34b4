//! Names of columns from a header that lacks some or has some twice.

use crate::note::{Note, NoteKind};

/// Names each column once: a column without a name gets its number, as `c3`, and a repeated name a number after it, as `name_1`.
/// The notes say which columns have other names than in the header.
pub(super) fn distinct(mut names: Vec<String>) -> (Vec<String>, Vec<Note>) {
    let mut notes = Vec::new();
    for place in 0..names.len() {
        let name = &names[place];
        let is_empty = name.trim().is_empty();
        let is_taken = |name: &str, names: &[String]| names.iter().any(|other| other == name);
        if !is_empty && !is_taken(name, &names[..place]) {
            continue;
        }
        let number = place + 1;
        let numbered = |at: usize| match (is_empty, at) {
            (true, 0) => format!("c{number}"),
            (true, at) => format!("c{number}_{at}"),
            (false, at) => format!("{name}_{}", at + 1),
        };
        let free = (0..).map(numbered).find(|name| !is_taken(name, &names));
        let free = free.expect("one of all numbers is free");
        let why = match is_empty {
            true => "the header has no name for it".to_owned(),
            false => format!("the header has `{name}` more than once"),
        };
        let text = format!("column {number} is named `{free}`: {why} (--columns)");
        notes.push(Note::new(NoteKind::ColumnRenamed, text).of_column(&free));
        names[place] = free;
    }
    (names, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        for (header, expected, notes) in [
            (&["a", "b"][..], &["a", "b"][..], 0),
            (&["a", "a", "a"], &["a", "a_1", "a_2"], 2),
            (&["a", "a", "a_1"], &["a", "a_2", "a_1"], 1),
            (&["", "b", " "], &["c1", "b", "c3"], 2),
            (&["c2", ""], &["c2", "c2_1"], 1),
            (&["id", "ID"], &["id", "ID"], 0),
        ] {
            let names = header.iter().map(|name| (*name).to_owned()).collect();
            let (found, told) = distinct(names);
            assert_eq!(
                (&found[..], told.len()),
                (
                    &expected
                        .iter()
                        .map(|name| (*name).to_owned())
                        .collect::<Vec<_>>()[..],
                    notes
                )
            );
        }
    }
}
