//! The names that may have been meant by one that is not there.

/// The most alike of `present` and true, or all of them and false where none is alike.
pub(crate) fn nearest<'a>(
    name: &str,
    present: impl IntoIterator<Item = &'a str>,
) -> (bool, Vec<String>) {
    /// Names less alike than this are listed only where none is.
    const ALIKE: f64 = 0.75;
    const NAMED_MAX: usize = 3;
    let wanted = name.to_lowercase();
    let mut present: Vec<(f64, &str)> = present
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .collect();
    let are_alike = present.iter().any(|(likeness, _)| *likeness >= ALIKE);
    if are_alike {
        present.retain(|(likeness, _)| *likeness >= ALIKE);
        present.sort_by(|a, b| b.0.total_cmp(&a.0));
        present.truncate(NAMED_MAX);
    }
    let names = present.into_iter().map(|(_, name)| name.to_owned());
    (are_alike, names.collect())
}
