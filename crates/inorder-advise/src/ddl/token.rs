//! SQLite's lexical rules. Source: <https://www.sqlite.org/src/file?name=src/tokenize.c>.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// White space or a comment.
    Space,
    /// A keyword or a name without quotes.
    Word,
    /// A name in double quotes, square brackets or backticks.
    Quoted,
    /// Text in single quotes. SQLite takes it for a name where only a name can be.
    Text,
    /// A number, a blob literal or a parameter.
    Literal,
    /// Anything else, one byte.
    Symbol,
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Token<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end()
    }

    /// Whether it is this keyword, in any case.
    pub(crate) fn is(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == Kind::Symbol && self.text == symbol
    }

    /// The name it stands for, if it can be one.
    pub(crate) fn name(&self) -> Option<String> {
        let inner = || self.text.get(1..self.text.len() - 1).unwrap_or_default();
        match (self.kind, self.text.as_bytes().first()?) {
            (Kind::Word, _) => Some(self.text.to_owned()),
            (Kind::Quoted, b'[') => Some(inner().to_owned()),
            (Kind::Quoted, b'`') => Some(inner().replace("``", "`")),
            (Kind::Quoted, _) => Some(inner().replace("\"\"", "\"")),
            (Kind::Text, _) => Some(inner().replace("''", "'")),
            _ => None,
        }
    }

    /// Whether it is this name, compared as SQLite compares names: without regard to the case of ASCII letters.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.name()
            .is_some_and(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The tokens of a statement without white space and comments.
pub(crate) fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sql.len() {
        let (kind, bytes) = next(&sql.as_bytes()[at..]);
        let text = &sql[at..at + bytes];
        if kind != Kind::Space {
            let start = at;
            found.push(Token { kind, text, start });
        }
        at += bytes;
    }
    found
}

/// Whether a statement has a token that may be this name.
pub(crate) fn mentions(sql: &str, name: &str) -> bool {
    has_text(sql, name) && tokens(sql).iter().any(|token| token.is_name(name))
}

/// Tells whether a name stands in a CHECK constraint or a generated column of CREATE TABLE, or anywhere after the
/// table's name in CREATE INDEX.
pub(crate) fn within_expression(sql: &str, name: &str) -> bool {
    let words = tokens(sql);
    let is_index = words.iter().take(3).any(|word| word.is("INDEX"));
    let mut depth = 0;
    let mut within: Option<i32> = None;
    for (at, word) in words.iter().enumerate() {
        if word.is_symbol("(") {
            depth += 1;
            let before = at.checked_sub(1).map(|at| &words[at]);
            let is_code = before.is_some_and(|word| word.is("CHECK") || word.is("AS"));
            if within.is_none() && (is_index || is_code) {
                within = Some(if is_index { 0 } else { depth });
            }
        } else if word.is_symbol(")") {
            if within == Some(depth) {
                within = None;
            }
            depth -= 1;
        } else if within.is_some() && word.kind != Kind::Text && word.is_name(name) {
            return true;
        }
    }
    false
}

/// Whether a token of a statement can be this name or keyword: the text is there, in any case. A name with quotes is spelled
/// in other ways too.
pub(crate) fn has_text(sql: &str, name: &str) -> bool {
    let name = name.as_bytes();
    let has_quotes = name.iter().any(|byte| b"\"'`".contains(byte));
    let mut places = sql.as_bytes().windows(name.len().max(1));
    has_quotes || name.is_empty() || places.any(|text| text.eq_ignore_ascii_case(name))
}

fn is_in_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80
}

/// The first token's kind and length; text that isn't closed reaches to the end.
fn next(bytes: &[u8]) -> (Kind, usize) {
    let run = |from: usize, is_part: &dyn Fn(&u8) -> bool| {
        let rest = bytes[from..].iter();
        from + rest.take_while(|byte| is_part(byte)).count()
    };
    let until = |end: &[u8], from: usize| {
        let mut windows = bytes.get(from..).unwrap_or_default().windows(end.len());
        let found = windows.position(|window| window == end);
        found.map_or(bytes.len(), |at| from + at + end.len())
    };
    match bytes {
        [first, ..] if first.is_ascii_whitespace() => {
            (Kind::Space, run(1, &|byte| byte.is_ascii_whitespace()))
        }
        [b'-', b'-', ..] => (Kind::Space, until(b"\n", 2)),
        [b'/', b'*', ..] => (Kind::Space, until(b"*/", 2)),
        [b'\'', ..] => quoted(bytes, b'\'', Kind::Text),
        [quote @ (b'"' | b'`'), ..] => quoted(bytes, *quote, Kind::Quoted),
        [b'[', ..] if bytes.contains(&b']') => (Kind::Quoted, until(b"]", 1)),
        [b'x' | b'X', b'\'', ..] => (Kind::Literal, until(b"'", 2)),
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => (
            Kind::Literal,
            run(1, &|byte| is_in_name(byte) || *byte == b'.'),
        ),
        [b'?' | b':' | b'@' | b'#', ..] => (Kind::Literal, run(1, &is_in_name)),
        [first, ..] if is_in_name(first) => (Kind::Word, run(1, &is_in_name)),
        _ => (Kind::Symbol, 1),
    }
}

/// Text in quotes, in which two of them stand for one.
fn quoted(bytes: &[u8], quote: u8, kind: Kind) -> (Kind, usize) {
    let mut at = 1;
    while at < bytes.len() {
        match (bytes[at] == quote, bytes.get(at + 1) == Some(&quote)) {
            (true, true) => at += 2,
            (true, false) => return (kind, at + 1),
            _ => at += 1,
        }
    }
    // What isn't closed is no name.
    (Kind::Literal, bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_every_kind_of_quotes() {
        let sql = "a \"b \"\"c\" [d ] e] `f``g` 'h''i' -- j\n k/* l */m";
        let names: Vec<_> = tokens(sql).iter().filter_map(Token::name).collect();
        assert_eq!(names, ["a", "b \"c", "d ", "e", "f`g", "h'i", "k", "m"]);
    }

    #[test]
    fn every_byte_belongs_to_a_token() {
        let sql = "x'0a' 1.5e3 ?1 :a é€ ]\"open";
        let texts: Vec<_> = tokens(sql).into_iter().map(|token| token.text).collect();
        assert_eq!(texts, ["x'0a'", "1.5e3", "?1", ":a", "é€", "]", "\"open"]);
    }
}
