//! The repository's files.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use crate::scanner::{self, Token};

/// Folders that hold what others wrote: the version control, npm and trials.
const FOREIGN_FOLDERS: &[&str] = &[".git", "node_modules", "inorder-results"];

/// Cargo's folder, beside a `Cargo.toml`. A module may have the same name.
const BUILD_FOLDER: &str = "target";

/// The folders whose folders are the workspace's crates.
const CRATE_FOLDERS: &[&str] = &["apps", "crates"];

/// Larger files are data.
const BYTES_MAX: u64 = 1 << 20;

pub struct File {
    /// From the root, with `/` between the parts.
    pub path: String,
    pub text: String,
    tokens: OnceCell<Vec<Token>>,
}

impl File {
    fn new(path: String, text: String) -> Self {
        File {
            path,
            text,
            tokens: OnceCell::new(),
        }
    }

    /// The tokens of a Rust file. All checks share them, because a scan takes much longer than any check.
    pub fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| scanner::tokens(&self.text))
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The folder of the crate a file belongs to, and the file's path within it.
    pub fn in_crate(&self) -> Option<(&str, &str)> {
        let (folder, rest) = self.path.split_once('/')?;
        if !CRATE_FOLDERS.contains(&folder) {
            return None;
        }
        let (name, _) = rest.split_once('/')?;
        Some(self.path.split_at(folder.len() + 1 + name.len())).map(|(a, b)| (a, &b[1..]))
    }
}

/// All text files.
pub struct Repository {
    pub files: Vec<File>,
}

impl Repository {
    /// The repository this test is part of.
    pub fn walk() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = Vec::new();
        walk(&root, "", &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(files.iter().any(|file| file.path == "Cargo.toml"));
        Repository { files }
    }

    /// A made-up one, to see a check fail.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| File::new(path.to_owned(), text.to_owned());
        Repository {
            files: files.iter().map(file).collect(),
        }
    }

    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let is_package = folder.join("Cargo.toml").exists();
    let is_foreign =
        |name: &str| FOREIGN_FOLDERS.contains(&name) || (is_package && name == BUILD_FOLDER);
    for entry in fs::read_dir(folder).expect("a folder that can be listed") {
        let entry = entry.expect("an entry that can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let metadata = entry.metadata().expect("an entry that is still there");
        if metadata.is_dir() && !is_foreign(&name) {
            walk(&entry.path(), &format!("{path}/"), files);
        } else if metadata.is_file()
            && metadata.len() <= BYTES_MAX
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(File::new(path, text));
        }
    }
}
