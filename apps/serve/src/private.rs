//! Files and folders that only their owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Returns options that open a file for writing. A file that they create has mode 600.
pub fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(FILE_MODE);
    options
}

/// Creates a file.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when the file exists.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Creates an empty file unless it exists. SQLite gives a database's WAL the mode of the database.
///
/// # Errors
/// If the file cannot be created.
pub fn create(path: &Path) -> io::Result<()> {
    match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.map(drop),
    }
}

/// Creates a folder and its missing parents.
///
/// # Errors
/// If a folder cannot be created.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
}

/// Replaces the content of a file, durably: after a crash the file has the old content or the new one.
///
/// # Errors
/// If the file, its draft `PATH.new` or the folder cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = beside(path, ".new");
    let mut file = options().create(true).truncate(true).open(&draft)?;
    io::Write::write_all(&mut file, content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    sync_folder(path)
}

/// Sets mode 600 on a regular file if its mode has a bit of `mask`, such as `0o077` for the group and others. Returns
/// whether the mode was changed. A missing file is no error.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] when the file belongs to another user.
pub fn close_to(mask: u32, path: &Path) -> io::Result<bool> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        metadata => metadata?,
    };
    if !metadata.is_file() || metadata.permissions().mode() & mask == 0 {
        return Ok(false);
    }
    fs::set_permissions(path, Permissions::from_mode(FILE_MODE))?;
    Ok(true)
}

/// Returns the path with an ending appended to its file name.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Makes the folder's entry of a file durable.
///
/// # Errors
/// If the folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_and_folders_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, file) = (folder.path().join("a/b"), folder.path().join("file"));
        create_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o700);
        create(&file).unwrap();
        create(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        let again = create_new(&file).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_replaced_file_has_the_new_content_and_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        replace(&file, b"old").unwrap();
        replace(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(mode(&file), 0o600);
        assert!(!beside(&file, ".new").exists());
    }

    #[test]
    fn only_the_bits_of_the_mask_close_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        assert!(!close_to(0o007, &file).unwrap());
        assert!(close_to(0o077, &file).unwrap());
        assert_eq!(mode(&file), 0o600);
        assert!(!close_to(0o077, &folder.path().join("missing")).unwrap());
    }
}
