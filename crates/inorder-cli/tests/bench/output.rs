//! What can't be printed.

use crate::common::{Place, Said};
use std::{fs, io::Read as _, process::Stdio};

const ALL: [&[&str]; 6] = [
    &["--help"],
    &["--version"],
    &["bench", "--help"],
    &["help", "load"],
    &["completions", "bash"],
    &["bench", "--list"],
];

#[test]
fn text_that_cannot_be_printed_is_an_error() {
    let place = Place::with("");
    for arguments in ALL {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = place.inorder(arguments);
        let output = command.stdout(full).stderr(Stdio::piped()).output();
        Said::of(output.unwrap()).expect(1, &["inorder: No space left on device"]);
    }
    // A wrong command line is told on stderr.
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.inorder(&["bench", "--no-such"]);
    let output = command.stdout(full).stderr(Stdio::piped()).output();
    Said::of(output.unwrap()).expect(2, &["unexpected argument"]);
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let place = Place::with("");
    for arguments in ALL {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.inorder(arguments);
        let mut run = (command.stdout(writer).stderr(Stdio::piped()))
            .spawn()
            .unwrap();
        let mut stderr = String::new();
        let mut pipe = run.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        assert!(run.wait().unwrap().success(), "{arguments:?}");
        assert_eq!(stderr, "", "{arguments:?}");
    }
}
