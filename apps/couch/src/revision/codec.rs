//! The stored form of a revision tree: 17 bytes and a few bits per revision.
//!
//! Nodes are stored in order. A node begins with a byte of flags. The flags announce the fields that follow: the
//! difference of the generation to the previous node, the distances back to its parents, the position of the body, the
//! length of an unusual hash. The hash is last. Numbers are LEB128.

use super::{Node, Revision, RevisionHash, Tree};

/// The error of stored bytes that are not a revision tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored revision tree is damaged")]
#[non_exhaustive]
pub struct CorruptTree;

/// The revision is a deletion.
const DELETED: u8 = 1;
/// The position of the body follows.
const BODY: u8 = 1 << 1;
/// The hash is not 16 bytes long; its length follows.
const LENGTH: u8 = 1 << 2;
/// The generation is that of the previous node plus one; otherwise the difference follows.
const NEXT_GENERATION: u8 = 1 << 3;
/// The only parent is the previous node; otherwise the number of parents and the distances back follow.
const PARENT_BEFORE: u8 = 1 << 4;
/// The node has no parent.
const ROOT: u8 = 1 << 5;

const KNOWN: u8 = DELETED | BODY | LENGTH | NEXT_GENERATION | PARENT_BEFORE | ROOT;

impl Tree {
    /// Encodes the tree.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.nodes.len() * 20);
        let mut generation = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let parents: Vec<usize> = self.parents(index).collect();
            let distance = node.revision.generation - generation;
            generation = node.revision.generation;
            let hash = node.revision.hash.as_bytes();
            let mut flags = 0;
            let mut flag = |condition, bit| flags |= if condition { bit } else { 0 };
            flag(node.deleted, DELETED);
            flag(node.body != 0, BODY);
            flag(hash.len() != 16, LENGTH);
            flag(distance == 1, NEXT_GENERATION);
            flag(parents.is_empty(), ROOT);
            let is_before = index > 0 && parents == [index - 1];
            flag(is_before, PARENT_BEFORE);
            out.push(flags);
            if distance != 1 {
                write_number(&mut out, distance);
            }
            if !is_before && !parents.is_empty() {
                write_number(&mut out, parents.len() as u64);
                for parent in parents {
                    write_number(&mut out, (index - parent) as u64);
                }
            }
            if node.body != 0 {
                write_number(&mut out, node.body);
            }
            if hash.len() != 16 {
                write_number(&mut out, hash.len() as u64);
            }
            out.extend_from_slice(hash);
        }
        out
    }

    /// Decodes a tree that [`Tree::encode`] encoded.
    ///
    /// # Errors
    /// If the bytes are not the encoding of a tree. Every tree has one encoding.
    pub fn decode(bytes: &[u8]) -> Result<Tree, CorruptTree> {
        let mut input = Input(bytes);
        let mut tree = Tree {
            nodes: Vec::with_capacity(bytes.len() / 17),
            edges: Vec::with_capacity(bytes.len() / 17),
        };
        while !input.0.is_empty() {
            input.node(&mut tree).ok_or(CorruptTree)?;
        }
        Ok(tree)
    }
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)?[0];
            let bits = u64::from(byte & 0x7f);
            // Refuses numbers beyond 64 bits and encodings longer than necessary.
            if shift > 63 || bits << shift >> shift != bits || (shift > 0 && byte == 0) {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some(number)
    }

    fn node(&mut self, tree: &mut Tree) -> Option<()> {
        let flags = self.take(1)?[0];
        let has = |bit| flags & bit != 0;
        if flags & !KNOWN != 0 || (has(PARENT_BEFORE) && has(ROOT)) {
            return None;
        }
        let index = tree.nodes.len();
        let before = tree.nodes.last().map_or(0, |node| node.revision.generation);
        let distance = match has(NEXT_GENERATION) {
            true => 1,
            false => self.number().filter(|distance| *distance != 1)?,
        };
        let generation = before.checked_add(distance)?;
        if generation == 0 {
            return None;
        }
        self.parents(tree, index, generation, flags)?;
        let body = match has(BODY) {
            true => self.number().filter(|body| *body != 0)?,
            false => 0,
        };
        let length = match has(LENGTH) {
            true => usize::try_from(self.number()?)
                .ok()
                .filter(|length| *length != 16)?,
            false => 16,
        };
        let hash = RevisionHash::from_bytes(self.take(length)?)?;
        let revision = Revision::new(generation, hash)?;
        if tree
            .nodes
            .last()
            .is_some_and(|last| last.revision >= revision)
        {
            return None;
        }
        tree.nodes.push(Node {
            revision,
            deleted: has(DELETED),
            body,
        });
        Some(())
    }

    fn parents(&mut self, tree: &mut Tree, index: usize, generation: u64, flags: u8) -> Option<()> {
        if flags & ROOT != 0 {
            return Some(());
        }
        let edges_before = tree.edges.len();
        let count = match flags & PARENT_BEFORE {
            0 => self.number().filter(|count| *count > 0)?,
            _ => 1,
        };
        for _ in 0..count {
            let distance = match flags & PARENT_BEFORE {
                0 => usize::try_from(self.number()?).ok()?,
                _ => 1,
            };
            let parent = index.checked_sub(distance).filter(|_| distance > 0)?;
            if tree.nodes[parent].revision.generation + 1 != generation {
                return None;
            }
            let edge = (u32::try_from(index).ok()?, u32::try_from(parent).ok()?);
            if tree.edges[edges_before..]
                .last()
                .is_some_and(|last| *last >= edge)
            {
                return None;
            }
            tree.edges.push(edge);
        }
        let is_before =
            index > 0 && tree.edges[edges_before..] == [(index as u32, index as u32 - 1)];
        (is_before == (flags & PARENT_BEFORE != 0)).then_some(())
    }
}
