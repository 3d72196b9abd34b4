//! Tables of predictions beside the runs that tested them, from `predictions.csv` and `measured.csv` of records.

use super::records::Records;
use inorder_bench::{format, report::markdown};
use std::collections::BTreeMap;

/// Bounds of the error of bytes per insert by engine, and of sizes.
const BYTES: &[(&str, f64)] = &[("sqlite", 0.05), ("postgres", 0.10), ("mariadb", 0.10)];
const SIZE: f64 = 0.02;

/// A load with what was predicted and what was measured.
pub struct Cell {
    record: String,
    columns: BTreeMap<String, String>,
}

/// The cells of some records. Those that were not run yet have no measured values.
pub fn read(records: &Records, names: &[&str]) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for name in names {
        let predicted = rows(&records.csv(&format!("{name}/predictions.csv"))?)?;
        let measured = rows(&records.csv(&format!("{name}/measured.csv"))?)?;
        cells.extend(pairs(name, &predicted, &measured));
    }
    Ok(cells)
}

type Row = BTreeMap<String, String>;

fn rows(text: &str) -> Result<Vec<Row>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.map_err(|error| error.to_string())
}

/// Each prediction with its run. The run of a load has the same values in all columns that describe it.
fn pairs(record: &str, predicted: &[Row], measured: &[Row]) -> Vec<Cell> {
    let pair = |prediction: &Row| {
        let is_same = |run: &&Row| {
            let mut both = run
                .iter()
                .filter_map(|(name, value)| Some((value, prediction.get(name)?)));
            both.all(|(run, predicted)| run == predicted)
        };
        let run = measured.iter().find(is_same);
        let columns = prediction.iter().chain(run.into_iter().flatten());
        Cell {
            record: record.to_owned(),
            columns: columns.map(|(k, v)| (k.clone(), v.clone())).collect(),
        }
    };
    predicted.iter().map(pair).collect()
}

impl Cell {
    fn text(&self, column: &str) -> &str {
        self.columns.get(column).map_or("", String::as_str)
    }

    fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }

    /// The error of a prediction as a share of what was measured.
    fn error(&self, what: &str) -> f64 {
        self.number(&format!("predicted_{what}")) / self.number(&format!("measured_{what}")) - 1.0
    }

    fn was_run(&self) -> bool {
        self.columns.contains_key("measured_bytes_per_row")
    }

    fn bytes_error(&self) -> f64 {
        self.error("bytes_per_row")
    }

    fn size_error(&self) -> f64 {
        self.error("size_bytes")
    }

    /// The load in words, one for each heading of [`LOAD`].
    fn load(&self) -> Vec<String> {
        let integer = |column: &str| match self.text(column).parse() {
            Ok(number) => format::integer(number),
            Err(_) => "0".to_owned(),
        };
        vec![
            self.text("engine").to_owned(),
            format!("{} ({})", self.text("key"), self.text("encoding")),
            self.text("layout").to_owned(),
            integer("payload_bytes"),
            integer("indexes"),
            integer("loaded_rows"),
            integer("rows"),
            integer("rows_per_transaction"),
            format::quantity(self.number("cache_kib") * 1024.0, "bytes"),
        ]
    }
}

const LOAD: [&str; 9] = [
    "engine",
    "key",
    "layout",
    "payload, bytes",
    "indexes",
    "rows loaded before",
    "rows inserted",
    "rows per transaction",
    "cache",
];

fn percent(share: f64) -> String {
    format!("{:+.2}%", 100.0 * share)
}

/// The share of the cells of each engine within the bounds.
pub fn shares(cells: &[Cell]) -> String {
    let headings = [
        "engine",
        "loads",
        "bound of bytes per insert",
        "within it",
        "largest error",
        "sizes within 2%",
        "largest error of size",
    ];
    let mut rows = Vec::new();
    for (engine, bound) in BYTES {
        let of: Vec<&Cell> = cells
            .iter()
            .filter(|cell| cell.text("engine") == *engine && cell.was_run())
            .collect();
        let within = |bound: f64, error: fn(&Cell) -> f64| {
            let good = of.iter().filter(|cell| error(cell).abs() <= bound).count();
            let share = 100.0 * good as f64 / of.len() as f64;
            format!("{good} ({share:.0}%)")
        };
        let largest = |error: fn(&Cell) -> f64| {
            let errors = of.iter().map(|cell| error(cell));
            percent(errors.fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a }))
        };
        if !of.is_empty() {
            rows.push(vec![
                (*engine).to_owned(),
                of.len().to_string(),
                format!("{:.0}%", 100.0 * bound),
                within(*bound, Cell::bytes_error),
                largest(Cell::bytes_error),
                within(SIZE, Cell::size_error),
                largest(Cell::size_error),
            ]);
        }
    }
    markdown::table(&headings.map(str::to_owned), &rows, 1)
}

/// The cells, or those with the largest errors of bytes per insert.
pub fn list(mut cells: Vec<Cell>, worst: Option<usize>) -> String {
    if let Some(count) = worst {
        cells.retain(Cell::was_run);
        cells.sort_by(|a, b| b.bytes_error().abs().total_cmp(&a.bytes_error().abs()));
        cells.truncate(count);
    }
    let ends = [
        "predicted bytes per insert",
        "measured",
        "error",
        "error of size",
        "record",
    ];
    let headings: Vec<String> = LOAD.iter().chain(&ends).map(|&h| h.to_owned()).collect();
    let row = |cell: &Cell| {
        let bytes = |column: &str| format::quantity(cell.number(column), "bytes");
        let of_run = match cell.was_run() {
            true => [
                bytes("measured_bytes_per_row"),
                percent(cell.bytes_error()),
                percent(cell.size_error()),
            ],
            false => ["not run", "", ""].map(str::to_owned),
        };
        let mut row = cell.load();
        row.push(bytes("predicted_bytes_per_row"));
        row.extend(of_run);
        row.push(cell.record.clone());
        row
    };
    let rows: Vec<Vec<String>> = cells.iter().map(row).collect();
    markdown::table(&headings, &rows, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREDICTED: &str = "engine,key,rows,predicted_bytes_per_row,predicted_size_bytes\n\
        sqlite,uuid4,10,104,100\nsqlite,uuid7,10,120,103\n";
    const MEASURED: &str = "engine,key,rows,loaded_rows,measured_bytes_per_row,measured_size_bytes\n\
        sqlite,uuid7,10,0,100,100\nsqlite,uuid4,10,0,100,100\n";

    #[test]
    fn predictions_are_beside_their_runs() {
        let cells = pairs("r", &rows(PREDICTED).unwrap(), &rows(MEASURED).unwrap());
        let errors: Vec<String> = cells
            .iter()
            .map(|cell| percent(cell.bytes_error()))
            .collect();
        assert_eq!(errors, ["+4.00%", "+20.00%"]);
        let shares = shares(&cells);
        assert!(
            shares.contains("| sqlite | 2 | 5% | 1 (50%) | +20.00% | 1 (50%) | +3.00% |"),
            "{shares}"
        );
        let worst = list(cells, Some(1));
        assert!(
            worst.contains("uuid7") && !worst.contains("uuid4"),
            "{worst}"
        );
    }

    #[test]
    fn a_prediction_without_a_run_is_not_counted() {
        let measured = rows(MEASURED).unwrap();
        let cells = pairs("r", &rows(PREDICTED).unwrap(), &measured[..1]);
        assert!(shares(&cells).contains("| sqlite | 1 | 5% | 0 (0%) |"));
        assert!(list(cells, None).contains("not run"));
    }
}
