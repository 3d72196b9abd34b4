//! What a column of MariaDB refuses although its class allows it.

/// Addresses for the types of addresses.
const ADDRESSES: [(&str, [&str; 3]); 2] = [
    ("inet4", ["192.0.2.1", "192.0.2.77", "198.51.100.3"]),
    ("inet6", ["2001:db8::1", "2001:db8::77", "2001:db8:1::3"]),
];
/// Years that a number of four digits is stored as.
const YEARS: (i64, i64) = (1970, 2069);

/// Limits of a declared type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Limits {
    /// Those of the class.
    #[default]
    None,
    /// These values only.
    Values(Vec<String>),
    /// Integers from here to there.
    Integers(i64, i64),
    /// At most so many bytes.
    Bytes(usize),
}

/// Returns the limits of a type. Other engines than MariaDB have none beyond the class.
pub fn limits(engine: &str, declared: &str) -> Limits {
    let lower = declared.to_ascii_lowercase();
    let name = lower.split(['(', ' ']).next().unwrap_or("");
    if engine != "mariadb" {
        return Limits::None;
    }
    let is_unsigned = lower.contains("unsigned");
    let integers = |bits: u32| match is_unsigned {
        true => Limits::Integers(0, (1 << bits) - 1),
        false => Limits::Integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    match name {
        "enum" | "set" => Limits::Values(texts(declared)),
        "tinyint" => integers(8),
        "smallint" => integers(16),
        "mediumint" => integers(24),
        "year" => Limits::Integers(YEARS.0, YEARS.1),
        "binary" | "varbinary" => {
            let digits = lower.split(['(', ')']).nth(1).unwrap_or("");
            digits.parse().map_or(Limits::None, Limits::Bytes)
        }
        _ => match ADDRESSES.iter().find(|(address, _)| *address == name) {
            Some((_, values)) => Limits::Values(values.map(str::to_owned).to_vec()),
            None => Limits::None,
        },
    }
}

/// The texts in quotes of a declared type.
fn texts(declared: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = declared.chars().peekable();
    let mut text: Option<String> = None;
    while let Some(char) = chars.next() {
        match (char, &mut text) {
            ('\'', None) => text = Some(String::new()),
            ('\'', Some(text)) if chars.peek() == Some(&'\'') => text.extend(chars.next()),
            ('\'', Some(_)) => found.extend(text.take()),
            (_, Some(text)) => text.push(char),
            (_, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_of_mariadb_have_limits() {
        let values = |texts: &[&str]| Limits::Values(texts.iter().map(|&t| t.to_owned()).collect());
        for (declared, wanted) in [
            ("enum('new','it''s (old)')", values(&["new", "it's (old)"])),
            ("tinyint(3) unsigned", Limits::Integers(0, 255)),
            ("smallint(6)", Limits::Integers(-32_768, 32_767)),
            ("year(4)", Limits::Integers(1970, 2069)),
            ("varbinary(16)", Limits::Bytes(16)),
            ("int(10) unsigned", Limits::None),
        ] {
            assert_eq!(limits("mariadb", declared), wanted, "{declared}");
        }
        assert_eq!(limits("sqlite", "tinyint"), Limits::None);
    }
}
