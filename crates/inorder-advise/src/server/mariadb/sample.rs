//! Rows of a table, from ranges of its primary key.

use super::{name, quote};
use crate::{
    Error,
    server::model::{Column, Sample, Table},
};
use inorder_engine::remote::{ReadOnly, TextRows};

/// Rows that are read at most,
pub const ROWS_MAX: u64 = 10_000;
/// and their bytes. Tables of wide rows give fewer rows.
const BYTES_MAX: u64 = 64 << 20;
/// Ranges of the primary key that a sample is taken from.
const RANGES: u64 = 100;
/// How often ranges are divided.
const ROUNDS: usize = 5;
/// A sample is large enough if it lacks a part of so many.
const ENOUGH: u64 = 10;
/// Characters of a key that tell ranges apart.
const DIGITS: usize = 6;

fn is_binary(column: &Column) -> bool {
    let base = column.base_type.as_str();
    base.ends_with("blob")
        || base.ends_with("binary")
        || ["geometry", "point", "linestring", "polygon"].contains(&base)
}

/// A column as text.
fn expression(column: &Column) -> String {
    let name = quote(&column.name);
    match column.base_type.as_str() {
        _ if is_binary(column) => format!("LOWER(HEX({name}))"),
        "bit" => format!("{name} + 0"),
        _ => name,
    }
}

/// Reads a sample: small tables whole, of large ones the first rows of many ranges of the primary key.
///
/// # Errors
/// If the server refuses or the time limit is exceeded.
pub fn read(session: &mut ReadOnly, table: &Table) -> Result<Sample, Error> {
    let values: Vec<String> = table.columns.iter().map(expression).collect();
    let mut sample = Sample {
        columns: table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect(),
        binary: table
            .columns
            .iter()
            .filter(|column| is_binary(column))
            .map(|column| column.name.clone())
            .collect(),
        ..Sample::default()
    };
    let key: Vec<&str> = table.clustered().map_or(Vec::new(), |key| {
        key.terms
            .iter()
            .filter_map(|term| term.column.as_deref())
            .collect()
    });
    sample.is_in_storage_order = !key.is_empty();
    let from = source(table);
    let select = format!("SELECT {} FROM {from}", values.join(", "));
    let order = match key.is_empty() {
        true => String::new(),
        false => format!(
            " ORDER BY {}",
            key.iter()
                .map(|column| quote(column))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let row_bytes = table.bytes / table.rows.max(1);
    let rows_max = (BYTES_MAX / row_bytes.max(1)).clamp(100, ROWS_MAX);
    // The estimate of rows is off by a half at times.
    if table.rows <= 2 * rows_max {
        let rows = session.rows(&format!("{select}{order} LIMIT {}", rows_max + 1))?;
        if rows.len() as u64 <= rows_max {
            sample.rows = rows;
            sample.is_whole = true;
            return Ok(sample);
        }
    }
    let mut rows = TextRows::new();
    if let Some(first) = key.first().and_then(|name| table.column(name)) {
        let ranges = Ranges {
            column: first,
            from: &from,
            at: sample.column(&first.name).unwrap_or(0),
            select: &select,
            order: &order,
        };
        if let Some((low, high)) = ends(session, &from, first)? {
            rows = ranges.read(session, (&low, &high), rows_max)?;
        }
    }
    if rows.is_empty() {
        rows = session.rows(&format!("{select}{order} LIMIT {rows_max}"))?;
    }
    sample.rows = rows;
    Ok(sample)
}

/// How a sample is read from ranges of the first column of the key.
struct Ranges<'a> {
    column: &'a Column,
    /// What it is read from.
    from: &'a str,
    /// The place of the column among the values.
    at: usize,
    select: &'a str,
    order: &'a str,
}

/// A range that has more rows than were read of it.
struct Open {
    /// Its place: the numbers of the ranges that it is a part of.
    path: Vec<usize>,
    /// The last value that was read; none of a range that was not read yet.
    after: Option<String>,
    /// Where it ends, exclusively.
    end: Option<String>,
}

impl Ranges<'_> {
    /// Reads the first rows of many ranges. Where keys are crowded, as those that are made in the order of time are where many
    /// rows came at once, most ranges are empty: then those that have more rows are divided again.
    fn read(
        &self,
        session: &mut ReadOnly,
        (low, high): (&str, &str),
        rows_max: u64,
    ) -> Result<TextRows, Error> {
        let mut open = vec![Open {
            path: Vec::new(),
            after: None,
            end: None,
        }];
        let (mut found, mut left) = (Vec::new(), rows_max);
        for _ in 0..ROUNDS {
            let parts = (RANGES / open.len() as u64).max(2);
            let mut ranges = Vec::new();
            for own in std::mem::take(&mut open) {
                let last = self.last(session, &own)?;
                let ends = (
                    own.after.as_deref().unwrap_or(low),
                    last.as_deref().unwrap_or(high),
                );
                let mut texts = divided(session, self.column, ends, parts)?;
                // The first part begins where the range does.
                texts.remove(0);
                ranges.push((own, texts));
            }
            let count: usize = ranges.iter().map(|(_, texts)| texts.len() + 1).sum();
            let limit = left / count as u64;
            if limit == 0 {
                break;
            }
            for (own, texts) in ranges {
                for at in 0..=texts.len() {
                    let end = texts.get(at).or(own.end.as_ref());
                    let bounds = self.bounds(&own, at.checked_sub(1).map(|at| &texts[at]), end);
                    let rows = session.rows(&format!(
                        "{}{bounds}{} LIMIT {limit}",
                        self.select, self.order
                    ))?;
                    let path: Vec<usize> = own.path.iter().copied().chain([at]).collect();
                    left -= (rows.len() as u64).min(left);
                    let last = rows.last().and_then(|row| row.get(self.at)?.clone());
                    if rows.len() as u64 == limit {
                        open.push(Open {
                            path: path.clone(),
                            after: last,
                            end: end.cloned(),
                        });
                    }
                    found.push((path, rows));
                }
            }
            if open.is_empty() || left < rows_max / ENOUGH {
                break;
            }
        }
        // Parts of a range come after its first rows.
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found.into_iter().flat_map(|(_, rows)| rows).collect())
    }

    /// The condition of a part of a range, from a value on and up to another.
    fn bounds(&self, own: &Open, from: Option<&String>, end: Option<&String>) -> String {
        let column = quote(&self.column.name);
        let of = |text: &String, is: &str| format!("{column} {is} {}", self.literal(text));
        let bounds = [
            own.after.as_ref().map(|text| of(text, ">")),
            from.map(|text| of(text, ">=")),
            own.end.as_ref().map(|text| of(text, "<")),
            end.map(|text| of(text, "<")),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        match bounds.is_empty() {
            true => String::new(),
            false => format!(" WHERE {}", bounds.join(" AND ")),
        }
    }

    /// The largest value of a range that was read before: its end may be far behind.
    fn last(&self, session: &mut ReadOnly, own: &Open) -> Result<Option<String>, Error> {
        let (Some(after), Some(end)) = (&own.after, &own.end) else {
            return Ok(None);
        };
        let column = quote(&self.column.name);
        let rows = session.rows(&format!(
            "SELECT {} FROM {} WHERE {column} > {} AND {column} < {} ORDER BY {column} DESC LIMIT 1",
            expression(self.column),
            self.from,
            self.literal(after),
            self.literal(end)
        ))?;
        Ok(rows.into_iter().flatten().next().flatten())
    }

    /// A value of the column in a statement.
    fn literal(&self, text: &str) -> String {
        match self.column.base_type.ends_with("binary") {
            true => format!("x'{text}'"),
            false => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        }
    }
}

/// The table, read by its clustered index alone: uses of others would count, and these would never again be told as unused.
fn source(table: &Table) -> String {
    match table.clustered() {
        Some(key) => format!("{} FORCE INDEX ({})", name(table), quote(&key.name)),
        None => format!("{} USE INDEX ()", name(table)),
    }
}

/// The smallest and the largest value of a column, as a sample has them.
fn ends(
    session: &mut ReadOnly,
    from: &str,
    column: &Column,
) -> Result<Option<(String, String)>, Error> {
    let (name_of_column, shown) = (quote(&column.name), expression(column));
    let of = |order: &str| {
        format!("(SELECT {shown} FROM {from} ORDER BY {name_of_column} {order} LIMIT 1)")
    };
    let rows = session.rows(&format!("SELECT {}, {}", of("ASC"), of("DESC")))?;
    Ok(match rows.first().map(Vec::as_slice) {
        Some([Some(low), Some(high)]) => Some((low.clone(), high.clone())),
        _ => None,
    })
}

/// Values at equal distances between two of a column, in ascending order. The first is the lower one.
fn divided(
    session: &mut ReadOnly,
    column: &Column,
    (low, high): (&str, &str),
    parts: u64,
) -> Result<Vec<String>, Error> {
    if let (Ok(first), Ok(last)) = (low.parse::<i128>(), high.parse::<i128>())
        && !column.base_type.ends_with("binary")
    {
        let step = ((last - first) / i128::from(parts)).max(1);
        let values = (0..i128::from(parts)).map(|at| (first + at * step).to_string());
        return Ok(values.collect());
    }
    match column.base_type.as_str() {
        "uuid" => uuid_bounds(session, low, high, parts),
        _ => Ok(between(low, high, parts)),
    }
}

/// Bounds of a column of UUIDs in the server's order. It stores those of the versions 1 to 5 with the last parts first, so
/// that values between the ends are found in both orders.
fn uuid_bounds(
    session: &mut ReadOnly,
    low: &str,
    high: &str,
    parts: u64,
) -> Result<Vec<String>, Error> {
    let turned = |text: &str| text.rsplit('-').collect::<Vec<_>>().join("-");
    let of_order = between(low, high, parts);
    let of_turned = between(&turned(low), &turned(high), parts);
    let mut texts: Vec<String> = of_order
        .into_iter()
        .chain(of_turned.iter().map(|text| turned(text)))
        .collect();
    for text in &mut texts {
        // Version and variant stay: others are no UUIDs to the server.
        for at in [VERSION_AT, VARIANT_AT] {
            if let Some(digit) = low.get(at..=at).filter(|_| text.len() == low.len()) {
                text.replace_range(at..=at, digit);
            }
        }
    }
    let casts: Vec<String> = texts
        .iter()
        .map(|text| format!("SELECT CAST('{text}' AS UUID) AS id"))
        .collect();
    let rows = session.rows(&format!(
        "SELECT id FROM ({}) ids WHERE id IS NOT NULL ORDER BY id",
        casts.join(" UNION ")
    ))?;
    let found = rows
        .into_iter()
        .filter_map(|row| row.into_iter().next().flatten());
    let mut found: Vec<String> = std::iter::once(low.to_owned()).chain(found).collect();
    found.dedup();
    Ok(found)
}

/// Places of the digits of version and variant in a UUID's text.
const VERSION_AT: usize = 14;
const VARIANT_AT: usize = 19;

/// Texts of hexadecimal digits, or of letters and digits, at equal distances between two.
fn between(low: &str, high: &str, parts: u64) -> Vec<String> {
    const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    const HEX: usize = 16;
    let same = low
        .bytes()
        .zip(high.bytes())
        .take_while(|(a, b)| a.eq_ignore_ascii_case(b))
        .count();
    let tails = (low.get(same..), high.get(same..));
    let (Some(low_tail), Some(high_tail)) = tails else {
        return vec![low.to_owned()];
    };
    let is_hex = |text: &str| {
        text.bytes()
            .all(|digit| digit.is_ascii_hexdigit() || digit == b'-')
    };
    let base = if is_hex(low) && is_hex(high) {
        HEX
    } else {
        LETTERS.len()
    };
    // A hyphen of a UUID stands where it stood.
    let is_hyphen = |at: usize| low.as_bytes().get(same + at) == Some(&b'-');
    let value = |text: &str| {
        let mut value = 0u64;
        let mut digits = text.bytes().filter(|&digit| digit != b'-');
        for _ in 0..DIGITS {
            let digit = digits.next().unwrap_or(b'0').to_ascii_lowercase();
            let place = LETTERS
                .iter()
                .position(|&letter| letter == digit)
                .unwrap_or(0);
            value = value * base as u64 + place.min(base - 1) as u64;
        }
        value
    };
    let (from, until) = (value(low_tail), value(high_tail));
    let mut found = vec![low.to_owned()];
    for at in 1..parts {
        let mut rest = from + (until.saturating_sub(from)) * at / parts;
        let mut digits = [0; DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit = LETTERS[(rest % base as u64) as usize];
            rest /= base as u64;
        }
        let mut text = low[..same].to_owned();
        let mut digits = digits.iter();
        let mut place = 0;
        while let Some(&digit) = digits.clone().next() {
            if is_hyphen(place) {
                text.push('-');
            } else {
                text.push(char::from(digit));
                digits.next();
            }
            place += 1;
        }
        // Values of a fixed form, such as UUIDs, keep their length.
        if base == HEX && low.len() == high.len() {
            let rest = low.get(text.len()..).unwrap_or_default();
            text += rest;
        }
        found.push(text);
    }
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::between;

    #[test]
    fn bounds_are_spread_between_the_ends_and_keep_their_form() {
        let ends = (
            "018f0000-0000-7000-8000-000000000000",
            "018fffff-ffff-7fff-bfff-ffffffffffff",
        );
        let found = between(ends.0, ends.1, 100);
        assert_eq!(found.len(), 100);
        assert!(
            found
                .iter()
                .all(|text| text.len() == 36 && text.as_bytes()[8] == b'-'),
            "{found:?}"
        );
        assert!(
            found.is_sorted() && found[50].as_str() > "018f7" && found[50].as_str() < "018f9",
            "{}",
            found[50]
        );
        let hex = between("00AA", "FF00", 100);
        assert!(hex.iter().all(|text| text.len() % 2 == 0), "{hex:?}");
        assert!(between("customer-a", "customer-z", 100).is_sorted());
        assert_eq!(between("x", "x", 100), ["x", "x000000"]);
    }
}
