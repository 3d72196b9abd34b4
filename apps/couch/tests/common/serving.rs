//! The program as a process, for tests of what it takes and whom it holds up.

use reqwest::Client;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The program with a folder of its own.
pub struct Serving {
    pub child: Child,
    pub url: String,
    pub client: Client,
    _folder: TempDir,
}

impl Serving {
    /// Starts it on any free port.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_inorder-couch"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--relaxed",
                "--log",
                "off",
            ])
            .env_remove("INORDER_COUCH_ADMIN")
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.map_while(Result::ok).find_map(|line| {
            let url = line.split_once("listening at ")?.1.split_once("/ ")?.0;
            Some(url.to_owned())
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        Serving {
            child,
            url: url.expect("an address"),
            client: Client::builder().no_proxy().build().unwrap(),
            _folder: folder,
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
