//! Templates of data folders, created once and copied for every later database.
//!
//! A server whose data folder is created by a separate program, such as `initdb`, starts several times faster from a
//! copy. Copies share only unchanged blocks, if the file system supports it.

use super::Home;
use crate::Error;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Fills the home's data folder with a copy of the template `key`, or calls `make` and stores the result as the
/// template.
pub fn fill(home: &Home, key: &str, make: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let Some(templates) = home.templates() else {
        return make();
    };
    let template = templates.join(key);
    if template.is_dir() {
        return copy(&template, &home.data);
    }
    make()?;
    // Concurrent processes create separate copies; the first rename succeeds.
    let own = home.run.file_name().unwrap_or_default();
    let unnamed = templates.join(format!("{key}.{}", own.display()));
    let kept = copy(&home.data, &unnamed).is_ok() && fs::rename(&unnamed, &template).is_ok();
    if !kept {
        let _ = fs::remove_dir_all(&unnamed);
    }
    Ok(())
}

/// Copies a folder that is not in use, with owners and permissions.
fn copy(from: &Path, to: &PathBuf) -> Result<(), Error> {
    let mut cp = Command::new("cp");
    // GNU cp shares blocks by default; other versions lack the option.
    cp.arg("-Rp").arg(from).arg(to);
    let failed = |why: String| Error::Database {
        doing: format!("copying {} to {}", from.display(), to.display()),
        message: why,
    };
    let ended = cp.output().map_err(|error| failed(error.to_string()))?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&ended.stderr).into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TEMPLATES;

    fn fill_with(home: &Home, text: &str) -> String {
        let make = || {
            fs::create_dir(&home.data).unwrap();
            fs::write(home.data.join("file"), text).unwrap();
            Ok(())
        };
        fill(home, "key", make).unwrap();
        fs::read_to_string(home.data.join("file")).unwrap()
    }

    #[test]
    fn a_data_folder_is_made_once_where_a_folder_for_it_lies_beside() {
        let work = tempfile::tempdir().unwrap();
        let homes = ["a", "b", "c"].map(|name| {
            let folder = work.path().join(name);
            fs::create_dir(&folder).unwrap();
            Home::create(&folder, "x", None).unwrap()
        });
        assert_eq!(fill_with(&homes[0], "first"), "first");
        fs::create_dir(work.path().join(TEMPLATES)).unwrap();
        assert_eq!(fill_with(&homes[1], "second"), "second");
        // A change in one copy does not affect the others.
        fs::write(homes[1].data.join("file"), "changed").unwrap();
        assert_eq!(fill_with(&homes[2], "third"), "second");
    }

    #[test]
    fn a_data_folder_that_could_not_be_made_is_no_template() {
        let work = tempfile::tempdir().unwrap();
        fs::create_dir(work.path().join(TEMPLATES)).unwrap();
        let folder = work.path().join("a");
        fs::create_dir(&folder).unwrap();
        let home = Home::create(&folder, "x", None).unwrap();
        let refused = || {
            Err(Error::Unsupported {
                engine: "x",
                what: "do it".to_owned(),
            })
        };
        assert!(fill(&home, "key", refused).is_err());
        let kept = fs::read_dir(work.path().join(TEMPLATES)).unwrap().count();
        assert_eq!(kept, 0);
    }
}
