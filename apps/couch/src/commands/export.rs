//! `export`.

use super::{location, location::Dir, progress};
use anyhow::Context;
use axum::http::Method;
use clap::Args;
use inorder_couch::replicate::{Ask, Peer, ReplicateError, encoded};
use inorder_serve::private;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Writes the documents of a database as JSON, one per line, in the order of their ids.
///
/// Each document has its _id and _rev, so that `inorder-couch import` creates the same revisions. Conflicts and deleted
/// documents are left out. Use `inorder-couch backup` or replication to keep them.
#[derive(Debug, Args)]
pub struct Export {
    /// The name of a database in the folder, or a URL of a server that speaks CouchDB's protocol.
    database: String,
    /// The file to create. Without it, the documents go to stdout.
    file: Option<PathBuf>,
    /// Includes the attachments, in base64.
    #[arg(long)]
    attachments: bool,
    #[command(flatten)]
    dir: Dir,
}

#[derive(Deserialize)]
struct Page {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    doc: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Info {
    doc_count: u64,
}

/// Documents per request at most; with attachments they may be large.
const PAGE: usize = 1000;
const PAGE_WITH_ATTACHMENTS: usize = 10;

/// After a smaller answer, more documents are requested at once.
const SMALL_BYTES: usize = 16 << 20;

impl Export {
    pub fn run(self) -> anyhow::Result<()> {
        location::runtime()?.block_on(async {
            let peer = self.dir.peer(&self.database)?;
            match &self.file {
                None => self.write(&peer, BufWriter::new(io::stdout().lock())).await,
                Some(path) => {
                    let name = || path.display().to_string();
                    let file = private::create_new(path).with_context(name)?;
                    let written = self.write(&peer, BufWriter::new(file)).await;
                    if written.is_err() {
                        let _ = fs::remove_file(path);
                    }
                    written.with_context(name)
                }
            }
        })
    }

    async fn write(&self, peer: &Peer, mut out: impl Write) -> anyhow::Result<()> {
        let info: Info = peer.json(Ask::new(Method::GET, "")).await?;
        let bar = progress::bar(Some(info.doc_count), "documents");
        let limit_max = if self.attachments {
            PAGE_WITH_ATTACHMENTS
        } else {
            PAGE
        };
        let mut limit = limit_max;
        let mut last: Option<String> = None;
        loop {
            let page: Page = match peer.json(self.ask(limit, last.as_deref())).await {
                Err(ReplicateError::TooLarge { .. }) if limit > 1 => {
                    limit /= 2;
                    continue;
                }
                page => page?,
            };
            let mut bytes = 0;
            for document in page.rows.iter().filter_map(|row| row.doc.as_ref()) {
                out.write_all(document.get().as_bytes())?;
                out.write_all(b"\n")?;
                bytes += document.get().len();
            }
            bar.inc(page.rows.len() as u64);
            if page.rows.len() < limit {
                break;
            }
            if bytes < SMALL_BYTES {
                limit = limit_max.min(2 * limit);
            }
            last = page.rows.into_iter().next_back().map(|row| row.id);
        }
        out.flush()?;
        bar.finish_and_clear();
        Ok(())
    }

    /// The request for the documents after one.
    fn ask(&self, limit: usize, last: Option<&str>) -> Ask {
        let mut path = format!("/_all_docs?include_docs=true&limit={limit}");
        if self.attachments {
            path += "&attachments=true";
        }
        if let Some(last) = last {
            // The next id there can be.
            let key = serde_json::Value::from(format!("{last}\0")).to_string();
            path += &format!("&startkey={}", encoded(&key));
        }
        Ask::new(Method::GET, path)
    }
}
