//! What `PRAGMA integrity_check` and `quick_check` of SQLite 3.40.0 and 3.40.1 say of sound WITHOUT ROWID tables.
//!
//! These versions read the header of a record only up to the column that was declared last, and take a NOT NULL column
//! behind it for NULL. Columns of the key are stored first. So the report is wrong where the last column is one of the
//! key and others are not (`sqlite3Pragma` of 3.40.1; 3.39.4 and 3.41.0 do not do it).

/// A column of a table, as far as it matters here.
pub(crate) struct StoredColumn<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_not_null: bool,
    pub(crate) has_default: bool,
    pub(crate) is_virtual: bool,
}

/// The columns that these versions may take for NULL, where the table is stored by this key.
pub(crate) fn false_nulls<'a>(columns: &[StoredColumn<'a>], key: &[usize]) -> Vec<&'a str> {
    let is_stored = |at: &usize| !columns[*at].is_virtual;
    let rest = (0..columns.len()).filter(|at| is_stored(at) && !key.contains(at));
    let order: Vec<usize> = key.iter().copied().chain(rest).collect();
    let last = (0..columns.len()).rfind(is_stored);
    let Some(place) = order.iter().position(|at| Some(*at) == last) else {
        return Vec::new();
    };
    let is_checked =
        |at: &&usize| (columns[**at].is_not_null || key.contains(at)) && !columns[**at].has_default;
    match order[place + 1..].iter().any(|at| is_checked(&at)) {
        false => Vec::new(),
        true => {
            let found = order[place..].iter().filter(is_checked);
            found.map(|&at| columns[at].name).collect()
        }
    }
}

/// Says what these versions report of a table; nothing where they find it sound.
pub(crate) fn false_report(
    table: &str,
    columns: &[StoredColumn<'_>],
    key: &[usize],
) -> Option<String> {
    let found = false_nulls(columns, key);
    let reports: Vec<String> = found
        .iter()
        .map(|name| format!("\"NULL value in {table}.{name}\""))
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "PRAGMA integrity_check and quick_check of SQLite 3.40.0 and 3.40.1 then report {}, a fault of these versions: the rows are sound.",
            reports.join(", ")
        )
    })
}
