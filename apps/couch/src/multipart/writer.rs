//! The text between the parts of a body that is written.

use crate::auth::{hex, random};

/// A random boundary, which occurs in no part.
#[derive(Debug, Clone)]
pub struct Boundary(String);

impl Default for Boundary {
    fn default() -> Self {
        Boundary(hex(&random::<16>()))
    }
}

impl Boundary {
    /// The content type of a body with it; `kind` is `mixed` or `related`.
    pub fn content_type(&self, kind: &str) -> String {
        format!("multipart/{kind}; boundary=\"{}\"", self.0)
    }

    /// Returns the start of the first part of a body, with these header fields.
    pub fn first_part(&self, headers: &[(&str, &str)]) -> String {
        let mut text = format!("--{}", self.0);
        for (name, value) in headers {
            text.extend(["\r\n", name, ": "]);
            // A line end within would begin another field.
            text.extend(value.chars().filter(|c| !c.is_control()));
        }
        text.push_str("\r\n\r\n");
        text
    }

    /// Returns the start of another part.
    pub fn part(&self, headers: &[(&str, &str)]) -> String {
        format!("\r\n{}", self.first_part(headers))
    }

    /// Returns the end of the body.
    pub fn end(&self) -> String {
        format!("\r\n--{}--", self.0)
    }
}

/// A header's value as a quoted string.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multipart::{Event, Parser, boundary, parameter};

    #[test]
    fn what_is_written_is_read() {
        let written = Boundary::default();
        let name = "a \"b\" \\ ü;c";
        let disposition = format!("attachment; filename={}", quoted(name));
        let body = [
            written.part(&[("Content-Disposition", &disposition), ("A", "1\r\n2")]),
            "text".to_owned(),
            written.end(),
        ];
        let mut parser = Parser::new(&boundary(&written.content_type("mixed")).unwrap());
        parser.feed(body.concat().as_bytes());
        let Ok(Event::Part(headers)) = parser.next_event() else {
            panic!("no part");
        };
        let disposition = headers.get("content-disposition").unwrap();
        assert_eq!(parameter(disposition, "filename").as_deref(), Some(name));
        assert_eq!(headers.get("a"), Some("12"));
        assert_eq!(parser.next_event(), Ok(Event::Data("text".into())));
        assert_eq!(parser.next_event(), Ok(Event::End));
    }
}
