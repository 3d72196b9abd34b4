//! A file of steps, as its client runs it.

use super::{INDEX_BYTES_PER_S, ROWS_BYTES_PER_S, Step, Steps, mariadb, postgres};
use crate::{
    report::plain,
    server::model::{Database, Product},
};

/// A script of changes, each with its title, or of what takes them back in the reverse order. `about` are sentences for
/// its first lines. Only statements have the characters of names that end a line.
pub fn script(
    database: &Database,
    about: &[String],
    changes: &[(String, &Steps)],
    is_undo: bool,
) -> String {
    let mut out = String::new();
    for line in about {
        out += &format!("-- {}\n", plain(line));
    }
    out += &match database.product {
        Product::Postgres => postgres::begin(database),
        Product::Mariadb => mariadb::begin(),
    };
    let written = |(title, steps): &(String, &Steps)| change(title, steps, is_undo);
    match is_undo {
        true => out.extend(changes.iter().rev().map(written)),
        false => out.extend(changes.iter().map(written)),
    }
    out
}

fn change(title: &str, steps: &Steps, is_undo: bool) -> String {
    let (heading, steps) = match is_undo {
        true => (format!("takes back: {title}"), &steps.undo),
        false => (format!("{title}\n{}", cost(steps)), &steps.steps),
    };
    let mut out = String::from("\n");
    for line in heading.lines() {
        out += &format!("-- {}\n", plain(line));
    }
    for (at, Step { what, statements }) in steps.iter().enumerate() {
        out += &format!("\n-- {}. {}\n", at + 1, plain(what));
        for statement in statements {
            out += &format!("{statement}\n");
        }
    }
    out
}

/// What a change takes, in a line.
pub fn cost(steps: &Steps) -> String {
    let online = match steps.is_online {
        true => "online but for the locks that its steps name",
        false => "blocks writes",
    };
    format!(
        "{online}; about {:.0} s at {:.0} MB/s of rows and {:.0} MB/s of indexes; {:.1} MB beside the table",
        steps.seconds.ceil(),
        ROWS_BYTES_PER_S / 1e6,
        INDEX_BYTES_PER_S / 1e6,
        steps.extra_bytes as f64 / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name may hold any character. What ends a line for one client ends the comment too.
    #[test]
    fn names_in_comments_are_no_sql() {
        let name = "a\nDROP TABLE b;\rDROP TABLE c;\r\nDROP TABLE d;\u{1b}[2J\u{85}DROP TABLE e;";
        let step = || Step::new(format!("Fills {name}."), vec!["SELECT 1;".into()]);
        let steps = Steps {
            steps: vec![step()],
            undo: vec![step()],
            ..Steps::default()
        };
        for product in [Product::Postgres, Product::Mariadb] {
            let database = Database {
                product,
                ..Database::default()
            };
            let begin = script(&database, &[], &[], false);
            let changes = [(format!("uuid: {name}").replace('\n', " "), &steps)];
            for is_undo in [false, true] {
                let text = script(&database, &[name.to_owned()], &changes, is_undo);
                let sql: Vec<&str> = text
                    .split(['\n', '\r'])
                    .filter(|line| !line.is_empty() && !line.starts_with("--"))
                    .filter(|line| !begin.lines().any(|own| own == *line))
                    .collect();
                assert_eq!(sql, ["SELECT 1;"]);
                assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'));
            }
        }
    }
}
