//! Tables of CSV files: one row of the table for each combination of names, the median of its samples in each column.

use super::block::Order;
use inorder_bench::{format, report::markdown, statistics::median};
use std::collections::BTreeMap;

/// A CSV file.
struct Csv {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The content of a column of the table.
struct Column {
    heading: String,
    /// Its column of the file.
    at: usize,
    what: What,
    /// Only samples with this value in another column.
    only: Option<(usize, String)>,
}

/// The statistic that a column shows.
#[derive(Clone, Copy, PartialEq)]
enum What {
    /// A name, by which samples are grouped.
    Name,
    /// The median, with its unit.
    Median,
    /// The same, with the smallest and the largest.
    Range,
    /// The median over that of the first row.
    Times,
    /// The number of samples.
    Count,
}

/// Makes the table. A line of the order is `HEADING = COLUMN [range | times | count] [for OTHER = VALUE]`; the line
/// `where COLUMN = VALUE` leaves out other rows.
pub fn table(text: &str, order: &Order<'_>) -> Result<String, String> {
    let mut csv = Csv::read(text)?;
    let mut columns = Vec::new();
    for (heading, expression) in &order.lines {
        match heading.strip_prefix("where ") {
            Some(column) => {
                let at = csv.column(column)?;
                csv.rows.retain(|row| row[at] == *expression);
            }
            None => columns.push(csv.shown(heading, expression)?),
        }
    }
    if csv.rows.is_empty() || columns.is_empty() {
        return Err("the table is empty: no rows are left, or no columns are named".to_owned());
    }
    let groups = csv.groups(&columns);
    let cells = |group: &Vec<&Vec<String>>| {
        let cells = columns
            .iter()
            .map(|column| csv.cell(column, group, &groups[0]));
        cells.collect::<Result<Vec<_>, _>>()
    };
    let rows = groups.iter().map(cells);
    let rows = rows.collect::<Result<Vec<_>, String>>()?;
    let is_name = |column: &&Column| column.what == What::Name;
    let words = columns.iter().take_while(is_name).count();
    let headings: Vec<String> = columns.into_iter().map(|column| column.heading).collect();
    Ok(markdown::table(&headings, &rows, words))
}

impl Csv {
    fn read(text: &str) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let words = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let wrong = |error: csv::Error| error.to_string();
        let headings = words(reader.headers().map_err(wrong)?);
        let rows = reader.records().map(|record| record.map(|r| words(&r)));
        let rows = rows.collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Csv { headings, rows })
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let at = self.headings.iter().position(|heading| heading == name);
        at.ok_or_else(|| {
            let known = self.headings.join(", ");
            format!("no column `{name}`; there are {known}")
        })
    }

    fn shown(&self, heading: &str, expression: &str) -> Result<Column, String> {
        let (expression, only) = match expression.split_once(" for ") {
            None => (expression, None),
            Some((expression, filter)) => {
                let (other, value) = filter
                    .split_once('=')
                    .ok_or_else(|| format!("`for {filter}` isn't `for COLUMN = VALUE`"))?;
                let only = (self.column(other.trim())?, value.trim().to_owned());
                (expression, Some(only))
            }
        };
        let (name, how) = expression.split_once(' ').unwrap_or((expression, ""));
        let what = match how.trim() {
            "range" => What::Range,
            "times" => What::Times,
            "count" => What::Count,
            "" if unit(name).is_some() => What::Median,
            "" => What::Name,
            other => return Err(format!("`{other}` is none of `range`, `times`, `count`")),
        };
        Ok(Column {
            heading: heading.to_owned(),
            at: self.column(name)?,
            what,
            only,
        })
    }

    /// The rows of each combination of names, in the order of the file.
    fn groups(&self, columns: &[Column]) -> Vec<Vec<&Vec<String>>> {
        let names = columns.iter().filter(|column| column.what == What::Name);
        let names: Vec<usize> = names.map(|column| column.at).collect();
        let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        let mut groups: Vec<Vec<&Vec<String>>> = Vec::new();
        for row in &self.rows {
            let key: Vec<&str> = names.iter().map(|at| row[*at].as_str()).collect();
            let place = *places.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[place].push(row);
        }
        groups
    }

    /// Formats a column for a group; empty if it has no sample.
    fn cell(
        &self,
        column: &Column,
        group: &[&Vec<String>],
        first: &[&Vec<String>],
    ) -> Result<String, String> {
        if column.what == What::Name {
            return Ok(group[0][column.at].clone());
        }
        let values = self.values(column, group)?;
        let Some(middle) = median(values.iter().copied()) else {
            return Ok(String::new());
        };
        let unit = unit(&self.headings[column.at]).unwrap_or_default();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(match column.what {
            What::Count => values.len().to_string(),
            What::Times => {
                let first = median(self.values(column, first)?);
                first.map_or_else(String::new, |first| format::ratio(middle / first))
            }
            What::Range if low < high => {
                let [middle, low, high] = [middle, low, high].map(|value| quantity(value, unit));
                format!("{middle} ({low} to {high})")
            }
            _ => quantity(middle, unit),
        })
    }

    /// The samples of a column in some rows; an empty cell is none.
    fn values(&self, column: &Column, rows: &[&Vec<String>]) -> Result<Vec<f64>, String> {
        let is_wanted = |row: &&&Vec<String>| match &column.only {
            Some((other, value)) => row[*other] == *value,
            None => true,
        };
        let heading = &self.headings[column.at];
        let cells = rows
            .iter()
            .filter(is_wanted)
            .map(|row| row[column.at].as_str());
        cells
            .filter(|cell| !cell.is_empty())
            .map(|cell| {
                cell.parse()
                    .map_err(|_| format!("{heading}: `{cell}` isn't a number"))
            })
            .collect()
    }
}

/// Units by the ending of a column's name: as the name writes it, and as a person reads it.
const UNITS: &[(&str, &str)] = &[
    ("_per_s", "/s"),
    ("_s", "s"),
    ("_ms", "ms"),
    ("_us", "us"),
    ("_ns", "ns"),
    ("_bytes", "bytes"),
    ("_share", "share"),
    ("_points", "points"),
    ("_times", "times"),
    ("_count", ""),
];

fn unit(column: &str) -> Option<&'static str> {
    let mut units = UNITS.iter();
    let (_, unit) = units.find(|(ending, _)| column.ends_with(ending))?;
    Some(unit)
}

fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "/s" => format!("{}/s", format::quantity(value, "")),
        "ns" => format::quantity(value / 1e3, "us"),
        "ms" => format::quantity(value * 1e3, "us"),
        "share" => format!("{:.2}%", 100.0 * value),
        unit => format::quantity(value, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str =
        "loader,table,cpu_s,written_bytes\na,x,1,1024\na,x,3,1024\na,x,2,1024\nb,x,4,\nc,y,9,1\n";

    fn of(lines: &[(&str, &str)]) -> Result<String, String> {
        let order = Order {
            words: Vec::new(),
            lines: lines.to_vec(),
        };
        table(CSV, &order)
    }

    #[test]
    fn samples_become_medians_ranges_and_ratios() {
        let table = of(&[
            ("where table", "x"),
            ("loader", "loader"),
            ("CPU", "cpu_s range"),
            ("times", "cpu_s times"),
            ("runs", "cpu_s count"),
            ("written", "written_bytes"),
        ]);
        let expected = "| loader | CPU | times | runs | written |\n| --- | ---: | ---: | ---: | ---: |\n\
                        | a | 2 s (1 s to 3 s) | 1.00 | 3 | 1 KiB |\n| b | 4 s | 2.00 | 1 |  |\n";
        assert_eq!(table.unwrap(), expected);
    }

    #[test]
    fn a_column_may_have_the_samples_of_some_rows() {
        let table = of(&[
            ("loader", "loader"),
            ("x", "cpu_s for table = x"),
            ("y", "cpu_s for table = y"),
        ]);
        assert!(
            table
                .unwrap()
                .ends_with("| a | 2 s |  |\n| b | 4 s |  |\n| c |  | 9 s |\n")
        );
    }

    #[test]
    fn what_is_not_there_is_told() {
        let told = |lines: &[(&str, &str)]| of(lines).unwrap_err();
        assert_eq!(
            told(&[("x", "cpu")]),
            "no column `cpu`; there are loader, table, cpu_s, written_bytes"
        );
        assert_eq!(
            told(&[("x", "cpu_s mean")]),
            "`mean` is none of `range`, `times`, `count`"
        );
        assert!(told(&[("where table", "z"), ("x", "loader")]).starts_with("the table is empty"));
        assert_eq!(told(&[("x", "loader times")]), "loader: `a` isn't a number");
    }
}
