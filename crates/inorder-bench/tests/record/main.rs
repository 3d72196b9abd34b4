//! The tables and plots of the documentation are those of `record/`.
//!
//! `INORDER_RECORD=write cargo test -p inorder-bench --test record` writes them anew; record/README.md says how.

mod about;
mod block;
mod predictions;
mod records;
mod render;
mod samples;

use records::{Record, Records};
use render::Renderer;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Folders without pages of this project.
const FOREIGN_FOLDERS: &[&str] = &[".git", "node_modules", "target", "inorder-results"];

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Paths of all Markdown files, from the root.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder that can be listed") {
        let entry = entry.expect("an entry that can be read");
        let path = folder.join(entry.file_name());
        let kind = entry.file_type().expect("an entry that is still there");
        let is_foreign = FOREIGN_FOLDERS.iter().any(|name| path.ends_with(name));
        if kind.is_dir() && !is_foreign {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// A page as it should be, and the files that its blocks refer to.
fn generated(
    records: &Records,
    page: &Path,
    text: &str,
) -> Result<BTreeMap<String, String>, String> {
    let mut renderer = Renderer {
        records,
        page,
        files: BTreeMap::new(),
    };
    let text = block::rewrite(text, |order| renderer.render(order));
    let text = text.map_err(|error| format!("{}, {error}", page.display()))?;
    let mut files = renderer.files;
    files.insert(page.display().to_string(), text);
    Ok(files)
}

/// The first line in which a committed file differs from what the records say.
fn difference(path: &str, committed: &str, generated: &str) -> Option<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(committed), lines(generated));
    let at = (0..old.len().max(new.len())).find(|at| old.get(*at) != new.get(*at))?;
    let line = |lines: &[String]| match lines.get(at) {
        Some(line) => line.chars().take(300).collect::<String>(),
        None => "(nothing)".to_owned(),
    };
    Some(format!(
        "{path}, line {}:\n  committed  {}\n  by record  {}",
        at + 1,
        line(&old),
        line(&new)
    ))
}

/// Returns the differences of the committed pages from the records; writes the pages if requested.
fn outdated(records: &Records, is_writing: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (page, text) in read_pages() {
        match generated(records, &page, &text) {
            Err(error) => wrong.push(error),
            Ok(files) => {
                for (path, text) in files {
                    let file = root().join(&path);
                    let committed = fs::read_to_string(&file).unwrap_or_default();
                    match difference(&path, &committed, &text) {
                        Some(_) if is_writing => {
                            fs::write(file, text).expect("a file that can be written");
                        }
                        found => wrong.extend(found),
                    }
                }
            }
        }
    }
    wrong
}

/// All pages with their texts.
fn read_pages() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    pages(Path::new(""), &mut found);
    found.sort();
    let text = |page: &PathBuf| fs::read_to_string(root().join(page)).expect("a page");
    let read = |page: PathBuf| (page.clone(), text(&page));
    found.into_iter().map(read).collect()
}

#[test]
fn tables_and_plots_are_those_of_the_record() {
    let is_writing = std::env::var("INORDER_RECORD").is_ok_and(|how| how == "write");
    let wrong = outdated(&Records::of_repository(), is_writing);
    let how =
        "`INORDER_RECORD=write cargo test -p inorder-bench --test record` writes them as recorded";
    assert!(wrong.is_empty(), "\n{}\n\n{how}\n", wrong.join("\n"));
}

/// A text with another digit in the place of the first one after a mark.
fn with_wrong_figure(text: &str, mark: &str) -> String {
    let from = text.find(mark).expect("the mark") + mark.len();
    let at = from
        + text[from..]
            .find(|c: char| c.is_ascii_digit())
            .expect("a figure");
    let other = if &text[at..=at] == "7" { "8" } else { "7" };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

#[test]
fn a_wrong_figure_is_found_in_each_page() {
    let records = Records::of_repository();
    // The first figure of the first row of a table.
    let mark = "-->\n|";
    let has_table =
        |(_, text): &(PathBuf, String)| text.contains("<!-- record: ") && text.contains(mark);
    let pages: Vec<_> = read_pages().into_iter().filter(has_table).collect();
    assert!(
        pages.len() >= 4,
        "only {} pages have generated tables",
        pages.len()
    );
    for (page, text) in pages {
        let wrong = with_wrong_figure(&text, mark);
        let files = generated(&records, &page, &wrong).unwrap();
        let path = page.display().to_string();
        assert!(difference(&path, &wrong, &files[&path]).is_some(), "{path}");
    }
}

#[test]
fn a_plot_that_was_changed_is_found() {
    let records = Records::of_repository();
    let page = Path::new("README.md");
    let text = fs::read_to_string(root().join(page)).unwrap();
    let files = generated(&records, page, &text).unwrap();
    let (path, plot) = files
        .iter()
        .find(|(path, _)| path.ends_with(".svg"))
        .expect("a plot");
    let changed = with_wrong_figure(plot, "data-c=\"1\" d=\"M");
    assert!(difference(path, &changed, plot).is_some());
}

/// Bytes of a file of a record: git keeps each version.
const RECORD_BYTES_MAX: u64 = 2 << 20;

#[test]
fn records_are_small_shown_and_name_no_folder_of_a_machine() {
    let records = Records::of_repository();
    let shown: String = read_pages().into_iter().map(|(_, text)| text).collect();
    for name in records.names() {
        let is_dated = name
            .split('-')
            .take(3)
            .all(|part| part.parse::<u32>().is_ok());
        assert!(is_dated, "{name} doesn't begin with a date");
        let names_it = |line: &str| line.split([' ', '/']).any(|word| word == name);
        let is_shown = shown
            .lines()
            .any(|line| line.starts_with("<!-- record: ") && names_it(line));
        assert!(is_shown, "no table is made of record {name}");
        for file in fs::read_dir(root().join("record").join(&name)).unwrap() {
            let file = file.unwrap();
            let bytes = file.metadata().unwrap().len();
            assert!(
                bytes <= RECORD_BYTES_MAX,
                "{name}: {:?} has {bytes} bytes",
                file.file_name()
            );
        }
        let command = match records.record(&name).unwrap() {
            Record::Run(report) => report.meta.command.join(" "),
            Record::Other(source) => source.command,
        };
        let is_of_machine = |word: &str| word.starts_with('/');
        assert!(
            !command.split_whitespace().any(is_of_machine),
            "{name}: {command}"
        );
    }
}
