//! Reads from its tokens which names a module imports and which paths it uses. Test code is excluded.

use crate::scanner::{self, Token};
use std::collections::{BTreeMap, BTreeSet};

/// One module: the text of a file, or of the braces behind `mod name`.
#[derive(Default)]
pub struct Module {
    pub bindings: Vec<Binding>,
    pub names: Names,
    /// The paths in each item, by the item's name. Paths in `impl` blocks belong to no item.
    pub items: BTreeMap<String, Names>,
    /// Modules with a file of their own that only tests have.
    pub test_modules: BTreeSet<String>,
    /// Modules between braces.
    pub inline: BTreeMap<String, Module>,
}

/// The paths outside of `use`.
#[derive(Clone, Default)]
pub struct Names {
    /// Every `a::b::c`, with its line.
    pub paths: Vec<(Vec<String>, usize)>,
    /// Every word that is not a field, a method or a parameter.
    pub words: BTreeSet<String>,
}

impl Names {
    pub fn append(&mut self, mut other: Names) {
        self.paths.append(&mut other.paths);
        self.words.append(&mut other.words);
    }
}

/// A name that a `use` brings into scope: `use a::B as C` binds `C` to `a::B`.
pub struct Binding {
    /// `*` for all names of a module.
    pub name: String,
    pub path: Vec<String>,
    pub is_public: bool,
    pub line: usize,
}

/// Reads the tokens of a module.
pub fn read(tokens: &[Token]) -> Module {
    let mut module = Module::default();
    let text = |i: usize| tokens.get(i).map_or("", |token: &Token| &token.text);
    let (mut at, mut depth) = (0, 0);
    while at < tokens.len() {
        if let Some(end) = attribute_end(tokens, at) {
            let is_test = is_test(&tokens[at..end]);
            at = if is_test { item_end(tokens, end) } else { end };
            if is_test && let Some(name) = declared(&tokens[end..at]) {
                module.test_modules.insert(name);
            }
        } else if text(at) == "use" && text(at + 1) != "<" {
            let end = statement_end(tokens, at);
            let is_public = at > 0 && matches!(text(at - 1), "pub" | ")");
            module.read_use(&tokens[at + 1..end], is_public);
            at = end;
        } else if text(at) == "mod" && text(at + 2) == "{" {
            let end = item_end(tokens, at);
            let inner = read(&tokens[at + 3..end - 1]);
            module.inline.insert(text(at + 1).to_owned(), inner);
            at = end;
        } else if depth == 0 && begins_item(tokens, at) {
            let end = item_end(tokens, at);
            module.read_item(text(at + 1), &tokens[at + 2..end]);
            at = end;
        } else if scanner::is_name(text(at)) {
            at += module.read_path(tokens, at);
        } else {
            match text(at) {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            at += 1;
        }
    }
    module
}

impl Module {
    /// Reads what stands between `use` and its semicolon.
    fn read_use(&mut self, tokens: &[Token], is_public: bool) {
        let bindings = &mut self.bindings;
        let mut tree = UseTree {
            tokens,
            is_public,
            bindings,
        };
        tree.read(&[]);
    }

    /// Reads what stands behind the name of an item.
    fn read_item(&mut self, name: &str, tokens: &[Token]) {
        let mut inner = read(tokens);
        self.bindings.append(&mut inner.bindings);
        self.names.append(inner.names.clone());
        self.items
            .entry(name.to_owned())
            .or_default()
            .append(inner.names);
    }

    /// Reads the path or word that begins at `at`, and returns how many tokens it has.
    fn read_path(&mut self, tokens: &[Token], at: usize) -> usize {
        let text = |back: usize| at.checked_sub(back).map_or("", |i| &tokens[i].text);
        let path = path(&tokens[at..]);
        let length = 3 * path.len() - 2;
        let next = |ahead: usize| tokens.get(at + length + ahead).map_or("", |t| &t.text);
        let is_member = text(1) == "." && text(2) != ".";
        let is_label = path.len() == 1 && next(0) == ":" && next(1) != ":";
        if !is_member && !is_label {
            self.names.words.extend(path.iter().cloned());
        }
        let is_visibility = text(1) == "in" && text(3) == "pub";
        if path.len() > 1 && !is_visibility {
            self.names.paths.push((path, tokens[at].line));
        }
        length
    }
}

/// The words that begin an item with a name.
const ITEMS: &[&str] = &[
    "const", "enum", "fn", "static", "struct", "trait", "type", "union",
];

/// Whether an item begins here: its keyword, behind nothing but a visibility or another keyword.
fn begins_item(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map_or(";", |i| &tokens[i].text);
    let begins = matches!(
        before,
        ";" | "}" | "]" | ")" | "pub" | "unsafe" | "async" | "const" | "extern"
    );
    let name = tokens.get(at + 1).map_or("", |token| &token.text);
    begins
        && ITEMS.contains(&tokens[at].text.as_str())
        && scanner::is_name(name)
        && !ITEMS.contains(&name)
}

/// Behind the attribute that begins here, if one does.
fn attribute_end(tokens: &[Token], at: usize) -> Option<usize> {
    let begins = tokens[at].text == "#" && tokens.get(at + 1)?.text == "[";
    begins
        .then(|| scanner::closing(tokens, at + 1))
        .flatten()
        .map(|end| end + 1)
}

/// Whether an attribute leaves its item to tests: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_test(attribute: &[Token]) -> bool {
    let has = |word| attribute.iter().any(|token| token.text == word);
    let first = attribute[2].text.as_str();
    first == "test" || (first == "cfg" && has("test") && !has("not"))
}

/// Behind the item that begins here: its last brace, or its semicolon.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let end = match scanner::body_start(tokens, at) {
        Some(brace) => scanner::closing(tokens, brace),
        None => Some(statement_end(tokens, at)),
    };
    end.map_or(tokens.len(), |end| (end + 1).min(tokens.len()))
}

/// The semicolon that ends the statement at `at`, or the end of the tokens.
fn statement_end(tokens: &[Token], at: usize) -> usize {
    let mut rest = tokens[at..].iter();
    let length = rest.position(|token| token.text == ";");
    length.map_or(tokens.len(), |length| at + length)
}

/// The module that an item declares, if it is one with a file of its own.
fn declared(item: &[Token]) -> Option<String> {
    let at = item.iter().position(|token| token.text == "mod")?;
    let is_declared = item.get(at + 2)?.text == ";";
    is_declared.then(|| item[at + 1].text.clone())
}

/// The path that begins here: words with `::` between them.
fn path(tokens: &[Token]) -> Vec<String> {
    let mut path = vec![tokens[0].text.clone()];
    for next in tokens[1..].chunks_exact(3) {
        let [a, b, name] = next else { break };
        if (a.text.as_str(), b.text.as_str()) != (":", ":") || !scanner::is_name(&name.text) {
            break;
        }
        path.push(name.text.clone());
    }
    path
}

/// The tokens between `use` and its semicolon.
struct UseTree<'a> {
    tokens: &'a [Token],
    is_public: bool,
    bindings: &'a mut Vec<Binding>,
}

impl UseTree<'_> {
    /// Reads one branch, up to the comma or brace behind it. `prefix` is the path before the branch.
    fn read(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        let line = self.tokens.first().map_or(0, |token| token.line);
        while let Some((token, rest)) = self.tokens.split_first() {
            match token.text.as_str() {
                "," | "}" => break,
                "{" => {
                    self.tokens = rest;
                    return self.branches(&path);
                }
                "as" => {
                    alias = rest.first().map(|name| name.text.clone());
                    self.tokens = &rest[1..];
                    continue;
                }
                "self" if !prefix.is_empty() && path.len() == prefix.len() => {}
                ":" => {}
                name => path.push(name.to_owned()),
            }
            self.tokens = rest;
        }
        if let Some(last) = path.last() {
            let name = alias.unwrap_or_else(|| last.clone());
            self.bindings.push(Binding {
                name,
                is_public: self.is_public,
                path,
                line,
            });
        }
    }

    /// Reads the branches of a group, up to the brace that closes it.
    fn branches(&mut self, prefix: &[String]) {
        while let Some((token, rest)) = self.tokens.split_first() {
            match token.text.as_str() {
                "}" => {
                    self.tokens = rest;
                    return;
                }
                "," => self.tokens = rest,
                _ => self.read(prefix),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Module {
        super::read(&scanner::tokens(source))
    }

    fn bindings(source: &str) -> Vec<String> {
        let module = read(source);
        let written = |b: &Binding| {
            let public = if b.is_public { "pub " } else { "" };
            format!("{public}{} = {}", b.name, b.path.join("::"))
        };
        module.bindings.iter().map(written).collect()
    }

    #[test]
    fn use_trees_are_read() {
        assert_eq!(
            bindings("use crate::{a::{self, B, c::*}, d as e,};\npub(crate) use super::f;"),
            [
                "a = crate::a",
                "B = crate::a::B",
                "* = crate::a::c::*",
                "e = crate::d",
                "pub f = super::f"
            ]
        );
    }

    #[test]
    fn paths_and_words_are_read() {
        let module =
            read("pub(in crate::a) fn b(c: &mut crate::d::E<f::G>) { h! { $crate::i() } }");
        let paths: Vec<String> = module
            .names
            .paths
            .iter()
            .map(|(path, _)| path.join("::"))
            .collect();
        assert_eq!(paths, ["crate::d::E", "f::G", "crate::i"]);
        assert!(module.names.words.contains("h") && !module.names.words.contains("x"));
    }

    #[test]
    fn code_for_tests_is_left_out() {
        let module = read(
            "#[cfg(test)] use crate::a::{B}; #[cfg(test)] mod fixture;\n\
             #[test] #[ignore] fn c() { crate::d() }\n\
             #[cfg(all(test, unix))] mod tests { use super::*; }\n\
             #[cfg(not(test))] fn e() { crate::f() }",
        );
        assert!(module.bindings.is_empty() && module.inline.is_empty());
        assert_eq!(module.test_modules, BTreeSet::from(["fixture".to_owned()]));
        let paths: Vec<String> = module
            .names
            .paths
            .iter()
            .map(|(path, _)| path.join("::"))
            .collect();
        assert_eq!(paths, ["crate::f"]);
    }

    #[test]
    fn items_keep_what_they_name() {
        let module = read(
            "pub(crate) const A: &[B] = &[c::D]; impl E { fn f() { g::h() } }\n\
             pub const fn i<const N: usize>(a: *const J) { k.l(); m::<K>() }",
        );
        let names: Vec<&str> = module.items.keys().map(String::as_str).collect();
        assert_eq!(names, ["A", "i"]);
        let words = &module.items["i"].words;
        assert!(words.contains("J") && words.contains("K"));
        assert!(!words.contains("l") && !words.contains("a"));
        assert_eq!(module.items["A"].paths[0].0, ["c", "D"]);
        assert_eq!(module.names.paths[1].0, ["g", "h"]);
    }

    #[test]
    fn modules_between_braces_are_modules() {
        let module = read("mod a { use super::b; } use c::d;");
        assert_eq!(module.bindings.len(), 1);
        assert_eq!(module.inline["a"].bindings[0].path, ["super", "b"]);
    }
}
