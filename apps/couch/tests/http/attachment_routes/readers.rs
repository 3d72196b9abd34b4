//! The routes by which the attachments of a revision are read.

use super::tree::{Attachment, Attachments, Dice, Node, Tree, attachment_path};
use crate::client::Running;
use crate::multipart::parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use inorder_couch::multipart::Headers;
use md5::{Digest, Md5};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;

/// The parts behind a document.
type Parts = Vec<(Headers, Vec<u8>)>;

/// Reads all leaf revisions of a database by all routes.
pub async fn check_database(server: &Running, database: &str, trees: &[Tree], dice: &mut Dice) {
    for tree in trees {
        let leaves: Vec<&Node> = tree.leaves().collect();
        check_all_leaves(server, database, tree).await;
        for leaf in leaves {
            check_in_bulk(server, database, tree, leaf).await;
            // There is no path to a document `.`.
            if tree.id != "." {
                check_leaf(server, database, tree, leaf).await;
                check_since(server, database, tree, leaf, dice).await;
            }
        }
    }
    check_lists(server, database, trees).await;
}

fn digest(bytes: &[u8]) -> String {
    format!("md5-{}", STANDARD.encode(Md5::digest(bytes)))
}

fn gunzipped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).expect("gzip");
    out
}

/// Compares the attachments that a document names with the model. Those in `sent` are the parts behind the document.
fn check_document(at: &str, document: &Value, expected: &Attachments, mut sent: Parts) {
    let given = document["_attachments"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let names: Vec<&String> = given.keys().collect();
    assert_eq!(
        names,
        expected.keys().collect::<Vec<_>>(),
        "{at}: {document}"
    );
    for (name, attachment) in expected {
        let member = &given[name];
        let at = format!("{at}: {name} {member}");
        assert_eq!(member["content_type"], attachment.content_type, "{at}");
        if member["follows"] == true {
            let (headers, bytes) = sent.remove(0);
            assert_eq!(digest(&bytes), member["digest"], "{at}");
            let is_gzip = headers.get("content-encoding") == Some("gzip");
            let bytes = if is_gzip { gunzipped(&bytes) } else { bytes };
            assert!(bytes == attachment.bytes, "{at}");
        } else if let Some(data) = member["data"].as_str() {
            assert!(
                STANDARD.decode(data).expect("base64") == attachment.bytes,
                "{at}"
            );
        } else {
            assert_eq!(member["stub"], true, "{at}");
            assert_eq!(member["length"], attachment.bytes.len(), "{at}");
        }
    }
    assert!(sent.is_empty(), "{at}: more parts than the document names");
}

/// A multipart body of a document: the document, and the parts behind it.
fn document_and_parts(content_type: &str, body: &[u8]) -> (Value, Parts) {
    if !content_type.starts_with("multipart/") {
        return (serde_json::from_slice(body).expect("JSON"), Vec::new());
    }
    let mut parts = parts(content_type, body);
    let (_, document) = parts.remove(0);
    (serde_json::from_slice(&document).expect("JSON"), parts)
}

/// The documents of a multipart body of several documents, by revision.
fn documents(content_type: &str, body: &[u8]) -> HashMap<String, (Value, Parts)> {
    let documents = parts(content_type, body)
        .into_iter()
        .map(|(headers, body)| {
            let content_type = headers.get("content-type").unwrap_or_default().to_owned();
            let found = document_and_parts(&content_type, &body);
            (
                found.0["_rev"].as_str().unwrap_or_default().to_owned(),
                found,
            )
        });
    documents.collect()
}

/// Reads one revision, and each of its attachments.
async fn check_leaf(server: &Running, database: &str, tree: &Tree, leaf: &Node) {
    let revision = leaf.revision();
    let path = format!("/{database}/{}", tree.path());
    let at = format!("{path} {revision}");
    let stubs = server.get(&format!("{path}?rev={revision}")).await.json();
    check_document(&at, &stubs, &leaf.attachments, Vec::new());
    let inline = format!("{path}?rev={revision}&attachments=true");
    let json = server
        .ask("GET", &inline)
        .header("accept", "application/json");
    check_document(
        &at,
        &json.send().await.json(),
        &leaf.attachments,
        Vec::new(),
    );
    let related = server
        .ask("GET", &inline)
        .header("accept", "multipart/related");
    let related = related.send().await;
    let (document, parts) = document_and_parts(related.header("content-type"), &related.body);
    check_document(&at, &document, &leaf.attachments, parts);
    for (name, attachment) in &leaf.attachments {
        let path = format!("{path}/{}?rev={revision}", attachment_path(name));
        let member = &stubs["_attachments"][name];
        check_attachment(server, &path, member, attachment).await;
    }
}

async fn check_attachment(server: &Running, path: &str, member: &Value, attachment: &Attachment) {
    let plain = server.get(path).await;
    assert_eq!(plain.status, 200, "{path}: {}", plain.text());
    assert!(plain.body == attachment.bytes, "{path}");
    let stored = server.ask("GET", path).header("accept-encoding", "gzip");
    let stored = stored.send().await;
    assert_eq!(digest(&stored.body), member["digest"], "{path}");
    let is_gzip = stored.header("content-encoding") == "gzip";
    let bytes = if is_gzip {
        gunzipped(&stored.body)
    } else {
        stored.body
    };
    assert!(bytes == attachment.bytes, "{path}");
}

/// Reads all leaves of a document at once.
async fn check_all_leaves(server: &Running, database: &str, tree: &Tree) {
    if tree.id == "." {
        return;
    }
    let path = format!("/{database}/{}?open_revs=all&attachments=true", tree.path());
    let json = server
        .ask("GET", &path)
        .header("accept", "application/json");
    let json = json.send().await.json();
    let given = json.as_array().expect("a list");
    assert_eq!(given.len(), tree.leaves().count(), "{path}");
    let mixed = server
        .ask("GET", &path)
        .header("accept", "multipart/mixed")
        .send()
        .await;
    let mut mixed = documents(mixed.header("content-type"), &mixed.body);
    for leaf in tree.leaves() {
        let revision = leaf.revision();
        let found = given.iter().find(|given| given["ok"]["_rev"] == revision);
        let found = found.unwrap_or_else(|| panic!("{path}: no {revision}"));
        check_document(&path, &found["ok"], &leaf.attachments, Vec::new());
        let (document, parts) = mixed.remove(&revision).expect("a part");
        check_document(&path, &document, &leaf.attachments, parts);
    }
}

/// Reads a revision as a replication does whose target has an ancestor: a stub must be what the ancestor has.
async fn check_since(server: &Running, database: &str, tree: &Tree, leaf: &Node, dice: &mut Dice) {
    let ancestors = tree.ancestors(leaf);
    if ancestors.is_empty() {
        return;
    }
    let ancestor = ancestors[dice.below(ancestors.len())];
    let (revision, known) = (leaf.revision(), ancestor.revision());
    let path = tree.path();
    let path =
        format!("/{database}/{path}?open_revs=[\"{revision}\"]&atts_since=[\"{known}\"]&revs=true");
    let path = path.replace('"', "%22");
    let json = server
        .ask("GET", &path)
        .header("accept", "application/json");
    let json = json.send().await.json()[0]["ok"].clone();
    check_document(&path, &json, &leaf.attachments, Vec::new());
    let mixed = server
        .ask("GET", &path)
        .header("accept", "multipart/mixed")
        .send()
        .await;
    let mut mixed = documents(mixed.header("content-type"), &mixed.body);
    let (document, parts) = mixed.remove(&revision).expect("a part");
    check_document(&path, &document, &leaf.attachments, parts);
    for document in [json, document] {
        for (name, attachment) in &leaf.attachments {
            if document["_attachments"][name]["stub"] == true {
                let before = ancestor.attachments.get(name);
                assert_eq!(before, Some(attachment), "{path}: {name} {document}");
            }
        }
    }
}

/// Reads a revision with `_bulk_get`.
async fn check_in_bulk(server: &Running, database: &str, tree: &Tree, leaf: &Node) {
    let revision = leaf.revision();
    let asked = json!({ "docs": [{ "id": tree.id, "rev": revision }] });
    let path = format!("/{database}/_bulk_get?attachments=true&revs=true");
    let at = format!("{path} {asked}");
    let json = server.post(&path, &asked).await.json();
    let document = &json["results"][0]["docs"][0]["ok"];
    assert_eq!(document["_revisions"]["ids"], json!(leaf.ids), "{at}");
    check_document(&at, document, &leaf.attachments, Vec::new());
    for accepted in ["multipart/mixed", "multipart/related"] {
        let mixed = server
            .ask("POST", &path)
            .json(&asked)
            .header("accept", accepted);
        let mixed = mixed.send().await;
        let mut mixed = documents(mixed.header("content-type"), &mixed.body);
        let (document, parts) = mixed.remove(&revision).expect("a part");
        check_document(&at, &document, &leaf.attachments, parts);
    }
}

/// Reads the winning revisions with `_all_docs`, and all leaves with `_changes`.
async fn check_lists(server: &Running, database: &str, trees: &[Tree]) {
    let query = "include_docs=true&attachments=true";
    let listed = server
        .get(&format!("/{database}/_all_docs?{query}"))
        .await
        .json();
    let changes = format!("/{database}/_changes?style=all_docs&{query}");
    let changes = server.get(&changes).await.json();
    for tree in trees {
        let winner = tree.winner().expect("a revision");
        let rows = listed["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["id"] == tree.id);
        assert_eq!(row.is_some(), !winner.is_deleted, "{}", tree.id);
        let changes = changes["results"].as_array().expect("changes");
        let change = changes.iter().find(|change| change["id"] == tree.id);
        for document in row.into_iter().chain(change).map(|row| &row["doc"]) {
            assert_eq!(document["_rev"], winner.revision(), "{}", tree.id);
            check_document(&tree.id, document, &winner.attachments, Vec::new());
        }
    }
}

/// One digest is of one content, in all revisions of all documents.
pub async fn digests_are_of_their_bytes(server: &Running, database: &str, trees: &[Tree]) {
    let mut contents: HashMap<String, &[u8]> = HashMap::new();
    for tree in trees.iter().filter(|tree| tree.id != ".") {
        for leaf in tree.leaves() {
            let path = format!("/{database}/{}?rev={}", tree.path(), leaf.revision());
            let document = server.get(&path).await.json();
            for (name, attachment) in &leaf.attachments {
                let digest = document["_attachments"][name]["digest"].as_str();
                let digest = digest.expect("a digest").to_owned();
                let known = contents.entry(digest).or_insert(&attachment.bytes);
                assert!(*known == attachment.bytes, "{path} {name}");
            }
        }
    }
    assert!(contents.len() > 3, "{} contents", contents.len());
}
