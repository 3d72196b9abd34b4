//! How SQLite's `balance_nonroot` shares the entries of siblings among pages.

use super::cells::Spec;
use super::node::{Node, POINTER};

/// The entries of siblings and of their dividers in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings {
    pub(super) keys: Vec<u64>,
    pub(super) sizes: Vec<u16>,
    pub(super) children: Vec<u32>,
    /// For each page, its bytes in use and the number of entries up to its end.
    pages: Vec<(i64, usize)>,
}

impl Siblings {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.sizes.clear();
        self.children.clear();
        self.pages.clear();
    }

    pub(super) fn push_page(&mut self, node: &Node) {
        self.keys.extend_from_slice(&node.keys);
        self.sizes.extend_from_slice(&node.sizes);
        self.children.extend_from_slice(&node.children);
        self.pages.push((i64::from(node.used), self.keys.len()));
    }

    pub(super) fn push_divider(&mut self, key: u64, bytes: u16) {
        self.keys.push(key);
        self.sizes.push(bytes);
    }

    /// Bytes of a cell and its pointer.
    fn bytes(&self, cell: usize) -> i64 {
        i64::from(self.sizes[cell]) + i64::from(POINTER)
    }

    /// The end of each page in the entries. The entry at an end is the divider to the next page, except on leaf pages of tables
    /// (`leaf_data`), which keep all entries.
    pub(super) fn ends(&self, room: u32, leaf_data: bool) -> Vec<usize> {
        let mut pages = self.pages.clone();
        self.fill(&mut pages, i64::from(room), leaf_data);
        self.even(&mut pages, leaf_data);
        pages.into_iter().map(|(_, end)| end).collect()
    }

    /// Fills pages from the left.
    fn fill(&self, pages: &mut Vec<(i64, usize)>, room: i64, leaf_data: bool) {
        let cells = self.keys.len();
        // The bytes of the entry that follows the divider.
        let after = |end: usize| match end < cells {
            true => self.bytes(end),
            false => 0,
        };
        let mut at = 0;
        while at < pages.len() {
            while pages[at].0 > room {
                if at + 1 == pages.len() {
                    pages.push((0, cells));
                }
                let moved = self.bytes(pages[at].1 - 1);
                pages[at].0 -= moved;
                let gained = match leaf_data {
                    true => moved,
                    false => after(pages[at].1),
                };
                pages[at + 1].0 += gained;
                pages[at].1 -= 1;
            }
            while pages[at].1 < cells {
                let moved = self.bytes(pages[at].1);
                if pages[at].0 + moved > room {
                    break;
                }
                pages[at].0 += moved;
                pages[at].1 += 1;
                let lost = match leaf_data {
                    true => moved,
                    false => after(pages[at].1),
                };
                if at + 1 < pages.len() {
                    pages[at + 1].0 -= lost;
                }
            }
            if pages[at].1 >= cells {
                pages.truncate(at + 1);
            }
            at += 1;
        }
    }

    /// Moves entries to the right, from the last page on, until neighbours are about equal.
    fn even(&self, pages: &mut [(i64, usize)], leaf_data: bool) {
        for right in (1..pages.len()).rev() {
            let (mut left_bytes, end) = pages[right - 1];
            let mut right_bytes = pages[right].0;
            let is_last = right + 1 == pages.len();
            let mut moves = end - 1;
            // The entry that the right page gains: the divider.
            let mut gains = end - usize::from(leaf_data);
            loop {
                let spared = self.bytes(moves) - if is_last { i64::from(POINTER) } else { 0 };
                let gained = self.bytes(gains);
                if right_bytes != 0 && right_bytes + gained > left_bytes - spared {
                    break;
                }
                right_bytes += gained;
                left_bytes -= self.bytes(moves);
                pages[right - 1].1 = moves;
                if moves == 0 {
                    break;
                }
                moves -= 1;
                gains = gains.saturating_sub(1);
            }
            pages[right].0 = right_bytes;
            pages[right - 1].0 = left_bytes;
        }
    }
}

/// The entry of the parent that divides the page ending at `end` from the next one.
pub(super) fn divider(
    siblings: &Siblings,
    end: usize,
    leaf_data: bool,
    is_leaf: bool,
    spec: &Spec,
) -> (u64, u16) {
    match (leaf_data, is_leaf) {
        (true, _) => {
            let key = siblings.keys[end - 1];
            (key, spec.divider(0, key))
        }
        (false, true) => (
            siblings.keys[end],
            spec.divider(siblings.sizes[end], siblings.keys[end]),
        ),
        (false, false) => (siblings.keys[end], siblings.sizes[end]),
    }
}
