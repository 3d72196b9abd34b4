//! Strings and comments of TOML, one line each.

/// A line that is a comment. Control characters, which names may have, are spaces.
pub fn comment(text: &str) -> String {
    format!("# {}\n", text.replace(char::is_control, " "))
}

/// A string.
pub fn string(text: &str) -> String {
    if !text.contains('\n') {
        return toml::Value::from(text).to_string();
    }
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// A string that may have several lines, readable unless it has what does not stand in a readable one.
pub fn lines(text: &str) -> String {
    let is_readable = |c: char| c == '\n' || c == '\t' || !c.is_control();
    match text.chars().all(is_readable) && !text.contains("'''") {
        true => format!("'''\n{text}'''"),
        false => string(text),
    }
}
