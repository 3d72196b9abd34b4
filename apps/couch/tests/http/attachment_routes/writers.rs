//! The routes by which a revision with attachments is written.

use super::tree::{Attachment, Attachments, Dice, Node, Tree, attachment_path};
use crate::client::Running;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

const NAMES: &[&str] = &["f.txt", "g.bin", "h/i ü"];

/// How the attachments of a document are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Inline,
    /// In the parts behind the document.
    Follows,
}

/// Adds a revision to a tree, by a route that is chosen by chance.
pub async fn grow(server: &Running, tree: &mut Tree, dice: &mut Dice) {
    let stored: Vec<Node> = tree
        .nodes
        .iter()
        .filter(|node| node.is_stored)
        .cloned()
        .collect();
    let parent = match stored.len() {
        0 => None,
        _ if dice.below(8) == 0 => None,
        count => Some(stored[dice.below(count)].clone()),
    };
    let attachments = changed(parent.as_ref(), dice);
    let is_edit = match &parent {
        Some(parent) => tree.is_leaf(parent) && !parent.is_deleted && dice.below(2) == 0,
        None => tree.nodes.is_empty() && dice.below(2) == 0,
    };
    // A path to a document `.` can't be written.
    let node = if tree.id == "." {
        let form = Form::Inline;
        replicated(server, tree, parent.as_ref(), attachments, dice, form, true).await
    } else if is_edit {
        edited(server, tree, parent.as_ref(), attachments, dice).await
    } else {
        let form = [Form::Inline, Form::Follows][dice.below(2)];
        let in_bulk = form == Form::Inline && dice.below(2) == 0;
        replicated(
            server,
            tree,
            parent.as_ref(),
            attachments,
            dice,
            form,
            in_bulk,
        )
        .await
    };
    tree.nodes.push(node);
}

fn changed(parent: Option<&Node>, dice: &mut Dice) -> Attachments {
    let mut attachments = parent
        .map(|parent| parent.attachments.clone())
        .unwrap_or_default();
    for name in NAMES {
        match dice.below(4) {
            0 => drop(attachments.remove(*name)),
            1 => drop(attachments.insert((*name).to_owned(), dice.attachment())),
            _ => {}
        }
    }
    attachments
}

/// What a document says about its attachments, and the bytes that follow it. What the parent has too may be a stub.
fn announced(
    attachments: &Attachments,
    parent: Option<&Node>,
    form: Form,
    dice: &mut Dice,
) -> (Value, Vec<Vec<u8>>) {
    let mut members = Map::new();
    let mut parts = Vec::new();
    for (name, attachment) in attachments {
        let Attachment {
            content_type,
            bytes,
        } = attachment;
        let is_known =
            parent.is_some_and(|parent| parent.attachments.get(name) == Some(attachment));
        let member = if is_known && dice.below(3) > 0 {
            json!({ "stub": true, "content_type": content_type })
        } else if form == Form::Follows {
            parts.push(bytes.clone());
            json!({ "follows": true, "content_type": content_type, "length": bytes.len() })
        } else {
            json!({ "data": STANDARD.encode(bytes), "content_type": content_type })
        };
        members.insert(name.clone(), member);
    }
    (members.into(), parts)
}

async fn put(
    server: &Running,
    path: &str,
    document: &Value,
    parts: &[Vec<u8>],
    form: Form,
) -> Value {
    let answer = if form == Form::Inline {
        server.put(path, document).await
    } else {
        let head = format!("--b\r\nContent-Type: application/json\r\n\r\n{document}");
        let mut body = head.into_bytes();
        for part in parts {
            body.extend_from_slice(b"\r\n--b\r\n\r\n");
            body.extend_from_slice(part);
        }
        body.extend_from_slice(b"\r\n--b--");
        let content_type = "multipart/related; boundary=\"b\"";
        server
            .ask("PUT", path)
            .body(content_type, body)
            .send()
            .await
    };
    let answered = format!("{path} {document}: {}", answer.text());
    assert!(answer.status.is_success(), "{answered}");
    answer.json()
}

/// Writes a revision as a replication does.
async fn replicated(
    server: &Running,
    tree: &Tree,
    parent: Option<&Node>,
    attachments: Attachments,
    dice: &mut Dice,
    form: Form,
    in_bulk: bool,
) -> Node {
    let mut ids = vec![dice.hash()];
    ids.extend(parent.into_iter().flat_map(|parent| parent.ids.clone()));
    let node = Node {
        ids,
        attachments,
        is_deleted: dice.below(6) == 0,
        is_stored: true,
    };
    let (announced, parts) = announced(&node.attachments, parent, form, dice);
    let document = json!({
        "_id": tree.id,
        "_rev": node.revision(),
        "_revisions": { "start": node.ids.len(), "ids": node.ids },
        "_attachments": announced,
        "_deleted": node.is_deleted,
        "n": dice.below(100),
    });
    if in_bulk {
        let asked = json!({ "docs": [document], "new_edits": false });
        let answer = server.post("/db/_bulk_docs", &asked).await;
        assert_eq!(answer.json(), json!([]), "{asked}");
    } else {
        let path = format!("/db/{}?new_edits=false", tree.path());
        put(server, &path, &document, &parts, form).await;
    }
    node
}

/// Writes a revision as a client does.
async fn edited(
    server: &Running,
    tree: &Tree,
    parent: Option<&Node>,
    mut attachments: Attachments,
    dice: &mut Dice,
) -> Node {
    let query = parent.map(|parent| format!("?rev={}", parent.revision()));
    let query = query.unwrap_or_default();
    let path = format!("/db/{}", tree.path());
    let name = NAMES[dice.below(NAMES.len())];
    let of_attachment = format!("{path}/{}{query}", attachment_path(name));
    let written = match dice.below(5) {
        0 => {
            attachments = parent
                .map(|parent| parent.attachments.clone())
                .unwrap_or_default();
            let attachment = dice.attachment();
            let put = server
                .ask("PUT", &of_attachment)
                .body(&attachment.content_type, attachment.bytes.clone());
            attachments.insert(name.to_owned(), attachment);
            put.send().await.json()
        }
        1 if parent.is_some_and(|parent| parent.attachments.contains_key(name)) => {
            attachments = parent
                .map(|parent| parent.attachments.clone())
                .unwrap_or_default();
            attachments.remove(name);
            server.delete(&of_attachment).await.json()
        }
        2 => {
            let (announced, _) = announced(&attachments, parent, Form::Inline, dice);
            let mut document =
                json!({ "_id": tree.id, "_attachments": announced, "n": dice.below(100) });
            if let Some(parent) = parent {
                document["_rev"] = parent.revision().into();
            }
            let answer = server
                .post("/db/_bulk_docs", &json!({ "docs": [document] }))
                .await;
            answer.json()[0].clone()
        }
        kind => {
            let form = if kind == 3 {
                Form::Inline
            } else {
                Form::Follows
            };
            let (announced, parts) = announced(&attachments, parent, form, dice);
            let document = json!({ "_attachments": announced, "n": dice.below(100) });
            put(server, &format!("{path}{query}"), &document, &parts, form).await
        }
    };
    let revision = written["rev"].as_str();
    let revision = revision.unwrap_or_else(|| panic!("{} {query}: {written}", tree.id));
    let (_, hash) = revision.split_once('-').expect("a revision");
    let mut ids = vec![hash.to_owned()];
    ids.extend(parent.into_iter().flat_map(|parent| parent.ids.clone()));
    Node {
        ids,
        attachments,
        is_deleted: false,
        is_stored: true,
    }
}
