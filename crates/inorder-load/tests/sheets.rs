//! Worksheets written by other programs: openpyxl 3.1, odfpy 1.4 and xlwt 1.3.
#![cfg(feature = "xlsx")]

mod common;

use std::path::{Path, PathBuf};

use common::{Folder, rows};
use inorder_load::source::Location;
use inorder_load::{Create, Job};

fn sheet(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sheets")
        .join(name)
}

fn job(folder: &Folder, file: &str, sheet_name: Option<&str>) -> Job {
    let mut job = folder.job(&sheet(file));
    job.inputs = vec![Location {
        path: sheet(file),
        table: sheet_name.map(str::to_owned),
    }];
    job.create = Some(Create::default());
    job
}

fn loaded(file: &str, sheet_name: Option<&str>) -> Vec<String> {
    let folder = Folder::new("");
    folder.run(&job(&folder, file, sheet_name)).expect("a load");
    rows(&folder.open(), "t")
}

fn refused(file: &str, sheet_name: Option<&str>) -> String {
    let folder = Folder::new("");
    let error = folder.run(&job(&folder, file, sheet_name));
    error.expect_err("refused")
}

#[test]
fn every_type_of_cell_is_stored() {
    // The table begins in cell B3, and row 6 is empty.
    assert_eq!(
        loaded("cells.xlsx", None),
        [
            "integer-4,text'  spaces  ',real0.1,integer1,text'1900-03-01',text'9999-12-31 23:59:59',text'00:00:01',text'72:00:00',real0.5",
            "integer1,text'plain',real1.5,integer1,text'2025-10-13',text'2025-10-13 12:59:02.400',text'06:00:00',text'36:05:00',integer7",
            "integer2,text'ümlaut, \"quoted\"\nline two',real-0.25,integer0,text'1999-12-31',text'1970-01-01 00:00:01',text'23:59:59',text'00:00:01',text'seven'",
            "integer9007199254740991,nullNULL,real1.0e+300,nullNULL,nullNULL,nullNULL,nullNULL,nullNULL,nullNULL",
        ]
    );
}

#[test]
fn other_formats_are_read() {
    assert_eq!(
        loaded("cells.ods", None),
        [
            "real1.0,text'2024-02-29',text'10:05:00',integer1",
            "real2.5,text'2024-02-29T06:00:00',text'30:00:01',integer0",
        ]
    );
    assert_eq!(
        loaded("cells.xls", None),
        ["integer1,text'Ada'", "integer2,text'Zoë'"]
    );
}

#[test]
fn a_sheet_is_named_where_there_are_several() {
    assert_eq!(
        loaded("formula.xlsx", Some("Films")),
        [
            "integer1,text'Alien',integer1979",
            "integer2,text'Brazil',integer1985"
        ]
    );
    let several = refused("formula.xlsx", None);
    assert!(
        several.contains("People") && several.contains("Films"),
        "{several}"
    );
    let near = refused("formula.xlsx", Some("Film"));
    assert!(near.contains("did you mean `Films`?"), "{near}");
    // The only visible sheet is taken; a hidden one is read by its name.
    assert_eq!(loaded("cells.xlsx", Some("Hidden")), ["integer1"]);
}

#[test]
fn cells_without_a_value_are_refused_by_their_name() {
    let formula = refused("formula.xlsx", Some("People"));
    assert!(
        formula.contains("line 3, cell B3: the formula has no value in the file"),
        "{formula}"
    );
    let error = refused("error.xlsx", Some("People"));
    assert!(
        error.contains("line 3, cell B3: the cell has the error #DIV/0!"),
        "{error}"
    );
    let folder = Folder::new("");
    let mut job = job(&folder, "error.xlsx", Some("People"));
    job.errors_max = 1;
    let summary = folder.run(&job).expect("a load");
    assert_eq!((summary.rows_written, summary.rows_refused), (1, 1));
}

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new("");
    let whole = std::fs::read(sheet("cells.xlsx")).expect("a file");
    for end in [0, 10, whole.len() / 2, whole.len() - 1] {
        let mut job = folder.job(&folder.file("cut.xlsx", &whole[..end]));
        job.create = Some(Create::default());
        let error = folder.run(&job).expect_err("refused");
        assert!(
            error.contains("cut.xlsx: cannot continue reading"),
            "{end}: {error}"
        );
    }
}
