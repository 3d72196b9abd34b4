//! Splits a dump into its statements, as the client of its engine does.

/// Words of a statement that are kept: enough for what it defines and its name.
const WORDS_MAX: usize = 24;
/// What a name in quotes begins with among the words.
const QUOTED: char = '"';
/// What CREATE defines, with or without a body of statements.
const DEFINED: [&str; 6] = ["TRIGGER", "FUNCTION", "PROCEDURE", "TABLE", "INDEX", "VIEW"];

/// A statement of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// Its text without comments, DEFINER and the delimiter.
    pub sql: String,
    /// Its first words in capitals. Names in quotes are as written, after a `"`.
    pub words: Vec<String>,
}

impl Statement {
    /// The word at this place, and an empty one behind the last.
    pub fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", String::as_str)
    }

    /// The name at this place without quotes, in lower case.
    pub fn name(&self, at: usize) -> String {
        let word = self.word(at);
        word.strip_prefix(QUOTED).unwrap_or(word).to_lowercase()
    }
}

/// Returns the statements of a dump for an engine. Commands of the clients are left out: lines of psql that begin with
/// `\`, and DELIMITER of the client of MariaDB, which is obeyed.
pub fn statements(engine: &str, dump: &str) -> Vec<Statement> {
    let text = dump.trim_start_matches('\u{feff}');
    let mut splitter = Splitter {
        engine,
        text,
        at: 0,
        delimiter: ";",
        depth: 0,
        now: Statement::default(),
        found: Vec::new(),
    };
    while splitter.at < text.len() {
        splitter.step();
    }
    splitter.end();
    splitter.found
}

/// A part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// Spaces, or a comment.
    Space,
    /// A quoted name.
    Name(&'a str),
    /// A keyword or a name without quotes.
    Word(&'a str),
    /// A text, a number, or a sign.
    Other,
}

struct Splitter<'a> {
    engine: &'a str,
    text: &'a str,
    at: usize,
    delimiter: &'a str,
    /// BEGIN and CASE without their END, in the body of a trigger or function.
    depth: usize,
    now: Statement,
    found: Vec<Statement>,
}

impl<'a> Splitter<'a> {
    fn step(&mut self) {
        let rest = &self.text[self.at..];
        if self.skips_command(rest) {
            return;
        }
        if self.depth == 0 && rest.starts_with(self.delimiter) {
            self.at += self.delimiter.len();
            self.end();
            return;
        }
        if self.engine == "mariadb"
            && let Some(length) = definer(rest)
            && !ends_in_a_word(&self.now.sql)
        {
            self.at += length;
            return;
        }
        let (token, length) = token(self.engine, rest);
        self.at += length;
        self.now.sql.push_str(match token {
            Token::Space => " ",
            _ => &rest[..length],
        });
        match token {
            Token::Name(name) => self.keep(format!("{QUOTED}{name}")),
            Token::Word(word) => {
                let word = word.to_uppercase();
                self.nest(&word);
                self.keep(word);
            }
            Token::Space | Token::Other => {}
        }
    }

    fn keep(&mut self, word: String) {
        if self.now.words.len() < WORDS_MAX {
            self.now.words.push(word);
        }
    }

    /// Counts the blocks of a body, whose semicolons end no statement.
    fn nest(&mut self, word: &str) {
        let mut words = self.now.words.iter().map(String::as_str);
        let defined = words.find(|word| DEFINED.contains(word));
        let has_body = self.now.word(0) == "CREATE"
            && matches!(defined, Some("TRIGGER" | "FUNCTION" | "PROCEDURE"));
        if !has_body || self.delimiter != ";" {
            return;
        }
        match word {
            "BEGIN" => self.depth += 1,
            "CASE" if self.depth > 0 => self.depth += 1,
            "END" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Skips the line if it is a command of the client.
    fn skips_command(&mut self, rest: &'a str) -> bool {
        if self.at > 0 && !self.text[..self.at].ends_with('\n') {
            return false;
        }
        let line = rest.lines().next().unwrap_or("");
        let (first, delimiter) = line.split_once(' ').unwrap_or((line, ""));
        let is_delimiter = self.engine == "mariadb"
            && first.eq_ignore_ascii_case("DELIMITER")
            && !delimiter.trim().is_empty();
        if is_delimiter {
            self.end();
            self.delimiter = delimiter.trim();
        }
        if is_delimiter || line.starts_with('\\') {
            self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            return true;
        }
        false
    }

    fn end(&mut self) {
        let mut statement = std::mem::take(&mut self.now);
        self.depth = 0;
        if !statement.words.is_empty() {
            statement.sql = statement.sql.trim().to_owned();
            self.found.push(statement);
        }
    }
}

/// The token at the beginning of a text that is not empty, and its length.
fn token<'a>(engine: &str, rest: &'a str) -> (Token<'a>, usize) {
    let is_mariadb = engine == "mariadb";
    let first = rest.chars().next().unwrap_or(' ');
    let line = || rest.find('\n').unwrap_or(rest.len());
    if first.is_whitespace() {
        return (Token::Space, first.len_utf8());
    }
    if rest.starts_with("--") || (is_mariadb && first == '#') {
        return (Token::Space, line());
    }
    if is_mariadb && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
        let begin = rest.find('!').map_or(0, |at| at + 1);
        let digits = rest[begin..].bytes().take_while(u8::is_ascii_digit).count();
        // The command of the client for its sandbox, in a comment for no server.
        return match rest[begin..].starts_with("999999") {
            true => (Token::Space, comment(rest, false)),
            // MariaDB runs what is in such comments, if it is as new as they ask for.
            false => (Token::Other, begin + digits),
        };
    }
    if rest.starts_with("/*") {
        return (Token::Space, comment(rest, engine == "postgres"));
    }
    if rest.starts_with("*/") {
        return (Token::Other, 2);
    }
    if engine == "postgres" && (rest.starts_with("E'") || rest.starts_with("e'")) {
        return (Token::Other, 1 + quoted(&rest[1..], '\'', true));
    }
    let end = match first {
        '\'' if engine != "sqlite" => return (Token::Other, quoted(rest, '\'', is_mariadb)),
        // SQLite takes a text for a name where a name is wanted, as in the tables of its own.
        '"' | '`' | '\'' => quoted(rest, first, false),
        '[' if engine == "sqlite" => rest.find(']').map_or(rest.len(), |at| at + 1),
        '$' if engine == "postgres" => return (Token::Other, dollars(rest)),
        _ if first.is_alphabetic() || first == '_' => {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            return (Token::Word(&rest[..end]), end);
        }
        _ => return (Token::Other, first.len_utf8()),
    };
    (Token::Name(&rest[1..end.max(2) - 1]), end)
}

/// The length of a comment.
fn comment(rest: &str, nests: bool) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") && (nests || depth == 0) {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a text or name in quotes, with both.
fn quoted(rest: &str, quote: char, has_escapes: bool) -> usize {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' if has_escapes => {
                chars.next();
            }
            // The second of two begins what follows as another text, which changes nothing here.
            _ if char == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a text between `$tag$`, or of a sign.
fn dollars(rest: &str) -> usize {
    let Some(end) = rest[1..].find('$').map(|at| at + 2) else {
        return 1;
    };
    let tag = &rest[..end];
    let is_tag = tag[1..end - 1]
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_');
    match is_tag {
        true => rest[end..]
            .find(tag)
            .map_or(rest.len(), |at| end + at + end),
        false => 1,
    }
}

/// The length of `DEFINER=user@host`, if the text begins with it.
fn definer(rest: &str) -> Option<usize> {
    let head = rest.get(.."DEFINER".len())?;
    if !head.eq_ignore_ascii_case("DEFINER") {
        return None;
    }
    let after = rest[head.len()..]
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let name = |text: &str| match token("mariadb", text) {
        (Token::Name(_) | Token::Word(_), length) => length,
        _ if text.starts_with('\'') => quoted(text, '\'', true),
        _ => 0,
    };
    let mut after = &after[name(after)..];
    if let Some(host) = after.strip_prefix('@') {
        after = &host[name(host)..];
    }
    after = after.strip_prefix("()").unwrap_or(after);
    Some(rest.len() - after.len())
}

fn ends_in_a_word(sql: &str) -> bool {
    sql.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(engine: &str, dump: &str) -> Vec<String> {
        let found = statements(engine, dump);
        found.into_iter().map(|statement| statement.sql).collect()
    }

    #[test]
    fn semicolons_in_texts_comments_and_bodies_end_nothing() {
        let dump = "\u{feff}\\restrict x\nCREATE TABLE a(b text DEFAULT ';'); -- c;\n/* d; /* e */ ; */
            CREATE FUNCTION f() RETURNS text AS $x$\n\\y; $1$ ;$x$ LANGUAGE sql;
            CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 3; END; SELECT E'\\';' ;";
        let found = split("postgres", dump);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[0], "CREATE TABLE a(b text DEFAULT ';')");
        assert!(found[1].contains("\n\\y; $1$ ;$x$"), "{found:?}");
        assert!(found[2].ends_with("SELECT 3; END"), "{found:?}");
        let dump = "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; SELECT [;]; END; CREATE TABLE v(trigger, begin)";
        assert_eq!(split("sqlite", &format!("{dump}; SELECT 1")).len(), 3);
    }

    #[test]
    fn the_client_of_mariadb_is_followed() {
        let dump = "/*M!999999\\- enable the sandbox mode */\n# a;\n/*!40101 SET NAMES utf8mb4 */;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER t BEFORE INSERT ON a FOR EACH ROW BEGIN
SET NEW.b = 'it\\'s; ;;'; SET NEW.c = 1; END */;;
DELIMITER ;
/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=root@'%' SQL SECURITY DEFINER */\n/*!50001 VIEW `v` AS SELECT 1 */;";
        let found = statements("mariadb", dump);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0].words[..2], ["SET", "NAMES"]);
        assert_eq!(found[1].words[..2], ["CREATE", "TRIGGER"]);
        assert!(found[1].sql.ends_with("SET NEW.c = 1; END */"), "{found:?}");
        assert!(!found[1].sql.contains("DEFINER"), "{found:?}");
        assert!(
            found[2].sql.contains("/*!50013  SQL SECURITY DEFINER */"),
            "{found:?}"
        );
        assert_eq!(found[2].name(7), "v", "{found:?}");
    }
}
