//! The model: revision trees with attachments.

use std::collections::BTreeMap;

/// A linear congruential generator, so that each run has the same cases.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    pub fn hash(&mut self) -> String {
        (0..32)
            .map(|_| char::from_digit(self.below(16) as u32, 16).expect("a digit"))
            .collect()
    }

    /// Few different contents, so that revisions share them. Some have several chunks of 64 KiB.
    pub fn attachment(&mut self) -> Attachment {
        let kinds = ["text/plain", "application/octet-stream", "text/html"];
        let content_type = kinds[self.below(kinds.len())].to_owned();
        let number = self.below(9);
        let length = [0, 1, 17, 1000, 5000, 70_000, 140_000, 1, 1000][number];
        let byte = |at: usize| b'a' + ((at * (number + 1)) % 23) as u8;
        let bytes = (0..length).map(byte).collect();
        Attachment {
            content_type,
            bytes,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    pub content_type: String,
    pub bytes: Vec<u8>,
}

pub type Attachments = BTreeMap<String, Attachment>;

/// A revision.
#[derive(Clone, Debug)]
pub struct Node {
    /// The hashes from this revision to the first one.
    pub ids: Vec<String>,
    pub attachments: Attachments,
    pub is_deleted: bool,
    /// Whether the server has its body.
    pub is_stored: bool,
}

impl Node {
    pub fn revision(&self) -> String {
        format!("{}-{}", self.ids.len(), self.ids[0])
    }
}

/// The revisions of a document.
#[derive(Debug)]
pub struct Tree {
    pub id: String,
    pub nodes: Vec<Node>,
}

impl Tree {
    pub fn new(id: &str) -> Self {
        Tree {
            id: id.to_owned(),
            nodes: Vec::new(),
        }
    }

    pub fn is_leaf(&self, node: &Node) -> bool {
        let is_child = |other: &&Node| other.ids.len() > node.ids.len();
        let mut children = self.nodes.iter().filter(is_child);
        !children.any(|other| other.ids.ends_with(&node.ids))
    }

    pub fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| self.is_leaf(node))
    }

    /// The ancestors of a revision that are in the model, the nearest first.
    pub fn ancestors(&self, node: &Node) -> Vec<&Node> {
        let tails = (1..node.ids.len()).filter_map(|from| {
            let tail = &node.ids[from..];
            self.nodes.iter().find(|other| other.ids == tail)
        });
        tails.collect()
    }

    /// The revision that wins: not deleted, the longest history, the largest hash.
    pub fn winner(&self) -> Option<&Node> {
        let key = |node: &&Node| (!node.is_deleted, node.ids.len(), node.ids[0].clone());
        self.leaves().max_by_key(key)
    }

    /// A compaction leaves the bodies of the leaves.
    pub fn forget_inner(&mut self) {
        let leaves: Vec<bool> = self.nodes.iter().map(|node| self.is_leaf(node)).collect();
        for (node, is_leaf) in self.nodes.iter_mut().zip(leaves) {
            node.is_stored &= is_leaf;
        }
    }

    /// Its path in a database.
    pub fn path(&self) -> String {
        match self.id.strip_prefix("_design/") {
            Some(name) => format!("_design/{}", encoded(name)),
            None => encoded(&self.id),
        }
    }
}

/// A text as a segment of a path. A document `.` has no path of its own.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// The path of an attachment, whose name may have slashes.
pub fn attachment_path(name: &str) -> String {
    name.split('/').map(encoded).collect::<Vec<_>>().join("/")
}
