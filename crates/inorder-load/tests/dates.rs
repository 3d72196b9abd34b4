//! Dates of every kind of input, also read by several threads.

mod common;

use common::{Folder, rows};
use inorder_load::Create;
use inorder_load::source::DateOrder;

/// Loads a file whose column `day` has dates with the day first. Returns the rows, or the error.
fn loaded(name: &str, text: &str, columns: Option<&[&str]>) -> Result<Vec<String>, String> {
    let folder = Folder::new("");
    let mut job = folder.job(&folder.file(name, text));
    job.create = Some(Create::default());
    job.dates = vec![("day".to_owned(), DateOrder::DayMonthYear)];
    job.columns = columns.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    job.threads = 3;
    folder.run(&job)?;
    Ok(rows(&folder.open(), "t"))
}

#[test]
fn dates_of_all_formats_are_stored_in_iso() {
    let day = Ok(vec![
        "integer1,text'2024-12-31'".to_owned(),
        "integer2,nullNULL".to_owned(),
    ]);
    assert_eq!(loaded("f.csv", "id,day\n1,31.12.2024\n2,\n", None), day);
    assert_eq!(loaded("f.tsv", "id\tday\n1\t31/12/2024\n2\t\n", None), day);
    let json = "{\"id\":1,\"day\":\"31 Dec 2024\"}\n{\"id\":2,\"day\":null}\n";
    assert_eq!(loaded("f.jsonl", json, None), day);
    assert_eq!(loaded("f.jsonl", &json.replace("day", "Day"), None), day);
    assert_eq!(loaded("f.csv", "id,DAY\n1,31.12.2024\n2,\n", None), day);
    let renamed = loaded("f.csv", "a,b\n1,31.12.2024\n2,\n", Some(&["id", "day"]));
    assert_eq!(renamed, day);
}

#[test]
fn each_row_of_a_large_file_is_converted() {
    let day = |n: u32| format!("{}.{}.{}", n % 28 + 1, n % 12 + 1, 1900 + n % 100);
    let text: String = (0..40_000).map(|n| format!("{n},{}\n", day(n))).collect();
    let stored = loaded("f.csv", &format!("id,day\n{text}"), None).expect("a load");
    let mut expected: Vec<String> = (0..40_000)
        .map(|n| {
            format!(
                "integer{n},text'{}-{:02}-{:02}'",
                1900 + n % 100,
                n % 12 + 1,
                n % 28 + 1
            )
        })
        .collect();
    expected.sort();
    assert!(
        stored == expected,
        "{:?}",
        stored.iter().zip(&expected).find(|(a, b)| a != b)
    );
}

#[test]
fn what_is_no_date_is_told_with_its_place() {
    let late = "id,day\n".to_owned() + &"1,1.1.2000\n".repeat(20_000) + "2,31.11.2024\n";
    let error = loaded("f.csv", &late, None).expect_err("refused");
    assert!(
        error.contains("f.csv, line 20002, column `day`: `31.11.2024` is no date"),
        "{error}"
    );
    for (name, text) in [
        ("f.csv", "id,days\n1,x\n"),
        ("f.jsonl", "{\"id\":1}\n{\"days\":\"x\"}\n"),
    ] {
        let error = loaded(name, text, None).expect_err("refused");
        let told = format!("--date: {name} has no column `day`; did you mean `days`?");
        assert_eq!(error, told);
    }
}
