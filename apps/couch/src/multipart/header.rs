//! Header fields of parts, and the parameters of their values.

use super::MultipartError;

/// A part's header fields, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads lines of `Name: value`; `text` has no empty line at its end.
    pub(super) fn parse(text: &[u8]) -> Result<Self, MultipartError> {
        let text = std::str::from_utf8(text).map_err(|_| MultipartError::BadHeader)?;
        let lines = text.split("\r\n").filter(|line| !line.is_empty());
        let field = |line: &str| {
            let (name, value) = line.split_once(':').ok_or(MultipartError::BadHeader)?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        lines.map(field).collect::<Result<_, _>>().map(Headers)
    }

    /// A field's value; names have no case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A value without its parameters: `text/plain` of `text/plain; charset=utf-8`.
pub fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

/// A parameter of a value, such as `boundary` in a content type; quoted or not.
pub fn parameter(value: &str, name: &str) -> Option<String> {
    Some(parameter_value(after_equals(value, name)?).0)
}

/// The text of a quoted parameter as it stands, up to the last quotation mark of the value. CouchDB writes the last parameter of
/// a header so, without escapes. None if the parameter is missing or has no quotation marks.
pub fn raw_parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let quoted = after_equals(value, name)?.trim_start().strip_prefix('"')?;
    Some(quoted.rsplit_once('"')?.0)
}

/// The rest of a value from a parameter's text on.
fn after_equals<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (found, after) = rest.split_once('=')?;
        if found.trim().eq_ignore_ascii_case(name) {
            return Some(after);
        }
        rest = parameter_value(after).1.split_once(';')?.1;
    }
}

/// Splits off the start of `text`, up to a semicolon or in quotes.
fn parameter_value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

/// The boundary in the content type of a body that is `multipart/…`.
///
/// # Errors
/// If there is none, or one that RFC 2046 allows not: more than 70 characters.
pub fn boundary(content_type: &str) -> Result<String, MultipartError> {
    let boundary = parameter(content_type, "boundary").unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_graphic() || c == ' ';
    if boundary.is_empty() || boundary.len() > 70 || !boundary.chars().all(is_allowed) {
        return Err(MultipartError::BadBoundary);
    }
    Ok(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_without_case() {
        let headers = Headers::parse(b"Content-Type: text/plain\r\nx: a:b\r\n").unwrap();
        assert_eq!(headers.get("content-type"), Some("text/plain"));
        assert_eq!(headers.get("X"), Some("a:b"));
        assert_eq!(headers.get("y"), None);
        assert_eq!(Headers::parse(b"no colon"), Err(MultipartError::BadHeader));
        assert_eq!(Headers::parse(b"a: \xff"), Err(MultipartError::BadHeader));
    }

    #[test]
    fn parameters_are_found_quoted_or_not() {
        let value = r#"attachment; a="x;\"y\" = z"; FileName=b ; c="#;
        assert_eq!(parameter(value, "a").as_deref(), Some(r#"x;"y" = z"#));
        assert_eq!(parameter(value, "filename").as_deref(), Some("b"));
        assert_eq!(parameter(value, "c").as_deref(), Some(""));
        assert_eq!(parameter(value, "d"), None);
        assert_eq!(parameter("text/plain", "a"), None);
        assert_eq!(parameter("a; b=\"open", "b").as_deref(), Some("open"));
        assert_eq!(media_type(value), "attachment");
        assert_eq!(
            raw_parameter(r#"x; a="b"; c="d\e"f""#, "c"),
            Some(r#"d\e"f"#)
        );
        assert_eq!(raw_parameter("x; a=b", "a"), None);
        assert_eq!(raw_parameter(r#"x; a="b"#, "a"), None);
    }

    #[test]
    fn boundaries_are_checked() {
        let of = |text: &str| boundary(&format!("multipart/mixed; boundary={text}"));
        assert_eq!(of("\"a b\"").as_deref(), Ok("a b"));
        for wrong in ["", "\"\"", &"a".repeat(71), "\"a\r\nb\"", "ä"] {
            assert_eq!(of(wrong), Err(MultipartError::BadBoundary), "{wrong}");
        }
    }
}
