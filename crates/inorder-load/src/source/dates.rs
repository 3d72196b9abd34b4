//! Dates in the forms that people write, as ISO 8601.

use std::path::PathBuf;

use super::row::{Field, Row};
use super::{Raw, Rows, Tally};
use crate::Error;
use crate::error::offer;
use crate::note::Note;
use crate::sql::place_of;

/// The order of day, month and year in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateOrder {
    /// `31.12.2024`, `31 Dec 2024`
    DayMonthYear,
    /// `12/31/2024`, `Dec 31, 2024`
    MonthDayYear,
    /// `2024/12/31`, `20241231`
    YearMonthDay,
}

/// The names of months, as English abbreviates them.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

impl DateOrder {
    /// All orders and their names on the command line.
    pub const ALL: &[(&str, DateOrder)] = &[
        ("dmy", DateOrder::DayMonthYear),
        ("mdy", DateOrder::MonthDayYear),
        ("ymd", DateOrder::YearMonthDay),
    ];

    /// A date of this order, with or without a time, as `2024-12-31` or `2024-12-31 23:59:00`. `None` if the text is none.
    pub fn iso(self, text: &str) -> Option<String> {
        let text = text.trim();
        let end = end_of_date(text)?;
        let (date, time) = text.split_at(end);
        let [year, month, day] = self.parts(date)?;
        let is_day = (1..=days_of(year, month)?).contains(&day);
        if !is_day || year < 1000 {
            return None;
        }
        let date = format!("{year:04}-{month:02}-{day:02}");
        match time.is_empty() {
            true => Some(date),
            false => Some(format!("{date} {}", clock(time)?)),
        }
    }

    /// Year, month and day.
    fn parts(self, date: &str) -> Option<[u32; 3]> {
        let is_digits = date.bytes().all(|byte| byte.is_ascii_digit());
        let split: Vec<&str> = match (self, date.len(), is_digits) {
            (DateOrder::YearMonthDay, 8, true) => vec![&date[..4], &date[4..6], &date[6..]],
            _ => date
                .split(['.', '/', '-', ' ', ','])
                .filter(|part| !part.is_empty())
                .collect(),
        };
        let [first, second, third] = split[..] else {
            return None;
        };
        let [year, month, day] = match self {
            DateOrder::DayMonthYear => [third, second, first],
            DateOrder::MonthDayYear => [third, first, second],
            DateOrder::YearMonthDay => [first, second, third],
        };
        let number = |text: &str, most: usize| {
            let is_number =
                (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten()
        };
        let month = number(month, 2).or_else(|| named_month(month))?;
        // Two digits do not say which century.
        let year = number(year, 4).filter(|_| year.len() == 4)?;
        Some([year, month, number(day, 2)?])
    }
}

/// The length of the date at the beginning of a text: to the space or the T before a time, or to the end.
fn end_of_date(text: &str) -> Option<usize> {
    let Some(colon) = text.find(':') else {
        return Some(text.len());
    };
    let hour = text[..colon].rfind(|c: char| !c.is_ascii_digit())?;
    Some(text[..=hour].trim_end_matches(['T', ' ', ',']).len())
}

fn named_month(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let is_name = text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let found = MONTHS.iter().position(|month| text.starts_with(month));
    found.filter(|_| is_name).map(|at| at as u32 + 1)
}

/// The days of a month of the Gregorian calendar.
fn days_of(year: u32, month: u32) -> Option<u32> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => Some(28 + u32::from(is_leap)),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}

/// A time of day as `23:59:00`, with the fraction and the zone that it has.
fn clock(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['T', ' ', ',']);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.')
        .unwrap_or(text.len());
    let (time, rest) = text.split_at(end);
    let (time, fraction) = match time.split_once('.') {
        Some((time, fraction)) => (time, Some(fraction)),
        None => (time, None),
    };
    let numbers: Option<Vec<u32>> = time.split(':').map(|part| part.parse().ok()).collect();
    let (hour, minute, second) = match numbers?[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let rest = rest.trim_start();
    let (half, zone) = match rest.get(..2).map(str::to_ascii_uppercase).as_deref() {
        Some("AM") => (Some(0), &rest[2..]),
        Some("PM") => (Some(12), &rest[2..]),
        _ => (None, rest),
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    let is_zone = match zone.as_bytes() {
        [] | [b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    let is_fraction = fraction
        .is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    if hour > 23 || minute > 59 || second > 59 || !is_zone || !is_fraction {
        return None;
    }
    let fraction = fraction.map_or(String::new(), |digits| format!(".{digits}"));
    Some(format!("{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
}

/// The orders in which all of these texts are dates, unless they are in ISO 8601 already.
pub(crate) fn orders_of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<&'static str> {
    let is_iso = |text: &str| DateOrder::YearMonthDay.iso(text).as_deref() == Some(text);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut all = texts.clone().peekable();
    if all.peek().is_none() || all.all(|text| is_iso(text) || is_number(text)) {
        return Vec::new();
    }
    let orders = DateOrder::ALL.iter();
    let fits = |order: DateOrder| texts.clone().all(|text| order.iso(text).is_some());
    let orders = orders.filter(|(_, order)| fits(*order));
    orders.map(|(name, _)| *name).collect()
}

/// Rows in which the dates of some columns are converted.
pub(crate) struct Dated {
    rows: Box<dyn Rows>,
    path: PathBuf,
    dates: Vec<(String, DateOrder)>,
    /// The names of the columns, instead of those of the rows.
    names: Option<Vec<String>>,
    /// Whether rows may have named further columns.
    is_open: bool,
    /// The places of the columns, and how many columns were known when they were looked up.
    places: Vec<(usize, DateOrder)>,
    columns_known: usize,
}

impl Dated {
    /// # Errors
    /// [`Error::Refused`] if a column is not there and no row to come can name it.
    pub(crate) fn new(
        rows: Box<dyn Rows>,
        path: PathBuf,
        dates: &[(String, DateOrder)],
        names: Option<&[String]>,
    ) -> Result<Self, Error> {
        let is_open = !rows.are_columns_known();
        let dated = Dated {
            rows,
            is_open,
            path,
            dates: dates.to_vec(),
            names: names.map(<[String]>::to_vec),
            places: Vec::new(),
            columns_known: 0,
        };
        match is_open {
            true => Ok(dated),
            false => dated.check().map(|()| dated),
        }
    }

    /// The names of the columns that are known.
    fn own(&self) -> &[String] {
        self.names.as_deref().unwrap_or(self.rows.columns())
    }

    /// The place of a column.
    fn place(&self, name: &str) -> Option<usize> {
        place_of(name, self.own().iter().map(String::as_str))
    }

    /// Checks that all columns with dates are there.
    fn check(&self) -> Result<(), Error> {
        let mut names = self.dates.iter().map(|(name, _)| name);
        let Some(name) = names.find(|name| self.place(name).is_none()) else {
            return Ok(());
        };
        let known = offer(name, self.own().iter().map(String::as_str));
        Err(Error::Refused {
            what: format!(
                "--date: {} has no column `{name}`; {known}",
                self.path.display()
            ),
        })
    }

    fn find_places(&mut self) {
        let columns = self.own().len();
        if columns != self.columns_known {
            let dates = self.dates.iter();
            let place = |(name, order): &(String, DateOrder)| Some((self.place(name)?, *order));
            self.places = dates.filter_map(place).collect();
            self.columns_known = columns;
        }
    }

    fn convert(&self, row: &mut Row) -> Result<(), Error> {
        for &(place, order) in &self.places {
            let Raw::Text(text) = row.field(place) else {
                continue;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            let Some(date) = order.iso(&text) else {
                let name = DateOrder::ALL.iter().find(|(_, of)| *of == order);
                let name = name.map_or("", |(name, _)| name);
                return Err(Error::Malformed {
                    path: self.path.clone(),
                    line: row.line(),
                    at: format!(", column `{}`", self.own()[place]),
                    what: format!("`{text}` is no date of the order {name}"),
                    remedy: "correct it, name another order (--date COLUMN=dmy, mdy or ymd), or leave the row out (--max-errors)",
                });
            };
            let kept = row.keep(date.as_bytes());
            row.set(place, Field::Text(kept));
        }
        Ok(())
    }
}

impl Rows for Dated {
    fn columns(&self) -> &[String] {
        self.rows.columns()
    }

    fn aliases(&self) -> &[(&'static str, &'static str)] {
        self.rows.aliases()
    }

    fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.rows.next(row)? {
            // A file without rows has no columns.
            return match self.is_open && !self.own().is_empty() {
                true => self.check().map(|()| false),
                false => Ok(false),
            };
        }
        self.find_places();
        self.convert(row).map(|()| true)
    }

    fn part(&mut self, bytes: usize, memory: &mut Vec<u8>) -> Result<Option<Box<dyn Rows>>, Error> {
        let Some(rows) = self.rows.part(bytes, memory)? else {
            return Ok(None);
        };
        let part = Dated::new(rows, self.path.clone(), &self.dates, self.names.as_deref())?;
        Ok(Some(Box::new(part)))
    }

    fn into_memory(self: Box<Self>) -> Vec<u8> {
        self.rows.into_memory()
    }

    fn last(&self) -> &[u8] {
        self.rows.last()
    }

    fn are_columns_known(&self) -> bool {
        self.rows.are_columns_known()
    }

    fn are_columns_nameless(&self) -> bool {
        self.rows.are_columns_nameless()
    }

    fn remarks(&self) -> &[Note] {
        self.rows.remarks()
    }

    fn tally(&self) -> Option<Tally> {
        self.rows.tally()
    }

    fn is_typed(&self) -> bool {
        self.rows.is_typed()
    }

    fn has_decimals(&self) -> bool {
        self.rows.has_decimals()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_iso() {
        use DateOrder::{DayMonthYear as D, MonthDayYear as M, YearMonthDay as Y};
        for (order, text, iso) in [
            (D, "31.12.2024", "2024-12-31"),
            (D, " 1/2/2024 ", "2024-02-01"),
            (D, "31-Dec-2024", "2024-12-31"),
            (D, "29 February 2024", "2024-02-29"),
            (M, "12/31/2024", "2024-12-31"),
            (M, "Dec 31, 2024", "2024-12-31"),
            (Y, "2024/1/2", "2024-01-02"),
            (Y, "20240229", "2024-02-29"),
            (Y, "2024-02-29", "2024-02-29"),
            (D, "31.12.2024 9:05", "2024-12-31 09:05:00"),
            (M, "12/31/2024, 12:00:01 AM", "2024-12-31 00:00:01"),
            (M, "12/31/2024 1:00 pm", "2024-12-31 13:00:00"),
            (
                Y,
                "2024-12-31T23:59:58.123+01:00",
                "2024-12-31 23:59:58.123+01:00",
            ),
        ] {
            assert_eq!(order.iso(text).as_deref(), Some(iso), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        use DateOrder::{DayMonthYear as D, MonthDayYear as M, YearMonthDay as Y};
        for (order, text) in [
            (D, "12/31/2024"),
            (D, "30.02.2024"),
            (D, "29.02.2023"),
            (D, "1.1.24"),
            (D, ""),
            (D, "31.12.2024 24:00"),
            (D, "31.12.2024 10:00 X"),
            (M, "31/12/2024"),
            (M, "Foo 3, 2024"),
            (M, "1/2/2024 13:00 PM"),
            (Y, "2024-13-01"),
            (Y, "0024-01-01"),
            (Y, "2024-01-01 :"),
            (Y, "2024-01-01 10:00."),
        ] {
            assert_eq!(order.iso(text), None, "{text}");
        }
    }

    #[test]
    fn the_order_of_a_column_is_that_of_all_its_dates() {
        let orders = |texts: &[&'static str]| orders_of(texts.iter().copied());
        assert_eq!(orders(&["1.2.2024", "31.12.2024"]), ["dmy"]);
        assert_eq!(orders(&["1/2/2024", "3/4/2024"]), ["dmy", "mdy"]);
        assert_eq!(orders(&["2024/1/2"]), ["ymd"]);
        assert!(orders(&["2024-01-02", "20240102"]).is_empty());
        assert!(orders(&["1.2.2024", "soon"]).is_empty() && orders(&[]).is_empty());
    }
}
