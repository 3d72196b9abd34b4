//! Builds without features say what they do not read.
#![cfg(not(any(feature = "parquet", feature = "url", feature = "xlsx")))]

mod common;

use std::path::Path;

use common::Folder;
use inorder_load::Create;

fn refused(name: &str, content: &[u8]) -> String {
    let folder = Folder::new("");
    let path = match name.contains("://") {
        true => Path::new(name).to_owned(),
        false => folder.file(name, content),
    };
    let mut job = folder.job(&path);
    job.create = Some(Create::default());
    folder.run(&job).expect_err("refused")
}

#[test]
fn what_a_feature_reads_is_refused_with_its_name() {
    for (name, content, feature) in [
        ("f.parquet", &b"PAR1 and so on"[..], "parquet"),
        ("f.xlsx", b"PK and so on", "xlsx"),
        ("https://127.0.0.1:1/f.csv", b"", "url"),
    ] {
        let error = refused(name, content);
        assert!(
            error.contains(&format!("build with `--features {feature}`")),
            "{error}"
        );
    }
}
