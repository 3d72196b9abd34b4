//! `chttpd_auth/password_regexp`: what new passwords must match.
//!
//! The value is an Erlang list, such as `[{".{10,}", "Min length is 10 chars."}, "[A-Z]+"]`. As in CouchDB, expressions are compared
//! with the bytes of a password, so a character beyond ASCII counts more than once.

use fancy_regex::Regex;

/// The answer to a password that does not match.
const REFUSAL: &str = "Password does not conform to requirements.";

/// The rules for new passwords.
#[derive(Debug, Default)]
pub struct PasswordRules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    expression: Regex,
    refusal: String,
}

/// A value that is no list of rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "[chttpd_auth] password_regexp: {0}; it is a list such as [{{\".{{10,}}\", \"Min length is 10 chars.\"}}, \"[A-Z]+\"]"
)]
pub struct BadRules(String);

impl PasswordRules {
    /// Reads the value. An empty one has no rules.
    ///
    /// # Errors
    /// If it has another form, or an expression can't be compiled.
    pub fn read(text: &str) -> Result<Self, BadRules> {
        if text.trim().is_empty() {
            return Ok(PasswordRules::default());
        }
        let bad = |what: &str| BadRules(what.to_owned());
        let terms = Terms { rest: text.trim() };
        let items = terms
            .list()
            .ok_or_else(|| bad("not a list of strings and tuples"))?;
        let rule = |(expression, reason): (String, String)| {
            let expression = Regex::new(&expression);
            let expression = expression.map_err(|error| bad(&error.to_string()))?;
            let refusal = match reason.as_str() {
                "" => REFUSAL.to_owned(),
                reason => format!("{REFUSAL} {reason}"),
            };
            Ok(Rule {
                expression,
                refusal,
            })
        };
        items
            .into_iter()
            .map(rule)
            .collect::<Result<_, _>>()
            .map(PasswordRules)
    }

    /// Checks a new password.
    ///
    /// # Errors
    /// The reason of the first rule that it does not match.
    pub fn check(&self, password: &str) -> Result<(), &str> {
        let password = as_bytes(password);
        // An expression that takes too long matches nothing.
        let is_broken = |rule: &&Rule| !rule.expression.is_match(&password).unwrap_or(false);
        let broken = self.0.iter().find(is_broken);
        broken.map_or(Ok(()), |rule| Err(&rule.refusal))
    }
}

/// One character for each byte.
fn as_bytes(text: &str) -> String {
    text.bytes().map(char::from).collect()
}

/// What is left of a term.
struct Terms<'a> {
    rest: &'a str,
}

impl Terms<'_> {
    /// The expressions and reasons of a whole list.
    fn list(mut self) -> Option<Vec<(String, String)>> {
        let mut items = Vec::new();
        self.take('[')?;
        while !self.has(']') {
            if !items.is_empty() {
                self.take(',')?;
            }
            items.push(self.item()?);
        }
        self.rest.trim().is_empty().then_some(items)
    }

    fn item(&mut self) -> Option<(String, String)> {
        if !self.has('{') {
            return Some((self.string()?, String::new()));
        }
        let expression = self.string()?;
        let mut reason = String::new();
        if self.has(',') {
            reason = self.string()?;
        }
        self.take('}')?;
        Some((expression, reason))
    }

    /// A string with Erlang's escape sequences.
    fn string(&mut self) -> Option<String> {
        self.take('"')?;
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(as_bytes(&text));
                }
                '\\' => text.push(match characters.next()?.1 {
                    'b' => '\u{8}',
                    'd' => '\u{7f}',
                    'e' => '\u{1b}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    's' => ' ',
                    't' => '\t',
                    'v' => '\u{b}',
                    other => other,
                }),
                other => text.push(other),
            }
        }
        None
    }

    fn has(&mut self, mark: char) -> bool {
        self.take(mark).is_some()
    }

    fn take(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(mark)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What CouchDB 3.5.0 answers to the same value and password.
    #[test]
    fn passwords_are_judged_as_by_couchdb() {
        let rules = r#"[{".{10,}", "Min length is 10 chars."}, "[A-Z]+", "[a-z]+", "\\d+"]"#;
        let rules = PasswordRules::read(rules).unwrap();
        let length = "Password does not conform to requirements. Min length is 10 chars.";
        for (password, expected) in [
            ("short", Err(length)),
            ("longenoughbutlower", Err(REFUSAL)),
            ("longenough1", Err(REFUSAL)),
            ("Longenough1", Ok(())),
            // Ten bytes, but five characters.
            ("ÄÖÜäö", Err(REFUSAL)),
        ] {
            assert_eq!(rules.check(password), expected, "{password}");
        }
        for (rules, expected) in [
            ("", Ok(())),
            ("[]", Ok(())),
            (r#"[{"a"}]"#, Err(REFUSAL)),
            (r#"[{"a",""}]"#, Err(REFUSAL)),
            (r#"["^(?=.*a)b"]"#, Err(REFUSAL)),
            (r#" [ "^(?=.*z)x" , { "y" , "r" } ] "#, Ok(())),
        ] {
            assert_eq!(
                PasswordRules::read(rules).unwrap().check("xyz"),
                expected,
                "{rules}"
            );
        }
    }

    #[test]
    fn what_is_no_list_of_rules_is_refused() {
        for bad in [
            "abc",
            "[1]",
            "{a}",
            "[\"(\"]",
            "\"abc\"",
            r#"[{"q","r","s"}]"#,
            "[\"a\"",
            "[\"a\"] x",
        ] {
            let error = PasswordRules::read(bad).unwrap_err().to_string();
            assert!(error.contains("password_regexp"), "{bad}: {error}");
        }
    }
}
