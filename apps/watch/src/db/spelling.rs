//! Similarly spelled words.

use crate::Result;
use rusqlite::Connection;
use strsim::osa_distance;

/// The maximum number of similar words per word.
const NEARBY_MAX: usize = 12;

/// The maximum number of words of a query that are corrected.
const CORRECTED_MAX: usize = 3;

/// The maximum length of a corrected word in letters. The search time grows with it.
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

/// The word from its end.
pub fn backwards(word: &str) -> String {
    word.chars().rev().collect()
}

/// Adds words to those that are known.
///
/// # Errors
/// SQLite's error.
pub fn learn(db: &Connection, words: impl Iterator<Item = String>) -> Result<()> {
    let mut insert = db.prepare_cached("INSERT OR IGNORE INTO word VALUES (?1, ?2)")?;
    for word in words {
        insert.execute((&word, backwards(&word)))?;
    }
    Ok(())
}

/// Builds the expression that matches similar spellings of words: of those that nothing is called, or if all are known, of
/// each. `None` without a word.
pub fn nearby(db: &Connection, words: &[String]) -> Result<Option<String>> {
    let mut is_known = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM word WHERE word = ?1)")?;
    let known = words
        .iter()
        .map(|word| is_known.query_row([word], |row| row.get(0)));
    let known = known.collect::<rusqlite::Result<Vec<bool>>>()?;
    let all_known = known.iter().all(|is_known| *is_known);
    let (mut parts, mut corrected) = (Vec::new(), 0);
    for (word, is_known) in words.iter().zip(known) {
        let mut any = Vec::new();
        if (all_known || !is_known) && corrected < CORRECTED_MAX {
            corrected += 1;
            any = similar(db, word)?;
        }
        any.push(beginning_of(word));
        parts.push(format!("({})", any.join(" OR ")));
    }
    Ok(Some(parts.join(" AND ")).filter(|_| !words.is_empty()))
}

/// Prefix queries of the words that are most similar. A similar word has the same first letter, or the same last two.
fn similar(db: &Connection, word: &str) -> Result<Vec<String>> {
    let letters = word.chars().count();
    let end: String = word.chars().rev().take(2).collect();
    let Some(first) = word.chars().next().filter(|_| errors_max(letters) > 0) else {
        return Ok(Vec::new());
    };
    let mut near: Vec<Near> = Vec::new();
    for (column, beginning) in [("word", first.to_string()), ("backwards", end)] {
        let sql = format!("SELECT word FROM word WHERE {column} BETWEEN ?1 AND ?2");
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([&beginning, &format!("{beginning}\u{10ffff}")])?;
        while let Some(row) = rows.next()? {
            let term = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            if let Some((errors, is_whole)) = distance(word, letters, term) {
                near.push(Near {
                    errors,
                    is_part: !is_whole,
                    term: term.to_owned(),
                });
            }
        }
    }
    near.sort();
    near.dedup();
    near.truncate(NEARBY_MAX);
    Ok(near.iter().map(|near| beginning_of(&near.term)).collect())
}

/// A word of the index. The order is that of preference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Near {
    errors: usize,
    is_part: bool,
    term: String,
}

/// The letters of a word as bits. Each error changes at most two.
fn mask(letters: impl Iterator<Item = char>) -> u32 {
    letters.fold(0, |mask, letter| mask | 1 << (letter as u32 % 32))
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
    let bits = mask(typed.chars());
    let is_far = |letters: usize| {
        let differ = (bits ^ mask(term.chars().take(letters))).count_ones();
        differ as usize > 2 * errors_max
    };
    if term_letters <= letters + errors_max && !is_far(term_letters) {
        let errors = osa_distance(typed, term);
        if errors <= errors_max {
            return Some((errors, true));
        }
    }
    // The term is longer than the typed word. Its first letter excludes most terms.
    if typed.chars().next() != term.chars().next() || is_far(letters) {
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
