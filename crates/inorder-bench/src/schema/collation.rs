//! Collations of MySQL 8, which MariaDB does not have: the nearest ones of MariaDB.

use super::script::Statement;
use std::collections::BTreeSet;

/// What the names of these collations contain, and how their ends are called in MariaDB 10.10 and later. MySQL's compare by the
/// Unicode Collation Algorithm 9.0 without padding, MariaDB's by 14.0.
const VERSION: &str = "_0900_";
const ENDS: [(&str, &str); 4] = [
    ("ai_ci", "utf8mb4_uca1400_nopad_ai_ci"),
    ("as_ci", "utf8mb4_uca1400_nopad_as_ci"),
    ("as_cs", "utf8mb4_uca1400_nopad_as_cs"),
    ("bin", "utf8mb4_nopad_bin"),
];
/// Statements that name collations. The others have values.
const NAMING: [&str; 3] = ["CREATE", "ALTER", "SET"];

/// Replaces the collations of MySQL 8 in a statement for MariaDB. A note names each.
pub fn translate(engine: &str, statement: &mut Statement, notes: &mut BTreeSet<String>) {
    if engine != "mariadb" || !NAMING.contains(&statement.word(0)) {
        return;
    }
    let sql = std::mem::take(&mut statement.sql);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = sql.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(word);
        let nearest = nearest(name);
        statement.sql.push_str(nearest.unwrap_or(name));
        if let Some(nearest) = nearest {
            notes.insert(format!(
                "not as it is: the collation {} of MySQL is {nearest} here",
                name.to_lowercase()
            ));
        }
        let next = behind.find(is_of_name).unwrap_or(behind.len());
        statement.sql.push_str(&behind[..next]);
        rest = &behind[next..];
    }
}

/// The nearest collation of MariaDB to one of MySQL 8; `None` for another word.
fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let (begin, end) = lower.split_once(VERSION)?;
    // Some of a language have a suffix, such as `ja_0900_as_cs_ks`.
    let found = ENDS.iter().find(|(own, _)| end.starts_with(own));
    found
        .filter(|_| begin.starts_with("utf8mb4"))
        .map(|(_, nearest)| *nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::script::statements;

    fn translated(sql: &str) -> (String, usize) {
        let mut notes = BTreeSet::new();
        let mut statement = statements("mariadb", sql).remove(0);
        translate("mariadb", &mut statement, &mut notes);
        (statement.sql, notes.len())
    }

    #[test]
    fn collations_of_mysql_8_are_those_of_mariadb() {
        for (end, wanted) in [
            ("utf8mb4_0900_ai_ci", "utf8mb4_uca1400_nopad_ai_ci"),
            ("UTF8MB4_0900_AS_CS", "utf8mb4_uca1400_nopad_as_cs"),
            ("utf8mb4_0900_as_ci", "utf8mb4_uca1400_nopad_as_ci"),
            ("utf8mb4_de_pb_0900_ai_ci", "utf8mb4_uca1400_nopad_ai_ci"),
            ("utf8mb4_ja_0900_as_cs_ks", "utf8mb4_uca1400_nopad_as_cs"),
            ("utf8mb4_0900_bin", "utf8mb4_nopad_bin"),
        ] {
            let sql =
                |end: &str| format!("CREATE TABLE t(a varchar(9) COLLATE {end}) COLLATE={end}");
            assert_eq!(translated(&sql(end)), (sql(wanted), 1), "{end}");
        }
        for same in [
            "CREATE TABLE t(a varchar(9) COLLATE utf8mb4_general_ci, `b_0900_ai_ci` int)",
            "INSERT INTO t VALUES ('utf8mb4_0900_ai_ci')",
        ] {
            assert_eq!(translated(same), (same.to_owned(), 0));
        }
    }
}
