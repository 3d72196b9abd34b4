//! `doctor`.

use super::{UsageError, location, location::Dir};
use anyhow::{Context, bail};
use axum::http::Method;
use clap::Args;
use inorder_couch::replicate::{Ask, Peer, encoded};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::process::ExitCode;

/// Names the documents that a device lacks although its checkpoint says that it has them.
///
/// A replication notes in a checkpoint up to which change the device has everything. Without --device, the checkpoints of the
/// database are listed. With it, the revisions up to the checkpoint are compared with those of the device. The exit code is 1 if
/// the device lacks one.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The name of a database in the folder, or a URL of a server that speaks CouchDB's protocol.
    database: String,
    /// What the device has: a file with the text of `JSON.stringify(await db.changes({ style: "all_docs" }))`, run on the device
    /// with PouchDB, or the URL of the device's database.
    #[arg(long, value_name = "FILE|URL")]
    device: Option<String>,
    /// The checkpoint of the device, such as `_local/ID`. It is needed when several devices have one.
    #[arg(long, value_name = "ID")]
    checkpoint: Option<String>,
    /// The filter of the replication, as in a URL: `filter=app/mine&user=anna`.
    #[arg(long, value_name = "QUERY")]
    filter: Option<String>,
    /// Deletes the checkpoint. The next replication of the device compares all documents and transfers those that it lacks.
    #[arg(long, requires = "checkpoint")]
    reset: bool,
    #[command(flatten)]
    dir: Dir,
}

/// A checkpoint in a local document.
struct Checkpoint {
    id: String,
    rev: String,
    writer: String,
    /// The sequence up to which the target has everything.
    seq: Value,
}

#[derive(Deserialize)]
struct LocalDocs {
    rows: Vec<LocalDoc>,
}

#[derive(Deserialize)]
struct LocalDoc {
    doc: Option<Value>,
}

#[derive(Deserialize)]
struct Changes {
    results: Vec<Change>,
    last_seq: Value,
}

#[derive(Deserialize)]
struct Change {
    id: String,
    changes: Vec<Leaf>,
}

#[derive(Deserialize)]
struct Leaf {
    rev: String,
}

/// Leaf revisions by document.
type Leaves = BTreeMap<String, Vec<String>>;

/// Changes per request, and documents that a device is asked about at once.
const CHANGES: usize = 10_000;
const ASKED: usize = 1000;

impl Doctor {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        location::runtime()?.block_on(async {
            let peer = self.dir.peer(&self.database)?;
            let checkpoints = checkpoints(&peer).await?;
            if self.reset {
                return self.forget(&peer, &checkpoints).await;
            }
            match &self.device {
                None => self.list(&peer, &checkpoints).await,
                Some(device) => self.compare(&peer, &checkpoints, device).await,
            }
        })
    }

    /// Lists the checkpoints.
    async fn list(&self, peer: &Peer, checkpoints: &[Checkpoint]) -> anyhow::Result<ExitCode> {
        let mut out = io::stdout().lock();
        if checkpoints.is_empty() {
            writeln!(out, "{} has no checkpoint.", self.database)?;
        }
        for Checkpoint {
            id, writer, seq, ..
        } in checkpoints
        {
            if seq.is_string() {
                let after = leaves(peer, seq, None).await?.len();
                writeln!(
                    out,
                    "{id}: written by {writer}, at {}, {after} documents changed since",
                    short(seq)
                )?;
            } else {
                writeln!(
                    out,
                    "{id}: written by {writer}, at {seq} of the device's own sequences (a push)"
                )?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Compares what the database had at the checkpoint with what the device has.
    async fn compare(
        &self,
        peer: &Peer,
        checkpoints: &[Checkpoint],
        device: &str,
    ) -> anyhow::Result<ExitCode> {
        let checkpoint = self.chosen(checkpoints)?;
        let filter = self.filter.as_deref();
        // Read first: what changes meanwhile is after the checkpoint.
        let mut wanted = leaves(peer, &json!(0), filter).await?;
        for id in leaves(peer, &checkpoint.seq, filter).await?.keys() {
            wanted.remove(id);
        }
        let lacking = match device.contains("://") {
            true => lacking_at(&self.dir.peer(device)?, &wanted).await?,
            false => {
                let read = std::fs::read(device).with_context(|| device.to_owned())?;
                lacking_in(&listed(&read).with_context(|| device.to_owned())?, &wanted)
            }
        };
        let mut out = io::stdout().lock();
        for one in &lacking {
            writeln!(out, "{one}")?;
        }
        let (id, count) = (&checkpoint.id, lacking.len());
        writeln!(
            out,
            "{id}: {count} revisions up to {} are missing on the device, of {} documents",
            short(&checkpoint.seq),
            wanted.len()
        )?;
        if count == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(
            out,
            "To make the device compare all documents: inorder-couch doctor {} --checkpoint {id} --reset",
            self.database_shown(peer)
        )?;
        Ok(ExitCode::from(1))
    }

    /// The database without a password.
    fn database_shown<'a>(&'a self, peer: &'a Peer) -> &'a str {
        match self.database.contains("://") {
            true => peer.shown(),
            false => &self.database,
        }
    }

    /// Deletes the checkpoint.
    async fn forget(&self, peer: &Peer, checkpoints: &[Checkpoint]) -> anyhow::Result<ExitCode> {
        let Checkpoint { id, rev, .. } = self.chosen(checkpoints)?;
        let name = id.trim_start_matches("_local/");
        let path = format!("/_local/{}?rev={}", encoded(name), encoded(rev));
        peer.ask(Ask::new(Method::DELETE, path)).await?;
        writeln!(io::stdout(), "{id} is deleted.")?;
        Ok(ExitCode::SUCCESS)
    }

    /// The checkpoint that is meant.
    fn chosen<'a>(&self, checkpoints: &'a [Checkpoint]) -> anyhow::Result<&'a Checkpoint> {
        let mut pulls = checkpoints.iter().filter(|one| one.seq.is_string());
        if let Some(wanted) = &self.checkpoint {
            let wanted = wanted.trim_start_matches("_local/");
            let found = pulls.find(|one| one.id.trim_start_matches("_local/") == wanted);
            return found.with_context(|| {
                format!(
                    "{} has no checkpoint _local/{wanted} of a device that reads it",
                    self.database
                )
            });
        }
        match (pulls.next(), pulls.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => bail!(
                "{} has no checkpoint of a device that reads it",
                self.database
            ),
            _ => {
                let reason = "--checkpoint: several devices have a checkpoint; without --device they are listed";
                Err(UsageError(reason.to_owned()).into())
            }
        }
    }
}

/// Reads the checkpoints of a database.
async fn checkpoints(peer: &Peer) -> anyhow::Result<Vec<Checkpoint>> {
    let ask = Ask::new(Method::GET, "/_local_docs?include_docs=true");
    let read: LocalDocs = peer.json(ask).await?;
    let checkpoint = |doc: Value| {
        let text = |name: &str| Some(doc.get(name)?.as_str()?.to_owned());
        let seq = doc.get("last_seq").or(doc.get("source_last_seq"))?.clone();
        Some(Checkpoint {
            id: text("_id")?,
            rev: text("_rev")?,
            writer: text("replicator").unwrap_or_else(|| "CouchDB's protocol".to_owned()),
            seq,
        })
    };
    let docs = read.rows.into_iter().filter_map(|row| row.doc);
    Ok(docs.filter_map(checkpoint).collect())
}

/// Reads the leaf revisions of the documents that changed after a sequence.
async fn leaves(peer: &Peer, since: &Value, filter: Option<&str>) -> anyhow::Result<Leaves> {
    let (mut leaves, mut since) = (Leaves::new(), since.clone());
    loop {
        let text = since
            .as_str()
            .map_or_else(|| since.to_string(), str::to_owned);
        let mut path = format!(
            "/_changes?style=all_docs&limit={CHANGES}&since={}",
            encoded(&text)
        );
        if let Some(filter) = filter {
            path += &format!("&{filter}");
        }
        let page: Changes = peer.json(Ask::new(Method::GET, path)).await?;
        if page.results.is_empty() {
            return Ok(leaves);
        }
        since = page.last_seq;
        leaves.extend(page.results.into_iter().map(Change::leaves));
    }
}

impl Change {
    fn leaves(self) -> (String, Vec<String>) {
        (
            self.id,
            self.changes.into_iter().map(|leaf| leaf.rev).collect(),
        )
    }
}

/// Reads the listing of a device.
fn listed(text: &[u8]) -> anyhow::Result<HashMap<String, Vec<String>>> {
    #[derive(Deserialize)]
    struct Listing {
        results: Vec<Change>,
    }
    let listing: Listing = serde_json::from_slice(text)
        .context("this is no text of JSON.stringify(await db.changes({ style: \"all_docs\" }))")?;
    Ok(listing.results.into_iter().map(Change::leaves).collect())
}

/// Compares revisions with those of a listing, which has leaves only: a device that edited a document has a descendant.
fn lacking_in(device: &HashMap<String, Vec<String>>, wanted: &Leaves) -> Vec<String> {
    let mut lacking = Vec::new();
    for (id, revisions) in wanted {
        let id_text = Value::from(id.as_str());
        let Some(own) = device.get(id) else {
            lacking.extend(
                revisions
                    .iter()
                    .map(|rev| format!("{id_text} {rev}: the device does not have the document")),
            );
            continue;
        };
        // A leaf that only the device has may be a descendant of one that it does not list any more.
        let known: HashSet<&String> = revisions.iter().collect();
        let mut newer: Vec<&String> = own.iter().filter(|rev| !known.contains(rev)).collect();
        for rev in revisions.iter().filter(|rev| !own.contains(rev)) {
            match newer
                .iter()
                .position(|own| generation(own) > generation(rev))
            {
                Some(at) => drop(newer.remove(at)),
                None => lacking.push(format!(
                    "{id_text} {rev}: the device has {}",
                    own.join(", ")
                )),
            }
        }
    }
    lacking
}

/// Asks a database which revisions it lacks.
async fn lacking_at(device: &Peer, wanted: &Leaves) -> anyhow::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Lacking {
        missing: Vec<String>,
    }
    let mut lacking = Vec::new();
    let all: Vec<_> = wanted.iter().collect();
    for some in all.chunks(ASKED) {
        let asked: BTreeMap<_, _> = some.iter().copied().collect();
        let ask = Ask::post("/_revs_diff", serde_json::to_vec(&asked)?);
        let found: BTreeMap<String, Lacking> = device.json(ask).await?;
        for (id, Lacking { missing }) in found {
            let id = Value::from(id);
            lacking.extend(
                missing
                    .iter()
                    .map(|rev| format!("{id} {rev}: the device does not have it")),
            );
        }
    }
    Ok(lacking)
}

fn generation(rev: &str) -> u64 {
    let number = rev.split('-').next().unwrap_or_default();
    number.parse().unwrap_or_default()
}

/// The number of a sequence: the rest of it says which database it is of.
fn short(seq: &Value) -> &str {
    let text = seq.as_str().unwrap_or_default();
    text.split('-').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_compared_with_leaves_of_a_device() {
        let wanted = |revisions: &[&str]| {
            Leaves::from([(
                "d".to_owned(),
                revisions.iter().map(|it| (*it).to_owned()).collect(),
            )])
        };
        let device = |revisions: &[&str]| {
            let changes: Vec<Value> = revisions.iter().map(|rev| json!({ "rev": rev })).collect();
            let text =
                json!({ "results": [{ "id": "d", "seq": 1, "changes": changes }], "last_seq": 1 });
            listed(text.to_string().as_bytes()).unwrap()
        };
        for (server, own, lacks) in [
            (&["1-a"][..], &["1-a"][..], 0),
            (&["2-a"], &["1-a"], 1),
            (&["2-a"], &["2-b"], 1),
            // Edited on the device since.
            (&["2-a"], &["3-b"], 0),
            (&["2-a", "2-b"], &["2-a"], 1),
            (&["2-a", "2-b"], &["2-a", "3-c"], 0),
            (&["2-a", "2-b"], &["3-c"], 1),
            (&["2-a"], &["2-a", "3-c"], 0),
            (&["10-a"], &["9-a"], 1),
            (&["9-a"], &["10-a"], 0),
        ] {
            let lacking = lacking_in(&device(own), &wanted(server));
            assert_eq!(lacking.len(), lacks, "{server:?} {own:?}: {lacking:?}");
        }
        let lacking = lacking_in(&HashMap::new(), &wanted(&["1-a", "1-b"]));
        assert_eq!(lacking.len(), 2);
        assert!(listed(b"{\"rows\":[]}").is_err() && listed(b"").is_err());
    }
}
