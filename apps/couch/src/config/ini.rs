//! CouchDB's ini files: read as CouchDB reads them, and edited line by line, so that comments and the order stay.

use super::values::Values;

/// A line without its comment.
enum Line<'a> {
    Section(&'a str),
    Value(&'a str, &'a str),
    Other,
}

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Self {
        let line = without_comment(line);
        if let Some(rest) = line.strip_prefix('[') {
            return match rest.split_once(']') {
                Some((name, "")) if !name.is_empty() => Line::Section(name),
                _ => Line::Other,
            };
        }
        // With spaces around it first: a key may have an equals sign.
        let parts = line.split_once(" = ").or_else(|| line.split_once('='));
        match parts {
            Some((key, value)) if !key.is_empty() => Line::Value(key.trim(), value.trim()),
            _ => Line::Other,
        }
    }
}

/// The part of a line before its comment, which begins with a semicolon at the start or behind a space or a tab.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with(';') {
        return "";
    }
    let starts = [" ;", "\t;"].into_iter().filter_map(|mark| line.find(mark));
    starts.min().map_or(line, |start| line[..start].trim())
}

/// Returns whether a file gives a value back as it is: a semicolon may begin a comment.
pub fn is_storable(value: &str) -> bool {
    value == without_comment(value) && !value.starts_with(';')
}

/// Reads the text of a file. A key without a value is not set.
pub fn parse(text: &str) -> Values {
    let (mut values, mut section) = (Values::default(), "");
    for line in text.lines() {
        match Line::read(line) {
            Line::Section(name) => section = name,
            Line::Value(key, value) if !section.is_empty() && !value.is_empty() => {
                values.set(section, key, value);
            }
            _ => {}
        }
    }
    values
}

/// Returns the text with a key set to a value, or without the key.
pub fn edit(text: &str, section: &str, key: &str, value: Option<&str>) -> String {
    let mut lines: Vec<&str> = Vec::new();
    // Where the key was, and where its section ends.
    let (mut place, mut section_end) = (None, None);
    let mut current = "";
    for line in text.lines() {
        match Line::read(line) {
            Line::Section(name) => current = name,
            Line::Value(name, _) if current == section && name == key => {
                place = Some(lines.len());
                continue;
            }
            _ => {}
        }
        lines.push(line);
        if current == section && !line.trim().is_empty() {
            section_end = Some(lines.len());
        }
    }
    let header = format!("[{section}]");
    let line = value.map(|value| format!("{key} = {value}"));
    if let Some(line) = &line {
        match place.or(section_end) {
            Some(place) => lines.insert(place, line),
            None => {
                if lines.last().is_some_and(|last| !last.trim().is_empty()) {
                    lines.push("");
                }
                lines.extend([header.as_str(), line]);
            }
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_as_couchdb_reads_them() {
        let one = |line: &str| {
            let values = parse(&format!("[s]\n{line}\n"));
            values
                .section("s")
                .next()
                .map(|(key, value)| format!("{key}|{value}"))
        };
        for (line, read) in [
            ("k=v", "k|v"),
            ("  k  =  v  ", "k|v"),
            ("k = v ; comment", "k|v"),
            ("k = v\t;c", "k|v"),
            ("k = v1;v2", "k|v1;v2"),
            ("k=;", "k|;"),
            ("k== = v", "k==|v"),
            ("k==v", "k|=v"),
            ("k = a = b", "k|a = b"),
        ] {
            assert_eq!(one(line).as_deref(), Some(read), "{line}");
        }
        for line in [
            "", "k", "=v", "k =", "k = ;", ";k=v", " ; k = v", "[t", "[]", "k ;=v",
        ] {
            assert_eq!(one(line), None, "{line}");
        }
        assert_eq!(parse("k = v").sections().count(), 0, "before any section");
        assert_eq!(
            parse("[s]\nk=1\n[t]\nk=2\n[s]\nk=3").get("s", "k"),
            Some("3")
        );
    }

    #[test]
    fn an_edit_keeps_what_it_does_not_touch() {
        let text = "; mine\n[s]\nk = 1 ; one\n\n[t]\nl = 2\n";
        assert_eq!(
            edit(text, "s", "k", Some("9")),
            "; mine\n[s]\nk = 9\n\n[t]\nl = 2\n"
        );
        assert_eq!(
            edit(text, "s", "m", Some("9")),
            "; mine\n[s]\nk = 1 ; one\nm = 9\n\n[t]\nl = 2\n"
        );
        assert_eq!(edit(text, "s", "k", None), "; mine\n[s]\n\n[t]\nl = 2\n");
        assert_eq!(
            edit(text, "u", "k", Some("9")),
            format!("{text}\n[u]\nk = 9\n")
        );
        assert_eq!(edit("", "u", "k", Some("9")), "[u]\nk = 9\n");
        let twice = "[s]\nk = 1\n[t]\n[s]\nk = 2\n";
        assert_eq!(edit(twice, "s", "k", Some("9")), "[s]\n[t]\n[s]\nk = 9\n");
    }

    proptest! {
        #[test]
        fn what_is_set_is_read(
            sets in prop::collection::vec(("[a-c]", "[a-c=]{0,2}[a-c]", prop::option::of("[!-~]([ -~]{0,6}[!-~])?")), 0..12)
        ) {
            let (mut text, mut expected) = (String::new(), Values::default());
            for (section, key, value) in &sets {
                let value = value.as_deref().filter(|value| is_storable(value));
                text = edit(&text, section, key, value);
                match value {
                    Some(value) => expected.set(section, key, value),
                    None => { expected.remove(section, key); }
                }
            }
            prop_assert_eq!(parse(&text), expected, "{}", text);
        }
    }
}
