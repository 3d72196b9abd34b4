//! Disks and files that stand in the way.

use crate::common::{Place, Said, TINY, with_status};
use inorder_bench::results::{Status, Store};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
};

/// A small file system in memory, taken away at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where it can't be mounted.
    fn mount(at: &Path, mebibytes: u32) -> Option<Self> {
        fs::create_dir_all(at).expect("a folder");
        let size = format!("size={mebibytes}m");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &size, "inorder-test"])
            .arg(at);
        let output = mount.output().ok()?;
        output.status.success().then(|| SmallDisk(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_fails_the_run_and_leaves_earlier_results_alone() {
    let place = Place::with(TINY);
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    let earlier = fs::read(place.file()).expect("a file");
    let small = place.path().join("small");
    let Some(disk) = SmallDisk::mount(&small, 8) else {
        return inorder_testing::skip("no file system can be mounted here");
    };
    let rows = [
        "bench",
        "tiny.toml",
        "-q",
        "--dir",
        "small",
        "--set",
        "rows=50_000",
    ];
    let expected = [&rows[..], &["--set", "payload_bytes=500"]].concat();
    place
        .run(&expected)
        .expect(2, &["the disk of small has ", "--force"]);
    assert_eq!(fs::read_dir(&small).expect("a folder").count(), 0);
    let arguments = [&expected[..], &["--force"]].concat();
    place.run(&arguments).expect(1, &["the disk with "]);
    let results: Vec<PathBuf> = fs::read_dir(&small)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert_eq!(results.len(), 1, "{results:?}");
    let run = Store::read(&results[0]).expect("a run");
    assert_eq!(with_status(&run, Status::Failed).len(), 3);

    // No room from the beginning: nothing half-written is left.
    fs::remove_file(&results[0]).expect("a file");
    let filler = small.join("filler");
    let _ = fs::write(&filler, vec![1; 9 << 20]);
    place.run(&arguments).expect(1, &["small"]);
    let left = fs::read_dir(&small).expect("a folder").count();
    assert_eq!(left, 1, "only the filler");
    drop(disk);
    assert_eq!(fs::read(place.file()).expect("a file"), earlier);
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let place = Place::with(TINY);
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
    };
    fs::create_dir(place.results()).expect("a folder");
    set(place.path(), 0o755);
    set(&place.results(), 0o555);
    let mut command = place.inorder(&["bench", "tiny.toml", "-q"]);
    if fs::metadata(place.path()).expect("a folder").uid() == 0 {
        // Root may write everywhere: somebody else starts a copy that they can reach.
        let copy = place.path().join("inorder");
        fs::copy(env!("CARGO_BIN_EXE_inorder"), &copy).expect("a copy");
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut other = Command::new(copy);
        other.args(arguments).current_dir(place.path());
        other
            .env("INORDER_DIR", place.results())
            .uid(65_534)
            .gid(65_534);
        command = other;
    }
    let output = command.output().expect("it starts");
    let words = [
        "can't write to the folder",
        "results: choose another with --dir",
        "Permission denied",
    ];
    Said::of(output).expect(1, &words);
    set(&place.results(), 0o755);
    assert_eq!(place.names().len(), 0);
}

#[test]
fn files_that_are_no_result_of_this_version_are_refused() {
    let place = Place::with(TINY);
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    let file = place.file();
    let whole = fs::read(&file).expect("a file");
    let path = file.to_str().expect("a path");
    let refused = |bytes: &[u8], words: &[&str]| {
        fs::write(&file, bytes).expect("a file");
        for arguments in [
            &["report", path][..],
            &["compare", path, path],
            &["rerun", path],
            &["bench", "--resume", path],
        ] {
            place.run(arguments).expect(1, words);
        }
        assert_eq!(fs::read(&file).expect("a file"), bytes, "it was changed");
    };
    // The version: four bytes at 60 (<https://www.sqlite.org/fileformat.html>, section 1.3).
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    refused(
        &newer,
        &[
            "this result file has format 99",
            "use the inorder that wrote it",
        ],
    );
    let mut foreign = whole.clone();
    foreign[68..72].copy_from_slice(&[0; 4]);
    refused(&foreign, &["this isn't a result file of inorder"]);
    refused(b"", &["this isn't a result file of inorder"]);
    refused(
        b"no database at all",
        &["this isn't a result file of inorder"],
    );
    refused(&whole[..whole.len() / 2], &["damaged"]);
}

#[test]
fn a_run_killed_while_it_kept_a_trial_can_be_read() {
    let place = Place::with(TINY);
    place.run(&["bench", "tiny.toml", "-q"]).expect(0, &[]);
    let file = place.file();
    // A journal left behind by a killed process, with nothing in it to undo.
    let mut journal = file.clone().into_os_string();
    journal.push("-journal");
    // <https://www.sqlite.org/fileformat.html>, section 3: magic, records, nonce, pages that the
    // database had, bytes of a sector and of a page.
    let pages = fs::metadata(&file).expect("a file").len() as u32 / 4096;
    let mut header = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for number in [0, 0, pages, 512, 4096] {
        header.extend(u32::to_be_bytes(number));
    }
    header.resize(512, 0);
    fs::write(&journal, header).expect("a journal");
    let said = place
        .run(&["report", file.to_str().expect("a path")])
        .expect(0, &[]);
    assert!(said.stdout.contains("Which of two keys writes less?"));
}
