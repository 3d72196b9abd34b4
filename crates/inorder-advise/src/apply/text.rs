//! Which views and triggers need the text of a column, so that it can't become a blob.

use super::schema::{Object, Schema};
use super::uses::Uses;
use crate::ddl::{Kind, Token, tokens};

/// What a parenthesis follows and what is no function.
const NO_FUNCTIONS: [&str; 24] = [
    "AS",
    "IN",
    "ON",
    "AND",
    "OR",
    "NOT",
    "WHERE",
    "FROM",
    "JOIN",
    "EXISTS",
    "USING",
    "SELECT",
    "BY",
    "WHEN",
    "THEN",
    "ELSE",
    "CASE",
    "DISTINCT",
    "ALL",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "OVER",
    "HAVING",
];
/// Functions whose answer has the form of their argument, or doesn't depend on it.
const OF_ANY: [&str; 3] = ["count", "min", "max"];
/// Operators of text, and those that name a collation.
const OF_TEXT: [&str; 7] = [
    "LIKE", "GLOB", "REGEXP", "MATCH", "COLLATE", "ESCAPE", "BETWEEN",
];

/// The first view or trigger that needs a column's values to be text, or may need it. It may pass them on and compare
/// them with each other.
pub(crate) fn user_of_text<'s>(
    schema: &'s Schema,
    uses: &Uses,
    table: &str,
    column: &str,
) -> Option<&'s Object> {
    let code = || {
        let objects = schema.objects.iter();
        objects.filter(|object| matches!(&*object.kind, "view" | "trigger"))
    };
    // Views pass the values on, by this name or another one.
    let mut views: Vec<&str> = Vec::new();
    let mut names = vec![column.to_owned()];
    loop {
        let found = code().find(|object| {
            let is_new = object.kind == "view" && !views.contains(&&*object.name);
            is_new && is_about(object, uses, table, column, &views)
        });
        let Some(view) = found else { break };
        views.push(&view.name);
        let words = tokens(view.sql.as_deref().unwrap_or_default());
        names.extend(aliases(&words, &names));
    }
    code().find(|object| {
        let words = tokens(object.sql.as_deref().unwrap_or_default());
        is_about(object, uses, table, column, &views)
            && names.iter().any(|name| match &*object.kind {
                "trigger" => needs_text_in_trigger(&words, name),
                _ => needs_text(&words, name),
            })
    })
}

/// Whether an object reads or writes the column, or one of the views that pass it on.
fn is_about(object: &Object, uses: &Uses, table: &str, column: &str, views: &[&str]) -> bool {
    let may_use = || object.is_on(table) || object.mentions(table);
    uses.reads(object, table, column).unwrap_or_else(may_use)
        || views
            .iter()
            .any(|view| object.is_on(view) || (object.name != *view && object.mentions(view)))
}

/// The other names under which a SELECT passes on columns of these names.
fn aliases(words: &[Token<'_>], names: &[String]) -> Vec<String> {
    let is_named = |word: &Token<'_>| names.iter().any(|name| word.is_name(name));
    let aliases = words.windows(3).filter_map(|words| {
        let is_alias = is_named(&words[0]) && words[1].is("AS");
        is_alias.then(|| words[2].name()).flatten()
    });
    aliases
        .filter(|alias| !names.iter().any(|name| name.eq_ignore_ascii_case(alias)))
        .collect()
}

/// What a trigger writes may be the text. Its conditions may compare.
fn needs_text_in_trigger(words: &[Token<'_>], name: &str) -> bool {
    let writes_rows = words
        .iter()
        .any(|word| word.is("INSERT") || word.is("REPLACE"));
    let events = words.iter().position(|word| word.is("ON")).unwrap_or(0);
    let body = &words[events..];
    let mentions = |words: &[Token<'_>]| words.iter().any(|word| word.is_name(name));
    // The event may be an INSERT, too.
    let body_writes_rows = writes_rows
        && body
            .iter()
            .any(|word| word.is("INSERT") || word.is("REPLACE"));
    (body_writes_rows && mentions(body)) || sets(body).any(mentions) || needs_text(body, name)
}

/// What the UPDATE statements of a trigger set.
fn sets<'w, 's>(words: &'w [Token<'s>]) -> impl Iterator<Item = &'w [Token<'s>]> {
    let starts = (0..words.len()).filter(|&at| words[at].is("SET"));
    starts.map(|start| {
        let ends = |word: &Token<'s>| word.is("WHERE") || word.is("FROM") || word.is_symbol(";");
        let length = words[start..].iter().take_while(|word| !ends(word)).count();
        &words[start..start + length]
    })
}

/// Whether a column of this name is given to a function or an operator of text, or compared with a constant.
fn needs_text(words: &[Token<'_>], name: &str) -> bool {
    let mut within: Vec<bool> = Vec::new();
    words.iter().enumerate().any(|(at, word)| {
        if word.is_symbol("(") {
            let before = at.checked_sub(1).map(|at| &words[at]);
            let is_select = words.get(at + 1).is_some_and(|next| next.is("SELECT"));
            let outer = within.last().copied().unwrap_or(false) && !is_select;
            within.push(outer || before.is_some_and(is_function));
        } else if word.is_symbol(")") {
            within.pop();
        }
        let is_it = word.kind != Kind::Text && word.is_name(name);
        is_it && (within.last().copied().unwrap_or(false) || is_operand(words, at))
    })
}

fn is_function(word: &Token<'_>) -> bool {
    let is_known = |known: &[&str]| known.iter().any(|known| word.is(known));
    word.name().is_some() && !is_known(&NO_FUNCTIONS) && !is_known(&OF_ANY)
}

/// Whether the name at a place is an operand of what treats text and blobs differently.
fn is_operand(words: &[Token<'_>], at: usize) -> bool {
    let mut start = at;
    while start >= 2 && words[start - 1].is_symbol(".") {
        start -= 2;
    }
    let before: Vec<&Token<'_>> = words[..start].iter().rev().collect();
    let after: Vec<&Token<'_>> = words[at + 1..].iter().collect();
    [before, after].iter().any(|side| {
        let Some(next) = side.first() else {
            return false;
        };
        let is_not = usize::from(next.is("NOT"));
        let operator = side.get(is_not);
        let is_of_text =
            operator.is_some_and(|word| OF_TEXT.iter().any(|of_text| word.is(of_text)));
        is_of_text || is_calculated(next) || is_compared(side)
    }) || is_in_list(&words[at + 1..])
}

fn is_calculated(next: &Token<'_>) -> bool {
    let symbols = ["|", "+", "-", "*", "/", "%", "&", "~"];
    symbols.iter().any(|symbol| next.is_symbol(symbol))
}

/// Whether the other side of a comparison is anything but a name.
fn is_compared(side: &[&Token<'_>]) -> bool {
    let is_comparison = |word: &&&Token<'_>| {
        let symbols = ["=", "<", ">", "!"];
        symbols.iter().any(|symbol| word.is_symbol(symbol)) || word.is("IS") || word.is("NOT")
    };
    let length = side.iter().take_while(is_comparison).count();
    let is_name = |word: &&Token<'_>| matches!(word.kind, Kind::Word | Kind::Quoted);
    let other = side.get(length);
    let is_call = side.get(length + 1).is_some_and(|next| next.is_symbol("("));
    length > 0 && (is_call || !other.is_some_and(is_name))
}

/// Whether IN follows with a list instead of a SELECT.
fn is_in_list(after: &[Token<'_>]) -> bool {
    let from = usize::from(after.first().is_some_and(|word| word.is("NOT")));
    match after.get(from..) {
        Some([word, open, next, ..]) => word.is("IN") && open.is_symbol("(") && !next.is("SELECT"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_values_on_needs_no_text() {
        for sql in [
            "SELECT id, t.id AS key, count(id), max(t.id) FROM t JOIN u ON u.t_id = t.id ORDER BY id DESC",
            "SELECT lower(name) || 'x', id FROM t WHERE id IN (SELECT t_id FROM u) AND name LIKE 'id'",
            "SELECT id FROM t WHERE id IS NOT NULL AND (t.id <> u.id)",
            "SELECT coalesce((SELECT id FROM t), 1)",
        ] {
            assert!(!needs_text(&tokens(sql), "id"), "{sql}");
        }
    }

    #[test]
    fn what_treats_values_as_text_needs_it() {
        for sql in [
            "SELECT substr(t.id, 1, 8) FROM t",
            "SELECT coalesce(nullif((id), 1), 2) FROM t",
            "SELECT id || 'x' FROM t",
            "SELECT 'x' || t.id FROM t",
            "SELECT 1 FROM t WHERE id NOT LIKE 'a%'",
            "SELECT 1 FROM t WHERE t.id = 'admin'",
            "SELECT 1 FROM t WHERE 'admin' <> id",
            "SELECT 1 FROM t WHERE id = lower(u.id)",
            "SELECT 1 FROM t WHERE id IN ('a', 'b')",
            "SELECT 1 FROM t WHERE id COLLATE NOCASE = name",
            "SELECT json_object('id', id) FROM t",
            "SELECT id -> '$.a' FROM t",
        ] {
            assert!(needs_text(&tokens(sql), "id"), "{sql}");
        }
    }

    #[test]
    fn triggers_may_compare_and_not_write() {
        let trigger = |event: &str, body: &str| {
            let sql = format!("CREATE TRIGGER g {event} ON t BEGIN {body}; END");
            needs_text_in_trigger(&tokens(&sql), "id")
        };
        let touch = "UPDATE t SET changed = datetime('now') WHERE id = NEW.id";
        assert!(!trigger("AFTER UPDATE", touch));
        assert!(!trigger("AFTER INSERT", touch));
        assert!(!trigger(
            "AFTER UPDATE OF id",
            "DELETE FROM u WHERE t_id = old.id"
        ));
        assert!(trigger("AFTER INSERT", "INSERT INTO log VALUES (new.id)"));
        assert!(trigger("AFTER INSERT", "UPDATE u SET last = new.id"));
        assert!(trigger(
            "AFTER INSERT",
            "SELECT raise(ABORT, 'x') WHERE length(new.id) < 3"
        ));
        assert!(!trigger(
            "AFTER INSERT",
            "INSERT INTO log VALUES (new.name)"
        ));
    }
}
