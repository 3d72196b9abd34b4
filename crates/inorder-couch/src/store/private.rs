//! Files and folders that only their owner may read: databases, and what is beside them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// What others than the owner and the group may do.
const OTHERS: u32 = 0o007;

/// Options to open a file that is its owner's alone if it is made now.
pub fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(FILE_MODE);
    options
}

/// Makes a file; none may be there.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Makes a folder and those above it, where there are none.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
}

/// Makes the files in a folder whose names are meant their owner's alone if everybody may read or write them, as earlier
/// versions made them; how many. A file that is open to a group was opened to it by somebody, and stays so.
pub fn close_to_others(folder: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<usize> {
    let mut closed = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(&is_meant) {
            continue;
        }
        let metadata = entry.metadata()?;
        if metadata.is_file() && metadata.permissions().mode() & OTHERS != 0 {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(FILE_MODE))?;
            closed += 1;
        }
    }
    Ok(closed)
}
