//! Similarly spelled words.

use crate::Result;
use rusqlite::Connection;
use strsim::osa_distance;

/// The maximum number of similar words per word.
const NEARBY_MAX: usize = 12;

/// The maximum length of a corrected word in letters. The search time is the product of this length and the number of
/// known words.
const LETTERS_MAX: usize = 40;

/// The maximum number of wrong, missing, additional or swapped letters for a word.
fn errors_max(letters: usize) -> usize {
    match letters {
        4..=6 => 1,
        7..=LETTERS_MAX => 2,
        _ => 0,
    }
}

/// A prefix query for a word. A single letter matches only itself; otherwise nearly every film would match.
pub fn beginning_of(word: &str) -> String {
    let star = if word.chars().count() > 1 { "*" } else { "" };
    format!("\"{word}\"{star}")
}

/// Builds the expression that matches similar spellings of each word. `None` if a word has none.
pub fn nearby(db: &Connection, words: &[String]) -> Result<Option<String>> {
    let mut near: Vec<Vec<Near>> = vec![Vec::new(); words.len()];
    // Reads all known words once for all words of the query.
    let mut statement = db.prepare_cached("SELECT term, doc FROM film_word")?;
    let mut rows = statement.query([])?;
    let letters: Vec<usize> = words.iter().map(|word| word.chars().count()).collect();
    while let Some(row) = rows.next()? {
        let term = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        for ((word, letters), near) in words.iter().zip(&letters).zip(&mut near) {
            if let Some((errors, is_whole)) = distance(word, *letters, term) {
                near.push(Near {
                    errors,
                    is_part: !is_whole,
                    rarity: -row.get::<_, i64>(1)?,
                    term: term.to_owned(),
                });
            }
        }
    }
    let mut parts = Vec::new();
    for (word, mut near) in words.iter().zip(near) {
        near.sort();
        near.truncate(NEARBY_MAX);
        let mut any: Vec<String> = near.iter().map(|near| beginning_of(&near.term)).collect();
        any.push(beginning_of(word));
        parts.push(format!("({})", any.join(" OR ")));
    }
    Ok(Some(parts.join(" AND ")).filter(|_| !words.is_empty()))
}

/// A word of the index. The order is that of preference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    errors: usize,
    is_part: bool,
    rarity: i64,
    term: String,
}

/// The number of errors between the typed word and a word of the index or its prefix, and whether it is the whole word.
/// `None` if there are too many errors.
fn distance(typed: &str, letters: usize, term: &str) -> Option<(usize, bool)> {
    let errors_max = errors_max(letters);
    if errors_max == 0 {
        return None;
    }
    let term_letters = term.chars().count();
    if term_letters + errors_max < letters {
        return None;
    }
    if term_letters <= letters + errors_max {
        let errors = osa_distance(typed, term);
        if errors <= errors_max {
            return Some((errors, true));
        }
    }
    // The term is longer than the typed word. Its first letter excludes most terms.
    if typed.chars().next() != term.chars().next() {
        return None;
    }
    let beginning: String = term.chars().take(letters).collect();
    let errors = osa_distance(typed, &beginning);
    (errors <= errors_max).then_some((errors, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_in_a_short_word_and_two_in_a_long_one_are_forgiven() {
        let distance = |typed: &str, term| distance(typed, typed.chars().count(), term);
        assert_eq!(distance("alein", "alien"), Some((1, true)));
        assert_eq!(distance("gladaitor", "gladiator"), Some((1, true)));
        assert_eq!(distance("schindlrs", "schindlers"), Some((1, true)));
        assert_eq!(distance("hitchkok", "hitchcock"), Some((2, true)));
        assert_eq!(distance("casabl", "casablanca"), Some((0, false)));
        assert_eq!(distance("kasablanca", "casablanca"), Some((1, true)));
        assert_eq!(distance("cat", "car"), None);
        assert_eq!(distance("alein", "aline"), None);
        assert_eq!(distance("moon", "mouse"), None);
        let endless = "a".repeat(LETTERS_MAX + 1);
        assert_eq!(distance(&endless, &endless), None);
    }
}
