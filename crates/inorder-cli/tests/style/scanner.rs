//! As much of Rust's grammar as the checks need: tokens, and where functions begin and end.

/// A word, or a sign of one character. Comments, strings and character literals leave none.
#[derive(Debug, PartialEq)]
pub struct Token {
    pub text: String,
    /// From 1.
    pub line: usize,
}

pub struct Function {
    pub name: String,
    /// Of its `fn`, from 1.
    pub line: usize,
    /// From its `fn` to its last brace.
    pub lines: usize,
}

/// The tokens of a source file.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let (end, is_token) = match literal_end(&chars, at) {
            Some(end) => (end, false),
            None if is_word(chars[at]) => (word_end(&chars, at), true),
            None => (at + 1, !chars[at].is_whitespace()),
        };
        if is_token {
            let text = chars[at..end].iter().collect();
            tokens.push(Token { text, line });
        }
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    tokens
}

/// The functions that have a body, nested ones too.
pub fn functions(tokens: &[Token]) -> Vec<Function> {
    let text = |i: usize| tokens.get(i).map_or("", |token: &Token| &token.text);
    let starts = (0..tokens.len()).filter(|&i| text(i) == "fn");
    starts
        .filter_map(|start| {
            // In a macro the name may be a variable; without any name it is the type of a pointer.
            let name = text(start + if text(start + 1) == "$" { 2 } else { 1 });
            let body = body_start(tokens, start).filter(|_| name.starts_with(is_word))?;
            let end = closing(tokens, body)?;
            Some(Function {
                name: name.to_owned(),
                line: tokens[start].line,
                lines: tokens[end].line - tokens[start].line + 1,
            })
        })
        .collect()
}

/// The tokens outside of `#[cfg(test)]` modules between braces.
pub fn without_tests(tokens: &[Token]) -> Vec<&Token> {
    let is_marked = |at: usize| {
        let texts = tokens[at..].iter().map(|token| token.text.as_str());
        texts
            .take(8)
            .eq(["#", "[", "cfg", "(", "test", ")", "]", "mod"])
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let body = at + 9;
        let is_body = is_marked(at) && tokens.get(body).is_some_and(|token| token.text == "{");
        match closing(tokens, body).filter(|_| is_body) {
            Some(end) => at = end + 1,
            None => {
                found.push(&tokens[at]);
                at += 1;
            }
        }
    }
    found
}

/// Whether the file declares this module in a file of its own.
pub fn declares(tokens: &[Token], module: &str) -> bool {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    texts
        .windows(3)
        .any(|window| window == ["mod", module, ";"])
}

/// The brace that opens the body of the item at `start`; none where it is only declared.
pub fn body_start(tokens: &[Token], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "{" if depth == 0 => return Some(i),
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The brace, bracket or parenthesis that closes the one at `start`.
pub fn closing(tokens: &[Token], start: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match token.text.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// Whether a token is a word rather than a sign or a number.
pub fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_end(chars: &[char], at: usize) -> usize {
    let length = chars[at..].iter().take_while(|c| is_word(**c)).count();
    at + length
}

/// The end of the comment, string or character literal that begins here, if one does.
fn literal_end(chars: &[char], at: usize) -> Option<usize> {
    // Nearly all characters are none of these, and most of the time of all checks would go into the comparisons below.
    if !matches!(chars[at], '/' | '"' | '\'' | 'r' | 'b' | 'c') {
        return None;
    }
    let starts = |text: &str| {
        chars[at..]
            .iter()
            .copied()
            .take(text.len())
            .eq(text.chars())
    };
    if starts("//") {
        let length = chars[at..].iter().take_while(|c| **c != '\n').count();
        return Some(at + length);
    }
    if starts("/*") {
        return Some(block_comment_end(chars, at));
    }
    if let Some(prefix) = ["r", "br", "cr"].iter().find(|prefix| starts(prefix)) {
        let hashes = chars[at + prefix.len()..]
            .iter()
            .take_while(|c| **c == '#')
            .count();
        let quote = at + prefix.len() + hashes;
        if chars.get(quote) == Some(&'"') {
            let end: Vec<char> = std::iter::once('"')
                .chain(std::iter::repeat_n('#', hashes))
                .collect();
            return Some(past(chars, quote + 1, &end));
        }
    }
    match chars[at] {
        '"' => Some(quoted_end(chars, at, '"')),
        '\'' if is_character(&chars[at + 1..]) => Some(quoted_end(chars, at, '\'')),
        _ => None,
    }
}

/// Whether this follows the quote of a character literal rather than that of a lifetime.
fn is_character(rest: &[char]) -> bool {
    matches!(rest, ['\\', ..] | [_, '\'', ..])
}

fn quoted_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Behind the next occurrence of `end`, or the end of the file.
fn past(chars: &[char], from: usize, end: &[char]) -> usize {
    let mut windows = chars[from..].windows(end.len());
    let found = windows.position(|window| window == end);
    found.map_or(chars.len(), |found| from + found + end.len())
}

#[test]
fn comments_and_literals_leave_no_tokens() {
    for literal in [
        "// fn a() {\n",
        "/// {\n",
        "/* { /* \" */ fn */",
        "\"{ \\\" fn \\\\\"",
        "r\"\\\"",
        "r#\"\" {\"#",
        "br##\"\"# {\"##",
        "'{'",
        "'\\''",
        "'\"'",
        "'\\u{7b}'",
        "'é'",
    ] {
        let source = format!("before {literal} after");
        let texts: Vec<String> = tokens(&source)
            .into_iter()
            .map(|token| token.text)
            .collect();
        assert_eq!(texts, ["before", "after"], "{literal}");
    }
}

#[test]
fn lifetimes_raw_names_and_words_that_end_in_r_are_code() {
    let texts = |source| -> Vec<String> { tokens(source).into_iter().map(|t| t.text).collect() };
    assert_eq!(texts("&'a str, 'b"), ["&", "'", "a", "str", ",", "'", "b"]);
    assert_eq!(texts("r#fn r"), ["r", "#", "fn", "r"]);
    assert_eq!(texts("for\"{\"{"), ["for", "{"]);
}

#[test]
fn comments_at_the_end_of_a_file_end_there() {
    assert!(tokens("//").is_empty());
    assert!(tokens("// a").is_empty());
    assert!(tokens("/* a").is_empty());
    assert!(tokens("\"a").is_empty());
    let lines: Vec<usize> = tokens("a // b\n// c\nd")
        .into_iter()
        .map(|t| t.line)
        .collect();
    assert_eq!(lines, [1, 3]);
}

#[test]
fn functions_are_measured_from_their_fn_to_their_last_brace() {
    let source = "trait T { fn declared(a: [u8; 2]); }\n\
                  type P = fn(u8) -> u8;\n\
                  pub fn outer(f: impl Fn() -> [u8; 2]) {\n\
                  \x20 let a = \"}\";\n\
                  \x20 fn inner() {\n\
                  \x20 }\n\
                  }\n\
                  macro_rules! m { ($n:ident) => { fn $n() {} } }\n";
    let found: Vec<(String, usize, usize)> = functions(&tokens(source))
        .into_iter()
        .map(|f| (f.name, f.line, f.lines))
        .collect();
    let expected = [("outer", 3, 5), ("inner", 5, 2), ("n", 8, 1)];
    assert_eq!(
        found,
        expected.map(|(name, line, lines)| (name.to_owned(), line, lines))
    );
}

#[test]
fn modules_are_declared_by_their_name_and_a_semicolon() {
    let tokens = tokens("mod a;\npub(crate) mod b ;\nmod c { }\n// mod d;\n");
    let declared: Vec<&str> = ["a", "b", "c", "d"]
        .into_iter()
        .filter(|module| declares(&tokens, module))
        .collect();
    assert_eq!(declared, ["a", "b"]);
}
