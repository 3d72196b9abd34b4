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
        let bounds = bounds(session, &from, first)?;
        let column = quote(&first.name);
        for (at, low) in bounds.iter().enumerate() {
            let end = bounds
                .get(at + 1)
                .map_or(String::new(), |end| format!(" AND {column} < {end}"));
            let limit = rows_max / bounds.len() as u64;
            rows.extend(session.rows(&format!(
                "{select} WHERE {column} >= {low}{end}{order} LIMIT {limit}"
            ))?);
        }
    }
    if rows.is_empty() {
        rows = session.rows(&format!("{select}{order} LIMIT {rows_max}"))?;
    }
    sample.rows = rows;
    Ok(sample)
}

/// The table, read by its clustered index alone: uses of others would count, and these would never again be told as unused.
fn source(table: &Table) -> String {
    match table.clustered() {
        Some(key) => format!("{} FORCE INDEX ({})", name(table), quote(&key.name)),
        None => format!("{} USE INDEX ()", name(table)),
    }
}

/// Values of a column at equal distances from the smallest to the largest, as literals in ascending order.
fn bounds(session: &mut ReadOnly, from: &str, column: &Column) -> Result<Vec<String>, Error> {
    let name_of_column = quote(&column.name);
    let is_binary = column.base_type.ends_with("binary");
    let shown = if is_binary {
        format!("HEX({name_of_column})")
    } else {
        name_of_column.clone()
    };
    let of = |order: &str| {
        format!("(SELECT {shown} FROM {from} ORDER BY {name_of_column} {order} LIMIT 1)")
    };
    let rows = session.rows(&format!("SELECT {}, {}", of("ASC"), of("DESC")))?;
    let Some([Some(low), Some(high)]) = rows.first().map(Vec::as_slice) else {
        return Ok(Vec::new());
    };
    if let (Ok(low), Ok(high)) = (low.parse::<i128>(), high.parse::<i128>())
        && !is_binary
    {
        let step = ((high - low) / i128::from(RANGES)).max(1);
        return Ok((0..i128::from(RANGES))
            .map(|at| (low + at * step).to_string())
            .collect());
    }
    if column.base_type == "uuid" {
        return uuid_bounds(session, low, high);
    }
    let texts = between(low, high);
    Ok(texts
        .into_iter()
        .map(|text| match is_binary {
            true => format!("x'{text}'"),
            false => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        })
        .collect())
}

/// Bounds of a column of UUIDs in the server's order. It stores those of the versions 1 to 5 with the last parts first, so
/// that values between the ends are found in both orders.
fn uuid_bounds(session: &mut ReadOnly, low: &str, high: &str) -> Result<Vec<String>, Error> {
    let turned = |text: &str| text.rsplit('-').collect::<Vec<_>>().join("-");
    let of_order = between(low, high);
    let of_turned = between(&turned(low), &turned(high));
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
    Ok(found.into_iter().map(|text| format!("'{text}'")).collect())
}

/// Places of the digits of version and variant in a UUID's text.
const VERSION_AT: usize = 14;
const VARIANT_AT: usize = 19;

/// Texts of hexadecimal digits, or of letters and digits, at equal distances between two.
fn between(low: &str, high: &str) -> Vec<String> {
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
    for at in 1..RANGES {
        let mut rest = from + (until.saturating_sub(from)) * at / RANGES;
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
        let found = between(ends.0, ends.1);
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
        let hex = between("00AA", "FF00");
        assert!(hex.iter().all(|text| text.len() % 2 == 0), "{hex:?}");
        assert!(between("customer-a", "customer-z").is_sorted());
        assert_eq!(between("x", "x"), ["x", "x000000"]);
    }
}
