//! Expressions of one database in the SQL of another, if both say the same by them.

use crate::model::{Column, Dialect, Table};

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word without quotes, in lower case.
    Word(String),
    /// A name in quotes.
    Name(String),
    /// A text.
    Text(String),
    Number(String),
    Sign(String),
}

/// Words that mean the same in each database.
const WORDS: &[&str] = &[
    "and", "or", "not", "in", "is", "null", "between", "case", "when", "then", "else", "end",
    "true", "false",
];

/// Functions that mean the same in each database, with the number of their arguments.
const FUNCTIONS: &[&str] = &["coalesce", "nullif", "abs", "replace"];

/// Functions of text. SQLite changes the case of ASCII letters only.
const CASES: &[&str] = &["lower", "upper"];

/// Casts of PostgreSQL that change nothing of a value.
const CASTS: &[&str] = &[
    "text",
    "character varying",
    "varchar",
    "bpchar",
    "character",
    "numeric",
    "integer",
    "bigint",
    "smallint",
    "double precision",
    "date",
    "uuid",
];

/// Signs, the longest first.
const SIGNS: &[&str] = &[
    "!~~*", "::", "<>", "!=", "<=", ">=", "==", "||", "!~~", "~~*", "~~", "<", ">", "=", "+", "-",
    "*", "(", ")", ",", "%", "[", "]", "/",
];

fn tokens(text: &str, dialect: Dialect) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_name = match first {
            '"' | '`' => true,
            '[' => dialect == Dialect::Sqlite,
            _ => false,
        };
        if first == '\'' || is_name {
            let end = if first == '[' { ']' } else { first };
            let (value, length) = in_quotes(rest, end)?;
            // A backslash is an escape in MariaDB.
            if first == '\'' && dialect == Dialect::MariaDb && value.contains('\\') {
                return None;
            }
            found.push(match first {
                '\'' => Token::Text(value),
                _ => Token::Name(value),
            });
            rest = &rest[length..];
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let is_number = |c: char| c.is_ascii_digit() || c == '.';
            let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
            found.push(Token::Number(rest[..end].to_owned()));
            rest = &rest[end..];
            if rest.starts_with(|c: char| c.is_alphanumeric()) {
                return None;
            }
        } else if first.is_alphabetic() || first == '_' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if rest[end..].starts_with('\'') {
                // The text of a character set, or another kind of literal.
                return None;
            }
            found.push(Token::Word(rest[..end].to_lowercase()));
            rest = &rest[end..];
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            found.push(Token::Sign((*sign).to_owned()));
            rest = &rest[sign.len()..];
        }
        rest = rest.trim_start();
    }
    Some(found)
}

/// The value of a text in quotes, and its length with them.
fn in_quotes(text: &str, end: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char != end {
            value.push(char);
        } else if chars.peek().is_some_and(|(_, next)| *next == end) && end != ']' {
            chars.next();
            value.push(char);
        } else {
            return Some((value, at + end.len_utf8()));
        }
    }
    None
}

/// Translates an expression over the columns of a table; `None` if the databases may understand it differently.
pub fn translate(text: &str, from: Dialect, to: Dialect, table: &Table) -> Option<String> {
    if from == to {
        return Some(text.to_owned());
    }
    let tokens = tokens(text, from)?;
    let mut work = Work {
        table,
        from,
        tokens,
        out: String::new(),
        is_folded: false,
    };
    work.is_folded = work.folds()?;
    work.run()?;
    Some(work.out)
}

struct Work<'a> {
    table: &'a Table,
    from: Dialect,
    tokens: Vec<Token>,
    out: String,
    /// Whether texts compare without case.
    is_folded: bool,
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Work<'_> {
    fn column(&self, token: &Token) -> Option<&Column> {
        let name = match token {
            Token::Word(name) | Token::Name(name) => name,
            _ => return None,
        };
        let mut columns = self.table.columns.iter();
        columns.find(|column| column.name.eq_ignore_ascii_case(name))
    }

    fn sign(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(Token::Sign(sign)) => sign,
            _ => "",
        }
    }

    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(Token::Word(word)) => word,
            _ => "",
        }
    }

    /// Whether texts of MariaDB compare without case; `None` if some do and some do not, or a text is compared that is not
    /// ASCII.
    fn folds(&self) -> Option<bool> {
        let texts = self
            .tokens
            .iter()
            .filter(|token| matches!(token, Token::Text(_)));
        let texts: Vec<&Token> = texts.collect();
        let columns = self.tokens.iter().filter_map(|token| self.column(token));
        let of_text: Vec<bool> = columns
            .filter(|column| column.is_text())
            .map(|column| column.is_case_insensitive)
            .collect();
        // Which columns of SQLite have a collation is not known.
        if self.from == Dialect::Sqlite && !texts.is_empty() && of_text.contains(&true) {
            return None;
        }
        if self.from != Dialect::MariaDb || texts.is_empty() || !of_text.contains(&true) {
            return Some(false);
        }
        let is_ascii = |token: &&Token| matches!(token, Token::Text(text) if text.is_ascii());
        (!of_text.contains(&false) && texts.iter().all(is_ascii)).then_some(true)
    }

    fn put(&mut self, text: &str) {
        let is_open = self.out.is_empty() || self.out.ends_with('(');
        let is_close = [")", ","].contains(&text);
        let is_call =
            text == "(" && self.out.ends_with(|c: char| c.is_ascii_lowercase()) && self.is_call();
        if !is_open && !is_close && !is_call {
            self.out.push(' ');
        }
        self.out.push_str(text);
    }

    /// Whether the last word is a function.
    fn is_call(&self) -> bool {
        let word = self
            .out
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        let known = FUNCTIONS.iter().chain(CASES).chain(&[
            "length",
            "char_length",
            "trim",
            "ltrim",
            "rtrim",
        ]);
        word.is_some_and(|word| known.clone().any(|known| *known == word))
    }

    fn run(&mut self) -> Option<()> {
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.one(at)?;
        }
        Some(())
    }

    /// Translates the token at a place. Returns the next place.
    fn one(&mut self, at: usize) -> Option<usize> {
        let token = self.tokens[at].clone();
        let is_call = self.sign(at + 1) == "(";
        if !is_call && let Some(column) = self.column(&token) {
            let (name, is_text) = (quoted(&column.name), column.is_text());
            match self.is_folded && is_text {
                true => self.put(&format!("lower({name})")),
                false => self.put(&name),
            }
            return Some(at + 1);
        }
        match token {
            Token::Name(_) => None,
            Token::Text(text) => {
                let text = if self.is_folded {
                    text.to_lowercase()
                } else {
                    text
                };
                self.put(&format!("'{}'", text.replace('\'', "''")));
                Some(at + 1)
            }
            Token::Number(number) => {
                self.put(&number);
                Some(at + 1)
            }
            Token::Word(word) => self.of_word(&word, at, is_call),
            Token::Sign(sign) => self.of_sign(&sign, at),
        }
    }

    fn of_word(&mut self, word: &str, at: usize, is_call: bool) -> Option<usize> {
        let is_from = |dialect| self.from == dialect;
        let replaced = match word {
            _ if WORDS.contains(&word) => word,
            _ if is_call && (FUNCTIONS.contains(&word) || CASES.contains(&word)) => word,
            // It counts bytes in MariaDB.
            "length" if is_call && !is_from(Dialect::MariaDb) => "length",
            "char_length" | "character_length" if is_call => "length",
            "btrim" | "trim" if is_call => "trim",
            "ltrim" | "rtrim" if is_call => word,
            "ifnull" if is_call => "coalesce",
            "current_date" if !is_call => "current_date",
            // `x = ANY (ARRAY['a', 'b'])` is how PostgreSQL writes IN.
            "any" if is_from(Dialect::Postgres) && self.out.ends_with(" =") => return self.any(at),
            _ => return None,
        };
        self.put(replaced);
        Some(at + 1)
    }

    /// The list of `= ANY (ARRAY[…])`.
    fn any(&mut self, at: usize) -> Option<usize> {
        let mut next = at + 1;
        let mut depth = 0;
        while self.sign(next) == "(" {
            (next, depth) = (next + 1, depth + 1);
        }
        if self.word(next) != "array" || self.sign(next + 1) != "[" {
            return None;
        }
        self.out.truncate(self.out.len() - " =".len());
        self.put("in");
        self.put("(");
        next += 2;
        while self.sign(next) != "]" {
            if next >= self.tokens.len() {
                return None;
            }
            next = self.one(next)?;
        }
        self.put(")");
        next += 1;
        while depth > 0 {
            if self.sign(next) == "::" {
                next = self.cast(next)?;
                if self.sign(next) == "[" && self.sign(next + 1) == "]" {
                    next += 2;
                }
            }
            if self.sign(next) != ")" {
                return None;
            }
            (next, depth) = (next + 1, depth - 1);
        }
        Some(next)
    }

    /// The place after a cast that changes nothing.
    fn cast(&self, at: usize) -> Option<usize> {
        let mut name = self.word(at + 1).to_owned();
        let mut next = at + 2;
        if !self.word(next).is_empty() && ["varying", "precision"].contains(&self.word(next)) {
            name = format!("{name} {}", self.word(next));
            next += 1;
        }
        CASTS.contains(&&*name).then_some(next)
    }

    fn of_sign(&mut self, sign: &str, at: usize) -> Option<usize> {
        let replaced = match sign {
            "::" if self.from == Dialect::Postgres => return self.cast(at),
            "==" if self.from == Dialect::Sqlite => "=",
            "!=" => "<>",
            "(" | ")" | "," | "<" | ">" | "=" | "<=" | ">=" | "<>" | "+" | "-" | "*" => sign,
            // MariaDB reads OR, and divides with a fraction.
            "||" if self.from != Dialect::MariaDb => sign,
            _ => return None,
        };
        self.put(replaced);
        Some(at + 1)
    }
}

impl Column {
    /// Whether its values are text.
    pub fn is_text(&self) -> bool {
        let ty = self.postgres.split(['(', ' ']).next().unwrap_or_default();
        ["text", "varchar", "character", "char", "bpchar"].contains(&ty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Dialect::{MariaDb, Postgres, Sqlite};

    /// An expression, two databases, and the expression of the second one.
    type Case = (&'static str, Dialect, Dialect, Option<&'static str>);

    const CASES: &[Case] = &[
        ("`n` > 0", MariaDb, Postgres, Some("\"n\" > 0")),
        (
            "`state` in ('New','OLD')",
            MariaDb,
            Postgres,
            Some("lower(\"State\") in ('new', 'old')"),
        ),
        ("`state` = 'é'", MariaDb, Postgres, None),
        ("`state` = 'a' or `b` = 'B'", MariaDb, Sqlite, None),
        ("`b` = 'B'", MariaDb, Sqlite, Some("\"b\" = 'B'")),
        ("`n` % 2 = 0", MariaDb, Postgres, None),
        ("length(`b`) < 9", MariaDb, Postgres, None),
        (
            "char_length(`b`) < 9",
            MariaDb,
            Postgres,
            Some("length(\"b\") < 9"),
        ),
        ("`b` = 'x\\\\y'", MariaDb, Postgres, None),
        ("json_valid(`b`)", MariaDb, Postgres, None),
        ("(n > 0)", Postgres, Sqlite, Some("(\"n\" > 0)")),
        (
            "((\"State\")::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))",
            Postgres,
            Sqlite,
            Some("((\"State\") in ('a', 'b'))"),
        ),
        (
            "(n >= (0)::numeric)",
            Postgres,
            Sqlite,
            Some("(\"n\" >= (0))"),
        ),
        (
            "(length(b) < 9)",
            Postgres,
            Sqlite,
            Some("(length(\"b\") < 9)"),
        ),
        ("(b ~~ 'x%'::text)", Postgres, Sqlite, None),
        ("(b ~ '^x'::text)", Postgres, Sqlite, None),
        ("lower(b)", Postgres, Sqlite, Some("lower(\"b\")")),
        (
            "n <> 0 AND b == 'it''s'",
            Sqlite,
            Postgres,
            Some("\"n\" <> 0 and \"b\" = 'it''s'"),
        ),
        (
            "[n] BETWEEN -1 AND 2.5",
            Sqlite,
            Postgres,
            Some("\"n\" between - 1 and 2.5"),
        ),
        ("b LIKE 'x%'", Sqlite, Postgres, None),
        ("typeof(n) = 'integer'", Sqlite, Postgres, None),
        ("m > 0", Sqlite, Postgres, None),
        ("x'00' = b", Sqlite, Postgres, None),
        ("anything()", Postgres, Postgres, Some("anything()")),
    ];

    #[test]
    fn expressions_are_translated_or_left() {
        let column = |name: &str, postgres: &str, is_case_insensitive| Column {
            name: name.to_owned(),
            postgres: postgres.to_owned(),
            is_case_insensitive,
            ..Column::default()
        };
        let table = Table {
            columns: vec![
                column("n", "bigint", false),
                column("State", "varchar(10)", true),
                column("b", "text", false),
            ],
            ..Table::default()
        };
        for (text, from, to, expected) in CASES {
            let found = translate(text, *from, *to, &table);
            assert_eq!(found.as_deref(), *expected, "{text}");
        }
    }
}
