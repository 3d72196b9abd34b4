//! What the rules ask of SQL text, beyond its tokens.

use crate::ddl::{Kind, Token, quoted};

/// Names as a list for SQL.
pub(crate) fn quoted_list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(quoted).collect();
    names.join(", ")
}

/// Tokens in one spelling: two expressions are the same if their spellings are.
///
/// Names lose their quotes, and their case unless they are in double quotes; parentheses around the whole go.
pub(crate) fn normalized(tokens: &[Token<'_>]) -> String {
    let mut inner = tokens;
    while let [first, between @ .., last] = inner
        && first.is_symbol("(")
        && last.is_symbol(")")
        && is_balanced(between)
    {
        inner = between;
    }
    let word = |token: &Token<'_>| match token.kind {
        Kind::Text | Kind::Literal => token.text.to_owned(),
        // SQLite takes it for text where there is no such column, and text has its case.
        Kind::Quoted if token.text.starts_with('"') => token.name().unwrap_or_default(),
        _ => token
            .name()
            .unwrap_or_else(|| token.text.to_owned())
            .to_lowercase(),
    };
    inner.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// How much deeper in parentheses what follows a token is.
pub(crate) fn depth_of(token: &Token<'_>) -> i32 {
    i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"))
}

/// Tells whether every parenthesis closes one that was opened within `tokens`.
fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0;
    tokens.iter().all(|token| {
        depth += depth_of(token);
        depth >= 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddl::tokens;

    #[test]
    fn spellings_of_one_expression_are_equal() {
        let of = |sql| normalized(&tokens(sql));
        assert_eq!(of("(State = 'open')"), of("\"state\"  = 'open' -- now"));
        assert_ne!(of("state = 'open'"), of("state = 'OPEN'"));
        assert_ne!(of("state = \"open\""), of("state = \"Open\""));
        assert_eq!(of("[State] = `B`"), of("state = b"));
        assert_eq!(of("(a) + (b)"), "( a ) + ( b )");
    }

    #[test]
    fn every_text_ends() {
        for sql in [
            "'", "\"", "[", "`", "/*", "--", "x'", "a'b", "€", "/* *", ":",
        ] {
            tokens(sql).iter().for_each(|token| _ = token.name());
        }
    }
}
