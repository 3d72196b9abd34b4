//! Suggestions for a name that does not exist.

/// Names with a lower Jaro-Winkler similarity (0 to 1) are not suggested, unless one typing error apart.
const SIMILARITY_MIN: f64 = 0.75;

/// Minimum similarity of names that differ by one typing error: an additional, missing or wrong letter, or two
/// swapped letters (Damerau, "A technique for computer detection and correction of spelling errors", Communications
/// of the ACM 7, 1964). Short names such as `kye` and `key` have a low Jaro-Winkler similarity then.
const ONE_ERROR: f64 = 0.9;

/// Minimum length of a name that is recognisable with one typing error.
const LETTERS_MIN: usize = 3;

/// Maximum number of names in one suggestion.
const SIMILAR_MAX: usize = 3;

/// Returns the known names that are similar to a wrong one, the most similar first, at most three.
///
/// Letter case makes no difference. Names of equal similarity stay in their order.
pub fn similar<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wrong = wrong.to_lowercase();
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        let is_one_error =
            wrong.chars().count() >= LETTERS_MIN && strsim::osa_distance(&wrong, &name) <= 1;
        let least = if is_one_error { ONE_ERROR } else { 0.0 };
        strsim::jaro_winkler(&wrong, &name).max(least)
    };
    let mut similar: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (similarity(name), name))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0));
    similar.truncate(SIMILAR_MAX);
    similar.into_iter().map(|(_, name)| name).collect()
}

/// Returns the end of an error message: the suggested name, and all known names.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let listed = known.join(", ");
    match similar(wrong, known.iter().copied()).first() {
        Some(name) => format!("did you mean `{name}`? (known: {listed})"),
        None if known.is_empty() => "none is known here".to_owned(),
        None => format!("known: {listed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_names_come_first() {
        let known = ["year", "titleType", "genres", "title"];
        assert_eq!(similar("Tittle", known), ["title", "titleType"]);
        assert_eq!(similar("uuid8", ["uuid4", "uuid7"]), ["uuid4", "uuid7"]);
        assert!(similar("price", known).is_empty());
        assert_eq!(similar("kye", ["engine", "key", "write"]), ["key"]);
        assert!(similar("x", ["y"]).is_empty());
    }

    #[test]
    fn a_message_ends_with_what_is_known() {
        let known = ["csv", "json"];
        assert_eq!(
            nearest("CVS", known),
            "did you mean `csv`? (known: csv, json)"
        );
        assert_eq!(nearest("xml", known), "known: csv, json");
        assert_eq!(nearest("xml", []), "none is known here");
    }
}
