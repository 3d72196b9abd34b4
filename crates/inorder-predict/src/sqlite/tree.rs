//! A B-tree of SQLite: which pages an insert reads, changes and adds. Entries have a position and a size, and no content.
//!
//! The rules are those of `sqlite3BtreeInsert`, `balance`, `balance_quick` and `balance_nonroot` of SQLite's `btree.c`
//! (3.40 to 3.51): a page that overflows shares its entries with up to two siblings under the same parent; an entry
//! at the end of a table starts a new page.

use super::balance::{self, Siblings};
use super::cells::Spec;
use super::node::{Node, POINTER, used};

/// Bytes of the header of a leaf page and of an interior page.
const LEAF_HEADER: u32 = 8;
const INTERIOR_HEADER: u32 = 12;

/// The pages that an insert touched, by their numbers in the database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// Pages from the root to the leaf page, and siblings that were read.
    pub(crate) read: Vec<u32>,
    /// Number of pages from the root to the leaf page.
    pub(crate) path: usize,
    /// Pages that changed, also new ones.
    pub(crate) written: Vec<u32>,
    /// Pages that are new.
    pub(crate) added: Vec<u32>,
}

impl Touched {
    pub(crate) fn clear(&mut self) {
        self.read.clear();
        self.written.clear();
        self.added.clear();
    }
}

/// A tree, the root of which is node 0.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Nodes that are in no tree, to be used again.
    free: Vec<u32>,
    usable: u32,
    is_intkey: bool,
    siblings: Siblings,
    /// The nodes on the way to the leaf, each with the index of the child that was taken.
    path: Vec<(u32, usize)>,
}

impl Tree {
    /// A tree of an empty page.
    pub(super) fn new(spec: &Spec, usable: u32, next_page: &mut u32) -> Self {
        *next_page += 1;
        Tree {
            nodes: vec![Node {
                page: *next_page - 1,
                ..Node::default()
            }],
            free: Vec::new(),
            usable,
            is_intkey: spec.has_rowids,
            siblings: Siblings::default(),
            path: Vec::new(),
        }
    }

    /// Bytes of a page for cells and their pointers.
    fn room(&self, is_leaf: bool) -> u32 {
        self.usable
            - if is_leaf {
                LEAF_HEADER
            } else {
                INTERIOR_HEADER
            }
    }

    fn add(&mut self, next_page: &mut u32, touched: &mut Touched) -> u32 {
        let page = *next_page;
        *next_page += 1;
        touched.added.push(page);
        let node = Node {
            page,
            ..Node::default()
        };
        match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Inserts an entry.
    pub(super) fn insert(
        &mut self,
        key: u64,
        bytes: u16,
        spec: &Spec,
        next_page: &mut u32,
        touched: &mut Touched,
    ) {
        self.path.clear();
        let mut at = 0;
        loop {
            let node = &self.nodes[at as usize];
            touched.read.push(node.page);
            if node.is_leaf() {
                break;
            }
            let child = match node.keys.last() {
                Some(&last) if last < key => node.keys.len(),
                _ => node.keys.partition_point(|&other| other < key),
            };
            self.path.push((at, child));
            at = node.children[child];
        }
        touched.path = self.path.len() + 1;
        let room = self.room(true);
        let node = &mut self.nodes[at as usize];
        let place = match node.keys.last() {
            Some(&last) if last >= key => node.keys.partition_point(|&other| other < key),
            _ => node.keys.len(),
        };
        let is_last = place == node.keys.len();
        node.keys.insert(place, key);
        node.sizes.insert(place, bytes);
        node.used += u32::from(bytes) + POINTER;
        touched.written.push(node.page);
        if node.used > room {
            self.balance(at, is_last, spec, next_page, touched);
        }
    }

    /// Balances an overfull page, then its parents.
    fn balance(
        &mut self,
        mut at: u32,
        is_last: bool,
        spec: &Spec,
        next_page: &mut u32,
        touched: &mut Touched,
    ) {
        let mut is_first = true;
        loop {
            let node = &self.nodes[at as usize];
            let room = self.room(node.is_leaf());
            let is_overfull = node.used > room;
            if !is_overfull && (room - node.used) * 3 <= self.usable * 2 {
                return;
            }
            if at == 0 && self.path.is_empty() {
                if !is_overfull {
                    return;
                }
                at = self.deepen(next_page, touched);
            }
            let Some((parent, index)) = self.path.pop() else {
                return;
            };
            let is_end = index == self.nodes[parent as usize].keys.len();
            let is_quick = self.is_intkey
                && is_first
                && is_last
                && is_end
                && self.nodes[at as usize].is_leaf();
            touched.written.push(self.nodes[parent as usize].page);
            match is_quick {
                true => self.start_page(parent, at, spec, next_page, touched),
                false => self.share(parent, index, spec, next_page, touched),
            }
            is_first = false;
            at = parent;
        }
    }

    /// Moves the root's content into a new page below it (`balance_deeper`). Returns that page.
    fn deepen(&mut self, next_page: &mut u32, touched: &mut Touched) -> u32 {
        let new = self.add(next_page, touched);
        let page = self.nodes[new as usize].page;
        let root_page = self.nodes[0].page;
        let mut root = std::mem::take(&mut self.nodes[0]);
        root.page = page;
        self.nodes[new as usize] = root;
        self.nodes[0] = Node {
            page: root_page,
            children: vec![new],
            ..Node::default()
        };
        touched.written.extend([root_page, page]);
        self.path.push((0, 0));
        new
    }

    /// Moves the last entry of a table to a new page (`balance_quick`).
    fn start_page(
        &mut self,
        parent: u32,
        at: u32,
        spec: &Spec,
        next_page: &mut u32,
        touched: &mut Touched,
    ) {
        let new = self.add(next_page, touched);
        let node = &mut self.nodes[at as usize];
        let (key, bytes) = match (node.keys.pop(), node.sizes.pop()) {
            (Some(key), Some(bytes)) => (key, bytes),
            _ => unreachable!("an overfull page has entries"),
        };
        node.used -= u32::from(bytes) + POINTER;
        let last = node.keys.last().copied().unwrap_or_default();
        let divider = spec.divider(0, last);
        let added = &mut self.nodes[new as usize];
        added.fill(&[key], &[bytes]);
        touched.written.push(added.page);
        let parent = &mut self.nodes[parent as usize];
        parent.keys.push(last);
        parent.sizes.push(divider);
        parent.used += u32::from(divider) + POINTER;
        parent.children.push(new);
    }

    /// Shares the entries of up to three siblings among as many pages as they need (`balance_nonroot`).
    fn share(
        &mut self,
        parent: u32,
        index: usize,
        spec: &Spec,
        next_page: &mut u32,
        touched: &mut Touched,
    ) {
        let dividers = self.nodes[parent as usize].keys.len();
        let (first, count) = match dividers {
            0 | 1 => (0, dividers + 1),
            _ if index == 0 => (0, 3),
            _ if index == dividers => (dividers - 2, 3),
            _ => (index - 1, 3),
        };
        let old: Vec<u32> = self.nodes[parent as usize].children[first..first + count].to_vec();
        let is_leaf = self.nodes[old[0] as usize].is_leaf();
        let leaf_data = is_leaf && self.is_intkey;
        let mut siblings = std::mem::take(&mut self.siblings);
        siblings.clear();
        for (number, &node) in old.iter().enumerate() {
            let node = &self.nodes[node as usize];
            touched.read.push(node.page);
            siblings.push_page(node);
            if number + 1 < count && !leaf_data {
                let parent = &self.nodes[parent as usize];
                let bytes = parent.sizes[first + number] - if is_leaf { 4 } else { 0 };
                siblings.push_divider(parent.keys[first + number], bytes.max(4));
            }
        }
        let room = self.room(is_leaf);
        let ends = siblings.ends(room, leaf_data);
        let pages = ends.len();
        let mut new = old.clone();
        while new.len() < pages {
            new.push(self.add(next_page, touched));
        }
        for unused in new.split_off(pages) {
            self.nodes[unused as usize] = Node::default();
            self.free.push(unused);
        }
        let mut dividers = (Vec::new(), Vec::new());
        let (mut start, mut child) = (0, 0);
        for (number, &end) in ends.iter().enumerate() {
            let node = &mut self.nodes[new[number] as usize];
            node.fill(&siblings.keys[start..end], &siblings.sizes[start..end]);
            if !is_leaf {
                let next = child + end - start + 1;
                node.children.clear();
                node.children
                    .extend_from_slice(&siblings.children[child..next]);
                child = next;
            }
            touched.written.push(node.page);
            start = end;
            if number + 1 < pages {
                let (key, bytes) = balance::divider(&siblings, end, leaf_data, is_leaf, spec);
                dividers.0.push(key);
                dividers.1.push(bytes);
                start += usize::from(!leaf_data);
            }
        }
        self.siblings = siblings;
        let parent = &mut self.nodes[parent as usize];
        parent.keys.splice(first..first + count - 1, dividers.0);
        parent.sizes.splice(first..first + count - 1, dividers.1);
        parent.children.splice(first..first + count, new);
        parent.used = used(&parent.sizes);
    }

    /// Fills an empty tree from ascending keys: full pages, as `inorder load` writes them.
    pub(super) fn pack(
        &mut self,
        keys: impl Iterator<Item = u64>,
        bytes: u16,
        spec: &Spec,
        next_page: &mut u32,
    ) {
        let mut touched = Touched::default();
        let mut dividers: Vec<(u64, u16)> = Vec::new();
        let mut level: Vec<u32> = Vec::new();
        let room = self.room(true);
        let mut node = Node::default();
        for key in keys {
            let wanted = u32::from(bytes) + POINTER;
            if node.used + wanted > room {
                level.push(self.add_filled(std::mem::take(&mut node), next_page, &mut touched));
                if !self.is_intkey {
                    // The entry moves to the interior page.
                    dividers.push((key, spec.divider(bytes, key)));
                    continue;
                }
                dividers.push((key - 1, spec.divider(bytes, key)));
            }
            node.keys.push(key);
            node.sizes.push(bytes);
            node.used += wanted;
        }
        level.push(self.add_filled(node, next_page, &mut touched));
        while level.len() > 1 {
            (level, dividers) = self.pack_interior(&level, &dividers, next_page, &mut touched);
        }
        let top = level[0] as usize;
        let page = self.nodes[0].page;
        self.nodes.swap(0, top);
        self.nodes[0].page = page;
        self.nodes[top] = Node::default();
        self.free.push(top as u32);
    }

    fn add_filled(&mut self, filled: Node, next_page: &mut u32, touched: &mut Touched) -> u32 {
        let index = self.add(next_page, touched);
        let page = self.nodes[index as usize].page;
        self.nodes[index as usize] = Node { page, ..filled };
        index
    }

    /// Fills the pages above a level. Returns them and what divides them.
    fn pack_interior(
        &mut self,
        below: &[u32],
        between: &[(u64, u16)],
        next_page: &mut u32,
        touched: &mut Touched,
    ) -> (Vec<u32>, Vec<(u64, u16)>) {
        let (mut level, mut dividers) = (Vec::new(), Vec::new());
        let room = self.room(false);
        let mut node = Node {
            children: vec![below[0]],
            ..Node::default()
        };
        for (&(key, bytes), &child) in between.iter().zip(&below[1..]) {
            let wanted = u32::from(bytes) + POINTER;
            if node.used + wanted > room {
                level.push(self.add_filled(std::mem::take(&mut node), next_page, touched));
                dividers.push((key, bytes));
            } else {
                node.keys.push(key);
                node.sizes.push(bytes);
                node.used += wanted;
            }
            node.children.push(child);
        }
        level.push(self.add_filled(node, next_page, touched));
        (level, dividers)
    }

    /// Frees the entries of leaf pages that ascending keys do not reach again.
    pub(super) fn forget_contents(&mut self) {
        /// More pages than balancing reads.
        const KEPT: usize = 8;
        let mut at = 0;
        loop {
            let children = self.nodes[at as usize].children.clone();
            let Some(&last) = children.last() else {
                return;
            };
            for &child in &children[..children.len().saturating_sub(KEPT)] {
                self.forget_below(child);
            }
            at = last;
        }
    }

    fn forget_below(&mut self, node: u32) {
        let mut waiting = vec![node];
        while let Some(index) = waiting.pop() {
            let node = &mut self.nodes[index as usize];
            if node.is_leaf() {
                node.keys = Vec::new();
                node.sizes = Vec::new();
            }
            waiting.extend_from_slice(&self.nodes[index as usize].children);
        }
    }

    /// Number of leaf pages and of the interior pages one level above them, without the root.
    pub(super) fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        let mut level = vec![0];
        loop {
            shape.levels.push(level.len() as u64);
            let below: Vec<u32> = level
                .iter()
                .flat_map(|&node| self.nodes[node as usize].children.iter().copied())
                .collect();
            if below.is_empty() {
                shape.used = level
                    .iter()
                    .map(|&node| u64::from(self.nodes[node as usize].used))
                    .sum();
                return shape;
            }
            level = below;
        }
    }

    /// Removes the entries above a bound: those of the pages that have no entry below it. Calls `gone` with each page removed.
    pub(super) fn cut(&mut self, bound: u64, gone: &mut dyn FnMut(u32)) {
        let mut at = 0;
        loop {
            let node = &mut self.nodes[at as usize];
            if node.is_leaf() {
                return;
            }
            let keep = node.keys.partition_point(|&key| key < bound);
            let removed: Vec<u32> = node.children.split_off(keep + 1);
            node.keys.truncate(keep);
            node.sizes.truncate(keep);
            node.used = used(&node.sizes);
            at = node.children[keep];
            self.remove(removed, gone);
        }
    }

    /// Removes nodes and what is below them.
    fn remove(&mut self, mut nodes: Vec<u32>, gone: &mut dyn FnMut(u32)) {
        while let Some(index) = nodes.pop() {
            let node = std::mem::take(&mut self.nodes[index as usize]);
            gone(node.page);
            nodes.extend(node.children);
            self.free.push(index);
        }
    }
}

/// Number of pages per level.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// The root's level first.
    pub(super) levels: Vec<u64>,
    /// Bytes of the cells of leaf pages and their pointers.
    pub(super) used: u64,
}
