//! Notes the revision the program is built from, for result files.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let revision = git(&["describe", "--always", "--dirty", "--abbrev=12"]);
    println!(
        "cargo::rustc-env=INORDER_REVISION={}",
        revision.unwrap_or_else(|| "unknown".to_owned())
    );
    // A commit changes HEAD's log; without one (a source archive) the revision stays unknown.
    if let Some(folder) = git(&["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
