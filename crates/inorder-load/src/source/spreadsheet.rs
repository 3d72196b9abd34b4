//! Worksheets of Excel (Office Open XML, binary and BIFF) and OpenDocument.
//!
//! Dates and times become text in ISO 8601, whole numbers integers. The values of formulas are those that the file has.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use calamine::{Data, ExcelDateTime, Range, Reader as _, SheetVisible, Sheets, open_workbook};

use super::input::{Input, PlainFile};
use super::names::distinct;
use super::row::{Field, Row};
use super::{ReadOptions, Rows};
use crate::Error;
use crate::note::Note;

/// Begins to read a worksheet.
pub(super) fn open(input: Input, options: &ReadOptions) -> Result<Box<dyn Rows>, Error> {
    Ok(Box::new(SheetRows::open(input.into_file()?, options)?))
}

/// The first serial number after 9999-12-31.
const DAYS_END: f64 = 2_958_466.0;

/// The serial number of 1900-02-29, which Excel counts although there was no such day.
const NO_DAY: f64 = 60.0;

/// The largest number below which every whole number is exact in a cell: 2^53.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

type Workbook = Sheets<BufReader<File>>;

/// The rows of a worksheet.
struct SheetRows {
    path: PathBuf,
    cells: Range<Data>,
    /// Cells with a formula.
    formulas: Range<String>,
    columns: Vec<String>,
    has_header: bool,
    remarks: Vec<Note>,
    /// The next row of `cells`.
    next: usize,
}

impl SheetRows {
    fn open(file: PlainFile, options: &ReadOptions) -> Result<Self, Error> {
        let path = file.shown;
        let unreadable = |what: String| Error::Unreadable {
            path: path.clone(),
            what,
        };
        let bytes = file.real.metadata().map_or(0, |metadata| metadata.len());
        file.meter.add(bytes.saturating_sub(file.meter.bytes()));
        let mut workbook =
            workbook(&path, &file.real).map_err(|error| unreadable(error.to_string()))?;
        let name = sheet(&workbook, &path, options.table.as_deref())?;
        let cells = workbook.worksheet_range(&name);
        let cells = cells.map_err(|error| unreadable(format!("sheet {name}: {error}")))?;
        let formulas = workbook.worksheet_formula(&name).unwrap_or_default();
        let has_header = options.has_header.unwrap_or(true);
        let mut rows = SheetRows {
            path,
            cells,
            formulas,
            columns: Vec::new(),
            has_header,
            remarks: Vec::new(),
            next: 0,
        };
        rows.next = usize::try_from(options.lines_skipped).unwrap_or(usize::MAX);
        rows.name_columns()?;
        Ok(rows)
    }

    /// Names the columns after the cells of the first row that is not empty, or by number if that is a row.
    fn name_columns(&mut self) -> Result<(), Error> {
        if !self.skip_empty() {
            return Err(Error::NoRows {
                path: self.path.clone(),
            });
        }
        let cells = &self.cells[self.next];
        let names = cells.iter().zip(1..).map(|(cell, number)| match cell {
            _ if !self.has_header => format!("c{number}"),
            cell => cell.to_string(),
        });
        let (columns, notes) = distinct(names.collect());
        self.columns = columns;
        let path = self.path.display();
        self.remarks = notes.into_iter().map(|note| note.in_file(&path)).collect();
        self.next += usize::from(self.has_header);
        Ok(())
    }

    /// Goes on to the next row that has a value; false if there is none.
    fn skip_empty(&mut self) -> bool {
        let is_empty = |cells: &[Data]| cells.iter().all(|cell| *cell == Data::Empty);
        while self.next < self.cells.height() && is_empty(&self.cells[self.next]) {
            self.next += 1;
        }
        self.next < self.cells.height()
    }

    /// The position in the sheet of a cell of the next row, from 0: row and column.
    fn position(&self, column: usize) -> (u32, u32) {
        let (row, first) = self.cells.start().unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (
            row.saturating_add(count(self.next)),
            first.saturating_add(count(column)),
        )
    }

    fn malformed(&self, column: usize, what: String, remedy: &'static str) -> Error {
        let (row, at) = self.position(column);
        Error::Malformed {
            path: self.path.clone(),
            line: u64::from(row) + 1,
            at: format!(", cell {}{}", letters(at), row + 1),
            what,
            remedy,
        }
    }

    fn field(&self, row: &mut Row, column: usize, cell: &Data) -> Result<Field, Error> {
        let text = |row: &mut Row, text: &str| Field::Text(row.keep(text.as_bytes()));
        Ok(match cell {
            Data::Empty if self.has_formula(column) => {
                return Err(self.malformed(
                    column,
                    "the formula has no value in the file".to_owned(),
                    "open the file in a spreadsheet program and save it, which computes the formulas",
                ));
            }
            Data::Empty => Field::Null,
            Data::Bool(bool) => Field::Bool(*bool),
            Data::Int(integer) => Field::Integer(*integer),
            Data::Float(real) if real.fract() == 0.0 && real.abs() < WHOLE_MAX => {
                Field::Integer(*real as i64)
            }
            Data::Float(real) => Field::Real(*real),
            Data::String(string) => text(row, string),
            Data::DateTimeIso(date) => text(row, date),
            Data::DurationIso(time) => text(row, &clock_of(time).unwrap_or_else(|| time.clone())),
            Data::DateTime(date) => match iso(date) {
                Some(date) => text(row, &date),
                None => {
                    return Err(self.malformed(
                        column,
                        format!("{} is the number of no date", date.as_f64()),
                        "correct the cell, or give it a format that is no date",
                    ));
                }
            },
            Data::Error(error) => {
                return Err(self.malformed(
                    column,
                    format!("the cell has the error {error}"),
                    "correct the formula, or leave the row out (--max-errors)",
                ));
            }
        })
    }

    fn has_formula(&self, column: usize) -> bool {
        let formula = self.formulas.get_value(self.position(column));
        formula.is_some_and(|formula| !formula.is_empty())
    }
}

impl Rows for SheetRows {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.skip_empty() {
            return Ok(false);
        }
        let (line, _) = self.position(0);
        row.begin(u64::from(line) + 1);
        let mut wrong = None;
        for (column, cell) in self.cells[self.next].iter().enumerate() {
            match self.field(row, column, cell) {
                Ok(field) => row.fields.push(field),
                Err(error) => {
                    wrong = Some(error);
                    break;
                }
            }
        }
        self.next += 1;
        wrong.map_or(Ok(true), Err)
    }

    fn are_columns_nameless(&self) -> bool {
        !self.has_header
    }

    fn remarks(&self) -> &[Note] {
        &self.remarks
    }
}

/// Opens a workbook in the format that its extension names.
fn workbook(shown: &Path, real: &Path) -> Result<Workbook, calamine::Error> {
    let extension = shown.extension().unwrap_or_default().to_string_lossy();
    Ok(match &*extension.to_lowercase() {
        "xls" => Sheets::Xls(open_workbook(real)?),
        "xlsb" => Sheets::Xlsb(open_workbook(real)?),
        "ods" => Sheets::Ods(open_workbook(real)?),
        _ => Sheets::Xlsx(open_workbook(real)?),
    })
}

/// Returns the requested sheet, or the only visible one.
fn sheet(workbook: &Workbook, path: &Path, wanted: Option<&str>) -> Result<String, Error> {
    let sheets = workbook.sheets_metadata().iter();
    let found: Vec<&str> = sheets
        .clone()
        .filter(|sheet| match wanted {
            Some(wanted) => sheet.name == wanted,
            None => sheet.visible == SheetVisible::Visible,
        })
        .map(|sheet| sheet.name.as_str())
        .collect();
    match found[..] {
        [only] => Ok(only.to_owned()),
        _ => Err(Error::no_such_table(
            path,
            wanted,
            sheets.map(|sheet| sheet.name.as_str()),
        )),
    }
}

/// The letters of a column of a sheet, from 0.
fn letters(mut column: u32) -> String {
    let mut letters = Vec::new();
    loop {
        letters.insert(0, b'A' + (column % 26) as u8);
        match column / 26 {
            0 => return String::from_utf8_lossy(&letters).into_owned(),
            left => column = left - 1,
        }
    }
}

/// A date, a time or both in ISO 8601; `None` if the number is that of no date.
fn iso(date: &ExcelDateTime) -> Option<String> {
    let days = date.as_f64();
    if date.is_duration() {
        return days.is_finite().then(|| clock(days));
    }
    let is_no_day = days.floor() == NO_DAY && date.to_ymd_hms_milli().1 == 2;
    if !(0.0..DAYS_END).contains(&days) || is_no_day {
        return None;
    }
    if days < 1.0 {
        return Some(clock(days));
    }
    let (year, month, day, hour, minute, second, milli) = date.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, _, 0) => format!("{date} {hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date} {hour:02}:{minute:02}:{second:02}.{milli:03}"),
    })
}

/// A number of days as hours, minutes and seconds.
fn clock(days: f64) -> String {
    let sign = if days < 0.0 { "-" } else { "" };
    let millis = (days.abs() * 86_400_000.0).round() as u64;
    let (seconds, milli) = (millis / 1000, millis % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match milli {
        0 => format!("{sign}{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{sign}{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

/// `PT10H05M00S`, as OpenDocument has times, as hours, minutes and seconds.
fn clock_of(duration: &str) -> Option<String> {
    let (hours, rest) = duration.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds: f64 = rest.strip_suffix('S')?.replace(',', ".").parse().ok()?;
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(clock(
        (f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + seconds) / 86_400.0,
    ))
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType::{DateTime, TimeDelta};

    use super::*;

    #[test]
    fn columns_have_letters() {
        let all = [0, 25, 26, 51, 52, 701, 702, 16_383].map(letters);
        assert_eq!(all, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD"]);
    }

    #[test]
    fn numbers_of_days_are_dates_and_times() {
        let date = |days| iso(&ExcelDateTime::new(days, DateTime, false));
        assert_eq!(date(45_943.0).as_deref(), Some("2025-10-13"));
        assert_eq!(date(45_943.541).as_deref(), Some("2025-10-13 12:59:02.400"));
        assert_eq!(date(45_943.75).as_deref(), Some("2025-10-13 18:00:00"));
        assert_eq!(date(0.25).as_deref(), Some("06:00:00"));
        assert_eq!(date(61.0).as_deref(), Some("1900-03-01"));
        for none in [-1.0, 60.5, 2_958_466.0, f64::NAN] {
            assert_eq!(date(none), None, "{none}");
        }
        let later = iso(&ExcelDateTime::new(60.0, DateTime, true));
        assert_eq!(later.as_deref(), Some("1904-03-01"));
        let span = iso(&ExcelDateTime::new(1.5, TimeDelta, false));
        assert_eq!(span.as_deref(), Some("36:00:00"));
        assert_eq!(clock_of("PT10H05M00S").as_deref(), Some("10:05:00"));
        assert_eq!(clock_of("P1D"), None);
    }
}
